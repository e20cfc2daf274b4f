"""YAML that says each thing once: what another reader, or a second look, would take for something else is refused."""

import re
from typing import Any

import yaml

OTHER_BASES = re.compile(r"[-+]?(0[0-7_]+|[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?)")  # as YAML 1.1 has them


class _Loader(yaml.SafeLoader):
    """The safe loader, which by itself keeps the last of two equal keys, and takes 010 for 8 and 1:30 for 90."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict:
        """As of the base; of a node that is no mapping the base says so."""
        seen: list[Any] = []
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else []:
            value = "<<" if key.tag == "tag:yaml.org,2002:merge" else self.construct_object(key, deep=True)
            if value in seen:
                raise _refused(key, f"{value!r} is there twice: keep one")
            if value == "<<":
                raise _refused(key, "'<<' takes over what may be there already: write the values out")
            seen.append(value)
        return super().construct_mapping(node, deep=deep)

    def construct_number(self, node: Any) -> int | float:
        """A number, which is one to the base 10."""
        if OTHER_BASES.fullmatch(node.value):
            raise _refused(node, f"{node.value!r} is a number to the base 8 or 60 to some: write it in decimals")
        whole = node.tag == "tag:yaml.org,2002:int"
        return self.construct_yaml_int(node) if whole else self.construct_yaml_float(node)


for _tag in ("int", "float"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_tag}", _Loader.construct_number)


def _refused(node: Any, why: str) -> yaml.YAMLError:
    return yaml.constructor.ConstructorError(None, None, why, node.start_mark)


def load(text: str) -> Any:
    """What a text in YAML says.

    Raises
    ------
    yaml.YAMLError
        If it is no YAML, or says two things at once.

    Examples
    --------
    >>> load("seconds: 1.5")
    {'seconds': 1.5}
    >>> load("a: 1\\na: 2")
    Traceback (most recent call last):
    yaml.constructor.ConstructorError: 'a' is there twice: keep one
      in "<unicode string>", line 2, column 1:
        a: 2
        ^
    """
    return yaml.load(text, Loader=_Loader)

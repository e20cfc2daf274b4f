"""Methods of presets.yaml: other defaults for a method here, under a name of their own."""

import dataclasses
import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from . import Method, descendants


def preset(name: str, method: str, settings: Mapping[str, Any], reference: str, about: str) -> type[Method]:
    """A method with other defaults; a record of it holds the same settings as one of `method` with these.

    Parameters
    ----------
    name : as in tables and parameter files
    method : whose defaults are replaced; its file has the same name
    settings : fields of that method and their values
    reference : the paper, and who released the settings
    about : the docstring

    Raises
    ------
    TypeError
        If the method has no such setting.
    """
    # Imported by name: a preset depends on its own method alone, not on those of all presets.
    importlib.import_module(f".{method}", __package__)
    (base,) = (cls for cls in descendants(Method) if cls.name == method)
    types = {field.name: field.type for field in dataclasses.fields(base)}
    if unknown := sorted(settings.keys() - types):
        raise TypeError(f"{name}: {method} has no setting {unknown[0]!r} (settings: {', '.join(types)})")
    # a default must be hashable
    frozen = {key: tuple(value) if isinstance(value, list) else value for key, value in settings.items()}
    fields = [(key, types[key], value) for key, value in frozen.items()]
    body = {"__module__": __name__, "__doc__": about, "name": name, "reference": reference}
    title = "".join(map(str.capitalize, name.split("_")))
    return dataclasses.make_dataclass(title, fields, bases=(base,), namespace=body, frozen=True)


for _name, _row in yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")).items():
    _class = preset(_name, **_row)
    globals()[_class.__name__] = _class  # workers find a class by its name in the module

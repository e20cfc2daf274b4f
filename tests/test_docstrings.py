"""What users call is documented: parameters, results, and a summary in one line."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

import rediscover
from rediscover import metrics
from rediscover.methods import registry
from rediscover.metrics import causal

import pytest
from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import validate

REPORT = ("comparisons", "ledger", "papers", "plots", "statistics", "summaries", "tables")
CHECKS = {
    "GL06": "unknown section",
    "GL07": "sections in the wrong order",
    "GL08": "no docstring",
    "PR01": "parameters without a line",
    "PR02": "lines of parameters that there are not",
    "PR03": "parameters in another order",
    "RT01": "no Returns",
    "SS01": "no summary",
    "SS06": "summary in several lines",
    "YD01": "no Yields",
}


def exported() -> Iterator[object]:
    """What a package's ``__all__`` names; training needs PyTorch, which is an extra, and exports nothing."""
    for info in pkgutil.walk_packages(rediscover.__path__, "rediscover."):
        if info.name != "rediscover.__main__" and not info.name.startswith("rediscover.search.networks.training."):
            module = importlib.import_module(info.name)
            yield from (getattr(module, name) for name in getattr(module, "__all__", ()))


def of_the_report() -> Iterator[object]:
    for name in REPORT:
        module = importlib.import_module(f"rediscover.report.{name}")
        yield from (v for k, v in vars(module).items() if k[0] != "_" and inspect.getmodule(v) is module)


def documented() -> list[str]:
    """Import paths of all that must be documented."""
    found = [*exported(), *metrics.declared().values(), *registry().values(), *of_the_report()]
    kept = [each for each in found if inspect.isfunction(each) or inspect.isclass(each)]
    return sorted({f"{each.__module__}.{each.__qualname__}" for each in kept})


def attributes(cls: type) -> set[str]:
    """Names that a class or its bases document under Attributes or Parameters."""
    docs = [NumpyDocString(inspect.cleandoc(base.__doc__)) for base in cls.__mro__[:-1] if base.__doc__]
    entries = [entry for doc in docs for section in ("Attributes", "Parameters") for entry in doc[section]]
    return {name.strip() for entry in entries for name in entry.name.split(",")}


def faults(path: str) -> list[str]:
    """What is wrong with the docstring of one name, a line each."""
    module, _, name = path.rpartition(".")
    found = [f"{code}: {text}" for code, text in validate(path)["errors"] if code in CHECKS]
    documentee = getattr(importlib.import_module(module), name)
    if not inspect.isclass(documentee):
        return found
    # A record is made by naming its fields, so they stand under Attributes, which numpydoc does not compare.
    plain = issubclass(documentee, (Exception, str)) and "__init__" not in vars(documentee)  # takes its text only
    fields = set() if plain else set(inspect.signature(documentee).parameters)
    missing = sorted(fields - attributes(documentee))
    found = [fault for fault in found if not fault.startswith(("PR01", "PR02", "PR03"))]
    return found + [f"attributes without a line: {', '.join(missing)}"] * bool(missing)


def test_exported_names_are_documented():
    checked = documented()
    assert len(checked) > 150
    wrong = {path: found for path in checked if (found := faults(path))}
    assert not wrong, "\n".join(f"{path}: {'; '.join(found)}" for path, found in wrong.items())


def test_what_a_module_says_once_is_in_the_docstring_of_each_metric():
    doc = NumpyDocString(causal.shd.__doc__)
    (taken,), (returned,) = doc["Parameters"], doc["Returns"]
    assert (taken.name, taken.type) == ("prediction, truth", causal.GRAPHS)
    assert (returned.type, returned.desc) == ("int", ["At least 0."])
    assert doc["Examples"][0].startswith(">>> shd(")


def bare(values, scale):
    """Values in another unit."""
    return values * scale


class Incomplete:
    """A record.

    Attributes
    ----------
    first : the one
    """

    def __init__(self, first, second):
        self.first, self.second = first, second


@pytest.mark.parametrize(
    ("name", "expected"),
    [("bare", ["PR01", "RT01"]), ("Incomplete", ["attributes without a line: second"]), ("faults", ["PR01", "RT01"])],
)
def test_what_is_missing_is_found(name, expected):
    found = faults(f"{__name__}.{name}")
    assert [fault[: len(part)] for fault, part in zip(found, expected, strict=True)] == expected

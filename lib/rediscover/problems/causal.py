"""SymbolBench's 190 causal graphs and the series they are to be found in.

The rule that made them: state j is a parent of state i, with lag 1, where it occurs in the right-hand side of
i; and every state is its own parent. The graphs are facts kept here. The series are the released ones, read
from the authors' file by `rediscover.system.upstream_files`; for the graphs whose equations are in the catalogue of
coupled equations they are integrated here instead when ``series_from="equations"``.
"""

import functools
import io
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..system import upstream_files
from . import Series, Split, facts

LAG = 1
RECORDS = ("nuuuh/SymbolBench", "src/data/science_sgc_total.npy")
POINTS = {"physiome": 150, "odebench": 512}  # of the released series, over 0..10


@dataclass(frozen=True, eq=False, kw_only=True)
class CausalSeries(Series):
    """A causal graph behind a multivariate series.

    Attributes
    ----------
    truth : child -> tuple of (parent, lag); every variable is among its own parents.
    states : the model's names of ``inputs``, in the same order.
    domain : field of the model, '' for ODEBench, which has none.
    equations : id of the system (study ``cde``) that the graph belongs to, where its equations are known,
        else ''.
    series_from : 'released' or 'equations'
    """

    choices: ClassVar = {"series_from": ("released", "equations")}
    states: tuple[str, ...] = ()
    domain: str = ""
    equations: str = ""
    series_from: str = "released"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.series_from == "equations" and not self.equations:
            raise ValueError(f"{self.id}: the equations are not in the catalogue; use series_from='released'")

    @property
    def meanings(self) -> dict[str, str]:
        return dict(zip(self.inputs, self.states or [""] * len(self.inputs), strict=True))

    @property
    def edges(self) -> set[tuple[str, str, int]]:
        """The truth as (parent, child, lag)."""
        return {(parent, child, lag) for child, parents in self.truth.items() for parent, lag in parents}

    @property
    def released(self) -> str:
        """SHA-256 of the released file that the series is read from; empty where it is integrated here."""
        return upstream_files.stated_digest(*RECORDS) if self.series_from == "released" else ""

    def series(self) -> np.ndarray:
        """The series, shape (n, n_inputs); 150 points over 0..10, 512 for ODEBench, fewer where released so.

        Raises
        ------
        upstream_files.ReleasedError
            If the released file is neither here nor can be had.
        """
        if self.series_from == "equations":
            from . import cde

            return cde.load(self.equations).solution("id", points=POINTS[self.subset])
        return np.array(_records()[int(self.id.rpartition("C")[2])], dtype=float)

    def data(self, seed: int = 0) -> dict[str, Split]:
        """The series as a table: X holds states, y the states one point later; the same for every seed."""
        series = self.series()
        return {"train": Split(series[:-1], series[1:])}


PLAIN = {("numpy", "dtype"), ("numpy", "ndarray")} | {
    (f"numpy.{core}.multiarray", name) for core in ("core", "_core") for name in ("_reconstruct", "scalar")
}


class _PlainData(pickle.Unpickler):
    """Reads arrays, dicts, lists, texts and numbers; anything else in the file is an error, nothing runs."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in PLAIN:
            raise pickle.UnpicklingError(f"{module}.{name} is not plain data")
        return super().find_class(module, name)


def plain_array(path: str | Path) -> np.ndarray:
    """An array of objects from an ``.npy`` file, without running what a pickle may hold.

    Raises
    ------
    pickle.UnpicklingError
        If the file holds anything but arrays, dicts, lists, texts and numbers.
    """
    with open(path, "rb") as file:
        content = io.BytesIO(file.read())
    version = np.lib.format.read_magic(content)
    headers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    read_header = headers[version]
    _, _, dtype = read_header(content)
    return _PlainData(content).load() if dtype.hasobject else np.load(path, allow_pickle=False)


@functools.cache
def _released() -> list[dict]:
    return np.ravel(plain_array(upstream_files.fetch(*RECORDS))).tolist()


@functools.cache
def _records() -> list[np.ndarray]:
    """The released series, in the order of the released file."""
    return [np.asarray(record["data"], dtype=float) for record in _released()]


def released_contexts() -> dict[str, tuple[tuple[str, ...], str | None]]:
    """Graph -> names of the variables and domain, as the released prompts show them to a language model.

    Raises
    ------
    upstream_files.ReleasedError
        If the released file is neither here nor can be had.
    """
    contexts = {}
    for name, record in zip(_graphs(), _released(), strict=True):
        shown = record["variable_names"]  # "x_0: E, x_1: P", or {"x_0": "E in component main (mM)"}
        entries = shown.split(",") if isinstance(shown, str) else shown.values()
        names = (text.rpartition(": ")[2].partition(" in component")[0].strip() for text in entries)
        contexts[f"causal/{name}"] = (tuple(names), record["domain"])
    return contexts


@functools.cache
def _graphs() -> dict[str, dict]:
    return {entry["id"]: entry for entry in facts("causal")["graphs"]}


def _subset(entry: dict) -> str:
    return "odebench" if entry["model"].startswith("odebench_") else "physiome"


def ids(subset: str | None = None) -> list[str]:
    """Names ``C000`` to ``C189``; subsets are 'physiome' (178 graphs) and 'odebench' (12)."""
    return [name for name, entry in _graphs().items() if subset in (None, _subset(entry))]


def load(name: str) -> CausalSeries:
    """One graph. Flags: ``truncated`` (the released series was cut short by its solver), ``constant`` (a
    column never changes), ``repeated`` (an earlier graph has the same variables and edges)."""
    entry = _graphs()[name]
    variables = tuple(f"x{i}" for i in range(len(entry["parents"])))
    earlier = _first()[name]
    flags = {"truncated": "points" in entry, "constant": "constant" in entry, "repeated": earlier != name}
    notes = [f"{entry['points']} points" if "points" in entry else "", f"as {earlier}" if earlier != name else ""]
    return CausalSeries(
        id=f"causal/{name}",
        truth={variables[i]: tuple((variables[j], LAG) for j in parents) for i, parents in enumerate(entry["parents"])},
        inputs=variables,
        states=tuple(map(str, entry["states"])),
        domain=entry.get("domain", ""),
        equations=entry.get("simulated", ""),
        subset=_subset(entry),
        flags=tuple(flag for flag, holds in flags.items() if holds),
        note="; ".join(filter(None, notes)),
        source=f"{entry['model']} ({entry.get('domain', 'ODEBench')})",
    )


@functools.cache
def _first() -> dict[str, str]:
    """Name of each graph -> name of the first graph with the same variables and edges."""
    first: dict[str, str] = {}
    return {name: first.setdefault(str((entry["states"], entry["parents"])), name) for name, entry in _graphs().items()}

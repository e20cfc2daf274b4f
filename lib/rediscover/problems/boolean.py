"""SymbolBench's 65 Boolean networks, and 74 more that the paper did not have.

Nodes are ``x1`` to ``xn``; those without a rule are inputs and keep their value. The subset ``cell_collective`` holds
the networks of the Cell Collective as the package cana ships them; they are listed only when asked for.
"""

import functools
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from itertools import pairwise
from typing import ClassVar

import numpy as np

from ..expressions import Expression, Program, parse
from ..numerics.boolean_minimisation import minimal_rule
from . import Split, Transitions, facts, generator

RUNS, LENGTH = 30, 10  # simulations of a network, and states of each (SymbolBench, released code)


@dataclass(frozen=True, eq=False, kw_only=True)
class BooleanNetwork(Transitions):
    """A Boolean network under synchronous update.

    Attributes
    ----------
    nodes : the source's names of ``inputs``, in the same order.
    transitions : 'released' or 'complete'
        How the data are made. Both start 30 runs of at most ten states from uniform random states.
        *released*: a run is cut just before its first repeated state, so that no run shows its cycle closing
        or a fixed point staying; repeated transitions are dropped; the first half is for training, the second
        for test. *complete*: runs keep the step that closes them; the test holds as many transitions from
        states that training never showed (all of them where there are fewer).
    """

    choices: ClassVar = {"transitions": ("released", "complete")}
    nodes: tuple[str, ...] = ()
    transitions: str = "released"

    @cached_property
    def expressions(self) -> dict[str, Expression]:
        return {node: parse(rule, names=self.inputs, logic=True) for node, rule in self.truth.items()}

    @property
    def meanings(self) -> dict[str, str]:
        return dict(zip(self.inputs, self.nodes or [""] * len(self.inputs), strict=True))

    @property
    def regulated(self) -> list[int]:
        """Columns of the nodes with a rule."""
        return [self.inputs.index(node) for node in self.truth]

    def step(self, states: np.ndarray) -> np.ndarray:
        """Next states; bool, shape (n, n_nodes) as `states`."""
        after = np.array(states, dtype=bool)
        values = {name: after[:, i].copy() for i, name in enumerate(self.inputs)}
        for column, value in zip(self.regulated, self._program(values), strict=True):
            after[:, column] = value
        return after

    @cached_property
    def _program(self) -> Program:
        return Program([rule.tree for rule in self.expressions.values()])

    def data(self, seed: int = 0) -> dict[str, Split]:
        """Transitions: X holds states, y the next values of the regulated nodes (bool, two-dimensional)."""
        return dict(_data(self, seed))

    def _simulate(self, seed: int) -> dict[str, Split]:
        rng = generator(seed, self.id)
        states = rng.integers(0, 2, size=(RUNS, len(self.inputs))).astype(bool)
        runs = [states]
        for _ in range(LENGTH - 1):
            runs.append(self.step(runs[-1]))
        seen = [transition for run in np.stack(runs, axis=1) for transition in self._cut(run)]
        seen = list(dict.fromkeys(seen))
        if self.transitions == "released":
            train, test = seen[: len(seen) // 2], seen[len(seen) // 2 :]
        else:
            train, test = seen, self._unseen({state for state, _ in seen}, rng)
        return {"train": self._split(train), "test": self._split(test)}

    def _cut(self, run: np.ndarray) -> list[tuple[bytes, bytes]]:
        states = [state.tobytes() for state in run]
        repeated = next((i for i, state in enumerate(states) if state in states[:i]), len(states))
        if self.transitions == "complete":
            repeated += 1
        return list(pairwise(states[:repeated]))

    def _unseen(self, seen: set[bytes], rng: np.random.Generator) -> list[tuple[bytes, bytes]]:
        n = len(self.inputs)
        fresh: dict[bytes, None] = {}
        if n <= 12:
            every = (rng.permutation(1 << n)[:, None] >> np.arange(n) & 1).astype(bool)
        else:
            every = rng.integers(0, 2, size=(4 * len(seen) + 4, n)).astype(bool)
        for state in every:
            if len(fresh) < len(seen) and state.tobytes() not in seen:
                fresh[state.tobytes()] = None
        if not fresh:
            return []
        states = np.frombuffer(b"".join(fresh), dtype=bool).reshape(-1, n)
        return [(a.tobytes(), b.tobytes()) for a, b in zip(states, self.step(states), strict=True)]

    def _split(self, transitions: list[tuple[bytes, bytes]]) -> Split:
        n = len(self.inputs)
        X, y = (
            np.frombuffer(b"".join(states), dtype=np.bool).reshape(-1, n)
            for states in (zip(*transitions, strict=True) if transitions else ((), ()))
        )
        y = y[:, self.regulated]
        y.setflags(write=False)  # as X is: the arrays are shared between calls
        return Split(X, y)


@functools.lru_cache(maxsize=256)
def _data(problem: BooleanNetwork, seed: int) -> dict[str, Split]:
    return problem._simulate(seed)


@functools.cache
def _networks() -> dict[str, dict]:
    return {entry["id"]: entry for entry in facts("boolean")["networks"]}


@functools.cache
def extra_ids() -> dict:
    """Name -> file of the Cell Collective networks; empty where cana is not installed."""
    try:
        folder = resources.files("cana") / "datasets" / "cell_collective"
    except ModuleNotFoundError:
        return {}
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".txt")), key=lambda file: file.name)
    return {file.name.removesuffix(".txt").replace(" ", "-"): file for file in files}


def ids(subset: str | None = None) -> list[str]:
    """Names of SymbolBench's networks (``subset`` None or 'symbolbench') or of the others ('cell_collective')."""
    subsets = {None: _networks, "symbolbench": _networks, "cell_collective": extra_ids}
    return list(subsets[subset]()) if subset in subsets else []


def load(name: str) -> BooleanNetwork:
    if name not in _networks():
        return _cell_collective(name)
    entry = _networks()[name]
    return BooleanNetwork(
        id=f"boolean/{name}",
        truth=entry["rules"],
        inputs=tuple(f"x{i + 1}" for i in range(len(entry["nodes"]))),
        nodes=tuple(entry["nodes"]),
        subset="symbolbench",
        note=entry["name"],
        source=f"{entry['reference']} {entry.get('url', '')}; Biodivine Boolean Models {entry['bbm']}",
    )


def _cell_collective(name: str) -> BooleanNetwork:
    """A network in cana's file format: ``.l number label``, then ``.n node k inputs``, rows of k bits and a value."""
    nodes: dict[int, str] = {}
    rules: dict[str, str] = {}
    for block in extra_ids()[name].read_text(encoding="utf-8").replace("\r", "").split("\n.n "):
        head, *rows = [line for line in block.splitlines() if line and not line.startswith("#")]
        if head.startswith("."):
            labels = (line.split(maxsplit=2)[1:] for line in rows if line.startswith(".l "))
            nodes = {int(number): label for number, label in labels}
            continue
        node, count, *inputs = map(int, head.split()[: 2 + int(head.split()[1])])
        rows = [row.split() for row in rows if row[0] in "01"]
        ones = [int(row[0], 2) for row in rows if row[-1] == "1"] if count else []
        rule = minimal_rule([f"x{i}" for i in inputs], ones) if count else rows[0][0] if rows else f"x{node}"
        if not (count == 1 and inputs == [node] and rule == f"x{node}"):  # an input that keeps its value
            rules[f"x{node}"] = rule
    return BooleanNetwork(
        id=f"boolean/{name}",
        truth=rules,
        inputs=tuple(f"x{i}" for i in sorted(nodes)),
        nodes=tuple(nodes[i] for i in sorted(nodes)),
        subset="cell_collective",
        note=name.replace("-", " "),
        source="Cell Collective, as shipped with the package cana",
    )

"""SRBench's problems with known truths: 116 laws of the Feynman database, and 14 right-hand sides after Strogatz.

Ids are the names of SRBench's data sets (``feynman_I_10_7``, ``strogatz_bacres1``). Rows and noise follow its rule:
10,000 rows of a law, 400 of a system, three quarters of them for training, whose target alone gets noise. The laws are
those of SRSD on their original ranges; ``data/srbench.yaml`` has what differs. The tables of the systems are
trajectories of another program; here the states are uniform in the box that those span: stand-in data.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from . import Regression, Split, facts, generator, srsd

SUBSETS = ("feynman", "strogatz")
LAW_ROWS, SYSTEM_ROWS = (7500, 2500), (300, 100)  # for training, and for the scores
BATCHES = 100  # of a law's draws, at most, until enough targets are finite


@dataclass(frozen=True, eq=False, kw_only=True)
class Drawn(Regression):
    """A formula whose inputs are drawn independently.

    Attributes
    ----------
    samplers : input -> ``[family, low, high]``, as in `srsd.sample`
    rows : of train and test
    noise : float
        The training target gets normal noise of standard deviation ``noise * sqrt(mean(y**2))``, SRBench's rule.
        The test target stays clean.
    """

    samplers: Mapping[str, list] = field(default_factory=dict)
    rows: tuple[int, int] = LAW_ROWS

    def draw(self, rows: int, rng: np.random.Generator) -> Split:
        """Rows with a finite target.

        Raises
        ------
        RuntimeError
            If `BATCHES` batches do not have enough of them.
        """
        kept: list[np.ndarray] = []
        for _ in range(BATCHES):
            X = self.draw_inputs(rows, rng)
            table = np.column_stack([X, self.target(X)])
            kept.append(table[np.isfinite(table).all(axis=1)])
            if sum(map(len, kept)) >= rows:
                whole = np.concatenate(kept)[:rows]
                return Split(np.ascontiguousarray(whole[:, :-1]), np.ascontiguousarray(whole[:, -1]))
        raise RuntimeError(f"{self.id}: too few rows have a finite target: take fewer than {rows}")

    def draw_inputs(self, rows: int, rng: np.random.Generator) -> np.ndarray:
        """Inputs, shape (rows, n_inputs)."""
        return np.column_stack([srsd.sample(self.samplers[name], rows, rng) for name in self.inputs])

    def target(self, X: np.ndarray) -> np.ndarray:
        """The target of inputs of shape (n, n_inputs), shape (n,)."""
        return self.evaluate(dict(zip(self.inputs, X.T, strict=True)))

    def data(self, seed: int = 0) -> dict[str, Split]:
        """Splits ``train`` and ``test``; each has a random stream of its own."""
        names = ("train", "test")
        splits = {
            name: self.draw(rows, generator(seed, self.id, name)) for name, rows in zip(names, self.rows, strict=True)
        }
        return srsd.noisy(splits, self, seed)


def feynman(name: str) -> srsd.Law:
    """A law of the Feynman database by its name there (``I.6.2a``), as SRSD keeps it, on its original ranges."""
    return srsd.Law(id=f"srsd/{facts('srbench')['laws'].get(name, name)}", variant="fsrd")


def formula(name: str) -> str:
    """The database's formula of a law, in the names of `feynman`."""
    (truth,) = feynman(name).truth.values()
    return facts("srbench")["formulas"].get(name, truth)


def samplers(name: str) -> dict[str, list]:
    """Input of a law -> the database's range."""
    changed = facts("srbench")["ranges"].get(name, {})
    return feynman(name).samplers | {symbol: ["uniform", *ends] for symbol, ends in changed.items()}


def laws() -> dict[str, str]:
    """SRBench's name of each law that it has -> its name in the database."""
    stated = facts("srbench")
    names = {ours: theirs for theirs, ours in stated["laws"].items()}
    laws = [names.get(name, name) for name in srsd.ids()]
    return {_data_set(law): law for law in laws if law not in stated["left_out"]}


def _data_set(law: str) -> str:
    number = f"test_{law[1:]}" if law.startswith("B") else law.replace(".", "_")
    return f"feynman_{number}"


def ids(subset: str | None = None) -> list[str]:
    """Names of the data sets, optionally of one group (feynman, strogatz)."""
    if subset is not None and subset not in SUBSETS:
        raise KeyError(f"srbench has no subset {subset!r} (subsets: {', '.join(SUBSETS)})")
    groups = {"feynman": sorted(laws()), "strogatz": [f"strogatz_{name}" for name in facts("srbench")["strogatz"]]}
    return [name for group in SUBSETS if subset in (None, group) for name in groups[group]]


def load(name: str) -> Drawn:
    group, _, system = name.partition("_")
    if group == "feynman":
        law = laws()[name]
        return Drawn(
            id=f"srbench/{name}",
            truth={next(iter(feynman(law).truth)): formula(law)},
            inputs=feynman(law).inputs,
            samplers=samplers(law),
            subset=group,
            source="SRBench (arXiv:2107.14351), Feynman database",
        )
    about = facts("srbench")["strogatz"][system]
    return Drawn(
        id=f"srbench/{name}",
        truth={"rate": about["formula"]},
        inputs=("x", "y"),
        samplers={state: ["uniform", *about[state]] for state in ("x", "y")},
        rows=SYSTEM_ROWS,
        subset=group,
        flags=("stand-in data",),
        note="the states are uniform in the box that SRBench's table spans",
        source="SRBench (arXiv:2107.14351), ode-strogatz at 9e24b3ab",
    )

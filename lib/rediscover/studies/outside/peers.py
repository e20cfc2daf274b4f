"""Our implementations beside the authors' own record in SRBench, law by law, from runs that are recorded already.

SRBench's laws are those of the Feynman database, and so are SRSD's in their variant ``fsrd``, on which study 20 runs
several methods. Only laws with the same formula and the same ranges in both are compared, and runs with at least a
tenth of SRBench's million evaluations: our recorded ones of gplearn have 5,000, and those of Operon another loss.
``python -m rediscover.studies.outside.peers`` writes the table into docs/methods.md, in a minute of the processor.
"""

import functools
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...metrics.outside_rules import symbolic_solution
from ...metrics.solution import ROWS
from ...problems import generator, srbench
from ...problems.srsd import Law
from ...report.comparisons import build_methods
from ...report.pages import put
from ...report.summaries import interval
from ...runs import plan, records, selection
from ...runs.answers import on_answers
from ...runs.run import Run
from ...system import arguments, derived, record_files
from ...system.paths import root

NOISE = (0.0, 0.001, 0.01)  # levels at which the authors' record has rates
PAGE, MARK = "docs/methods.md", "<!--ours against the authors' record-->"
MAX_ROWS = 1000  # of the recorded runs, of SRBench's 7,500


class Peer(NamedTuple):
    """A method of SRBench, ours that stands for it, and the evaluations that ours is recorded with or would need."""

    theirs: str
    ours: str
    evaluations: int


PEERS = (
    Peer("AFP", "afp_released", 500_000),
    Peer("AFP_FE", "afp_fe", 500_000),
    Peer("AIFeynman", "ai_feynman_released", 8_000_000),
    Peer("DSR", "dsr_released", 100_000),
    Peer("gplearn", "gplearn", 500_000),
    Peer("Operon", "operon", 500_000),
)


@functools.cache
def laws() -> dict[str, Law]:
    """SRBench's name of each law that SRSD has with the same formula and ranges -> SRSD's law on these ranges."""
    found = {}
    for id, law in srbench.laws().items():
        theirs, ours = srbench.load(id), srbench.feynman(law)
        if theirs.truth == ours.truth and theirs.samplers == ours.samplers:
            found[id] = ours
    return found


def runs_of(peer: Peer, noise: float) -> list[Run]:
    """The runs of our implementation on all of `laws`, the first seed."""
    methods = build_methods([peer.ours], max_rows=MAX_ROWS)
    return plan(list(laws().values()), methods, noise=noise, evaluations={peer.ours: peer.evaluations})


def recorded(peer: Peer, noise: float) -> pd.DataFrame:
    """The recorded answers of our implementation, chosen on validation rows as in study 20.

    Returns
    -------
    DataFrame
        Columns: problem (SRSD's id), seed, status, seconds, candidates, solution, candidate_index; no rows where
        nothing is recorded.
    """
    asked = runs_of(peer, noise)
    found = [(run, line) for run, line in zip(asked, records.lines(asked), strict=True) if line]
    kept = ["status", "seconds", "candidates"]
    rows = [[run.problem.id, run.seed, *(line[name] for name in kept), {}] for run, line in found]
    frame = pd.DataFrame(rows, columns=["problem", "seed", *kept, "solution"])
    return selection.by_validation(frame, [run.problem for run, _ in found])


def solved(problem: Law, solution: Mapping[str, str], seed: int = 0) -> dict[str, float]:
    """Whether an answer is SRBench's symbolic solution of a law of SRSD."""
    (output,) = problem.outputs
    rows = problem.draw(ROWS, generator(seed, problem.id, "confirmation"))
    sample = dict(zip(problem.inputs, rows.X.T, strict=True))
    return {"solved": symbolic_solution(solution.get(output, ""), problem.truth[output], sample)}


def compared(peer: Peer, noise: float = 0.0, **options: Any) -> pd.DataFrame:
    """Ours and the authors' rate, law by law.

    Parameters
    ----------
    peer : one of `PEERS`
    noise : of `NOISE`
    options : store, workers and progress, as for `runs.grid`

    Returns
    -------
    DataFrame
        Index: SRBench's name of the law. Columns: ours (0 or 1, of one seed; a run without an answer has 0) and
        theirs (share of ten trials). Laws without a record of either are left out.
    """
    rates = derived.read("outside", "srbench_laws").query("method == @peer.theirs and noise == @noise")
    theirs = rates.set_index("problem")["solution_rate"].dropna() / 100
    found = recorded(peer, noise)
    names = {law.id: name for name, law in laws().items()}
    answered = found[found["status"].eq("ok") & found["solution"].astype(bool)]
    # by __spec__, as the command, too, is named by what workers can import
    outcomes = on_answers(f"{__spec__.name}:solved", answered, laws().values(), **options) if len(answered) else []
    right = [outcome.get("result", {"solved": 0.0})["solved"] for outcome in outcomes]
    ours = pd.Series(right, answered["problem"], float).reindex(found["problem"], fill_value=0.0)
    both = pd.DataFrame({"ours": ours.rename(names), "theirs": theirs})
    return both.dropna().rename_axis("problem")


def rates(**options: Any) -> pd.DataFrame:
    """Ours against the authors' record: rates on the same laws and their paired difference, or what has to be run.

    Parameters
    ----------
    options : store, workers and progress, as for `runs.grid`

    Returns
    -------
    DataFrame
        Index: method (SRBench's name) and noise. Columns: evaluations (ours), laws (compared), ours, theirs (per
        cent), difference, low, high (per cent; 95 % bootstrap interval over laws), more, fewer (laws with a rate of
        ours above and below theirs), to_run (runs that are missing) and core_hours (that they would take, by the
        median of those that are recorded on SRSD's laws; NaN if there are none).
    """
    rows = {}
    for peer in PEERS:
        for noise in NOISE:
            both = compared(peer, noise, **options)
            missing = len(laws()) - len(recorded(peer, noise))
            rows[peer.theirs, noise] = {"evaluations": peer.evaluations, **_rates(both)} | {
                "to_run": missing,
                "core_hours": missing * seconds_of(peer) / 3600,
            }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(["method", "noise"])


def _rates(both: pd.DataFrame) -> dict[str, float]:
    off = both["ours"] - both["theirs"]
    means = {name: 100 * both[name].mean() for name in ("ours", "theirs")}
    ends = {name: 100 * value for name, value in interval(off).items() if name in ("value", "low", "high")}
    ends = {"difference": ends.pop("value"), **ends}
    return {"laws": len(both), **means, **ends, "more": int((off > 0).sum()), "fewer": int((off < 0).sum())}


@functools.cache
def seconds_of(peer: Peer) -> float:
    """Median seconds of the recorded runs of our implementation on SRSD, in proportion to the evaluations."""
    file = root() / "records" / "srsd" / f"{peer.ours}{record_files.SUFFIX}"
    kept = record_files.load(file)
    rates = [line["seconds"] / line["evaluations"] for line in kept if line["status"] == "ok"]
    return float(np.median(rates)) * peer.evaluations if rates else math.nan


def shown(found: pd.DataFrame) -> pd.DataFrame:
    """`rates` as text for a page: rows with laws have rates, the others what they would take."""
    frame = found.reset_index()
    known = frame["laws"] > 0

    def text(row: pd.Series) -> list[str]:
        if not row["laws"]:
            return ["not run", "", "", "", f"{row['to_run']:.0f} runs, {row['core_hours']:.1f} core-hours"]
        ends = f"{row['difference']:+.1f} [{row['low']:+.1f}, {row['high']:+.1f}]"
        return [f"{row['ours']:.1f}", f"{row['theirs']:.1f}", ends, f"{row['more']:.0f}, {row['fewer']:.0f}", ""]

    columns = ["ours, %", "authors', %", "difference", "laws above, below", "to run"]
    cells = pd.DataFrame([text(row) for _, row in frame.iterrows()], columns=columns)
    laws = frame["laws"].astype(str).where(known, "")
    named = frame["method"] + ", noise " + frame["noise"].map("{:g}".format)
    ours = frame["evaluations"].map("{:,.0f}".format)
    return pd.DataFrame({"method": named, "our evaluations": ours, "laws": laws}).join(cells)


if __name__ == "__main__":
    arguments.none(__doc__)
    put(shown(rates()), PAGE, MARK)

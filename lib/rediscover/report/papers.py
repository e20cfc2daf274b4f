"""What the papers print: their tables, their claims, and the methods by the labels that stand there."""

from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from ..methods import Method, registry
from ..methods.endpoint import Endpoint
from ..methods.llm_text import LanguageModel
from ..runs.schema import PRINTED_IN
from ..system.studies import FOLDER, studies


def published(name: str) -> pd.DataFrame:
    """A table of a paper, tidy, values as printed (text, so that no digit is lost).

    Parameters
    ----------
    name : str
        File name without suffix, such as ``surfacebench_table1``.

    Returns
    -------
    DataFrame
        Its index says file and line of each row, ``surfacebench_table1.csv:2``: by it, the ledger knows a cell again.

    Raises
    ------
    KeyError
        If no study has such a table.
    """
    files = {path.stem: path for path in sorted(FOLDER.glob("*/published/*.csv")) if path.stem != "claims"}
    if name not in files:
        raise KeyError(f"no published table {name!r} (known: {', '.join(files)})")
    table = _text(files[name])
    return table.set_axis([f"{name}.csv:{line}" for line in range(2, len(table) + 2)])


def tables() -> pd.DataFrame:
    """The published tables in the order of the papers, and where each is made again.

    Of the last seven columns, those are None of which study.yaml says nothing; `printed_in` is then the paper.

    Returns
    -------
    DataFrame
        Indexed by file name without suffix.
        Columns: paper, table, notebook, problems (prefixes), cells (formats), describes, ledger (rules), kind,
        printed_in (`schema.PRINTED_IN`), shares (`comparable.unattainable`), takes (words of the reason why cells were
        not run -> what running them takes).
    """
    rows = {
        name: {
            "paper": study.get("paper", ""),  # a table of a study of several papers has its own
            "notebook": study["notebooks"][0],
            "problems": study["problems"],
            **dict.fromkeys(("cells", "describes", "ledger", "kind", "shares", "takes")),
            "printed_in": PRINTED_IN[0],
        }
        | about
        for study in studies().values()
        for name, about in study["tables"].items()
    }
    frame = pd.DataFrame.from_dict(rows, orient="index")
    papers = list(frame["paper"].unique())
    shared = frame.groupby("paper")["notebook"].transform(lambda names: names.str[:2].nunique() > 2)
    number = frame["table"].str.extract(r"(\d+)")[0].astype(float).where(shared, 0)  # tables of several studies, mixed
    return frame.iloc[np.lexsort([number, frame["paper"].map(papers.index)])]


def claims(key: str | None = None) -> pd.DataFrame:
    """The claims of a study, or of all, by their id: paper, claim, direction_or_number, where_in_paper and others.

    Parameters
    ----------
    key : key of the study, such as ``surfaces``; by default all

    Returns
    -------
    DataFrame
        Indexed by claim_id.
    """
    parts = [
        _text(path).assign(paper=study["paper"])
        for name, study in studies().items()
        if key in (None, name) and (path := FOLDER / name / "published" / "claims.csv").exists()
    ]
    parts = parts or [pd.DataFrame(columns=["claim_id", "claim", "direction_or_number", "where_in_paper", "paper"])]
    return pd.concat(parts).set_index("claim_id").sort_index()


def catalogue(paper: str | None = None) -> pd.DataFrame:
    """Every method of the papers, with what methods.yaml says of it.

    Status is that of `status`, or 'not yet' where no file offers the method; it follows from the registry and is
    written down nowhere.

    Parameters
    ----------
    paper : str, optional
        As in methods.yaml, such as ``surfacebench``: then one row for each label that its tables print.

    Returns
    -------
    DataFrame
        Columns: label, method, papers, status, ours, package (itself, where it runs beside ours), reason, kind (of
        evidence), chance (whether one seed of it differs from another), chosen (before or after outcomes were seen: its
        configuration), unlike (why it does not stand for the published method in claims; empty where it does), less
        (what its runs have less of than those of each paper).
    """
    known, rows = registry(), []
    for entry in yaml.safe_load((FOLDER / "methods.yaml").read_text(encoding="utf-8")):
        ours = entry.get("ours", "")
        present = ours in known
        now, reason = status(known[ours]) if present else ("not yet", entry["reason"])
        row = {
            "method": entry["method"],
            "papers": ", ".join(entry["papers"]),
            "status": now,
            "ours": ours if present else "",
            "package": entry.get("package", ""),
            "reason": reason,
            "kind": entry.get("kind", "rerun"),
            "chance": entry.get("chance", True),
            "chosen": entry.get("chosen", "before"),
            "unlike": entry.get("unlike", ""),
            "less": "; ".join(f"{name}: {text}" for name, text in entry.get("less", {}).items()),
        }
        labels = [entry["method"]] if paper is None else entry["papers"].get(paper, [])
        rows += [{"label": label, **row} for label in labels]
    return pd.DataFrame(rows)


def voters(paper: str) -> set[str]:
    """What the cells of a paper's claims may be of: its methods and models by their labels, but those `unlike` it.

    Our own methods and the controls are none of them, so that no variant of ours moves a verdict.

    Parameters
    ----------
    paper : as study.yaml writes it, such as ``SurfaceBench``

    Returns
    -------
    set of str

    Examples
    --------
    >>> "DSR" in voters("SRSD"), "AI Feynman" in voters("SRSD"), "bidirectional" in voters("SRSD")
    (True, False, False)
    """
    known = catalogue(paper.lower()).set_index("label")["unlike"]
    names = tables().query("paper == @paper").index
    printed = {name for table in map(published, names) for name in table.get("model", [])}
    return {*known.index, *printed} - set(known.index[known != ""])


def of_paper(frame: pd.DataFrame, paper: str) -> pd.DataFrame:
    """The rows of a frame of scores that stand for a paper's methods, under the labels that it prints.

    Parameters
    ----------
    frame : DataFrame
        With a column ``method``, the names here.
    paper : as in methods.yaml, such as ``surfacebench``

    Returns
    -------
    DataFrame
        Like `frame`; one row has one label, the first where a method stands for several.
    """
    known = catalogue(paper).query("ours != '' and unlike == ''").drop_duplicates("ours").set_index("ours")["label"]
    kept = frame[frame["method"].isin(known.index)]
    return kept.assign(method=kept["method"].map(known))


def status(method: type[Method]) -> tuple[str, str]:
    """Whether a method runs with what is here, and what it lacks.

    Parameters
    ----------
    method : class of a method

    Returns
    -------
    tuple of str
        'runs here', 'runs with an endpoint' (of a language model) or 'runs with more installed'; then the reason, empty
        where it runs.
    """
    reason = method().available()
    if not reason:
        return "runs here", ""
    asks = issubclass(method, (Endpoint, LanguageModel))
    return "runs with an endpoint" if asks else "runs with more installed", reason


def _text(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, dtype=str, keep_default_na=False)

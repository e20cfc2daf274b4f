r"""Formulas described by text: a corpus cut out of papers, and the one that comes with the package.

A `Paper` is a list of entries (context, description, equations), in the schema that SciText2Eq released;
`extract` makes one from Markdown or LaTeX by its rules. Each entry is a problem: write the formula, given all
contexts up to it and the true formulas and descriptions before it. The bundled corpus
(``data/passages.yaml``, 24 method sections) is made by the same rules; `released_papers` reads the authors' own.
"""

import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pydantic

from ..system.upstream_files import fetch
from . import Passage, facts

SEPARATOR = " || "
FEWEST, MOST = 2, 15


class Entry(pydantic.BaseModel, frozen=True, populate_by_name=True):
    """One block of equations: the text before it, the sentence that explains it, the LaTeX of each equation."""

    number: str = pydantic.Field(alias="equation id")
    context: str
    description: str | None = None
    equations: tuple[str, ...] = pydantic.Field(alias="EQ_latex", min_length=1)

    @property
    def latex(self) -> str:
        return SEPARATOR.join(self.equations)


class Paper(pydantic.BaseModel, frozen=True):
    """A paper's entries in their order."""

    id: str
    title: str = ""
    equations: tuple[Entry, ...]


def read_papers(path: str | Path) -> list[Paper]:
    """Papers from a JSON file in the released schema.

    Raises
    ------
    ValueError
        Where the file departs from the schema; the message names the paper and the field.
    """
    content = json.loads(Path(path).read_text(encoding="utf-8"))
    if not isinstance(content, list):
        raise ValueError(f"{path}: expected a list of papers, got {type(content).__name__}")
    try:
        return pydantic.TypeAdapter(list[Paper]).validate_python(content)
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        number, *field = first["loc"]
        paper = content[int(number)]
        name = f" ({paper['id']})" if isinstance(paper, Mapping) and "id" in paper else ""
        where = ".".join(map(str, field))
        raise ValueError(f"{path}, paper {int(number) + 1}{name}: {where}: {first['msg']}") from None


_METHOD = re.compile(r"method|approach|model|preliminar|background|framework|proposed", re.IGNORECASE)
_INTRODUCTION = re.compile(r"introduction", re.IGNORECASE)
_END = re.compile(r"^(?:\d+\.?\s*)?(?:references|acknowledge?ments?|appendix)\b", re.IGNORECASE)
_HEADING = re.compile(
    r"(?m)^(?:#{1,6}\s+(?P<markdown>.+)|\\(?:sub)*section\*?\{(?P<latex>[^}]*)\}"
    r"|(?P<numbered>\d+(?:\.\d+)*\.?\s+[A-Z][^.\n]{2,70})|(?P<bare>REFERENCES|References))\s*$"
)
_ENVIRONMENTS = r"equation|align|gather|eqnarray|multline|flalign|alignat"
_DISPLAY = re.compile(
    r"(?s)\\\[(?P<bracket>.*?)\\\]|\$\$(?P<dollar>.*?)\$\$"
    rf"|\\begin\{{(?P<name>(?:{_ENVIRONMENTS})\*?)\}}(?P<body>.*?)\\end\{{(?P=name)\}}"
)
_LABELS = re.compile(
    r"\\(?:tag|label)\*?\{(?:[^{}]|\{[^{}]*\})*\}|\\(?:nonumber|notag)\b"
    r"|(?:\\quad|\\qquad)?\s*\((?:\d+|\\text\{[^}]*\})\)\s*$"
)
_RELATION = re.compile(
    r"[=<>]|\\(?:leq?|geq?|approx|sim|propto|to|in|leftarrow|rightarrow|equiv|triangleq|coloneqq)(?![A-Za-z])"
)
_ABBREVIATION = re.compile(r"(?:e\.g|i\.e|cf|resp|etc|vs|Eq|Eqs|Fig|Sec|et al)\.$")


class Unsuitable(ValueError):
    """A text does not make a paper of the corpus; the message says why."""


def extract(text: str, id: str, title: str = "") -> Paper:
    r"""Cut a paper's text into entries.

    Display maths is ``\[...\]``, ``$$...$$`` and the environments of equation, align, gather and their kin, in
    `method_section`. Blocks with only white space between are one entry; an aligned block whose rows all have a
    relation sign is as many equations as rows. Tags, labels and final punctuation go. The sentence after a block that
    begins with "where" is its description and not part of the next context.

    Parameters
    ----------
    text : Markdown or LaTeX
    id, title : for the record

    Raises
    ------
    Unsuitable
        If there are fewer than 2 or more than 15 entries.

    Examples
    --------
    >>> paper = extract("# Method\nWe add: \\[ a = b + 1. \\] where \\(b\\) is big. Then $$c < a$$", "p")
    >>> [(e.context, e.latex, e.description) for e in paper.equations][0]
    ('# Method\nWe add:', 'a = b + 1', 'where \\(b\\) is big')
    """
    section = method_section(text)
    entries, position = [], 0
    for number, (begin, end, equations) in enumerate(_blocks(section), 1):
        context = section[position:begin].strip()
        description, position = _description(section, end)
        entry = {"number": str(number), "context": context, "description": description, "equations": equations}
        entries.append(Entry.model_validate(entry))
    if not FEWEST <= len(entries) <= MOST:
        raise Unsuitable(f"{id}: {len(entries)} displayed equations in the method section, not {FEWEST} to {MOST}")
    return Paper(id=id, title=title, equations=tuple(entries))


def method_section(text: str) -> str:
    """The text from the first heading on a method, or from after the introduction, up to the references.

    Examples
    --------
    >>> method_section("# Introduction\\nHi\\n# The model\\nx\\n# References\\n[1]")
    '# The model\\nx\\n'
    """
    headings = [(m.start(), next(filter(None, m.groups()))) for m in _HEADING.finditer(text)]
    begin = next((at for at, name in headings if _METHOD.search(name)), None)
    if begin is None:
        after = [i for i, (_, name) in enumerate(headings) if _INTRODUCTION.search(name)]
        begin = headings[after[0] + 1][0] if after and after[0] + 1 < len(headings) else 0
    end = next((at for at, name in headings if at > begin and _END.match(name)), len(text))
    return text[begin:end]


def _blocks(section: str) -> list[tuple[int, int, tuple[str, ...]]]:
    """Start, end and equations of each run of displays with nothing but white space between."""
    blocks: list = []
    for match in _DISPLAY.finditer(section):
        body = next(part for part in (match["bracket"], match["dollar"], match["body"]) if part is not None)
        equations = _equations(body, aligned=match["name"] is not None)
        if not equations:
            continue
        if blocks and not section[blocks[-1][1] : match.start()].strip():
            begin, _, before = blocks.pop()
            blocks.append((begin, match.end(), before + equations))
        else:
            blocks.append((match.start(), match.end(), equations))
    return blocks


def _equations(body: str, *, aligned: bool) -> tuple[str, ...]:
    inner = re.fullmatch(r"\s*\\begin\{(aligned|split|gathered)\}(.*)\\end\{\1\}\s*(.*)", body, re.DOTALL)
    if inner:
        body, aligned = inner[2] + inner[3], True
    rows = [bare for row in (_rows(body) if aligned else [body]) if (bare := _bare(row))]
    if not all(_RELATION.search(row) for row in rows):  # a row that only goes on
        rows = [" ".join(rows)]
    return tuple(rows)


def _rows(body: str) -> list[str]:
    """Rows of an aligned block, split at line ends that are not inside another environment."""
    rows, depth = [""], 0
    for piece in re.split(r"(\\begin\{|\\end\{|\\\\(?:\[[^\]]*\])?)", body):
        depth += {"\\begin{": 1, "\\end{": -1}.get(piece, 0)
        if piece.startswith("\\\\") and depth == 0:
            rows.append("")
        else:
            rows[-1] += piece
    return rows


def _bare(equation: str) -> str:
    """An equation without tags, labels, the first alignment mark and final punctuation."""
    equation = re.sub(r"\s+", " ", _LABELS.sub("", equation.strip())).strip()
    if "\\begin{" not in equation:
        equation = equation.replace("&", "")
    return re.sub(r"[.,;:\s]+$", "", equation).strip()


def _description(section: str, position: int) -> tuple[str | None, int]:
    """The sentence at a position if it begins with "where", and where the text goes on after it."""
    match = re.compile(r"\s*(?=where\b)", re.IGNORECASE).match(section, position)
    if not match:
        return None, position
    for stop in re.compile(r"\.(?=\s|$)|\n\s*\n").finditer(section, match.end()):
        sentence = section[match.end() : stop.start()]
        open_maths = sentence.count("\\(") > sentence.count("\\)") or sentence.count("$") % 2
        if not open_maths and not _ABBREVIATION.search(sentence + "."):
            return sentence.strip(), stop.end()
    return section[match.end() :].strip(), len(section)


class Given(NamedTuple):
    """An entry as it stands before another: all that may be known of it. (A tuple, so that it can enter a key.)"""

    number: str
    context: str
    description: str | None
    equations: tuple[str, ...]

    @property
    def latex(self) -> str:
        return SEPARATOR.join(self.equations)


@dataclass(frozen=True, eq=False, kw_only=True)
class TextPassage(Passage):
    """One entry of a paper, to be written from what stands before it.

    Attributes
    ----------
    truth : ``{"latex": ...}``, several equations joined by ``" || "``.
    paper, number : the paper's id and the entry's number in it, from 1.
    context : the text between the entry before and this one.
    description : the sentence that explains the true formula, if any; not for a method's eyes.
    earlier : the entries before, with their true formulas and descriptions (teacher forcing).
    """

    paper: str
    number: int
    context: str
    description: str | None = None
    earlier: tuple[Given, ...] = ()


def passages_of(paper: Paper, source: str = "") -> list[TextPassage]:
    """A paper's entries as problems.

    Examples
    --------
    >>> passage = passages_of(bundled()[0])[1]
    >>> passage.id, len(passage.earlier)
    ('passages/attention-2', 1)
    """
    given = tuple(Given(e.number, e.context, e.description, e.equations) for e in paper.equations)
    return [
        TextPassage(
            id=f"passages/{paper.id}-{entry.number}",
            truth={"latex": entry.latex},
            subset=paper.id,
            source=source or paper.title,
            paper=paper.id,
            number=i + 1,
            context=entry.context,
            description=entry.description,
            earlier=given[:i],
        )
        for i, entry in enumerate(paper.equations)
    ]


@functools.cache
def _sources() -> dict[Paper, str]:
    """The papers of the bundled corpus, and where their text is from."""
    return {extract(text["text"], text["id"], text["title"]): text["source"] for text in facts("passages")}


def bundled() -> tuple[Paper, ...]:
    """The papers of the bundled corpus."""
    return tuple(_sources())


@functools.cache
def _bundled_passages() -> dict[str, TextPassage]:
    passages = [passage for paper, source in _sources().items() for passage in passages_of(paper, source)]
    return {passage.id.removeprefix("passages/"): passage for passage in passages}


def ids(subset: str | None = None) -> list[str]:
    """Names of the bundled entries, ``paper-number``; `subset` is a paper."""
    return [name for name, passage in _bundled_passages().items() if subset in (None, passage.subset)]


def load(name: str) -> TextPassage:
    """A bundled entry by name."""
    return _bundled_passages()[name]


REPOSITORY = "imxiaoxiaohh/master_thesis_project"
MODELS = {  # name in the paper's tables -> in the names of its files: of outputs, of human scores, of raw answers
    "GPT-4.1": ("gpt-4.1", "gpt-4.1", "gpt-4.1"),
    "DeepSeek-R1": ("deepseek-R1", "deepseek", "deepseek"),
    "GPT-4o-mini": ("gpt-4o-mini", "gpt-4o-mini", "gpt-4o-mini"),
    "LLaMA3-70B": ("llama3.3-70B", "llama3.3", "llama3.3-70B"),
    "Qwen3-235B": ("qwen3-235B", "qwen3", "qwen3-235B"),
}
KEYS = ["paper_id", "equation_id"]
RUBRICS = {  # the paper's name -> the released files' name
    "Validity": "syntactic",
    "Coverage": "completeness",
    "Clarity": "reasoning",
    "Appropriateness": "contextual",
    "Equivalence": "semantic",
}
VENUES = ("ACL", "NAACL", "NeurIPS", "ICLR", "ICML")


def released_papers() -> list[Paper]:
    """The 170 papers that SciText2Eq released (no licence: for checking only); `ReleasedError` if not to be had."""
    return read_papers(fetch(REPOSITORY, "Dataset/academic_dataset_Final.json"))


def venue(paper_id: str) -> str:
    """The venue in a released paper's id.

    Examples
    --------
    >>> venue("naacl_2024_short_23"), venue("2024.acl-short.12")
    ('NAACL', 'ACL')
    """
    if ".acl-" in paper_id:
        return "ACL"
    return {name.lower(): name for name in VENUES}[paper_id.split("_")[0].lower()]


def released_outputs() -> pd.DataFrame:
    """Released formulas of all models with their stored metrics, one row per model and entry, 5,183 in all.

    Returns
    -------
    DataFrame
        Columns: model, paper_id, equation_id, truth, prediction (both cleaned), and as stored texbleu,
        levenshtein_similarity, seqsim, rouge_l and ted, in [0, 1]. Qwen3-235B lacks 32 entries without a formula.
    """
    names = {
        "ground_truth_eq": "truth",
        "generated_equation": "prediction",
        "levenshtein_distance": "levenshtein_similarity",
        "sequence_similarity": "seqsim",
        "avg_tree_edit_distance": "ted",
    }
    metrics = ["texbleu", "levenshtein_similarity", "seqsim", "rouge_l", "ted"]
    formulas = _of_models("Evaluation/data/preprocessed_csv/{0}_results_evaluation_table_cleaned.csv")
    stored = _of_models("Evaluation/data/result_csv/{0}_results_evaluation_table_metrics.csv")
    table = formulas.merge(stored, on=["model", *KEYS], validate="one_to_one").rename(columns=names)
    return table[["model", *KEYS, "truth", "prediction", *metrics]].astype(dict.fromkeys(metrics, float))


def released_answers() -> pd.DataFrame:
    """Answers as the models wrote them that people rated: model, paper_id, equation_id, formula, description."""
    columns = {"generated_equation": "formula", "generated_description": "description"}
    table = _of_models("Evaluation/data/raw_csv/human_judge_{2}.csv").rename(columns=columns)
    return table[["model", *KEYS, *columns.values()]]


def released_scores(rater: str) -> pd.DataFrame:
    """Released rubric scores, 1 to 5, one row per model and entry, in the order of the files.

    Parameters
    ----------
    rater : 'judge' (a language model, 1,043 entries per model) or 'human' (100 of them, put together from five people)

    Returns
    -------
    DataFrame
        Columns: model, paper_id, equation_id, and the five rubrics under the paper's names.
    """
    files = {
        "judge": "Evaluation/data/result_csv/{0}_results_evaluation_table_llm_judge_results.csv",
        "human": "Evaluation/data/result_csv/human_judge/human_judge_{1}_results.csv",
    }
    if rater not in files:
        raise ValueError(f"rater must be 'judge' or 'human', got {rater!r}")
    table = _of_models(files[rater]).rename(columns={f"{stored}_score": rubric for rubric, stored in RUBRICS.items()})
    return table[["model", *KEYS, *RUBRICS]].astype(dict.fromkeys(RUBRICS, float))


def _of_models(path: str) -> pd.DataFrame:
    """The files of all models below each other; {0}, {1} and {2} stand for a model's names in them."""
    tables = [_table(path.format(*names)).assign(model=model) for model, names in MODELS.items()]
    return pd.concat(tables, ignore_index=True)


def _table(path: str) -> pd.DataFrame:
    # Formulas such as "NA" are text, not missing values.
    return pd.read_csv(fetch(REPOSITORY, path), dtype={"paper_id": str, "equation_id": int}, keep_default_na=False)

"""Scores from 1 to 5 on the five rubrics of SciText2Eq: by rules, or by a language model.

The rule judge needs no model and no network; it is a baseline that stands under its own name beside real
judges. Its shares are crude on purpose and its cut points fixed (``judge.yaml``).
"""

import functools
import re
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from ...methods.text_baselines import inline_formulas
from ...metrics import latex

_FACTS = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
RUBRICS = tuple(_FACTS["inputs"])
_SCORE_PATTERNS = (
    r"score\W{0,6}?(?:is|of)?\W{0,6}?([0-9])\b",
    r"\b([0-9])\s*/\s*[45]\b",
    r"\b(?:give|rate|score)\b[^0-9]{0,40}([0-9])\b",
    r"^\s*([0-9])\b",
)
_SCALE = re.compile(r"[(<\[]?\b1\s*(?:-|–|to)\s*5\b[)>\]]?")  # "Score (1-5): 4": the scale is no score
_WORD = re.compile(r"[A-Za-z]{3,}")


# ---- by rules


def shares(passage, formula: str, description: str = "") -> dict[str, float]:
    r"""The five shares in [0, 1] that the rule judge turns into scores.

    Validity: 1 less the share of equations that SymPy cannot parse, halved if braces do not balance, 0
    without a formula. Coverage: share of the context's symbols that occur in formula or description. Clarity:
    share of the formula's symbols that the description names. Appropriateness: share of the answer's symbols
    and words that occur in this context or in an earlier one. Equivalence: 1 if equal after cleaning, else
    the mean of one minus the structure distance and the Jaccard overlap of symbols, at most 0.79 (formulas
    that differ are not the same).

    Parameters
    ----------
    passage : TextPassage
    formula, description : the answer, LaTeX and text

    Examples
    --------
    >>> from .problems import problem
    >>> given = problem("passages/kalman-5")  # the gain
    >>> shares(given, given.truth["latex"])["Equivalence"]
    1.0
    """
    answer, truth = latex.clean(formula), latex.clean(passage.truth["latex"])
    seen = " ".join([*(entry.context for entry in passage.earlier), passage.context])
    in_context, in_answer = _symbols(_inline(passage.context)), _symbols(answer)
    in_description = _symbols(description)
    said = in_answer | in_description | set(map(str.lower, _WORD.findall(description)))
    known = _symbols(_inline(seen)) | set(map(str.lower, _WORD.findall(seen)))
    known |= {symbol for entry in passage.earlier for symbol in _symbols(entry.latex)}
    equations = latex.parts(answer)
    failed = sum(tree is None for tree in latex.parse(equations).values()) / max(len(set(equations)), 1)
    same = re.sub(r"\s", "", answer) == re.sub(r"\s", "", truth)
    near = (1 - latex.structure_distance(answer, truth) + _overlap(in_answer, _symbols(truth))) / 2
    return {
        "Validity": (1 - failed) / (1 if _balanced(answer) else 2) if equations else 0.0,
        "Coverage": _share(in_context, in_answer | in_description) if equations else 0.0,
        "Clarity": _share(in_answer, in_description) if description else 0.0,
        "Appropriateness": _share(said, known) if said else 0.0,
        "Equivalence": 1.0 if same else min(near, 0.79) if equations else 0.0,
    }


def rule_scores(passage, formula: str, description: str = "") -> dict[str, int]:
    """Scores 1 to 5 of an answer by `shares` and fixed cut points.

    Examples
    --------
    >>> from .problems import problem
    >>> rule_scores(problem("passages/kalman-5"), "")["Validity"]
    1
    """
    cuts = _FACTS["cut_points"]
    found = shares(passage, formula, description)
    return {rubric: 1 + int(np.searchsorted(cuts, share, "right")) for rubric, share in found.items()}


def _inline(text: str) -> str:
    return " ".join(inline_formulas(text))


def _symbols(text: str) -> set[str]:
    """Letters and Greek letters that stand alone."""
    greek = "|".join(latex.letter_commands())
    return set(re.findall(rf"\\(?:{greek})(?![A-Za-z])|(?<![\\A-Za-z])[A-Za-z](?![A-Za-z])", text))


def _share(wanted: set, found: set) -> float:
    return len(wanted & found) / len(wanted) if wanted else 1.0


def _overlap(a: set, b: set) -> float:
    return len(a & b) / len(a | b) if a | b else 1.0


def _balanced(text: str) -> bool:
    depth = 0
    for brace in re.findall(r"(?<!\\)[{}]", text):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0


# ---- by a language model


@functools.cache
def _anchors(rubric: str) -> str:
    table = pd.read_csv(Path(__file__).parent / "published" / "scitext2eq_table9.csv")
    rows = table[table.rubric == rubric].sort_values("score", ascending=False)
    return "\n".join(f"{row.score}: {row.meaning_in_own_words}" for row in rows.itertuples())


def judge_prompt(rubric: str, passage, formula: str, description: str = "") -> list[dict]:
    """Messages that ask a model for one score, with the inputs that the released pipeline shows for this
    rubric.

    The context is that of the entry alone, the formulas are as written (not cleaned).
    """
    given = {
        "context": passage.context,
        "true equation": passage.truth["latex"],
        "true description": passage.description or "",
        "generated equation": formula,
        "generated description": description,
    }
    inputs = "\n".join(f"{name.capitalize()}: {given[name]}" for name in _FACTS["inputs"][rubric])
    values = {"RUBRIC": rubric.upper(), "inputs": inputs, "question": _FACTS["questions"][rubric]}
    text = _FACTS["prompt"].format(anchors=_anchors(rubric), **values)
    return [{"role": "system", "content": _FACTS["system"]}, {"role": "user", "content": text}]


def parse_score(reply: str) -> tuple[int | None, str]:
    """The score in a judge's reply and its explanation; None where there is no digit from 1 to 5.

    Patterns in the released order: a digit after "score"; a digit over 4 or 5; a digit after give, rate or
    score; a digit that begins a line. Unlike there, a digit outside 1 to 5 is no score, and neither is the scale.

    Examples
    --------
    >>> parse_score("Score: 4\\nExplanation: nearly the same")
    (4, 'nearly the same')
    """
    _, found, rest = reply.partition("Explanation:")
    explanation = (rest if found else reply).strip()
    scored = _SCALE.sub("", reply)
    for pattern in _SCORE_PATTERNS:
        match = re.search(pattern, scored, re.IGNORECASE | re.MULTILINE)
        if match:
            score = int(match[1])
            return (score if 1 <= score <= 5 else None), explanation
    return None, explanation

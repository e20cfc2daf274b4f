"""Scores from 1 to 5 on the five rubrics of SciText2Eq: by rules, or by a language model.

The rule judge needs no model and no network; it is a baseline that stands under its own name beside real judges. Its
shares are crude on purpose and its cut points fixed (``judge.yaml``).
"""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from ...llm.client import Chat, LlmError
from ...methods import llm_text
from ...methods.text_baselines import inline_formulas
from ...metrics import latex
from ...report.papers import published

_FACTS = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
RUBRICS = tuple(_FACTS["inputs"])
SAMPLING = {name: llm_text.FACTS[f"judge_{name}"] for name in ("temperature", "max_tokens")}  # of a model that judges
_WORD = re.compile(r"[A-Za-z]{3,}")
_SYMBOL = rf"\\(?:{'|'.join(latex.letter_commands())})(?![A-Za-z])|(?<![\\A-Za-z])[A-Za-z](?![A-Za-z])"


def shares(passage, formula: str, description: str = "") -> dict[str, float]:
    r"""The five shares in [0, 1] that the rule judge turns into scores.

    Validity: 1 less the share of equations that SymPy cannot parse, halved if braces do not balance, 0 without a
    formula. Coverage: share of the context's symbols that occur in formula or description. Clarity: share of the
    formula's symbols that the description names. Appropriateness: share of the answer's symbols and words that occur
    in this context or in an earlier one. Equivalence: 1 if equal after cleaning, else the mean of one minus the
    structure distance and the Jaccard overlap of symbols, at most 0.79 (formulas that differ are not the same).

    Parameters
    ----------
    passage : TextPassage
    formula, description : the answer, LaTeX and text

    Examples
    --------
    >>> from ...problems import problem
    >>> given = problem("passages/kalman-5")  # the gain
    >>> shares(given, given.truth["latex"])["Equivalence"]
    1.0
    """
    answer, truth = latex.clean(formula), latex.clean(passage.truth["latex"])
    context = " ".join([*(entry.context for entry in passage.earlier), passage.context])
    in_answer, in_truth, in_description = map(_symbols, (answer, truth, description))
    used = in_answer | in_description | _words(description)
    known = _symbols(" ".join(inline_formulas(context))) | _words(context)
    known |= {symbol for entry in passage.earlier for symbol in _symbols(entry.latex)}
    equations = latex.parts(answer)
    failed = sum(tree is None for tree in latex.parse(equations).values()) / max(len(set(equations)), 1)
    overlap = _share(in_answer | in_truth, in_answer & in_truth)
    near = (1 - latex.structure_distance(answer, truth) + overlap) / 2
    same = re.sub(r"\s", "", answer) == re.sub(r"\s", "", truth)
    wanted = _symbols(" ".join(inline_formulas(passage.context)))
    return {
        "Validity": (1 - failed) / (1 if _balanced(answer) else 2) if equations else 0.0,
        "Coverage": _share(wanted, in_answer | in_description) if equations else 0.0,
        "Clarity": _share(in_answer, in_description) if description else 0.0,
        "Appropriateness": _share(used, known) if used else 0.0,
        "Equivalence": 1.0 if same else min(near, 0.79) if equations else 0.0,
    }


def rule_scores(passage, formula: str, description: str = "") -> dict[str, int]:
    """Scores 1 to 5 of an answer by `shares` and fixed cut points.

    Examples
    --------
    >>> from ...problems import problem
    >>> rule_scores(problem("passages/kalman-5"), "")["Validity"]
    1
    """
    found = shares(passage, formula, description)
    return {name: 1 + int(np.searchsorted(_FACTS["cut_points"], share, "right")) for name, share in found.items()}


def _symbols(text: str) -> set[str]:
    """Letters and Greek letters that stand alone."""
    return set(re.findall(_SYMBOL, text))


def _words(text: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(text)}


def _share(wanted: set, found: set) -> float:
    return len(wanted & found) / len(wanted) if wanted else 1.0


def _balanced(text: str) -> bool:
    depths = np.cumsum([1 if brace == "{" else -1 for brace in re.findall(r"(?<!\\)[{}]", text)] or [0])
    return depths.min() >= 0 and depths[-1] == 0


def judge_prompts(passage, formula: str, description: str = "") -> list[list[dict]]:
    """For each of `RUBRICS`, messages that ask a model for a score, with the inputs that the released pipeline shows.

    The context is that of the entry alone, the formulas are as written (not cleaned).
    """
    given = {
        "context": passage.context,
        "true equation": passage.truth["latex"],
        "true description": passage.description or "",
        "generated equation": formula,
        "generated description": description,
    }
    meanings, prompts = published("scitext2eq_table9"), []
    for rubric, shown in _FACTS["inputs"].items():
        rows = meanings[meanings["rubric"] == rubric].sort_values("score", ascending=False)
        text = _FACTS["prompt"].format(
            RUBRIC=rubric.upper(),
            inputs="\n".join(f"{name.capitalize()}: {given[name]}" for name in shown),
            question=_FACTS["questions"][rubric],
            anchors="\n".join(f"{row.score}: {row.meaning_in_own_words}" for row in rows.itertuples()),
        )
        prompts.append([{"role": "system", "content": _FACTS["system"]}, {"role": "user", "content": text}])
    return prompts


def judged(chat: Chat, passages, answers: pd.DataFrame) -> pd.DataFrame:
    """Scores by a model, a row for each answer (columns latex, description); NaN where it failed or gave none."""
    rows = zip(passages, answers["latex"], answers["description"], strict=True)
    replies = chat.ask_all([q for row in rows for q in judge_prompts(*row)], progress="scores", **SAMPLING)
    found = [None if isinstance(reply, LlmError) else parse_score(reply.text or "")[0] for reply in replies]
    return pd.DataFrame(np.array(found, float).reshape(-1, len(RUBRICS)), columns=list(RUBRICS))


def parse_score(reply: str) -> tuple[int | None, str]:
    """The score in a judge's reply and its explanation; None where there is no digit from 1 to 5.

    Patterns in the released order: a digit after "score"; over 4 or 5; after give, rate or score; at the beginning of
    a line. Unlike there, a digit outside 1 to 5 is no score, and neither is the scale.

    Examples
    --------
    >>> parse_score("Score: 4\\nExplanation: nearly the same")
    (4, 'nearly the same')
    """
    _, found, rest = reply.partition("Explanation:")
    explanation = (rest if found else reply).strip()
    scored = re.sub(_FACTS["scale"], "", reply)
    matches = (re.search(pattern, scored, re.IGNORECASE | re.MULTILINE) for pattern in _FACTS["score_patterns"])
    score = next((int(match[1]) for match in matches if match), 0)
    return (score if 1 <= score <= 5 else None), explanation

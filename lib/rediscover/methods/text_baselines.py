r"""Formulas for a passage without a language model: what a score is worth that needs no understanding.

All three see what a model sees (contexts up to the entry, true formulas before it) and nothing else.
"""

import re
from dataclasses import dataclass
from typing import Any, ClassVar

from ..problems import Passage
from . import Budget, Candidate, Method

_INLINE = re.compile(r"\\\((.+?)\\\)|\$([^$]+)\$", re.DOTALL)
_SYMBOL = re.compile(
    r"(?:\\(?:alpha|beta|gamma|delta|epsilon|eta|theta|kappa|lambda|mu|nu|xi|pi|rho|sigma|tau|phi|psi|omega|ell"
    r"|Gamma|Delta|Theta|Lambda|Sigma|Phi|Psi|Omega)|(?<![\\A-Za-z])[A-Za-z])(?![A-Za-z])"
)


def inline_formulas(text: str) -> list[str]:
    r"""Inline maths of a text, in order.

    Examples
    --------
    >>> inline_formulas(r"the rate \(\eta\) and $x_i$")
    ['\\eta', 'x_i']
    """
    return [(a or b).strip() for a, b in _INLINE.findall(text)]


def symbols(text: str) -> list[str]:
    r"""Distinct letters and Greek letters of maths, in order of appearance; words of letters are none.

    Examples
    --------
    >>> symbols(r"y = \sigma(W x) + \log x")
    ['y', '\\sigma', 'W', 'x']
    """
    return list(dict.fromkeys(_SYMBOL.findall(re.sub(r"\\mathbb\{[A-Z]\}", " ", text))))


def _answer(latex: str, seen: str) -> list[Candidate]:
    return [Candidate({"latex": latex}, evaluations=0, notes={"from": seen})]


def _opening(problem: Any) -> list[Candidate]:
    """For the first entry of a paper: the last formula in its context, or nothing."""
    formulas = inline_formulas(problem.context)
    return _answer(formulas[-1], "context") if formulas else _answer("", "nothing")


@dataclass(frozen=True)
class CopyLastEquation(Method):
    """The formula before this one, word for word; for the first entry the last one within its context."""

    name: ClassVar[str] = "copy_last_equation"
    reference: ClassVar[str] = "baseline without a model: the formula before"
    accepts: ClassVar[tuple[type, ...]] = (Passage,)

    def answer(self, problem: Any, budget: Budget, seed: int) -> list[Candidate]:
        return _answer(problem.earlier[-1].latex, "entry before") if problem.earlier else _opening(problem)


@dataclass(frozen=True)
class RetrieveEquation(Method):
    """The earlier formula of the paper whose context is most like this one's (cosine of TF-IDF)."""

    name: ClassVar[str] = "retrieve_equation"
    reference: ClassVar[str] = "baseline without a model: nearest context"
    requires: ClassVar[tuple[str, ...]] = ("scikit-learn",)
    accepts: ClassVar[tuple[type, ...]] = (Passage,)

    def answer(self, problem: Any, budget: Budget, seed: int) -> list[Candidate]:
        from sklearn.feature_extraction.text import TfidfVectorizer

        if not problem.earlier:
            return _opening(problem)
        contexts = [entry.context for entry in problem.earlier] + [problem.context]
        vectors = TfidfVectorizer(token_pattern=r"[A-Za-z\\]+").fit_transform(contexts)
        likeness = (vectors[:-1] @ vectors[-1].T).toarray().ravel()
        best = max(range(len(likeness)), key=lambda i: (likeness[i], i))
        return _answer(problem.earlier[best].latex, f"entry {problem.earlier[best].number}")


@dataclass(frozen=True)
class SkeletonTemplate(Method):
    """The skeleton of the formula before, its letters replaced in order by those new in this context."""

    name: ClassVar[str] = "skeleton_template"
    reference: ClassVar[str] = "baseline without a model: old skeleton, new symbols"
    accepts: ClassVar[tuple[type, ...]] = (Passage,)

    def answer(self, problem: Any, budget: Budget, seed: int) -> list[Candidate]:
        new = symbols(" ".join(inline_formulas(problem.context)))
        if not problem.earlier:
            if not new:
                return _answer("", "nothing")
            return _answer(f"{new[0]} = f({', '.join(new[1:]) or 'x'})", "template")
        skeleton = problem.earlier[-1].latex
        old = [symbol for symbol in symbols(skeleton) if symbol not in new]
        fresh = [symbol for symbol in new if symbol not in symbols(skeleton)]
        exchange = dict(zip(old, fresh, strict=False))
        return _answer(_SYMBOL.sub(lambda m: exchange.get(m[0], m[0]), skeleton), "entry before")

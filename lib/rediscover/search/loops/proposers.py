"""Who proposes programs in a loop: a language model, a random grammar, genetic operators; and how they are written.

>>> rng = np.random.default_rng(0)
>>> notation = Function("def f(x, params):", "f", {"x": "x"})
>>> print(Grammar(notation)(Shown(()), 1, rng)[0])
def f(x, params):
    return x*x*x/np.sqrt(params[0] + x)
"""

import functools
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...expressions import Expression, ExpressionError, parse
from ...expressions.edits import evolve_block
from ...expressions.numerics import UFUNCS
from ...expressions.programs import ProgramError, Reading, Slot, read_function
from ...expressions.programs.frames import refusing
from ...expressions.spelling import respelled
from ...expressions.syntax import write
from ...expressions.trees import UNARY, fold, replace_leaves
from ...llm.tokens import tokens_in
from ..programs import variation
from ..programs.draws import stream
from ..programs.evaluation import structure
from ..programs.grammars import built_in, draw
from ..programs.programs import Programs, empty, to_tree
from .proposals import Answer, Notation, Proposer, Scored, Shown
from .slot_fits import postfix

COUNT = 10  # constants of a program, as in LLM-SR
# Fixed before any result: the operators of ProGED's universal grammar, and sizes that its longer sentences reach.
OPERATORS = ("+", "-", "*", "/", "sin", "cos", "sqrt", "exp")
TOKENS = 30  # of a control's program
ATTEMPTS = 100  # at a program within the limits
CROSSOVER = 0.5  # share of children of two parents, where two are shown
KINDS = ("operator", "swap", "add", "insert", "delete", "rotate")  # of mutations, each as likely


# ------------------------------------------------------------------------------------------------------- notations


def numbered(tree: tuple, leaves: Callable[[int], str]) -> tuple:
    """A tree with text for its constants ``("#0",)``, ``("#1",)``, ..."""
    return replace_leaves(tree, lambda leaf: (leaves(int(leaf[1:])) if str(leaf).startswith("#") else leaf,))


def numbered_sum(inputs: Sequence[str]) -> tuple:
    """A constant for each input, and one more: where LLM-SR and OpenEvolve begin.

    >>> str(Expression(numbered_sum(["x"])))
    '#0*x + #1'
    """
    terms = [*(("*", (f"#{i}",), (name,)) for i, name in enumerate(inputs)), (f"#{len(inputs)}",)]
    return functools.reduce(lambda total, term: ("+", total, term), terms)


def of_columns(reading: Reading, inputs: Sequence[str]) -> Reading:
    """The reading itself, or `ProgramError` where the program takes more than these columns."""
    if unknown := sorted(set(reading.inputs) - set(inputs)):
        raise ProgramError(0, f"the argument {unknown[0]!r} is no column")
    return reading


@dataclass(frozen=True)
class Function:
    """Programs are functions in Python of columns and of a vector ``params`` of constants.

    Attributes
    ----------
    header : from the beginning of the text to the line before ``return``.
    name : of the function.
    columns : how a column is written in Python -> its name; ``x[:, 0]`` for the first column of a table x.
    count : length of ``params``.
    end : what stands behind the last line.
    """

    header: str
    name: str
    columns: Mapping[str, str]
    count: int = COUNT
    end: str = ""

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(self.columns.values())

    def read(self, text: str) -> Reading:
        tables: dict[str, Any] = {}
        for python, column in self.columns.items():
            argument, table, _ = python.partition("[")
            tables[argument] = [*tables.get(argument, []), column] if table else column
        reading = read_function(evolve_block(text), name=self.name, count=self.count, columns=tables)
        return of_columns(reading, self.inputs)

    def write(self, tree: tuple) -> str:
        python = {column: text for text, column in self.columns.items()}

        def rename(label, children):
            if not children:
                return (python.get(label, label),)
            return (f"np.{UFUNCS[label].__name__}" if label in UNARY else label, *children)

        formula = write(fold(numbered(tree, "params[{}]".format), rename))
        return f"{self.header}\n    return {formula}{self.end}"


@dataclass(frozen=True)
class Skeleton:
    """Programs are formulas in which ``c`` is a constant, at each place another one; so are c0, c1, and so on.

    Attributes
    ----------
    inputs : names of the columns; one called c makes the constants C.
    count : constants of a formula, at most.
    """

    inputs: tuple[str, ...]
    count: int = COUNT

    @property
    def letter(self) -> str:
        return next(letter for letter in ("c", "C", "k", "K", "const") if letter not in self.inputs)

    def parsed(self, text: str) -> Expression:
        """What a model has written, which may be spelled in other signs."""
        try:
            return parse(text)
        except ExpressionError:
            return parse(respelled(text, (*self.inputs, self.letter)))

    def read(self, text: str) -> Reading:
        slots: list[Slot] = []

        def constant(leaf: Any) -> tuple:
            bare = str(leaf).rstrip("0123456789")
            if leaf in self.inputs or bare.rstrip("_") != self.letter:
                return (leaf,)
            slots.append(Slot(f"{self.letter}_{len(slots)}_", len(slots), str(leaf), 1.0))
            return (slots[-1].name,)

        with refusing():
            expression = Expression(replace_leaves(self.parsed(text).tree, constant))
        unknown = set(expression.names) - set(self.inputs) - {slot.name for slot in slots}
        if unknown:
            raise ProgramError(0, f"unknown variable {min(unknown)!r}")
        if len(slots) > self.count:
            raise ProgramError(0, f"more than {self.count} constants")
        return Reading(expression, self.inputs, tuple(slots))

    def write(self, tree: tuple) -> str:
        return write(numbered(tree, lambda number: self.letter))


# -------------------------------------------------------------------------------------------------------- controls


@dataclass(frozen=True)
class Grammar:
    """Random programs from ProGED's universal grammar, every variable as likely; what is shown is not looked at.

    What contains constants only is one constant. A draw without a variable or beyond the limits is drawn again.

    Attributes
    ----------
    notation : in which they are written.
    """

    notation: Notation

    def __call__(self, shown: Shown, count: int, rng: np.random.Generator) -> list[Answer]:
        return [self.notation.write(self.tree(self.notation.inputs, rng)) for _ in range(count)]

    @staticmethod
    def tree(inputs: Sequence[str], rng: np.random.Generator) -> tuple:
        rules = built_in("universal", inputs)
        for _ in range(ATTEMPTS):
            sentence = draw(rules, rng.random)
            if sentence is None or len(sentence.words) > 4 * TOKENS:
                continue
            words = ["1" if word == "C" else word for word in sentence.words]
            tree = merged(parse(" ".join(words), inputs).tree)
            if within_limits(tree):
                return with_numbers(tree)
        return (inputs[int(rng.integers(len(inputs)))],)


def merged(tree: tuple) -> tuple:
    """The tree with ``("#",)`` for every number and every part without a variable."""

    def merge(label: Any, children: list[tuple]) -> tuple:
        if not children:
            return (label,) if isinstance(label, str) else ("#",)
        return ("#",) if all(child == ("#",) for child in children) else (label, *children)

    return fold(tree, merge)


def within_limits(tree: tuple) -> bool:
    """Whether a tree has a variable and keeps the limits."""
    expression = Expression(tree)
    return expression.names not in ((), ("#",)) and expression.size <= TOKENS and slots_in(tree) <= COUNT


def slots_in(tree: tuple) -> int:
    return fold(tree, lambda label, children: sum(children) if children else int(label == "#"))


def with_numbers(tree: tuple) -> tuple:
    """``("#",)`` as ("#0",), ("#1",), ..., from left to right."""
    numbers = iter(range(slots_in(tree)))
    return replace_leaves(tree, lambda leaf: (f"#{next(numbers)}",) if leaf == "#" else (leaf,))


@dataclass(frozen=True)
class Genetic:
    """Children of what is shown: crossover of two of them, or a mutation of one.

    The parent is the one that the pool names, else any that is shown, and so is its partner. The moves are those
    of `variation`; a child that is its parent, or beyond the limits of `Grammar`, is made anew. Where nothing is
    shown, or all attempts fail, it is a program of the grammar.

    Attributes
    ----------
    notation : in which they are written.
    """

    notation: Notation

    def __call__(self, shown: Shown, count: int, rng: np.random.Generator) -> list[Answer]:
        return [self.notation.write(self.tree(shown, rng)) for _ in range(count)]

    def tree(self, shown: Shown, rng: np.random.Generator) -> tuple:
        inputs, programs = self.notation.inputs, [*shown.programs, *shown.inspirations]
        state, palette = stream(int(rng.integers(2**62))), variation.palette(OPERATORS, len(inputs))
        for _ in range(ATTEMPTS if programs or shown.parent else 0):
            parent = shown.parent or programs[int(rng.integers(len(programs)))]
            others = [program for program in programs if program is not parent]
            a = batch_of(parent, inputs)
            b = batch_of(others[int(rng.integers(len(others)))], inputs) if others else None
            if a is None:
                continue
            if b is not None and rng.random() < CROSSOVER:
                child = crossed(a, b, state)
            else:
                child = mutated(a, KINDS[int(rng.integers(len(KINDS)))], palette, state)
            tree = merged(to_tree(child, 0, inputs))
            same = np.array_equal(child.tokens[0, : child.sizes[0]], a.tokens[0, : a.sizes[0]])
            if not same and within_limits(tree):
                return with_numbers(tree)
        return Grammar.tree(inputs, rng)


@functools.lru_cache(maxsize=1000)
def batch_of(program: Scored, inputs: tuple[str, ...]) -> Programs | None:
    """The program alone in a batch with room to grow; None if it holds what no operator stands for."""
    found = postfix(program.reading, inputs)
    if found is None:
        return None
    size = len(found.tokens)
    batch = empty(1, 2 * size + 4)
    batch.tokens[0, :size], batch.constants[0, :size], batch.sizes[0] = found.tokens, 1.0, size
    return batch


def mutated(a: Programs, kind: str, palette: variation.Palette, state: np.ndarray) -> Programs:
    """A mutation of the first program of a batch."""
    size, out = int(a.sizes[0]), empty(1, a.tokens.shape[1])
    tree, new = variation.Tree(a.tokens[0], a.constants[0]), variation.Tree(out.tokens[0], out.constants[0])
    lefts, begins = np.zeros((2, a.tokens.shape[1]), np.int64)
    structure(a.tokens[0], size, lefts, begins)
    if kind == "operator":
        out.sizes[0] = variation.change_operator(tree, size, new, palette, state)
    elif kind == "swap":
        out.sizes[0] = variation.swap_operands(tree, size, lefts, begins, new, state)
    elif kind == "add":
        out.sizes[0] = variation.add_node(tree, size, new, palette, state)
    elif kind == "insert":
        out.sizes[0] = variation.insert_node(tree, size, new, palette, state)
    elif kind == "delete":
        out.sizes[0] = variation.delete_node(tree, size, lefts, begins, new, palette, state)
    else:
        out.sizes[0] = variation.rotate(tree, size, lefts, new, state)
    return out


def crossed(a: Programs, b: Programs, state: np.ndarray) -> Programs:
    """The first program of a batch with a random subtree of another in the place of one of its own."""
    spans = []
    for batch in (a, b):
        size, length = int(batch.sizes[0]), batch.tokens.shape[1]
        lefts, begins = np.zeros((2, length), np.int64)
        structure(batch.tokens[0], size, lefts, begins)
        tree = variation.Tree(batch.tokens[0], batch.constants[0])
        end = int(variation.random_operand(tree, size, lefts, state))
        spans.append((tree, size, int(begins[end]), end + 1))
    (tree, size, first, last), (donor, donor_size, begin, end) = spans
    out = empty(1, size + donor_size)
    new = variation.Tree(out.tokens[0], out.constants[0])
    out.sizes[0] = variation.graft(tree, size, first, last, donor, begin, end, new)
    return out


@dataclass
class Metered:
    """A control that counts what a language model in its place would have been sent.

    Attributes
    ----------
    control : who proposes.
    prompt, joint : as of a `Model`.
    tokens : ``requests`` and ``request_tokens``, estimated on the prompts, which are built and not sent.
    """

    control: Proposer
    prompt: Callable[[Shown], list[dict]]
    joint: bool = False
    tokens: Counter = field(default_factory=Counter)

    def __call__(self, shown: Shown, count: int, rng: np.random.Generator) -> Sequence[Answer]:
        requests = 1 if self.joint else count
        self.tokens.update(requests=requests, request_tokens=requests * tokens_in(self.prompt(shown)))
        return self.control(shown, count, rng)


# --------------------------------------------------------------------------------------------------- language model


@dataclass
class Model:
    """A language model as proposer.

    Replies to identical requests are draws of their own, numbered from `first_draw`, so that a run that was
    interrupted, or is replayed, asks the same again. A failed request ends the loop: what was recorded stays.

    Attributes
    ----------
    ask : messages, number of the draw -> `rediscover.llm.client.Reply`.
    prompt : what is shown -> messages.
    programs : reply, what is shown -> texts of programs; raises `ProgramError` where there are none.
    joint : one reply holds all the answers that are wanted; else each is a reply of its own, all asked for at once.
    first_draw : as many requests apart for each run as no run makes.
    tokens : of prompts and completions so far, recorded ones too, ``completions``, and ``surplus``: programs beyond
        those that were wanted, which are dropped.
    """

    ask: Callable[[list[dict], int], Any]
    prompt: Callable[[Shown], list[dict]]
    programs: Callable[[str, Shown], Sequence[str]]
    joint: bool = False
    first_draw: int = 0
    tokens: Counter = field(default_factory=Counter)
    _asked: Counter = field(default_factory=Counter)

    def __call__(self, shown: Shown, count: int, rng: np.random.Generator) -> list[Answer]:
        messages, requests = self.prompt(shown), 1 if self.joint else count
        key = json.dumps(messages, sort_keys=True)
        draws = [self.first_draw + self._asked[key] + i for i in range(requests)]
        self._asked[key] += requests
        with ThreadPoolExecutor(requests) as threads:
            replies = list(threads.map(lambda draw: self.ask(messages, draw), draws))
        answers: list[Answer] = []
        for reply in replies:
            self.tokens.update(
                completions=1, prompt_tokens=reply.prompt_tokens, completion_tokens=reply.completion_tokens
            )
            read, wanted = self.read(reply, shown), count if self.joint else 1
            self.tokens.update(surplus=max(0, len(read) - wanted))
            answers += read[:wanted]
        missing = ProgramError(0, "the reply has no further program")
        return answers + [missing] * (count - len(answers))

    def read(self, reply: Any, shown: Shown) -> list[Answer]:
        if reply.text is None:
            return [ProgramError(0, "the server withheld the reply")]
        try:
            with refusing():
                return list(self.programs(reply.text, shown)) or [ProgramError(0, "the reply has no program")]
        except ProgramError as error:
            return [error]

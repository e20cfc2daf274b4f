"""gplearn a generation at a time, so that a first population can be given and opinions can change its fitness.

A fit with a warm start goes on as one fit would, to the last bit; between the generations programs may be replaced
and their fitness changed.
"""

import copy
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..expressions import ExpressionError, parse
from ..expressions.trees import fold, is_number
from ..problems import Task
from .gplearn import Gplearn

NAMES = {"+": "add", "-": "sub", "*": "mul", "/": "div"}
LARGEST = 4  # power that is written as a product


def evolve(
    settings: Gplearn,
    task: Task,
    random_state: int,
    generations: int,
    *,
    opinion: Callable[[Any], float] | None = None,
    seeds: Sequence[str] = (),
) -> list:
    """The programs of the last generation, the best first.

    Parameters
    ----------
    settings : Gplearn
        Its population, functions, metric and probabilities.
    opinion : callable, optional
        Program -> what is added to its fitness, of which less is better.
    seeds : sequence of str
        Expressions that take places in the first population; those that gplearn has no functions for do not.
    """
    estimator = settings.estimator(settings.population_size, random_state, warm_start=True)
    population: list = []
    with np.errstate(all="ignore"):
        for generation in range(1, generations + 1):
            estimator.set_params(generations=generation).fit(task.X, task.y)
            population = estimator._programs[-1]
            if generation == 1:
                planted = [tokens for text in seeds if (tokens := prefix(text, task.inputs)) is not None]
                for k, tokens in enumerate(planted[: len(population)]):
                    population[k] = seedling(population[k], tokens, task)
            for program in population if opinion else ():
                change = opinion(program) if opinion else 0.0
                program.raw_fitness_ += change
                program.fitness_ += change
            if min(program.raw_fitness_ for program in population) <= settings.stopping_criteria:
                break
    return sorted(population, key=lambda program: program.raw_fitness_)


def seedling(program: Any, tokens: list, task: Task) -> Any:
    """A program like another one of gplearn's, of other tokens."""
    new = copy.copy(program)
    new.program, new.parents = tokens, None
    new.raw_fitness_ = new.raw_fitness(task.X, task.y, np.ones(len(task.y)))
    new.fitness_ = new.fitness()
    return new


def prefix(text: str, inputs: Sequence[str]) -> list | None:
    """Tokens of gplearn for an expression; None where it has no functions for it.

    >>> [getattr(token, "name", token) for token in prefix("2*x - sin(y)**2", ("x", "y"))]
    ['sub', 'mul', 2.0, 0, 'mul', 'sin', 1, 'sin', 1]
    """
    from gplearn.functions import _function_map

    def tokens(label: Any, children: list) -> list:
        if not children:
            return [float(label) if is_number(label) else list(inputs).index(label)]
        if label == "**" and children[1] in ([float(n)] for n in range(2, LARGEST + 1)):
            factors = [children[0]] * int(children[1][0])
            return functools.reduce(lambda product, factor: [_function_map["mul"], *product, *factor], factors)
        return [_function_map[NAMES.get(label, label)], *(token for child in children for token in child)]

    try:
        return fold(parse(text, inputs).tree, tokens)
    except (ExpressionError, KeyError, ValueError):
        return None

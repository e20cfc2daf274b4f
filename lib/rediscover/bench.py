"""Speed as a ratio against a named alternative, both measured in turn in the same run (``make bench``)."""

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import pandas as pd


class Comparison(NamedTuple):
    """Two ways to the same answer: `ours` and `other`, each a call without arguments."""

    what: str
    ours: Callable
    other_name: str
    other: Callable
    repeats: int = 7


def seconds(function: Callable) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def measure(comparison: Comparison) -> dict:
    """Medians of both, in turn (A B A B ...) after one call of ours to warm up, and the median of the ratios."""
    comparison.ours()
    pairs = [(seconds(comparison.ours), seconds(comparison.other)) for _ in range(comparison.repeats)]
    return {
        "what": comparison.what,
        "seconds": statistics.median(ours for ours, _ in pairs),
        "against": comparison.other_name,
        "seconds_against": statistics.median(other for _, other in pairs),
        "times_faster": statistics.median(other / ours for ours, other in pairs),
        "repeats": comparison.repeats,
    }


def geometry() -> Iterator[Comparison]:
    """Chamfer and Hausdorff by k-d tree against all pairs."""
    from .metrics import geometry

    def all_pairs(a, b, block=500):
        def nearest(p, q):
            return np.concatenate(
                [
                    np.sqrt(((p[i : i + block, None] - q[None]) ** 2).sum(-1).min(1))
                    for i in range(0, len(p), block)
                ]
            )

        there, back = nearest(a, b), nearest(b, a)
        return (there**2).mean() + (back**2).mean(), max(there.max(), back.max())

    rng = np.random.default_rng(0)
    for n, repeats in ((5_000, 5), (50_000, 1)):
        a, b = rng.normal(size=(2, n, 3))

        def ours(a=a, b=b):
            return geometry.chamfer_squared(a, b), geometry.hausdorff(a, b)

        def other(a=a, b=b):
            return all_pairs(a, b)

        yield Comparison(f"Chamfer and Hausdorff, {n:,} points", ours, "all pairs in numpy", other, repeats)


def evaluation() -> Iterator[Comparison]:
    """An expression against Python's eval of the same numpy code (eval of a text of our own)."""
    from .expressions import parse

    text = "sin(x**2 + y**2)/(1 + x**2 + y**2) + 0.5*exp(-y**2)*cos(3*x*y)"
    code = compile(text, "benchmark", "eval")
    expression = parse(text)
    x, y = np.random.default_rng(0).uniform(-5, 5, size=(2, 5_000))
    scope = {"sin": np.sin, "cos": np.cos, "exp": np.exp, "x": x, "y": y}
    assert np.allclose(expression({"x": x, "y": y}), eval(code, scope), rtol=1e-12, atol=0)
    yield Comparison(
        "expression on 5,000 rows",
        lambda: expression({"x": x, "y": y}),
        "eval of numpy code",
        lambda: eval(code, scope),
        101,
    )


def grid() -> Iterator[Comparison]:
    """A grid of trivial runs: overhead per run, and the time to the first result, against the bare calls."""
    from . import method, problem, runs

    ids = [f"surfaces/NCGS{i}" for i in range(1, 12)]
    loaded = [problem(id, n_train=50, n_test=50, n_ood=50) for id in ids]
    zero = method("zero")
    seeds = tuple(range(20))

    def bare():
        for p in loaded:
            for seed in seeds:
                zero.solve(p, seed=seed)

    def ours():
        return runs.grid(loaded, [zero], seeds=seeds, progress=False, workers=1)

    yield Comparison(
        f"grid of {len(loaded) * len(seeds)} trivial runs", ours, "the same calls in a loop", bare, 3
    )

    def first():
        return runs.grid(loaded[:1], [zero], progress=False, workers=1)

    yield Comparison(
        "time to the first result of a grid", first, "the call itself", lambda: zero.solve(loaded[0]), 5
    )


GROUPS = (geometry, evaluation, grid)


@contextmanager
def _one_thread():
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


def main(arguments=None) -> None:
    """Measure every group, print the table, and write tables/bench.csv when all were measured."""
    names = [group.__name__ for group in GROUPS]
    parser = argparse.ArgumentParser(prog="python -m rediscover.bench", description=__doc__)
    parser.add_argument("groups", nargs="*", help=f"some of: {', '.join(names)}")
    chosen = parser.parse_args(arguments).groups or names
    unknown = sorted(set(chosen) - set(names))
    if unknown:
        parser.error(f"no group is called {unknown[0]!r} (known: {', '.join(names)})")
    rows = []
    with _one_thread():
        for group in GROUPS:
            if group.__name__ not in chosen:
                continue
            for comparison in group():
                rows.append(measure(comparison))
                print(
                    "{what}: {seconds:.3g} s, {against}: {seconds_against:.3g} s".format(**rows[-1]),
                    flush=True,
                )
    table = pd.DataFrame(rows)
    print(table.to_string(index=False, float_format=lambda value: f"{value:.3g}"))
    if chosen == names:
        from .params import root

        table.to_csv(root() / "tables" / "bench.csv", index=False, float_format="%.3g")


if __name__ == "__main__":
    main()

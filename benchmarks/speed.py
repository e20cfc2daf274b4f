"""Speed as a ratio against a named alternative, both measured in turn in the same run (``make bench``).

Each group below yields comparisons; speed.yaml says on which problems.
"""

import argparse
import importlib
import itertools
import json
import os
import statistics
import tempfile
import timeit
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from rediscover import method, problem, problems, runs
from rediscover.expressions import Expression, parse
from rediscover.methods import Budget
from rediscover.methods.sparse_dynamics import coefficients
from rediscover.metrics import compared_trees, edit_distance, geometry, latex, trees
from rediscover.problems import Task
from rediscover.system import studies, upstream_files, workers
from rediscover.system.paths import root
from rediscover.system.store import CACHE
from rediscover.system.writing import replacing

import numpy as np
import pandas as pd
import yaml
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

ANEW = {CACHE: "", "REDISCOVER_FRESH": "1"}  # environment in which no tree is kept or recorded
GIVEN = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))


class Comparison(NamedTuple):
    """Two ways to the same answer: `ours` and `other`, each a call without arguments."""

    what: str
    ours: Callable
    other_name: str
    other: Callable
    repeats: int = 7


def measure(comparison: Comparison) -> dict:
    """Medians of both, in turn (A B A B ...) after one call of ours to warm up, and the median of the ratios."""
    comparison.ours()
    both = (comparison.ours, comparison.other)
    pairs = [[timeit.timeit(call, number=1) for call in both] for _ in range(comparison.repeats)]
    return {
        "what": comparison.what,
        "seconds": statistics.median(ours for ours, _ in pairs),
        "against": comparison.other_name,
        "seconds_against": statistics.median(other for _, other in pairs),
        "times_faster": statistics.median(other / ours for ours, other in pairs),
        "repeats": comparison.repeats,
    }


def zss_distance(a: tuple, b: tuple) -> float:
    """Zhang and Shasha's distance of two trees by the package zss."""
    import zss

    def node(tree):
        return zss.Node(tree[0], [node(child) for child in tree[1:]])

    return zss.simple_distance(node(a), node(b))


def clouds() -> Iterator[Comparison]:
    """Chamfer and Hausdorff by k-d tree against all pairs."""

    def all_pairs(a, b, block=500):
        def nearest(p, q):
            rows = (cdist(p[i : i + block], q, "sqeuclidean").min(1) for i in range(0, len(p), block))
            return np.sqrt(np.concatenate(list(rows)))

        there, back = nearest(a, b), nearest(b, a)
        return (there**2).mean() + (back**2).mean(), max(there.max(), back.max())

    def trees_of(a, b):
        return geometry.chamfer_squared(a, b), geometry.hausdorff(a, b)

    rng = np.random.default_rng(0)
    for n, repeats in ((5_000, 5), (50_000, 1)):
        a, b = rng.normal(size=(2, n, 3))
        ours, other = partial(trees_of, a, b), partial(all_pairs, a, b)
        yield Comparison(f"Chamfer and Hausdorff, {n:,} points", ours, "all pairs by cdist", other, repeats)


def evaluation(text: str, rows: int) -> Iterator[Comparison]:
    """An expression against Python's eval of the same numpy code (eval of a text of our own)."""
    code, expression = compile(text, "benchmark", "eval"), parse(text)
    x, y = np.random.default_rng(0).uniform(-5, 5, size=(2, rows))
    scope = {"sin": np.sin, "cos": np.cos, "exp": np.exp, "x": x, "y": y}
    ours, other = partial(expression, {"x": x, "y": y}), partial(eval, code, scope)
    assert np.allclose(ours(), other(), rtol=1e-12, atol=0)
    yield Comparison(f"expression on {rows:,} rows", ours, "eval of numpy code", other, 101)


def grid(ids: list, of: int, seeds: int, sizes: dict) -> Iterator[Comparison]:
    """A grid of trivial runs: overhead per run, and the time to the first result, against the bare calls."""
    loaded = [problem(id, **sizes) for id in problems(*ids)[:of]]
    zero = method("zero")

    def bare() -> None:
        for p, seed in itertools.product(loaded, range(seeds)):
            zero.solve(p, seed=seed)

    ours = partial(runs.grid, methods=[zero], progress=False, workers=1)
    whole, first = partial(ours, loaded, seeds=tuple(range(seeds))), partial(ours, loaded[:1])
    yield Comparison(f"grid of {len(loaded) * seeds} trivial runs", whole, "the same calls in a loop", bare, 3)
    yield Comparison("time to the first result of a grid", first, "the call itself", partial(zero.solve, loaded[0]), 5)


def edit_distances(ids: list, of: int, sizes: dict, methods: list) -> Iterator[Comparison]:
    """Tree edit distance against zss, and NED end to end against SymPy and zss, each on the same pairs."""
    import sympy

    pairs = []
    for law in (problem(id, sizes=tuple(sizes)) for id in problems(*ids)[:of]):
        columns = {name: f"x{i}" for i, name in enumerate(law.inputs)}
        (truth,) = law.expressions.values()
        for name in methods:
            (text,) = method(name).solve(law)[0].solution.values()
            pairs.append([str(e.substitute(columns)) for e in (parse(text), truth)])

    def convert():
        sympy.core.cache.clear_cache()
        return [tuple(map(compared_trees.convert_published, pair)) for pair in pairs]

    def plain():
        return [zss_distance(*pair) for pair in convert()]

    def warm():
        return [edit_distance.ned_details(*pair).distance for pair in pairs]

    def cold():
        workers.stop()
        compared_trees.published_tree.cache_clear()
        with mock.patch.dict(os.environ, ANEW):
            return warm()

    def distances(function):
        return lambda: [function(*pair) for pair in converted]

    converted = convert()
    assert cold() == distances(zss_distance)()
    ours, theirs = distances(trees.tree_edit_distance), distances(zss_distance)
    yield Comparison(f"tree edit distance of {len(pairs)} pairs", ours, "zss", theirs, 21)
    for what, ours in (("first time", cold), ("again", warm)):
        yield Comparison(f"NED of {len(pairs)} pairs, {what}", ours, "SymPy and zss for each pair", plain, 1)


def sparse_regression(chosen: list) -> Iterator[Comparison]:
    """Whole grid searches of the linear methods against a pysindy fit and prediction per setting."""
    import pysindy as ps

    def power(p):
        return lambda u: u**p

    def wave(name):
        return lambda u: getattr(np, name)(u)

    def functions(setting, **options):  # pysindy counts the arguments, so defaults would make products
        listed = [power(p) for p in range(1, setting["degree"] + 1)] + [wave(name) for name in setting["family"]]
        return ps.CustomLibrary(listed, **options)

    def thresholded(library, setting):
        optimizer = ps.STLSQ(threshold=setting["threshold"], alpha=setting["alpha"], max_iter=200)
        return ps.SINDy(feature_library=library, optimizer=optimizer)

    def sindy(data, cuts, setting) -> None:
        train, model = cuts["train"], thresholded(functions(setting, include_bias=True), setting)
        model.fit(data.u[train], t=data.t[train], x_dot=data.target[train])
        model.predict(data.u[cuts["validation"]])

    def pdefind(data, cuts, setting) -> None:
        space = np.stack(np.meshgrid(*data.axes, indexing="ij"), axis=-1)
        options = {"derivative_order": setting["order"], "spatial_grid": space, "include_bias": True}
        model = thresholded(ps.PDELibrary(functions(setting, include_bias=False), **options), setting)
        u, t, slope = (a[..., cuts["train"], :] for a in (data.u, data.t[:, None], data.target))
        model.fit(u, t=t[:, 0], x_dot=slope)
        model.predict(data.u[..., cuts["validation"], :])

    def wsindy(data, cuts, setting) -> None:
        t = data.t[cuts["train"]]
        whole = np.stack(np.meshgrid(*data.axes, t, indexing="ij"), axis=-1)
        options = {"derivative_order": setting["order"], "spatiotemporal_grid": whole, "K": setting["boxes"]}
        library = ps.WeakPDELibrary(functions(setting, include_bias=False), include_bias=True, **options)
        optimizer = ps.SR3(reg_weight_lam=setting["threshold"] ** 2 / 2, max_iter=200, unbias=True)
        ps.SINDy(feature_library=library, optimizer=optimizer).fit(data.u[..., cuts["train"], :], t=t)

    fits = {"sindy": sindy, "pdefind": pdefind, "wsindy": wsindy}
    for name, id, every in chosen:
        solver: Any = method(name)
        loaded, prepared = problem(id), solver.prepare(problem(id), 0)
        settings = [setting for setting, _ in solver.search(prepared, np.random.default_rng(0))][::every]

        def other(name=name, prepared=prepared, settings=settings) -> None:
            with warnings.catch_warnings(action="ignore"):
                for setting in settings:
                    fits[name](prepared.data, prepared.cuts, setting)

        part = "pysindy, setting by setting" if every == 1 else f"pysindy, 1 in {every} settings"
        yield Comparison(f"{name} on {id}", lambda s=solver, p=loaded: s.solve(p), part, other, 3 if every == 1 else 1)


def packages(chosen: list) -> Iterator[Comparison]:
    """Our own linear methods against the package itself as a method: the same grid, and the same answer to a millionth.

    The package makes its features once per block here; in `sparse_regression` it does one setting after the other.
    """
    for name, id in chosen:
        loaded, both = problem(id), [method(name), method(f"pysindy_{name}")]
        (ours,), (theirs,) = (one.solve(loaded) for one in both)
        for state, text in ours.solution.items():
            terms, others = coefficients(text), coefficients(theirs.solution[state])
            if terms.keys() != others.keys() or not np.allclose([*terms.values()], [others[t] for t in terms], 1e-6, 0):
                raise ValueError(f"{name} and the package give other answers on {id}")
        calls = [lambda s=solver, p=loaded: s.solve(p) for solver in both]
        yield Comparison(f"{name} on {id}, its grid", calls[0], "pysindy, features once per block", calls[1], 3)


def formulas(ids: list) -> Iterator[Comparison]:
    """Metrics of formulas against the plain reference, pair by pair: each bundled formula and the one before it.

    SeqSim is difflib itself, and TexBLEU has no reference that runs without GPT-2's weights.
    """
    from rouge_score.rouge_scorer import RougeScorer
    from sympy.parsing.latex import parse_latex

    entries = [(entry.subset, latex.clean(entry.truth["latex"])) for entry in map(problem, problems(*ids))]
    pairs = [(b, a) for (before, a), (paper, b) in itertools.pairwise(entries) if before == paper]
    scorer = RougeScorer(["rougeL"], use_stemmer=True)

    def table(a, b):
        """Levenshtein distance by dynamic programming."""
        row = list(range(len(b) + 1))
        for i, x in enumerate(a, 1):
            diagonal, row[0] = row[0], i
            for j, y in enumerate(b, 1):
                diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
        return round(1 - row[-1] / max(len(a), len(b), 1), 4)

    def rouge(a, b):
        return round(scorer.score(b, a)["rougeL"].fmeasure, 4)

    def sympy_tree(expression):
        return (type(expression).__name__, *map(sympy_tree, expression.args))

    def parsed_and_compared(a, b):
        a, b = (sympy_tree(parse_latex(text)) for text in (a, b))
        return zss_distance(a, b) / max(trees.size(a), trees.size(b))

    structures = [tuple(map(latex.structure, pair)) for pair in pairs]
    single = [pair for pair in pairs if latex.SEPARATOR not in "".join(pair)][:60]
    whole = [pair for pair in single if latex.parse_failures(*pair) == 0][:24]
    for what, ours, name, other, sample, repeats in (
        ("Levenshtein", latex.levenshtein_similarity, "dynamic programming in Python", table, pairs, 3),
        ("ROUGE-L, words kept", latex.rouge_l_words, "rouge_score per pair", rouge, pairs, 3),
        ("edit distance of source trees", trees.tree_edit_distance, "zss", zss_distance, structures[:20], 3),
        ("TED, parses kept", latex.ted, "parse_latex and zss", parsed_and_compared, whole, 1),
    ):

        def scored(function, sample=sample):
            return [function(*pair) for pair in sample]

        assert np.allclose(scored(ours), scored(other), rtol=0, atol=1e-4), what
        yield Comparison(f"{what}, {len(sample)} pairs", partial(scored, ours), name, partial(scored, other), repeats)


def scoring(table: str, methods: list, released: str) -> Iterator[Comparison]:
    """Scoring whole studies again, with the trees and parses that an earlier run kept, against the first time.

    The edit distances are of five methods' answers in a table of runs, the formulas the released ones of a study (left
    out where they cannot be had).
    """
    answered = pd.read_csv(root() / "tables" / f"{table}.csv")
    answered = answered[answered["method"].isin(methods) & answered["solution"].notna()]
    laws = [problem(id) for id in answered["problem"]]
    answers = [next(iter(json.loads(text).values())) for text in answered["solution"]]
    jobs = [(answer, *law.truth.values(), law.inputs) for answer, law in zip(answers, laws, strict=True)]

    def distances():
        compared_trees.published_tree.cache_clear()
        return [edit_distance.ned_published(*job) for job in jobs]

    def distances_anew():
        workers.stop()
        with mock.patch.dict(os.environ, ANEW):
            return distances()

    yield Comparison(f"NED of {len(jobs)} pairs, trees kept", distances, "nothing kept", distances_anew, 1)
    try:
        outputs = importlib.import_module(f"rediscover.problems.{released}").released_outputs()
    except upstream_files.ReleasedError:
        return
    scores_of = studies.module(released, "scores").scores_of

    def scores():
        latex.forget()
        return scores_of(outputs["prediction"].tolist(), outputs["truth"].tolist())

    def scores_anew():
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {CACHE: folder}):
            return scores()

    yield Comparison(f"all metrics of {len(outputs):,} formulas, parses kept", scores, "nothing kept", scores_anew, 1)


def networks(ids: list) -> Iterator[Comparison]:
    """Rules of all Boolean networks, up to 20 nodes, by truth tables against gene expression programming."""
    loaded = [problem(id) for id in problems(*ids)]
    for network in loaded:
        network.data()  # simulated before the clock starts

    def solve(name):
        return lambda: [method(name).solve(network) for network in loaded]

    ours, other = solve("truth_table"), solve("logicgep")
    yield Comparison(f"rules of {len(loaded)} Boolean networks", ours, "logicgep", other, 3)


def searches(programs: int, features: int, every: int, evaluations: int, rows: int) -> Iterator[Comparison]:
    """Engines of symbolic search: losses of programs, an enumeration, and whole searches of equal evaluations."""
    from rediscover.search.enumeration.enumeration import enumerate_features
    from rediscover.search.programs.programs import losses, to_tree
    from rediscover.search.programs.throughput import workload

    P, X, y = workload(programs, rows=rows)
    names = [f"x{i}" for i in range(X.shape[1])]
    columns = dict(zip(names, X.T, strict=True))
    gp = [_gplearn(to_tree(P, k, names), names) for k in range(len(P.sizes))]

    def theirs():
        with np.errstate(all="ignore"):
            return [np.mean((program.execute(X) - y) ** 2) for program in gp]

    # programs such as sin(exp(exp(x))) follow the rounding of their inner values
    assert np.isclose(theirs(), losses(P, X, y), rtol=1e-6, atol=0).mean() > 0.99
    what = f"losses of {programs:,} programs of 20 nodes, {rows} rows"
    yield Comparison(what, partial(losses, P, X, y), "gplearn's programs", theirs, 5)

    points = np.random.default_rng(0).uniform(-3, 3, (64, 2))
    pool = enumerate_features(points, features)
    trees_ = [Expression(pool.tree(k, ["x", "y"])) for k in range(0, len(pool), every)]

    def one_by_one():
        with np.errstate(all="ignore"):
            return [tree({"x": points[:, 0], "y": points[:, 1]}) for tree in trees_]

    ours = partial(enumerate_features, points, features)
    yield Comparison(f"{features:,} features on 64 rows", ours, f"their formulas, 1 in {every}", one_by_one, 3)

    def solve(name):
        task = Task(tuple(names), "y", X, columns["x0"] * y + np.sin(columns["x1"]))
        return lambda: method(name).fit(task, budget=Budget(evaluations), rng=np.random.default_rng(0))

    for other in ("operon", "gplearn"):
        what = f"{evaluations:,} evaluations of regularised evolution, {rows} rows"
        yield Comparison(what, solve("regularised_evolution"), other, solve(other), 3)


def _gplearn(tree: tuple, names: Sequence[str]) -> Any:
    """A tree as a program of gplearn, whose own functions are protected and these are not."""
    from gplearn._program import _Program
    from gplearn.functions import _Function

    plain = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}

    def tokens(head, *arguments) -> list:
        if not arguments:
            return [names.index(head) if isinstance(head, str) else float(head)]
        function = _Function(plain.get(head) or getattr(np, head), head, len(arguments))
        return [function, *itertools.chain.from_iterable(tokens(*argument) for argument in arguments)]

    program = object.__new__(_Program)
    program.program = tokens(*tree)
    return program


GROUPS = {
    group.__name__: group
    for group in (
        clouds,
        evaluation,
        grid,
        edit_distances,
        sparse_regression,
        packages,
        formulas,
        scoring,
        networks,
        searches,
    )
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure every group, print the table, and write tables/bench.csv when all were measured."""
    parser = argparse.ArgumentParser(prog="python benchmarks/speed.py", description=__doc__)
    parser.add_argument("groups", nargs="*", metavar="group", help=f"some of: {', '.join(GROUPS)}")
    chosen = parser.parse_args(arguments).groups or list(GROUPS)
    if unknown := set(chosen) - set(GROUPS):
        parser.error(f"no group is called {min(unknown)!r} (known: {', '.join(GROUPS)})")
    rows = []
    with threadpool_limits(1):
        for name in (name for name in GROUPS if name in chosen):
            for comparison in GROUPS[name](**GIVEN[name]):
                rows.append(measure(comparison))
                print("{what}: {seconds:.3g} s, {against}: {seconds_against:.3g} s".format(**rows[-1]), flush=True)
    table = pd.DataFrame(rows)
    print(table.to_string(index=False, float_format=lambda value: f"{value:.3g}"))
    if len(set(chosen)) == len(GROUPS):
        with replacing(root() / "tables" / "bench.csv") as part:
            table.to_csv(part, index=False, float_format="%.3g")


if __name__ == "__main__":
    main()

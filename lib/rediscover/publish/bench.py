"""Speed as a ratio against a named alternative, both measured in turn in the same run (``make bench``)."""

import argparse
import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..system.store import CACHE


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
    from scipy.spatial.distance import cdist

    from ..metrics import geometry

    def all_pairs(a, b, block=500):
        def nearest(p, q):
            rows = (cdist(p[i : i + block], q, "sqeuclidean").min(1) for i in range(0, len(p), block))
            return np.sqrt(np.concatenate(list(rows)))

        there, back = nearest(a, b), nearest(b, a)
        return (there**2).mean() + (back**2).mean(), max(there.max(), back.max())

    rng = np.random.default_rng(0)
    for n, repeats in ((5_000, 5), (50_000, 1)):
        a, b = rng.normal(size=(2, n, 3))

        def ours(a=a, b=b):
            return geometry.chamfer_squared(a, b), geometry.hausdorff(a, b)

        def other(a=a, b=b):
            return all_pairs(a, b)

        yield Comparison(f"Chamfer and Hausdorff, {n:,} points", ours, "all pairs by cdist", other, repeats)


def evaluation() -> Iterator[Comparison]:
    """An expression against Python's eval of the same numpy code (eval of a text of our own)."""
    from ..expressions import parse

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
    from .. import method, problem, runs

    ids = [f"surfaces/NCGS{i}" for i in range(1, 12)]
    loaded = [problem(id, n_train=50, n_test=50, n_ood=50) for id in ids]
    zero = method("zero")
    seeds = tuple(range(20))

    def bare() -> None:
        for p in loaded:
            for seed in seeds:
                zero.solve(p, seed=seed)

    def ours():
        return runs.grid(loaded, [zero], seeds=seeds, progress=False, workers=1)

    yield Comparison(f"grid of {len(loaded) * len(seeds)} trivial runs", ours, "the same calls in a loop", bare, 3)

    def first():
        return runs.grid(loaded[:1], [zero], progress=False, workers=1)

    yield Comparison("time to the first result of a grid", first, "the call itself", lambda: zero.solve(loaded[0]), 5)


def edit_distance() -> Iterator[Comparison]:
    """Tree edit distance against zss, and NED end to end against SymPy and zss, each on the same pairs."""
    import sympy
    import zss

    from .. import method, problem, problems
    from ..expressions import parse
    from ..metrics import edit_distance, trees
    from ..system import time_limited

    pairs = []
    for id in problems("srsd", "easy")[:12]:
        law = problem(id, sizes=(800, 100, 100))
        columns = {name: f"x{i}" for i, name in enumerate(law.inputs)}
        (truth,) = law.expressions.values()
        for name in ("power_law", "polynomial"):
            (text,) = method(name).solve(law)[0].solution.values()
            pairs.append([str(e.substitute(columns)) for e in (parse(text), truth)])

    def node(tree):
        return zss.Node(tree[0], [node(child) for child in tree[1:]])

    def convert():
        sympy.core.cache.clear_cache()
        return [tuple(map(edit_distance.convert_published, pair)) for pair in pairs]

    def plain():
        return [zss.simple_distance(node(a), node(b)) for a, b in convert()]

    def warm():
        return [edit_distance.ned_details(*pair).distance for pair in pairs]

    def cold():
        time_limited.stop()
        edit_distance.published_tree.cache_clear()
        with _environment(CACHE, ""):  # nothing from the disk
            return warm()

    converted = convert()
    nodes = [tuple(map(node, pair)) for pair in converted]
    assert cold() == [zss.simple_distance(a, b) for a, b in nodes]
    yield Comparison(
        f"tree edit distance of {len(pairs)} pairs",
        lambda: [trees.tree_edit_distance(a, b) for a, b in converted],
        "zss",
        lambda: [zss.simple_distance(a, b) for a, b in nodes],
        21,
    )
    for what, ours in (("first time", cold), ("again", warm)):
        yield Comparison(f"NED of {len(pairs)} pairs, {what}", ours, "SymPy and zss for each pair", plain, 1)


def sparse_regression() -> Iterator[Comparison]:
    """Whole grid searches of the linear methods against a pysindy fit and prediction per setting.

    pysindy gets every setting for SINDy, but only the first of 8 (PDEFIND) or 16 (WSINDy) for fields: the ratio is then
    a lower bound, since ours does the whole grid.
    """
    import warnings

    import pysindy as ps

    from .. import method, problem

    def power(p):
        return lambda u: u**p

    def wave(name):
        return lambda u: getattr(np, name)(u)

    def functions(setting, **options):  # pysindy counts the arguments, so defaults would make products
        listed = [power(p) for p in range(1, setting["degree"] + 1)] + [wave(name) for name in setting["family"]]
        return ps.CustomLibrary(listed, **options)

    def each(solver, loaded, fit, every):
        p = solver.prepare(loaded, 0)
        settings = [setting for setting, _ in solver.search(p, np.random.default_rng(0))][::every]

        def other() -> None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for setting in settings:
                    fit(p.data, p.cuts, setting)

        return other

    def sindy(data, cuts, setting) -> None:
        library = functions(setting, include_bias=True)
        optimizer = ps.STLSQ(threshold=setting["threshold"], alpha=setting["alpha"], max_iter=200)
        model = ps.SINDy(feature_library=library, optimizer=optimizer)
        model.fit(data.u[cuts["train"]], t=data.t[cuts["train"]], x_dot=data.target[cuts["train"]])
        model.predict(data.u[cuts["validation"]])

    def pdefind(data, cuts, setting) -> None:
        grid = np.stack(np.meshgrid(*data.axes, indexing="ij"), axis=-1)
        options = {"derivative_order": setting["order"], "spatial_grid": grid, "include_bias": True}
        library = ps.PDELibrary(functions(setting, include_bias=False), **options)
        optimizer = ps.STLSQ(threshold=setting["threshold"], alpha=setting["alpha"], max_iter=200)
        model = ps.SINDy(feature_library=library, optimizer=optimizer)
        u, t, slope = (a[..., cuts["train"], :] for a in (data.u, data.t[:, None], data.target))
        model.fit(u, t=t[:, 0], x_dot=slope)
        model.predict(data.u[..., cuts["validation"], :])

    def wsindy(data, cuts, setting) -> None:
        t = data.t[cuts["train"]]
        library = ps.WeakPDELibrary(
            functions(setting, include_bias=False),
            derivative_order=setting["order"],
            spatiotemporal_grid=np.stack(np.meshgrid(*data.axes, t, indexing="ij"), axis=-1),
            include_bias=True,
            K=setting["boxes"],
        )
        optimizer = ps.SR3(reg_weight_lam=setting["threshold"] ** 2 / 2, max_iter=200, unbias=True)
        ps.SINDy(feature_library=library, optimizer=optimizer).fit(data.u[..., cuts["train"], :], t=t)

    chosen = [("sindy", f"odes/{n}", sindy, 1) for n in (3, 25, 54)]
    chosen += [("pdefind", "pdes/burgers", pdefind, 8), ("wsindy", "pdes/burgers", wsindy, 16)]
    for name, id, fit, every in chosen:
        solver, loaded = method(name), problem(id)
        other = each(solver, loaded, fit, every)
        part = "pysindy, setting by setting" if every == 1 else f"pysindy, 1 in {every} settings"
        yield Comparison(f"{name} on {id}", lambda s=solver, p=loaded: s.solve(p), part, other, 3 if every == 1 else 1)


def latex() -> Iterator[Comparison]:
    """Metrics of formulas against the plain reference, pair by pair: each bundled formula and the one before it.

    SeqSim is difflib itself, and TexBLEU has no reference that runs without GPT-2's weights.
    """
    import zss
    from rouge_score.rouge_scorer import RougeScorer
    from sympy.parsing.latex import parse_latex

    from ..metrics import latex, trees
    from ..problems.passages import bundled

    formulas = [[latex.clean(entry.latex) for entry in paper.equations] for paper in bundled()]
    pairs = [pair for paper in formulas for pair in zip(paper[1:], paper, strict=False)]
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

    def node(tree):
        return zss.Node(tree[0], [node(child) for child in tree[1:]])

    def zhang_shasha(a, b):
        return zss.simple_distance(node(a), node(b))

    def sympy_tree(expression):
        return (type(expression).__name__, *map(sympy_tree, expression.args))

    def parsed_and_compared(a, b):
        a, b = (sympy_tree(parse_latex(text)) for text in (a, b))
        return zhang_shasha(a, b) / max(trees.size(a), trees.size(b))

    structures = [tuple(map(latex.structure, pair)) for pair in pairs]
    single = [pair for pair in pairs if latex.SEPARATOR not in "".join(pair)][:60]
    whole = [pair for pair in single if latex.parse_failures(*pair) == 0][:24]
    for what, ours, name, other, sample, repeats in (
        ("Levenshtein", latex.levenshtein_similarity, "dynamic programming in Python", table, pairs, 3),
        ("ROUGE-L, words kept", latex.rouge_l_words, "rouge_score per pair", rouge, pairs, 3),
        ("edit distance of source trees", trees.tree_edit_distance, "zss", zhang_shasha, structures[:20], 3),
        ("TED, parses kept", latex.ted, "parse_latex and zss", parsed_and_compared, whole, 1),
    ):

        def run(function, sample=sample):
            return [function(*pair) for pair in sample]

        assert np.allclose(run(ours), run(other), rtol=0, atol=1e-4), what
        yield Comparison(
            f"{what}, {len(sample)} pairs",
            lambda run=run, ours=ours: run(ours),
            name,
            lambda run=run, other=other: run(other),
            repeats,
        )


def boolean() -> Iterator[Comparison]:
    """Rules of all 65 Boolean networks, up to 20 nodes, by truth tables against gene expression programming."""
    from .. import method, problem, problems

    networks = [problem(id) for id in problems("boolean", "symbolbench")]
    for network in networks:
        network.data()  # simulated before the clock starts

    def solve(name):
        solver = method(name)
        return lambda: [solver.solve(network) for network in networks]

    yield Comparison(
        f"rules of {len(networks)} Boolean networks", solve("truth_table"), "logicgep", solve("logicgep"), 3
    )


def scoring() -> Iterator[Comparison]:
    """Scoring whole studies again, with the trees and parses that an earlier run kept, against the first time.

    The edit distances are of the 120 laws and five methods' answers in tables/srsd_runs.csv, the formulas the released
    ones of SciText2Eq (left out where they cannot be had).
    """
    import json
    import tempfile

    from .. import problem
    from ..metrics import edit_distance, latex
    from ..problems import passages
    from ..studies.passages.scores import scores_of
    from ..system import time_limited, upstream_files
    from ..system.paths import root

    runs = pd.read_csv(root() / "tables" / "srsd_runs.csv")
    methods = ("power_law", "polynomial", "gplearn", "operon", "operon_log_scaled")
    runs = runs[runs["method"].isin(methods) & runs["solution"].notna()]
    laws = [problem(id) for id in runs["problem"]]
    answers = [next(iter(json.loads(text).values())) for text in runs["solution"]]
    jobs = [(answer, *law.truth.values(), law.inputs) for answer, law in zip(answers, laws, strict=True)]

    def distances():
        edit_distance.published_tree.cache_clear()
        return [edit_distance.ned_published(*job) for job in jobs]

    def distances_anew():
        time_limited.stop()
        with _environment(CACHE, ""):
            return distances()

    yield Comparison(f"NED of {len(jobs)} pairs, trees kept", distances, "nothing kept", distances_anew, 1)

    try:
        outputs = passages.released_outputs()
    except upstream_files.ReleasedError:
        return
    pairs = outputs["prediction"].tolist(), outputs["truth"].tolist()

    def formulas():
        latex.forget()
        return scores_of(*pairs)

    def formulas_anew():
        with tempfile.TemporaryDirectory() as folder, _environment(CACHE, folder):
            return formulas()

    yield Comparison(
        f"all metrics of {len(outputs):,} formulas, parses kept", formulas, "nothing kept", formulas_anew, 1
    )


GROUPS = (geometry, evaluation, grid, edit_distance, sparse_regression, latex, scoring, boolean)


@contextmanager
def _environment(name, value):
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


@contextmanager
def _one_thread():
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure every group, print the table, and write tables/bench.csv when all were measured."""
    names = [group.__name__ for group in GROUPS]
    parser = argparse.ArgumentParser(prog="python -m rediscover.publish.bench", description=__doc__)
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
                print("{what}: {seconds:.3g} s, {against}: {seconds_against:.3g} s".format(**rows[-1]), flush=True)
    table = pd.DataFrame(rows)
    print(table.to_string(index=False, float_format=lambda value: f"{value:.3g}"))
    if chosen == names:
        from ..system.paths import root

        table.to_csv(root() / "tables" / "bench.csv", index=False, float_format="%.3g")


if __name__ == "__main__":
    main()

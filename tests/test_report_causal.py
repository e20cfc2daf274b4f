"""The analyses of the causal study, on cases worked by hand."""

import json

import rediscover as rd
from rediscover import params, report, runs
from rediscover.metrics import causal as metrics
from rediscover.problems import causal as facts
from rediscover.runs import scoring as scores
from rediscover.studies.causal import analysis as study

import pandas as pd
import pytest


@pytest.fixture(scope="module")
def references():
    return study.trivial([rd.problem(id) for id in rd.problems("causal")])


@pytest.fixture(scope="module")
def kept():
    frame = study.recorded()
    if frame.empty:
        pytest.skip(f"no tables/{study.RECORDED}.csv")
    return frame


class Shown:
    """An output that keeps the frames it is given."""

    def __init__(self):
        self.frames = {}

    def table(self, frame, name, **_):
        self.frames[name] = frame
        return frame.to_string()

    runs = table


def row_of(problem, method, solution="", status="ok", seconds=1.0):
    text = json.dumps(solution) if solution else ""
    return dict(problem=problem, method=method, status=status, reason="", solution=text, seconds=seconds)


def test_references_need_no_data_and_are_the_known_numbers(references):
    f1 = 100 * references.groupby("method")[["f1_pairs", "f1_triples"]].mean()
    assert f1.round(1).loc["self_edges"].tolist() == [59.3, 48.8]
    assert f1.round(1).loc["complete_graph"].tolist() == [70.4, 59.0]
    assert (references.groupby("method").size() == study.GRAPHS).all()
    out = Shown()
    study.trivial_table(references, out)
    table = out.frames["causal_trivial"].round(1)
    assert table.loc["self_edges", ["acc_0.5", "acc_0.7", "acc_0.8"]].tolist() == [80.5, 18.9, 0.0]
    assert table.loc["complete_graph", ["acc_0.5", "acc_0.7", "acc_0.8"]].tolist() == [83.7, 56.8, 43.7]
    assert (table["low"] <= table["F1 pairs"]).loc[list(study.TRIVIAL)].all()


def test_best_printed_is_a_language_model():
    assert study.best_printed()["f1"] == 54.4  # ChatTS; PCMCI's recall of 63.7 is no language model's
    assert study.best_printed()["recall"] < 63.7


def test_a_failure_leaves_the_means_and_stays_in_the_levels():
    columns = [f"{m}_triples" for m in ("f1", "precision", "recall", "fdr")]
    frame = pd.DataFrame({c: [0.8, 0.6, 0.0] for c in columns} | {"shd": [1, 3, 9], "edges": [2, 4, None]})
    cells = study.row(frame.assign(scoring=["", "", "nothing to score"]))
    assert (cells["f1"], cells["shd"], cells["complexity"]) == (pytest.approx(70.0), 2.0, 3.0)
    assert cells["acc_0.7"] == pytest.approx(100 / 3)


class TestWithoutTheReleasedFile:
    @pytest.fixture
    def quick(self, tmp_path, monkeypatch):
        monkeypatch.setenv("REDISCOVER_MIRROR", str(tmp_path))
        for cached in (facts._released, facts._records):
            cached.cache_clear()
        yield params.read(params.root() / "params" / "32_symbolbench_causal.yaml", "quick")
        for cached in (facts._released, facts._records):
            cached.cache_clear()

    def test_all_series_come_from_equations_and_the_text_says_so(self, quick):
        chosen, source = study.graphs(quick)
        assert {graph.series_from for graph in chosen} == {"equations"} and len(chosen) == 38
        assert source.startswith(study.NOT_HERE) and study.INTEGRATED in source
        assert chosen[0].series().shape[1] == len(chosen[0].inputs)


class TestRecord:
    def test_what_is_kept_comes_back_scored(self, tmp_path, monkeypatch):
        truth = {child: [list(edge) for edge in found] for child, found in rd.problem("causal/C183").truth.items()}
        records = pd.DataFrame(
            [
                row_of("causal/C183", "pcmci", truth, seconds=2.5),
                row_of("causal/C183", "self_edges", truth),
                row_of("causal/C036", "pcmci", status="unsupported"),
            ]
        )
        monkeypatch.setattr(study, "root", lambda: tmp_path)
        nothing = study.recorded()
        assert nothing.empty and study.time_limit(nothing).empty and study.stopped(nothing) == []
        (tmp_path / "tables").mkdir()
        out = Shown()
        study.keep(records, out)
        out.frames[study.RECORDED].to_csv(tmp_path / "tables" / f"{study.RECORDED}.csv", index=False)
        kept = study.recorded()
        assert kept["method"].tolist() == ["pcmci", "pcmci"]
        assert kept["scoring"].tolist() == ["", "nothing to score"]
        assert kept.loc[0, ["f1_triples", "shd", "seconds"]].tolist() == [1.0, 0, 2.5]
        assert study.same(records[:1], kept).loc["pcmci"].tolist() == [1, 1]

    def test_scores_are_those_of_the_study(self, kept):
        some = kept[(kept["method"] == "pcmci") & (kept["scoring"] == "")].iloc[5]
        graph = rd.problem(some["problem"])
        assert some["f1_triples"] == metrics.f1_triples(set(some["solution"]), graph.edges)

    def test_methods_give_the_recorded_answers(self, kept, mirror):
        """On graphs whose answers do not hang on the last digit."""
        for id, name in (("C183", "pcmci"), ("C007", "pcmci"), ("C183", "jpcmci_plus"), ("C188", "jpcmci_plus")):
            if reason := rd.method(name).available():
                pytest.skip(reason)
            (answer,) = rd.method(name).solve(rd.problem(f"causal/{id}"))
            part = kept[(kept["problem"] == f"causal/{id}") & (kept["method"] == name)]
            assert metrics.edges(answer.solution) == part["solution"].item(), (id, name)

    def test_answers_of_the_quick_profile_are_the_recorded_ones_edge_for_edge(self, kept, committed_tables):
        quick = pd.read_csv(params.root() / "tables" / "causal_runs.csv", keep_default_na=False)
        counts = study.same(quick, kept)
        assert set(counts.index) == set(study.CONSTRAINT_BASED)
        assert (counts["answered"] > 40).all() and counts["answered"].equals(counts["the same"])

    @pytest.mark.parametrize(("label", "name"), [("PCMCI", "pcmci"), ("j-PCMCI+", "jpcmci_plus")])
    def test_printed_rows_come_back_where_the_record_is_complete(self, kept, label, name):
        ledger = study.ledger(kept)
        assert len(ledger) == len(report.published("symbolbench_table4"))
        part = ledger[ledger["row"] == label]
        complete = (kept["method"] == name).sum() == study.GRAPHS
        assert len(part) == len(study.MEASURES)
        assert set(part["verdict"]) == {"reproduced" if complete else "not comparable"}
        models = ledger[~ledger["row"].isin(["PCMCI", "LPCMCI", "j-PCMCI+"])]
        assert set(models["verdict"]) == {"not run"}

    def test_leaving_out_the_slowest_starts_with_the_whole_row(self, kept):
        cuts = study.time_limit(kept)
        whole = study.row(kept[kept["method"] == "lpcmci"], total=study.GRAPHS)
        assert cuts.loc[0, "f1"] == pytest.approx(whole["f1"], rel=1e-12)  # another order of addition
        assert cuts["scored"].diff().dropna().eq(-1).all()

    def test_the_printed_row_of_lpcmci_is_that_of_a_machine_which_stopped_two_graphs_more(self, kept):
        assert study.stopped(kept) == ["C033, C169"]


def test_ledger_without_a_record_says_not_run():
    empty = pd.DataFrame(columns=["problem", "method", "scoring"])
    assert set(study.ledger(empty)["verdict"]) == {"not run"}


def test_claim_compares_by_one_rule(references):
    def answers(f1):
        return pd.DataFrame({"method": "pcmci", "scoring": "", "f1_pairs": [f1 - 0.01, f1, f1 + 0.01] * 20})

    def outcome(kept):
        found = report.claims("SymbolBench", study.claims(kept, references), study.CLAIMS).loc["SY-02"]
        assert "59.3" in found["finding"] and "70.4" in found["finding"]
        return found["verdict"]

    assert [outcome(answers(f1)) for f1 in (0.4, 0.544, 0.7)] == ["holds", "mixed", "fails"]
    assert outcome(answers(0.5)[:0]) == "untestable here"


def test_prompts_name_other_models(mirror):
    for cached in (facts._released, facts._records):
        cached.cache_clear()
    found = study.contexts([rd.problem(id) for id in rd.problems("causal")])
    assert found.loc["physiome"].tolist() == [178, 176, 167, 32]
    assert found.loc["odebench", "names of another model"] == 5


def test_rounding_changes_edges_of_collinear_series(mirror):
    if reason := rd.method("pcmci").available():
        pytest.skip(reason)
    moved = study.rounding([rd.problem("causal/C014"), rd.problem("causal/C183"), rd.problem("causal/C036")])
    assert moved["problem"].tolist() == ["causal/C014", "causal/C183"]  # C036 has one point
    assert moved["changed"].tolist()[0] > 0 and moved["changed"].tolist()[1] == 0


def test_tables_of_the_grid():
    graphs = [rd.problem("causal/C183", series_from="equations")]
    records = runs.grid(graphs, ["oracle", "self_edges", "granger"], progress=False)
    scored = scores.table(records, graphs, progress=False)
    out = Shown()
    study.table(scored, out, study.INTEGRATED)
    table = out.frames["causal_methods"]
    assert table.loc["oracle", ["f1", "f1 pairs", "f1 directed"]].tolist() == [100.0] * 3
    assert table.loc["self_edges", "f1 directed"] == 0.0

"""Stored runs, ledger and claim of the causal study, on cases worked by hand and on the repository's tables."""

import io
import json

import rediscover as rd
from rediscover import params, report, runs
from rediscover.metrics import causal as metrics
from rediscover.problems import causal as facts
from rediscover.report.comparisons import build_methods
from rediscover.runs import records, schema, scoring
from rediscover.studies.causal import analysis, claims, paper_runs
from rediscover.studies.causal.scores import graph_scores, score
from rediscover.system import derived

import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="module")
def stored():
    frame = paper_runs.paper_runs()
    assert not frame.empty, "no records of the causal study: `git checkout records`"
    return frame


def answers(f1, seconds, method="lpcmci"):
    """Stored runs with every measure of a graph alike; None is a graph without an answer."""
    names = [name for name in paper_runs.COLUMNS if name.rpartition("_")[2] in ("pairs", "triples", "directed")]
    frame = pd.DataFrame({name: f1 for name in names}).assign(shd=1.0, shd_transposed=1.0, edges=2.0)
    frame["scoring"] = ["nothing to score" if value is None else "" for value in f1]
    ids = [f"causal/C{i:03d}" for i in range(len(f1))]
    return frame.assign(method=method, problem=ids, seconds=seconds).reindex(columns=paper_runs.COLUMNS)


def test_references_need_no_data_and_have_the_known_shares():
    known = {"self_edges": [80.5, 18.9, 0.0], "complete_graph": [83.7, 56.8, 43.7]}
    for name, shares in known.items():
        rows = []
        for id in rd.problems("causal"):
            graph = rd.problem(id)
            (candidate,) = rd.method(name).solve(graph)
            rows.append(graph_scores(candidate.solution, graph.edges))
        cells = analysis.row(pd.DataFrame(rows).assign(scoring=""), "pairs")
        assert [round(cells[f"acc_{level}"], 1) for level in analysis.F1_THRESHOLDS] == shares


def test_graph_scores_are_part_of_the_scores():
    graph = rd.problem("causal/C183", series_from="equations")
    found = score(graph, graph.truth)
    assert graph_scores(graph.truth, graph.edges).items() <= found.items()
    assert {"ci_score_effective", "ci_score_partial"} <= set(found)


def test_a_failure_leaves_the_means_and_stays_in_the_thresholds():
    columns = [f"{m}_triples" for m in ("f1", "precision", "recall", "fdr")]
    frame = pd.DataFrame({c: [0.8, 0.6, 0.0] for c in columns} | {"shd": [1, 3, 9], "edges": [2, 4, None]})
    cells = analysis.row(frame.assign(scoring=["", "", "nothing to score"]))
    assert (cells["f1"], cells["shd"], cells["complexity"]) == (pytest.approx(70.0), 2.0, 3.0)
    assert cells["acc_0.7"] == pytest.approx(100 / 3)


def test_constraint_based_methods_are_known_by_their_printed_labels():
    assert list(analysis.printed_labels().values()) == list(paper_runs.CONSTRAINT_BASED)
    assert set(analysis.printed_labels()) <= set(report.published("symbolbench_table4")["model"])


class TestWithoutTheReleasedFile:
    @pytest.fixture
    def nowhere(self, tmp_path, monkeypatch):
        monkeypatch.setenv("REDISCOVER_MIRROR", str(tmp_path))
        for cached in (facts._released, facts._records):
            cached.cache_clear()
        yield
        for cached in (facts._released, facts._records):
            cached.cache_clear()

    @pytest.mark.parametrize("id", ["causal/C000", "causal/C036", "causal/C183"])
    def test_answers_and_scores_are_those_on_the_released_series(self, nowhere, reference_tables, id):
        """By all methods: as in the tables, which are of all 190 graphs; one has a single point, one is small."""
        reference = params.read(params.root() / "params" / "32_symbolbench_causal.yaml", "reference")
        settings = {name: {"max_variables": limit} for name, limit in reference.max_variables.items()}
        methods = build_methods(reference.methods, settings=settings)
        assert reference.series_from == "released" and reference.graphs == []
        found = runs.grid(id, methods, budget=reference.budget, progress=False)
        scored = scoring.table(found, [rd.problem(id)], progress=False)
        for frame, name in ((found, "causal_runs"), (scored, "causal_scores")):
            kept = pd.read_csv(params.root() / "tables" / f"{name}.csv")
            kept = kept[kept["problem"] == id].reset_index(drop=True)
            schema.to_csv(frame[kept.columns], text := io.StringIO(), float_format="%.10g")
            again = pd.read_csv(io.StringIO(text.getvalue()))
            pd.testing.assert_frame_equal(again, kept, check_dtype=False)

    def test_a_limit_of_variables_refuses_what_is_recorded(self, nowhere):
        found = runs.grid("causal/C183", [rd.method("pcmci", max_variables=2)], budget=self.budget(), progress=False)
        assert found["status"].item() == "unsupported" and found["reason"].item().endswith("the limit is 2")

    def test_without_records_the_series_are_asked_for(self, nowhere, monkeypatch):
        monkeypatch.setenv("REDISCOVER_FRESH", "1")
        assert paper_runs.paper_runs().empty
        found = runs.grid("causal/C183", ["granger"], budget=self.budget(), progress=False)
        assert found["status"].item() not in ("ok", "unsupported")

    def budget(self):
        return paper_runs.planned()[0].budget


class TestPaperRuns:
    def test_what_a_store_holds_is_recorded_once(self, tmp_path, monkeypatch):
        series = rd.problem("causal/C183", series_from="equations")
        asked = runs.plan([series], ["self_edges", "complete_graph"])
        runs.grid([series], ["self_edges"], store=tmp_path / "runs.sqlite", progress=False)
        monkeypatch.setattr(paper_runs, "planned", lambda names: asked)
        monkeypatch.setenv("REDISCOVER_ROOT", str(tmp_path))
        assert [paper_runs.record(tmp_path / "runs.sqlite") for _ in range(2)] == [1, 0]
        assert [line is None for line in records.lines(asked)] == [False, True]
        records._read.cache_clear()  # of this folder

    def test_every_graph_is_recorded_or_refused(self, stored):
        assert stored.groupby("method").size().to_dict() == dict.fromkeys(paper_runs.CONSTRAINT_BASED, 190)
        refused = stored[stored["reason"].str.contains("the limit is")]
        assert refused["method"].tolist() == ["jpcmci_plus"] * 2 and (refused["status"] == "unsupported").all()

    def test_scores_are_those_of_the_study(self, stored):
        some = stored[(stored["method"] == "pcmci") & (stored["scoring"] == "")].iloc[5]
        graph = rd.problem(some["problem"])
        assert some["f1_triples"] == metrics.f1_triples(set(some["solution"]), graph.edges)

    def test_methods_give_the_stored_answers(self, stored, mirror):
        """On graphs whose answers do not depend on the last digit."""
        for id, name in (("C183", "pcmci"), ("C007", "pcmci"), ("C183", "jpcmci_plus"), ("C188", "jpcmci_plus")):
            if reason := rd.method(name).available():
                pytest.skip(reason)
            (answer,) = rd.method(name).solve(rd.problem(f"causal/{id}"))
            part = stored[(stored["problem"] == f"causal/{id}") & (stored["method"] == name)]
            assert metrics.edges(answer.solution) == part["solution"].item(), (id, name)

    def test_answers_of_the_quick_profile_are_the_stored_ones_edge_for_edge(self, stored, reference_tables):
        reference = pd.read_csv(params.root() / "tables" / "causal_runs.csv", keep_default_na=False)
        both = reference[reference["status"] == "ok"].merge(stored[stored["scoring"] == ""], on=["problem", "method"])
        for answer in both.itertuples():
            assert metrics.edges(json.loads(answer.solution_x)) == answer.solution_y, answer.problem
        answered = both["method"].value_counts()
        assert set(answered.index) == set(paper_runs.CONSTRAINT_BASED) and (answered > 40).all()


class TestTimeLimit:
    def test_the_slowest_leave_first(self):
        rows = analysis.time_limit(answers([0.9, 0.6, None], seconds=[1.0, 300.0, 500.0]))
        assert rows.index.tolist() == ["", "C001", "C001, C000"]
        assert rows["scored"].tolist() == [2, 1, 0]
        assert rows["f1"].tolist()[:2] == pytest.approx([75, 90]) and np.isnan(rows["f1"].iloc[2])
        assert rows["acc_0.5"].tolist() == pytest.approx([200 / 190, 100 / 190, 0])
        assert (rows["as_printed"] == 0).all()

    def test_without_runs_there_is_nothing_to_leave_out(self):
        nothing = answers([], [])
        assert analysis.time_limit(nothing).empty and analysis.stopped(nothing) == []

    def test_it_starts_with_the_whole_row(self, stored):
        cuts = analysis.time_limit(stored)
        whole = analysis.row(stored[stored["method"] == "lpcmci"], total=analysis.GRAPHS)
        assert cuts["f1"].iloc[0] == pytest.approx(whole["f1"], rel=1e-12)  # another order of addition
        assert cuts["scored"].diff().dropna().eq(-1).all() and len(cuts) == analysis.SLOWEST + 1

    def test_the_printed_row_of_lpcmci_is_that_of_a_machine_which_stopped_two_graphs_more(self, stored):
        assert analysis.stopped(stored) == ["C033, C169"]


class TestLedger:
    def test_without_stored_runs_it_says_not_run(self):
        ledger = analysis.ledger(answers([], []))
        assert set(ledger["verdict"]) == {"not run"}
        assert (ledger["reason"] == "no answers of the paper profile are kept").sum() == 3 * len(analysis.MEASURES)

    def test_runs_that_were_not_finished_are_not_comparable(self):
        ledger = analysis.ledger(answers([0.5, None], seconds=1.0, method="pcmci"))
        part = ledger[ledger["row"] == "PCMCI"]
        assert set(part["verdict"]) == {"not comparable"}
        assert set(part["reason"]) == {"1 of 2 recorded graphs answered"}

    @pytest.mark.parametrize(("label", "name"), [("PCMCI", "pcmci"), ("j-PCMCI+", "jpcmci_plus")])
    def test_printed_rows_come_back_where_all_graphs_were_run(self, stored, label, name):
        ledger = analysis.ledger(stored)
        assert len(ledger) == len(report.published("symbolbench_table4"))
        part = ledger[ledger["row"] == label]
        complete = (stored["method"] == name).sum() == analysis.GRAPHS
        assert len(part) == len(analysis.MEASURES)
        open_cells = part["reason"].str.contains("the last bit of a correlation decides")
        assert open_cells.sum() == complete and set(part.loc[open_cells, "verdict"]) <= {"undecided"}
        assert set(part.loc[~open_cells, "verdict"]) == {"reproduced" if complete else "not comparable"}
        models = ledger[~ledger["row"].isin(["PCMCI", "LPCMCI", "j-PCMCI+"])]
        assert set(models["verdict"]) == {"not run"}


class TestClaim:
    references = pd.Series({"self_edges": 59.3, "complete_graph": 70.4})

    def runs(self, method, f1, n=20, noise=0.0):
        rows = [{"problem": f"causal/{i}", "method": method, "seed": 0, "f1_pairs": f1 + i / 1e3} for i in range(n)]
        return pd.DataFrame(rows).assign(noise=noise)

    @pytest.mark.parametrize(("f1", "verdict"), [(0.7, "holds"), (0.5, "not shown"), (0.3, "fails")])
    def test_it_compares_by_one_rule_on_the_same_graphs(self, f1, verdict):
        model, baseline = self.runs("GPT-4o-mini", f1), self.runs("PCMCI", 0.5)
        found, text = claims.sy_02(model, baseline, 54.4, 52.7, self.references)
        assert found == verdict and "59.3" in text and "70.4" in text and "printed F1 52.7" in text

    def test_it_needs_enough_graphs_of_both(self):
        model, baseline = self.runs("GPT-4o-mini", 0.3, n=claims.FEWEST - 1), self.runs("PCMCI", 0.5)
        judged = claims.sy_02(model, baseline, 54.4, 52.7, self.references)
        assert judged[0] == "untestable here" and "1 of 1 pairs of model and baseline have fewer than" in judged[1]

    def test_it_says_which_models_saw_noise(self):
        models = pd.concat([self.runs("GPT-4o-mini", 0.3, noise=0.01), self.runs("Qwen3-1.7B", 0.3)])
        text = claims.sy_02(models, self.runs("PCMCI", 0.5), 54.4, 52.7, self.references)[1]
        assert "which is 0.01 or more of GPT-4o-mini, where" in text and "0 of 2 pairs" in text

    def test_each_model_counts_on_the_least_noise_that_it_saw(self):
        rows = [("gpt-4o-mini", "without", 0.01), ("gpt-4o-mini", "without", 0.4)]
        rows += [("Qwen3-1.7B", reasoning, 0.0) for reasoning in ("with", "without")]
        found = claims.quietest(pd.DataFrame(rows, columns=["model", "reasoning", "noise"]))
        assert found["noise"].tolist() == [0.01, 0.0, 0.0]
        assert found["method"].tolist()[:2] == ["GPT-4o-mini", "Qwen3-1.7B (with reasoning)"]

    def test_every_claim_of_the_study_has_a_function(self):
        names = {name.replace("_", "-").upper() for name in vars(claims) if name.startswith("sy_")}
        assert names == set(report.papers.claims("causal").index)


def test_released_runs_stand_beside_a_reference_on_their_graphs():
    runs = pd.DataFrame({"problem": ["a", "b", "c"], "method": "toy", "f1_pairs": [0.5, 0.7, np.nan]})
    runs["f1_directed"] = [0.2, 0.4, np.nan]
    reference = pd.DataFrame({"f1_pairs": 0.9, "f1_directed": [0.3, 0.7, 0.0]}, index=["a", "b", "c"])
    (row,) = analysis.beside_reference(runs, reference).round(6).itertuples()
    assert (row.graphs, row.pairs, row.reference_pairs, row.directed, row.reference_directed) == (2, 60, 90, 30, 50)
    assert (row.difference, row.low, row.high) == (-20, -30, -10)


def test_the_drawn_graphs_are_those_here_and_accuracy_is_recall():
    found = analysis.figures(derived.read("causal", "released_runs"))
    assert set(found.query("table == 'Figure 4 (c)'")["verdict"]) == {"reproduced"}
    bars = found[found["table"] == "Figure 3 (b), graphs"].set_index("column")
    assert set(bars.filter(like="accuracy", axis=0)["verdict"]) == {"not comparable"}
    drawn = report.published("symbolbench_figure3b_graphs").pivot(index="reasoning", columns="metric", values="value")
    assert (drawn["accuracy"] == drawn["recall"]).all()


def test_prompts_name_other_models(mirror):
    for cached in (facts._released, facts._records):
        cached.cache_clear()
    shown, rows = facts.released_contexts(), []
    for id in rd.problems("causal"):
        graph, (names, domain) = rd.problem(id), shown[id]
        counted = [1, names != graph.states, len(names) != len(graph.states), domain == graph.domain]
        rows.append([graph.subset, *map(int, counted)])
    found = pd.DataFrame(rows).groupby(0).sum()
    assert found.loc["physiome"].tolist() == [178, 176, 167, 32]
    assert found.loc["odebench", 2] == 5


def test_rounding_changes_edges_of_collinear_series(mirror):
    if reason := rd.method("pcmci").available():
        pytest.skip(reason)
    pcmci, random, changed = rd.method("pcmci"), np.random.default_rng(0), []
    for name in ("C014", "C183"):
        series = rd.problem(f"causal/{name}").series()
        other = series * (1 + 1e-14 * random.standard_normal(series.shape))
        before, after = (pcmci.p_values(values)[:, :, facts.LAG] < pcmci.alpha for values in (series, other))
        changed.append((before != after).sum())
    assert changed[0] > 0 and changed[1] == 0

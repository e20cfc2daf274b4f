"""A comparison that can be printed: budgets, effects and their family, intervals, LaTeX, opponents."""

import re
import subprocess

import rediscover as rd
from rediscover import comparison, methods
from rediscover.cli import main
from rediscover.comparison import opponents
from rediscover.comparison.head_to_head import Comparison
from rediscover.report.statistics import holm
from rediscover.report.tables import CONTROLS
from rediscover.runs.schema import read_csv
from rediscover.system.paths import root

import numpy as np
import pandas as pd
import pytest

THREE = ["surfaces/TFS4", "surfaces/QIS2", "surfaces/NCGS2"]
MEASURES = ["symbolic_accuracy", "nmse_variance"]
METHODS = {  # accuracy and error on six problems, evaluations, seconds: mine is better than worse, and equal to alike
    "mine": ([1, 1, 1, 0, 1, 0], [1e-3, 2e-3, 3e-3, 0.5, 5e-3, 0.6], 1000, 1.0),
    "worse": ([0, 0, 0, 0, 0, 0], [0.1, 0.2, 0.3, 0.7, 0.5, 0.9], 100_000, 100.0),
    "alike": ([1, 1, 1, 0, 1, 0], [1e-3, 2e-3, 3e-3, 0.5, 5e-3, 0.6], 1900, 0.6),
    "silent": ([1, 1, 1, 1, 1, 1], [1e-5] * 6, np.nan, np.nan),
}


def made(*names):
    rows = [
        {"problem": f"p{i}", "subset": "one" if i < 3 else "two", "seed": 0, "method": name, "origin": "here"}
        | {
            "symbolic_accuracy": float(accuracy[i]),
            "nmse_variance": error[i],
            "size": 5.0,
            "status": "ok",
            "reason": "",
        }
        | {"evaluations": evaluations, "seconds": seconds, "allowed": 100_000}
        for name in ("mine", *names)
        for accuracy, error, evaluations, seconds in [METHODS[name]]
        for i in range(6)
    ]
    return Comparison("shapes", "mine", pd.DataFrame(rows), MEASURES)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REDISCOVER_PROGRESS", "off")
    monkeypatch.setattr(methods, "_given", {})
    return tmp_path


class TestEffects:
    def test_positive_where_mine_is_better_for_shares_and_errors_alike(self):
        effects = made("worse").effects
        assert set(effects["measure"]) == set(MEASURES) and (effects["wins"] > 0).all()
        assert (effects["effect"] == 1.0).all() and (effects["losses"] == 0).all()
        against = made("silent").effects
        assert (against.loc[against["losses"] > 0, "effect"] == -1.0).all() and (against["losses"] > 0).sum() == 5
        assert (made("alike").effects["effect"] == 0).all()

    def test_it_is_that_of_the_test(self):
        found = made("worse", "alike", "silent")
        both = found.effects.merge(found.tests, on=["measure", "condition", "a", "b"])
        assert len(both) == 18 and np.allclose(both["effect"], both["rank_biserial"])
        assert (both["low_x"] <= both["effect"]).all() and (both["effect"] <= both["high_x"]).all()

    def test_the_whole_is_no_family_with_its_parts(self):
        tests = made("worse", "silent").tests
        whole = tests["condition"] == "all"
        assert whole.sum() == 4 and (~whole).sum() == 8
        for family in (whole, ~whole):
            assert np.allclose(tests.loc[family, "p_holm"], holm(tests.loc[family, "p"].astype(float)))
        assert not np.allclose(tests["p_holm"], holm(tests["p"].astype(float)))


class TestBudgets:
    def test_a_factor_above_two_is_warned_of(self):
        [warning] = made("worse").warnings
        assert "more than a factor of 2: worse used 100 times the evaluations of mine" in warning
        assert made("alike").warnings == []  # 1.9 times
        [warning] = made("silent").warnings
        assert warning == (
            "the budgets of mine and silent cannot be compared: neither evaluations nor seconds are known of both"
        )
        assert f"Warning: {warning}" in str(made("silent"))

    def test_at_equal_seconds_only_seconds_count(self):
        found = made("alike")
        longer = found.answers.assign(seconds=np.where(found.answers["method"] == "alike", 0.4, 1.0))
        chosen = Comparison("shapes", "mine", longer, MEASURES, (), True)
        assert ["used 1/2.5 of the seconds of mine" in text for text in chosen.warnings] == [True]
        assert Comparison("shapes", "mine", longer, MEASURES).warnings == []

    def test_all_are_shown(self):
        shown = made("worse", "silent").sections()[-1].shown()
        assert list(shown.index) == ["mine", "silent", "worse"] or set(shown.index) == {"mine", "silent", "worse"}
        assert set(shown["evaluations allowed"]) == {"1.00e+05"}
        assert shown.loc["mine", "evaluations used, median"] == "1000 [1000, 1000]"
        assert shown.loc["silent", "evaluations used, median"] == ""


class TestTables:
    def test_each_has_intervals(self):
        for section in made("worse", "alike").sections():
            texts = section.shown().to_numpy(dtype=str).ravel()
            assert any(re.search(r"\[\S+, \S+\]", text) for text in texts), section.title
            assert any(name.endswith(", low") for name in section.csv()), section.title

    def test_latex_is_a_table_to_be_printed(self, tmp_path):
        text = made("worse", "silent").latex()
        values, tests = text.split(r"\end{table}")[:2]
        assert values.count(r"\toprule") == values.count(r"\bottomrule") == 1
        assert r"$1.00 \times 10^{-5}$" in values and not re.search(r"\de-\d", text)
        bold = re.findall(r"silent & .*?\\textbf\{(.*?)\}", values)
        assert len(bold) == 3 and r"\textbf" not in tests
        caption = re.search(r"\\caption\{(.*)\}\n", values)[1]
        assert "6 problems, seed 0" in caption
        assert all(f"{name} " in caption for name in ("mine", "worse")) and "100 seconds used" in caption
        rows = [line for line in text.splitlines() if line.endswith(r"\\")]
        widths = [len(kinds) for kinds in re.findall(r"\\begin\{tabular\}\{(\w+)\}", text)]
        assert {line.count("&") + 1 for line in rows} == set(widths) and r"$p_\mathrm{Holm}$" in tests

    def test_latex_compiles(self, tmp_path):
        try:
            subprocess.run(["pdflatex", "--version"], capture_output=True, check=True)
        except FileNotFoundError:
            pytest.skip("there is no LaTeX on this machine")
        body = made("worse", "silent").latex()
        whole = "\\documentclass{article}\\usepackage{booktabs}\\begin{document}\n" + body + "\\end{document}\n"
        (tmp_path / "t.tex").write_text(whole)
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-2000:]


class TestOpponents:
    def test_the_five_best_are_those_of_the_committed_table(self):
        ids = rd.problems("surfaces", "implicit")
        chosen = opponents.best_recorded("surfaces", ids, "operon")
        frame = read_csv(root() / "tables" / "surfaces_scores.csv")
        frame = frame[frame["problem"].isin(ids) & (frame["noise"] == 0) & (frame["status"] != "unavailable")]
        share = frame.groupby("method")["symbolic_accuracy"].mean()
        left = [m for m in share.index if m in methods.registry() and m not in (*CONTROLS, "operon", *chosen)]
        left = [m for m in left if not m.endswith("_first")]
        assert len(chosen) == 5 and not {*chosen} & {*CONTROLS, "operon", "bidirectional_first"}
        assert share[chosen].is_monotonic_decreasing and share[chosen].min() >= share[left].max()

    def test_without_names_they_are_taken_and_the_rule_is_said(self, folder, capsys):
        comparison.new("mine")
        arguments = ["compare", "./mine.py:Mine", "--study", "srsd", "--problems", "srsd/I.12.1", "--latex"]
        assert main([*arguments, "out/t.tex"]) == 0
        said = capsys.readouterr().out
        chosen = opponents.best_recorded("srsd", ["srsd/I.12.1"], "mine")
        assert all(re.search(rf"\b{name}\b", said) for name in chosen) and opponents.RULE in said
        assert (folder / "out" / "t.tex").read_text().startswith(r"\begin{table}")
        assert re.search(r"\n +mine +1 +1 +5000 ", said) or "evaluations allowed" in said
        with pytest.raises(SystemExit):
            main(["compare", "--help"])
        help_text = " ".join(capsys.readouterr().out.split())
        assert all(rule in help_text for rule in (opponents.RULE, opponents.EQUAL))

    def test_equal_seconds_take_the_recorded_budget_that_took_as_long(self):
        """Operon has records of surfaces at 1,000 to 1,000,000 evaluations, regularised evolution at no cheap one."""
        rows = pd.DataFrame({"method": "mine", "problem": THREE, "seconds": [1.0, 1.5, 2.0]})
        found, said = opponents.at_equal_seconds(rows, ["operon", "regularised_evolution"], "surfaces", THREE)
        assert set(found) == {"operon"} and set(found["operon"]["problem"]) <= set(THREE)
        took = found["operon"]["seconds"].astype(float).median()
        assert 0.75 <= took <= 3.0 and found["operon"]["symbolic_accuracy"].notna().all()
        assert said[1].startswith("regularised_evolution is left out: its nearest record took ")
        assert re.fullmatch(r"compared on the \d of 3 problems that all have", said[-1])

    def test_where_nothing_took_as_long_that_is_said(self, folder, capsys):
        comparison.new("mine")
        arguments = ["compare", "./mine.py:Mine", "regularised_evolution", "power_law", "--study", "surfaces"]
        assert main([*arguments, "--problems", THREE[0], "--equal-seconds"]) == 2
        said = capsys.readouterr().err
        assert "nothing recorded took as long as mine" in said and "compare without --equal-seconds" in said
        assert "power_law is left out: no record of it on these problems says its seconds" in said


def test_all_studies_in_one_table(folder, capsys):
    comparison.new("mine")
    for study, ids in {"surfaces": THREE[:2], "srsd": ["srsd/I.12.1", "srsd/I.27.6"]}.items():
        comparison.run("./mine.py:Mine", study, ids=ids)
    assert main(["compare", "mine", "power_law", "mean", "--study", "all"]) == 0
    said = capsys.readouterr().out
    assert (
        "mine on 2 studies" in said and "over 2 studies" in said and "odes is left out: mine was not run there" in said
    )
    assert re.search(r"\n +srsd +2 +solution_rate, mean \S+ .* power_law +\S+ +2 +3 ", said), said
    assert main(["compare", "mine", "--study", "all", "--subset", "easy"]) == 2
    assert "leave out --subset" in capsys.readouterr().err

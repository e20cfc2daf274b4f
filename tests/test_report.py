"""Tables, figures, summaries and the ledger: what is written, when it is bold, and what is refused."""

import json
import math
import xml.etree.ElementTree as ET
from pathlib import Path
from types import SimpleNamespace

from rediscover import params, report
from rediscover.report import claim_cells, ledger, summaries
from rediscover.report import plots as figures
from rediscover.system import writing

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def out(tmp_path):
    stated = SimpleNamespace(
        folder=tmp_path,
        store=tmp_path / "build" / "x.sqlite",
        pdf=tmp_path / "figures",
        notebook="00_test",
        profile="smoke",
        model_dump=lambda exclude=(): {"seeds": [0]},
    )
    return report.Output(stated)


def test_table_writes_csv_and_latex_and_returns_text(out, tmp_path):
    frame = pd.DataFrame({"error_%": [0.12345, 0.5], "rate": [1, 2]}, index=pd.Index(["a_b", "c&d"], name="method"))
    text = out.table(frame, "t", caption="A & B", best={"error_%": "lower"}, footnotes=("5 % left out",))
    assert text.splitlines()[-1] == "5 % left out" and "0.123" in text
    assert pd.read_csv(tmp_path / "tables" / "t.csv")["error_%"].tolist() == [0.12345, 0.5]
    latex = (tmp_path / "tables" / "t.tex").read_text()
    assert r"a\_b & \textbf{0.123} & 1 \\" in latex and r"c\&d & 0.500 & 2 \\" in latex
    assert "\\caption{A \\& B}\n\\label{tab:t}\n" in latex and r"5 \% left out" in latex


def test_latex_has_names_and_blocks_and_csv_has_identifiers(out, tmp_path):
    index = pd.MultiIndex.from_product([["easy", "hard"], ["operon", "power_law"]], names=["set", "method"])
    frame = pd.DataFrame({"nmse_variance": [0.1, 0.2, 0.3, 0.4], "note": ["u_xx", "r2_accuracy", "", "pdefind"]}, index)
    html = out.table(frame, "t", caption="")._repr_html_()
    latex, csv = ((tmp_path / "tables" / f"t.{suffix}").read_text() for suffix in ("tex", "csv"))
    assert r"set & method & \shortstack{NMSE\\(variance)} & note" in latex and r"Operon & 0.100 & u\_xx \\" in latex
    assert latex.count(r"\addlinespace") == 1 and "\\addlinespace\nhard & Operon & 0.300" in latex
    assert "hard & power law & 0.400 & PDE-FIND" in latex and r"\_law" not in latex
    assert "NMSE (variance)" in html and "R2 accuracy" in html and "u_xx" in html
    assert "set,method,nmse_variance,note" in csv and "hard,power_law,0.4,pdefind" in csv


def test_no_cell_is_a_command_of_latex(out, tmp_path):
    name = r"50%_best & #1 ${x}$ \alpha ~^ C:\new"
    out.table(pd.DataFrame({name: [1.0], "b": [name]}, index=pd.Index([name], name="method")), "t", caption="")
    latex = (tmp_path / "tables" / "t.tex").read_text()
    assert latex.count(r"\textbackslash{}alpha") == latex.count(r"C:\textbackslash{}new") == 3


def test_labels_of_rows_are_written_even_if_nobody_named_them(out, tmp_path):
    out.table(pd.DataFrame({"n": [1, 2]}, index=["a", "b"]), "t", caption="")
    assert (tmp_path / "tables" / "t.csv").read_text().split() == ["row,n", "a,1", "b,2"]
    assert "a & 1" in (tmp_path / "tables" / "t.tex").read_text()
    out.table(pd.DataFrame({"n": [1, 2, 3]})[1:], "u", caption="")
    assert (tmp_path / "tables" / "u.csv").read_text().split() == ["n", "2", "3"]


def test_bold_goes_to_all_that_display_alike_and_never_to_infinity(out, tmp_path):
    frame = pd.DataFrame({"error": [0.10001, 0.10002, math.inf, math.nan]}, index=pd.Index(list("abcd"), name="m"))
    out.table(frame, "t", caption="", best={"error": "lower"})
    latex = (tmp_path / "tables" / "t.tex").read_text()
    assert latex.count(r"\textbf{0.100}") == 2 and r"\textbf{inf}" not in latex
    frame = pd.DataFrame({"accuracy": [0.5, math.inf]}, index=pd.Index(list("ab"), name="m"))
    out.table(frame, "u", caption="", best={"accuracy": "higher"})
    assert r"\textbf{0.500}" in (tmp_path / "tables" / "u.tex").read_text()


def test_bold_is_per_group_and_not_for_controls_and_intervals_stand_behind(out, tmp_path):
    rows = pd.MultiIndex.from_product([["easy", "hard"], ["oracle", "a", "b"]], names=["set", "method"])
    frame = pd.DataFrame({"error": [0.0, 1.0, 2.0, 0.0, 4.0, 3.0]}, index=rows)
    text = out.table(frame, "t", caption="", best={"error": "lower"}, intervals=(frame - 0.5, frame + 0.5))
    latex = (tmp_path / "tables" / "t.tex").read_text()
    assert [line for line in latex.splitlines() if "textbf" in line] == [
        r"easy & a & \textbf{1.00 [0.50, 1.5]} \\",
        r"hard & b & \textbf{3.00 [2.5, 3.5]} \\",
    ]
    assert "0 [-0.50, 0.50]" in text
    assert pd.read_csv(tmp_path / "tables" / "t.csv")["error"].tolist() == [0.0, 1.0, 2.0, 0.0, 4.0, 3.0]


def test_long_texts_become_paragraphs(out, tmp_path):
    frame = pd.DataFrame({"finding": ["word " * 30]}, index=pd.Index(["SB-01"], name="claim"))
    text = out.table(frame, "t", caption="")
    assert max(map(len, text.splitlines())) <= 110
    assert r"lp{0.80\linewidth}" in (tmp_path / "tables" / "t.tex").read_text()


def test_runs_keep_timings_apart(out, tmp_path):
    frame = pd.DataFrame({"problem": ["p"], "method": ["m"], "seed": [0], "value": [1 / 3], "seconds": [1.5]})
    out.runs(frame, "r")
    assert (tmp_path / "tables" / "r.csv").read_text() == "problem,method,seed,value\np,m,0,0.3333333333\n"
    assert "1.5" in (tmp_path / "build" / "timings" / "r.csv").read_text()


def test_figures_are_byte_stable_and_described(out, tmp_path):
    from PIL import Image

    def picture():
        tidy = pd.DataFrame({"method": ["mean", "operon"], "metric": "e", "value": [1.0, 0.1]})
        tidy = tidy.assign(low=tidy["value"] / 2, high=tidy["value"] * 2)
        return figures.intervals(tidy, row="method", panel="metric", label={"e": "error"}, title="Two methods")

    out.figure(picture(), "f", alt="Two methods")
    first = (tmp_path / "figures" / "f.pdf").read_bytes(), (tmp_path / "figures" / "f.png").read_bytes()
    out.figure(picture(), "f", alt="Two methods")
    assert first == ((tmp_path / "figures" / "f.pdf").read_bytes(), (tmp_path / "figures" / "f.png").read_bytes())
    with Image.open(tmp_path / "figures" / "f.png") as image:
        assert image.info["Description"] == "Two methods"


def test_few_colours_of_a_picture_are_close_to_its_own(out, tmp_path):
    from matplotlib import pyplot
    from PIL import Image

    figure, axes = pyplot.subplots(1, 2, figsize=(4, 2))
    for ax, colours in zip(axes, ("viridis", "RdBu"), strict=True):
        ax.imshow(np.add.outer(np.arange(64.0), np.arange(64.0)), cmap=colours)
    figure.savefig(tmp_path / "many.png", bbox_inches="tight", dpi=160)
    out.figure(figure, "few", alt="Two slopes")
    many, few = Image.open(tmp_path / "many.png"), Image.open(tmp_path / "figures" / "few.png")
    assert few.mode == "P" and few.size == many.size
    apart = np.abs(np.asarray(few.convert("RGB"), int) - np.asarray(many.convert("RGB"), int))
    assert apart.max() <= 20 and apart.mean() < 1 and not apart[0, 0].any()
    assert (tmp_path / "figures" / "few.png").stat().st_size < 0.6 * (tmp_path / "many.png").stat().st_size


def test_intervals_are_drawn_as_given_and_published_values_below_them_or_on_a_line_of_their_own():
    tidy = pd.DataFrame({"method": ["mean", "operon"] * 2, "metric": ["e", "e", "f", "f"], "value": [1.0, 0.1] * 2})
    tidy = tidy.assign(low=tidy["value"] / 2, high=tidy["value"] * 3)
    printed = pd.DataFrame({"method": ["operon", "models", "models"], "metric": "e", "value": [0.2, 0.3, 0.4]})
    look = {"row": "method", "panel": "metric", "label": {"e": "error", "f": "fit"}}
    figure = figures.intervals(tidy, **look, printed=printed, title="Operon has the smaller error")
    first, second = figure.axes
    assert [text.get_text() for text in first.get_yticklabels()] == ["mean", "Operon", "models"]
    diamonds, none = (next(line for line in ax.lines if line.get_marker() == "d") for ax in figure.axes)
    assert diamonds.get_xydata().tolist() == [[0.2, 1.35], [0.3, 2], [0.4, 2]] and not len(none.get_xdata())
    for ax in (first, second):  # a line from low to high, and the value, which is not in the middle
        drawn = {tuple(np.round(line.get_xdata(), 12)) for line in ax.lines if line is not diamonds}
        assert {(0.5, 3.0), (0.05, 0.3)} <= drawn
        assert [1.0, 0.1] == [x for line in ax.lines for x in line.get_xdata() if x in (1.0, 0.1)]
    assert figure.get_suptitle() == "Operon has the smaller error"
    assert [text.get_text() for text in figure.legends[0].texts] == ["published"]


def test_provenance_names_files_and_versions_but_no_time_and_no_place(out, tmp_path):
    out.table(pd.DataFrame({"a": [1]}), "t", caption="")
    out.provenance()
    text = (tmp_path / "tables" / "00_test.provenance.json").read_text()
    record = json.loads(text)
    assert record["files"].keys() == {"tables/t.csv", "tables/t.tex"} and record["packages"]["numpy"] == np.__version__
    assert str(tmp_path) not in text


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("old")
    with pytest.raises(RuntimeError), writing.replacing(path) as part:
        with open(part, "w") as file:
            file.write("half")
        raise RuntimeError
    assert path.read_text() == "old" and [p.name for p in tmp_path.iterdir()] == ["table.csv"]


def test_interval_of_a_mean_leaves_out_what_is_infinite_and_says_so():
    got = summaries.interval([1.0, 2.0, 3.0, math.inf, math.nan])
    assert got["value"] == 2.0 and (got["n"], got["n_finite"]) == (4, 3) and got["low"] < 2.0 < got["high"]
    assert summaries.interval([math.inf, math.inf])["value"] == math.inf
    assert math.isnan(summaries.interval([math.nan])["value"])


def test_interval_of_a_median_takes_infinities_as_large():
    assert summaries.interval([1.0, 2.0, math.inf], np.median)["value"] == 2.0
    assert summaries.interval([1.0, math.inf, math.inf], np.median)["value"] == math.inf
    values = np.random.default_rng(0).normal(size=101)
    got = summaries.interval(values, np.median)
    assert got["value"] == np.median(values) and got["low"] < got["value"] < got["high"]


def test_summary_keeps_groups_in_order_of_appearance():
    frame = pd.DataFrame({"method": ["b", "a", "b"], "error": [1.0, 2.0, 3.0]})
    assert summaries.summary(frame, ["method"], ["error"])[["method", "value"]].to_numpy().tolist() == [
        ["b", 2.0],
        ["a", 2.0],
    ]


def test_every_published_table_can_be_read_with_all_digits():
    assert report.published("surfacebench_table1").query("method == 'PySR'")["value"].tolist()[:2] == ["0.25", "0.18"]
    with pytest.raises(KeyError, match="no published table 'none'"):
        report.published("none")


def test_the_ledger_keeps_every_published_row():
    rows = report.published("surfacebench_table2")
    measured = {("PySR", "nmse"): {"value": 0.6, "low": 0.5, "high": 0.61, "reason": "here"}}
    book = ledger.compare(
        "SurfaceBench",
        "Table 2",
        rows,
        measured,
        keys=["method", "metric"],
        row="{method} {backbone}",
        column="{metric}",
        absent={"OpenEvolve": ("not run", "needs a language model")},
        definition="as released",
        rule="digits",
    )
    assert len(book) == len(rows) == 16
    assert book["verdict"].value_counts().to_dict() == {"not run": 15, "reproduced": 1}
    assert book.set_index(["row", "column"]).loc[("PySR", "nmse"), "measured"] == 0.6


def test_claims_and_results_must_match():
    names = report.papers.claims("surfaces").index
    cells = claim_cells.by_counts([True, False]) + claim_cells.not_run(["PySR"])
    results = {name: ledger.Judged(cells, "seen") for name in names}
    table = report.claims("surfaces", results | {"SB-06": ledger.Judged([], "needs a language model")})
    assert table.loc["SB-01", ["verdict", "cells", "as_claimed"]].tolist() == ["mixed", 3, 1]
    assert table.loc["SB-06"].tolist()[1:5] == ["untestable here", "holds", 0, 0]
    assert table.loc["SB-01", "low"] < 1 / 3 < table.loc["SB-01", "high"] and math.isnan(table.loc["SB-06", "low"])
    with pytest.raises(KeyError, match="SB-15"):
        report.claims("surfaces", {name: results[name] for name in names if name != "SB-15"})


def test_a_verdict_outside_the_list_is_refused():
    with pytest.raises(ValueError, match="nearly"):
        report.combine([pd.DataFrame({"verdict": ["nearly"]})])


def test_methods_have_one_order_and_colours_of_their_own():
    assert figures.order(["operon", "zzz", "mean", "oracle"]) == ["oracle", "mean", "operon", "zzz"]
    looks = [(look[0], look[1]) for look in figures.METHOD_STYLE.values()]
    assert len(set(looks)) == len(looks)
    for notebook in params.models():  # methods of one figure
        chosen = params.read(ROOT / "params" / f"{notebook}.yaml", "reference")
        names = [*getattr(chosen, "methods", []), *getattr(chosen, "tabular_methods", [])]
        assert len({figures.colour(name) for name in names}) == len(names), notebook


def test_labels_of_a_short_logarithmic_axis_have_room():
    import matplotlib.pyplot as plt

    for ends, most, expected in (
        ((4, 390), 6, [10, 30, 100, 300]),
        ((4, 390), 3, [10, 100]),
        ((2, 60), 3, [3, 10, 30]),
    ):
        figure, ax = plt.subplots()
        ax.set_xlim(*ends)
        ax.set_xscale("log")
        figures.logarithmic(ax, ax.xaxis, most)
        ticks = [tick for tick in ax.get_xticks() if ends[0] <= tick <= ends[1]]
        plt.close(figure)
        assert [round(tick) for tick in ticks] == expected, ends


def test_a_notebook_shows_a_table_in_html(out):
    index = pd.MultiIndex.from_tuples(
        [("easy", "gplearn"), ("easy", "power_law"), ("hard", "best model, printed")], names=["set", "method"]
    )
    frame = pd.DataFrame({"error": [0.1, 0.2, 0.05], "truth": ["a", "b<c", ""]}, index=index)
    shown = out.table(frame, "t", caption="A < B", best={"error": "lower"}, footnotes=("a note",))
    assert repr(shown) == str(shown) and "0.0500" in shown  # what a shell and nbval see
    html = shown._repr_html_()
    assert html.count("<tr") == 4 and html.count("easy") == 1 and "A &lt; B" in html and "b&lt;c" in html
    assert "error ↓" in html and html.count("<b>") == 2 and "<b>0.100</b>" in html  # the best of either set
    assert html.count("background") == 1 and "power law" in html and html.endswith("<p>a note</p>")
    ET.fromstring(f"<div>{html}</div>")  # every tag is closed

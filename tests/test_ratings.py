"""Sheets for raters: blind, read back with every mistake named, and what they tell."""

from rediscover.report import ratings
from rediscover.studies.passages import ratings as passages
from rediscover.studies.srsd import ratings as srsd

import numpy as np
import pandas as pd
import pytest

ITEMS = ratings.named(
    pd.DataFrame({"law": ["a", "a", "b", "b"], "method": list("xyxy"), "text": list("pqrs"), "d": [0, 1, 0.2, 0.9]}),
    ["law", "method"],
)


def filled(path, values):
    """The sheet with ratings by the item's text."""
    sheet = pd.read_csv(path, dtype=str)
    sheet.assign(near=sheet["text"].map(values)).to_csv(path, index=False)


def test_sheets_are_blind_and_in_an_order_of_their_own(tmp_path):
    paths = ratings.write(ITEMS, ["text"], ["near"], 4, tmp_path)
    sheets = [pd.read_csv(path, dtype=str, keep_default_na=False) for path in paths]
    assert all(list(sheet) == ["item", "text", "near"] and set(sheet["near"]) == {""} for sheet in sheets)
    assert len({tuple(sheet["item"]) for sheet in sheets}) > 1
    assert all(set(sheet["item"]) == set(ITEMS.index) for sheet in sheets)
    with pytest.raises(FileExistsError, match="is there already"):
        ratings.write(ITEMS, ["text"], ["near"], 4, tmp_path)


def test_what_is_filled_in_comes_back(tmp_path):
    paths = ratings.write(ITEMS, ["text"], ["near"], 2, tmp_path)
    filled(paths[0], {"p": "5", "q": "1", "r": "4", "s": " 2 "})
    filled(paths[1], {"p": "5", "q": "1"})
    found = ratings.read(paths, ITEMS, ["near"])
    assert len(found) == 6 and found.groupby("rater").size().tolist() == [4, 2]
    table = ratings.correlation(found, ITEMS, ["d"], "law").loc["d"]
    d = ITEMS["d"].loc[found["item"]]
    assert table["r"] == pytest.approx(np.corrcoef(found["rating"].astype(float), d)[0, 1])
    assert table["low"] - 1e-9 <= table["r"] <= table["high"] + 1e-9 < 0
    assert table[["ratings", "items", "raters"]].tolist() == [6, 4, 2]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda sheet: sheet.drop(columns="near"), "no column 'near'"),
        (lambda sheet: sheet.assign(item="cafe0000"), "no item 'cafe0000'"),
        (lambda sheet: pd.concat([sheet, sheet[:1]]), "is there twice"),
        (lambda sheet: sheet.assign(near="6"), "'6' for item"),
        (lambda sheet: sheet.assign(near="good"), "'good' for item"),
    ],
)
def test_mistakes_in_a_sheet_are_named(tmp_path, change, said):
    (path,) = ratings.write(ITEMS, ["text"], ["near"], 1, tmp_path)
    change(pd.read_csv(path, dtype=str)).to_csv(path, index=False)
    with pytest.raises(ValueError, match=said):
        ratings.read([path], ITEMS, ["near"])


def test_two_items_with_one_name_are_refused():
    with pytest.raises(ValueError, match="two items have the same law"):
        ratings.named(pd.DataFrame({"law": ["a", "a"]}), ["law"])


def test_pairs_of_srsd_are_two_methods_of_one_law_and_say_not_which(tmp_path, capsys):
    pairs = srsd.items()
    assert pairs["problem"].nunique() == srsd.LAWS and (pairs.groupby("problem").size() == 2).all()
    best = pairs.groupby("problem")[list(srsd.MEASURES.values())].agg(["min", "max"])
    assert (best["r2_score"]["max"] >= best["r2_score"]["min"]).all()
    assert srsd.main(["sheets", "--raters", "2", "--out", str(tmp_path)]) == 0
    path = capsys.readouterr().out.splitlines()[0]
    sheet = pd.read_csv(path, dtype=str)
    assert list(sheet) == ["item", "law", "estimate", "nearness"] and len(sheet) == 2 * srsd.LAWS
    near = sheet["item"].map(pairs["normalized_edit_distance"]).map(lambda d: str(5 - round(4 * d)))
    sheet.assign(nearness=near).to_csv(path, index=False)
    assert srsd.main(["read", path]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[-1].split()[0] == "normalized_edit_distance" and float(told[-1].split()[1]) < -0.95
    assert srsd.main(["sheets", "--out", str(tmp_path)]) == 2
    assert "is there already" in capsys.readouterr().err


def test_people_and_judge_are_joined_by_the_answer(tmp_path, capsys):
    from rediscover.problems import problems

    answers = pd.DataFrame({"problem": problems("passages")[:30:3], "description": "d"})
    answers = answers.assign(
        latex=[f"x = {k}" for k in range(10)], **dict.fromkeys(passages.RUBRICS, [1, 2, 3, 4, 5] * 2)
    )
    answers.to_csv(tmp_path / "model.csv", index=False)
    given = ["--answers", str(tmp_path / "model.csv")]
    assert passages.main(["sheets", "--out", str(tmp_path / "sheets"), *given]) == 0
    path = capsys.readouterr().out.strip()
    sheet = pd.read_csv(path, dtype=str)
    assert "rubric" not in sheet and set(passages.RUBRICS) < set(sheet)
    judge = passages.items(tmp_path / "model.csv")["Equivalence"]
    sheet.assign(Equivalence=sheet["item"].map(judge).astype(str)).to_csv(path, index=False)
    assert passages.main(["read", path, *given]) == 0
    told = capsys.readouterr().out.splitlines()
    assert len(told) == 3 and told[-1].split()[:2] == ["Equivalence", "1"]
    (tmp_path / "bad.csv").write_text("problem\npassages/attention-1\n")
    assert passages.main(["read", path, "--answers", str(tmp_path / "bad.csv")]) == 2
    assert "has no column 'latex'" in capsys.readouterr().err

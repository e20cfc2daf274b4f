"""The tables of the studies of differential equations, from hand-made scores."""

import numpy as np
import pandas as pd
import pytest

from rediscover.report import dynamics as study


def scored(**columns):
    base = {
        "problem": "odes/4",
        "method": "sindy",
        "snr": np.inf,
        "nmse_power": 1e-2,
        "complexity_mdbench": 3.0,
    }
    rows = [{**base, "identified": 0.0, "seed": 0, **row} for row in columns["rows"]]
    return pd.DataFrame(rows)


def test_cells_are_the_same_if_power_and_complexity_are():
    """Published for SINDy: I4 1e-2 with 3 nodes, I1 a check mark."""
    table = study.beside(
        scored(
            rows=[
                {},
                {"problem": "odes/1", "identified": 1.0},
                {"problem": "odes/5", "nmse_power": 0.2, "complexity_mdbench": 6.0},
                {"problem": "odes/4", "snr": 20.0, "nmse_power": 5.0},
            ]
        ),
        ("mdbench_table_a5",),
    ).set_index("dataset")
    assert table["same"].to_dict() == {"I4-D1": True, "I1-D1": True, "I5-D1": False}
    assert table.loc["I4-D1", "ours"] == table.loc["I4-D1", "published"] == "1e-2 (3)"
    assert table.loc["I5-D1", "ours"] == "1e-1 (6)" and table.loc["I5-D1", "published"] == "1e-1 (5)"


def test_matches_count_marks_found_again_and_gained():
    table = pd.DataFrame(
        {
            "method": ["A", "A", "A"],
            "published": ["found", "found", "1e0 (3)"],
            "ours": ["found", "-", "found"],
            "same": [True, False, False],
        }
    )
    assert study.matches(table).loc["A"].to_dict() == {
        "cells": 3,
        "same": 1,
        "marks": 2,
        "again": 1,
        "gained": 1,
    }


def test_every_published_cell_has_a_verdict():
    table = study.beside(scored(rows=[{}]), ("mdbench_table_a5",))
    ledger = study.ledger(table, {"Table A5": "mdbench_table_a5"})
    assert len(ledger) == 280 and ledger["verdict"].notna().all()
    assert (ledger["verdict"] == "reproduced").sum() == 1


def test_a_signed_rank_test_states_its_pairs():
    rows = [
        {"problem": f"odes/{i}", "method": name, "nmse_power": value}
        for i in range(1, 7)
        for name, value in (("sindy", 1.0 * i), ("operon", 2.0 * i))
    ]
    rows += [
        {"problem": "odes/7", "method": "sindy"},
        {"problem": "odes/7", "method": "operon", "nmse_power": np.inf},
    ]
    row = study.compared(scored(rows=rows), "sindy", "operon", "nmse_power", [np.inf])
    assert row["n_pairs"] == 6 and row["W"] == 0 and row["p_less"] == pytest.approx(1 / 64)


def test_labels_are_the_published_names():
    assert study.label("odes/63") == "I63-D4" and study.label("pdes/ns_channel") == "NS (Channel)"

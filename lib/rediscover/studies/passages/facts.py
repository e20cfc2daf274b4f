"""What README, paper and essays state of formulas from text in numbers."""

import json
import math
import re
from typing import Any

import pandas as pd

from ...report.facts import Interval, how_many, one, table

ASKED = {  # models whose replies are in the repository
    "small": "Qwen2.5-Coder-0.5B-Instruct-Q4_K_M-1d9614638d18",
    "middle": "Qwen2.5-Coder-1.5B-Instruct-Q4_K_M-cc324af070c2",
}
LONG = 5  # times the true formula: hardly a formula any more


def facts() -> dict[str, Any]:
    """Name -> value, or value and form."""
    runs, ledger, density = table("passages_runs"), table("passages_ledger"), table("passages_density")
    corpus = one(table("passages_table1"), venue="Total", unit="strings")
    entries = one(table("passages_table1"), venue="Total", unit="entries")["total"]
    scores = table("passages_table3").set_index("model")
    models = scores.loc[:"Qwen3-235B", "lexicality"]
    oracle = one(table("passages_bundled"), method="oracle")
    text = ledger.query("table == 'Sections 5 and 6'")["verdict"]
    coefficients = ledger.query("table == 'Figure 6, released notebook'")["verdict"]
    tables = ledger.query("table in ('Table 1', 'Table 3')")["verdict"]
    lowest = one(ledger, column="range of Validity and Appropriateness scores (1-5 scale)")["low"]
    coverage = one(ledger, column="range of Coverage scores (1-5 scale)")["high"]
    shortfall = one(ledger, column='Syntax shortfall against Lexicality ("higher error")')["measured"]
    rubrics = one(ledger, column="number of metrics on which humans score above the LLM judge")["measured"]
    claim = one(table("passages_claims"), claim_id="ST-10")
    (ahead,) = re.findall(r"DeepSeek-R1 is ahead of (\d+) of", claim["finding"])
    return {
        "count": runs["problem"].nunique(),
        "sections": runs["subset"].nunique(),
        "papers": corpus["papers"],
        "strings": corpus["total"],
        "entries": entries,
        "rows": _rows_released(),
        "copy.lexicality": (scores["lexicality"]["copy_last_equation"], ".0f"),
        "models.lexicality_least": (models.min(), ".0f"),
        "models.lexicality_most": (models.max(), ".0f"),
        "truth.syntax": (scores["syntax"]["oracle"], ".0f"),
        "bundled.syntax": oracle["syntax"],
        "bundled.parse_failures": (oracle["parse_failures"], ".0%"),
        **_alignment(),
        **_pooled(),
        "coefficients": (coefficients == "reproduced").sum(),
        "text.numbers": (text.isin(("reproduced", "differs", "undecided")).sum(), "word"),
        "text.differ": ((text == "differs").sum(), "word"),
        "text.reproduced": ((text == "reproduced").sum(), "word"),
        "text.undecided": ((text == "undecided").sum(), "word"),
        "tables.back": how_many(tables == "reproduced"),
        "table3.reproduced": ledger.query("table == 'Table 3' and verdict == 'reproduced'").shape[0],
        "range.low": (float(lowest), ".1f"),
        "range.coverage": (float(coverage), ".3f"),
        "shortfall": (float(shortfall), ".1f"),
        "venues": " and ".join(density.query("venue_p_holm < 0.05")["score"][::-1]),
        "rubrics_above": (float(rubrics), "word"),
        "deepseek.ahead": (int(ahead), "word"),
        **_asked(runs),
    }


def _asked(runs):
    """The models that were asked here: how far behind a copy of the formula before, by the form of their replies."""
    gaps, found = table("passages_over_copy"), {}
    texts = runs.assign(latex=runs["solution"].map(lambda text: json.loads(text)["latex"]))
    texts = texts.pivot(index="problem", columns="method", values="latex")
    scores = table("passages_scores").pivot(index="problem", columns="method", values="structure_distance")
    for key, model in ASKED.items():
        gap = one(gaps, model=model)  # whoever records another model has a row more
        lengths = texts[model].str.len()
        plain = (lengths > 0) & (lengths <= LONG * texts["oracle"].str.len())
        found |= {
            f"{key}.over_copy": (Interval(gap["value"], gap["low"], gap["high"]), ".2f"),
            f"{key}.empty": (lengths == 0).sum(),
            f"{key}.long": (~plain & (lengths > 0)).sum(),
            f"{key}.plain": plain.sum(),
            f"{key}.plain_over_copy": ((scores[model] - scores["copy_last_equation"])[plain].mean(), ".2f"),
        }
    return found


def _rows_released():
    rows = table("passages_models")
    ends = [rows[[end, "n_pairs"]].set_axis(["model", "n"], axis=1) for end in "ab"]
    return pd.concat(ends).groupby("model")["n"].max().sum()


def _alignment():
    """Spearman's correlation of judge and people, and Cohen's kappa, rows paired by keys or by position."""
    whole = table("passages_alignment").set_index(["pairing", "rubric", "model"]).sort_index()
    keys, validity = whole.loc["keys", "Equivalence"], whole.loc["keys", "Validity"]
    others = whole.loc["position", "Equivalence"]["spearman"]
    one_model = others.pop("DeepSeek-R1")
    return {
        "alignment.models": len(keys),
        "alignment.models.word": (len(keys), "word"),
        "alignment.entries": keys["n"].unique().item(),
        "alignment.least": (keys["spearman"].min(), ".2f"),
        "alignment.most": (keys["spearman"].max(), ".2f"),
        "alignment.ends": (math.floor(10 * keys["low"].min()) / 10, ".1f"),
        "alignment.validity": (validity["spearman"].max(), ".2f"),
        "position.least": (others.min(), ".2f"),
        "position.most": (others.max(), ".2f"),
        "position.deepseek": (one_model, ".2f"),
        "example": _example(whole),
        "kappa.least": (keys["kappa"].min(), ".2f"),
        "kappa.most": (keys["kappa"].max(), ".2f"),
        "kappa.keys": (whole.loc["keys"]["kappa"].median(), ".2f"),
        "kappa.position": (whole.loc["position"]["kappa"].median(), ".2f"),
    }


def _example(whole):
    """The model whose correlation changes most when rows are joined on keys."""
    pairs = whole["spearman"].xs("Equivalence", level="rubric").unstack("pairing")
    name = (pairs["keys"] - pairs["position"]).idxmax()
    found: dict[str, Any] = {pairing: (pairs.loc[name, pairing], ".2f") for pairing in ("position", "keys")}
    return found | {"model": name}


def _pooled():
    """Spearman's correlation over all models, of the language model and of the judge by rules."""
    whole = table("passages_agreement").query("pairing == 'keys'").set_index(["judge", "pooled"])
    model, rules = whole.loc["language model"]["spearman"], whole.loc["rule judge"]
    small = rules["spearman"][["Validity", "Coverage", "Appropriateness"]].abs().max()
    return {
        "pooled.scores": rules["n"]["Validity"],
        "pooled": {rubric: (model[rubric], ".2f") for rubric in ("Equivalence", "Clarity", "Validity")},
        "rules.equivalence": (rules["spearman"]["Equivalence"], ".2f"),
        "rules.others": (small, ".0f" if small < 0.05 else ".1f"),
    }

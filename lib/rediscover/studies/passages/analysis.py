"""Tables and tests of the text-to-equation study; its figures and verdicts are in modules beside this one."""

import json
import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy.stats

from ... import methods
from ...methods.llm_text import recorded
from ...metrics import latex
from ...problems import passages
from ...report import statistics as agreement
from ...system import upstream_files
from . import judge
from . import scores as scores

GROUPS = {"2-5": (2, 5), "6-10": (6, 10), "11+": (11, 99)}
STORED = {"levenshtein": "levenshtein_similarity"}
SCORES = ("lexicality", "syntax", *passages.RUBRICS)
# Without a model and without randomness.
WRITERS = ("oracle", "copy_last_equation", "retrieve_equation", "skeleton_template")


@dataclass(frozen=True)
class Released:
    """What SciText2Eq released: outputs with stored metrics, judge and human scores, and a row per paper."""

    outputs: pd.DataFrame
    judged: pd.DataFrame
    human: pd.DataFrame
    papers: pd.DataFrame
    entries: pd.DataFrame


BUNDLED = "The corpus bundled with this repository, not the 170 papers of SciText2Eq."
NOT_ASKED = "the profile uses the bundled corpus only; the released files are read by quick and paper"
NOT_HERE = (
    "the released files (no licence, so none are bundled) are neither on this machine nor can be downloaded: "
    f"connect to the internet once or set {upstream_files.MIRROR}"
)
FOUND = "released files, at the pinned commit: no licence stated, read here and not passed on"


def released_data(wanted: bool = True) -> tuple[Released | None, str]:
    """The released files, from mirror, cache or network, and where they are from; or None and why not.

    Parameters
    ----------
    wanted : bool
        False reads nothing and downloads nothing: the study is of the bundled corpus alone.
    """
    if not wanted:
        return None, NOT_ASKED
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", upstream_files.LicenceWarning)  # what is returned says it, once
            for repository in (latex.TOKENIZER, passages.REPOSITORY):
                upstream_files.fetch_all(repository)
    except upstream_files.ReleasedError:
        return None, NOT_HERE
    outputs = passages.released_outputs().rename(columns=STORED)
    outputs["lexicality"] = outputs[list(scores.LEXICAL)].mean(axis=1)
    outputs["syntax"] = 1 - outputs["ted"]
    found = passages.released_papers()
    papers = pd.DataFrame(
        {
            "paper_id": [paper.id for paper in found],
            "venue": [passages.venue(paper.id) for paper in found],
            "entries": [len(paper.equations) for paper in found],
            "strings": [sum(len(entry.equations) for entry in paper.equations) for paper in found],
        }
    )
    entries = pd.DataFrame(
        [
            {"paper_id": paper.id, "equation_id": int(entry.number), "position": i, "length": len(entry.context)}
            for paper in found
            for i, entry in enumerate(paper.equations)
        ]
    )
    judged, human = passages.released_scores("judge"), passages.released_scores("human")
    return Released(outputs, judged, human, papers, entries), FOUND


def grouped(counts) -> pd.Series:
    """Density group of each count of equations."""
    edges = [low - 1 for low, _ in GROUPS.values()] + [99]
    return pd.cut(counts, edges, labels=list(GROUPS)).astype(str)


def writers(names, folder="records") -> list:
    """Methods of these names; in the place of ``llm_text`` every model that `make generate` has recorded, if any."""
    models = recorded(folder)
    return [writer for name in names for writer in (models if name == "llm_text" and models else [name])]


def named(records: pd.DataFrame) -> pd.DataFrame:
    """Runs of a grid with the recorded language models under their own names."""
    models = records["settings"].map(lambda settings: json.loads(settings).get("model"))
    ours = (records["method"] == "llm_text") & (records["status"] != "unavailable")
    return records.assign(method=records["method"].mask(ours, models))


def rule_judged(records, chosen) -> pd.DataFrame:
    """Scores of the rule judge on every answer, mean per method."""
    known = {problem.id: problem for problem in chosen}
    rows = []
    for record in records[records["status"] == "ok"].itertuples():
        first = json.loads(record.candidates)[0]
        description = (first.get("notes") or {}).get("description", "")
        answer = first["solution"]["latex"]
        rows.append({"method": record.method, **judge.rule_scores(known[record.problem], answer, description)})
    return pd.DataFrame(rows).groupby("method", sort=False).mean()


def table1(papers: pd.DataFrame) -> pd.DataFrame:
    """Papers and equations per venue, counted as strings and as entries."""
    frames = {}
    for venue, group in [*papers.groupby("venue"), ("Total", papers)]:
        row = {"papers": len(group)}
        for unit in ("strings", "entries"):
            row[f"{unit} per paper"] = group[unit].mean()
            counts = grouped(group[unit]).value_counts()
            row |= {f"{unit} {name}": int(counts.get(name, 0)) for name in GROUPS}
        frames[venue] = row
    return pd.DataFrame(frames).T.loc[[*passages.VENUES, "Total"]]


def by_density(data: Released, unit: str) -> pd.DataFrame:
    """Lexicality, Syntax and rubric means by density group, all models pooled, counting `unit` per paper."""
    group = data.papers.set_index("paper_id")[unit].pipe(grouped)
    automatic = data.outputs.assign(group=data.outputs.paper_id.map(group))
    judged = data.judged.assign(group=data.judged.paper_id.map(group))
    left = automatic.groupby("group")[["lexicality", "syntax"]].mean()
    return left.join(judged.groupby("group")[list(passages.RUBRICS)].mean()).loc[list(GROUPS)]


def peak(data: Released, score: str, group: str = "6-10") -> pd.DataFrame:
    """How far papers of a density group are above each other group in an automatic score, with 95 % intervals.

    Returns
    -------
    DataFrame indexed by the other group: mean (difference of the groups' means over rows), low, high; papers are drawn
    """
    of = data.outputs["paper_id"].map(data.papers.set_index("paper_id")["entries"].pipe(grouped))
    rows = {}
    for other in (name for name in GROUPS if name != group):
        part = data.outputs[of.isin([group, other])]
        scored = np.column_stack([part[score], of[part.index] == group])
        found = agreement.bootstrap(scored, _contrast, clusters=part["paper_id"], n=1000)
        rows[other] = dict(zip(("mean", "low", "high"), found, strict=True))
    return pd.DataFrame(rows).T


def _contrast(rows) -> float:
    """Mean of the rows with a 1 in the second column, less that of the others."""
    inside = rows[:, 1] == 1
    return rows[inside, 0].mean() - rows[~inside, 0].mean()


def paper_means(data: Released) -> pd.DataFrame:
    """One row per paper: mean of each score over entries and models, with venue and counts."""
    automatic = data.outputs.groupby("paper_id")[["lexicality", "syntax"]].mean()
    judged = data.judged.groupby("paper_id")[list(passages.RUBRICS)].mean()
    return data.papers.set_index("paper_id").join(automatic).join(judged)


def density_tests(data: Released) -> pd.DataFrame:
    """Rank correlation with the number of entries and of strings, and the venue test, per score over 170 papers."""
    table = paper_means(data)
    rows = {}
    for score in SCORES:
        venue = agreement.kruskal_wallis(table[score], table["venue"])
        by_unit = {unit: scipy.stats.spearmanr(table[unit], table[score]) for unit in ("entries", "strings")}
        rows[score] = {
            **{f"rho, {unit}": found.statistic for unit, found in by_unit.items()},
            **{f"p, {unit}": found.pvalue for unit, found in by_unit.items()},
            "venue H": venue.statistic,
            "venue p": venue.p,
        }
    frame = pd.DataFrame(rows).T
    return frame.assign(**{"venue p, Holm": agreement.holm(frame["venue p"])})


def by_venue(data: Released) -> pd.DataFrame:
    """Means per venue of the paper's ten scores, all models pooled, on a scale of 0 to 1 (rubrics: (score - 1) / 4)."""
    venue = data.papers.set_index("paper_id")["venue"]
    automatic = data.outputs.groupby(data.outputs.paper_id.map(venue))[[*scores.LEXICAL, "syntax"]].mean()
    judged = data.judged.groupby(data.judged.paper_id.map(venue))[list(passages.RUBRICS)].mean()
    return automatic.join((judged - 1) / 4).loc[list(passages.VENUES)]


def density_model(data: Released, outcome: str = "Equivalence") -> pd.DataFrame:
    """Effect of density on a judge score with position and context length held fixed, papers as clusters."""
    frame = data.judged.merge(data.entries, on=passages.KEYS).merge(data.papers, on="paper_id")
    frame["log length"] = np.log1p(frame["length"])
    return agreement.mixed_model(frame, outcome, ["entries", "position", "log length"], "paper_id")


def alignment(data: Released) -> pd.DataFrame:
    """Agreement of judge and people per model and rubric: rows paired by position as published, and joined on keys."""
    rows = []
    for model in passages.MODELS:
        human = data.human[data.human.model == model].drop(columns="model")
        drawn = passages.judged_in_notebook_order(model, data.judged).drop(columns="model")
        for pairing, pair in (("position", agreement.pair_by_position), ("keys", agreement.pair_by_key)):
            pairs = pair(drawn, human, passages.KEYS)
            for rubric in passages.RUBRICS:
                found = agreement.agreement(pairs[f"{rubric}_a"], pairs[f"{rubric}_b"])
                rows.append({"model": model, "rubric": rubric, "pairing": pairing, **found})
    return pd.DataFrame(rows)


def rated(data: Released) -> pd.DataFrame:
    """Scores of judge and people, joined on keys: a row for each model and entry that both have scored."""
    return data.judged.merge(data.human, on=["model", *passages.KEYS], suffixes=(" judge", " people"))


def with_intervals(aligned: pd.DataFrame, data: Released) -> pd.DataFrame:
    """`alignment` with the 95 % interval of Spearman on keys, papers drawn as clusters: columns low and high.

    NaN where all scores of one side are equal in some draw, as nearly all are: there is no correlation then.
    """
    rows = []
    for model, part in rated(data).groupby("model", sort=False):
        for rubric in passages.RUBRICS:
            scored = part[[f"{rubric} judge", f"{rubric} people"]]
            _, low, high = agreement.bootstrap(scored, _spearman, clusters=part["paper_id"], n=1000)
            rows.append({"model": model, "rubric": rubric, "pairing": "keys", "low": low, "high": high})
    return aligned.merge(pd.DataFrame(rows), how="left", on=["model", "rubric", "pairing"])


def spearman_leads(data: Released, model: str, rubric: str = "Equivalence") -> pd.DataFrame:
    """How much better people and judge agree on a model than on each other one: difference of Spearman on keys.

    The rated entries are the same for all models, so that a draw of papers is one for both of a pair.
    """
    wide = rated(data).pivot(index=passages.KEYS, columns="model", values=[f"{rubric} judge", f"{rubric} people"])
    papers, rows = wide.index.get_level_values("paper_id"), {}
    for other in (name for name in passages.MODELS if name != model):
        both = wide.swaplevel(axis=1)[[model, other]].dropna()
        found = agreement.bootstrap(
            both, lambda drawn: _spearman(drawn[:, :2]) - _spearman(drawn[:, 2:]), clusters=papers, n=1000
        )
        rows[other] = dict(zip(("mean", "low", "high"), found, strict=True))
    return pd.DataFrame(rows).T


def _spearman(pairs) -> float:
    return agreement.spearman(pairs[:, 0], pairs[:, 1])


def side_by_side(aligned: pd.DataFrame, coefficient: str = "spearman") -> pd.DataFrame:
    """A coefficient per model for each rubric, position beside keys."""
    return (
        aligned.pivot(index="model", columns=["rubric", "pairing"], values=coefficient)
        .loc[list(passages.MODELS), list(passages.RUBRICS)]
        .pipe(lambda t: t.set_axis([f"{rubric} ({pairing})" for rubric, pairing in t.columns], axis=1))
    )


def pooled(data: Released) -> pd.DataFrame:
    """Agreement with people over the 500 rated entries: per rubric over all models, and per model over all rubrics.

    Returns
    -------
    DataFrame indexed by what is pooled: the coefficients of `metrics.agreement.agreement`, of the language-model judge
    (rows joined on keys, and paired by position as upstream_files) and of the rule judge, which needs no model.
    """
    human = data.human.set_index(["model", *passages.KEYS])[list(passages.RUBRICS)]
    order = [passages.judged_in_notebook_order(model, data.judged) for model in passages.MODELS]
    raters = {
        "language model, on keys": data.judged.set_index(human.index.names).loc[human.index],
        "language model, by position": pd.concat(order).set_axis(_by_model(human).index),
        "rule judge, on keys": rule_judged_again(human.index),
    }
    people = _by_model(human)
    rows = []
    for rater, given in raters.items():
        given = given[list(passages.RUBRICS)].reindex(people.index)
        parts = {rubric: (given[rubric], people[rubric]) for rubric in passages.RUBRICS}
        for model in passages.MODELS:
            parts[model] = (given.loc[model].to_numpy().ravel(), people.loc[model].to_numpy().ravel())
        rows += [{"pooled": name, "judge": rater, **agreement.agreement(*pair)} for name, pair in parts.items()]
    return pd.DataFrame(rows).set_index(["pooled", "judge"])


def _by_model(human: pd.DataFrame) -> pd.DataFrame:
    """Human scores with the models in the order of the tables, the entries of each in the order of its file."""
    return pd.concat([human.loc[[model]] for model in passages.MODELS])


def rule_judged_again(wanted: pd.Index) -> pd.DataFrame:
    """The rule judge on released answers: a row for each model, paper and entry of `wanted`."""
    known = {(p.paper, p.number): p for paper in passages.released_papers() for p in passages.passages_of(paper)}
    answers = passages.released_answers().set_index(wanted.names).loc[wanted]
    latex.parse({part for text in answers["formula"] for part in latex.parts(latex.clean(text))})
    rows = [judge.rule_scores(known[row.Index[1:]], row.formula, row.description) for row in answers.itertuples()]
    return pd.DataFrame(rows, index=wanted)


def written_without_a_model(names=WRITERS) -> pd.DataFrame:
    """The baselines and the truth on the released corpus: the scores of Table 3 for each writer and entry."""
    given = [p for paper in passages.released_papers() for p in passages.passages_of(paper)]
    tables = []
    for name in names:
        writer = methods.method(name)
        answers = [latex.clean(writer.solve(p)[0].solution["latex"]) for p in given]
        found = latex.score_pairs(answers, [latex.clean(p.truth["latex"]) for p in given])
        tables.append(found.assign(model=name))
    table = pd.concat(tables, ignore_index=True)
    return table.assign(lexicality=table[list(scores.LEXICAL)].mean(axis=1), syntax=1 - table["ted"])


def table3(data: Released) -> pd.DataFrame:
    """Table 3 with the writers that need no model below it, in percent."""
    published = scores.table3(data.outputs)
    return pd.concat([published, scores.table3(written_without_a_model()).loc[list(WRITERS)]]).rename_axis("model")


def leads(outputs: pd.DataFrame, score: str, model: str) -> pd.DataFrame:
    """How far a model is ahead of each other on their common entries, mean and 95 % interval over papers."""
    wide = outputs.pivot(index=passages.KEYS, columns="model", values=score)
    rows = {}
    for other in (name for name in passages.MODELS if name != model):
        lead = (wide[model] - wide[other]).dropna()
        found = agreement.bootstrap(lead, clusters=lead.index.get_level_values("paper_id"), n=1000)
        rows[other] = dict(zip(("mean", "low", "high"), found, strict=True))
    return pd.DataFrame(rows).T


def model_tests(outputs: pd.DataFrame) -> pd.DataFrame:
    """Lexicality of every pair of models on their common entries: Wilcoxon, Holm, and a cluster bootstrap by paper."""
    wide = outputs.pivot(index=passages.KEYS, columns="model", values="lexicality")
    rows = []
    for i, a in enumerate(passages.MODELS):
        for b in list(passages.MODELS)[i + 1 :]:
            both = wide[[a, b]].dropna()
            test = agreement.paired_wilcoxon(both[a], both[b])
            papers = both.index.get_level_values("paper_id")
            mean, low, high = agreement.bootstrap(both[a] - both[b], clusters=papers, n=1000)
            row = {"a": a, "b": b, "n": test.n_pairs, "mean difference": mean, "low": low, "high": high}
            rows.append({**row, "effect": test.effect, "p": test.p})
    frame = pd.DataFrame(rows)
    return frame.assign(**{"p, Holm": agreement.holm(frame["p"])}).set_index(["a", "b"])


def jaccard(outputs: pd.DataFrame) -> pd.DataFrame:
    """Share of formulas with the same operators, and with an overlap of 0.8 and more, per model, in percent."""
    pairs = zip(outputs.prediction, outputs.truth, strict=True)
    found = pd.Series([latex.operator_jaccard(a, b) for a, b in pairs], index=outputs.index)
    by_model = found.groupby(outputs.model, sort=False)
    return 100 * pd.DataFrame(
        {"exact": by_model.apply(lambda j: (j == 1).mean()), "high": by_model.apply(lambda j: (j >= 0.8).mean())}
    )

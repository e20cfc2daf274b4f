"""What this study derives from the authors' files, which state no licence (see `system.derived`).

Ids, counts and scores in the order of the corpus; ratings in the order of the released files, which the authors' own
notebook pairs by position.
"""

import pandas as pd

from ... import method
from ...metrics import latex
from ...problems import passages
from ...system.derived import Table
from . import judge
from .scores import LEXICAL

STORED = [*LEXICAL, "ted"]
WRITERS = ("oracle", "copy_last_equation", "retrieve_equation", "skeleton_template")  # without a model
KEYS, MODELS, RUBRICS = passages.KEYS, passages.MODELS, list(passages.RUBRICS)


def entries() -> pd.DataFrame:
    """The corpus: paper_id, equation_id, strings (equations of the entry), length (characters of its context)."""
    rows = [
        (paper.id, int(entry.number), len(entry.equations), len(entry.context))
        for paper in passages.released_papers()
        for entry in paper.equations
    ]
    return pd.DataFrame(rows, columns=[*KEYS, "strings", "length"])


def outputs(model: str) -> pd.DataFrame:
    """A model's formulas: stored metrics, our operator_jaccard and texbleu_no_penalty, and the judge's five scores.

    Entries without a formula have the judge's scores only.
    """
    found = passages.released_outputs().query("model == @model").reset_index(drop=True)
    pairs = list(zip(found["prediction"], found["truth"], strict=True))
    found["operator_jaccard"] = [latex.operator_jaccard(*pair) for pair in pairs]
    found["texbleu_no_penalty"] = [latex.texbleu(*pair, brevity=False) for pair in pairs]
    judged = passages.released_scores("judge").query("model == @model").astype(dict.fromkeys(RUBRICS, int))
    return judged[[*KEYS, *RUBRICS]].merge(found.drop(columns=["model", "truth", "prediction"]), on=KEYS, how="left")


def _problems() -> list[passages.TextPassage]:
    return [entry for paper in passages.released_papers() for entry in passages.passages_of(paper)]


def baseline(name: str) -> pd.DataFrame:
    """The same metrics of a writer without a model, on every entry."""
    problems, writer = _problems(), method(name)
    truths = [latex.clean(problem.truth["latex"]) for problem in problems]
    formulas = [latex.clean(writer.solve(problem)[0].solution["latex"]) for problem in problems]
    keys = pd.DataFrame([(problem.paper, problem.number) for problem in problems], columns=KEYS)
    return keys.join(latex.score_pairs(formulas, truths)[STORED])


def ratings() -> pd.DataFrame:
    """The answers that people rated: model, ids, their five scores, and the rule judge's (``_rule``)."""
    people = passages.released_scores("human").astype(dict.fromkeys(RUBRICS, int))
    answers = passages.released_answers().merge(people, validate="one_to_one", how="right")
    entry = {(problem.paper, problem.number): problem for problem in _problems()}
    latex.parse({part for text in answers["formula"] for part in latex.parts(latex.clean(text))})
    rule = [
        judge.rule_scores(entry[row.paper_id, row.equation_id], row.formula, row.description)
        for row in answers.itertuples()
    ]
    return people.join(pd.DataFrame(rule).add_suffix("_rule"))


_CORPUS, _HUMAN = "Dataset/academic_dataset_Final.json", "Evaluation/data/result_csv/human_judge/human_judge"
_RATED = [f"{_HUMAN}_{names[1]}_results.csv" for names in MODELS.values()]
_RATED += [f"Evaluation/data/raw_csv/human_judge_{names[2]}.csv" for names in MODELS.values()]
_OUTPUTS = (
    "Evaluation/data/preprocessed_csv/{}_results_evaluation_table_cleaned.csv",
    "Evaluation/data/result_csv/{}_results_evaluation_table_metrics.csv",
    "Evaluation/data/result_csv/{}_results_evaluation_table_llm_judge_results.csv",
)
TABLES = {"entries": Table(entries, passages.REPOSITORY, (_CORPUS,))}
TABLES |= {
    model: Table(outputs, passages.REPOSITORY, tuple(path.format(names[0]) for path in _OUTPUTS), (model,))
    for model, names in MODELS.items()
}
TABLES |= {name: Table(baseline, passages.REPOSITORY, (_CORPUS,), (name,)) for name in WRITERS}
TABLES["ratings"] = Table(ratings, passages.REPOSITORY, (_CORPUS, *_RATED))

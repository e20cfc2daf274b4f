"""What the site has for programs: the ledger as JSON by its schema, and the problem sets with their metadata."""

import hashlib
import json
from pathlib import Path

import rediscover as rd
from rediscover.publish import collected, croissant, ledger_rows
from rediscover.runs.schema import WHOLE_LEDGER

import pandas as pd
import pytest


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files that are written beside the pages."""
    made = tmp_path_factory.mktemp("files")
    ledger_rows.write_data(made, ledger_rows.rows())
    croissant.write_sets(made, rd.problems())
    return made


SETS = sorted({id.partition("/")[0] for id in rd.problems()})


def test_ledger_as_json_is_the_table(folder):
    given, found = collected.table("ledger"), json.loads((folder / "ledger.json").read_text())
    assert found["$schema"] == "ledger.schema.json" and len(found["rows"]) == len(given)
    for text, row in zip(given.to_dict("records"), found["rows"], strict=True):
        assert list(row) == ["id", *text]
        for name, cell in text.items():
            value = row[name]
            same = value is None if not cell else float(cell) == value if isinstance(value, int | float) else True
            assert same and (not isinstance(value, str) or value == cell), (row["id"], name)
        assert json.loads(text["parameters"] or "null") == row["parameters"]
    numbers = pd.to_numeric(given["measured"], errors="coerce").notna().sum()
    assert sum(isinstance(row["measured"], int | float) for row in found["rows"]) == numbers > 500


def test_an_address_does_not_hang_on_other_rows():
    sources = collected.table("ledger")["source"]
    ids = ledger_rows.addresses(sources)
    assert ids.is_unique and ids.str.fullmatch(r"[\w-]+").all()
    alone = sources[~sources.duplicated(keep=False)].sample(100, random_state=0)
    assert ledger_rows.addresses(alone).equals(ids[alone.index])
    with pytest.raises(ValueError, match="address 'a-2-2'"):
        ledger_rows.addresses(pd.Series(["a.csv:2", "a.csv:2", "a-2.csv:2"]))


def test_the_schema_describes_every_column_and_says_no_more_than_is_there(folder):
    row = json.loads((folder / "ledger.schema.json").read_text())["$defs"]["row"]
    assert row["required"] == list(row["properties"]) == ["id", *collected.table("ledger").columns]
    assert set(row["properties"]) == {"id", *WHOLE_LEDGER}
    assert all(column["description"] for column in row["properties"].values())
    rows = ledger_rows.rows()
    missing = {name for name in row["properties"] if any(given[name] is None for given in rows)}
    assert missing == set(ledger_rows.WORDS["may_be_missing"])
    used = {name for given in rows for name in given["parameters"] or ()}
    assert used == set(row["properties"]["parameters"]["properties"])


def test_the_ledger_is_valid_by_its_schema(folder):
    jsonschema = pytest.importorskip("jsonschema")
    found, schema = (json.loads((folder / name).read_text()) for name in ("ledger.json", "ledger.schema.json"))
    jsonschema.Draft202012Validator.check_schema(schema)
    check = jsonschema.Draft202012Validator(schema)
    check.validate(found)
    for name, wrong in (("verdict", "perhaps"), ("low", "0.1"), ("kind", None), ("parameters", {"seeds": 3})):
        rows = [found["rows"][0] | {name: wrong}]
        assert not check.is_valid(found | {"rows": rows}), name


def read(folder: Path, name: str):
    about = json.loads((folder / "croissant" / f"{name}.json").read_text())
    (file,), (records,) = about["distribution"], about["recordSet"]
    return about, file, records


@pytest.mark.parametrize("name", SETS)
def test_a_set_is_as_its_metadata_say(folder, name):
    about, file, records = read(folder, name)
    path = folder / "croissant" / file["contentUrl"]
    assert file["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert file["contentSize"] == f"{path.stat().st_size} B"
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    assert [field["source"]["extract"]["column"] for field in records["field"]] == list(table)
    assert {field["source"]["fileObject"]["@id"] for field in records["field"]} == {file["@id"]}
    assert table["id"].tolist() == rd.problems(name) and table["id"].is_unique
    assert len({field["@id"] for field in records["field"]}) == len(records["field"])
    assert about["description"] and about["license"][0].endswith("/MIT.html")
    assert not [name for name in table if table[name].str.startswith("'").any()]  # no text was marked as a formula


def test_a_table_has_the_truth_as_the_package_has_it(folder):
    for name in SETS:
        for row in pd.read_csv(folder / "problems" / f"{name}.csv", dtype=str, keep_default_na=False).itertuples():
            given = rd.problem(row.id)
            assert json.loads(row.truth) == json.loads(json.dumps(dict(given.truth), default=list))
            assert (row.inputs.split(" ") if row.inputs else []) == list(given.inputs)
            assert row.outputs.split(" ") == list(given.outputs) and row.subset == given.subset


def test_sets_of_papers_are_cited_as_the_project_cites_them(folder):
    text = Path(__file__).parents[1].joinpath("CITATION.cff").read_text()
    for name, work in croissant.WORDS["cites"].items():
        assert name in SETS
        cited = read(folder, name)[0]["citeAs"]
        assert cited.endswith(work) and (cited != work) == (work in text)
    assert read(folder, min(set(SETS) - set(croissant.WORDS["cites"])))[0]["citeAs"].startswith(
        "The rediscover authors"
    )


@pytest.mark.parametrize("name", SETS)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of rdflib, which mlcroissant calls
def test_mlcroissant_reads_a_set(folder, name, caplog):
    mlcroissant = pytest.importorskip("mlcroissant")
    found = mlcroissant.Dataset(folder / "croissant" / f"{name}.json")
    issues = found.metadata.ctx.issues
    assert not issues.errors and not issues.warnings
    assert not [record for record in caplog.records if record.levelname == "WARNING"]
    table = pd.read_csv(folder / "problems" / f"{name}.csv", dtype=str, keep_default_na=False)
    for row, record in zip(table.to_dict("records"), found.records("problems"), strict=True):
        shown = {key: value.decode() if isinstance(value, bytes) else value or "" for key, value in record.items()}
        assert shown == {f"problems/{column}": cell for column, cell in row.items()}

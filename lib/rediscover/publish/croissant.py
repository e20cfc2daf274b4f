"""The problem sets as files: a table of each (``problems/<set>.csv``) and what it holds, in the format Croissant.

Croissant (docs.mlcommons.org/croissant) is JSON-LD that programs for data sets read. ``pages/croissant.yaml`` has its
names and the words of the columns; each set is described by the module of its problems and cited by CITATION.cff.
"""

import hashlib
import importlib
import inspect
import json
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from .. import __version__
from ..problems import Problem, problem
from ..system.cells import marked
from ..system.paths import root
from ..system.writing import write_text
from . import collected

WORDS: dict[str, Any] = yaml.safe_load((collected.HERE / "croissant.yaml").read_text(encoding="utf-8"))


def write_sets(folder: Path, ids: Iterable[str]) -> dict[str, int]:
    """Write ``problems/<set>.csv`` and ``croissant/<set>.json`` of each set, and return how many problems it has."""
    rows: dict[str, list[dict[str, str]]] = {}
    for id in ids:
        given = problem(id)
        rows.setdefault(given.study, []).append(_row(given))
    for name in ("problems", "croissant"):
        (folder / name).mkdir(exist_ok=True)
    for name, found in rows.items():
        path = folder / "problems" / f"{name}.csv"
        write_text(path, marked(pd.DataFrame(found)).to_csv(index=False, lineterminator="\n"))
        text = json.dumps(metadata(name, path.read_bytes()), ensure_ascii=False, indent=1)
        write_text(folder / "croissant" / f"{name}.json", text + "\n")
    return {name: len(found) for name, found in rows.items()}


def _row(given: Problem) -> dict[str, str]:
    truth = json.dumps(dict(given.truth), ensure_ascii=False, default=list)
    names = {"inputs": " ".join(given.inputs), "outputs": " ".join(given.outputs)}
    row = {"id": given.id, "title": collected.title(given), "subset": given.subset, "kind": given.kind}
    row |= names | {"truth": truth, "source": given.source}
    return {name: row[name] for name in WORDS["fields"]}


def metadata(name: str, table: bytes) -> dict[str, Any]:
    """What Croissant says of a set, given its table."""
    file, cff = f"{name}.csv", _citation_file()
    about = {
        "name": f"rediscover-{name}",
        "description": f"{_described(name)} {WORDS['note']}",
        "license": [WORDS["licence"].format(**cff), *WORDS["licences_of_sources"].get(name, [])],
        "url": WORDS["url"],
        "version": __version__,
        "datePublished": _today(),
        "citeAs": _cited(WORDS["cites"].get(name), cff),
        "creator": [{"@type": "sc:Organization", "name": author["name"]} for author in cff["authors"]],
        "keywords": cff["keywords"],
    }
    size, digest = f"{len(table)} B", hashlib.sha256(table).hexdigest()
    data = {"@id": file, "name": file, "contentUrl": f"../problems/{file}", "encodingFormat": "text/csv"}
    fields = [_field(file, column, words) for column, words in WORDS["fields"].items()]
    records = {"@id": "problems", "name": "problems", "key": {"@id": "problems/id"}, "field": fields}
    return {
        "@context": WORDS["context"],
        "@type": "sc:Dataset",
        "conformsTo": WORDS["conforms_to"],
        **about,
        "distribution": [{"@type": "cr:FileObject", **data, "contentSize": size, "sha256": digest}],
        "recordSet": [{"@type": "cr:RecordSet", **records}],
    }


def _field(file: str, column: str, words: str) -> dict[str, Any]:
    source = {"fileObject": {"@id": file}, "extract": {"column": column}}
    about = {"@id": f"problems/{column}", "name": column, "description": words, "dataType": "sc:Text"}
    return {"@type": "cr:Field", **about, "source": source}


def _described(name: str) -> str:
    """The first paragraph on a set, from the module of its problems."""
    module = importlib.import_module(f"{__package__.rpartition('.')[0]}.problems.{name}")
    return " ".join((inspect.getdoc(module) or "").partition("\n\n")[0].split())


def _citation_file() -> dict[str, Any]:
    return yaml.safe_load((root() / "CITATION.cff").read_text(encoding="utf-8"))


def _today() -> str:
    """The day, or that of SOURCE_DATE_EPOCH (reproducible-builds.org), so that a build can be repeated."""
    moment = float(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    return time.strftime("%Y-%m-%d", time.gmtime(moment))


def _cited(work: str | None, cff: dict[str, Any]) -> str:
    """A work as a citation: by its address in CITATION.cff, or as it is given; the project itself without one."""
    if work is None:
        return f"{cff['authors'][0]['name']}. {cff['title']}. Version {cff['version']}."
    for known in cff["references"]:
        if known["url"] == work:
            authors = ", ".join(f"{author['given-names']} {author['family-names']}" for author in known["authors"])
            year = f" ({known['year']})" if "year" in known else ""
            return f"{authors}{year}. {known['title']}. {work}"
    return work

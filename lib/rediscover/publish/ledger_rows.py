"""The rows of the ledger: an address for each, ``ledger.json`` with its schema, and a page for each row.

Types and words of the columns are those of `runs.schema`; ``pages/ledger.yaml`` has what a file of JSON needs besides.
"""

import json
import re
from pathlib import Path
from typing import Any

import yaml

from ..report.ledger import VERDICTS
from ..report.rules import rules
from ..report.tables import number
from ..report.verdicts import addresses
from ..runs.schema import KINDS, LEDGER, PRINTED_IN, WHOLE_LEDGER
from ..system.studies import FOLDER
from ..system.writing import write_text
from . import collected

WORDS: dict[str, Any] = yaml.safe_load((collected.HERE / "ledger.yaml").read_text(encoding="utf-8"))
NUMBERS = [name for name, (kind, _) in LEDGER.items() if issubclass(float, kind)]
COLUMNS = WHOLE_LEDGER | {name: LEDGER[name] for name in NUMBERS}
CHOICES = {"verdict": VERDICTS, "printed_in": PRINTED_IN, "rule_chosen": ("before", "after", "none")}
NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?(e[-+]?\d+)?")  # as JSON has it; other cells are texts
SCHEMA = "ledger.schema.json"


def rows() -> list[dict[str, Any]]:
    """The rows of tables/ledger.csv with an id; numbers are numbers, `parameters` an object, what is missing None."""
    ledger = collected.table("ledger")
    ledger.insert(0, "id", addresses(ledger["source"]))
    return [{name: _typed(name, text) for name, text in row.items()} for row in ledger.to_dict("records")]


def _typed(column: str, text: str) -> Any:
    if not text:
        return None
    if column == "parameters":
        return json.loads(text)
    return json.loads(text) if column in NUMBERS and NUMBER.fullmatch(text) else text


def schema() -> dict[str, Any]:
    """The JSON Schema of ``ledger.json``."""
    columns = {"id": {"type": "string", "description": WORDS["id"]}}
    columns |= {name: _column(name) for name in collected.table("ledger").columns}
    row = {"type": "object", "properties": columns, "required": list(columns), "additionalProperties": False}
    parts = {"$schema": {"const": SCHEMA}, "rows": {"type": "array", "items": {"$ref": "#/$defs/row"}}}
    about = {"title": WORDS["title"], "description": WORDS["description"]}
    whole = {"type": "object", "properties": parts, "required": list(parts), "additionalProperties": False}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **about, **whole, "$defs": {"row": row}}


def _column(name: str) -> dict[str, Any]:
    kind, words = COLUMNS[name]
    missing = ["null"] if name in WORDS["may_be_missing"] else []
    if name == "parameters":
        known = {"properties": WORDS["parameters"], "additionalProperties": False}
        return {"description": words, "type": ["object", *missing], **known}
    said = {"kind": KINDS, "rule": {key: about["words"] for key, about in rules().items()}}.get(name)
    if said:
        choices: list[dict[str, Any]] = [{"const": key, "description": text} for key, text in said.items()]
        return {"description": words, "anyOf": choices + [{"type": "null"} for _ in missing]}
    if name in CHOICES:
        return {"description": words, "enum": list(CHOICES[name])}
    held = [json_name for json_name, python in (("number", float), ("string", str)) if issubclass(python, kind)]
    return {"description": words, "type": [*held, *missing]}


def write_data(folder: Path, found: list[dict[str, Any]]) -> None:
    """Write the rows, one a line, as ``ledger.json``, and the schema beside it."""
    lines = ",\n".join(json.dumps(row, ensure_ascii=False, allow_nan=False) for row in found)
    write_text(folder / "ledger.json", f'{{"$schema": "{SCHEMA}", "rows": [\n{lines}\n]}}\n')
    write_text(folder / SCHEMA, json.dumps(schema(), ensure_ascii=False, indent=1) + "\n")


def pages(write: Any, questions: dict[str, str]) -> None:
    """The page of the ledger, a page for each row, and both as data.

    Parameters
    ----------
    write : site.Writer
    questions : notebook -> its title
    """
    found = rows()
    write_data(write.folder, found)
    choices = {
        "paper": list(dict.fromkeys(row["paper"] for row in found)),
        "method": sorted({row["method"] for row in found} - {None}, key=str.lower),
        "verdict": list(VERDICTS),
        "kind": list(KINDS),
    }
    listed = [row | {"measured": _ours(row)} for row in found]
    papers = set(collected.table("claims")["paper"])
    beside = [row["paper"] for row in found if row["paper"] not in papers]
    write("ledger", "ledger", "Ledger", ledger=listed, choices=choices, beside=beside)
    folders = {path.name: path.parent.relative_to(FOLDER.parents[2]) for path in FOLDER.glob("*/published/*.csv")}
    for place, row in enumerate(found):
        file, _, line = row["source"].partition(":")
        write(
            f"ledger/{row['id']}",
            "row",
            f"{row['row']}, {row['column']} ({row['paper']}, {row['table']})",
            row=row,
            rule=rules().get(row["rule"]),
            words=WORDS["parameters"],
            file=(folders[file] / file).as_posix(),
            line=line,
            question=questions.get(row["notebook"], row["notebook"]),
            around=[found[near]["id"] if 0 <= near < len(found) else "" for near in (place - 1, place + 1)],
        )


def _ours(row: dict[str, Any]) -> str:
    value = row["measured"]
    return number(value) if isinstance(value, int | float) else value or ""


def printed(text: str | None) -> str:
    """A published value in words where it is a power of ten and a complexity, or nothing.

    Examples
    --------
    >>> printed("approximate -6 15"), printed("identified"), printed(None)
    ('about 1e-6, 15 nodes', 'identified', '')
    """
    return re.sub(r"^approximate (-?\d+) (\d+)$", r"about 1e\1, \2 nodes", text or "")


def digits(value: Any) -> str:
    """A number with six digits; what is none, as it is.

    Examples
    --------
    >>> digits(0.05684666666666666), digits(44356666.7), digits(12), digits("1e-1 (5)")
    ('0.0568467', '4.43567e+07', '12', '1e-1 (5)')
    """
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def listed(value: Any) -> str:
    """A parameter as text.

    Examples
    --------
    >>> listed([0.5, None, "found"]), listed([["25", 23.3, 23.4]]), listed(True)
    ('0.5, none, found', '25: 23.3 to 23.4', 'yes')
    """
    if isinstance(value, list):
        if value and all(isinstance(part, list) for part in value):
            return "; ".join(f"{text}: {digits(low)} to {digits(high)}" for text, low, high in value)
        return ", ".join(map(listed, value))
    if value is None or isinstance(value, bool):
        return "none" if value is None else "yes" if value else "no"
    return digits(value)

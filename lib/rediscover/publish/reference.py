"""The API reference: what each public module offers, from its signatures and numpydoc docstrings."""

import importlib
import inspect
import re
from html import escape
from typing import Any

MODULES = (
    "",
    "problems",
    "methods",
    "metrics",
    "expressions",
    "runs",
    "report",
    "report.statistics",
    "report.summaries",
)


def modules() -> dict[str, list[dict[str, Any]]]:
    """Module -> its entries, in the order of its ``__all__``, or by name.

    Returns
    -------
    dict
        Each entry has name, kind, signature (text) and text (HTML).
    """
    package = __package__.rpartition(".")[0]
    found = {}
    for short in MODULES:
        name = f"{package}.{short}".rstrip(".")
        offered = [_entry(entry, item) for entry, item in _offered(importlib.import_module(name))]
        found[name] = [entry for entry in offered if entry["text"]]
    return found


def _offered(module: Any) -> list[tuple[str, Any]]:
    if module.__name__.endswith(".metrics"):
        return list(module.declared().items())
    names = getattr(module, "__all__", None) or sorted(
        name
        for name, item in vars(module).items()
        if not name.startswith("_") and getattr(item, "__module__", "") == module.__name__
    )
    items = [(name, getattr(module, name)) for name in names]
    return [(name, item) for name, item in items if callable(item) or inspect.ismodule(item)]


def _entry(name: str, item: Any) -> dict[str, Any]:
    item = type(item).__call__ if inspect.ismodule(item) and callable(item) else item  # rediscover.problems
    kind = "class" if inspect.isclass(item) else "module" if inspect.ismodule(item) else "function"
    try:
        signature = str(inspect.signature(item)) if kind != "module" else ""
    except (TypeError, ValueError):
        signature = ""
    methods = []
    if kind == "class":
        own = [
            (part, value)
            for part, value in vars(item).items()
            if not part.startswith("_") and inspect.isfunction(value)
        ]
        methods = [_entry(part, value) for part, value in own if value.__doc__]
    plain = re.sub(r"rediscover\.[\w.]*\.(\w+)", r"\1", signature).replace("'", "")
    return {"name": name, "kind": kind, "signature": plain, "text": rendered(item.__doc__ or ""), "methods": methods}


def rendered(doc: str) -> str:
    """A numpydoc docstring as HTML.

    Examples
    --------
    >>> rendered("Add.\\n\\nParameters\\n----------\\nx : int\\n    What to add to.")
    '<p>Add.</p><h4>Parameters</h4><dl><dt>x : int</dt><dd>What to add to.</dd></dl>'
    """
    text = inspect.cleandoc(doc)
    parts = re.split(r"(?m)^(\w[\w ]*)\n-{3,}\n", text)
    body = _paragraphs(parts[0])
    for heading, content in zip(parts[1::2], parts[2::2], strict=True):
        body += f"<h4>{escape(heading)}</h4>" + _section(heading, content.strip("\n"))
    return body


def _section(heading: str, content: str) -> str:
    if heading in ("Examples", "Example"):
        return f'<pre tabindex="0">{escape(content)}</pre>'
    if heading in ("References", "Notes"):
        return _paragraphs(content)
    items = ""
    for block in re.split(r"(?m)^(?=\S)", content):
        term, _, about = block.partition("\n")
        if term and heading == "Attributes":
            term, _, kind = term.partition(" : ")
            about = inspect.cleandoc(about)
            about = kind + ("" if not about else ". " if about[0].isupper() else " ") + about
        if term:
            items += f"<dt>{_inline(term)}</dt><dd>{_inline(inspect.cleandoc(about))}</dd>"
    return f"<dl>{items}</dl>"


def _paragraphs(text: str) -> str:
    blocks = [block for block in re.split(r"\n\s*\n", text.strip()) if block]
    return "".join(
        f'<pre tabindex="0">{escape(block)}</pre>' if block.startswith((">>>", "    ")) else f"<p>{_inline(block)}</p>"
        for block in blocks
    )


def _inline(text: str) -> str:
    return re.sub(r"(``?)(.+?)\1", r"<code>\2</code>", escape(" ".join(text.split()), quote=False))

"""The guides, docs/*.md, as pages of the site."""

import re
from pathlib import Path

from markupsafe import Markup

from ..system.paths import root
from . import stories

PAGE = re.compile(r"(?:\.\./(?:docs|notebooks)/)?([\w-]+)\.(md|ipynb)(#.*)?")
ROWS = 24  # of a table, beyond which it is scrolled


def guides() -> list[Path]:
    """The guides in the repository."""
    return sorted((root() / "docs").glob("*.md"))


def title(path: Path) -> str:
    """What a guide is called: its first line."""
    return path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")


def rendered(text: str) -> Markup:
    """Markdown of a guide as HTML: links lead to pages of the site, and headings have the names that GitHub gives them.

    Parameters
    ----------
    text : Markdown, formulas between dollar signs

    Returns
    -------
    Markup

    Examples
    --------
    >>> rendered("See [words](words.md) and [a file](../lib/a.py).")
    Markup('<p>See <a href="words.html">words</a> and a file.</p>')
    """
    from nbconvert.filters import markdown2html

    page = markdown2html(stories.drawn(text)).strip()
    page = re.sub(r'<a class="anchor-link".*?</a>', "", page)
    page = re.sub(r'<h(\d) id="[^"]*">(.*?)</h\1>', _heading, page, flags=re.S)
    page = re.sub(r'<a href="([^"]*)">(.*?)</a>', _link, page, flags=re.S)
    return Markup(stories.scrollable(stories.sized(page), ROWS))


def _heading(match: re.Match) -> str:
    level, shown = match.groups()
    words = re.sub(r"[^\w\s-]", "", re.sub("<[^>]*>|&[^;]*;", "", shown).lower())
    return f'<h{level} id="{re.sub(r"[ ]", "-", words)}">{shown}</h{level}>'


def _link(match: re.Match) -> str:
    """A link to a guide or a notebook as one to its page; the words alone where it is to another file."""
    target, shown = match.groups()
    if "://" in target or target.startswith("#"):
        return match[0]
    found = PAGE.fullmatch(target)
    if not found:
        return shown
    name, kind, anchor = found.groups()
    return f'<a href="{"../notebook/" * (kind == "ipynb")}{name}.html{anchor or ""}">{shown}</a>'

"""Notebooks as parts of pages: formulas typeset, pictures described, audits with an anchor each, code folded.

A cell whose metadata have ``jupyter.source_hidden`` shows its code when asked, as in JupyterLab. Run as a program
(``make html``), this writes each notebook as a page of its own into build/html.
"""

import functools
import itertools
import re
from pathlib import Path
from typing import Any

from ..report import audits
from ..system import arguments
from ..system.paths import root
from ..system.writing import write_text
from .collected import HERE
from .typeset import mathml

_MATH = re.compile(r"(`[^`]*`)|(?<!\\)\$\$(.+?)\$\$|(?<!\\)\$(.+?)(?<!\\)\$", flags=re.S)


def notebooks() -> list[Path]:
    """The committed notebooks."""
    return sorted((root() / "notebooks").glob("[0-9]*.ipynb"))


def title(notebook: Any) -> str:
    """The question that a notebook opens with."""
    return notebook.cells[0].source.splitlines()[0].removeprefix("# ")


def story(notebook: Any) -> str:
    """An executed notebook as an HTML fragment."""
    from nbconvert import HTMLExporter

    texts = described()
    for place, (before, _) in enumerate(audits.pairs(notebook), 1):
        before.source = f'<a id="audit-{place}"></a>\n\n{before.source}'
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = drawn(cell.source)
        elif any("image/png" in output.get("data", {}) for output in cell.outputs):
            named = [texts[name] for name in re.findall(r'"(\w+)"', cell.source) if name in texts]
            pictures = [output for output in cell.outputs if "image/png" in output.get("data", {})]
            for i, output in enumerate(pictures):
                text = named[min(i, len(named) - 1)] if named else "A picture made by the code above"
                output.metadata["image/png"] = {"alt": text}
    exporter = HTMLExporter(template_name="essay", extra_template_basedirs=[str(HERE)], anchor_link_text="")
    return scrollable(exporter.from_notebook_node(notebook)[0])


def scrollable(html: str, most: int = 10_000) -> str:
    """HTML whose wide parts, code and tables, can be scrolled by the keyboard; tables of more rows than `most` are cut.

    Examples
    --------
    >>> scrollable("<table></table><pre></pre>")
    '<div class="wide" tabindex="0" role="region" aria-label="Table 1"><table></table></div><pre tabindex="0"></pre>'
    """
    count = itertools.count(1)

    def framed(match: re.Match) -> str:
        wide = "wide tall" if match[0].count("<tr") > most else "wide"
        return f'<div class="{wide}" tabindex="0" role="region" aria-label="Table {next(count)}">{match[0]}</div>'

    html = re.sub(r"<table(?=[ >]).*?</table>", framed, html, flags=re.S)
    return re.sub(r"<pre(?=[ >])", '<pre tabindex="0"', html)


def page(notebook: Any) -> str:
    """An executed notebook as a page of its own, for a folder two levels below the root."""
    import jinja2

    template = jinja2.Template((HERE / "essay.html").read_text(encoding="utf-8"))
    style = (HERE / "site.css").read_text(encoding="utf-8")
    body = re.sub(r'(?<=href=")\.\./', "../../", story(notebook)).replace('.ipynb"', '.html"')
    return template.render(title=title(notebook), style=style, body=body)


def sized(html: str) -> str:
    """HTML whose pictures from figures/ are read when they are wanted, and have a place until then."""

    def lazy(match: re.Match) -> str:
        width, height = sizes()[match[1]]
        return f'<img loading="lazy" width="{width}" height="{height}"{match[0].removeprefix("<img")}'

    return re.sub(r'<img src="[^"]*figures/(\w+)\.png"', lazy, html)


@functools.cache
def sizes() -> dict[str, tuple[int, int]]:
    """Figure name -> its width and height."""
    from PIL import Image

    found = {}
    for path in sorted((root() / "figures").glob("*.png")):
        with Image.open(path) as image:
            found[path.stem] = image.size
    return found


@functools.cache
def described() -> dict[str, str]:
    """Figure name -> its text for those who cannot see it."""
    from PIL import Image

    texts = {}
    for path in sorted((root() / "figures").glob("*.png")):
        with Image.open(path) as image:
            texts[path.stem] = str(image.info["Description"])
    return texts


def drawn(text: str) -> str:
    """Markdown with each formula as MathML; code keeps its dollar signs."""

    def replace(match):
        code, display, inline = match.groups()
        if code:
            return code
        shown = mathml(" ".join((display or inline).split()), bool(display))
        return f'<span class="scroll">{shown}</span>' if display else shown

    return _MATH.sub(replace, text)


def prose(text: str) -> str:
    r"""A passage's text as HTML: formulas typeset, headings and paragraphs.

    >>> prose(r"## Method" "\n" r"Let \(x\) be a value.")
    '<p><strong>Method</strong></p><p>Let <math><mi>x</mi></math> be a value.</p>'
    """
    import html

    lines = []
    for line in filter(None, map(str.strip, text.splitlines())):
        parts = re.split(r"\\\((.+?)\\\)", line)
        shown = "".join(mathml(part) if i % 2 else html.escape(part) for i, part in enumerate(parts))
        heading = shown.startswith("#")
        lines.append(f"<p>{'<strong>' * heading}{shown.lstrip('# ')}{'</strong>' * heading}</p>")
    return "".join(lines)


def captions(folder: Path) -> dict[str, str]:
    """Table name -> caption, for the tables that a study shows (they have a LaTeX twin)."""
    found = {}
    for path in sorted(folder.glob("*.tex")):
        match = re.search(r"\\caption\{(.*)\}\\label", path.read_text())
        if match and path.with_suffix(".csv").exists():
            found[path.stem] = re.sub(r"\\text\w+\{\}|\\(.)", r"\1", match[1]) or path.stem
    return found


def main() -> None:
    """Run as a program."""
    import nbformat

    for path in notebooks():
        target = root() / "build" / "html" / f"{path.stem}.html"
        target.parent.mkdir(parents=True, exist_ok=True)
        write_text(target, page(nbformat.read(path, as_version=4)))
        print(target.relative_to(root()))


if __name__ == "__main__":
    arguments.none(__doc__)
    main()

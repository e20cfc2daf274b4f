"""The explorer: pages complete and linked, and alive in a browser (Chromium, without a head or a network)."""

import base64
import html
import json
import re
import shutil
import subprocess
import time
import urllib.request
from html.parser import HTMLParser
from pathlib import Path

import rediscover as rd
from rediscover.publish import boards, collected, ledger_rows, pictures, site, stories, typeset
from rediscover.report.rules import rules
from rediscover.runs.schema import KINDS

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

ROOT = Path(__file__).parents[1]
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SAMPLE = """srsd/I.12.1 srsd/I.27.6 surfaces/NCGS1 surfaces/AMHD2 surfaces/TCS1 odes/24 pdes/burgers cde/P002
    boolean/B01 causal/C178 passages/td-learning-1""".split()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The site with the pages of some problems, and of two notebooks; links to others are cut."""
    made = pytest.MonkeyPatch()
    some = [path for path in stories.notebooks() if path.stem.startswith(("00", "90"))]
    made.setattr(stories, "notebooks", lambda: some)
    folder = site.build(tmp_path_factory.mktemp("site"), SAMPLE).parent
    made.undo()
    return folder


class Elements(HTMLParser):
    """The elements of a page as (tag, attributes), and the headings' levels."""

    def __init__(self, path):
        super().__init__()
        self.found = []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))


def broken(folder, left_out=()):
    """Links of all pages that lead nowhere, but for pages that were not built."""
    parsed = {path: Elements(path).found for path in folder.rglob("*.html")}
    anchors = {path: {a["id"] for _, a in found if "id" in a} for path, found in parsed.items()}
    lost = []
    for path, found in parsed.items():
        for tag, attributes in found:
            target = attributes.get("src") or attributes.get("href") or ""
            if target.startswith("data:") or (tag == "a" and "://" in target) or not target:
                continue
            file, _, anchor = target.partition("#")
            leads = (path.parent / file).resolve() if file else path
            if leads.relative_to(folder.resolve()).parts[0] in left_out:
                continue
            known = leads.exists() and (not anchor or "=" in anchor or anchor in anchors.get(leads, ()))
            lost += [] if known else [f"{path.name}: {target}"]
    return lost


def test_links_resolve_and_nothing_comes_from_a_network(pages):
    assert broken(pages, left_out=("problem", "notebook")) == []
    assert not re.search(r"url\(|@import", (pages / "site.css").read_text())
    index = json.loads((pages / "search.js").read_text().removeprefix("found(").removesuffix(");\n"))
    kinds = "notebook guide study problem method claim audit reference"
    assert {kind for _, kind, _ in index} == set(kinds.split())
    assert all((pages / file.partition("#")[0]).exists() for _, _, file in index)


@pytest.mark.minutes
def test_the_whole_site_is_linked_and_light(tmp_path):
    started = time.process_time()
    site.build(tmp_path)
    assert time.process_time() - started < 180
    assert {path.relative_to(tmp_path).as_posix() for path in (tmp_path / "problem").rglob("*.html")} == {
        f"problem/{id}.html" for id in rd.problems()
    }
    assert broken(tmp_path) == []
    weights = sorted(path.stat().st_size for path in (tmp_path / "problem").rglob("*.html"))
    assert weights[len(weights) // 2] < 100_000 and weights[-1] < 2_000_000
    assert max(path.stat().st_size for path in (tmp_path / "ledger").iterdir()) < 6_000


def test_every_method_has_its_page(pages):
    assert {path.stem for path in (pages / "method").glob("*.html")} == set(collected.methods()["key"])
    assert set(rd.methods()["name"]) < set(collected.methods()["key"])
    page = (pages / "method" / "power_law.html").read_text()
    assert "<h2>Results</h2>" in page and "lib/rediscover/methods/power_law.py" in page


def test_a_problem_shows_its_equation_its_answers_and_what_is_published(pages):
    page = (pages / "problem" / "srsd" / "I.27.6.html").read_text()
    assert "<mfrac>" in page and "refractive index" in page and page.count('class="plot"') == 3
    table = page[page.index("<h2>Answers") :]
    runs = collected.runs()["srsd/I.27.6"][0]
    assert set(runs["method"]) == set(re.findall(r"method/(\w+)\.html", table))
    published = (pages / "problem" / "odes" / "24.html").read_text()
    assert published.index("<h2>Published") < published.index("<h2>Variables") < published.index("<h2>Answers")


def test_each_row_of_the_ledger_has_a_page_that_says_it_in_whole(pages):
    found = ledger_rows.rows()
    linked = [a["href"] for tag, a in Elements(pages / "ledger.html").found if a.get("href", "").startswith("ledger/")]
    assert linked == [f"ledger/{row['id']}.html" for row in found]
    for row in found[::97]:
        shown = html.unescape((pages / "ledger" / f"{row['id']}.html").read_text())
        wanted = [row[name] for name in ("paper", "table", "row", "definition", "reason", "source")]
        wanted.append(ledger_rows.printed(row["published"]))
        wanted = [text.replace(":", ", line ") if text == row["source"] else text for text in wanted if text]
        wanted += [KINDS[row["kind"]], f"notebook/{row['notebook']}.html"]
        wanted += [rules()[row["rule"]]["words"]] if row["rule"] else []
        assert [text for text in wanted if text not in shown] == [], row["id"]
        seeds = (row["parameters"] or {}).get("values", [])
        assert all(ledger_rows.digits(value) in shown for value in seeds if value is not None)


def test_leaderboards_agree_with_the_tables_of_their_notebooks():
    board = site.studies()["srsd"]["leaderboards"][0]
    found = boards.leaderboard(board).set_index("method").loc["power_law"]
    table = collected.table("srsd_table2_intervals").astype({"value": float, "low": float, "high": float})
    (row,) = table[
        (table["subset"] == "easy") & (table["method"] == "power_law") & (table["metric"] == "r2_accuracy")
    ].itertuples()
    assert [found["value"], found["low"], found["high"]] == pytest.approx(
        [100 * row.value, 100 * row.low, 100 * row.high], rel=1e-5
    )
    every = [boards.leaderboard(board) for study in site.studies().values() for board in study.get("leaderboards", [])]
    for frame in every:
        assert (
            frame["value"].between(0, 100).all() and (frame["answered"].fillna(0) <= frame["problems"].fillna(0)).all()
        )
        assert frame.loc[frame["method"].isin(["oracle", "mean"]), "rank"].isna().all()


def test_findings_have_their_facts():
    for study in site.studies().values():
        assert study.get("name") and not re.search(r"[{}]", collected.finding(study))


def test_every_picture_has_a_text(pages):
    shown = set()
    for path in pages.rglob("*.html"):
        found = [attributes for tag, attributes in Elements(path).found if tag == "img"]
        assert all(attributes.get("alt") for attributes in found), path.name
        shown |= {Path(attributes["src"]).stem for attributes in found if "figures/" in attributes["src"]}
    assert {path.stem for path in (ROOT / "figures").glob("*.png")} <= shown


def test_guides_are_pages_whose_links_stay_on_the_site(pages):
    written = {path.stem for path in (pages / "docs").iterdir()}
    assert written == {"index", *(path.stem for path in (ROOT / "docs").glob("*.md"))}
    assert 'href="docs/own-data.html"' in (pages / "index.html").read_text()
    page = (pages / "docs" / "ledger.html").read_text()
    assert 'id="kinds-of-evidence"' in page and 'href="../notebook/80_outside.html"' in page and ".md" not in page
    assert "of the five papers" not in page and "rules.yaml" in page and "rules.yaml</a>" not in page
    assert 'href="../docs/ledger.html"' in (pages / "notebook" / "90_ledger.html").read_text()


def test_lazy_pictures_keep_their_place(pages):
    for path in pages.rglob("*.html"):
        lazy = [attributes for tag, attributes in Elements(path).found if attributes.get("loading") == "lazy"]
        assert all(int(attributes["width"]) > 0 < int(attributes["height"]) for attributes in lazy), path.name


def test_the_ledger_says_which_numbers_are_of_other_sources(pages):
    ledger, claims = collected.table("ledger"), collected.table("claims")
    others = (~ledger["paper"].isin(claims["paper"])).sum()
    page = " ".join((pages / "ledger.html").read_text().split())
    assert f"print {len(ledger) - others:,} of these numbers" in page and f"{others} numbers of other sources" in page


def test_every_audit_is_on_the_page_and_leads_to_its_notebook(pages):
    links = [a["href"] for tag, a in Elements(pages / "audits.html").found if "#audit-" in a.get("href", "")]
    count = re.search(r"<h1>(\d+) audits", (pages / "audits.html").read_text())[1]
    assert len(links) == len(set(links)) == int(count) > 0


@pytest.mark.parametrize(
    "written, shown",
    [
        ("a - (b - c)", "a−(b−c)"),
        ("a + -b", "a−b"),
        ("(-a)**2", "(−a)2"),
        ("-a**2", "−a2"),
        ("a*(b + c) - 2*3", "a(b+c)−2·3"),
        ("2e-5*exp(-abs(x_1))", "2×10-5e−|x1|"),
        (
            "x_1**0.5/2",
            "<mfrac><mrow><msqrt><msub><mi>x</mi><mrow><mn>1</mn></mrow></msub></msqrt></mrow><mn>2</mn></mfrac>",
        ),
        ("where(x < 1, a, sin(b))", "{aif x<1sin(b)otherwise"),
    ],
)
def test_expressions_become_mathml(written, shown):
    drawn = typeset.formula(typeset.parse(written).tree)
    assert drawn == shown or html.unescape(re.sub("<[^>]*>", "", drawn)) == shown


def test_tex_becomes_mathml():
    assert "<msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup>" in typeset.mathml("x_1^2")
    assert "<munderover><mo>∑</mo>" in typeset.mathml(r"\sum_{i=1}^{n} x_i", display=True)
    assert "ℝ" in typeset.mathml(r"\mathbb{R}") and "&lt;" in typeset.mathml("a < b")
    assert "<mtr>" in typeset.mathml(r"\begin{cases} a & b \\ c & d\end{cases}")


@pytest.mark.parametrize(
    "tex",
    [
        r"\text{<script>alert(1)</script>}",
        r"\href{javascript:alert(1)}{x}",
        r"\style{background:url(//host)}{x}",
        r'\class{x" onload="alert(1)}{y}',
        r'\color{red" onload="alert(1)}{y}',
        "<img src=x onerror=alert(1)>_",
        "{" * 5000,
    ],
)
def test_nothing_in_tex_becomes_markup(tex):
    import xml.dom.minidom

    shown = xml.dom.minidom.parseString(typeset.mathml(tex))
    elements = shown.getElementsByTagName("*")
    assert not {element.tagName for element in elements} & {"script", "img", "a"}
    assert not {key for element in elements for key in element.attributes.keys()} & {"href", "style", "onload", "class"}


def test_truths_are_typeset_without_unknown_commands():
    import xml.dom.minidom

    for id in [*rd.problems("passages"), *rd.problems("srsd")[::7], *SAMPLE]:
        given = rd.problem(id)
        for text in typeset.equations(given, given.truth):
            xml.dom.minidom.parseString(text)
            assert text.startswith("<math") and "\\" not in text, f"{id}: {text}"


def test_formulas_are_drawn_but_not_in_code():
    drawn = stories.drawn(r"with $\frac1{n}$, `$HOME and $PATH`, 5 \$ and" "\n$$x^2\n+ 1$$")
    assert drawn.count("<math") == 2 and "`$HOME and $PATH`" in drawn and r"5 \$ and" in drawn
    assert "<mfrac><mn>1</mn><mrow><mi>n</mi></mrow></mfrac>" in drawn and 'display="block"' in drawn


def test_a_notebook_becomes_a_fragment_with_anchors_and_texts():
    picture = new_output("display_data", data={"image/png": PIXEL, "text/plain": "<Figure>"})
    cells = [
        new_markdown_cell("# Why?"),
        new_code_cell("1 + 1", outputs=[picture], execution_count=1),
        new_markdown_cell("## Audits\n\n**1. A defect.** It is here."),
        new_code_cell("2", execution_count=2, metadata={"tags": ["audit"]}),
    ]
    notebook = new_notebook(cells=cells)
    assert stories.title(notebook) == "Why?"
    fragment = stories.story(notebook)
    assert '<a id="audit-1"></a>' in fragment and 'alt="A picture made by the code above"' in fragment
    assert "<html" not in fragment and "<script" not in fragment


def test_folded_code_is_shown_when_asked_and_not_printed():
    cells = [
        new_markdown_cell("# Why?\n\nSee [the guide](../docs/own-data.md) and [another](90_ledger.ipynb)."),
        new_code_cell("drawn = 1", metadata={"jupyter": {"source_hidden": True}}, execution_count=1),
        new_code_cell("read = 2", execution_count=2),
    ]
    page = stories.page(new_notebook(cells=cells))
    (folded,) = re.findall(r"<details class=\"code\"><summary>show code</summary>(.*?)</details>", page, re.S)
    assert "drawn" in folded and "read" not in folded and "read" in page.replace(folded, "")
    assert re.search(r"@media print \{.*details\.code \{ display: none; \}", page, re.S)
    assert "<title>Why?</title>" in page and "<script" not in page
    assert 'href="../../docs/own-data.md"' in page and 'href="90_ledger.html"' in page


def test_captions_lose_their_escapes(tmp_path):
    (tmp_path / "a.csv").write_text("x\n1\n")
    (tmp_path / "a.tex").write_text(r"\caption{Tables A\_1 \& 2, 5 \%}\label{tab:a}")
    (tmp_path / "b.tex").write_text(r"\caption{no values}\label{tab:b}")
    assert stories.captions(tmp_path) == {"a": "Tables A_1 & 2, 5 %"}


def test_pictures_place_values_on_their_axes():
    svg = pictures.panel([0.0, 5.0, 10.0], [1.0, 2.0, 3.0], "x", "y")
    assert 'data-x="0,10,linear"' in svg
    ((left, low), _, (right, high)) = [map(float, pair) for pair in re.findall(r"M([\d.]+) ([\d.]+)h0", svg)]
    assert (left, right) == (pictures.LEFT, pictures.WIDTH - pictures.RIGHT)
    assert (low, high) == (pictures.HEIGHT - pictures.BOTTOM, pictures.TOP)
    assert 'data-y="0.001,10,log"' in pictures.panel([1, 2, 3], [0.001, 0.1, 10], "x", "y")


class Browser:
    """Chromium over its DevTools protocol; `errors` collects what the console complains about."""

    def __init__(self, program, profile):
        websocket = pytest.importorskip("websocket")
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0"]
        command = [program, *options, f"--user-data-dir={profile}", "about:blank"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        chosen, end = profile / "DevToolsActivePort", time.monotonic() + 60
        while not (chosen.exists() and chosen.read_text().count("\n")):
            assert time.monotonic() < end and self.process.poll() is None, "Chromium did not start"
            time.sleep(0.1)
        port = chosen.read_text().split()[0]
        (tab,) = [t for t in json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json")) if t["type"] == "page"]
        self.socket = websocket.create_connection(tab["webSocketDebuggerUrl"], timeout=60, suppress_origin=True)
        self.sent, self.errors = 0, []
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method, until=None, **parameters):
        """Send a command and read until its answer, or until an event called `until`."""
        self.sent += 1
        self.socket.send(json.dumps({"id": self.sent, "method": method, "params": parameters}))
        answer, seen = None, until is None
        while answer is None or not seen:
            message = json.loads(self.socket.recv())
            seen |= message.get("method") == until
            answer = message["result"] if message.get("id") == self.sent else answer
            kind, values = message.get("method"), message.get("params", {})
            if kind == "Runtime.exceptionThrown" or (kind == "Log.entryAdded" and values["entry"]["level"] == "error"):
                self.errors.append(json.dumps(values))
        return answer

    def open(self, path):
        self.call("Page.navigate", until="Page.loadEventFired", url=path.as_uri())

    def run(self, script):
        answer = self.call("Runtime.evaluate", expression=f"(() => {{ {script} }})()", returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not program:
        pytest.skip("no Chromium is installed")
    made = Browser(program, tmp_path_factory.mktemp("chromium"))
    yield made
    made.socket.close()
    made.process.terminate()
    made.process.wait()


SHOWN = """return [...document.querySelectorAll("tbody tr")].filter((row) => row.offsetParent !== null).length"""


def choose(browser, key, value):
    browser.run(
        f"""const one = document.querySelector('[data-filter="{key}"]');
        one.value = "{value}"; one.dispatchEvent(new Event("input"));"""
    )


def rows_of_all_kinds(pages):
    """The page of a row of each rule that has one, of one without, and the longest page."""
    ledger = collected.table("ledger")
    chosen = ledger_rows.addresses(ledger["source"])[~ledger["rule"].duplicated(keep="last")]
    longest = max((pages / "ledger").iterdir(), key=lambda path: path.stat().st_size)
    return [*(pages / "ledger" / f"{id}.html" for id in chosen), longest]


def test_pages_load_without_complaints_and_fit_a_phone(pages, browser):
    browser.call("Emulation.setDeviceMetricsOverride", width=360, height=740, deviceScaleFactor=2, mobile=True)
    for path in sorted(pages.rglob("*.html")):
        if path.parent.name in ("method", "api") and path.stem > "d":
            continue  # pages of one template
        if path.parent.name == "ledger" and path not in rows_of_all_kinds(pages):
            continue
        browser.open(path)
        assert browser.run("return document.documentElement.scrollWidth") <= 360, path.name
        broken = "return [...document.images].filter((i) => i.complete && !i.naturalWidth).map((i) => i.alt)"
        assert browser.run(broken) == [], path.name
        assert float(browser.run("return getComputedStyle(document.body).fontSize")[:-2]) >= 16
    browser.call("Emulation.clearDeviceMetricsOverride")
    assert browser.errors == []


@pytest.mark.whole  # some have twelve pages, and fonts differ
@pytest.mark.parametrize("path", stories.notebooks(), ids=lambda path: path.stem)
def test_a_notebook_is_printed_on_twelve_pages(path, browser, tmp_path):
    (tmp_path / "page.html").write_text(stories.page(nbformat.read(path, as_version=4)))
    browser.open(tmp_path / "page.html")
    printed = base64.b64decode(browser.call("Page.printToPDF", preferCSSPageSize=True)["data"])
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 12


CHECKS = (ROOT / "tests" / "accessibility.js").read_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_accessible(pages, browser, scheme):
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    chosen = [*pages.glob("*.html"), *pages.glob("study/*.html"), *pages.glob("problem/*/*.html")]
    chosen += [pages / "method" / "operon.html", pages / "api" / "rediscover.html", *pages.glob("notebook/00*.html")]
    chosen += [*rows_of_all_kinds(pages), pages / "docs" / "own-data.html"]
    for path in chosen:
        browser.open(path)
        assert browser.run(CHECKS) == [], f"{path.parent.name}/{path.name}"
    assert browser.errors == []


def test_rows_are_filtered_and_sorted(pages, browser):
    ledger = collected.table("ledger")
    browser.open(pages / "ledger.html")
    everything = browser.run(SHOWN)
    assert everything == len(ledger) > 2000
    choose(browser, "paper", "SRSD")
    mine = ledger[ledger["paper"] == "SRSD"]
    assert browser.run(SHOWN) == len(mine)
    choose(browser, "method", "gplearn")
    assert browser.run(SHOWN) == (mine["method"] == "gplearn").sum()
    assert browser.run('return document.querySelector(".filters output").textContent').split()[0] == str(
        browser.run(SHOWN)
    )
    sort = """document.querySelectorAll("th button")[1].click();
        return [...document.querySelectorAll("tbody tr")].filter((row) => row.offsetParent)
            .map((row) => row.cells[1].textContent)"""
    for sign in (1, -1):
        values = browser.run(sort)
        numbers = [float(v) for v in values if re.fullmatch(r"-?[\d.]+(e-?\d+)?", v)]
        assert len(numbers) > 5 and numbers == sorted(numbers, key=lambda v, s=sign: s * v)
        assert values[: len(numbers)] == [v for v in values if re.fullmatch(r"-?[\d.]+(e-?\d+)?", v)]
    choose(browser, "text", "no row says this")
    assert browser.run(SHOWN) == 0


def test_long_tables_are_shown_a_page_at_a_time(pages, browser):
    browser.open(pages / "methods.html")
    every, status = collected.methods(), "runs here"
    wanted = (every["status"] == status).sum()
    turn = 'document.querySelectorAll(".pages button")[1].click();'
    assert browser.run(SHOWN) == 50 < wanted
    choose(browser, "status", status)
    assert browser.run(SHOWN) == 50
    assert browser.run('return csv(document.querySelector("table"))').strip().count("\n") == wanted
    browser.run(turn)
    assert browser.run(SHOWN) == min(50, wanted - 50)
    choose(browser, "text", "operon")
    assert 0 < browser.run(SHOWN) < 50 and browser.run('return document.querySelector(".pages").hidden')


def test_a_folded_audit_is_opened_by_its_address(pages, browser):
    place = re.search(r'class="audit" id="([^"]*)"', (pages / "audits.html").read_text())[1]
    browser.open(pages / "index.html")
    address = f"{(pages / 'audits.html').as_uri()}#{place}"
    browser.call("Page.navigate", until="Page.loadEventFired", url=address)
    assert browser.run("return document.querySelectorAll('.audit details[open]').length") == 1


def test_wide_formulas_are_reached_by_keys(pages, browser):
    browser.call("Emulation.setDeviceMetricsOverride", width=360, height=740, deviceScaleFactor=2, mobile=True)
    browser.open(pages / "problem" / "srsd" / "I.27.6.html")
    scrolled = """return [...document.querySelectorAll(".scroll")].filter((e) => e.scrollWidth > e.clientWidth)
        .map((e) => [e.tabIndex, e.getAttribute("role"), e.ariaLabel])"""
    browser.run("document.querySelector('.scroll').style.width = '1rem'; void document.body.offsetWidth;")
    end = time.monotonic() + 20
    while (found := browser.run(scrolled)) != [[0, "region", "Formula"]] * len(found):
        assert time.monotonic() < end, found
    assert found
    browser.call("Emulation.clearDeviceMetricsOverride")


def test_a_view_is_in_the_address_and_can_be_taken_as_csv(pages, browser):
    browser.open(pages / "claims.html")
    choose(browser, "paper", "MDBench")
    choose(browser, "verdict", "holds")
    shown = browser.run(SHOWN)
    address = browser.run("return location.href")
    assert address.endswith("#paper=MDBench&verdict=holds") and shown > 0
    text = browser.run('return csv(document.querySelector("table"))')
    assert len(text.strip().splitlines()) == shown + 1 and text.startswith("claim,published,verdict")
    browser.open(pages / "index.html")
    browser.call("Page.navigate", until="Page.loadEventFired", url=address)
    assert browser.run(SHOWN) == shown


def test_search_finds_problems_methods_and_words_by_keys(pages, browser):
    browser.open(pages / "problem" / "srsd" / "I.27.6.html")
    key = """document.activeElement.dispatchEvent(
        new KeyboardEvent("keydown", {key: "%s", bubbles: true, cancelable: true}));"""
    browser.run(key % "/")
    assert browser.run("return document.activeElement.id") == "search"
    browser.run("const box = document.activeElement; box.value = 'focal'; box.dispatchEvent(new Event('input'));")
    end = time.monotonic() + 20
    while not (
        links := browser.run("return [...document.querySelectorAll('#found a')].map((a) => a.getAttribute('href'))")
    ):
        assert time.monotonic() < end, "nothing found"
        time.sleep(0.05)
    assert "../../problem/srsd/I.27.6.html" in links
    browser.run(key % "ArrowDown")
    assert browser.run("return document.activeElement.matches('#found a')")
    browser.run(key % "Escape")
    assert browser.run("return document.getElementById('found').hidden")


def test_the_pointer_shows_the_values_of_a_point(pages, browser):
    browser.open(pages / "problem" / "srsd" / "I.27.6.html")
    said = browser.run(
        """const plot = document.querySelector(".plot[data-x]"), [x, y] = points(plot)[0];
        const place = new DOMPoint(x, y).matrixTransform(plot.getScreenCTM());
        plot.dispatchEvent(new PointerEvent("pointermove", {clientX: place.x, clientY: place.y, bubbles: true}));
        return [document.getElementById("tip").hidden, document.getElementById("tip").textContent];"""
    )
    assert said[0] is False and re.fullmatch(r"[\d.e-]+, [\d.e-]+", said[1])


def test_light_and_dark_follow_the_system_until_the_button_is_used(pages, browser):
    colour = "return getComputedStyle(document.body).backgroundColor"
    for scheme, first, second in (
        ("dark", "rgb(20, 24, 29)", "rgb(255, 255, 255)"),
        ("light", "rgb(255, 255, 255)", "rgb(20, 24, 29)"),
    ):
        browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        browser.open(pages / "index.html")
        assert browser.run(f"localStorage.clear(); delete document.documentElement.dataset.theme; {colour}") == first
        assert browser.run(f'document.getElementById("theme").click(); {colour}') == second
        browser.open(pages / "audits.html")
        assert browser.run(colour) == second
        browser.run("localStorage.clear()")
    assert browser.errors == []

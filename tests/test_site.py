"""The site: pages complete and linked, and alive in a browser (Chromium, without a head or a network)."""

import json
import re
import shutil
import subprocess
import time
import urllib.request
from html.parser import HTMLParser
from pathlib import Path

from rediscover.publish import site

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

ROOT = Path(__file__).parents[1]
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    return site.build(tmp_path_factory.mktemp("site")).parent


class Elements(HTMLParser):
    """The elements of a page as (tag, attributes)."""

    def __init__(self, path):
        super().__init__()
        self.found = []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))


def test_links_resolve_and_nothing_comes_from_a_network(pages):
    parsed = {path.name: Elements(path).found for path in pages.glob("*.html")}
    anchors = {name: {a["id"] for _, a in found if "id" in a} for name, found in parsed.items()}
    for name, found in parsed.items():
        for tag, attributes in found:
            target = attributes.get("src") or attributes.get("href") or ""
            if target.startswith("data:") or (tag == "a" and "://" in target) or not target:
                continue
            file, _, anchor = target.partition("#")
            assert (pages / (file or name)).exists(), f"{name}: {target}"
            assert not anchor or anchor in anchors[file or name], f"{name}: {target}"
    assert not re.search(r"url\(|@import", (pages / "site.css").read_text())


def test_every_picture_has_a_text(pages):
    for path in pages.glob("*.html"):
        texts = [attributes.get("alt") for tag, attributes in Elements(path).found if tag == "img"]
        assert all(texts), path.name
    shown = (pages / "results.html").read_text()
    for path in (ROOT / "figures").glob("*.txt"):
        assert f'src="figures/{path.stem}.png"' in shown, f"{path.stem} is on no page: which study wrote it?"


def test_every_audit_is_on_the_page_and_leads_to_its_notebook(pages):
    links = [a["href"] for tag, a in Elements(pages / "audits.html").found if "#audit-" in a.get("href", "")]
    count = re.search(r"<h1>(\d+) audits", (pages / "audits.html").read_text())[1]
    assert len(links) == len(set(links)) == int(count) > 0


def test_formulas_are_drawn_but_not_in_code():
    drawn = site.drawn(r"with $\frac1{n}$, `$HOME and $PATH`, 5 \$ and" "\n$$x^2\n+ 1$$")
    assert drawn.count("<img") == 2 and "`$HOME and $PATH`" in drawn and r"5 \$ and" in drawn
    assert r'alt="\frac1{n}"' in drawn and 'alt="x^2 + 1"' in drawn
    assert site.formula(r"\begin{cases} a < b") == r'<code class="math">\begin{cases} a &lt; b</code>'


def test_a_notebook_becomes_a_fragment_with_anchors_and_texts():
    picture = new_output("display_data", data={"image/png": PIXEL, "text/plain": "<Figure>"})
    cells = [
        new_markdown_cell("# Why?"),
        new_code_cell("1 + 1", outputs=[picture], execution_count=1),
        new_markdown_cell("## Audits\n\n**1. A defect.** It is here."),
        new_code_cell("2", execution_count=2, metadata={"tags": ["audit"]}),
    ]
    notebook = new_notebook(cells=cells)
    assert site.title(notebook) == "Why?"
    fragment = site.story(notebook)
    assert '<a id="audit-1"></a>' in fragment and 'alt="A picture made by the code above"' in fragment
    assert "<html" not in fragment and "<script" not in fragment


def test_captions_lose_their_escapes(tmp_path):
    (tmp_path / "a.csv").write_text("x\n1\n")
    (tmp_path / "a.tex").write_text(r"\caption{Tables A\_1 \& 2, 5 \%}\label{tab:a}")
    (tmp_path / "b.tex").write_text(r"\caption{no values}\label{tab:b}")
    assert site.captions(tmp_path) == {"a": "Tables A_1 & 2, 5 %"}


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


def test_pages_load_without_complaints_and_fit_a_phone(pages, browser):
    browser.call("Emulation.setDeviceMetricsOverride", width=360, height=740, deviceScaleFactor=2, mobile=True)
    for path in sorted(pages.glob("*.html")):
        browser.open(path)
        assert browser.run("return document.documentElement.scrollWidth") <= 360, path.name
        broken = "return [...document.images].filter((i) => i.complete && !i.naturalWidth).map((i) => i.alt)"
        assert browser.run(broken) == [], path.name
        assert float(browser.run("return getComputedStyle(document.body).fontSize")[:-2]) >= 16
    browser.call("Emulation.clearDeviceMetricsOverride")
    assert browser.errors == []


def test_rows_are_filtered_and_sorted(pages, browser):
    browser.open(pages / "ledger.html")
    everything = browser.run(SHOWN)
    assert everything == 2477 + 73
    choose(browser, "paper", "SRSD")
    assert browser.run(SHOWN) == 180 + 14
    choose(browser, "method", "gplearn")
    assert 0 < browser.run(SHOWN) < 180
    assert browser.run('return document.querySelector("output").textContent').split()[0] == str(browser.run(SHOWN))
    sort = """document.querySelectorAll("th button")[4].click();
        return [...document.querySelectorAll("section:first-of-type tbody tr")]
            .filter((row) => row.offsetParent).map((row) => row.cells[4].dataset.value)"""
    for sign in (1, -1):
        values = browser.run(sort)
        numbers = [float(v) for v in values if re.fullmatch(r"-?[\d.]+(e-?\d+)?", v)]
        assert len(numbers) > 5 and numbers == sorted(numbers, key=lambda v, s=sign: s * v)
        assert values[: len(numbers)] == [v for v in values if re.fullmatch(r"-?[\d.]+(e-?\d+)?", v)]
    choose(browser, "method", "")
    choose(browser, "", "no row says this")
    assert browser.run(SHOWN) == 0
    choose(browser, "", "")
    choose(browser, "paper", "")
    assert browser.run(SHOWN) == everything


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

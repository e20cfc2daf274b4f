"""`rediscover fit`: odd files give a result or one sentence, never a traceback."""

import itertools
import re
import subprocess
import sys
from pathlib import Path

from rediscover import cli
from rediscover.estimators.constants import as_texts
from rediscover.estimators.reading import read

import numpy as np
import pandas as pd
import pytest

ROWS = 40
SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}
ENCODINGS = {"utf-8": "utf-8", "bom": "utf-8-sig", "latin-1": "latin-1", "utf-16": "utf-16"}
ENDS = {"lf": "\n", "crlf": "\r\n"}


def cells(rows=ROWS):
    """A header and rows of texts: y = 2 a + 3 b."""
    rng = np.random.default_rng(0)
    a, b = rng.uniform(1, 9, (2, rows)).round(4)
    return [
        ["größe [m]", "b", "y"],
        *([f"{p:.4f}", f"{q:.4f}", f"{2 * p + 3 * q:.4f}"] for p, q in zip(a, b, strict=True)),
    ]


def put(row, column, text):
    def change(table):
        table[row][column] = text
        return table

    return change


def every(column, text):
    def change(table):
        for row in table[1:]:
            row[column] = text
        return table

    return change


# What is done to the table -> exit status, and a part of the sentence.
ODD = {
    "as it is": (lambda table: table, 0, "y = "),
    "missing": (put(3, 0, ""), 2, "no value in row 3"),
    "NA": (put(3, 2, "NA"), 2, "no value in row 3"),
    "text": (put(4, 1, "about 3"), 2, "text such as 'about 3'"),
    "text column": (every(0, "red"), 2, "text such as 'red'"),
    "formula": (put(1, 0, "=1+1"), 2, "text such as '=1+1'"),
    "code": (put(1, 0, "__import__('os').getcwd()"), 2, "text such as"),
    "infinite": (put(2, 1, "inf"), 2, "infinite in row 2"),
    "minus infinity": (put(2, 2, "-Infinity"), 2, "infinite in row 2"),
    "too large": (put(2, 1, "1e999"), 2, "infinite in row 2"),
    "1e300": (every(1, "1e300"), 2, "column 'b' has numbers beyond 1e+60"),
    "1e-300": (put(2, 2, "1e-300"), 0, "y"),
    "date": (every(1, "2024-01-31"), 2, "dates or times of day such as '2024-01-31' in row 1; "),
    "time of day": (every(1, "12:30"), 2, "dates"),
    "complex": (put(1, 1, "1+2j"), 2, "text such as"),
    "true": (every(1, "True"), 0, "y = "),
    "constant target": (every(2, "5.0"), 2, "5 in all rows"),
    "constant input": (every(1, "5.0"), 0, "y = "),
    "one row": (lambda table: table[:2], 2, "one row"),
    "two rows": (lambda table: table[:3], 0, "y"),
    "names only": (lambda table: table[:1], 2, "no rows"),
    "no names": (lambda table: table[1:], 2, "first line"),
    "same names": (put(0, 1, "y"), 2, "two columns"),
    "nameless": (put(0, 1, ""), 2, "has no name"),
    "no target": (put(0, 2, "yy"), 2, "did you mean 'yy'"),
    "ragged": (lambda table: [*table[:5], table[5][:2], *table[6:]], 2, "2 values for 3 names"),
    "ragged first": (lambda table: [table[0], [*table[1], "7.5"], *table[2:]], 2, "row 1 of"),
    "ragged all": (lambda table: [table[0], *([*row, "7.5"] for row in table[1:])], 2, "4 values for 3 names"),
    "blank line": (lambda table: [*table[:5], ["", "", ""], *table[5:]], 0, "y = "),
    "spaces": (lambda table: [[f" {cell} " for cell in row] for row in table], 0, "y = "),
    "odd names": (lambda table: [["import os", "λ \x1b[31m", "y"], *table[1:]], 0, "y = "),
    "python words": (lambda table: [["lambda", "exp", "y"], *table[1:]], 0, "y = "),
}


def call(arguments, capsys):
    """Exit status, output and the lines of errors of a command; anything that is raised fails the test."""
    status = cli.main(["fit", *map(str, arguments)])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.mark.parametrize(
    "kind, separator, encoding, end",
    [
        (kind, separator, encoding, end)
        for kind, (separator, encoding, end) in itertools.product(
            ODD,
            [
                ("comma", "utf-8", "lf"),
                ("comma", "bom", "crlf"),
                ("semicolon", "latin-1", "lf"),
                ("semicolon", "utf-8", "crlf"),
                ("tab", "utf-8", "lf"),
                ("tab", "utf-16", "crlf"),
                ("bar", "utf-8", "lf"),
                ("semicolon", "decimal commas", "lf"),
            ],
        )
    ],
)
def test_odd_files(kind, separator, encoding, end, tmp_path, capsys):
    change, status, part = ODD[kind]
    table = change(cells())
    if encoding == "decimal commas":
        table = [row if i == 0 else [cell.replace(".", ",") for cell in row] for i, row in enumerate(table)]
        part = part.replace("=1+1", "=1+1")
    text = ENDS[end].join(SEPARATORS[separator].join(row) for row in table) + ENDS[end]
    path = tmp_path / "table.csv"
    path.write_bytes(text.encode(ENCODINGS.get(encoding, "utf-8"), errors="replace"))
    found, out, err = call([path, "--target", "y", "--method", "least_squares"], capsys)
    assert found == status, out + err
    assert part in (out if status == 0 else err)
    if status:
        assert err.startswith("rediscover: ") and err.count("\n") == 1
    assert "Traceback" not in err


CONTENTS = {
    "empty": (b"", "is empty"),
    "blank": (b"\n \n\n", "is empty"),
    "zeros": (b"\0" * 100, "no text"),
    "picture": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "no text"),
    "half of utf-16": (b"\xff\xfea\0b", "save it as UTF-8"),
    "html": (b"<html>\n<body>404</body>\n</html>\n", "no column 'y'"),
    "json": (b'{"y": [1, 2, 3]}\n', "no"),
    "one number": (b"3.5\n", "first line"),
    "one column": (b"y\n1\n2\n3\n", "only column"),
    "quote without end": (b'a,y\n"1,2\n3,4\n', ""),
    "only commas": (b",,,\n,,,\n", "no name"),
    "decimal commas between commas": (b"x,y\n1,5,3,0\n2,5,5,0\n", "decimals with a point"),
    "first row too long": (b"a,y\n1,2,3\n2,4\n3,6\n", "row 1 of"),
    "nan names": (b"nan,inf\n1,2\n3,4\n", "no column 'y'"),
}


@pytest.mark.parametrize("kind", CONTENTS)
def test_files_that_are_no_tables(kind, tmp_path, capsys):
    content, part = CONTENTS[kind]
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    status, _, err = call([path, "--target", "y", "--method", "least_squares"], capsys)
    assert status == 2
    assert part in err and err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments, part",
    [
        ([], "add --target"),
        (["--target", "engery"], "did you mean 'energy'"),
        (["--target", "energy", "--inputs", "mass,hight"], "did you mean 'height'"),
        (["--target", "energy", "--inputs", "energy"], "leave it out"),
        (["--target", "energy", "--method", "bidirektional"], "did you mean"),
        (["--target", "energy", "--time-limit", "0"], "positive"),
        (["--target", "energy", "--operators", "+,plus"], "unknown"),
        (["--target", "energy", "--seed", "-1"], "at least 0"),
        (["--target", "energy", "--bounds", "5,0"], "--bounds is '5,0'; give the least and the largest value as in"),
        (["--target", "energy", "--out", "/proc/none"], "/proc/none cannot be written: choose another --out"),
        (["--target", "energy", "--method", "nope"], "unknown method 'nope' (`rediscover methods` lists them)"),
        (["--target", "energy", "--series", "mass"], "add --time"),
        (["--time", "mass", "--target", "energy"], "neither"),
        (["--time", "clock"], "no column 'clock'"),
        (["--implicit", "--inputs", "mass"], "two columns"),
    ],
)
def test_wrong_options_are_one_sentence(arguments, part, energy_file, capsys):
    status, _, err = call([energy_file, *arguments], capsys)
    assert status == 2
    assert part in err and err.count("\n") == 1


def test_two_rows_are_answered_with_a_warning(tmp_path, capsys):
    path = tmp_path / "two.csv"
    for rows, warned in ((2, True), (5, False)):
        path.write_text("a,y\n" + "".join(f"{a},{2 * a}\n" for a in range(1, rows + 1)))
        status, out, _ = call([path, "--target", "y", "--method", "least_squares"], capsys)
        assert status == 0 and ("with 2 rows many equations fit as well" in out) == warned


def test_files_that_are_not_there(tmp_path, capsys):
    for name in ("none.csv", "none.parquet", "."):
        status, _, err = call([tmp_path / name, "--target", "y"], capsys)
        assert status == 2 and err.count("\n") == 1


@pytest.fixture
def energy_file(tmp_path):
    rng = np.random.default_rng(0)
    m, v, h = rng.uniform(1, 5, (3, 120))
    energy = 0.5 * m * v**2 + 9.81 * m * h
    path = tmp_path / "energy.csv"
    lines = [f"{a},{b},{c},{d}" for a, b, c, d in zip(m, v, h, energy, strict=True)]
    path.write_text("\n".join(["mass [kg],speed [m/s],height,energy", *lines]))
    return path


def test_report_is_written_and_complete(energy_file, tmp_path, capsys):
    out = tmp_path / "report"
    status, printed, err = call([energy_file, "--target", "energy", "--out", out], capsys)
    assert status == 0
    assert "energy = " in printed and "mass" in printed and "x0" not in printed + err
    assert sorted(path.name for path in out.iterdir()) == [
        "constants.csv",
        "equation.py",
        "equation.tex",
        "front.csv",
        "report.html",
    ]
    page = (out / "report.html").read_text("utf-8")
    assert "data:image/png;base64," in page and "<math" in page and "http://" not in page.replace("http://www.w3", "")
    space: dict = {}
    exec((out / "equation.py").read_text("utf-8"), space)  # a text of this test's own making
    assert space["equation"](2.0, 3.0, 1.0) == pytest.approx(0.5 * 2 * 9 + 9.81 * 2 * 1)


def test_names_of_columns_are_text_in_the_report(tmp_path, capsys):
    path = tmp_path / "table.csv"
    path.write_text("<script>alert(1)</script>,y\n" + "\n".join(f"{i},{3 * i}" for i in range(1, 30)))
    status, *_ = call([path, "--target", "y", "--method", "least_squares", "--out", tmp_path / "out"], capsys)
    assert status == 0
    assert "<script>" not in (tmp_path / "out" / "report.html").read_text("utf-8")


def shown(rows, arguments, tmp_path, capsys, header="a,y", status=0):
    path = tmp_path / "table.csv"
    path.write_text("\n".join([header, *(",".join(f"{cell:.17g}" for cell in row) for row in rows)]))
    found, out, err = call([path, "--target", "y", "--method", "least_squares", *arguments], capsys)
    assert found == status, err
    return out if status == 0 else err


def rows_with_errors(*errors):
    rng = np.random.default_rng(0)
    return [(a, 3 * a + 0.1 * rng.normal(), errors[i % len(errors)]) for i, a in enumerate(np.linspace(1, 9, 40))]


@pytest.mark.parametrize("size, said", [(1e-3, "too small, or the form is wrong"), (0.1, ""), (1.0, "too large")])
def test_errors_that_do_not_fit_are_said(size, said, tmp_path, capsys):
    out = shown(rows_with_errors(size, 1.1 * size), ["--errors", "s"], tmp_path, capsys, "a,y,s")
    assert ("chi-square is" in out) == bool(said)
    assert said in out


@pytest.mark.parametrize("error", [0.0, -0.1])
def test_errors_that_are_none_are_refused(error, tmp_path, capsys):
    err = shown(rows_with_errors(0.1, error), ["--errors", "s"], tmp_path, capsys, "a,y,s", 2)
    assert f"--errors s: the error in row 2 is {error:g}; leave that row out, or write a positive one" in err


def test_the_table_of_constants_says_what_it_shows(tmp_path, capsys):
    rng = np.random.default_rng(0)
    out = shown([(a, 3 + 1e-8 * rng.normal() + 2.7 * a) for a in range(1, 20)], [], tmp_path, capsys)
    assert "low, high: 95 % intervals, the form of the equation taken as given" in out
    numbers = [line.split() for line in out.splitlines() if re.match(r" +c\d ", line)]
    assert numbers and all(len({value, low, high}) == 3 for _, value, _, low, high, _ in numbers)


def test_constants_that_rows_do_not_determine_are_said_to_be_so():
    row = {"value": [1.5], "standard_error": [np.nan], "low": [np.nan], "high": [np.nan]}
    assert as_texts(pd.DataFrame(row)).iloc[0].tolist() == ["1.5", *["not determined"] * 3]


def test_names_that_were_changed_are_said(tmp_path, capsys):
    rows = [(a, (a * 7) % 5, 3 * a + 2 * ((a * 7) % 5)) for a in range(1, 30)]
    out = shown(rows, [], tmp_path, capsys, "log(dose),speed [m/s],y")
    assert "\nlog_ is the column 'log(dose)'\n" in out


def test_a_name_with_a_comma_stands_in_quotes(tmp_path, capsys):
    rows = [(a, (a * 7) % 5, a**2, 3 * a + 2 * ((a * 7) % 5)) for a in range(1, 30)]
    arguments = ["--inputs", '"speed, m/s",mass', "--max-evaluations", "1e3"]
    out = shown(rows, arguments, tmp_path, capsys, '"speed, m/s",mass,third,y')
    assert "speed_m_s" in out and "mass" in out and "third" not in out


def test_what_is_not_clear_says_so_in_every_file(tmp_path, capsys):
    rng = np.random.default_rng(0)
    shown(rng.normal(size=(40, 2)), ["--out", tmp_path / "out"], tmp_path, capsys)
    for name, sign in (("equation.py", "#"), ("equation.tex", "%")):
        assert (tmp_path / "out" / name).read_text("utf-8").startswith(f"{sign} no clear equation for y: ")


def test_time_and_clouds_from_the_shell(tmp_path, capsys):
    t = np.linspace(0, 4, 80)
    path = tmp_path / "decay.csv"
    path.write_text("t;x\n" + "\n".join(f"{a};{np.exp(-0.5 * a)}" for a in t))
    status, out, _ = call([path, "--time", "t", "--max-evaluations", "20000"], capsys)
    assert status == 0 and "dx/dt = -1/2*x" in out
    path.write_text("x y\n" + "\n".join(f"{2 * np.cos(a)} {np.sin(a)}" for a in np.linspace(0, 6, 60)))
    status, out, _ = call([path, "--implicit", "--max-evaluations", "2000"], capsys)
    assert status == 0 and "F = " in out


def test_numbers_are_read_as_they_are_written(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a;b\n1,5;-2\n1e3;+.5\n3;4,25\n")
    from rediscover.estimators.reading import used

    table = used(read(path), ["a", "b"])
    np.testing.assert_array_equal(table.to_numpy(), [[1.5, -2.0], [1000.0, 0.5], [3.0, 4.25]])


GROUPED = {
    "in quotes": ('a,b\n4,"1,000"\n5,250\n', [1000.0, 250.0]),
    "in quotes, with a decimal point": ('a,b\n4,"1,234.5"\n5,250\n', [1234.5, 250.0]),
    "decimal commas in quotes": ('a,b\n"4,5","1,250"\n5,3\n', [1.25, 3.0]),
    "three decimals": ("a;b\n1,234;2,345\n3,456;4,567\n", [2.345, 4.567]),
    "decimal commas elsewhere": ("a;b\n1,5;2,345\n3;250\n", [2.345, 250.0]),
    "points between thousands": ("a;b\n1,5;1.250\n3;250\n", [1250.0, 250.0]),
    "points twice": ("a;b\n1;1.250.000\n3;2.250\n", [1250000.0, 2250.0]),
    "decimal points elsewhere": ("a;b\n1.5;1.250\n3;250\n", [1.25, 250.0]),
    "decimal points between commas": ("a,b\n1,1.250\n3,250\n", [1.25, 250.0]),
    "either, semicolons": ("a;b\n1;250\n3;1,250\n", "column 'b' holds '1,250' in row 2, which may be 1250 or 1.25; "),
    "either, points": ("a;b\n1;250\n3;1.250\n", "column 'b' holds '1.250' in row 2, which may be 1250 or 1.25; "),
    "either, tabs": ("a\tb\n1\t12,345\n3\t12,250\n", "'12,345' in row 1, which may be 12345 or 12.345; write it as"),
}


@pytest.mark.parametrize("kind", GROUPED)
def test_signs_between_thousands_are_read_or_refused(kind, tmp_path):
    from rediscover.estimators.reading import used

    text, expected = GROUPED[kind]
    path = tmp_path / "table.csv"
    path.write_text(text)
    table = read(path)
    if isinstance(expected, str):
        with pytest.raises(ValueError, match=re.escape(expected)):
            used(table, ["b"])
    else:
        assert used(table, ["b"])["b"].tolist() == expected


def test_help_loads_no_library():
    code = (
        "import sys; from rediscover import cli\n"
        "try: cli.main(['fit', '--help'])\n"
        "except SystemExit: pass\n"
        "assert not {'sklearn', 'sympy', 'matplotlib'} & set(sys.modules), 'slow'"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


PAGE = (Path(__file__).parents[1] / "docs" / "own-data.md").read_text()
SHOWN = re.findall(r"```sh\nrediscover (fit .*?)\n```\n\n```text\n(.*?)```", PAGE, flags=re.S)


@pytest.mark.parametrize("line, text", SHOWN, ids=[line.split()[1] for line, _ in SHOWN])
def test_the_page_shows_what_its_commands_print(line, text, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli.main(line.split()) == 0
    assert capsys.readouterr().out.startswith(text)
    assert (tmp_path / "report" / "report.html").exists() == ("--out" in line)


def test_the_page_has_three_examples():
    assert [line.split()[1] for line, _ in SHOWN] == ["planets", "pendulum", "cloud"]
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.S)
    done = subprocess.run([sys.executable, "-c", example], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr

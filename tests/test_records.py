"""Records: found by what they ask for, extended by workers that may be killed, run again and compared."""

import json
import lzma
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import rediscover as rd
from rediscover import runs
from rediscover.methods import Budget
from rediscover.runs import recording, records
from rediscover.system import record_files

import numpy as np
import pytest

SMALL = dict(problems=["surfaces/NCGS2", "surfaces/QIS2"], methods=["gplearn", "power_law"], seeds=[0, 1])
BUDGET = Budget(evaluations=300, seconds=60.0)


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """An empty repository, whose records are at first none."""
    for name in ("notebooks", "params"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("REDISCOVER_ROOT", str(tmp_path))
    records._read.cache_clear()
    yield tmp_path
    records._read.cache_clear()


@pytest.fixture
def planned(repository):
    return runs.plan(**SMALL, budget=BUDGET)


def extend(planned, **options):
    said = []
    recording.extend(recording.missing(planned), workers=2, progress=False, say=said.append, **options)
    return said


def test_a_grid_takes_recorded_runs_and_computes_the_others(planned, repository, monkeypatch):
    fresh = runs.grid(**SMALL, budget=BUDGET, progress=False)
    extend(planned[:5])
    frame = runs.grid(**SMALL, budget=BUDGET, progress=False)
    assert frame["reused"].tolist() == [True] * 5 + [False] * 3
    beside = ["seconds", "peak_mb", "reused"]
    assert frame.drop(columns=beside).equals(fresh.drop(columns=beside))
    monkeypatch.setenv("REDISCOVER_FRESH", "1")
    assert not runs.grid(**SMALL, budget=BUDGET, progress=False)["reused"].any()


@pytest.mark.parametrize(
    "change",
    [
        dict(seeds=[2]),
        dict(noise=[0.1]),
        dict(budget=Budget(evaluations=301)),
        dict(evaluations={"gplearn": 301, "power_law": 301}),
        dict(methods=[rd.method("gplearn", max_rows=50)]),
        dict(problems=[rd.problem("surfaces/NCGS2", sampler="curvature")]),
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_run_that_asks_for_anything_else_is_not_recorded(planned, change):
    extend(planned)
    assert recording.missing(planned) == []
    other = runs.plan(**(SMALL | dict(budget=BUDGET) | change))
    assert len(recording.missing(other)) == len(other)


def test_limits_of_time_and_memory_do_not_matter_to_a_finished_run_but_to_one_that_met_them(planned):
    run = planned[0]
    done = {"status": "ok", "reason": "", "candidates": [], "seconds": 1.0, "peak_mb": 1.0}
    longer = run._replace(budget=Budget(300, seconds=600.0))
    records.add([records.record(run, done)])
    assert records.find([run, longer]) != [None, None]
    other = planned[1]
    records.add([records.record(other, done | {"status": "timeout"})])
    assert records.find([other])[0]["status"] == "timeout"
    assert records.find([other._replace(budget=Budget(300, seconds=600.0))]) == [None]


def test_files_are_the_same_whatever_the_order_and_say_so(planned, repository, tmp_path):
    extend(planned)
    file = repository / "records" / "surfaces" / "gplearn.jsonl.xz"
    before, sums = file.read_bytes(), (repository / "records" / record_files.SUMS).read_text()
    lines = list(records.every())
    again = tmp_path / "again"
    for line in reversed(lines):
        records.add([line], again)
    assert (again / "surfaces" / "gplearn.jsonl.xz").read_bytes() == before
    assert (again / record_files.SUMS).read_text() == sums
    assert records.add(lines) == 0 and not list((repository / "records").rglob("*.part"))


def test_deleting_a_record_and_recording_again_gives_the_same_line(planned, repository):
    extend(planned)
    file = repository / "records" / "surfaces" / "gplearn.jsonl.xz"
    lines = record_files.load(file)
    record_files.write(repository / "records", {file: lines[1:]}, records._identity)
    records._read.cache_clear()
    assert len(recording.missing(planned)) == 1
    extend(planned)
    timed = ("seconds", "peak_mb")
    [one], [other] = (
        [{k: v for k, v in line.items() if k not in timed} for line in x]
        for x in (lines[:1], record_files.load(file)[:1])
    )
    assert one == other


def test_a_record_that_is_edited_by_hand_is_found(planned, repository):
    extend(planned)
    assert record_files.altered() == []
    file = repository / "records" / "surfaces" / "gplearn.jsonl.xz"
    text = lzma.open(file, "rt").read()
    with lzma.open(file, "wt") as out:
        out.write(text.replace('"seed":0', '"seed":7', 1))
    assert record_files.altered() == ["surfaces/gplearn.jsonl.xz"]
    file.unlink()
    assert record_files.altered() == ["surfaces/gplearn.jsonl.xz"]


def test_a_damaged_file_is_named_with_a_remedy(planned, repository):
    extend(planned)
    file = repository / "records" / "surfaces" / "gplearn.jsonl.xz"
    file.write_bytes(file.read_bytes()[:100])
    records._read.cache_clear()
    with pytest.raises(record_files.RecordError, match=r"gplearn.jsonl.xz is damaged .*git checkout"):
        records.find(planned)


def test_a_spot_check_finds_an_answer_that_does_not_repeat(planned, repository):
    extend(planned)
    checked = recording.spot_checks(planned, progress=False)
    assert checked["same"].all() and len(checked) == 8 and set(checked["compared"]) == {"answers"}
    file = repository / "records" / "surfaces" / "gplearn.jsonl.xz"
    lines = record_files.load(file)
    lines[2]["candidates"][0]["loss"] += 1e-12
    records.add(lines, prefer="there")
    checked = recording.spot_checks(planned, progress=False)
    assert checked["same"].sum() == 7 and recording.mismatches(checked)["method"].tolist() == ["gplearn"]


def test_another_processor_is_compared_by_the_loss_where_the_method_follows_it(repository, monkeypatch):
    planned = runs.plan(["surfaces/NCGS2"], ["operon", "gplearn"], budget=BUDGET)
    extend(planned)
    monkeypatch.setattr(records, "processor", lambda: "another")
    checked = recording.spot_checks(planned, progress=False)
    assert checked["same"].all() and set(checked["compared"]) == {"answers"}
    lines = list(records.every())
    for by, same in ((1.001, True), (2, False)):
        other = [
            line | {"candidates": [{**line["candidates"][0], "loss": by * line["candidates"][0]["loss"]}]}
            for line in lines
        ]
        records.add(other, prefer="there")
        records._read.cache_clear()
        checked = recording.spot_checks(planned, progress=False).set_index("method")
        assert checked["compared"].to_dict() == {"gplearn": "answers", "operon": "loss"}
        assert checked["same"].to_dict() == {"gplearn": False, "operon": same}
        assert recording.mismatches(checked).index.tolist() == ["gplearn"]


def test_processors_of_several_kinds_have_several_names(tmp_path):
    def named(text):
        records.processor.cache_clear()
        file = tmp_path / "cpuinfo"
        file.write_text(text)
        return records.processor(file)

    of = (
        "processor\t: {0}\nvendor_id\t: G\ncpu family\t: 6\nmodel\t\t: {1}\nmodel name\t: Xeon (R) P\nstepping\t: 2\n\n"
    )
    assert named(of.format(0, 143) + of.format(1, 143)) == "Xeon (R) P 6-143-2"
    assert named(of.format(0, 207)) == "Xeon (R) P 6-207-2"
    assert named("model name\t: Power9\n") == "Power9"
    assert named("processor\t: 0\n") == named("") != ""
    records.processor.cache_clear()


def test_the_sample_takes_every_method_and_hangs_on_the_seed(planned, repository):
    assert recording.sample(planned, seed=0) == []
    extend(planned)
    every = records.lines(planned)

    def drawn(seed, size=3):
        chosen = recording.sample(planned, seed=seed, size=size)
        assert all(every[planned.index(run)] == line for run, line in chosen)
        return [planned.index(run) for run, _ in chosen]

    assert len(drawn(0)) == 3 and drawn(0) == drawn(0)
    assert {planned[i].method.name for i in drawn(0)[:2]} == {"gplearn", "power_law"}
    assert sorted(drawn(0, recording.SAMPLE)) == list(range(len(planned)))
    assert any(drawn(s) != drawn(0) for s in range(1, 6))


FORGED = {"seconds": 61.0, "processor": "another", "code": "old", "peak_mb": 1e6, "reason": "said otherwise"}


def test_a_forged_record_is_drawn_and_found_whatever_it_says_of_itself(planned, repository):
    extend(planned)
    lines = list(records.every())
    for name, value in FORGED.items():
        forged = [line | {name: value} | {"candidates": [{**line["candidates"][0], "loss": 0.0}]} for line in lines]
        records.add(forged, prefer="there")
        records._read.cache_clear()
        checked = recording.spot_checks(planned, seed=5, size=3, progress=False)
        assert len(recording.mismatches(checked)) == 3


def test_a_run_that_is_not_done_in_time_is_not_compared_and_said(planned, repository):
    extend(planned[:1])
    checked = recording.spot_checks(planned, seconds=1e-3, progress=False)
    assert checked["compared"].tolist() == ["nothing"] and recording.mismatches(checked).empty


def test_a_recorded_timeout_that_is_easily_done_is_a_difference(planned, repository):
    run = planned[0]._replace(budget=Budget(300, seconds=600.0))
    [outcome] = runs.compute([run], run.budget, progress=False)
    line = records.record(run, outcome | {"status": "timeout", "candidates": []})
    assert recording.comparison(run, line, outcome, 60.0) == ("answers", False)
    slow = outcome | {"seconds": 100.0}
    assert recording.comparison(run, line, slow, 60.0) == ("nothing", False)


def test_two_answers_to_one_question_stop_a_merge(planned, repository, tmp_path):
    extend(planned)
    before = (repository / "records" / "surfaces" / "gplearn.jsonl.xz").read_bytes()
    failed = [
        line | {"status": "error", "reason": "the worker was killed", "candidates": []} for line in records.every()
    ]
    records.add(failed, tmp_path / "shard")
    with pytest.raises(record_files.RecordError, match=r"^8 runs have two answers \(gplearn on .*; \.\.\.\): find out"):
        records.add(records.shard(tmp_path / "shard"))
    with pytest.raises(record_files.RecordError, match="two answers"):
        records.add([*failed, *list(records.every())], tmp_path / "both")
    assert (repository / "records" / "surfaces" / "gplearn.jsonl.xz").read_bytes() == before
    assert not (tmp_path / "both" / record_files.SUMS).exists()
    assert records.add(failed, prefer="here") == 0
    assert records.add(failed, prefer="there") == 8
    assert {line["status"] for line in records.every()} == {"error"}


def test_a_file_edited_by_hand_is_refused_and_its_digest_stays(planned, repository):
    extend(planned[:5])
    file = repository / "records" / "surfaces" / "gplearn.jsonl.xz"
    sums = (repository / "records" / record_files.SUMS).read_text()
    text = lzma.open(file, "rt").read()
    with lzma.open(file, "wt") as out:
        out.write(text.replace('"seed":0', '"seed":7', 1))
    records._read.cache_clear()
    for use in (lambda: records.find(planned), lambda: extend(planned)):
        with pytest.raises(record_files.RecordError, match=r"gplearn.jsonl.xz is not what SHA256SUMS says: restore it"):
            use()
    assert (repository / "records" / record_files.SUMS).read_text() == sums
    records.add([records.record(planned[-1], DONE)])
    assert record_files.altered() == ["surfaces/gplearn.jsonl.xz"], "another file is written, this one is not restated"


DONE = {"status": "ok", "reason": "", "candidates": [], "seconds": 1.0, "peak_mb": 1.0}


ENDINGS = {
    "solved": {"candidates": [{"solution": {"z": "x"}}]},
    "otherwise": {"candidates": [{"solution": {"z": "2*x"}}]},
    "none": {},
    "failed": {"status": "error", "reason": "the worker was killed"},
    "refused": {"status": "unsupported", "reason": "no such kind"},
    "slow": {"status": "timeout", "reason": "no answer within 60 s"},
}


@pytest.mark.parametrize("seed", range(50))
def test_drawn_merges_stop_at_conflicts_alone_and_no_failure_replaces_an_answer(planned, repository, tmp_path, seed):
    rng = np.random.default_rng(seed)
    # Half of the draws have few runs in common, so that some merges have no conflict.
    chances = [0.5, *[0.5 / len(ENDINGS)] * len(ENDINGS)]
    here, there = (dict(zip(range(8), rng.choice(["", *ENDINGS], 8, p=chances), strict=True)) for _ in range(2))
    if seed % 2:
        there = {i: here[i] if here[i] and rng.random() < 0.9 else there[i] for i in there}

    def lines(ended):
        for i in rng.permutation([i for i in ended if ended[i]]):
            seconds = float(rng.uniform(1, 60))
            yield records.record(planned[i], DONE | ENDINGS[ended[i]] | {"seconds": seconds})

    records.add(lines(here))
    records.add(lines(there), tmp_path / "shard")
    before = record_files.folder() / record_files.SUMS
    text = before.read_text() if before.exists() else ""
    # What met its limit is another question: with other limits it might be answered.
    both = [i for i in here if here[i] and there[i] and "slow" not in (here[i], there[i])]
    conflicts = [i for i in both if here[i] != there[i]]
    if conflicts:
        with pytest.raises(record_files.RecordError, match=rf"^{len(conflicts)} runs have two answers"):
            records.add(list(records.every(tmp_path / "shard")))
        assert before.read_text() == text
    else:
        added = records.add(list(records.every(tmp_path / "shard")))
        assert added == sum(bool(there[i]) and there[i] != here[i] for i in here)
    for run, ended in zip(planned, here.values(), strict=True):
        if ended and ended != "slow":
            [found] = records.find([run])
            expected = DONE | ENDINGS[ended]
            assert {name: found[name] for name in records.ANSWERED} == {
                name: expected[name] for name in records.ANSWERED
            }
    if conflicts:
        records.add(list(records.every(tmp_path / "shard")), prefer="here")
        assert [records.find([planned[i]])[0]["status"] for i in conflicts] == [
            (DONE | ENDINGS[here[i]])["status"] for i in conflicts
        ]


def test_drawn_edits_of_a_line_are_found(planned, repository):
    rng = np.random.default_rng(3)
    file = repository / "records" / "surfaces" / "gplearn.jsonl.xz"
    records.add([records.record(run, DONE | ENDINGS["solved"]) for run in planned])
    text = lzma.open(file, "rt").read()
    for _ in range(60):
        at, new = int(rng.integers(len(text))), chr(rng.integers(32, 127))
        lines = text.splitlines(keepends=True)
        i, j = rng.choice(len(lines), 2, replace=False)
        edits = [text[:at] + text[at + 1 :], text[:at] + new + text[at:], text[:at] + new + text[at + 1 :]]
        edits += ["".join(line for k, line in enumerate(lines) if k != i), text + lines[i]]
        lines[i], lines[j] = lines[j], lines[i]
        edits += ["".join(lines)]
        edited = edits[rng.integers(len(edits))]
        with lzma.open(file, "wt") as out:
            out.write(edited)
        if edited == text:
            continue
        assert record_files.altered() == ["surfaces/gplearn.jsonl.xz"]
        with pytest.raises(record_files.RecordError, match=r"gplearn.jsonl.xz is not what SHA256SUMS says"):
            record_files.load(file)


def test_a_shard_says_itself_what_is_in_it(planned, tmp_path):
    with pytest.raises(record_files.RecordError, match="has no SHA256SUMS: name a folder"):
        records.shard(tmp_path / "nowhere")
    records.add([records.record(planned[0], DONE)], tmp_path)
    (tmp_path / "surfaces" / "gplearn.jsonl.xz").write_bytes(lzma.compress(b"{}\n"))
    with pytest.raises(record_files.RecordError, match="is not what its SHA256SUMS says"):
        records.shard(tmp_path)


@pytest.mark.parametrize("change", [{"method": "../../escaped"}, {"problem": "../x/y"}, {"method": "nobody"}])
def test_a_record_names_a_method_and_a_study_that_there_are(planned, repository, change):
    with pytest.raises(record_files.RecordError, match="there is no method"):
        records.add([records.record(planned[0], DONE) | change])
    assert not list(repository.rglob("*.xz")) and not (repository.parent / "escaped.jsonl.xz").exists()


@pytest.mark.parametrize("at", range(1, 7))
def test_a_writer_that_is_killed_at_any_rename_leaves_records_that_are_read(planned, repository, monkeypatch, at):
    extend(planned[:2])
    calls = iter(range(1, 100))

    def replace(old, new):
        if next(calls) == at:
            raise KeyboardInterrupt
        real(old, new)

    real = os.replace
    with monkeypatch.context() as broken:
        broken.setattr(os, "replace", replace)
        lines = [records.record(run, DONE) for run in planned[2:]]
        with suppress(KeyboardInterrupt):
            records.add(lines)
    records._read.cache_clear()
    assert len(list(records.every())) in (2, 8)
    records.add(lines)
    assert len(list(records.every())) == 8 and record_files.altered() == []
    assert not list((repository / "records").rglob("*.part"))


def test_a_shard_made_elsewhere_is_merged(planned, repository, tmp_path):
    for part in range(2):
        recording.extend(recording.missing(planned, (part, 2)), into=tmp_path / "shard", workers=1, progress=False)
    assert len(recording.missing(planned)) == 8
    assert records.add(records.shard(tmp_path / "shard")) == 8
    assert recording.missing(planned) == []


SCRIPT = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's job in the background ignores
from rediscover import runs
from rediscover.methods import Budget
from rediscover.runs import recording
recording.FLUSH = 0.1
planned = runs.plan(["surfaces/NCGS2"], ["gplearn"], seeds=range(40), budget=Budget(20_000, seconds=60.0))
print(len(recording.missing(planned)), flush=True)
recording.extend(recording.missing(planned), workers=1, progress=False)
"""


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT])
def test_a_recording_that_is_killed_goes_on(repository, ending):
    def start():
        return subprocess.Popen(
            [sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    file = repository / "records" / "surfaces" / "gplearn.jsonl.xz"
    with start() as process:
        assert process.stdout.readline() == "40\n"
        while not file.exists() and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(ending)
    kept = len(record_files.load(file))
    assert 0 < kept < 40 and record_files.altered() == []
    with start() as process:
        assert process.stdout.readline() == f"{40 - kept}\n"
        process.kill()


def test_a_recording_stops_when_its_time_is_over(planned, repository):
    assert extend(planned, hours=1e-9) == ["1 of 8 missing runs are recorded"]
    assert len(list(records.every())) == 1


def test_the_planned_runs_of_a_notebook_are_those_of_its_grids():
    from rediscover.studies import planned

    laws = planned("20_srsd_edit_distance", "smoke")
    # Laws; three easy ones at two levels; original ranges; dummy columns; one law with two methods at two budgets.
    assert len(laws) == 6 * 13 + 3 * 3 * 2 + 6 * 3 + 6 * 3 + 2 * 2
    json.dumps([records.asked(run) for run in laws[:2]])

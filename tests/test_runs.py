"""The grid with real processes: methods misbehave, coordinators are killed, stores are damaged."""

import collections
import json
import os
import pickle
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

from grid_methods import (
    Absent,
    Bad,
    Careless,
    Interrupted,
    Logged,
    Slope,
    Surroundings,
    Threads,
    interruptions,
    line,
    network,
)
from processes import running
from rediscover import runs
from rediscover.methods import Budget
from rediscover.problems import problem
from rediscover.runs import executors
from rediscover.runs.answers import OnAnswer
from rediscover.system.workers import Pool

import numpy as np
import pandas as pd
import psutil
import pytest

TIMINGS = ["seconds", "peak_mb", "reused"]
TIGHT = {"seconds": 2.0, "memory_mb": 300}
HERE = Path(__file__).parent


def grid(problems, methods, **options):
    return runs.grid(problems, methods, **{"workers": 2, "progress": False, **options})


def results(frame):
    return frame.drop(columns=TIMINGS)


def wait_for(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def environment(*folders):
    """With the test modules in reach of a new process."""
    paths = [str(path) for path in (*folders, HERE, HERE.parent / "lib")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join([*paths, os.environ.get("PYTHONPATH", "")])}


def coordinator(code, *folders, **options):
    """A process of its own that runs `code`."""
    head = "from grid_methods import *\nfrom rediscover import Budget, runs\n"
    command = [sys.executable, "-c", head + code]
    return subprocess.Popen(command, env=environment(*folders), text=True, **options)


# -- the frame


def test_rows_are_in_the_order_of_the_arguments_and_complete():
    frame = grid([line("b"), line("a")], [Slope(digits=1), Slope()], noise=(0.0, 0.5), seeds=(1, 0))
    assert list(frame["problem"]) == ["lines/b"] * 8 + ["lines/a"] * 8
    assert list(frame["settings"][:8]) == [{"digits": 1}] * 4 + [{"digits": 3}] * 4
    assert list(frame["noise"][:4]) == [0.0, 0.0, 0.5, 0.5]
    assert list(frame["seed"][:4]) == [1, 0, 1, 0]
    assert set(frame["status"]) == {"ok"} and set(frame["reason"]) == {""}
    assert list(frame["solution"][[0, 4]]) == [{"y": "2.0*x"}, {"y": "2.000*x"}]
    assert list(frame.columns[-3:]) == TIMINGS
    assert frame["study"][0] == "lines" and frame["evaluations"][0] == 1


def test_the_same_grid_gives_the_same_frame_whatever_the_number_of_workers():
    arguments = [line("a"), line("b")], [Slope(), Bad("raise"), Bad("nothing"), Bad("segfault")]
    once, again = (results(grid(*arguments, seeds=(0, 1), workers=2)) for _ in range(2))
    alone = results(grid(*arguments, seeds=(0, 1), workers=1))
    pd.testing.assert_frame_equal(once, again)
    pd.testing.assert_frame_equal(once, alone)
    assert once.to_csv() == alone.to_csv()
    assert once["loss"].nunique() == 4  # generators differ by problem and by seed


def test_the_options_that_all_problems_report_are_columns():
    levels = [problem("odes/3", snr_db=level) for level in (20, 40, np.inf)]
    assert grid(levels, ["mean"])["snr_db"].tolist() == [20.0, 40.0, np.inf]
    assert grid(["odes/3"], ["mean"], noise=(0.1, 0.0))["snr_db"].tolist() == [20.0, np.inf]
    field = problem("pdes/advection", snr_db=30)
    assert "snr_db" not in grid([*levels, line()], ["mean"])
    assert [run.options for run in runs.plan([field], ["mean"])] == [{"snr_db": 30.0}]


def test_a_cached_property_stays_at_home():
    problem = line()
    problem.__dict__["expressions"] = lambda: None  # cannot be pickled
    assert grid([problem], [Slope()])["status"].item() == "ok"


def test_a_front_is_kept_up_to_its_limit():
    frame = grid([line()], [Bad("long_front")])
    front = frame["candidates"].item()
    assert [c["complexity"] for c in front] == list(range(50))
    assert frame["solution"].item() == {"y": "0*x"}


# -- runs that go wrong are rows


MISBEHAVIOUR = {
    "raise": ("error", "RuntimeError: two lines at <object object at 0x...>"),
    "steer": ("error", "RuntimeError: ?[31mred?]0;title? ?reversed?"),
    "garbage": ("error", "returned dict instead of a list of Candidate"),
    "strings": ("error", "returned list of str instead of a list of Candidate"),
    "nothing": ("error", "found nothing"),
    "wrong_output": ("error", "returned a solution for ['z'], expected one for ['y']"),
    "no_mapping": ("error", "returned a solution for 'x', expected one for ['y']"),
    "not_plain": ("error", "TypeError: returned a object, which is not plain data"),
    "not_a_number": ("error", "ValueError: could not convert string to float: 'low'"),
    "segfault": ("error", "the worker was killed by SIGSEGV"),
    "exit": ("error", "the worker exited with 3"),
    "quit": ("error", "SystemExit: enough"),
    "unsupported": ("unsupported", "bad does not treat lines"),
    "hang": ("timeout", "not done after 2 s"),
    "sleep_in_c": ("timeout", "not done after 2 s"),
    "noise": ("ok", ""),
    "kill": ("unavailable", "the worker was killed by SIGKILL, as at first: see that the machine has memory for it"),
    "no_space": ("unavailable", "RuntimeError: cannot save"),
    "huge_count": ("error", "ValueError: evaluations is 9223372036854775808, not a number of evaluations"),
    "complex": ("error", "TypeError: np.complex128(1+2j) is no real number"),
    "no_text": ("error", "the solution for y is of type NoneType, not a text"),
    "long_notes": ("error", "ValueError: the notes of a candidate have more than 1000000 characters"),
    "half_a_pair": ("ok", ""),
    "patch_report": ("error", "what came back cannot be read (TypeError: no status and reason)"),
    "patch_answer": ("error", "what came back cannot be read (KeyError: 'complexity')"),
}


@pytest.fixture(scope="module")
def misbehaving():
    """One sweep over all of them on one worker, an honest run after each."""
    methods = [method for how in MISBEHAVIOUR for method in (Bad(how), Slope(digits=len(how)))]
    return grid([line()], methods, budget=TIGHT, workers=1)


@pytest.mark.parametrize("how", MISBEHAVIOUR)
def test_a_method_that_misbehaves_is_a_row_and_the_sweep_goes_on(misbehaving, how):
    i = 2 * list(MISBEHAVIOUR).index(how)
    status, reason = MISBEHAVIOUR[how]
    assert misbehaving["status"][i] == status
    assert misbehaving["reason"][i].startswith(reason) and bool(reason) == bool(misbehaving["reason"][i])
    assert bool(misbehaving["solution"][i]) == (misbehaving["status"][i] == "ok")
    assert misbehaving["status"][i + 1] == "ok"


def test_limits_hold_closely_and_seconds_are_those_of_computing(misbehaving):
    late = misbehaving[misbehaving["status"] == "timeout"]
    sleeping, computing = sorted(late["seconds"])
    assert sleeping < 0.2 and 0.2 < computing < 4.0  # what computes gets but a share of a busy processor
    began = time.monotonic()
    assert grid([line()], [Bad("sleep_in_c")], budget=TIGHT, workers=1)["status"][0] == "timeout"
    assert 2.0 < time.monotonic() - began < 8.0


def test_a_method_that_allocates_without_end_is_a_row_and_the_sweep_goes_on():
    frame = grid([line()], [Bad("allocate"), Slope()], budget={"seconds": 60, "memory_mb": 300}, workers=1)
    assert list(frame["status"]) == ["memory", "ok"]
    assert frame["reason"][0] == "used more than 300 MiB"
    assert 300 < frame["peak_mb"][0] < 600


def test_workers_that_die_all_at_once_are_all_reported():
    pool = Pool()
    try:
        for _ in range(20):
            workers = [pool.worker() for _ in range(12)]
            for worker in workers:
                os.kill(worker.pid, signal.SIGKILL)
            assert {pool.stop(worker) for worker in workers} == {-signal.SIGKILL}
    finally:
        pool.close()


def test_a_run_does_not_pay_for_the_one_before(tmp_path):
    frame = grid([line()], [Bad("die_later"), Logged(str(tmp_path / "log"), pause=0.3)], workers=1)
    assert list(frame["status"]) == ["ok", "ok"]


def test_what_cannot_be_parsed_is_unparsable():
    frame = grid([line()], [Bad("unparsable"), Bad("half")])
    assert list(frame["status"]) == ["unparsable", "ok"]
    assert "x +* 2" in frame["reason"][0]
    assert frame["reason"][1].startswith("1 of 2 candidates left out")
    assert len(frame["candidates"][1]) == 1


def test_kinds_and_packages_that_do_not_fit(tmp_path):
    frame = grid([network(), line()], [Slope(), Absent()], store=tmp_path / "s.sqlite")
    assert list(frame["status"]) == ["unsupported", "unavailable", "ok", "unavailable"]
    assert frame["reason"][0] == "slope does not treat problems of the kind transitions"
    assert (
        frame["reason"][1]
        == "package a-package-that-nobody-wrote is not installed: pip install a-package-that-nobody-wrote"
    )
    assert stored(tmp_path / "s.sqlite") == 2  # what is not available today may be so tomorrow


def test_workers_that_share_their_tasks_wait_for_more_of_the_kind(monkeypatch):
    def pids(*seeds, function="grid_methods:process"):
        works = [OnAnswer(function, line(), {"y": "x"}, seed) for seed in seeds]
        outcomes = runs.compute(works, workers=1, progress=False)
        return {outcome["result"]["pid"] for outcome in outcomes if outcome["status"] == "ok"}

    first = pids(0, 1)
    assert len(first) == 1 and pids(2, 3) == first
    assert grid([line()], [Careless()])["status"].tolist() == ["ok"]  # of another kind, which shares nothing
    assert pids(4) == first
    monkeypatch.setenv("OF_ANOTHER_KIND", "1")
    other = pids(5)
    assert other and other.isdisjoint(first) and not any(map(psutil.pid_exists, first))
    assert pids(6, function="grid_methods:no_such") == set()
    os.kill(next(iter(other)), signal.SIGKILL)
    assert len(pids(7)) == 1


def test_a_method_takes_its_children_along(tmp_path):
    grid([line()], [Bad("child", str(tmp_path / "pid"))], budget=TIGHT)
    child = int((tmp_path / "pid").read_text())
    wait_for(lambda: not running(child), seconds=5)


def test_one_thread_per_worker_and_strings_that_hash_alike():
    notes = [front[0]["notes"] for front in grid([line()] * 2, [Threads()])["candidates"]]
    again = grid([line()], [Threads()])["candidates"].item()[0]["notes"]
    assert notes == [again, again]
    assert again["threads"] == [1]


def test_a_detached_process_ends_with_the_run_that_left_it(tmp_path):
    assert grid([line()], [Bad("detach", str(tmp_path / "pid"))], budget=TIGHT)["status"].item() == "ok"
    assert not running(int((tmp_path / "pid").read_text()))


def test_limits_hold_for_all_processes_of_a_run():
    frame = grid([line()], [Bad("child_allocates"), Bad("many_processes")], budget={"seconds": 60, "memory_mb": 300})
    assert list(frame["status"]) == ["memory", "error"]
    assert frame["reason"][1] == "started more than 256 processes"


# -- a run is as if alone


def answers_in_some_order(methods, rng):
    """What each run answered, to the byte, in an order that is drawn and by as many workers as are drawn."""
    methods = [methods[i] for i in rng.permutation(len(methods))]
    frame = grid([line("a"), line("b")], methods, seeds=(0, 1), workers=int(rng.integers(1, 9)))
    return {
        (row.problem, row.method, json.dumps(row.settings), row.seed): json.dumps(
            [row.status, row.reason, row.candidates]
        )
        for row in frame.itertuples()
    }


@pytest.mark.parametrize("draw", range(2))
def test_answers_are_the_same_in_any_order_by_any_number_of_workers_beside_a_careless_method(draw):
    rng = np.random.default_rng(draw)
    methods = [Surroundings(), Slope(), Bad("raise"), Slope(digits=5)]
    alone = {}
    for method in methods:
        alone |= answers_in_some_order([method], rng)
    for _ in range(2):
        beside = answers_in_some_order([Careless(), Bad("die_later"), *methods], rng)
        assert {run: beside[run] for run in alone} == alone


def test_a_shared_worker_that_was_left_changed_is_replaced(monkeypatch):
    monkeypatch.setattr(runs.Run, "shares", True)
    alone = grid([line()], [Surroundings()], workers=1)["candidates"][0][0]["notes"]
    frame = grid([line()], [Careless(), Surroundings(), Slope()], workers=1)
    assert frame["candidates"][1][0]["notes"] == alone
    assert frame["solution"][2] != {"y": "nonsense"}


@pytest.mark.minutes
def test_cheap_methods_answer_the_same_in_fifty_drawn_orders_beside_a_careless_one(monkeypatch):
    monkeypatch.setattr(runs.Run, "shares", True)
    methods, rng = ["mean", "power_law", "least_squares", Slope(), Slope(digits=5)], np.random.default_rng(5)

    def answers(order):
        frame = grid([line()], order, workers=1)
        columns = ["method", "settings", "status", "reason", "candidates"]
        rows = [json.dumps(row) for row in frame[columns].to_dict("split")["data"]]
        return sorted(row for row in rows if not row.startswith('["careless"'))

    expected = sorted(row for method in methods for row in answers([method]))
    for _ in range(50):
        order = [methods[i] for i in rng.permutation(len(methods))[: rng.integers(2, 6)]]
        at = int(rng.integers(len(order) + 1))
        found = answers([*order[:at], Careless(), *order[at:]])
        assert len(found) == len(order) and {*found} <= {*expected}


def test_only_code_of_the_package_shares_a_worker():
    found = {m: runs.plan(["odes/1"], [m])[0].shares for m in ("sindy", "bidirectional", "operon", "gplearn")}
    assert found == {"sindy": True, "bidirectional": True, "operon": False, "gplearn": False}
    assert not runs.plan(["odes/1"], [Slope()])[0].shares


# -- what the machine does to a run is not its ending


def test_a_killed_worker_is_replaced_and_its_run_done_again(tmp_path):
    for end in ("kill_once", "kill_all"):  # one at a time: the second takes others' workers with it
        frame = grid([line()], [Bad(end, str(tmp_path / end)), Slope()])
        assert list(frame["status"]) == ["ok"] * 2, end


def test_a_run_that_the_machine_ends_is_not_stored(tmp_path):
    methods = [Bad("kill"), Bad("no_space")]
    for _ in range(2):
        frame = grid([line()], methods, store=tmp_path / "s.sqlite", workers=1)
        assert list(frame["status"]) == ["unavailable"] * 2 and not frame["reused"].any()
    assert stored(tmp_path / "s.sqlite") == 0


@pytest.mark.minutes
def test_drawn_interruptions_are_no_answers_and_such_runs_are_done_again(tmp_path):
    store, seeds, tries = tmp_path / "s.sqlite", range(60), dict.fromkeys(range(60), 0)
    answered = dict.fromkeys(seeds, False)
    while not all(answered.values()):
        reused = dict(answered)
        for seed in [seed for seed in seeds if not answered[seed]]:
            # one that is killed is done again at once; what it says itself, such as that the disk is full, is believed
            left = interruptions(seed)[tries[seed] :]
            again = 1 if left and isinstance(left[0], str) else 0
            tries[seed] += 1 + again
            answered[seed] = len(left) <= again
        frame = grid([line()], [Interrupted(str(tmp_path))], seeds=seeds, store=store).set_index("seed")
        assert frame["reused"].to_dict() == reused
        assert frame["status"].map({"ok": True, "unavailable": False}).to_dict() == answered
        assert stored(store) == sum(answered.values())
        assert {seed: len((tmp_path / str(seed)).read_text()) for seed in seeds} == tries
    assert list(frame["solution"]) == [{"y": f"{seed}*x"} for seed in seeds]


@pytest.mark.parametrize("whole", [True, False], ids=["with its grid", "alone"])
def test_time_in_which_a_run_is_stopped_does_not_count(tmp_path, whole):
    log = tmp_path / "log"
    code = f"print(*runs.grid([line()], [Logged({str(log)!r}, 1.5)], budget={{'seconds': 3}}, workers=1)['status'])"
    process = coordinator(code, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    wait_for(lambda: len(descendants(process.pid)) == 3)
    server, keeper, worker = descendants(process.pid)
    stopped = [process.pid, server, keeper, worker] if whole else [worker]
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(4.5)
    for pid in reversed(stopped):
        os.kill(pid, signal.SIGCONT)
    assert process.communicate(timeout=30)[0] == "ok\n"


def test_memory_that_the_machine_lacks_is_not_the_methods_fault(monkeypatch):
    running = SimpleNamespace(task=SimpleNamespace(memory_mb=2048), peak=100.0)
    assert executors._machine_short_of_memory(running) is None
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=2**30))
    assert executors._machine_short_of_memory(running)["status"] == "unavailable"


# -- the key and the store


def stored(path):
    with sqlite3.connect(path) as db:
        return db.execute("SELECT count(*) FROM runs").fetchone()[0]


def test_the_key_depends_on_everything_that_the_result_does():
    def key(problem=None, method=None, seed=0, budget=None):
        return runs.key(problem or line(), method or Slope(), seed, budget or Budget())

    others = [
        key(line("b")),
        key(line(slope=3.0)),
        key(line(noise=0.1)),
        key(method=Slope(digits=4)),
        key(method=Bad()),
        key(seed=1),
        key(budget=Budget(evaluations=5)),
    ]
    assert len({key(), *others}) == 8
    assert key() == key(line(note="prose", source="a book"))


def test_the_key_does_not_depend_on_prose_in_the_code(tmp_path):
    def key(title, body, value):
        lines = [f'"""{title}"""', "from rediscover.methods import Method", "class M(Method):", f"    {body}"]
        (tmp_path / "m.py").write_text("\n".join([*lines, f"    def fit(self): return {value}\n"]))
        code = "import m; print(runs.key(line(), m.M(), 0, Budget()))"
        process = coordinator(code, tmp_path, stdout=subprocess.PIPE)
        return process.communicate(timeout=30)[0]

    assert len(key("One.", "# why", 1)) == 65
    assert key("One.", "# why", 1) == key("Two.", "'''Doc.'''", 1)
    assert key("One.", "# why", 1) != key("One.", "# why", 2)


def test_a_second_time_everything_is_reused(tmp_path, monkeypatch):
    arguments = [line()], [Slope(), Bad("segfault"), Bad("hang"), Bad("unparsable")]
    first = grid(*arguments, store=tmp_path / "s.sqlite", budget=TIGHT)
    second = grid(*arguments, store=tmp_path / "s.sqlite", budget=TIGHT)
    pd.testing.assert_frame_equal(first.drop(columns="reused"), second.drop(columns="reused"))
    assert not first["reused"].any() and second["reused"].all()
    third = grid(*arguments, store=tmp_path / "s.sqlite", budget=TIGHT, retry=("timeout",))
    assert list(third["reused"]) == [True, True, False, True]
    monkeypatch.setenv("REDISCOVER_RETRY", "timeout error")
    fourth = grid(*arguments, store=tmp_path / "s.sqlite", budget=TIGHT)
    assert list(fourth["reused"]) == [True, False, False, True]
    assert stored(tmp_path / "s.sqlite") == 4


def test_the_same_run_asked_for_twice_is_done_once(tmp_path):
    frame = grid([line(), line()], [Logged(str(tmp_path / "log"))])
    assert list(frame["status"]) == ["ok", "ok"]
    assert (tmp_path / "log").read_text() == "lines/a 0\n"


def sweep(folder, n=30, pause=0.05):
    """Code of a coordinator with `n` runs that leave a line each in ``log``."""
    method = f"Logged({str(folder / 'log')!r}, {pause})"
    options = f"seeds=range({n}), store={str(folder / 's.sqlite')!r}, workers=2, progress=False"
    return f"print(runs.grid([line()], [{method}], {options}).to_csv())"


def test_a_coordinator_killed_halfway_resumes(tmp_path):
    log = tmp_path / "log"
    first = coordinator(sweep(tmp_path))
    wait_for(lambda: log.exists() and len(log.read_text().splitlines()) >= 10)
    workers = descendants(first.pid)
    assert 3 <= len(workers) <= 5  # the server, and two workers with their keepers, one perhaps between two runs
    first.kill()
    first.wait()
    wait_for(lambda: not any(map(running, workers)), seconds=5)
    kept = stored(tmp_path / "s.sqlite")
    before = log.read_text().splitlines()
    assert 8 <= kept <= len(before) < 30
    second = coordinator(sweep(tmp_path), stdout=subprocess.PIPE)
    second.communicate(timeout=60)
    computed = log.read_text().splitlines()[len(before) :]
    assert stored(tmp_path / "s.sqlite") == 30
    assert len(computed) == len(set(computed)) == 30 - kept
    frame = grid([line()], [Logged(str(log), 0.05)], seeds=range(30), store=tmp_path / "s.sqlite")
    assert frame["reused"].all()
    assert list(frame["solution"]) == [{"y": f"{seed}*x"} for seed in range(30)]


def descendants(pid):
    children = [int(c) for c in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return children + [d for child in children for d in descendants(child)]


def test_coordinators_killed_while_a_method_hangs_leave_nothing_behind(tmp_path):
    pid = tmp_path / "pid"
    process = coordinator(f"runs.grid([line()], [Bad('child', {str(pid)!r})], workers=1, progress=False)")
    wait_for(lambda: pid.exists() and pid.read_text())
    family = [*descendants(process.pid), int(pid.read_text())]
    process.kill()
    process.wait()
    wait_for(lambda: not any(map(running, family)), seconds=5)


def test_of_two_coordinators_the_second_waits_and_finds_the_work_done(tmp_path):
    both = [coordinator(sweep(tmp_path, n=20), stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    (one, said_one), (two, said_two) = (process.communicate(timeout=60) for process in both)
    assert [process.returncode for process in both] == [0, 0]
    assert (said_one + said_two).count("waiting for another process that works on") == 1
    assert len((tmp_path / "log").read_text().splitlines()) == 20
    assert sorted([one.count("False"), two.count("False")]) == [0, 20]  # the column `reused`


def filled(path):
    with closing(runs.Store(path)) as store:
        for i in range(40):
            store.put(f"key {i}", {}, {"status": "ok", "reason": "", "seconds": 1.0, "peak_mb": 9.0})
    return path


@pytest.mark.parametrize("part", [0.0, 0.1, 0.5, 0.97])
def test_a_truncated_store_is_an_error_and_is_kept(tmp_path, part):
    path = filled(tmp_path / "s.sqlite")
    whole = path.read_bytes()
    for n in (1, 2):
        path.write_bytes(whole[: int(part * len(whole))])
        with pytest.raises(runs.StoreError, match=rf"damaged .* kept as s.sqlite.damaged-{n}: run again") as caught:
            grid([line()], [Slope()], store=path)
        assert "\n" not in str(caught.value)
        assert (tmp_path / f"s.sqlite.damaged-{n}").read_bytes() == whole[: int(part * len(whole))]
    assert grid([line()], [Slope()], store=path)["reused"].tolist() == [False]


def flipped(path, into, bit):
    """A copy of a file with one bit changed."""
    whole = bytearray(path.read_bytes())
    whole[bit // 8] ^= 1 << bit % 8
    into.write_bytes(whole)
    return into


def test_no_flipped_bit_changes_what_a_store_gives(tmp_path):
    """Either the store is recognised as damaged, or what it gives is what was put, and the rest is done again."""
    path, rng = filled(tmp_path / "s.sqlite"), np.random.default_rng(0)
    with closing(runs.Store(path)) as store:
        expected = store.get(f"key {i}" for i in range(40))
    assert len(expected) == 40
    ends = collections.Counter()
    for k, bit in enumerate(rng.integers(0, 8 * path.stat().st_size, 300)):
        for shared in (False, True):
            copy = flipped(path, tmp_path / f"{k}-{shared}.sqlite", int(bit))
            try:
                with closing(runs.Store(copy, shared=shared)) as store:
                    found = store.get(expected)
            except runs.StoreError as error:
                ends["error"] += 1
                assert "kept as" in str(error) or "version" in str(error) or "cannot be" in str(error), error
            else:
                ends["fewer" if len(found) < 40 else "all"] += 1
                assert found == {key: expected[key] for key in found}
    assert len(ends) == 3, ends


def test_a_store_of_an_older_version_begins_anew(tmp_path):
    path = tmp_path / "s.sqlite"
    with closing(sqlite3.connect(path)) as db:
        db.executescript("CREATE TABLE runs (key TEXT PRIMARY KEY, result TEXT); PRAGMA user_version = 1;")
    assert grid([line()], [Slope()], store=path)["reused"].tolist() == [False]
    assert grid([line()], [Slope()], store=path)["reused"].tolist() == [True]


def test_a_file_that_is_no_store_is_kept(tmp_path):
    (tmp_path / "notes.txt").write_text("not a database, but dear to somebody " * 100)
    with pytest.raises(runs.StoreError, match="damaged"):
        grid([line()], [Slope()], store=tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt.damaged-1").read_text().startswith("not a database")


def test_a_store_from_a_newer_version_is_left_alone(tmp_path):
    path = filled(tmp_path / "s.sqlite")
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(runs.StoreError, match="version 99, this program knows 2: update rediscover"):
        grid([line()], [Slope()], store=path)
    with pytest.raises(runs.StoreError, match="version 99"):
        runs.Store.check(path)
    assert stored(path) == 40 and not list(tmp_path.glob("*damaged*"))


def test_a_store_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(runs.StoreError, match="cannot be written"):
        grid([line()], [Slope()], store=tmp_path / "file" / "s.sqlite")
    (tmp_path / "folder").mkdir()
    with pytest.raises(runs.StoreError, match="cannot be written"):
        grid([line()], [Slope()], store=tmp_path / "folder")


# -- arguments


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (([], [Slope()]), {}, ValueError, "no problems given"),
        (([line()], []), {}, ValueError, "no methods given"),
        (([line()], [Slope()]), {"seeds": ()}, ValueError, "no seeds given"),
        (([line()], [Slope()]), {"seeds": (-1,)}, ValueError, "seed must be a whole number >= 0, got -1"),
        (([line()], [Slope()]), {"seeds": (0.5,)}, ValueError, "seed must be a whole number >= 0, got 0.5"),
        (([line()], [Slope()]), {"budget": {"seconds": -1}}, ValueError, "seconds must be a positive number, got -1"),
        (([line()], [Slope()]), {"budget": {"second": 1}}, TypeError, "budget: no 'second'"),
        (([line()], [Slope()]), {"noise": (-0.1,)}, ValueError, "noise must be a finite number >= 0, got -0.1"),
        (([line()], [Slope()]), {"noise": ("1e-3",)}, TypeError, "noise level must be a number, got '1e-3'"),
        (([line()], [Slope()]), {"workers": 0}, ValueError, "workers must be a whole number >= 1, got 0"),
        (([line()], [Slope()]), {"retry": ("late",)}, ValueError, "cannot retry 'late'"),
        (([line()], ["slop"]), {}, KeyError, "unknown method 'slop'"),
        ((["surfacs/NCGS1"], [Slope()]), {}, KeyError, "did you mean 'surfaces'"),
        (([line()], [Slope]), {}, TypeError, "expected a name or a Method"),
        (([3], [Slope()]), {}, TypeError, "expected a name or a Problem, got 3"),
        (([line()], [Slope()]), {"scheduler": "nonsense"}, ConnectionError, "no Dask scheduler answers at nonsense"),
    ],
)
def test_bad_arguments_are_one_line_and_leave_nothing(tmp_path, arguments, options, error, message):
    with pytest.raises(error, match=message) as caught:
        grid(*arguments, store=tmp_path / "s.sqlite", **options)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_a_method_of_the_running_script_works_and_a_problem_is_refused():
    code = "class Mine(Slope):\n    name = 'mine'\nprint(*runs.grid([line()], [Mine()])['status'])"
    said, _ = coordinator(code, stdout=subprocess.PIPE).communicate(timeout=30)
    assert said == "ok\n"
    code = (
        "class Mine(type(line())): pass\nours = Mine(id='lines/x', truth={'y': 'x'}, inputs=('x',))\n"
        "try: runs.grid([ours], [Slope()])\nexcept TypeError as e: print(e)"
    )
    said, _ = coordinator(code, stdout=subprocess.PIPE).communicate(timeout=30)
    assert said == "grid: Mine must live in a module that workers can import: put it in a file\n"


def test_progress_goes_to_stderr_or_where_it_is_told(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("REDISCOVER_PROGRESS", raising=False)
    grid([line()], [Slope(), Bad("raise")], progress=True)
    out, err = capsys.readouterr()
    assert out == "" and "2/2" in err and "reused=0, failed=1, timeout=0" in err
    monkeypatch.setenv("REDISCOVER_PROGRESS", str(tmp_path / "terminal"))
    grid([line()], [Slope()], progress=True)
    assert "1/1" in (tmp_path / "terminal").read_text()
    monkeypatch.setenv("REDISCOVER_PROGRESS", str(tmp_path / "gone" / "terminal"))
    grid([line()], [Slope()], progress=True)
    assert "1/1" in capsys.readouterr().err
    monkeypatch.setenv("REDISCOVER_PROGRESS", "off")
    grid([line()], [Slope()], progress=True)
    assert capsys.readouterr().err == ""


def test_a_trivial_run_costs_little():
    frame = grid([line()], [Slope()], seeds=range(200), workers=1)
    assert frame["seconds"].median() < 0.02


# -- Dask


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def answers(address):
    host, _, port = address.removeprefix("tcp://").rpartition(":")
    with socket.socket() as s:
        return s.connect_ex((host, int(port))) == 0


@pytest.fixture
def cluster(tmp_path):
    """A Dask scheduler and two workers, as processes started by hand: (address, these processes)."""
    pytest.importorskip("distributed")
    address = f"tcp://127.0.0.1:{free_port()}"

    def start(*arguments):
        command = [sys.executable, "-m", "dask", *arguments]
        return subprocess.Popen(
            command, env=environment(), cwd=tmp_path, stderr=subprocess.DEVNULL, start_new_session=True
        )

    port = address.rpartition(":")[2]
    scheduler = start("scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard", "--no-show")
    options = ("--nthreads", "1", "--no-dashboard", "--no-nanny", "--local-directory", str(tmp_path))
    workers = [start("worker", address, *options) for _ in range(2)]
    try:
        yield address, [scheduler, *workers]
    finally:
        for process in [scheduler, *workers]:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def test_a_dask_cluster_gives_the_same_frame_and_survives_a_dead_worker(cluster, tmp_path, monkeypatch):
    address, (scheduler, worker, _) = cluster
    wait_for(lambda: answers(address))
    monkeypatch.setenv("SCHEDULER", address)
    methods = [Slope(), Bad("segfault"), Bad("hang"), Bad("raise")]
    there = grid([line()], methods, budget=TIGHT)
    here = grid([line()], methods, budget=TIGHT, scheduler="")
    pd.testing.assert_frame_equal(results(there), results(here))

    log = tmp_path / "log"
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    process = coordinator(sweep(tmp_path, n=40, pause=0.1), **options)
    wait_for(lambda: log.exists() and len(log.read_text().splitlines()) >= 8)
    family = descendants(worker.pid)
    worker.kill()
    said, _ = process.communicate(timeout=60)
    assert said.count(",ok,") == 40
    assert stored(tmp_path / "s.sqlite") == 40
    wait_for(lambda: not any(map(running, family)), seconds=5)

    threading.Timer(0.5, scheduler.kill).start()
    with pytest.raises(ConnectionError, match="went away; run again to go on"):
        grid([line()], [Logged(str(log), 0.1)], seeds=range(40))


def test_a_scheduler_that_dies_while_outcomes_are_fetched_is_said_in_one_line(cluster):
    address, (scheduler, *_) = cluster
    wait_for(lambda: answers(address))
    dask = executors.Dask(address, [])
    work = [runs.Run(line(), Slope(), seed, Budget()) for seed in range(3)]
    tasks = [executors.Task(run.key, pickle.dumps(run), 30.0, 300) for run in work]
    outcomes = dask.run(tasks)
    next(outcomes)
    wait_for(lambda: all(future.done() for future in dask.client.futures.values()))
    scheduler.kill()
    scheduler.wait()
    try:
        with pytest.raises(ConnectionError, match="went away; run again to go on"):
            list(outcomes)
    finally:
        dask.close()


def test_a_node_with_other_code_refuses():
    task = executors.Task("another key", pickle.dumps(runs.Run(line(), Slope(), 0, Budget())), 1.0, 300)
    outcome = executors._isolated(task, [])
    assert outcome["status"] == "unavailable" and outcome["reason"].endswith("has another version of the code")


def test_an_unreachable_scheduler_is_said_within_seconds(tmp_path):
    pytest.importorskip("distributed")
    started = time.monotonic()
    with pytest.raises(ConnectionError, match="no Dask scheduler answers at tcp:") as caught:
        grid([line()], [Slope()], store=tmp_path / "s.sqlite", scheduler=f"tcp://127.0.0.1:{free_port()}")
    assert time.monotonic() - started < 15
    assert "\n" not in str(caught.value) and not list(tmp_path.iterdir())

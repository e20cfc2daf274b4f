"""The processes below runs and limited calls: they end when they shall, and no answer meets another question."""

import os
import signal
import subprocess
import sys
import threading
import time

from processes import ends
from rediscover.system import workers

import pytest


@pytest.fixture
def pool():
    pool = workers.Pool()
    yield pool
    pool.close()


def sleeping_fork():
    """A child of the worker that would live for a minute."""
    pid = os.fork()
    if not pid:
        time.sleep(60)
        os._exit(0)
    return pid


def answer(worker, function, *arguments, **options):
    worker.begin(function, arguments, **options)
    return worker.connection.recv()


def test_a_worker_serves_one_call_after_another(pool):
    worker = pool.worker()
    assert [answer(worker, "operator:add", 2, i)[1] for i in range(3)] == [2, 3, 4]
    good, error = answer(worker, "operator:truediv", 1, 0)
    assert not good and isinstance(error, ZeroDivisionError)
    assert answer(worker, "os:getpid") == (True, worker.pid)
    assert worker.calls == 5


def test_how_a_worker_ended_is_told(pool):
    for function, arguments, code in (("os:_exit", (3,), 3), ("os:abort", (), -signal.SIGABRT)):
        worker = pool.worker()
        worker.begin(function, arguments)
        with pytest.raises(EOFError):
            worker.connection.recv()
        assert pool.stop(worker) == code
    worker = pool.worker()
    worker.begin("time:sleep", (60,))
    assert pool.stop(worker) == -signal.SIGKILL


def test_a_worker_that_died_while_idle_is_replaced():
    first = workers.call("os:getpid", seconds=60)
    os.kill(first, signal.SIGKILL)
    time.sleep(0.1)
    assert workers.call("os:getpid", seconds=60) != first


def test_a_fork_of_a_worker_does_not_hold_its_line(pool):
    worker = pool.worker()
    _, child = answer(worker, f"{__name__}:sleeping_fork")
    os.kill(worker.pid, signal.SIGKILL)
    assert worker.connection.poll(5)  # the line is closed, while the fork sleeps
    assert pool.stop(worker) == -signal.SIGKILL
    assert ends(child), f"process {child} outlived its worker"


def test_a_worker_ends_with_its_keeper_dead_or_stopped(pool):
    for sign in (signal.SIGKILL, signal.SIGSTOP):
        worker = pool.fresh()
        _, child = answer(worker, f"{__name__}:sleeping_fork")
        os.kill(worker.keeper, sign)
        pool.stop(worker)
        assert ends(worker.pid) and ends(child)
    assert answer(pool.fresh(), "operator:add", 2, 3) == (True, 5)


def test_workers_end_with_a_server_that_was_killed(pool):
    worker = pool.fresh()
    _, child = answer(worker, f"{__name__}:sleeping_fork")
    pool._server.kill()
    assert all(map(ends, (worker.keeper, worker.pid, child)))


def test_a_fresh_worker_knows_nothing_of_another(pool):
    for _ in range(2):
        assert answer(pool.fresh(), "builtins:exec", "import sys; assert not hasattr(sys, 'seen'); sys.seen = 1")[0]


def test_where_a_process_must_not_be_forked_workers_are_new_interpreters():
    pool = workers.Pool(spawn=True)
    try:
        worker = pool.fresh("scipy.optimize")
        assert answer(worker, "operator:add", 2, 3) == (True, 5)
        assert answer(worker, "os:getpid") == (True, worker.pid)
        _, child = answer(worker, f"{__name__}:sleeping_fork")
        pool.stop(worker)
        assert ends(worker.pid) and ends(child)
    finally:
        pool.close()


def test_a_dead_server_is_said_and_replaced(pool):
    worker = pool.worker()
    pool._server.kill()
    pool._server.wait()
    with pytest.raises(RuntimeError, match="or was killed"):
        pool.worker()
    assert pool.stop(worker) == -signal.SIGKILL
    assert answer(pool.worker(), "operator:add", 2, 3) == (True, 5)


def test_an_interrupt_leaves_no_answer_behind():
    """The main thread is interrupted in the middle of a call, and goes on with others."""
    workers.call("operator:add", 1, 1, seconds=60)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background of a shell ignores it
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        workers.call("time:sleep", 30, seconds=60)
    timer.join()
    signal.signal(signal.SIGINT, before)
    assert [workers.call("operator:add", i, 1, seconds=60) for i in range(3)] == [1, 2, 3]


def test_a_forked_process_has_workers_of_its_own():
    code = """if True:
        import os
        from rediscover.system import workers
        before = workers.call("os:getpid", seconds=60)
        if not os.fork():
            os._exit(workers.call("os:getpid", seconds=60) == before)
        assert os.wait()[1] == 0
        assert workers.call("os:getpid", seconds=60) == before
    """
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=60)


def test_after_a_kill_the_next_call_is_quick():
    workers.call("operator:add", 1, 1, seconds=60)
    with pytest.raises(TimeoutError):
        workers.call("time:sleep", 20, seconds=0.05)
    took = []
    for _ in range(100):
        began = time.perf_counter()
        workers.call("operator:add", 1, 1, seconds=60)
        took.append(time.perf_counter() - began)
    assert min(took) < 0.001 and took[0] < 2.0

"""Values of computer algebra do not depend on how fast a machine is: calls given up on are listed."""

import csv
import time
from pathlib import Path
from types import SimpleNamespace

from rediscover.expressions import algebra, parse, simplify
from rediscover.metrics import compared_trees, dynamics, edit_distance, equivalence, latex_trees, solution
from rediscover.problems import problem
from rediscover.runs.answers import OnAnswer
from rediscover.system import given_up, workers
from rediscover.system.store import CACHE

import pytest

HARD = "tan(" * 12 + "x0*x1 + 0.3" + ") + sin(x0 + x1)/cos(x1)" * 12
OPERATIONS = (
    algebra.simplified,
    dynamics.expanded,
    compared_trees.convert_published,
    compared_trees.convert_harmonised,
    compared_trees.convert_as_it_stands,
    equivalence.approximates,
    equivalence.collected,
    equivalence.compare_skeletons,
    latex_trees.sympy_classes,
    solution.compare,
    solution.extrapolates,
    solution.is_constant,
)


def compute(seconds):
    """So much computing, then 7."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    return 7


@pytest.fixture
def own(tmp_path, monkeypatch):
    """An empty list and an empty cache; the guard is set by ``own.guard(seconds)``."""

    def forget():
        given_up.listed.cache_clear()
        compared_trees.published_tree.cache_clear()
        compared_trees.harmonised_tree.cache_clear()

    def machine(name, guard):
        """Another machine, with nothing in its cache and no records, that gives up after so many seconds."""
        monkeypatch.setenv(CACHE, str(tmp_path / name))
        monkeypatch.setenv("REDISCOVER_FRESH", "1")
        monkeypatch.setenv("REDISCOVER_GUARD", str(guard))
        forget()

    monkeypatch.setattr(given_up, "LIST", tmp_path / "list.csv")
    monkeypatch.setattr(given_up, "LIMIT", 0.2)
    given_up.LIST.write_text(",".join(given_up.COLUMNS) + "\n")
    machine("first", 0.2)
    yield SimpleNamespace(machine=machine, forget=forget)
    monkeypatch.undo()
    forget()


def unable(*_, **__):
    raise AssertionError("computed")


def test_a_call_that_ends_gives_its_result(own):
    assert given_up.attempt(compute, 0.0) == 7
    assert given_up.add_noted() == 0 and not given_up.listed()
    with pytest.raises(ZeroDivisionError):
        given_up.attempt(divmod, 1, 0)


def test_an_unlisted_call_runs_under_the_guard_and_is_noted(own, monkeypatch):
    with pytest.raises(TimeoutError, match=r"no result within 0\.2 s"):
        given_up.attempt(compute, 1.0)
    with monkeypatch.context() as patch, pytest.raises(TimeoutError, match="compute is given up on"):
        patch.setattr(workers, "call", unable)
        given_up.attempt(compute, 1.0)
    monkeypatch.setenv("REDISCOVER_GUARD", "60")  # what was given up on sooner is tried again
    assert given_up.attempt(compute, 1.0) == 7


def test_a_call_that_ends_after_the_limit_of_the_list_is_listed_for_the_next_time(own):
    own.machine("first", 60)
    assert given_up.attempt(compute, 0.5) == 7 == given_up.attempt(compute, 0.5)
    assert given_up.add_noted() == 1
    with pytest.raises(TimeoutError):
        given_up.attempt(compute, 0.5)


def test_a_listed_call_is_not_computed_on_any_machine(own, monkeypatch):
    with pytest.raises(TimeoutError):
        given_up.attempt(compute, 1.0)
    assert given_up.add_noted() == 1
    own.machine("second", 60)
    monkeypatch.setattr(workers, "call", unable)
    with pytest.raises(TimeoutError, match=r"compute is given up on: \[1\.0\]"):
        given_up.attempt(compute, 1.0)
    with pytest.raises(AssertionError, match="computed"):
        given_up.attempt(compute, 2.0)


def test_the_list_is_sorted_and_grows_only_by_what_met_its_limit(own):
    for seconds in (1.0, 2.0, 3.0):
        with pytest.raises(TimeoutError):
            given_up.attempt(compute, seconds)
    own.machine("first", 0.1)
    with pytest.raises(TimeoutError):
        given_up.attempt(compute, 4.0)  # on a machine that is more impatient than the list
    assert [given_up.add_noted(), given_up.add_noted()] == [3, 0]
    with given_up.LIST.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert sorted(row["begins"] for row in rows) == ["[1.0]", "[2.0]", "[3.0]"]
    assert [row["digest"] for row in rows] == sorted(row["digest"] for row in rows)
    assert {(row["operation"], row["length"], row["seconds"]) for row in rows} == {("compute", "5", "0.2")}


def test_a_fast_and_a_slow_machine_give_the_same_values(own):
    """The slow one here has computed a hundredth when the guard ends it; the fast one would come to an end."""

    def values():
        own.forget()
        hard = parse(SLOW)
        return edit_distance.ned_details(SLOW, "x0*x1"), edit_distance.ned_harmonised(SLOW, "x0*x1"), simplify(hard)

    own.machine("fast", 60)
    before = values()
    assert before[0].status == "ok" and before[2][1] == "simplified"
    own.machine("slow", 0.01)
    assert values() != before  # without a list the guard decides
    given_up.LIMIT = 0.01
    assert given_up.add_noted() >= 3
    slow = values()
    own.machine("fast", 60)
    assert values() == slow  # also where the fast machine remembers how it ended
    own.machine("another", 60)
    assert values() == slow


SLOW = " + ".join(f"sin({i}*x0)**{i}*cos(x1 + {i})" for i in range(2, 6))


def test_the_key_of_a_score_holds_the_list(own):
    law = problem("srsd/I.12.1")
    before = OnAnswer("rediscover.studies.srsd.scores:score", law, "{}", 0).key
    with given_up.LIST.open("a") as file:
        file.write("compute,0,5,[1.0],30\n")
    own.forget()
    assert OnAnswer("rediscover.studies.srsd.scores:score", law, "{}", 0).key != before


def test_the_committed_list_names_operations_that_there_are():
    rows = given_up.listed()
    assert list(rows) == sorted(rows)
    assert {operation for operation, _ in rows} <= {function.__name__ for function in OPERATIONS}
    assert len({function.__name__ for function in OPERATIONS}) == len(OPERATIONS)
    assert {float(row["seconds"]) for row in rows.values()} <= {given_up.LIMIT}


def test_no_other_code_has_a_limit_of_its_own():
    folder = Path(given_up.__file__).parents[1]
    limited = {str(path.relative_to(folder)) for path in folder.rglob("*.py") if "workers.call(" in path.read_text()}
    assert limited == {"system/given_up.py", "system/workers.py"}

"""The defects of MDBench's wrapper of the end-to-end transformer, on the truth."""

import rediscover as rd
from rediscover.studies.mdbench.end_to_end import scrambled, truth_scrambled, used

import numpy as np
import pytest


def test_one_state_is_left_alone_and_several_are_scrambled():
    problems = [rd.problem(id) for id in rd.problems("odes")]
    errors = {problem.id: truth_scrambled(problem) for problem in problems}
    single = [errors[problem.id] for problem in problems if len(problem.outputs) == 1]
    several = [errors[problem.id] for problem in problems if len(problem.outputs) > 1]
    assert len(single) == 23 and len(several) == 40
    assert set(single) == {0.0}
    assert min(several) > 0.1 and np.median(several) > 1.0


@pytest.mark.parametrize("shape", [(7, 1), (7, 2), (30, 4)])
def test_every_number_stays_and_columns_do_not(shape):
    table = np.arange(np.prod(shape), dtype=float).reshape(shape)
    moved = scrambled(table)
    assert sorted(moved.ravel()) == sorted(table.ravel()) and moved.shape == shape
    assert (moved == table).all() == (shape[1] == 1)
    np.testing.assert_array_equal(moved.reshape(shape[::-1]).T, table)  # so it could have been undone


@pytest.mark.parametrize(
    "rows, expected", [(1, (1, 1, 10)), (200, (200, 1, 10)), (201, (201, 2, 20)), (10_001, (10_000, 50, 500))]
)
def test_rows_and_bags(rows, expected):
    assert used(rows)[:3] == expected
    assert 0 < used(rows).seen <= 1


def test_an_empty_table():
    with pytest.raises(ValueError, match="at least 1 row"):
        used(0)

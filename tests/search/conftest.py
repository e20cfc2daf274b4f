"""Tables that several tests of the engines search."""

import numpy as np
import pytest


@pytest.fixture(scope="session")
def square():
    """1,000 rows of two inputs in [-2, 2]."""
    return np.random.default_rng(1).uniform(-2, 2, (1000, 2))

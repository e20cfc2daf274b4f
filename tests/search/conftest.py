"""Slow checks of the engines run on request only: ``pytest tests/search -m slow``."""

import pytest


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: minutes on one core; `pytest -m slow`")


def pytest_collection_modifyitems(config, items):
    if "slow" in (config.option.markexpr or ""):
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    if slow:
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item not in slow]


@pytest.fixture(scope="session")
def square():
    """1,000 rows of two inputs in [-2, 2]."""
    import numpy as np

    return np.random.default_rng(1).uniform(-2, 2, (1000, 2))

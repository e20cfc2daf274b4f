"""What the methods share whose networks this project trained: the file of weights, asked for by name and digest."""

import rediscover as rd
from rediscover import methods
from rediscover.problems import Task
from rediscover.studies.srsd.pretraining import MODELS

import numpy as np
import pytest


@pytest.mark.parametrize("name", MODELS)
def test_weights_are_asked_for_by_name_and_digest(name, tmp_path):
    missing = rd.method(name, weights=str(tmp_path / "no.npz"))
    assert f"make pretrain MODEL={name}" in missing.available()
    (tmp_path / "w.npz").write_bytes(b"x")
    wrong = rd.method(name, weights=str(tmp_path / "w.npz"), sha256="0" * 64)
    assert "the setting sha256 says 000" in wrong.available()
    X = np.random.default_rng(0).uniform(1, 3, (60, 2))
    task = Task(("a", "b"), "y", X, 2.5 * X[:, 0] * X[:, 1])
    with pytest.raises(RuntimeError, match="SHA-256"):
        wrong.fit(task, budget=methods.Budget(), rng=np.random.default_rng(0))

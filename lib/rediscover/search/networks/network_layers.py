"""Layers of small transformers in NumPy, and the files of their weights; names of weights are those of PyTorch."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

Weights = Mapping[str, np.ndarray]


def read(path: Path) -> dict[str, np.ndarray]:
    """Weights from a file that `write` made, in single precision."""
    with np.load(path, allow_pickle=False) as arrays:
        weights = {name: arrays[name].astype(np.float32) for name in arrays.files}
    units = {name: weights.pop(f"{name}.unit") for name in list(weights) if f"{name}.unit" in weights}
    return {name: each * units[name] if name in units else each for name, each in weights.items()}


def write(weights: Weights, path: Path) -> None:
    """Matrices in 8 bits, as multiples of a 127th of the largest number of their row, and vectors in half precision."""
    arrays: dict[str, Any] = {}
    for name, each in weights.items():
        if each.ndim == 1:
            arrays[name] = each.astype(np.float16)
        else:
            unit = np.abs(each).max(axis=1, keepdims=True).astype(np.float32) / 127
            arrays[f"{name}.unit"] = unit
            arrays[name] = np.divide(each, unit, out=np.zeros_like(each), where=unit > 0).round().astype(np.int8)
    np.savez_compressed(path, **arrays)


def linear(weights: Weights, name: str, x: np.ndarray) -> np.ndarray:
    return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def normal(weights: Weights, name: str, x: np.ndarray) -> np.ndarray:
    """Layer normalisation."""
    centred = x - x.mean(axis=-1, keepdims=True)
    spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + np.float32(1e-5))
    return centred / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def feed_forward(weights: Weights, layer: str, x: np.ndarray) -> np.ndarray:
    return linear(weights, f"{layer}.linear2", np.maximum(linear(weights, f"{layer}.linear1", x), 0))


def projected(weights: Weights, name: str, x: np.ndarray, heads: int, parts: str) -> list[np.ndarray]:
    """Queries (q), keys (k), values (v) of an attention, as named, each of shape (..., heads, places, width / heads).

    Parameters
    ----------
    x : ndarray, shape (..., places, width)
    """
    matrices = dict(zip("qkv", np.split(weights[f"{name}.in_proj_weight"], 3), strict=True))
    shifts = dict(zip("qkv", np.split(weights[f"{name}.in_proj_bias"], 3), strict=True))
    each = [x @ matrices[part].T + shifts[part] for part in parts]
    return [part.reshape(*x.shape[:-1], heads, -1).swapaxes(-3, -2) for part in each]


def mixed(queries: np.ndarray, keys: np.ndarray, values: np.ndarray, barred: np.ndarray | None = None) -> np.ndarray:
    """Values by their shares of attention, shape (..., places, width); `barred` says which place does not see which."""
    scores = queries @ keys.swapaxes(-2, -1) / np.sqrt(np.float32(queries.shape[-1]))
    if barred is not None:
        scores = np.where(barred, np.float32(-np.inf), scores)
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    of_heads = ((shares / shares.sum(axis=-1, keepdims=True)) @ values).swapaxes(-3, -2)
    return of_heads.reshape(*of_heads.shape[:-2], -1)


def attend(weights: Weights, name: str, x: np.ndarray, to: np.ndarray, heads: int) -> np.ndarray:
    """Attention of each place in x, shape (places, width), to all of `to`."""
    queries = projected(weights, name, x, heads, "q")
    return linear(weights, f"{name}.out_proj", mixed(*queries, *projected(weights, name, to, heads, "kv")))

"""Doctests are looked for in every module but those that need PyTorch, which is an extra."""

import importlib.util

NEEDS_TORCH = [f"rediscover/search/{name}_training.py" for name in ("network", "sequence", "skeleton")]
collect_ignore = [] if importlib.util.find_spec("torch") else NEEDS_TORCH

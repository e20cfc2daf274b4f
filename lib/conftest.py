"""Doctests are looked for in every module but those that need PyTorch, which is an extra."""

import importlib.util

NEEDS_TORCH = ["rediscover/search/skeleton_training.py"]
collect_ignore = [] if importlib.util.find_spec("torch") else NEEDS_TORCH

"""Showing it: tables, figures, verdicts and where each of them came from."""

from .ledger import claims, combine, compare, published
from .output import Output

__all__ = ["Output", "claims", "combine", "compare", "published"]

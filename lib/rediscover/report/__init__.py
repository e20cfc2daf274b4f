"""Tables, figures, verdicts and where each of them came from."""

from . import budgets, comparisons, papers, plots, released, tables, trials
from .ledger import claims, combine, compare, compare_table
from .papers import catalogue, published
from .tables import Output

__all__ = [
    "Output",
    "budgets",
    "catalogue",
    "claims",
    "combine",
    "compare",
    "compare_table",
    "comparisons",
    "papers",
    "plots",
    "published",
    "released",
    "tables",
    "trials",
]

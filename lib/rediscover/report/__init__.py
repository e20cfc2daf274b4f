"""Tables, figures, verdicts and where each of them came from."""

from .ledger import claims, combine, compare
from .papers import catalogue, published
from .tables import Output

__all__ = ["Output", "catalogue", "claims", "combine", "compare", "published"]

"""Is it the same law? What a user calls to compare expressions, from the modules that do it.

`edit_distance` has the normalised edit distances, `solution` the relations that count as solved, `complexity` the
sizes, `trees` the distance between any two trees.
"""

from .complexity import COMPLEXITY_RULES, complexity
from .edit_distance import EditDistance, ned_details, ned_harmonised, ned_published
from .solution import Relation, equivalent, relation, solution_rate
from .trees import edit_script, tree_edit_distance

__all__ = [
    "COMPLEXITY_RULES",
    "EditDistance",
    "Relation",
    "complexity",
    "edit_script",
    "equivalent",
    "ned_details",
    "ned_harmonised",
    "ned_published",
    "relation",
    "solution_rate",
    "tree_edit_distance",
]

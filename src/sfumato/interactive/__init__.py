"""The interactive side: somebody asks, an answer comes back, and the study's ledger pays for it.

What is published is a model and not a table. It answers the one question it was made for, and its budget is gone.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.interactive.decision_tree import Node, Tree
    from sfumato.interactive.estimator import DiffPC45
    from sfumato.interactive.growing import DiffPTree
    from sfumato.interactive.tree_model import Model

# They load when first used: the estimator needs scikit-learn, which takes a second to import.
_HOMES = {
    "DiffPC45": "estimator",
    "DiffPTree": "growing",
    "Model": "tree_model",
    "Node": "decision_tree",
    "Tree": "decision_tree",
}

__all__ = ["DiffPC45", "DiffPTree", "Model", "Node", "Tree"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")

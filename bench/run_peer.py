"""Run another tool's private method in the environment that has it (`bench/peer_methods.py`), and judge its records."""

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

SMALLEST_LEAF = 0.002  # of the records, for a tree on synthetic records


def run_peer(method: str, python: str, epsilon: str, given: dict[str, Any], folder: Path) -> dict[str, Any]:
    """What the method found: `rows` or `chance`, and `seconds`."""
    source, target = folder / "in.npz", folder / "out.npz"
    np.savez(source, **given)
    command = [python, str(Path(__file__).with_name("peer_methods.py")), method, epsilon, str(source), str(target)]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - our own program
    with np.load(target) as found:
        return dict(found)


def chance_by_tree(rows: Any, test: Any) -> Any:
    """The probability of the second class for each test record, by a tree on synthetic records; the class is last."""
    model = DecisionTreeClassifier(min_weight_fraction_leaf=SMALLEST_LEAF, random_state=0)
    known = model.fit(rows[:, :-1], rows[:, -1]).predict_proba(test[:, :-1])
    return known[:, -1] if len(model.classes_) > 1 else np.full(len(test), float(model.classes_[0]))

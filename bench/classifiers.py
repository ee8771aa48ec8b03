"""What the five classifiers learn on Adult: from DiffGen (ε = 1, h = 10), from groups, and from the raw table.

    python -m bench.classifiers [--runs 10] [--protocol split]

Two thirds of the records are released and the last third is tested on, or as many stratified folds as runs. The splits
are seeded and the noise is not: two runs of this program differ by about the standard errors it prints. A second table
has the processor time that a classifier takes to learn and to predict once, apart from making the release.
"""

import argparse
import math
import time
from importlib import import_module
from importlib.resources import as_file, files
from typing import Any

from papers.machine import machine
from sfumato.evaluate.learning.classifiers import CLASSIFIERS
from sfumato.methods import DiffGen, Mondrian, recipe_of
from sfumato.study.file import load_study
from sfumato.study.study import Study
from sfumato.workflow import accuracies

METHODS = {
    "DiffGen, ε = 1, h = 10": DiffGen(epsilon=1, h=10),
    "Mondrian, k = 10": Mondrian(k=10),
}


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--protocol", default="split")
    asked = parser.parse_args()
    print(f"{machine()}; protocol {asked.protocol}, {asked.runs} runs; mean ± standard error, in percent\n")
    print(f"| learnt from | {' | '.join(CLASSIFIERS)} |\n|---|{'---|' * len(CLASSIFIERS)}")
    raw, least = "", ""
    with as_file(files("sfumato") / "data" / "adult") as folder:
        study = load_study(folder / "study.yaml")
        for name, method in METHODS.items():
            recipe = recipe_of(method, name="classifiers")
            found = accuracies(
                study, recipe, runs=asked.runs, protocol=asked.protocol, baseline=not raw, workers=None
            )  # fmt: skip
            if not raw:
                raw = " | ".join(_shown(one.ba.runs) for one in found.values() if one.ba is not None)
                print(f"| the raw table (BA) | {raw} |", flush=True)
            print(f"| {name} (CA) | {' | '.join(_shown(one.ca.runs) for one in found.values())} |", flush=True)
            least = " | ".join(_shown(one.la.runs) for one in found.values())
        print(f"| nothing (LA) | {least} |")
        timed(study)


def timed(study: Study) -> None:
    """Print what learning and predicting once takes: processor seconds, of all threads together."""
    module: Any = import_module("sfumato.evaluate.learning.accuracy")
    learn = module.predicted
    spent: list[float] = []
    many = len(CLASSIFIERS)

    def clocked(*given: Any) -> Any:
        began = time.process_time()
        found = learn(*given)
        spent.append(time.process_time() - began)
        return found

    print(f"\n| processor seconds, learnt from | {' | '.join(CLASSIFIERS)} |\n|---|{'---|' * len(CLASSIFIERS)}")
    module.predicted = clocked
    try:
        for name, method in METHODS.items():
            spent.clear()
            accuracies(study, recipe_of(method, name="classifiers"), runs=1, workers=1)
            assert len(spent) == 2 * many, "each once on the release, then each once on the raw records"
            print(f"| {name} | {' | '.join(f'{one:.1f}' for one in spent[:many])} |", flush=True)
    finally:
        module.predicted = learn
    print(f"| the raw table | {' | '.join(f'{one:.1f}' for one in spent[many:])} |")


def _shown(runs: tuple[float, ...]) -> str:
    mean = sum(runs) / len(runs)
    error = math.sqrt(sum((run - mean) ** 2 for run in runs) / max(len(runs) - 1, 1) / len(runs))
    return f"{100 * mean:.2f} ± {100 * error:.2f}"


if __name__ == "__main__":
    main()

"""Classification accuracy of DiffGen on Adult, measured as the paper does (its section 5, figure 3).

Two thirds of the records are released, the same cut is applied to the last third, a decision tree learns on the one
and is tested on the other; 10 runs. Every attribute takes part, the numerical ones undiscretised. Nothing here is
seeded but the splits: two runs of this program differ by about the standard errors it prints.

    python bench/accuracy.py [--runs 10] [--quick]
"""

import argparse
import math
import os
from concurrent.futures import ProcessPoolExecutor
from importlib.resources import as_file, files

from blowup import machine

from sfumato.methods import recipe_of
from sfumato.methods.diffgen import DiffGen
from sfumato.pipeline import worth
from sfumato.read import load_study

EPSILONS = ("0.1", "0.25", "0.5", "1", "1000000")
STEPS: tuple[int | str, ...] = (4, 7, 10, 13, 16, "auto")
Row = tuple[str, int | str, str, float, float]


def measured(job: tuple[str, int | str, str, int]) -> Row:
    """One line of the table: mean CA and its standard error, in percent."""
    epsilon, h, score, runs = job
    with as_file(files("sfumato") / "data" / "adult") as folder:
        study = load_study(folder / "study.yaml")
        method = DiffGen(epsilon=epsilon, h=h, score=score)
        found = worth(study, recipe_of(method, name="accuracy"), runs=runs, baseline=False).ca
    return epsilon, h, score, 100 * found.mean, 100 * found.deviation / math.sqrt(runs)


def baselines(runs: int) -> tuple[float, float]:
    """BA and LA, in percent."""
    with as_file(files("sfumato") / "data" / "adult") as folder:
        study = load_study(folder / "study.yaml")
        found = worth(study, recipe_of(DiffGen(epsilon=1, h=1), name="accuracy"), runs=runs)
    assert found.ba is not None, "asked for"
    return 100 * found.ba.mean, 100 * found.la.mean


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--quick", action="store_true", help="only the lines that the project has promised")
    asked = parser.parse_args()
    jobs = [(e, h, s, asked.runs) for s in ("max", "gini", "info_gain") for e in EPSILONS for h in STEPS]
    if asked.quick:
        jobs = [j for j in jobs if j[2] == "max" and (j[0], j[1]) in PROMISED]
    ba, la = baselines(asked.runs)
    print(f"{machine()}; {asked.runs} runs a line\n\nBA {ba:.2f}, LA {la:.2f}\n")
    print("| score | ε | h | CA % | ± standard error | CA − LA |\n|---|---|---|---|---|---|")
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for epsilon, h, score, mean, error in pool.map(measured, jobs):
            print(f"| {score} | {epsilon} | {h} | {mean:.2f} | {error:.2f} | {mean - la:.2f} |", flush=True)


PROMISED = {("1", 10), ("0.5", 7), ("0.5", 10), ("0.1", 4), ("0.1", 7), ("0.1", 10), ("1000000", 10)} | {
    (e, "auto") for e in EPSILONS
}

if __name__ == "__main__":
    main()

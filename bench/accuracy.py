"""Classification accuracy of DiffGen on Adult, measured as the paper does (its section 5, figure 3), and more of it.

`make reproduce FIGURE=diffgen-3` is the figure. This has the score `gini`, `h: auto` and ε = 10⁶ as well. Nothing
is seeded but the splits: two runs of this program differ by about the standard errors it prints.

    python -m bench.accuracy [--runs 10] [--quick]
"""

import argparse

from papers.machine import machine
from papers.mohammed_2011.accuracy import EPSILONS as PAPERS
from papers.mohammed_2011.accuracy import OURS, STEPS, baselines, measured
from papers.parallel import side_by_side
from sfumato.progress import silent

EPSILONS = (*PAPERS, "1000000")
PROMISED = {("1", 10), ("0.5", 7), ("0.5", 10), ("0.1", 4), ("0.1", 7), ("0.1", 10), ("1000000", 10)} | {
    (e, "auto") for e in EPSILONS
}


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--quick", action="store_true", help="only the lines that the project has promised")
    asked = parser.parse_args()
    scores = ("max",) if asked.quick else ("max", "gini", "info_gain")
    points = [(s, e, h) for s in scores for e in EPSILONS for h in (*STEPS, "auto")]
    jobs = [(s, OURS, e, h, asked.runs) for s, e, h in points if not asked.quick or (e, h) in PROMISED]
    (ba, _), (la, _) = baselines(asked.runs)
    print(f"{machine()}; {asked.runs} runs a line\n\nBA {ba:.2f}, LA {la:.2f}\n")
    print("| score | ε | h | CA % | ± standard error | CA − LA |\n|---|---|---|---|---|---|", flush=True)
    for one in side_by_side(measured, jobs, None, silent):
        print(f"| {one.score} | {one.epsilon} | {one.h} | {one.ca:.2f} | {one.error:.2f} | {one.above:.2f} |")


if __name__ == "__main__":
    main()

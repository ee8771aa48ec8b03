"""Releases of tables with sets, measured and attacked: diagnoses of diabetes130, and market baskets.

Diabetes: age, gender, days in hospital and the diagnoses of each encounter, as sets of nodes at level 2 of the taxonomy
of `bench/diabetes.py` (19 chapters below four groups); the class is whether the patient came back. A unit is an
encounter here, so that all of them take part in every release. Retail: baskets as sets of the 17 departments of
`bench/retail.py`, and, for noisy counts, of its items. Nothing here is private: measures look at raw records.

    python -m bench.set_measures [--data ../shared/data]
"""

import argparse
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import sfumato as sf
from bench import diabetes, retail
from papers.machine import machine
from papers.tables import diabetes as diabetes130
from sfumato.evaluate.measures import Reading

DATA = Path(__file__).parents[2] / "shared" / "data"
SHOWN = ("ploss-li", "mean-ploss-li", "uloss", "query-error", "marginals-1", "general-loss", "classification-loss")
NAMES = ("age", "gender", "time_in_hospital", "readmitted")


def encounters(folder: Path, data: Path) -> sf.Study:
    """The study of the diagnoses."""
    whole = diabetes.study(folder, data)
    attributes: dict[str, Any] = {name: dict(diabetes130.ATTRIBUTES[name]) for name in NAMES}
    attributes["time_in_hospital"] |= {"taxonomy": {"intervals": {"width": 2, "levels": 3}}}
    attributes["diagnosis"] = {
        "role": "quasi_identifier",
        "type": "set",
        "columns": ["diag_1", "diag_2", "diag_3"],
        "taxonomy": diabetes.taxonomy("observed", data),
        "outside": "keep",
        "level": 2,
    }
    source = whole.declared.source
    return sf.Study.from_mapping(
        {
            "name": "encounters",
            "source": source,
            "privacy": {"budget": "1000"},
            "ledger": "memory:",
            "attributes": attributes,
        }
    )


def baskets(data: Path, level: int | None) -> sf.Study:
    """The study of the baskets."""
    items = {
        "role": "quasi_identifier", "type": "set", "separator": " ", "taxonomy": retail.taxonomy(),
        **({} if level is None else {"level": level}),
    }  # fmt: skip
    return sf.Study.from_mapping(
        {
            "name": "baskets",
            "source": retail.baskets(data),
            "privacy": {"budget": "1000"},
            "ledger": "memory:",
            "attributes": {"items": items, "target": {"role": "class", "values": ["no", "yes"]}},
        }
    )


def measured(study: sf.Study, methods: Mapping[str, Any], folder: Path) -> None:
    """Release, measure, attack; a line each, with the seconds of a processor that measuring took."""
    print("| release | rows | " + " | ".join(f"`{name}`" for name in SHOWN) + " | linked to one | seconds |")
    print("|---" * (len(SHOWN) + 4) + "|")
    refused: list[str] = []
    for name, method in methods.items():
        published = study.release(method, out=folder / f"{study.name}-{name}".replace(" ", "-"))
        began = time.process_time()
        found = study.measure(published)
        linked = study.attack_link(published)
        took = time.process_time() - began
        one_record = "–" if method.name == "diffgen" else f"{100 * linked.unique:.2f} %"
        numbers = [f"{found[one].value:.3g}" if isinstance(found[one], Reading) else "–" for one in SHOWN]  # type: ignore[union-attr]
        print(
            f"| {name} | {published.rows:,} | {' | '.join(numbers)} | {one_record} | {took:.1f} |",
            flush=True,
        )
        refused = [one for one, why in found.items() if not isinstance(why, Reading)]
    print(f"\nrefused for the last: {', '.join(refused)}\n")


def main() -> None:
    """Print a table for each study, and a small frontier."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    asked = parser.parse_args()
    print(f"{machine()}\n")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        groups = {
            "Mondrian, k = 10, suppress 5 %": sf.Mondrian(k=10, suppress="0.05"),
            "full-domain, k = 10, suppress 5 %": sf.FullDomain(k=10, suppress="0.05"),
        }
        noisy = {f"DiffGen, ε = {epsilon}, h = 4": sf.DiffGen(epsilon=epsilon, h=4) for epsilon in ("0.5", "2")}
        study = encounters(folder, asked.data / "diabetes130")
        measured(study, groups | noisy, folder)
        began = time.process_time()
        sweep = sf.sweep("mondrian", k=[5, 50], suppress=["0.05"]) + sf.sweep("diffgen", epsilon=["0.5", "2"], h=4)
        found = sf.frontier(study, sweep, workers=1)
        for point in (*found.points, *found.baselines):
            print(f"- {point.label}: {', '.join(f'{name} {value:.3g}' for name, value in point.numbers.items())}")
        print(f"\nfrontier: {time.process_time() - began:.1f} s\n")
        measured(
            baskets(asked.data / "retail", 1), groups | {"DiffGen, ε = 1, h = 1": sf.DiffGen(epsilon=1, h=1)}, folder
        )
        measured(baskets(asked.data / "retail", None), {"items, ε = 1, h = 3": sf.DiffGen(epsilon=1, h=3)}, folder)


if __name__ == "__main__":
    main()

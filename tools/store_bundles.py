"""Make the stored bundles of tests/stored: a bundle of every method and form, as a version of Sfumato writes them.

    python tools/store_bundles.py tests/stored/manifest-1

Bundles that were published stay readable: later versions open and verify these very files. So make a folder once for
each manifest format, and never again. The records are made up from a seed.
"""

import shutil
import sys
import tempfile
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import sfumato as sf

SIZE = 300
HELD, MISSING = 0.3, 0.05  # how many records have a code, and how many lack their pay
JOBS = {"Any": {"Office": ["Clerk", "Manager"], "Field": ["Farmer", "Driver", "Guard"]}}
CODES = {"Any": {"A": ["A1", "A2"], "B": ["B1", "B2", "B3"]}}


def records() -> pa.Table:
    """A table with numbers, categories, days, sets, missing values and a person to several records."""
    rng = np.random.default_rng(2026)
    jobs = [job for below in JOBS["Any"].values() for job in below]
    codes = [code for below in CODES["Any"].values() for code in below]
    return pa.table(
        {
            "person": [f"p{i // 2}" for i in range(SIZE)],
            "age": rng.integers(18, 90, SIZE),
            "job": rng.choice(jobs, SIZE, p=[0.4, 0.1, 0.2, 0.2, 0.1]),
            "since": [date(2020, 1, 1) + timedelta(days=int(d)) for d in rng.integers(0, 1_000, SIZE)],
            "codes": ["+".join(np.array(codes)[row].tolist()) for row in rng.random((SIZE, len(codes))) < HELD],
            "ill": rng.choice(["cold", "flu", "gout", "none"], SIZE),
            "pay": [None if rng.random() < MISSING else float(round(p, 1)) for p in rng.uniform(10, 90, SIZE)],
            "moved": rng.choice(["no", "yes"], SIZE, p=[0.7, 0.3]),
        }
    )


def study(*columns: str, persons: bool = False) -> sf.Study:
    """A study of some of the columns."""
    attributes: dict[str, Any] = {
        "age": {"role": "quasi_identifier", "type": "integer", "bounds": [0, 120], "step": 1},
        "job": {"role": "quasi_identifier", "taxonomy": JOBS},
        "since": {"role": "quasi_identifier", "type": "date", "bounds": ["2020-01-01", "2023-12-31"]},
        "codes": {"role": "quasi_identifier", "type": "set", "separator": "+", "level": 2, "taxonomy": CODES},
        "ill": {"role": "sensitive", "values": ["cold", "flu", "gout", "none"]},
        "pay": {"role": "insensitive", "type": "number", "bounds": [0, 100], "step": "0.1", "missing": "keep"},
        "moved": {"role": "class", "values": ["no", "yes"]},
    }
    unit: Any = {"person": "person", "at_most": 2} if persons else "record"
    return sf.Study.from_mapping(
        {
            "name": "stored-persons" if persons else "stored",
            "source": records(),
            "privacy": {"unit": unit, "budget": 1_000_000},
            "attributes": {name: attributes[name] for name in columns},
        }
    )


PLAIN = ("age", "job", "since", "ill", "pay", "moved")
RELEASES: dict[str, tuple[tuple[str, ...], Any]] = {
    "staged": (PLAIN, sf.Staged(epsilon=5)),
    "marginals": (PLAIN, sf.Marginals(epsilon=5)),
    "diffgen": (PLAIN, sf.DiffGen(epsilon=2, h=5)),
    "diffgen-none": (PLAIN, sf.DiffGen(epsilon=2, h=5, post="none")),
    "diffgen-sets": (("age", "codes", "moved"), sf.DiffGen(epsilon=5, h=4)),
    "contingency": (("job", "ill", "moved"), sf.ContingencyTable(epsilon=2)),
    "contingency-least-squares": (("job", "moved"), sf.ContingencyTable(epsilon=2, post="least_squares")),
    "contingency-scale": (("job", "moved"), sf.ContingencyTable(epsilon=2, post="scale")),
    "contingency-without-target": (("job", "ill"), sf.ContingencyTable(epsilon=2)),
    "mondrian": (PLAIN, sf.Mondrian(k=5)),
    "mondrian-models": (PLAIN, sf.Mondrian(k=4, privacy={"t-closeness": {"t": "0.5"}, "distinct-l-diversity": 2})),
    "mondrian-sets": (("age", "codes", "ill", "moved"), sf.Mondrian(k=5)),
    "full-domain-suppressed": (("job", "ill", "pay", "moved"), sf.FullDomain(k=35, suppress="0.3")),
    "tds": (PLAIN, sf.Tds(k=5)),
    "anatomy": (PLAIN, sf.Anatomy(l=3)),
    "bucketization": (PLAIN, sf.Bucketization(privacy={"distinct-l-diversity": 2})),
    "capped-confidence": (PLAIN, sf.ConfidenceCap(rate="0.8", distortion="0.9")),
}


def main() -> None:
    """Make every bundle in a folder that does not exist yet."""
    place = Path(sys.argv[1])
    place.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, (columns, method) in RELEASES.items():
            done = study(*columns).release(method, out=Path(folder) / name, report=False, anyway=True)
            shutil.copytree(done.bundle, place / name)
            print(name, sum(file.stat().st_size for file in done.bundle.iterdir()), "bytes")
        done = study("age", "job", "moved", persons=True).release(
            sf.ContingencyTable(epsilon=2), out=Path(folder) / "persons", report=False, anyway=True
        )
        shutil.copytree(done.bundle, place / "persons")


if __name__ == "__main__":
    main()

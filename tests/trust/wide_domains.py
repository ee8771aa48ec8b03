"""Releases of attributes with a billion values each; a program of its own, started by test_wide_domains.py.

    wide_domains.py FOLDER METHOD…

Every release keeps all the models about sensitive values at once, is verified from its bundle and measured. Address
space is bounded, so that an array over a domain (8 GB) ends the program at once and takes nothing from other processes.
The peak memory in KiB is printed.
"""

import resource
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa

from sfumato import (
    Anatomy,
    BasicBetaLikeness,
    Bucketization,
    ConfidenceCap,
    DeltaDisclosure,
    DistinctLDiversity,
    EnhancedBetaLikeness,
    EntropyLDiversity,
    FullDomain,
    Mondrian,
    ProbabilisticLDiversity,
    RecursiveLDiversity,
    Study,
    TCloseness,
    Tds,
    verify_bundle,
)
from sfumato.privacy.groups.distances import DISTANCES

MOST = 6 << 30  # bytes of address space: libraries reserve far more of it than they use
BILLION = 10**9
PAY = {"attribute": "pay"}
PROMISE = (
    DistinctLDiversity(l=3, **PAY),
    EntropyLDiversity(l=2, **PAY),
    RecursiveLDiversity(c=3, l=2, **PAY),
    ProbabilisticLDiversity(l=2, **PAY),
    DeltaDisclosure(delta=3, **PAY),
    BasicBetaLikeness(beta=3, **PAY),
    EnhancedBetaLikeness(beta=3, **PAY),
    *(TCloseness(t="0.6", distance=distance, **PAY) for distance in DISTANCES),
    *(TCloseness(t="0.9", distance=distance, attribute="debt") for distance in ("equal", "ordered", "js")),
)
METHODS = {
    "mondrian": Mondrian(k=40, privacy=PROMISE),
    "relaxed": Mondrian(k=40, strict=False, privacy=PROMISE),
    "loss": Mondrian(k=40, choose="loss", privacy=PROMISE),
    "tds": Tds(k=40, privacy=PROMISE),
    "full-domain": FullDomain(k=40, suppress="0.1", privacy=PROMISE),
    "bucketization": Bucketization(k=40, privacy=PROMISE),
    "two tables": Bucketization(k=40, tables=2, privacy=PROMISE),
    "anatomy": Anatomy(l=3),
    "capped": ConfidenceCap(rate="0.5", distortion=1, attribute="pay"),
}


def study_of(records, debt):
    """A number with intervals and one without among the quasi-identifiers and among the sensitive attributes."""
    rng = np.random.default_rng(0)
    wide = {"type": "integer", "bounds": [0, BILLION], "step": 1}
    intervals = {"taxonomy": {"intervals": {"width": 10**7, "levels": 4, "factor": 4}}}
    few = np.array([3, 40_000_000, 40_000_001, 500_000_000, 999_999_999, 10**9])
    source = {
        "zone": rng.integers(0, BILLION + 1, records),
        "pay": rng.choice(few, records),
        "debt": rng.integers(0, 40, records) ** 2 * 600_000,
        "gain": rng.integers(0, BILLION + 1, records),
        "ill": rng.choice(["no", "yes"], records),
    }
    attributes = {
        "zone": {"role": "quasi_identifier", **wide, **intervals},
        "pay": {"role": "sensitive", **wide, **intervals},
        "debt": {"role": debt, **wide},
        "gain": {"role": "insensitive", **wide},
        "ill": {"role": "class", "values": ["no", "yes"]},
    }
    return Study.from_mapping({"name": "wide", "source": pa.table(source), "attributes": attributes})


def run(folder, name):
    """Release, verify, measure; the bundle's checks all pass."""
    study = study_of(2_000, "insensitive" if name == "anatomy" else "sensitive")
    out = folder / name.replace(" ", "-")
    study.release(METHODS[name], out=out, insecure_seed=7)
    checked = verify_bundle(out)
    assert checked.ok, checked
    assert study.measure(out)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MOST, MOST))
    for method in sys.argv[2:]:
        run(Path(sys.argv[1]), method)
    # Not ru_maxrss: that has the memory of whoever started this process in it.
    [peak] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:")]
    sys.stdout.write(f"{int(peak.split()[1])}\n")

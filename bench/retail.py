"""Market baskets as sets: 88,162 baskets of 16,470 items (Brijs), the hard case for set-valued attributes.

The taxonomy is by ranges of item numbers, 32 items to a shelf, 32 shelves to a department: public, and of no meaning
beyond that, since nothing is known of the items. What is predicted is whether a basket holds item 39, which was taken
out of the sets. A basket holds up to 76 items, so there is no small `most`: regions are numbered far beyond machine
integers, and all but the occupied ones are drawn by gaps.

    python -m bench.retail [--epsilon 1] [--data ../shared/data/retail]
"""

import argparse
import gzip
import tempfile
import time
from pathlib import Path

import pyarrow as pa

import sfumato as sf
from papers.machine import machine
from sfumato.domains.taxonomy.tree import Node, Taxonomy

DATA = Path(__file__).parents[2] / "shared" / "data" / "retail"
ITEMS, FAN_OUT, TARGET = 16_470, 32, "39"


def taxonomy() -> Taxonomy:
    """Ranges of item numbers, three levels."""

    def below(start: int, width: int) -> Node:
        stop = min(start + width, ITEMS)
        if width == 1:
            return Node(str(start))
        return Node(
            f"{start}-{stop - 1}", tuple(below(s, width // FAN_OUT) for s in range(start, stop, width // FAN_OUT))
        )

    return Taxonomy.of(Node("Any", tuple(below(start, FAN_OUT**2) for start in range(0, ITEMS, FAN_OUT**2))))


def baskets(data: Path = DATA) -> pa.Table:
    """A basket a record: its items without the one to predict, and whether that was there."""
    with gzip.open(data / "retail.dat.gz", "rt") as file:
        rows = [line.split() for line in file]
    return pa.table(
        {
            "items": [" ".join(item for item in row if item != TARGET) for row in rows],
            "target": ["yes" if TARGET in row else "no" for row in rows],
        }
    )


def study(table: pa.Table) -> sf.Study:
    """The study of a table of baskets."""
    return sf.Study.from_mapping(
        {
            "name": "retail",
            "source": table,
            "privacy": {"budget": "1000"},
            "ledger": "memory:",
            "attributes": {
                "items": {"role": "quasi_identifier", "type": "set", "separator": " ", "taxonomy": taxonomy()},
                "target": {"role": "class", "values": ["no", "yes"]},
            },
        }
    )


def main() -> None:
    """Release once and print what it cost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--data", type=Path, default=DATA)
    asked = parser.parse_args()
    table = baskets(asked.data)
    print(f"{machine()}; {len(table):,} baskets\n")
    print("| h | nodes | combinations | groups listed | seconds |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place:
        for h in (1, 3, 10):
            began = time.perf_counter()
            method = sf.DiffGen(epsilon=asked.epsilon, h=h, score="gini")
            published = study(table).release(method, out=Path(place) / str(h))
            [cut] = published.draft.groups.cuts
            took = time.perf_counter() - began
            print(
                f"| {h} | {len(cut.starts)} | 2^{len(cut.starts)} × 2 | {published.rows:,} | {took:.1f} |", flush=True
            )


if __name__ == "__main__":
    main()

"""A made table in the form of the survey's, small enough for the default tests."""

import csv
import gzip
import random
from pathlib import Path

GROUPS = [f"G{n}" for n in range(6)]
STATES = [
    ("01", "AL", "East South Central", "South"),
    ("02", "AK", "Pacific", "West"),
    ("04", "AZ", "Mountain", "West"),
]


def made_survey(folder: Path, rows: int, seed: int = 5) -> Path:
    """Write table and hierarchies below a folder, as the folder of public tables has them."""
    draw = random.Random(seed)
    trees = folder / "acs_pums_2024" / "hierarchies"
    trees.mkdir(parents=True)
    codes = {str(10 * n): GROUPS[n % len(GROUPS)] for n in range(1, 13)}
    _write(trees / "occp.csv", "occp,group,sector,any", [(c, g, "All work", "*") for c, g in codes.items()])
    _write(trees / "state.csv", "state,abbr,division,region,any", [(*row, "*") for row in STATES])
    levels = [(str(n), "Low" if n < 16 else f"High {n}", "Below" if n < 16 else "Above", "*") for n in range(1, 25)]
    _write(trees / "schl.csv", "schl,level1,level2,any", levels)
    head = "age sex education marital race work_class hispanic_origin state occupation occupation_group income"
    with gzip.open(folder / "acs_pums_2024" / "occ_sal_view.csv.gz", "wt", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(head.split())
        for _ in range(rows):
            age, code = draw.randint(16, 96), draw.choice(list(codes))
            education = draw.choice([1, 12, 16, 16, 18, 19, 20, 21, 21, 22])
            marital = draw.choices([1, 2, 3, 4, 5], [53, 3, 10, 2, 32])[0]
            race = draw.choices(range(1, 10), [70, 9, 1, 1, 1, 5, 1, 4, 8])[0]
            income = int(draw.lognormvariate(10.5, 1)) - 2_000
            state = draw.choice(STATES)[0]
            writer.writerow([age, draw.randint(1, 2), education, marital, race, 1, 1, state, code, codes[code], income])
    return folder


def _write(path: Path, head: str, rows: list[tuple[str, ...]]) -> None:
    path.write_text("\n".join([head, *(",".join(row) for row in rows)]) + "\n", encoding="utf-8")

"""A small table as it comes from an office: semicolons, decimal commas, days first, gaps, and odd names of columns."""

HEADER = ("record id", "<b>x</b>", "a b", "naïve", "born", "visited", "income", "sex")


def write_messy(path, rows=60):
    """Write the table; the same each time."""
    lines = [";".join(HEADER)]
    for n in range(rows):
        missing = n % 10 == 0
        lines.append(
            ";".join(
                (
                    f"R{n:05}",
                    ("low", "mid", "<i>high</i>")[n % 3],
                    "?" if n % 15 == 0 else f"{n % 40},5",
                    "" if missing else str(20 + n % 50),
                    f"{n % 28 + 1:02}.{n % 12 + 1:02}.19{50 + n % 40}",
                    f"{n % 28 + 1:02}.03.2024",
                    f"1.{n % 10}00,25 €",
                    "fm"[n % 2],
                )
            )
        )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


STUDY = """\
name: büro
source: {path: messy.csv, missing: ["?"]}
privacy: {unit: record, budget: 2}
attributes:
  <b>x</b>: {role: quasi_identifier, values: [low, mid, "<i>high</i>"]}
  naïve: {role: quasi_identifier, type: integer, bounds: [0, 100], step: 10, missing: keep}
  sex: {role: class, values: [f, m]}
purposes:
  für ε + alle: {attributes: [<b>x</b>, naïve, sex]}
  only sex: {attributes: [<b>x</b>, sex]}
releases:
  dp ε: {purpose: für ε + alle, method: diffgen, epsilon: 0.5, h: 2}
  k5: {method: mondrian, k: 5}
sweeps:
  "ε + k":
    - {method: mondrian, k: [5, 20]}
    - {method: diffgen, epsilon: [1], h: 2}
"""


def write_messy_study(folder, *, rows=300):
    """The table with a study of some of its columns, in a file whose name has a blank; the path of the study."""
    write_messy(folder / "messy.csv", rows)
    path = folder / "my study.yaml"
    path.write_text(STUDY, encoding="utf-8")
    return path

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

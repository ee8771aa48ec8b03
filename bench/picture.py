"""The README's picture: staged tables beside DiffGen on Adult, from the numbers that `bench.staged` printed.

python -m bench.staged --table Adult --numbers docs/images/staged.json
python -m bench.picture docs/images/staged.json docs/images/staged.svg
"""

import json
import sys
from pathlib import Path
from typing import Any, Final

import altair as alt

from sfumato.frontier.plot import data_of

COLOURS: Final = {  # told apart by people who see colours otherwise, and by their marks
    "staged, its classifier": "#0072b2",
    "staged, tree on its records": "#56b4e9",
    "DiffGen, tree": "#d55e00",
    "raw records, tree": "#666666",
}


def drawn(found: dict[str, Any]) -> Any:
    """Accuracy and query error against ε."""
    points = [point | {"epsilon": float(point["epsilon"])} for point in found["points"] if point["table"] == "Adult"]
    legend = alt.Legend(title=None, orient="bottom", columns=4, labelLimit=300)
    colour = alt.Color("what:N", scale=alt.Scale(domain=list(COLOURS), range=list(COLOURS.values())), legend=legend)
    shape = alt.Shape("what:N", scale=alt.Scale(domain=list(COLOURS)), legend=legend)
    epsilon = alt.X(
        "epsilon:Q",
        title="privacy budget ε (smaller is more private)",
        scale=alt.Scale(type="log"),
        axis=alt.Axis(values=sorted({point["epsilon"] for point in points})),
    )
    accuracy = (
        alt.Chart(data_of(points), title="Predicting income: accuracy, % (higher is better)", width=380, height=250)
        .mark_line(point=alt.OverlayMarkDef(filled=True, size=60))
        .encode(epsilon, alt.Y("accuracy:Q", title=None, scale=alt.Scale(zero=False)), colour, shape)
    )
    known = [point for point in points if point["query_error"] is not None]
    queries = (
        alt.Chart(
            data_of(known),
            title="Counting: mean error, as a multiple of the truth (lower is better)",
            width=380,
            height=250,
        )
        .mark_line(point=alt.OverlayMarkDef(filled=True, size=60))
        .encode(epsilon, alt.Y("query_error:Q", title=None, scale=alt.Scale(type="log")), colour, shape)
    )
    title = alt.Title(
        "One table, one privacy budget: staged tables beside DiffGen",
        subtitle=f"Adult census, means of {found['splits']} splits; {found['machine']}",
    )
    return alt.hconcat(accuracy, queries, title=title).configure_view(stroke=None).configure_axis(grid=True)


def main() -> None:
    """Draw to a file: SVG, PNG or HTML by its ending."""
    source, target = (Path(argument) for argument in sys.argv[1:])
    drawn(json.loads(source.read_text(encoding="utf-8"))).save(str(target))


if __name__ == "__main__":
    main()

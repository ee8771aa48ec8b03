"""A study with a time, for tests of purposes, spans and questions."""

import pyarrow as pa

from sfumato.api import Study

YEARS = {2012: 40, 2013: 60, 2014: 100}  # how many records of each year
SPANS = {
    "twelve": ["2012-01-01", "2013-01-01"],
    "thirteen": ["2013-01-01", "2014-01-01"],
    "both": ["2012-07-01", "2014-01-01"],
}


def table(undated=20):
    """Records of several years, some without a readable day; a third of them Lawyers."""
    days = [f"{1 + n % 28}/{1 + n % 12}/{year}" for year, many in YEARS.items() for n in range(many)]
    days += ["31/6/2013", "", "soon", None] * (undated // 4)
    return pa.table(
        {
            "who": [f"p{n % 70}" for n in range(len(days))],
            "day": days,
            "age": [20 + 7 * n % 60 for n in range(len(days))],
            "job": [("Lawyer", "Dancer", "Writer")[n % 3] for n in range(len(days))],
            "ill": [("no", "yes")[n % 5 == 0] for n in range(len(days))],
        }
    )


def study(*, unit="record", budget=2, where=None, source=None, **more):
    wanted = {"attributes": ["age", "job", "ill"]}
    purposes = {name: {**wanted, "span": span} for name, span in SPANS.items()}
    purposes["lawyers"] = {**wanted, "where": where or {"job": "Lawyer", "age": "[30, 60)"}}
    return Study.from_mapping(
        {
            "name": "clinic",
            "source": table() if source is None else source,
            "privacy": {"unit": unit, "budget": budget},
            "attributes": {
                "day": {"role": "time", "type": "date", "format": "%d/%m/%Y"},
                "age": {"role": "quasi_identifier", "type": "integer", "bounds": [0, 99]},
                "job": {"role": "quasi_identifier", "values": ["Lawyer", "Dancer", "Writer", "Cook"]},
                "ill": {"role": "class", "values": ["no", "yes"]},
            },
            "purposes": purposes,
            **more,
        }
    )

"""Purposes over the real dates of COMPAS: what releases cost together, and that each is made from its own records."""

import csv
from fractions import Fraction

import pytest

import sfumato as sf
from sfumato.ledger import stretches

EARLY, LATE, MIDDLE = ["2013-01-01", "2014-01-01"], ["2014-01-01", "2015-01-01"], ["2013-07-01", "2014-07-01"]
ATTRIBUTES = ["age", "sex", "c_charge_degree", "two_year_recid"]


@pytest.fixture(scope="module")
def source(shared_data):
    path = shared_data / "compas" / "compas_two_years.csv"
    if not path.is_file():
        pytest.skip("COMPAS is not here: put compas_two_years.csv in ../shared/data/compas")
    return path


def study(source, *, unit="record", budget=2, time="compas_screening_date"):
    def purpose(span):
        return {"attributes": ATTRIBUTES, "span": span}

    return sf.Study.from_mapping(
        {
            "name": "compas",
            "source": str(source),
            "privacy": {"unit": unit, "budget": budget},
            "attributes": {
                time: {"role": "time", "type": "date"},
                "age": {"role": "quasi_identifier", "type": "integer", "bounds": [18, 99]},
                "sex": {"role": "quasi_identifier", "values": ["Female", "Male"]},
                "c_charge_degree": {"role": "quasi_identifier", "values": ["F", "M"]},
                "two_year_recid": {"role": "class", "values": ["0", "1"]},
            },
            "purposes": {"early": purpose(EARLY), "late": purpose(LATE), "middle": purpose(MIDDLE)},
        }
    )


def spend(opened, folder, *asked):
    for number, (purpose, epsilon) in enumerate(asked):
        opened.release(
            sf.DiffGen(epsilon=epsilon, h=3), purpose=purpose, out=folder / f"{purpose}-{number}", report=False
        )
    return opened.ledger.spent("compas")


@pytest.mark.error_rate(0, reason="holds for every draw")
def test_disjoint_spans_cost_the_larger_overlapping_ones_the_sum_a_whole_table_adds_to_all(source, tmp_path):
    opened = study(source)
    assert spend(opened, tmp_path / "a", ("early", "0.5"), ("late", "0.75")) == Fraction(3, 4)
    assert spend(opened, tmp_path / "b", ("middle", "0.25")) == Fraction(1)
    assert spend(opened, tmp_path / "c", (None, "0.5")) == Fraction(3, 2)
    told = {str(s.span): s.spent for s in stretches(opened.ledger.entries("compas"))}
    assert told == {
        "[2013-01-01, 2013-07-01)": Fraction(1),
        "[2013-07-01, 2014-01-01)": Fraction(5, 4),
        "[2014-01-01, 2014-07-01)": Fraction(3, 2),
        "[2014-07-01, 2015-01-01)": Fraction(5, 4),
        "None": Fraction(1, 2),
    }
    assert opened.plan(sf.DiffGen(epsilon=1), purpose="early").left == Fraction(3, 4)
    assert opened.ledger.verify() == ()


@pytest.mark.error_rate(0, reason="holds for every draw")
def test_persons_get_no_discount(source, tmp_path):
    opened = study(source, unit={"person": "id", "at_most": 1})
    assert spend(opened, tmp_path, ("early", "0.5"), ("late", "0.75")) == Fraction(5, 4)
    assert spend(opened, tmp_path / "b", ("middle", "0.25")) == Fraction(3, 2)


@pytest.mark.parametrize("time", ["compas_screening_date", "c_jail_in"])
@pytest.mark.error_rate(1e-99, reason="any noise at all, at an ε of 1e6")
def test_a_purpose_holds_the_records_of_its_days(source, tmp_path, time):
    """Counted again by text alone: both columns are year-month-day, the second with a time, and sometimes empty."""
    with source.open(encoding="utf-8", newline="") as file:
        days = [row[time][:10] for row in csv.DictReader(file)]
    opened = study(source, budget=10**7, time=time)
    method = sf.ContingencyTable(epsilon=10**6)
    done = opened.release(method, purpose="early", out=tmp_path / "early", report=False)
    assert done.draft.groups.counts.sum() == sum(EARLY[0] <= day < EARLY[1] for day in days) > 3_000
    asked = opened.ask(epsilon=10**6, span="..".join(LATE))
    assert asked.count == sum(LATE[0] <= day < LATE[1] for day in days) > 1_000
    assert opened.ask(epsilon=10**6).count == len(days) == 7_214

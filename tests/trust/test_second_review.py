"""Holes that a second review found, each closed: sets in private trees, days of other zones, and shares of a sample."""

import json
from fractions import Fraction

import ibis
import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.domains.counts import Cells
from sfumato.domains.cut import Cut
from sfumato.domains.sets.set_cut import Sets
from sfumato.domains.sets.set_domain import SetCodes
from sfumato.errors import InternalError, StudyError
from sfumato.methods.capped_confidence.algorithm import sample_cells
from sfumato.privacy.dp.sampling import SecureSource
from sfumato.release.storage.seal import render, seal
from sfumato.study.unit import PersonUnit
from sfumato.tables.arrays.array_counter import ArrayCounter
from tests.raising import raises_code

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

TREE = {"Any": {"1*": ["15", "16", "17"], "3*": ["31", "32"]}}


def of_sets(values):
    return sf.Study.from_mapping(
        {
            "name": "sets",
            "source": pd.DataFrame({"codes": values, "ill": ["y", "n"] * (len(values) // 2)}),
            "privacy": {"budget": 2},
            "attributes": {
                "codes": {"role": "quasi_identifier", "type": "set", "separator": ";", "taxonomy": TREE},
                "ill": {"role": "class", "values": ["y", "n"]},
            },
        }
    )


def test_a_private_tree_refuses_sets_before_anything_is_spent():
    study = of_sets(["31", "15;16"] * 20)
    with raises_code(StudyError, "SF-STUDY-028"):
        study.learn(sf.DiffPC45(epsilon="1", depth=1))
    assert not study.ledger.entries(study.name)


def test_no_counter_takes_the_places_of_sets_for_their_codes():
    codes = SetCodes.of(np.array([0, 1]), Sets.of([(0,), (1, 2)], 5))
    counter = ArrayCounter({"codes": codes, "ill": np.array([0, 1])}, {"ill": 2})
    with pytest.raises(InternalError, match="holds sets"):
        counter.cells([Cut.finest("codes", 5), Cut.finest("ill", 2)])


@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis's own call
@pytest.mark.error_rate(1e-99, reason="any noise at all, at an ε of 1e6")
def test_a_day_does_not_depend_on_the_zone_of_the_session():
    """One moment, two sessions: spans that the ledger takes for disjoint must not both hold the record."""
    found = []
    for zone in ("UTC", "Asia/Tokyo", "America/Los_Angeles"):
        backend = ibis.duckdb.connect()
        backend.raw_sql(f"SET TimeZone = '{zone}'")
        backend.raw_sql("CREATE TABLE t AS SELECT TIMESTAMPTZ '2004-12-31 20:00+00' AS seen, 'y' AS ill")
        study = sf.Study.from_mapping(
            {
                "name": "zones",
                "source": backend.table("t"),
                "privacy": {"budget": "2000000"},
                "ledger": "memory:",
                "attributes": {
                    "seen": {"role": "time", "type": "date"},
                    "ill": {"role": "class", "values": ["y", "n"]},
                },
            }
        )
        spans = ("2004-01-01..2005-01-01", "2005-01-01..2006-01-01")
        found.append([study.ask(epsilon="1000000", span=span).count for span in spans])
    assert found == [[1, 0]] * 3


@pytest.mark.parametrize("records", [2, 3, 4, 9, 10, 11, 49])
@pytest.mark.parametrize("rate", [Fraction(9, 10), Fraction(99, 100), Fraction(1, 2)])
def test_no_more_than_the_stated_share_is_drawn(records, rate):
    cells = Cells(("age",), np.arange(records)[:, None], np.ones(records, np.int64))
    assert int(sample_cells(cells, rate, SecureSource()).counts.sum()) <= rate * records


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("given", [{"ill": {"c": "0.3"}}, {"age": {"[0, 10)": "0.2"}, "ill": {"c": "0.01"}}], ids=str)
def test_the_cap_holds_where_statistics_are_given_for_some_attributes(tmp_path, seed, given):
    """By them, and by what the release shows of the others: the two together are what a receiver has."""
    rng = np.random.default_rng(seed)
    study = capped(rng.integers(0, 20, 240), rng.choice(["a", "b", "c"], 240, p=[0.6, 0.35, 0.05]))
    done = study.release(sf.ConfidenceCap(distortion="1", population=given), out=tmp_path / "out", report=False)
    assert sf.verify_bundle(done.bundle).ok


def capped(ages, values):
    return sf.Study.from_mapping(
        {
            "name": "cap",
            "source": pd.DataFrame({"age": ages, "ill": values}),
            "attributes": {
                "age": {"role": "quasi_identifier", "type": "integer", "bounds": [0, 19], "step": 1},
                "ill": {"role": "sensitive", "values": ["a", "b", "c"]},
            },
        }
    )


def test_verify_sees_that_more_was_drawn_than_the_cap_rests_on(tmp_path):
    rng = np.random.default_rng(3)
    study = capped(rng.integers(0, 20, 400), rng.choice(["a", "b", "c"], 400))
    bundle = study.release(sf.ConfidenceCap(rate="0.5", distortion="1"), out=tmp_path / "out", report=False).bundle
    assert sf.verify_bundle(bundle).ok
    path = bundle / "manifest.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    for sampled in ("0.999", None):
        changed = {name: value for name, value in content.items() if name not in {"seal", "sampled"}}
        changed |= {} if sampled is None else {"sampled": sampled}
        path.write_bytes(render(changed | {"seal": seal(changed)}))
        failed = [check.detail for check in sf.verify_bundle(bundle).checks if not check.ok]
        assert any("smaller sample rate" in detail for detail in failed), failed


def test_one_record_a_person_is_still_a_promise_about_persons():
    assert PersonUnit("who", 1).words == "one person with at most 1 record"

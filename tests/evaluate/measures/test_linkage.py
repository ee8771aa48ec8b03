"""Looking people up, against every person compared with every row."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from sfumato.domains.counts import Cells
from sfumato.errors import SourceError
from sfumato.evaluate.equivalence_classes import containing
from sfumato.evaluate.evidence import Evidence
from sfumato.evaluate.measures import GuessedValues, LinkedPeople, link
from sfumato.methods import Bucketization, Mondrian
from tests.evaluate.evidences import adult, as_it_is, evidence_of, evidences, records_of, rows_of
from tests.methods.partition_tables import cells_of, partition_view
from tests.raising import raises_code
from tests.small_domains import JOB


def slow(evidence):
    """For each record of the table: how many candidates, and how many of them have each value."""
    names = evidence.raw.attributes
    rows = list(rows_of(evidence.shown))
    for record in records_of(evidence):
        many, values = 0.0, Counter()
        for weight, ranges, pools in rows:
            if all(record[names.index(n)] in region for n, region in ranges.items()):
                many += weight
                for code, count in pools["ill"].items():
                    values[code] += weight * count / sum(pools["ill"].values())
        yield record, many, values


@given(evidences())
def test_linkage_agrees_with_everybody_compared_with_every_row(evidence):
    found, people = link(evidence), evidence.records
    looked_up = list(slow(evidence))
    at = evidence.raw.attributes.index("ill")
    assert found.people == people
    assert found.found == pytest.approx(sum(many > 0 for _, many, _ in looked_up) / people)
    assert found.unique == pytest.approx(sum(0 < many <= 1 for _, many, _ in looked_up) / people)
    assert found.below[5] == pytest.approx(sum(0 < many < 5 for _, many, _ in looked_up) / people)
    some = sorted(many for _, many, _ in looked_up if many)
    if some:
        assert found.quantiles[0.0] == pytest.approx(some[0])
        assert found.quantiles[1.0] == pytest.approx(some[-1])
    overall = Counter()
    for weight, _, pools in rows_of(evidence.shown):
        for code, count in pools["ill"].items():
            overall[code] += weight * count / sum(pools["ill"].values())
    usual = min(overall, key=lambda code: (-round(overall[code], 9), code), default=0)
    right = sum(
        record[at] == (min(values, key=lambda code: (-round(values[code], 9), code)) if many else usual)
        for record, many, values in looked_up
    )
    (guess,) = found.guesses
    assert guess.right == pytest.approx(right / people)
    assert guess.baseline == pytest.approx(sum(record[at] == usual for record, _, _ in looked_up) / people)
    assert guess.certain == pytest.approx(sum(many > 0 and len(values) == 1 for _, many, values in looked_up) / people)


@given(evidences())
def test_everybody_lies_where_a_slow_search_finds_her(evidence):
    codes = evidence.people[1].codes
    inside = containing(evidence.shown, codes).toarray()
    for row in range(len(evidence.shown)):
        wanted = np.all((evidence.shown.starts[row] <= codes) & (codes < evidence.shown.stops[row]), axis=1)
        assert (inside[:, row] == wanted).all()


def test_blocks_of_people_find_what_one_block_finds(monkeypatch):
    view, cells = adult()
    evidence = evidence_of(view, cells, Mondrian(k=50, strict=False))
    codes = evidence.people[1].codes
    whole = containing(evidence.shown, codes)
    monkeypatch.setattr("sfumato.evaluate.equivalence_classes._TOGETHER", 10_000)
    assert whole.nnz >= len(codes)
    assert (containing(evidence.shown, codes) != whole).nnz == 0


def test_k_anonymous_groups_link_nobody_and_exact_buckets_link_the_unique():
    view, cells = adult()
    groups = evidence_of(view, cells, Mondrian(k=5))
    assert LinkedPeople().read(groups).value == 0
    assert link(groups).quantiles[0.0] >= 5
    buckets = evidence_of(view, cells, Bucketization(k=5, privacy={"distinct-l-diversity": 3}))
    raw = as_it_is(view, cells)
    assert LinkedPeople().read(buckets).value == LinkedPeople().read(raw).value > 0.1
    assert link(buckets).guesses[0].certain == 0, "three values at least"
    guesses = [GuessedValues().read(each).value for each in (groups, raw)]
    assert guesses[0] < guesses[1]
    assert GuessedValues().read(groups).details["baseline"] < guesses[0]


def test_people_who_are_known_from_elsewhere_are_looked_up():
    view = partition_view(q=JOB)
    evidence = evidence_of(view, cells_of(view, [(0, 0, 0), (0, 0, 1), (3, 1, 0), (3, 1, 1)]), Mondrian(k=2))
    known = Cells(("q",), np.array([[0], [1], [3]]), np.array([1, 2, 1]))
    found = link(evidence, known)
    assert (found.people, found.guesses) == (4, ())
    codes = np.array([[0, 0], [0, 1], [3, 1]])
    (guess,) = link(evidence, Cells(("q", "ill"), codes, np.array([1, 1, 2]))).guesses
    assert guess.right == pytest.approx(0.75)
    with raises_code(SourceError, "SF-SOURCE-001"):
        link(evidence, Cells(("ill",), np.array([[0]]), np.array([1])))


def test_findings_are_told_and_counts_link_nobody():
    evidence = evidence_of(*adult(), Mondrian(k=500))
    found = link(evidence)
    assert any("exactly one candidate" in said for said in found.sentences())
    assert found.as_json()["guesses"][0]["attribute"] == "occupation"
    counts = Evidence(
        view=evidence.view, raw=evidence.raw, shown=replace(evidence.shown, form="noisy-counts", noisy=True)
    )
    assert "no records" in LinkedPeople().refuses(counts)
    assert GuessedValues().refuses(counts) is None

"""Two releases together, against every person looked up in both; and the example of Ganta et al."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from sfumato.errors import StudyError, UsageError
from sfumato.evaluate.intersection import intersect
from sfumato.methods import Mondrian
from sfumato.release.partition import Boxes, Partition
from sfumato.release.shown import shown_records
from tests.evaluate.evidences import adult, evidences, rows_of
from tests.made_drafts import records_draft
from tests.methods.partition_tables import cells_of, partition_view
from tests.raising import raises_code
from tests.small_domains import flat, grid


def looked_up(shown, names, record):
    found = {}
    for weight, ranges, pools in rows_of(shown):
        if all(record[names.index(n)] in region for n, region in ranges.items()):
            for code, count in pools["ill"].items():
                found[code] = found.get(code, 0.0) + weight * count / sum(pools["ill"].values())
    return found


@given(evidences())
def test_intersection_agrees_with_everybody_looked_up_in_both(evidence):
    one = evidence.shown
    two = shown_records(Mondrian(k=1, choose="loss").draft(evidence.view, evidence.raw))
    three = shown_records(Mondrian(k=min(3, evidence.records)).draft(evidence.view, evidence.raw))
    names = evidence.raw.attributes
    for other in (two, three):
        found = intersect(one, other, evidence.raw, attribute="ill", k=3)
        people = exposed = newly = few = left = right = 0
        for codes, n in zip(evidence.raw.codes.tolist(), evidence.raw.counts.tolist(), strict=True):
            first, second = looked_up(one, names, codes), looked_up(other, names, codes)
            if first and second:
                both = {code: min(first[code], second[code]) for code in first.keys() & second.keys()}
                people += n
                exposed += n * (len(both) == 1)
                newly += n * (len(both) == 1 and len(first) > 1 and len(second) > 1)
                right += n * (set(both) == {codes[names.index("ill")]})
                few += n * (sum(both.values()) < 3 - 1e-9)
                left += n * len(both)
        assert found.in_both == people
        if people:
            assert found.one_value == pytest.approx(exposed / people)
            assert found.newly_exposed == pytest.approx(newly / people)
            assert found.rightly_exposed == pytest.approx(right / people)
            assert found.below_k == pytest.approx(few / people)
            assert found.values_left == pytest.approx(left / people)


def drafted(view, cells, group, boxes):
    starts, stops = (np.array([[box[place]] for box in boxes]) for place in (0, 1))
    partition = Partition(cells, np.array(group), Boxes(("age",), starts, stops))
    return records_draft(view, partition)


def test_two_harmless_releases_expose_a_person_together():
    # After the example of Ganta et al. (2008), 2: two hospitals, each with 3 values a group; one disease is in both.
    view = partition_view(sensitive=("ill",), others=False, age=grid(0, 9))
    view = replace(view, sensitive=(replace(view.sensitive[0], domain=flat("AIDS", "cold", "flu", "ulcer", "burn")),))
    cells = cells_of(view, [(0, 1), (1, 2), (2, 0), (3, 3), (4, 4)])
    one = shown_records(drafted(view, cells, [0, 0, 0, 1, 1], [(0, 3), (3, 5)]))
    two = shown_records(drafted(view, cells, [0, 0, 1, 1, 1], [(0, 2), (2, 5)]))
    found = intersect(one, two, cells, attribute="ill", k=2)
    # Age 2 is in {cold, flu, AIDS} and in {AIDS, ulcer, burn}; the others have two values left.
    assert (found.people, found.in_both, found.contradicted) == (5, 5, 0)
    assert found.one_value == found.newly_exposed == found.rightly_exposed == pytest.approx(1 / 5)
    assert found.one_value_alone == (0.0, 0.0)
    assert found.below_k == found.newly_below_k == pytest.approx(1 / 5)
    assert any("only by the combination of both" in said for said in found.sentences())
    assert found.as_json()["one_value"] == found.one_value


def test_a_release_with_itself_tells_nothing_new():
    view, cells = adult()
    shown = shown_records(Mondrian(k=20).draft(view, cells))
    found = intersect(shown, shown, cells, attribute="occupation", k=20)
    assert found.newly_exposed == found.newly_below_k == found.contradicted == 0
    assert found.values_left == pytest.approx(found.values_alone[0])


def test_what_cannot_be_intersected_is_refused():
    view, cells = adult()
    shown = shown_records(Mondrian(k=5000).draft(view, cells))
    with raises_code(UsageError, "SF-USAGE-027"):
        intersect(shown, replace(shown, form="noisy-counts", noisy=True), cells, attribute="occupation")
    with raises_code(StudyError, "SF-STUDY-020"):
        intersect(shown, replace(shown, values={}), cells, attribute="occupation")
    with raises_code(UsageError, "SF-USAGE-026", match="k = 0 is below 1"):
        intersect(shown, shown, cells, attribute="occupation", k=0)

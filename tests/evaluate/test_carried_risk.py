"""Which quasi-identifiers carry the risk: against counting by hand, and on the census table."""

import pytest

from sfumato.evaluate.carried_risk import carried_risk
from sfumato.evaluate.evidence import Evidence
from sfumato.evaluate.measures import link
from sfumato.evaluate.measures.risk import MarketerRisk
from sfumato.methods import Mondrian
from tests.evaluate.evidences import adult, evidence_of
from tests.evaluate.releases import shown_of
from tests.methods.partition_tables import SEX, cells_of, partition_view
from tests.small_domains import grid


def test_an_attribute_that_tells_nobody_apart_carries_nothing():
    view = partition_view(age=grid(0, 3), sex=SEX)
    records = [(0, 0, 0, 0), (1, 0, 0, 0), (2, 0, 1, 0), (3, 0, 1, 1)]  # ages differ, and all have one sex
    cells = cells_of(view, records)
    rows = [(((age, age + 1), (0, 1)), 1) for age, *_ in records]
    shown = shown_of(view, rows, {})
    found = carried_risk(Evidence(view=view, raw=cells, shown=shown))
    assert (found.people, found.linked, found.unique) == (4, 1.0, 1.0)
    assert [(one.attribute, one.linked, one.unique) for one in found.attributes] == [
        ("age", 0.25, 0.0),  # four candidates each
        ("sex", 1.0, 1.0),
    ]
    assert [one.records for one in found.smallest] == [1, 1, 1, 1]


def test_less_knowledge_links_no_more_people():
    view, cells = adult()
    evidence = evidence_of(view, cells, Mondrian(k=10))
    found = carried_risk(evidence)
    assert found.unique == pytest.approx(link(evidence).unique)
    assert all(one.linked <= found.linked + 1e-12 for one in found.attributes)
    assert found.linked == pytest.approx(MarketerRisk().read(evidence).value)  # regions of Mondrian do not overlap
    assert found.smallest[0].records == 10
    assert len(found.attributes) == len(view.quasi)

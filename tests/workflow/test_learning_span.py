"""A tree that is learnt for a purpose sees the purpose's records alone, and is charged to its span alone."""

from fractions import Fraction

import pytest

import sfumato as sf
from sfumato.study.span import Span
from tests.raising import raises_code
from tests.trust.studies import spanned


@pytest.mark.error_rate(0, reason="holds for every draw")
def test_a_tree_for_a_span_costs_the_span(tmp_path):
    study = sf.Study.load(spanned(tmp_path))
    tree = study.learn(sf.DiffPC45(epsilon="1", depth=2), purpose="some")
    (entry,) = study.ledger.entries(study.name)
    inside, beyond = (Span.read(entry.span.of, text) for text in ("2012-03-01..2012-04-01", "2013-03-01..2013-04-01"))
    assert str(entry.span) == "[2012-01-01, 2013-01-01)"
    assert study.ledger.spent(study.name, inside) == Fraction(1)
    assert study.ledger.spent(study.name, beyond) == 0
    assert tree.to_json()["selection"]["span"] == ["2012-01-01", "2013-01-01"]


def test_more_than_the_span_has_left_is_refused_before_anything_is_read(tmp_path):
    study = sf.Study.load(spanned(tmp_path))
    (tmp_path / "clinic.csv").unlink()
    with raises_code(sf.SfumatoError, "SF-BUDGET-003", match="ε = 1000"):
        study.learn(sf.DiffPC45(epsilon="1000", depth=2), purpose="some")

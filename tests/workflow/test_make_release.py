"""The frame of a release: what it refuses of a method that contradicts itself, and what a failure leaves."""

from contextlib import contextmanager
from dataclasses import replace

import pytest

import sfumato as sf
from sfumato.errors import InternalError, SourceError
from sfumato.methods import DiffGen, Mondrian
from sfumato.privacy.models import KAnonymity
from sfumato.release.guarantee import DpGuarantee, SyntacticGuarantee
from sfumato.workflow import make_release

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

STUDY = """
name: clinic
source: clinic.csv
privacy: {budget: 2}
attributes:
  age: {role: quasi_identifier, type: integer, bounds: [0, 79], step: 1}
  ill: {role: class, values: [y, n]}
releases:
  counts: {method: diffgen, epsilon: 1, h: 2}
  classes: {method: mondrian, k: 5}
"""


@pytest.fixture
def study(tmp_path):
    rows = "".join(f"{age % 80},{'yn'[age % 2]}\n" for age in range(200))
    (tmp_path / "clinic.csv").write_text("age,ill\n" + rows)
    (tmp_path / "study.yaml").write_text(STUDY)
    return sf.Study.load(tmp_path / "study.yaml")


def half(method, view):
    return DpGuarantee.of(method.spends / 2, view.unit)


def another_kind(method, view):
    return DpGuarantee.of(1, view.unit)


def no_budget(method, view):
    return SyntacticGuarantee((KAnonymity(k=5),))


@pytest.mark.parametrize(
    ("release", "method", "guarantee"),
    [("counts", DiffGen, half), ("counts", DiffGen, no_budget), ("classes", Mondrian, another_kind)],
)
def test_a_method_that_guarantees_something_else_than_it_spends_is_not_run(
    study, tmp_path, monkeypatch, release, method, guarantee
):
    monkeypatch.setattr(method, "guarantee", guarantee)
    with pytest.raises(InternalError, match="guarantees something else than it declares"):
        study.release(release, out=tmp_path / "out", report=False)
    assert not study.ledger.entries("clinic") and not (tmp_path / "out").exists()


def test_the_frame_states_the_guarantee_whatever_the_draft_says(study, tmp_path, monkeypatch):
    honest = Mondrian.draft
    monkeypatch.setattr(
        Mondrian,
        "draft",
        lambda *given: replace(honest(*given), guarantee=SyntacticGuarantee((KAnonymity(k=2),))),
    )
    done = study.release("classes", out=tmp_path / "out", report=False)
    assert "at least 5 of them (k-anonymity)" in done.open().guarantee


def test_a_table_that_cannot_be_closed_leaves_no_bundle(study, tmp_path, monkeypatch):
    honest = make_release.open_study_table

    @contextmanager
    def stubborn(*given, **options):
        with honest(*given, **options) as table:
            yield table
        raise SourceError("the table cannot be closed", "try again")

    monkeypatch.setattr(make_release, "open_study_table", stubborn)
    for release in ("counts", "classes"):
        with pytest.raises(SourceError, match="cannot be closed"):
            study.release(release, out=tmp_path / "out", report=False)
        assert not (tmp_path / "out").exists()
    assert study.ledger.spent("clinic") == 1, "what was drawn was paid for"

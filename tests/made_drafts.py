"""Drafts by hand, for tests that need one without a method."""

from fractions import Fraction

from sfumato.privacy.dp.accountant import Spend
from sfumato.release.draft import Draft
from sfumato.release.guarantee import DpGuarantee, SyntacticGuarantee

BREAKDOWN = (
    Spend("choices", Fraction(1, 2), mechanism="noisy max"),
    Spend("counts", Fraction(1, 2), mechanism="discrete Laplace"),
)


def counts_draft(view, groups, facts=None, epsilon=Fraction(1)):
    """Noisy counts."""
    guarantee = DpGuarantee.of(Fraction(epsilon), view.unit).with_breakdown(BREAKDOWN)
    return Draft(view=view, content=groups, form="noisy-counts", guarantee=guarantee, facts=facts or {})


def records_draft(view, partition, models=(), form="generalised", **more):
    """Records in groups."""
    return Draft(view=view, content=partition, form=form, guarantee=SyntacticGuarantee(tuple(models)), **more)

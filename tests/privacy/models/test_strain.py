"""How near a group is to the bound of a promise agrees with whether it keeps the promise."""

import pytest

from sfumato.privacy.models import (
    AlphaKAnonymity,
    BasicBetaLikeness,
    DeltaDisclosure,
    DistinctLDiversity,
    EnhancedBetaLikeness,
    EntropyLDiversity,
    ProbabilisticLDiversity,
    RecursiveLDiversity,
    TCloseness,
    Template,
)
from sfumato.privacy.models.example import PATIENTS

SLACK = 1e-9


@pytest.mark.parametrize(
    ("model", "bound"),
    [
        *((TCloseness(t=t, distance=d), float(t)) for t in ("0.03", "0.125") for d in ("equal", "js", "hierarchical")),
        *((DeltaDisclosure(delta=d), float(d)) for d in ("0.5", "0.7", "0.9")),
        *((BasicBetaLikeness(beta=b), float(b)) for b in ("0.1", "0.2", "1")),
        *((EnhancedBetaLikeness(beta=b), 1.0) for b in ("0.1", "0.2", "1")),
        *((DistinctLDiversity(l=n), float(n)) for n in (2, 3, 4)),
        *((EntropyLDiversity(l=n), float(n)) for n in ("1.5", "2.8", "3")),
        *((ProbabilisticLDiversity(l=n), 1 / float(n)) for n in ("1", "1.5", "2")),
        (AlphaKAnonymity(alpha="0.5", k=4), 1.0),
        (AlphaKAnonymity(alpha="1", k=5), 1.0),
        (Template(bounds={"flu": "0.5", "cancer": "0.25"}), 1.0),
    ],
    ids=str,
)
def test_a_group_within_its_bound_keeps_the_promise(model, bound):
    found = model.strain(PATIENTS, "disease")
    kept = found.numbers <= bound + SLACK if found.more_is_nearer else found.numbers >= bound - SLACK
    assert kept.tolist() == model.holds(PATIENTS).tolist()


def test_recursive_l_diversity_is_below_its_bound():
    model = RecursiveLDiversity(c=3, l=2)
    assert (model.strain(PATIENTS, "disease").numbers < 3).tolist() == model.holds(PATIENTS).tolist()
    assert RecursiveLDiversity(c=3, l=1).strain(PATIENTS, "disease") is None

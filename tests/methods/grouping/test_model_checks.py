"""What is left when groups that break a promise are suppressed, by hand."""

from fractions import Fraction

import numpy as np
import pytest

from sfumato.methods.grouping.model_checks import ModelChecks
from sfumato.privacy.models import parse_models
from tests.methods.full_domain.test_full_domain import close
from tests.methods.small_views import view_of
from tests.small_domains import JOB, flat

VIEW = view_of({"job": JOB}, {"ill": flat("flu", "cold", "none"), "other": flat("x", "y")})


def promises(**asked):
    return ModelChecks(parse_models({name.replace("_", "-"): value for name, value in asked.items()}), VIEW)


def test_it_knows_what_its_models_ask_for():
    sizes = promises(k_anonymity=4)
    assert (sizes.least, sizes.sizes_alone, sizes.monotone, list(sizes.domains)) == (4, True, True, [])
    both = promises(k_anonymity=4, alpha_k_anonymity={"alpha": "0.5", "k": 6, "attribute": "other"})
    assert (both.least, both.sizes_alone, list(both.domains)) == (6, False, ["other"])
    assert list(promises(distinct_l_diversity=2).domains) == ["ill", "other"]
    assert promises(distinct_l_diversity=2).least == 1
    assert not promises(delta_presence="0.5").monotone


@pytest.mark.parametrize("seed", range(300))
def test_groups_are_asked_again_when_the_table_has_changed(seed):
    rng = np.random.default_rng(seed)
    k, t = int(rng.integers(1, 4)), str(rng.choice(["0.1", "0.2", "0.3", "0.5"]))
    group, ill = rng.integers(0, 5, 30), np.minimum(rng.geometric(0.5, 30) - 1, 2)
    names = np.unique(group)
    left = {name: ill[group == name].tolist() for name in names.tolist()}
    while True:
        table = [value for found in left.values() for value in found]
        broken = [name for name, found in left.items() if len(found) < k or not close(Fraction(t))(found, table)]
        if not broken:
            break
        for name in broken:
            del left[name]
    kept = promises(k_anonymity=k, t_closeness={"t": t, "attribute": "ill"}).published(
        np.searchsorted(names, group), np.ones(30, np.int64), {"ill": ill}, len(names)
    )
    assert names[kept].tolist() == sorted(left)

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.domains.cut import Cut
from sfumato.domains.domain import Categories
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.errors import InternalError, VerifyError
from sfumato.privacy.models.differential_privacy import attack_odds, membership_advantage, odds_factor
from sfumato.release.forms.noisy_counts.count_table import layout_from, layout_of, refuse_other_cut
from sfumato.release.guarantee import DpGuarantee
from sfumato.release.storage.seal import as_json_value
from sfumato.release.verify import verify_bundle
from tests.raising import raises_code
from tests.release.conftest import AGE, JOB, draft_of, publish, small_draft


@pytest.fixture
def manifest(bundle):
    return json.loads((bundle / "manifest.json").read_text())


def test_the_manifest_says_it_all(manifest):
    assert manifest["guarantee"] == (
        "This release is ε-differentially private with ε = 1 (unit: one record): whether or not one record is in the "
        "table changes the probability of any outcome by a factor of at most e^1 (about 2.72)."
    )
    assert manifest["privacy"]["epsilon"] == "1"
    assert manifest["privacy"]["odds_factor"] == pytest.approx(math.e)
    assert manifest["privacy"]["membership_advantage"] == pytest.approx(math.tanh(0.5))
    assert manifest["groups"] == {"listed": 6, "combinations": 3 * 2 * 2 * 4 * 2, "threshold": 1, "least_count": 1}
    assert manifest["method"] == {
        "name": "diffgen", "parameters": {"epsilon": "1", "h": 4}, "facts": {"threshold": 1, "noise_scale": 2.0},
    }  # fmt: skip
    assert [a["name"] for a in manifest["attributes"]] == ["age", "pay", "day", "job", "income"]
    assert set(manifest["files"]) == {
        "data.parquet", "data.csv", "README.md", "datapackage.json", "croissant.json", "index.html",
    }  # fmt: skip
    assert manifest["date"] == "2026-11-16"


def test_the_layout_comes_back_from_the_manifest(manifest):
    draft = small_draft()
    assert layout_from(manifest) == layout_of(draft)


def test_huge_numbers_of_groups_are_text(tmp_path):
    draft = draft_of({"x": AGE}, [Cut("x", (0, 5), 101)], [(0, 0, 1)], facts={"groups": 10**30, "threshold": 1})
    facts = json.loads((publish(draft, tmp_path).path / "manifest.json").read_text())["method"]["facts"]
    assert facts["groups"] == "1" + 30 * "0"


def test_a_cross_product_of_hundreds_of_digits_is_no_trouble(tmp_path):
    names = [f"a{i}" for i in range(200)]
    cuts = [Cut.finest(name, AGE.size) for name in names]
    draft = draft_of(dict.fromkeys(names, AGE), cuts, [(*[1] * 200, 0, 3)])
    path = publish(draft, tmp_path).path
    assert json.loads((path / "manifest.json").read_text())["groups"]["combinations"] == "about 10^401"
    assert verify_bundle(path).ok


def test_plain_values():
    value = {"a": (1, np.int64(2), np.float32(0.5), None, True), "b": Fraction(1, 3), "c": 2**60}
    assert as_json_value(value) == {"a": [1, 2, 0.5, None, True], "b": "1/3", "c": str(2**60)}
    with pytest.raises(InternalError, match="type set"):
        as_json_value({1})


def test_cuts_in_another_order_are_our_bug():
    draft = draft_of({"a": AGE, "b": JOB}, [Cut("b", (0,), 6), Cut("a", (0,), 101)], [])
    with pytest.raises(InternalError, match="another order"):
        layout_of(draft)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"secure": False}, "none (seeded for testing)"),
        ({"epsilon": Fraction(1, 3)}, "a factor of at most e^(1/3) (about 1.4)."),
        ({"epsilon": Fraction(10**6)}, "a factor of at most e^1000000."),
        ({"chosen": "chosen on the raw table"}, "ε does not cover that choice"),
        ({"unit": "one person with at most 3 records"}, "whether or not one person with at most 3 records is in"),
    ],
)
def test_the_guarantee_in_words(changes, words):
    usual = {"epsilon": Fraction(1), "unit": "one record", "secure": True, "chosen": "fixed in advance"}
    asked = usual | changes
    stated = DpGuarantee(epsilon=asked["epsilon"], unit=asked["unit"])
    assert words in stated.statement(chosen=asked["chosen"], secure=asked["secure"])


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=20))
def test_odds_and_advantage_are_those_of_the_definition(epsilon):
    assert float(odds_factor(epsilon)) == pytest.approx(math.exp(epsilon))
    assert float(membership_advantage(epsilon)) == pytest.approx(math.tanh(float(epsilon) / 2))


def test_odds_in_words_round_up():
    assert "at most 1.11. " in attack_odds(Fraction(1, 10))  # e^0.1 = 1.10517…
    assert "at most 52.5 % of the cases" in attack_odds(Fraction(1, 10))  # 52.498 %
    assert "no protection worth the name" in attack_odds(Fraction(50))
    assert membership_advantage(Fraction(10**6)) == 1


def test_the_readme_tells_the_receiver(bundle, manifest):
    text = (bundle / "README.md").read_text()
    assert manifest["guarantee"] in text
    assert "**A group that is not listed** had a noisy count that was too small" in text
    assert "There are 96 groups in\n  total" in text
    assert "| `age` | numbers in 3 regions | `[0, 40), [40, 99], (missing)` |" in text
    assert "Records without a class are left out." in text


def test_the_package_is_a_tabular_data_package(bundle):
    package = json.loads((bundle / "datapackage.json").read_text())
    assert package["profile"] == "tabular-data-package"
    assert package["name"] == "census-all"
    data = package["resources"][0]
    assert data["schema"]["missingValues"] == []
    assert data["schema"]["primaryKey"] == ["age", "pay", "day", "job", "income"]
    fields = {field["name"]: field for field in data["schema"]["fields"]}
    assert fields["count"]["type"] == "integer"
    assert fields["income"]["constraints"]["enum"] == ["<=50K", ">50K"]


def test_the_name_of_a_package_is_one_the_standard_allows(tmp_path):
    path = publish(small_draft(), tmp_path, study="Ärzte & Co", release="№ 1").path
    assert json.loads((path / "datapackage.json").read_text())["name"] == "rzte-co-1"


def test_facts_keep_to_what_they_are(manifest):
    assert small_draft().facts == manifest["method"]["facts"]


def test_single_codes_of_a_wide_leaf_are_refused_without_listing_them():
    """A manifest of a kilobyte may say that a leaf is 10¹² codes wide."""
    wide = Categories(taxonomy=Taxonomy.of(Node("Any", (Node("a"), Node("b"))), widths=(1, 10**12)))
    with raises_code(VerifyError, "SF-VERIFY-053"):
        refuse_other_cut("job", wide, Cut.finest("job", wide.size))

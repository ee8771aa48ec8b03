from sfumato.domains.taxonomy.by_rule import flat
from sfumato.domains.taxonomy.check import compare, did_you_mean, similar_names
from sfumato.domains.taxonomy.text import from_nested

JOBS = from_nested({"Any": {"Professional": ["Engineer", "Lawyer"], "Artist": ["Dancer"]}})


def test_a_taxonomy_that_fits():
    found = compare(JOBS, ["Lawyer", "Engineer", "Dancer"])
    assert found.fits
    assert (found.missing, found.extra, dict(found.proposals)) == ((), (), {})


def test_what_is_missing_and_extra_is_named_with_a_proposal():
    found = compare(JOBS, ["engineer", "Lawyer", "Danser", "Artist", "?"])
    assert not found.fits
    assert found.missing == ("engineer", "Danser", "Artist", "?")
    assert found.extra == ("Engineer", "Dancer")
    assert found.proposals == {"engineer": ("Engineer",), "Danser": ("Dancer",), "Artist": ("Artist",)}


def test_a_value_that_differs_by_space_or_dashes_alone():
    assert similar_names(" never married", ["Never-married", "Married"]) == ("Never-married",)


def test_long_lists_get_few_proposals():
    found = compare(flat([f"value {n}" for n in range(300)]), [f"valeu {n}" for n in range(300)])
    assert len(found.missing) == 300
    assert len(found.proposals) == 50


def test_did_you_mean():
    assert did_you_mean("qausi_identifier", ["identifier", "quasi_identifier"]).startswith("write 'quasi_identifier'")
    assert did_you_mean("zzz", ["a", "b"]) == "choose one of: a, b"

"""A study with open roles loads and is checked; whatever needs roles names those to decide, and releases nothing."""

import json

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import StudyError
from sfumato.interactive import DiffPC45
from sfumato.study.attribute import Role
from tests.raising import raises_code

TABLE = pa.table(
    {
        "sex": ["f", "m"] * 40,
        "shoes": list(range(35, 45)) * 8,
        "town": ["a", "b", "c", "d"] * 20,
        "label": ["no", "yes", "yes", "no"] * 20,
    }
)
PURPOSES = {"plain": {"attributes": ["sex", "label"]}, "by-town": {"attributes": ["sex", "label"], "where": "town = a"}}


def study(tmp_path, **roles):
    attributes = {
        "sex": {"role": "quasi_identifier", "values": ["f", "m"]},
        "shoes": {"role": "undecided", "type": "integer", "bounds": ["30", "50"]},
        "town": {"role": "undecided", "values": ["a", "b", "c", "d"]},
        "label": {"role": "class", "values": ["no", "yes"]},
    }
    for name, role in roles.items():
        attributes[name]["role"] = role
    return sf.Study.from_mapping(
        {
            "name": "open",
            "source": TABLE,
            "privacy": {"budget": "9"},
            "ledger": "memory:",
            "purposes": PURPOSES,
            "attributes": attributes,
            "releases": {"dp": {"method": "diffgen", "epsilon": "1", "h": 1}},
        },
    )


def test_it_loads_and_is_checked(tmp_path):
    found = study(tmp_path)
    assert [a.name for a in found.declared.with_role(Role.UNDECIDED)] == ["shoes", "town"]
    assert all(report.fits for report in found.check())
    assert {report.attribute for report in found.check()} == {"sex", "shoes", "town", "label"}


VERBS = {
    "plan": lambda s, out: s.plan("dp"),
    "plan without a look": lambda s, out: s.plan("dp", check=False),
    "choose ε": lambda s, out: s.choose_epsilon("dp", epsilons=["1"]),
    "release": lambda s, out: s.release("dp", out=out),
    "groups": lambda s, out: s.release(sf.Mondrian(k=2), out=out),
    "run": lambda s, out: s.run(),
    "learn": lambda s, out: s.learn(DiffPC45("1", depth=2)),
    "frontier": lambda s, out: sf.frontier(s, sf.sweep("mondrian", k=[2])),
    "default frontier": lambda s, out: sf.frontier(s),
    "accuracy": lambda s, out: s.accuracy(sf.DiffGen(epsilon=1, h=1), runs=1),
    "max-k": lambda s, out: s.max_k(),
    "audit": lambda s, out: s.audit(sf.ContingencyTable(epsilon=1), runs=10),
    "ask": lambda s, out: s.ask("shoes >= 40 and town = a", epsilon="1"),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.error_rate(0, reason="it is refused before anything is drawn")
def test_whatever_needs_roles_names_those_to_decide(tmp_path, verb):
    found = study(tmp_path)
    with raises_code(StudyError, "SF-STUDY-720", match="the role of 'shoes', 'town' is undecided"):
        VERBS[verb](found, tmp_path / "out")
    assert not (tmp_path / "out").exists() and found.ledger.spent("open") == 0


@pytest.mark.error_rate(0, reason="only that it is answered is looked at")
def test_what_uses_no_open_column_works(tmp_path):
    found = study(tmp_path)
    assert found.ask("sex = f", epsilon="1").left == 8
    assert found.plan(sf.DiffGen(epsilon=1, h=1), purpose="plain").fits
    with raises_code(StudyError, "SF-STUDY-720", match="'shoes' is undecided"):
        found.ask("", by="shoes", epsilon="1")
    with raises_code(StudyError, "SF-STUDY-720", match="the role of 'town' is undecided"):
        found.plan(sf.Mondrian(k=2), purpose="by-town")
    decided = study(tmp_path, shoes="sensitive", town="quasi_identifier")
    assert decided.plan("dp").fits


def test_an_open_role_survives_the_file(tmp_path):
    text = json.dumps(
        {"name": "a", "source": "a.csv", "attributes": {"x": {"role": "undecided"}, "y": {"role": "undecided"}}}
    )
    (tmp_path / "study.yaml").write_text(text, encoding="utf-8")
    found = sf.Study.load(tmp_path / "study.yaml").declared.attributes
    assert found["x"].role is Role.UNDECIDED and found["x"].domain is None

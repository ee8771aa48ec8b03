"""What is documented about study files and taxonomies is what is read."""

import re
from pathlib import Path

import pytest

from sfumato.domains.taxonomy.text import to_nested
from sfumato.study.attribute import Role
from sfumato.study.file import parse_taxonomy, study_from_text, study_schema
from sfumato.study.file.taxonomy_field import RULES

DOCS = Path(__file__).parents[3] / "docs" / "reference"
STUDY = (DOCS / "study.md").read_text(encoding="utf-8")
TAXONOMIES = (DOCS / "taxonomies.md").read_text(encoding="utf-8")


def documented():
    """The names in the first column of every table."""
    return set(re.findall(r"^\| `(\w+)` \|", STUDY, re.MULTILINE))


def declared():
    schema = study_schema()
    fields = set(schema["properties"])
    for part in schema["$defs"].values():
        fields |= set(part.get("properties", ()))
    return fields


def test_the_docs_name_every_field_and_role_and_no_other():
    assert documented() == declared() | {role.value for role in Role}


def test_every_field_has_a_description_for_editors():
    schema = study_schema()
    parts = [schema, *schema["$defs"].values()]
    assert [
        name for part in parts for name, field in part.get("properties", {}).items() if "description" not in field
    ] == []


def test_the_example_is_a_study():
    example = re.findall(r"```yaml\n(.*?)```", STUDY, re.DOTALL)[0]
    study = study_from_text(example)
    assert len(study.attributes) == 7


def test_the_two_forms_in_the_docs_say_the_same():
    nested = re.findall(r"```yaml\n(.*?)```", TAXONOMIES, re.DOTALL)[0]
    [rows] = re.findall(r"```csv\n(.*?)```", TAXONOMIES, re.DOTALL)
    assert to_nested(parse_taxonomy(nested, "job.yaml")) == to_nested(parse_taxonomy(rows, "job.csv"))


def test_every_rule_is_documented():
    for rule in RULES:
        assert re.search(rf"^\| `\{{?{rule}", TAXONOMIES, re.MULTILINE), rule


@pytest.mark.parametrize("rule", re.findall(r"^\| `(\{(?:intervals|dates).*?\})` \|", TAXONOMIES, re.MULTILINE))
def test_the_rules_in_the_docs_work(rule):
    kind = "type: date, bounds: [1999-06-01, 2012-01-31]" if "dates" in rule else "type: integer, bounds: [0, 99]"
    text = f"name: a\nsource: b\nattributes: {{x: {{role: time, {kind}, taxonomy: {rule}}}}}\n"
    assert len(study_from_text(text).attributes["x"].domain.taxonomy.leaves) > 1

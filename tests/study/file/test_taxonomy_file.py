import pytest

from sfumato.domains.taxonomy.text import from_nested
from sfumato.errors import StudyError, TaxonomyError
from sfumato.study.file import load_taxonomy, parse_taxonomy, taxonomy_to_yaml
from tests.raising import raises_code

TREE = {"Any": {"North": {"Canada": ["Canada"], "USA": ["01", "no", "null", "?0", "a: b", "- x"]}, "South": None}}


def test_yaml_and_back(tmp_path):
    taxonomy = from_nested(TREE)
    (tmp_path / "region.yaml").write_text(taxonomy_to_yaml(taxonomy), encoding="utf-8")
    assert load_taxonomy(tmp_path / "region.yaml") == taxonomy


def test_json_is_yaml(tmp_path):
    (tmp_path / "region.json").write_text('{"Any": {"North": ["Canada"], "South": []}}', encoding="utf-8")
    assert load_taxonomy(tmp_path / "region.json").leaves == ("Canada", "South")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_encodings_of_csv(tmp_path, encoding):
    (tmp_path / "job.csv").write_bytes("Bäcker;Any\r\nKöchin;Any\r\n".encode(encoding))
    assert load_taxonomy(tmp_path / "job.csv").leaves == ("Bäcker", "Köchin")


def test_a_file_that_is_not_there(tmp_path):
    with raises_code(TaxonomyError, "SF-TAXONOMY-049"):
        load_taxonomy(tmp_path / "gone.csv")


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.csv", "", "a.csv: the taxonomy is empty"),
        ("a.csv", "a;*\na;*\n", "a.csv: the leaf 'a' stands in two rows, 1 and 2"),
        (
            "a.csv",
            "365;360-379;*\n366;360-379;*\n365.44;365;360-379;*\n",
            "a.csv, lines 1 and 3: '365' is a leaf in one",
        ),
        ("a.csv", "a;A;*\n\nb;B;*\na;B;*\n", "a.csv, lines 1 and 4: 'a' stands at two places"),
        ("a.csv", "a;A;*\nb;A;Any\n", "a.csv, lines 1 and 2: the taxonomy has 2 roots"),
        ("a.csv", "a;A;*\n;A;*\n", "a.csv: row 2 has an empty label"),
        ("a.yaml", "Any:\n  A: [a]\n  B:\n    - b\n    - a\n", "a.yaml, lines 2 and 5: 'a' stands at two places"),
        ("a.yaml", "Any:\n  A: [a]\n  B: b\n", "a.yaml, line 3: below 'B' stands the single name 'b'"),
        ("a.yaml", "", "a.yaml, line 1: the taxonomy is empty"),
        ("a.yaml", "Any:\n  A: [a]\n  B: [b]\n  A: [c]\n", "a.yaml, line 4: 'A' is written twice, first in line 2"),
        ("a.yaml", "Any: &x {A: *x}\n", "a.yaml, line 1: this contains itself (a cycle of aliases)"),
        ("a.yaml", "Any: [a", "a.yaml, line 1: this is not YAML"),
    ],
)
def test_errors_name_the_file(name, text, problem):
    with pytest.raises(StudyError) as caught:
        parse_taxonomy(text, name)
    assert caught.value.problem.startswith(problem)

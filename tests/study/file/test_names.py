"""Names in a study become folders: those that a file system reads otherwise are refused with their line."""

import pytest

from sfumato.errors import StudyError
from sfumato.study.file import study_from_mapping
from sfumato.study.file.load import study_from_text
from tests.raising import raises_code

STUDY = """\
name: {name}
source: a.csv
attributes: {{sex: {{role: quasi_identifier, values: [f, m]}}}}
purposes:
  {purpose}: {{attributes: [sex]}}
releases:
  {release}: {{method: mondrian, k: 5}}
sweeps:
  {sweep}: {{method: mondrian, k: [5, 10]}}
"""
FINE = {"name": "a", "purpose": "p", "release": "r", "sweep": "s"}


@pytest.mark.parametrize("name", ['"../../x"', '"/abs"', '"a:b"', '".."', '""', '"a\\nb"', '"a\\0b"', "CON", '"x."'])
@pytest.mark.parametrize(("kind", "line"), [("purpose", 5), ("release", 7), ("sweep", 9)])
def test_a_name_that_is_a_path_is_refused(kind, line, name):
    with raises_code(
        StudyError, "SF-STUDY-023", match=rf"study.yaml, line {line}: a {kind} is called .*use letters, digits"
    ):
        study_from_text(STUDY.format(**FINE | {kind: name}))


@pytest.mark.parametrize("name", ['"a\\nb"', '"a\\0b"', '" "'])
def test_a_study_is_called_something_in_one_line(name):
    with raises_code(StudyError, "SF-STUDY-143", match=r"study.yaml, line 1: the name of the study holds line ends"):
        study_from_text(STUDY.format(**FINE | {"name": name}))


@pytest.mark.parametrize("name", ["../../x", "/abs", "a:b", "..", "CON", "what? 100 %"])
def test_a_study_may_be_called_like_a_path(name):
    assert study_from_text(STUDY.format(**FINE | {"name": f'"{name}"'})).name == name


def test_the_same_in_python():
    with raises_code(StudyError, "SF-STUDY-023", match="a release is called"):
        study_from_mapping(
            {
                "name": "a", "source": "a.csv", "attributes": {"sex": {"role": "quasi_identifier", "values": ["f"]}},
                "releases": {"../x": {"method": "mondrian", "k": 5}},
            }
        )  # fmt: skip

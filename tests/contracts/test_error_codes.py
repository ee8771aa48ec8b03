"""Every error message has a code of its own, listed in docs/reference/errors.md, and keeps it in every form."""

import pickle
import re

import pytest

from sfumato import errors
from sfumato.domains.query.language import QueryError
from sfumato.errors import InternalError, SfumatoError, StudyError, TaxonomyError
from sfumato.release.forms.noisy_counts.encoder import InputError
from tests.raising import raises_code
from tools.error_codes import CODE, INTERNAL, KINDS, ROOT, Package, assign, check, listed, page_of

KINDS_OF_ERRORS = [
    errors.UsageError, errors.StudyError, errors.TaxonomyError, errors.SourceError, errors.BudgetError,
    errors.InfeasibleError, errors.PublishError, errors.StoppedError, errors.VerifyError,
    errors.InternalError,
]  # fmt: skip


@pytest.fixture(scope="module")
def package():
    return Package(ROOT)


def test_every_message_has_one_code_of_its_kind(package):
    assert [str(fault) for fault in check(package)] == []


def test_the_sites_are_all_found(package):
    """A tool that looks past sites would find no fault in them: here they are counted in another way."""
    source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src" / "sfumato").rglob("*.py"))
    raised = re.findall(rf"\braise (?:{'|'.join(kind.__name__ for kind in KINDS_OF_ERRORS)})\(", source)
    assert len(package.sites) > len(raised) > 300
    written = set(re.findall(r'code="(SF-[A-Z]+-\d+)"', source)) - {"SF-SOUP-001"}
    assert written == {site.code for site in package.sites if site.code}


def test_the_page_is_up_to_date(package):
    assert page_of(package) == (ROOT / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")


def test_codes_that_the_docs_mention_are_listed():
    for page in (ROOT / "docs").rglob("*.md"):
        assert set(CODE.findall(page.read_text(encoding="utf-8"))) <= set(listed(ROOT)), page.name


def test_kinds_have_the_prefixes_and_exit_codes_of_the_page():
    assert {kind.prefix: kind.exit_code for kind in KINDS_OF_ERRORS} == {p: code for p, (code, _) in KINDS.items()}


@pytest.mark.parametrize("kind", [*KINDS_OF_ERRORS[:-1], SfumatoError, QueryError, InputError])
def test_an_error_keeps_its_code_in_all_forms(kind):
    error = kind("the soup is cold", "warm it", code="SF-SOUP-001")
    back = pickle.loads(pickle.dumps(error))
    for one in (error, back):
        assert type(one) is kind and one.code == "SF-SOUP-001"
        assert str(one) == "the soup is cold. To fix: warm it. [SF-SOUP-001]"
        assert one.as_json() == {
            "problem": "the soup is cold", "fix": "warm it", "code": "SF-SOUP-001", "exit_code": kind.exit_code,
        }  # fmt: skip
    assert str(kind("the soup is cold", "warm it")) == "the soup is cold. To fix: warm it."


def test_labels_and_bugs_are_pickled_too():
    error = pickle.loads(pickle.dumps(TaxonomyError("it is no tree", "cut it", code="SF-TAXONOMY-001", labels=("a",))))
    assert (error.labels, error.code) == (("a",), "SF-TAXONOMY-001")
    bug = pickle.loads(pickle.dumps(InternalError("one is two")))
    assert (bug.problem, bug.code) == ("one is two", INTERNAL)
    assert pickle.loads(pickle.dumps(InternalError("one is two", code="SF-INTERNAL-002"))).code == "SF-INTERNAL-002"


def test_the_helper_notices_another_code():
    with raises_code(StudyError, "SF-STUDY-001", match="cold") as caught:
        raise StudyError("the soup is cold", "warm it", code="SF-STUDY-001")
    assert caught.value.fix == "warm it"
    with pytest.raises(AssertionError, match="SF-STUDY-002 was expected"), raises_code(StudyError, "SF-STUDY-002"):
        raise StudyError("the soup is cold", "warm it", code="SF-STUDY-001")


KITCHEN = """
class SfumatoError(Exception):
    prefix = ""

class StudyError(SfumatoError):
    prefix = "SF-STUDY"

class VerifyError(SfumatoError):
    prefix = "SF-VERIFY"
"""


def kitchen(folder, text):
    """A package of two modules: errors, and ``text``, which raises some."""
    home = folder / "src" / "sfumato"
    home.mkdir(parents=True, exist_ok=True)
    (folder / "docs" / "reference").mkdir(parents=True, exist_ok=True)
    (home / "errors.py").write_text(KITCHEN, encoding="utf-8")
    (home / "soup.py").write_text(f"from sfumato.errors import StudyError, VerifyError\n{text}", encoding="utf-8")
    return Package(folder)


def soup(folder):
    return (folder / "src" / "sfumato" / "soup.py").read_text(encoding="utf-8").split("\n", 1)[1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("raise StudyError('it is cold', 'warm it')", "soup.py:2: this error has no code"),
        ("raise StudyError('it is cold', 'warm it', code='SF-VERIFY-001')", "whose codes begin with SF-STUDY-"),
        ("raise StudyError('it is cold', 'warm it', code='cold')", "'cold' is no code"),
        (
            "StudyError('it is cold', 'warm', code='SF-STUDY-001'); StudyError('hot', 'wait', code='SF-STUDY-001')",
            "soup.py:2: SF-STUDY-001 is said in other words in src/sfumato/soup.py:2",
        ),
        ("def again(error):\n    raise StudyError(f'soup: {error.problem}', error.fix)", "pass `code=error.code`"),
        ("def again(error):\n    raise type(error)(f'soup: {error.problem}', error.fix)", "pass `code=error.code`"),
        ("def f(problem):\n    return StudyError(problem, 'warm it', code='SF-STUDY-001')", "no words of its own"),
        (
            "def f(problem, *, code=''):\n    return StudyError(problem, 'warm it', code=code)\nraise f('it is cold')",
            "soup.py:4: this error has no code",
        ),
        ("def f(error: type[StudyError] = VerifyError):\n    raise error('it is cold', 'warm it')", "has no code"),
    ],
)
def test_a_fault_is_found(tmp_path, text, said):
    found = check(kitchen(tmp_path, text))
    assert len(found) == 1 and said in str(found[0])


def test_codes_are_assigned_beside_the_last_argument_and_once(tmp_path):
    text = (
        "def odd(what, *, code=''):\n    return VerifyError(f'{what} is odd', 'get it again', code=code)\n"
        "raise StudyError('it is cold', ('warm' ' it'),  # (soon)\n)\n"
        "raise StudyError('it is hot', fix='wait')\n"
        "raise odd('soup')\n"
        "raise StudyError('it is cold', 'warm it')\n"
        "def again(error):\n    raise StudyError(f'soup: {error.problem}', error.fix)\n"
    )
    new = assign(kitchen(tmp_path, text))
    assert [code for _, code in sorted(new.items())] == [
        "SF-STUDY-001",
        "SF-STUDY-002",
        "SF-VERIFY-001",
        "SF-STUDY-001",
    ]
    assert soup(tmp_path) == (
        "def odd(what, *, code=''):\n    return VerifyError(f'{what} is odd', 'get it again', code=code)\n"
        "raise StudyError('it is cold', ('warm' ' it'), code=\"SF-STUDY-001\",  # (soon)\n)\n"
        "raise StudyError('it is hot', fix='wait', code=\"SF-STUDY-002\")\n"
        "raise odd('soup', code=\"SF-VERIFY-001\")\n"
        "raise StudyError('it is cold', 'warm it', code=\"SF-STUDY-001\")\n"
        "def again(error):\n    raise StudyError(f'soup: {error.problem}', error.fix, code=error.code)\n"
    )
    package = Package(tmp_path)
    assert check(package) == []
    assert assign(package) == {}
    assert "| SF-VERIFY-001 | soup is odd | get it again |" in page_of(package)


def test_a_code_that_was_listed_is_never_given_again(tmp_path):
    page = tmp_path / "docs" / "reference" / "errors.md"
    package = kitchen(tmp_path, "raise StudyError(f'{1} is | cold', 'warm it', code='SF-STUDY-007')")
    page.write_text(page_of(package), encoding="utf-8")
    assert "| SF-STUDY-007 | … is \\| cold | warm it |" in page.read_text(encoding="utf-8")
    later = kitchen(tmp_path, "raise StudyError('it is hot', 'wait')")
    assert list(assign(later).values()) == ["SF-STUDY-008"]
    for _ in range(2):
        page.write_text(page_of(Package(tmp_path)), encoding="utf-8")
        assert (
            "| SF-STUDY-007 | retired: … is \\| cold | warm it |\n| SF-STUDY-008 | it is hot | wait |"
            in page.read_text(encoding="utf-8")
        )
    assert {*listed(tmp_path)} == {"SF-STUDY-007", "SF-STUDY-008", INTERNAL}


def test_a_method_of_the_same_name_is_no_factory(tmp_path):
    text = (
        "class Pot:\n    def error(self, problem, fix, *, code=''):\n"
        "        return StudyError(problem, fix, code=code)\n"
        "def cook(pot: Pot, log):\n    log.error()\n    raise pot.error('it is cold', 'warm it')\n"
    )
    assert [str(fault) for fault in check(kitchen(tmp_path, text))] == ["src/sfumato/soup.py:7: this error has no code"]

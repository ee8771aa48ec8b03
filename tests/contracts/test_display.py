"""What objects show of themselves in a notebook: the same as in a terminal, escaped, marked, without a script.

Every object is made over a table whose values stand nowhere else, so that one that is shown is noticed, and of a study
whose names are markup.
"""

import re
from html import unescape
from html.parser import HTMLParser

import pytest

import sfumato as sf
from sfumato.display import OWNER_ONLY, Display, Displayed
from sfumato.frontier import Point
from sfumato.ledger.memory import MemoryLedger

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

HOSTILE = "<img src=x onerror=alert(1)>\x1b[31m"
SECRETS = ("zebra-774", "okapi-391", "quagga-552")
NUMBERS = (918273, 645546, 733112)
VOID = {"br", "img", "hr"}


def rows():
    count = 120
    return {
        "animal": [SECRETS[n % 3] for n in range(count)],
        "money": [NUMBERS[n % 3] for n in range(count)],
        "class": ["yes" if n % 2 else "no" for n in range(count)],
    }


@pytest.fixture
def people(tmp_path, monkeypatch):
    """A table in memory that is in no file."""
    pandas = pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    return pandas.DataFrame(rows())


def declared(people, **more):
    return sf.study_of(
        people,
        target="class",
        budget=9,
        name=f"study {HOSTILE[:-5]}",
        domains={"animal": ["cat", "dog", *SECRETS], "money": (0, 2_000_000), "class": ["yes", "no"]},
        **more,
    )


@pytest.fixture
def shown(people):
    """One of every kind, by its name; and the kinds whose content is for the owner alone."""
    study = declared(people)
    published = study.release(sf.ContingencyTable(epsilon=1, post="none"), out="made", report=False)
    grouped = study.release(sf.Mondrian(k=5), out="grouped", report=False)
    point = Point(label=HOSTILE, series="mondrian", family="f", numbers={"ploss": 0.25}, refused={"uloss": HOSTILE})
    return {
        "study": study,
        "observed study": sf.describe(people, target="class").to_study(people),
        "ledger": study.ledger,
        "memory ledger": MemoryLedger(),
        "plan": study.plan(sf.Staged(epsilon=1), check=False),
        "plan with counts": study.plan(sf.Staged(epsilon=1)),
        "proposal": sf.describe(people, name=HOSTILE, target="class"),
        "published": published,
        "release": published.open(),
        "release of records": grouped.open(),
        "point": point,
    }


OWNER = {"plan with counts", "proposal", "point"}


class Fragment(HTMLParser):
    """The tags, attributes and texts of a fragment; refuses one that is not well formed."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.tags, self.names, self.texts, self.open = [], [], [], []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.names += [name for name, _ in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def squeezed(text):
    return re.sub(r"\s+", " ", text)


def test_every_kind_shows_itself(shown):
    for name, one in shown.items():
        text, html = repr(one), one._repr_html_()
        page = Fragment(html)
        assert set(page.tags) <= {"div", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "ul", "li"}, name
        assert set(page.names) <= {"style", "scope"}, name
        for part in page.texts:  # nothing stands in the notebook that does not stand in the terminal
            assert squeezed(part) in squeezed(text), name
        assert "\x1b" not in text + html, name
        assert "url(" not in html and "background:#" not in html and ";color:#" not in html, "a notebook may be dark"
        told = OWNER_ONLY in text
        assert told is (OWNER_ONLY in unescape(html)) is (name in OWNER), name


def test_no_value_of_a_record_is_shown(shown):
    for name, one in shown.items():
        for secret in (*SECRETS, *map(str, NUMBERS), *(f"{number:,}" for number in NUMBERS)):
            assert secret not in repr(one) + one._repr_html_(), name


def test_markup_in_a_name_is_text(shown):
    for name in ("study", "ledger", "plan", "release", "point", "proposal"):
        html = shown[name]._repr_html_()
        assert "<img" not in html and "&lt;img src=x onerror=alert(1)&gt;" in html, name


def test_owner_only_facts_are_marked_one_by_one(people):
    study = declared(people)
    published = study.release(sf.ContingencyTable(epsilon=1), out="made")
    assert published.report.exists()
    assert f"report: {published.report} (for the owner only)" in repr(published)
    assert "(for the owner only)" in published._repr_html_()


def test_a_ledger_that_cannot_be_read_says_so_and_shows_the_rest(people, tmp_path):
    (tmp_path / "broken.sqlite").write_bytes(b"no ledger at all" * 100)
    study = sf.Study.from_mapping(
        {
            "name": "broken",
            "source": people,
            "ledger": "broken.sqlite",
            "privacy": {"budget": 1},
            "attributes": {"class": {"role": "class", "values": ["yes", "no"]}},
        }
    )
    assert "the ledger cannot be read" in repr(study)
    assert "cannot be read" in repr(study.ledger)


def test_showing_a_study_makes_no_ledger(people, tmp_path):
    assert repr(declared(people)) and declared(people)._repr_html_()
    assert list(tmp_path.iterdir()) == []


def test_long_tables_are_cut_and_say_so():
    long = Display(title="t", columns=("a",), rows=tuple((f"row {n}",) for n in range(100)))
    assert "and 60 more" in long.as_text() and "and 60 more" in long.as_html()
    assert "row 99" not in long.as_text() + long.as_html()


def every_kind(kind=Displayed):
    for below in kind.__subclasses__():
        yield below
        yield from every_kind(below)


def test_no_dataclass_takes_the_representation_away():
    kinds = list(every_kind())
    assert len(kinds) > 10
    assert [kind.__name__ for kind in kinds if kind.__repr__ is not Displayed.__repr__] == []

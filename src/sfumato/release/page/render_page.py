"""index.html of a bundle: one file that loads nothing, the same bytes for the same release.

All that it says follows from the manifest and the published rows. So it is post-processing: it adds nothing to what the
bundle tells, and needs no guarantee of its own. Texts of a bundle may have been chosen by anybody who named a column or
a value. They enter the page as text alone: escaped by the template, or in a JSON block in which no `<` stands; the
script puts them into text nodes. The policy of the page lets no other script run and nothing be loaded.
"""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from json import dumps
from shlex import quote
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from sfumato.domains.domain import Domain
from sfumato.errors import SfumatoError
from sfumato.look import stylesheet, symbols
from sfumato.release.answer.marginal import CHOSEN, Marginal, marginal
from sfumato.release.page.bars import bars
from sfumato.release.page.bundle_words import BundleWords, bundle_words
from sfumato.release.page.embedded_rows import PageAnswers, column_domains
from sfumato.release.release import Release
from sfumato.wording import sentence

PAGE: Final = "index.html"
MOST_COLUMNS: Final = 200
"""Columns that are described; datapackage.json has all."""

MOST_MARGINALS: Final = 40
"""Columns that are counted."""

_LONGEST: Final = 200  # letters of a name or value that are shown
_LONGEST_RULE: Final = 2_000  # of a sentence of the publisher
_SCRIPTS: Final = ("query.js", "spread.js", "answer.js", "show.js")
_ESCAPED: Final[dict[str, str | int | None]] = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}


@dataclass(frozen=True)
class MarginalView:
    """One marginal as it is drawn."""

    attribute: str
    of: str
    bars: list[dict[str, Any]]

    @property
    def assumes(self) -> bool:
        """Whether an estimate assumes where values lie inside their regions."""
        return any(bar["assumes"] for bar in self.bars)

    @property
    def chosen(self) -> bool:
        """Whether published counts have decided which values are shown."""
        return self.of.startswith(CHOSEN)

    @property
    def exact(self) -> bool:
        """Whether all numbers are certain."""
        return all(bar["exact"] for bar in self.bars)


def render_page(release: Release, answers: PageAnswers) -> bytes:
    """The page of a release; ``release`` is asked about single attributes, its rows may be folded."""
    domains = release.declared_domains
    words = bundle_words(release.manifest, domains)
    names = [column.name for column in words.columns[:MOST_MARGINALS]]
    found = [each for name in names if (each := _marginal(release, name)) is not None]
    shared = _shared()
    return (
        shared.template.render(
            view=words,
            columns=words.columns[:MOST_COLUMNS],
            hidden=max(0, len(words.columns) - MOST_COLUMNS),
            uncounted=len(words.columns) - len(found),
            marginals=[MarginalView(each.attribute, each.of, bars(each)) for each in found],
            confidence=_confidence(found),
            data=_data(words, domains, answers),
            absent=[str(c["name"]) for c in column_domains(domains) if "absent" in c],
            answered=answers.kind is not None,
            why=answers.absent,
            elsewhere=_elsewhere(release.manifest),
            stored=_stored(release.manifest),
            style=shared.style,
            symbols=symbols(),
            script=shared.script,
            policy=shared.policy,
            made_by=made_by().decode(),
        )
        + "\n"
    ).encode()


def _marginal(release: Release, name: str) -> Marginal | None:
    """A marginal; None where the release answers no question about the attribute."""
    try:
        return marginal(release, name)
    except SfumatoError:
        return None


@dataclass(frozen=True)
class _Shared:
    """What all pages have in common."""

    template: Template
    style: str
    script: str
    policy: str


@cache
def _shared() -> _Shared:
    environment = Environment(
        loader=PackageLoader("sfumato.release", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"shown": _shown, "rule": _rule, "thousands": "{:,}".format, "shell": quote}
    here = files("sfumato.release.page")
    script = "\n" + "\n".join(here.joinpath(name).read_text("utf-8") for name in _SCRIPTS)
    style = "\n" + stylesheet() + here.joinpath("page.css").read_text("utf-8")
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; base-uri 'none'; "
        "form-action 'none'"
    )
    return _Shared(environment.get_template("page.html"), style, script, policy)


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def made_by() -> bytes:
    """What names the code that makes pages; pages of the same code have it in their head."""
    return f'<meta name="generator" content="Sfumato page {_fingerprint()}">'.encode()


@cache
def _fingerprint() -> str:
    """The hash of all that decides what a page says beside the bundle."""
    digest = sha256((stylesheet() + symbols()).encode())
    for package in ("sfumato.release.page", "sfumato.release.answer"):
        for file in sorted(files(package).iterdir(), key=lambda entry: entry.name):
            if file.is_file():
                digest.update(f"{file.name}\0".encode() + file.read_bytes())
    return digest.hexdigest()[:32]


def _data(words: BundleWords, domains: Mapping[str, Domain], answers: PageAnswers) -> str:
    """What the query box needs, as JSON in which nothing can end the block that it stands in."""
    content = {
        "columns": column_domains(domains),
        "elsewhere": _elsewhere(words.manifest),
        **answers.as_json(),
    }
    text = dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.translate(str.maketrans(_ESCAPED))


def _confidence(found: list[Marginal]) -> float:
    return min((part.estimate.confidence for each in found for part in each.parts), default=1.0)


def _elsewhere(manifest: Mapping[str, Any]) -> str:
    """What commands on a bundle need whose data is not in it."""
    return " --data ADDRESS" if manifest.get("stored") is not None else ""


def _stored(manifest: Mapping[str, Any]) -> list[str]:
    stored = manifest.get("stored")
    return [] if stored is None else [str(table["name"]) for table in stored["tables"].values()]


def _shown(text: object, most: int = _LONGEST) -> str:
    """A text of the bundle as it is read: shortened, and with marks in place of characters that nobody sees.

    Marks of the direction of writing could make a text read as another one.
    """
    whole = str(text)
    short = whole if len(whole) <= most else f"{whole[:most]}… ({len(whole):,} characters)"
    return "".join(f"⟨U+{ord(c):04X}⟩" if _unseen(c) else c for c in short)


def _rule(text: object) -> str:
    return sentence(_shown(text, _LONGEST_RULE))


def _unseen(letter: str) -> bool:
    """Control characters, and those that turn the direction of what follows."""
    code = ord(letter)
    control = code < 0x20 or 0x7F <= code < 0xA0  # noqa: PLR2004 - the C0 and C1 ranges
    return control or letter in "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"

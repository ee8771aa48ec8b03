"""The code blocks of a page: what each holds, the output that the page shows of it, and why it does not run, if so.

A block that cannot run has a paragraph right before it that readers see: `*Not run in the tests: it needs a cluster.*`
A block of the language `output` is what the block before it prints; `…` stands for anything that is left out. After the
language may stand `drawn=about,published`: in lines that begin with one of these words the numbers come from noise. The
page shows those of one run, and any others are right.
"""

import re
from dataclasses import dataclass
from functools import partial

from sybil import Document
from sybil.parsers.markdown.lexers import FencedCodeBlockLexer

REASON = re.compile(r"\*Not run in the tests: ([^*]+)\.\*")
FENCES = FencedCodeBlockLexer(r"[^\n`]*")


@dataclass(frozen=True, kw_only=True)
class Block:
    """A block of code, or of what code printed."""

    language: str
    text: str
    line: int
    reason: str | None
    drawn: tuple[str, ...] = ()


def reason_before(text):
    """Why a block does not run, if the paragraph right before it says so."""
    paragraph = " ".join(text.rstrip().rsplit("\n\n", 1)[-1].split())
    found = REASON.fullmatch(paragraph)
    return found[1] if found else None


def split_info(info):
    """The language of a block, and how the lines begin whose numbers are drawn."""
    language, *more = info.split() or [""]
    assert not more or (len(more) == 1 and more[0].startswith("drawn=")), f"nobody reads {' '.join(more)}"
    return language, tuple(more[0].removeprefix("drawn=").split(",")) if more else ()


def parse(document, evaluate):
    """Sybil's parser: every fenced block is an example, whatever its language."""
    for region in FENCES(document):
        before = document.text[: region.start]
        source = region.lexemes["source"]
        language, drawn = split_info(region.lexemes["language"])
        region.parsed = Block(
            language=language,
            text=source.text,
            line=before.count("\n") + 2,
            reason=reason_before(before),
            drawn=drawn,
        )
        region.evaluator = evaluate
        yield region


def examples(path, evaluate=None):
    """The blocks of a page as examples of Sybil, in order, with one namespace for all."""
    return list(Document.parse(str(path), partial(parse, evaluate=evaluate)).examples())


def blocks(path):
    """The blocks of a page, in order."""
    return [example.parsed for example in examples(path)]

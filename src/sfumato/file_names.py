"""Names are not paths: which names may become files, the file name of one that may not, and when two are the same.

Releases, purposes and sweeps give their names to folders, so their names are refused where a file system would read
them otherwise than people do. The name of a study is free text; the files of the study get a name that is made from it.
"""

import hashlib
import re
import unicodedata
from typing import Final

from sfumato.errors import StudyError

LONGEST: Final = 80
"""Characters of a name that becomes a file name."""

_BYTES: Final = 120  # two names and an ending have to fit into the 255 that most systems take

ALLOWED: Final = (
    "use letters, digits, and inside the name also blanks and any of - _ . , + = ( ) @; "
    f"at most {LONGEST} characters ({_BYTES} bytes), and none of the names that Windows keeps, such as CON"
)
"""What a name may be, for an error."""

_FILE_NAME: Final = re.compile(r"\w(?:[\w .,+=()@-]*[\w,+=()@-])?")
_IGNORABLE: Final = re.compile(  # Default_Ignorable_Code_Point of Unicode, where it is not of category Cf
    r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
_KEPT_BY_WINDOWS: Final = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)


def is_file_name(name: str) -> bool:
    r"""Whether a name can be the name of a file on every usual system, and means the same there.

    >>> [is_file_name(name) for name in ("k5", "l2 (strict)", "Übersicht", "../x", "a:b", "CON", "x.", "", "a\nb")]
    [True, True, True, False, False, False, False, False, False]
    """
    return all(
        _FILE_NAME.fullmatch(_without_marks(one)) is not None
        and _KEPT_BY_WINDOWS.fullmatch(one) is None
        and len(one) <= LONGEST
        and len(one.encode(errors="replace")) <= _BYTES
        for one in (name, unicodedata.normalize("NFKC", name))  # a wide colon becomes a colon on some systems
    )


def _without_marks(name: str) -> str:
    """The name without accents and vowel signs that are characters of their own: letters, to those who write them."""
    return "".join(letter for letter in name if unicodedata.category(letter)[0] != "M")


def checked_file_name(kind: str, name: str) -> str:
    """The name, if it can be the name of a file; ``kind`` says whose it is in the error."""
    if not is_file_name(name):
        raise StudyError(
            f"{kind} is called {_shown(name)}, and that cannot be the name of a folder", ALLOWED, code="SF-STUDY-023"
        )
    return name


def _shown(name: str) -> str:
    """A name for an error: short, and without line ends."""
    return repr(name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…") if name else "nothing at all"


def has_control_characters(name: str) -> bool:
    """Whether a name holds line ends, NUL, other control characters, or halves of characters."""
    return any(unicodedata.category(letter) in {"Cc", "Cs", "Zl", "Zp"} for letter in name)


def account_name(study: str) -> str:
    r"""What the names of one account have in common.

    Case, blanks, the Unicode form and invisible characters do not make another study.

    >>> account_name(" County  Hospital") == account_name("county hospital") == account_name("COUNTY\u00a0HOSPITAL")
    True
    >>> account_name("clinic\u200b") == account_name("cli\u00adnic") == account_name("clinic")
    True
    """
    return _folded(_without_invisible(study))


def _folded(name: str) -> str:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return " ".join(folded.split())


def _without_invisible(name: str) -> str:
    """The name without what is not displayed: format characters, and the others that Unicode lets a font ignore."""
    return "".join(
        letter for letter in name if unicodedata.category(letter) != "Cf" and _IGNORABLE.fullmatch(letter) is None
    )


def file_stem(study: str) -> str:
    """A file name for a study: its own name where that can be one, else what can be kept of it and a short hash.

    The hash is of the account, so two names that are slugged alike get different files, and two names of one account
    the same.

    >>> file_stem("county hospital"), file_stem("../../x")
    ('county hospital', 'x-9cdf6a50')
    """
    visible = _without_invisible(study)
    return visible if is_file_name(visible) else _slugged(account_name(study))


def account_stems(study: str) -> frozenset[str]:
    """The folded names that the files of an account may have, under whatever spelling of its name they were made.

    Earlier versions made a name of their own for a study with invisible characters; it is known by that spelling alone.
    """
    account = account_name(study)
    return frozenset({account, *(account_name(_slugged(one)) for one in (account, _folded(study)))})


def _slugged(account: str) -> str:
    slug = re.sub(r"[^\w]+", "-", account).strip("-_")[:40].encode()[:100].decode(errors="ignore")
    return f"{slug or 'study'}-{hashlib.sha256(account.encode(errors='replace')).hexdigest()[:8]}"

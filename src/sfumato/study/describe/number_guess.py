"""Which formats the numbers of a column may be written in, told from some of its values; for proposals to the owner.

Only currencies and per cent are taken for signs of numbers: `A12` and `7 b` are codes more often than numbers.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Final

from sfumato.domains.dates import BLANKS
from sfumato.domains.number_format import PARENTHESES, TRAILING, NumberFormat

NumberFormats = tuple[NumberFormat, ...]

_MARKS: Final = ((".", ","), (",", "."), (",", " "), (".", " "), (".", "'"), (",", "'"), (".", ""), (",", ""))
_PER_CENT: Final = frozenset({"%", "‰"})
_CURRENCIES: Final = frozenset(
    {
        "eur", "euro", "usd", "gbp", "chf", "jpy", "cny", "rmb", "inr", "rs", "rs.", "cad", "aud", "nzd", "sek", "nok",
        "dkk", "isk", "kr", "kr.", "pln", "zł", "czk", "kč", "huf", "ft", "ron", "lei", "bgn", "try", "tl", "rub",
        "uah", "brl", "r$", "us$", "ca$", "a$", "mxn", "ars", "clp", "cop", "zar", "krw", "sgd", "hkd", "twd", "thb",
        "ils", "aed", "sar", "egp", "ngn", "kes", "fr", "fr.", "sfr", "sfr.",
    }
)  # fmt: skip
_MOST: Final = 3  # formats of one column; more are not a way to write numbers
_FIRST: Final = 20  # values that rule most formats out
_BODY: Final = re.compile(r"[0-9](?:.*[0-9])?")
_AROUND: Final = f"{BLANKS}\u00a0\u2009\u202f+-\u2212()"


def guess_number_formats(values: Sequence[str]) -> tuple[NumberFormats, ...]:
    """The ways in which all the values are numbers, the likeliest first; none if they are not.

    There are two ways where a mark may stand before decimals or between thousands: 1,053.

    >>> [form.fields() for [form] in guess_number_formats(["1,053.30", "12"])]
    [{'thousands': ','}]
    >>> [form.fields() for [form] in guess_number_formats(["1.053,30 €", "0,5 €"])]
    [{'decimal': ',', 'thousands': '.', 'suffix': '€'}]
    >>> [form.fields() for [form] in guess_number_formats(["1,053", "12,400"])]
    [{'thousands': ','}, {'decimal': ','}]
    >>> guess_number_formats(["A12", "A13"]), guess_number_formats(["1,2,3"]), guess_number_formats(["007,5"])
    ((), (), ())
    """
    found = [(text, _BODY.search(text)) for value in values if (text := value.strip(BLANKS))]
    if not found or any(body is None or re.match("0[0-9]", body[0]) for _, body in found):
        return ()
    signs = Counter((_sign(text[: body.start()]), _sign(text[body.end() :])) for text, body in found if body)
    if len(signs) > _MOST or not all(_is_sign(before, behind) for before, behind in signs):
        return ()
    below = _negative([text for text, _ in found])
    if below is None:
        return ()
    used = {letter for _, body in found if body for letter in body[0]}
    texts = [text for text, _ in found]
    ways: list[NumberFormats] = []
    for decimal, thousands in _MARKS:
        form = NumberFormat(decimal=decimal, thousands=thousands, negative=below)
        if (thousands and not used & set(form.removed)) or (not thousands and decimal == "," and "," not in used):
            continue
        forms = tuple(
            NumberFormat(decimal=decimal, thousands=thousands, prefix=before, suffix=behind, negative=below)
            for (before, behind), _ in signs.most_common()
        )
        if all(all(any(f.plain(text) is not None for f in forms) for text in part) for part in _parts(texts)):
            ways.append(forms)
    if any(behind in _PER_CENT for _, behind in signs):  # thousands of per cent are rare
        ways.sort(key=lambda forms: bool(forms[0].thousands))
    return tuple(ways[:2])


def _parts(texts: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    return texts[:_FIRST], texts[_FIRST:]


def _sign(around: str) -> str:
    """What stands before or behind the digits, without signs and blanks; a decimal mark belongs to the number."""
    text = around.strip(_AROUND)
    return "" if text in {".", ","} else text


def _is_sign(before: str, behind: str) -> bool:
    return (not before or _is_currency(before)) and (not behind or behind in _PER_CENT or _is_currency(behind))


def _is_currency(text: str) -> bool:
    return text.lower() in _CURRENCIES or (len(text) == 1 and unicodedata.category(text) == "Sc")


def _negative(texts: Sequence[str]) -> str | None:
    """How negative numbers are written besides a sign in front; None if in two ways at once."""
    enclosed = any("(" in text for text in texts)
    behind = any(re.search("[0-9][^0-9]*[-\u2212][^0-9]*$", text) for text in texts)
    if enclosed and behind:
        return None
    return PARENTHESES if enclosed else TRAILING if behind else ""

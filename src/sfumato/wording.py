"""Words as people write them, and names and values in Markdown: a README keeps its form and runs nothing."""

import re
from decimal import ROUND_CEILING, Context, Decimal

_SPECIAL = re.compile(r"[\\`*\[\]<|&~]|(?<![^\W_])_|_(?![^\W_])")
_CODE_BREAKS = re.compile(r"[\\`|]")


def sentence(text: str) -> str:
    """Text as it begins a sentence; a Greek letter is a symbol and stays as it is.

    >>> sentence("noise is added"), sentence("ε = 1 is spent")
    ('Noise is added', 'ε = 1 is spent')
    """
    return text if "α" <= text[:1] <= "ω" else text[:1].upper() + text[1:]


def count_of(share: float, total: int) -> str:
    """A share of so many as a count with its percentage; one that would round to nothing says so.

    >>> count_of(12 / 45222, 45222), count_of(0.0, 10), count_of(1 / 10**6, 10**6)
    ('12 of 45,222 (0.03 %)', '0 of 10 (0 %)', '1 of 1,000,000 (< 0.01 %)')
    """
    percent = f"{100 * share:.2f}".rstrip("0").rstrip(".")
    shown = "< 0.01" if 0 < share < 0.00005 else percent  # noqa: PLR2004 - half of the last digit shown
    return f"{round(share * total):,} of {total:,} ({shown} %)"


def rounded_up(bound: float) -> str:
    """A bound with four digits: one that is rounded down is none.

    >>> rounded_up(2.7182818284590455), rounded_up(7.3890560989306504), rounded_up(2980.9579870417283)
    ('2.719', '7.390', '2,981')
    """
    rounded = Context(prec=4, rounding=ROUND_CEILING).create_decimal(Decimal(bound))
    return f"{rounded:,f}" if bound < 1e6 else f"{rounded:.3e}"  # noqa: PLR2004 - above it no digit matters


SHARE_UNITS = ("share", "probability")
"""Units of numbers that are written as percentages."""


def number_words(value: float, unit: str) -> str:
    """A number with its unit, with three significant digits; a share or probability as a percentage.

    >>> number_words(0.1234, "share"), number_words(0.48812, "nats"), number_words(12345.0, "records")
    ('12.3 %', '0.488 nats', '12,345 records')
    """
    if unit in SHARE_UNITS:
        return share_words(value)
    if float(value).is_integer() or abs(value) >= 999.5:  # noqa: PLR2004 - whole numbers from here on
        return f"{value:,.0f} {unit}".strip()
    return f"{value:.3g} {unit}".strip()


def share_words(value: float) -> str:
    """A share as a percentage with three significant digits.

    >>> share_words(0.0625), share_words(0.000001), share_words(12.0)
    ('6.25 %', '< 0.001 %', '1,200 %')
    """
    if 0 < value < 0.00001:  # noqa: PLR2004 - smaller digits are not worth reading
        return "< 0.001 %"
    return f"{100 * value:,.0f} %" if value >= 9.995 else f"{100 * value:.3g} %"  # noqa: PLR2004 - three digits


def markdown_text(text: str) -> str:
    """Text that is read as it is, in a heading, a sentence or a cell: no links, no HTML, no emphasis, on one line.

    Characters with a meaning become character references, which no reader of Markdown takes for syntax.

    >>> markdown_text("a|b <script>"), markdown_text("two_year [x](javascript:y)")
    ('a&#124;b &#60;script>', 'two_year &#91;x&#93;(javascript:y)')
    """
    return _SPECIAL.sub(lambda found: f"&#{ord(found[0])};", " ".join(text.split()))


def markdown_code(text: str) -> str:
    """Text as code, in a cell or a sentence; where a code span could be broken out of, as an element of HTML.

    >>> markdown_code("<=50K"), markdown_code("a|b")
    ('`<=50K`', '<code>a&#124;b</code>')
    """
    plain = " ".join(text.split())
    return f"`{plain}`" if plain and not _CODE_BREAKS.search(plain) else f"<code>{markdown_text(plain)}</code>"

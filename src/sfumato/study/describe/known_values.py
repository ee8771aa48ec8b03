"""Values that say what a column is whatever it is called: sexes, marital states, races, countries, states."""

from collections.abc import Sequence
from typing import Final

_LEAST: Final = 2
_NEARLY: Final = 0.8  # of the values are known; the others are further ones of the same list

_SEXES: Final = {
    "male", "female", "m", "f", "w", "man", "woman", "männlich", "weiblich", "divers", "homme", "femme", "hombre",
    "mujer", "diverse", "nonbinary", "other", "d", "x",
}  # fmt: skip
_MARITAL: Final = {
    "single", "married", "divorced", "widowed", "separated", "nevermarried", "unmarried", "partnered", "cohabiting",
    "ledig", "verheiratet", "geschieden", "verwitwet", "registeredpartnership",
}  # fmt: skip
_RACES: Final = {
    "white", "black", "asian", "hispanic", "latino", "caucasian", "africanamerican", "nativeamerican", "other", "mixed",
    "pacificislander", "americanindian", "twoormoreraces",
}  # fmt: skip
_COUNTRIES: Final = {
    "argentina", "australia", "austria", "belgium", "brazil", "bulgaria", "canada", "chile", "china", "colombia",
    "croatia", "cuba", "czechia", "denmark", "ecuador", "egypt", "england", "estonia", "finland", "france", "germany",
    "greece", "haiti", "hungary", "india", "indonesia", "iran", "iraq", "ireland", "israel", "italy", "jamaica",
    "japan", "kenya", "mexico", "morocco", "netherlands", "nigeria", "norway", "pakistan", "peru", "philippines",
    "poland", "portugal", "romania", "russia", "scotland", "serbia", "slovakia", "slovenia", "southafrica",
    "southkorea", "spain", "sweden", "switzerland", "syria", "taiwan", "thailand", "turkey", "ukraine",
    "unitedkingdom", "unitedstates", "usa", "uk", "venezuela", "vietnam", "wales",
}  # fmt: skip
_STATES: Final = {
    "al", "ak", "az", "ar", "ca", "co", "ct", "de", "dc", "fl", "ga", "hi", "id", "il", "in", "ia", "ks", "ky", "la",
    "me", "md", "ma", "mi", "mn", "ms", "mo", "mt", "ne", "nv", "nh", "nj", "nm", "ny", "nc", "nd", "oh", "ok", "or",
    "pa", "ri", "sc", "sd", "tn", "tx", "ut", "vt", "va", "wa", "wv", "wi", "wy",
}  # fmt: skip
_LISTS: Final = (
    ("sexes", _SEXES, _LEAST, {"m", "f", "male", "female", "man", "woman", "w"}),
    ("marital states", _MARITAL, 3, _MARITAL),
    ("races or ethnic groups", _RACES, 3, _RACES - {"other", "white", "black"}),
    ("countries", _COUNTRIES, 5, _COUNTRIES),
    ("states of the United States", _STATES, 10, _STATES),
)


def known_values(values: Sequence[str]) -> str | None:
    """What nearly all values are, if they are on a list of ours.

    >>> known_values(["M", "F"]), known_values(["yes", "no"]), known_values(["Married", "Never-married", "Widowed"])
    ('sexes', None, 'marital states')
    """
    plain = {"".join(filter(str.isalnum, value.casefold())) for value in values}
    for title, known, least, telling in _LISTS:
        if len(plain & known) >= max(least, _NEARLY * len(plain)) and plain & telling:
            return title
    return None

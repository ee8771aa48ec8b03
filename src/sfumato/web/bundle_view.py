"""What a page says of a bundle: all of it is read off the bundle, which anybody may have written."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from json import dumps
from pathlib import Path
from typing import Any, Final

from sfumato.domains.domain import Domain, Grid
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.errors import VerifyError
from sfumato.release.answer.marginal import Marginal, marginal
from sfumato.release.bundle.atomic_files import MANIFEST, find_bundle
from sfumato.release.form import FORMS
from sfumato.release.manifest.read_manifest import parse_manifest
from sfumato.release.release import Release
from sfumato.release.storage.untrusted import read_bounded, refuse_unexpected

_MOST_VALUES: Final = 12  # of a column that are listed
_NOISY: Final = ("noisy-counts", "consistent-counts", "tables", "marginals")
_ROLES: Final = {
    "quasi_identifier": "quasi-identifier",
    "sensitive": "sensitive attribute",
    "insensitive": "insensitive attribute",
    "class": "target (class attribute)",
    "predictor": "predictor",
}
_DP_LIMITS: Final = (
    "It does not cover facts that hold for many people alike, which a release may teach about anybody, nor other "
    "releases of the same people, whose ε adds up."
)
_ON_RAW: Final = (
    "The parameters were chosen on the raw table. That choice is itself computed from the records, and ε does not "
    "cover it."
)


@dataclass(frozen=True)
class ColumnView:
    """A column as its receiver reads it."""

    name: str
    role: str
    domain: str
    values: tuple[str, ...]
    more: int
    read_as: str
    number: int


@dataclass(frozen=True)
class BundleView:
    """A bundle by its manifest alone."""

    path: Path
    manifest: Mapping[str, Any]
    columns: tuple[ColumnView, ...]
    nodes: tuple[tuple[str, str], ...]  # generalised values with the values below them

    @property
    def noisy(self) -> bool:
        """Whether its counts have noise."""
        return self.manifest["form"] in _NOISY

    @property
    def private(self) -> bool:
        """Whether it states differential privacy."""
        return bool(self.manifest["privacy"]["kind"] == "differential privacy")

    @property
    def limits(self) -> list[str]:
        """What the guarantee does not cover."""
        privacy = self.manifest["privacy"]
        found = [_DP_LIMITS] if self.private else [str(privacy["limits"])]
        if privacy["chosen"] == "chosen on the raw table":
            found.append(_ON_RAW)
        if not privacy["secure"]:
            found.append("Its noise came from a seed, for testing: it has no guarantee at all.")
        return found

    @property
    def facts(self) -> list[tuple[str, str]]:
        """The guarantee in numbers."""
        privacy = self.manifest["privacy"]
        models = [(model["model"], _parameters(model["parameters"])) for model in privacy.get("models", ())]
        found = [("Privacy model", str(privacy["model"]))] if self.private else models
        if self.private:
            found += [("ε", str(privacy["epsilon"]))]
            if privacy.get("odds_factor") is not None:
                found += [
                    ("Odds factor", f"at most {privacy['odds_factor']:.3g}"),
                    ("Membership advantage", f"at most {100 * privacy['membership_advantage']:.1f} %"),
                ]
        scale = self.manifest["method"]["facts"].get("noise_scale")
        if self.noisy and isinstance(scale, (int, float)):
            found.append(("Noise on a count", f"scale {scale:.3g}"))
        if "groups" in self.manifest:
            found.append(("Row threshold", f"noisy count of at least {self.manifest['groups']['least_count']:,}"))
        return [
            *found,
            ("Unit", str(privacy["unit"])),
            ("Parameters", str(privacy["chosen"])),
            ("Method", str(self.manifest["method"]["name"])),
        ]

    @property
    def size(self) -> str:
        """How large it is, in words."""
        stated = self.manifest
        if "groups" in stated:
            return f"{stated['groups']['listed']:,} rows, a group each"
        if "published" in stated.get("records", {}):
            return f"{stated['records']['published']:,} records"
        return f"{stated['records']['rows']:,} rows of synthetic records, {len(stated['tables']):,} measured tables"

    @property
    def data_name(self) -> str:
        """The name of the file that a program loads first, without its ending."""
        names = [name.removesuffix(".parquet") for name in self.manifest["files"] if name.endswith(".parquet")]
        return next((name for name in ("data", "records", "data_qit") if name in names), names[0] if names else "data")

    @property
    def weight(self) -> str | None:
        """The column that says how many records a row stands for."""
        found = self.manifest.get("count_column") if self.noisy else None
        return found or self.manifest.get("weight_column")

    @property
    def target(self) -> str | None:
        """The class attribute, where there is one."""
        return next((a["name"] for a in self.manifest["attributes"] if a["role"] == "class"), None)

    def snippets(self) -> list[tuple[str, str]]:
        """How to load it, by language; names are quoted as the language wants it, whatever they are."""
        file, weight = self.data_name, self.weight
        first = self.target or self.manifest["attributes"][0]["name"]
        many = f"sum({_sql(weight)})" if weight else "count(*)"
        python = f'import pandas as pd\n\nt = pd.read_parquet("{file}.parquet")\n'
        python += (
            f"t.groupby({_python(first)})[{_python(weight)}].sum()" if weight else f"t[{_python(first)}].value_counts()"
        )
        r = f't <- read.csv("{file}.csv",\n              check.names = FALSE,\n'
        r += "              na.strings = character())\n"
        r += (
            f"tapply(t[[{_python(weight)}]], t[[{_python(first)}]], sum)" if weight else f"table(t[[{_python(first)}]])"
        )
        sql = f"select {_sql(first)}, {many} as n\nfrom '{file}.parquet'\ngroup by all\norder by all;"
        return [("Python", python), ("R", r), ("SQL (DuckDB)", sql)]

    @property
    def training(self) -> str | None:
        """How to train on it; None without a class attribute."""
        if self.target is None:
            return None
        return (
            "from sfumato import Release\nfrom sklearn.linear_model import LogisticRegression\n"
            "from sklearn.pipeline import make_pipeline\n\n"
            'release = Release.open(".")          # this folder\nX, y, w = release.to_training()\n'
            "fitted = LogisticRegression(max_iter=1000).fit(X, y, sample_weight=w)\n"
            "model = make_pipeline(release.encoder(), fitted)\n"
            "model.predict(new_records)           # raw values, as before the release"
        )

    @property
    def example(self) -> str:
        """A query that the release can answer."""
        name = str(self.target or self.manifest["attributes"][-1]["name"])
        column = next(c for c in self.columns if c.name == name)
        value = column.values[0] if column.values else ""
        return f"{_query(name)} = {_query(value)}"


def read_view(path: Path) -> BundleView:
    """A bundle by its folder; an error if its manifest is none, was changed, or contradicts itself."""
    with refuse_unexpected():
        place = find_bundle(path)
        try:
            manifest = parse_manifest(read_bounded(place / MANIFEST))
        except OSError:
            raise VerifyError("manifest.json cannot be read", "get the bundle again", code="SF-VERIFY-436") from None
        form = FORMS[manifest["form"]]
        domains = form.domains(form.layout(manifest))
        cuts = _cuts(manifest)
        columns = tuple(_column(n, a, domains.get(a["name"]), cuts) for n, a in enumerate(manifest["attributes"]))
        nodes = {label: below for a in manifest["attributes"] for label, below in _below(a["name"], domains, cuts)}
        return BundleView(place, manifest, columns, tuple(nodes.items()))


def open_cached(path: Path) -> Release:
    """The release of a bundle; kept until its manifest is another one."""
    place = find_bundle(path)
    try:
        stamp = (place / MANIFEST).lstat()
    except OSError:
        raise VerifyError("manifest.json cannot be read", "get the bundle again", code="SF-VERIFY-436") from None
    return _open(place, stamp.st_mtime_ns, stamp.st_size)


@lru_cache(maxsize=4)
def _open(place: Path, _when: int, _size: int) -> Release:
    return Release.open(place)


def bars(found: Marginal) -> list[dict[str, Any]]:
    """A marginal as bars with whiskers, from 0 to 320 wide, and the same numbers as text."""
    most = max([part.estimate.high for part in found.parts] + [part.estimate.count or 0 for part in found.parts] + [1])
    drawn = []
    for part in found.parts:
        e = part.estimate
        count = e.count
        drawn.append(
            {
                "label": part.label,
                "asked": part.asked,
                "count": None if count is None else f"{count:,.0f}",
                "interval": f"{e.low:,.0f} to {e.high:,.0f}" if e.low != e.high else "exact",
                "exact": e.low == e.high,
                "assumes": bool(e.assumes),
                "width": round(320 * (count or 0) / most, 1),
                "from": round(320 * max(e.low, 0) / most, 1),
                "to": round(320 * e.high / most, 1),
            }
        )
    return drawn


def marginal_of(path: Path, number: int) -> tuple[Marginal, list[dict[str, Any]], float]:
    """The marginal of a column by its place, its bars, and the confidence of its intervals."""
    release = open_cached(path)
    names = [str(stated["name"]) for stated in release.manifest["attributes"]]
    if not 0 <= number < len(names):
        raise VerifyError("the release has no such column", "reload the page", code="SF-VERIFY-437")
    with refuse_unexpected():
        found = marginal(release, names[number])
    return found, bars(found), min((part.estimate.confidence for part in found.parts), default=1.0)


def _parameters(given: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in given.items()) or "stated"


def _cuts(manifest: Mapping[str, Any]) -> dict[str, list[int]]:
    """Where the published groups of attributes begin, as far as they are the same for all rows."""
    stated = [a.get("cut") for a in manifest["attributes"]]
    stated += [cut for table in manifest.get("tables", ()) for cut in table.get("cuts", ())]
    return {cut["attribute"]: cut["starts"] for cut in stated if cut and isinstance(cut.get("starts"), list)}


def _column(number: int, stated: Mapping[str, Any], domain: Domain | None, cuts: Mapping[str, list[int]]) -> ColumnView:
    name, exact = str(stated["name"]), stated.get("published") == "values"
    role = _ROLES.get(str(stated["role"]), str(stated["role"]))
    if domain is None:
        return ColumnView(name, role, "declared in manifest.json", (), 0, "", number)
    starts = cuts.get(name)
    ranges = _ranges(domain, starts, exact=exact or stated["role"] == "class")
    values = tuple(domain.label(start, stop) for start, stop in ranges[:_MOST_VALUES])
    return ColumnView(
        name, role, _domain(domain), values, max(0, len(ranges) - len(values)), _read_as(stated, domain, starts), number
    )


def _ranges(domain: Domain, starts: list[int] | None, *, exact: bool) -> list[tuple[int, int]]:
    if starts is not None and not isinstance(domain, SetDomain):
        return list(zip(starts, [*starts[1:], domain.size], strict=True))
    if exact and not isinstance(domain, (Grid, SetDomain)):
        return [(code, code + 1) for code in range(min(domain.size, 1_000))]
    return []


def _domain(domain: Domain) -> str:
    if isinstance(domain, Grid):
        kind = {"day": "days", "integer": "integers"}.get(domain.unit, "numbers")
        said = f"{kind} {domain.text(domain.lower)} to {domain.text(domain.upper)}"
    elif isinstance(domain, SetDomain):
        said = f"sets of {domain.size:,} codes, taxonomy"
    else:
        said = f"{domain.size:,} values"
    return said if domain.declared else f"{said}, read off the table"


def _read_as(stated: Mapping[str, Any], domain: Domain, starts: list[int] | None) -> str:
    if stated.get("published") == "values" or (stated["role"] == "class" and starts is None):
        return "exact values"
    if starts is not None and len(starts) == 1:
        return "one region: says nothing"
    if isinstance(domain, SetDomain):
        return "the nodes that a record has codes under"
    if isinstance(domain, Grid):
        return "[a, b): from a, up to and not including b"
    if starts is not None and len(starts) == domain.size:
        return "exact values"
    return "a node: all values below it"


def _below(name: str, domains: Mapping[str, Domain], cuts: Mapping[str, list[int]]) -> list[tuple[str, str]]:
    """The generalised values of a column, with the values below each."""
    domain = domains.get(name)
    if domain is None or isinstance(domain, (Grid, SetDomain)) or domain.taxonomy is None:
        return []
    ranges = _ranges(domain, cuts.get(name), exact=False) or _inner(domain)
    wide = [(start, stop) for start, stop in ranges if stop - start > 1]
    return [
        (domain.label(start, stop), ", ".join(domain.label(code, code + 1) for code in range(start, stop)[:50]))
        for start, stop in wide[:100]
    ]


def _inner(domain: Domain) -> list[tuple[int, int]]:
    """Every inner node of a taxonomy, the root first."""
    found: list[tuple[int, int]] = []
    todo = [(0, domain.size)]
    while todo and len(found) < 100:  # noqa: PLR2004 - more are in manifest.json
        node = todo.pop(0)
        found.append(node)
        todo += [child for child in domain.children(*node) if child[1] - child[0] > 1]
    return found


def _python(text: str | None) -> str:
    return dumps(text, ensure_ascii=False)


def _sql(text: str | None) -> str:
    return '"' + str(text).replace('"', '""') + '"'


def _query(text: str) -> str:
    return text if text.isidentifier() and text.isascii() else "'" + text.replace("'", "''") + "'"

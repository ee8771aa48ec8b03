"""A bundle in words, by its manifest alone: guarantee and limits, columns, size, and how to load it."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Any, Final

from sfumato.domains.domain import Domain
from sfumato.release.page.column_words import ColumnView, column_views, generalised_values
from sfumato.release.page.snippets import Snippets

_NOISY: Final = ("noisy-counts", "consistent-counts", "tables", "marginals")
_DP_LIMITS: Final = (
    "It does not cover facts that hold for many people alike, which a release may teach about anybody, nor other "
    "releases of the same people, whose ε adds up."
)
_ON_RAW: Final = (
    "The parameters were chosen on the raw table. That choice is itself computed from the records, and ε does not "
    "cover it."
)


@dataclass(frozen=True)
class BundleWords:
    """A bundle by its manifest alone."""

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
        if self.private and privacy["chosen"] == "chosen on the raw table":
            found.append(_ON_RAW)
        if not privacy["secure"]:
            found.append("Its randomness came from a seed, for testing: it has no guarantee at all.")
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
                    ("Odds factor", f"at most {_at_most(privacy['odds_factor'])}"),
                    ("Membership advantage", f"at most {_at_most(100 * privacy['membership_advantage'])} %"),
                ]
        if self.noisy and (scales := self._noise_scales()):
            low, high = f"{min(scales):.3g}", f"{max(scales):.3g}"
            same = low == high
            found.append(("Noise on a count", f"scale {low}" if same else f"scale {low} to {high}, by measured table"))
        if "groups" in self.manifest:
            found.append(("Row threshold", f"noisy count of at least {self.manifest['groups']['least_count']:,}"))
        return [
            *found,
            ("Unit", str(privacy["unit"])),
            ("Parameters", str(privacy["chosen"])),
            ("Method", str(self.manifest["method"]["name"])),
        ]

    def _noise_scales(self) -> list[float]:
        """The scale of the noise on a count, of each measured table where there are several; none if none is stated."""
        tables = [table.get("noise_scale") for table in self.manifest.get("tables", ())]
        stated = tables or [self.manifest["method"]["facts"].get("noise_scale")]
        return [scale for scale in stated if isinstance(scale, (int, float))]

    @property
    def size(self) -> str:
        """How large it is, in words."""
        stated = self.manifest
        if "groups" in stated:
            return f"{stated['groups']['listed']:,} rows, a group each"
        if "published" in stated.get("records", {}):
            return f"{stated['records']['published']:,} records"
        rows, tables = stated["records"]["rows"], len(stated["tables"])
        return f"{rows:,} weighted rows of synthetic records, {tables:,} measured tables"

    @property
    def weight(self) -> str | None:
        """The column that says how many records a row stands for."""
        found = self.manifest.get("count_column") if self.noisy else None
        return found or self.manifest.get("weight_column")

    @property
    def target(self) -> str | None:
        """The class attribute, where there is one."""
        return next((a["name"] for a in self.manifest["attributes"] if a["role"] == "class"), None)

    @property
    def _snippets(self) -> Snippets:
        return Snippets(self.manifest, self.target, self.weight)

    def snippets(self) -> list[tuple[str, str]]:
        """How to load it, by language."""
        return self._snippets.by_language()

    @property
    def training(self) -> str | None:
        """How to train on it; None without a class attribute."""
        return self._snippets.training()

    @property
    def example(self) -> str:
        """A query that the release can answer."""
        name = str(self.target or self.manifest["attributes"][-1]["name"])
        column = next(c for c in self.columns if c.name == name)
        value = column.values[0] if column.values else ""
        return f"{_query(name)} = {_query(value)}"


def bundle_words(manifest: Mapping[str, Any], domains: Mapping[str, Domain]) -> BundleWords:
    """A bundle by its manifest and the domains of its attributes."""
    return BundleWords(manifest, column_views(manifest, domains), generalised_values(manifest, domains))


def _at_most(bound: float) -> str:
    """A bound with three digits, rounded up: a smaller number would promise more.

    >>> _at_most(148.413), _at_most(7.38906), _at_most(24.4919)
    ('149', '7.39', '24.5')
    """
    if bound <= 0:
        return "0"
    unit = 10.0 ** (floor(log10(bound)) - 2)
    found = ceil(round(bound / unit, 6)) * unit
    return f"{found:.3g}" if found < 999.5 else f"{found:,.0f}"  # noqa: PLR2004 - whole numbers from here on


def _parameters(given: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in given.items()) or "stated"


def _query(text: str) -> str:
    return text if text.isidentifier() and text.isascii() else "'" + text.replace("'", "''") + "'"

"""The bundle as a Frictionless tabular data package (https://specs.frictionlessdata.io/tabular-data-package/)."""

import re
from collections.abc import Mapping
from typing import Any, Final

from sfumato.release.bundle.files import FileFacts
from sfumato.release.forms.noisy_counts.labels import Labels
from sfumato.release.forms.noisy_counts.table import Layout

_MOST_LISTED: Final = 1_000  # regions of one cut; longer lists are in the manifest in another form


def datapackage(
    layout: Layout, *, study: str, release: str, guarantee: str, least_count: int, files: Mapping[str, FileFacts]
) -> dict[str, Any]:
    """The content of datapackage.json."""
    return {
        "profile": "tabular-data-package",
        "name": slug(f"{study} {release}"),
        "title": f"{release} of {study}",
        "description": f"Groups of records with noisy counts; groups not listed have count 0. {guarantee}",
        "resources": [
            {
                "name": "data",
                "path": "data.csv",
                "profile": "tabular-data-resource",
                "format": "csv",
                "mediatype": "text/csv",
                "encoding": "utf-8",
                "bytes": files["data.csv"].size,
                "hash": f"sha256:{files['data.csv'].sha256}",
                "dialect": {"delimiter": ",", "quoteChar": '"', "doubleQuote": True, "lineTerminator": "\n"},
                "schema": _schema(layout, least_count),
            },
            {
                "name": "data-parquet",
                "path": "data.parquet",
                "format": "parquet",
                "mediatype": "application/vnd.apache.parquet",
                "bytes": files["data.parquet"].size,
                "hash": f"sha256:{files['data.parquet'].sha256}",
            },
        ],
    }


def _schema(layout: Layout, least_count: int) -> dict[str, Any]:
    fields = [_field(name, labels) for name, labels in zip(layout.columns, layout.labels, strict=False)]
    count = {
        "name": layout.count,
        "type": "integer",
        "description": "how many records, after noise",
        "constraints": {"required": True, "minimum": least_count},
    }
    return {"fields": [*fields, count], "missingValues": [], "primaryKey": list(layout.columns[:-1])}


def _field(name: str, labels: Labels) -> dict[str, Any]:
    constraints: dict[str, Any] = {"required": True}
    if labels.cut.total <= _MOST_LISTED:
        constraints["enum"] = list(labels.all)
    return {"name": name, "type": "string", "constraints": constraints}


def slug(text: str) -> str:
    """A name as the standard wants it: lower case letters, digits, '.', '_' and '-'."""
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("-") or "release"

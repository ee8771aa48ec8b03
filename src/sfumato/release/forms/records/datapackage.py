"""A bundle of records as a Frictionless tabular data package (https://specs.frictionlessdata.io/tabular-data-package/)."""

from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa

from sfumato.domains.domain import Categories
from sfumato.release.bundle.files import FileFacts
from sfumato.release.forms.noisy_counts.datapackage import slug
from sfumato.release.forms.records.table import Column, RecordLayout

_MOST_LISTED: Final = 1_000  # values of one attribute; longer lists are in the manifest
_KINDS: Final = {"int64": "integer", "double": "number", "date32[day]": "date", "bool": "boolean"}


def record_package(layout: RecordLayout, content: Mapping[str, Any], files: Mapping[str, FileFacts]) -> dict[str, Any]:
    """The content of datapackage.json; ``content`` is the manifest."""
    resources = []
    for name, kinds in layout.tables.items():
        resources += [
            {
                "name": slug(name),
                "path": f"{name}.csv",
                "profile": "tabular-data-resource",
                "format": "csv",
                "mediatype": "text/csv",
                "encoding": "utf-8",
                "bytes": files[f"{name}.csv"].size,
                "hash": f"sha256:{files[f'{name}.csv'].sha256}",
                "dialect": {"delimiter": ",", "quoteChar": '"', "doubleQuote": True, "lineTerminator": "\n"},
                "schema": {"fields": [_field(layout, *kind) for kind in kinds], "missingValues": [""]},
            },
            {
                "name": f"{slug(name)}-parquet",
                "path": f"{name}.parquet",
                "format": "parquet",
                "mediatype": "application/vnd.apache.parquet",
                "bytes": files[f"{name}.parquet"].size,
                "hash": f"sha256:{files[f'{name}.parquet'].sha256}",
            },
        ]
    return {
        "profile": "tabular-data-package",
        "name": slug(f"{content['study']} {content['release']}"),
        "title": f"{content['release']} of {content['study']}",
        "description": f"Records in groups that look alike. {content['promise']}",
        "resources": resources,
    }


def _field(layout: RecordLayout, name: str, kind: pa.DataType) -> dict[str, Any]:
    told = {
        layout.group: "the bucket; numbers were given at random",
        layout.suppressed: "whether the record is suppressed; then it has no other value",
        layout.count: "how many records of the bucket have this value",
    }
    if name in told:
        return {"name": name, "type": _KINDS[str(kind)], "description": told[name]}
    column = next(column for column in layout.columns if column.name == name)
    if not column.texts:
        return {"name": name, "type": _KINDS[str(kind)], "constraints": {"required": not _may_lack(layout, column)}}
    constraints: dict[str, Any] = {"required": layout.suppressed is None}
    if not column.regions and isinstance(column.domain, Categories) and column.domain.size <= _MOST_LISTED:
        constraints["enum"] = list(column.domain.taxonomy.leaves)
    return {"name": name, "type": "string", "constraints": constraints}


def _may_lack(layout: RecordLayout, column: Column) -> bool:
    return layout.suppressed is not None or column.domain.missing is not None

"""The bundle as a Frictionless tabular data package (https://specs.frictionlessdata.io/tabular-data-package/)."""

import re
from collections.abc import Mapping
from typing import Any

from sfumato.release.bundle.atomic_files import FileFacts
from sfumato.release.storage.seal import Json


def datapackage(
    schemas: Mapping[str, Json], manifest: Mapping[str, Any], files: Mapping[str, FileFacts], *, about: str
) -> Json:
    """The content of datapackage.json; ``schemas`` has that of each table by the name of its files without ending."""
    resources: list[Json] = []
    stored = manifest.get("stored")
    for name, schema in schemas.items():
        if stored is not None:
            resources.append(_stored_resource(name, schema, stored))
            continue
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
                "schema": schema,
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
        "name": slug(f"{manifest['study']} {manifest['release']}"),
        "title": f"{manifest['release']} of {manifest['study']}",
        "description": f"{about} {manifest['guarantee']}",
        "resources": resources,
    }


def _stored_resource(name: str, schema: Json, stored: Mapping[str, Any]) -> Json:
    """A table that an engine keeps; the manifest has the hash of its text, which is no file."""
    table = stored["tables"][name]
    return {
        "name": slug(name),
        "path": table["name"],
        "profile": "tabular-data-resource",
        "format": "parquet" if table["parts"] else "sql",
        "schema": schema,
    }


def slug(text: str) -> str:
    """A name as the standard wants it: lower case letters, digits, '.', '_' and '-'."""
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("-") or "release"

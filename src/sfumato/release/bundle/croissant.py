"""The bundle as a Croissant dataset (https://docs.mlcommons.org/croissant/docs/croissant-spec.html), version 1.0.

Croissant is what search engines and libraries for machine learning read about a dataset. All of it follows from the
manifest: no licence is stated, since the manifest has none, and no address, since a bundle does not know where it lies.
"""

from collections.abc import Mapping
from typing import Any, Final

from sfumato.release.bundle.atomic_files import FileFacts
from sfumato.release.bundle.datapackage import slug
from sfumato.release.storage.seal import Json

CROISSANT: Final = "croissant.json"

_CONTEXT: Final[Json] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_KINDS: Final = {
    "string": "sc:Text", "integer": "sc:Integer", "number": "sc:Float", "boolean": "sc:Boolean", "date": "sc:Date",
}  # fmt: skip
_MEDIA: Final = {"csv": "text/csv", "parquet": "application/vnd.apache.parquet"}


def croissant(
    schemas: Mapping[str, Json], manifest: Mapping[str, Any], files: Mapping[str, FileFacts], *, about: str
) -> Json:
    """The content of croissant.json; ``schemas`` has the Frictionless schema of each table, as in datapackage.json.

    Tables that an engine keeps are no files of the bundle, so they are not described: Croissant describes files.
    """
    found: Json = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": slug(f"{manifest['study']} {manifest['release']}"),
        "alternateName": f"{manifest['release']} of {manifest['study']}",
        "description": f"{about} {manifest['guarantee']}",
        "datePublished": manifest["date"],
        "rai:personalSensitiveInformation": manifest["guarantee"],
    }
    if manifest.get("stored") is not None:
        return found
    return found | {
        "distribution": [_file(f"{name}.{ending}", files) for name in schemas for ending in ("csv", "parquet")],
        "recordSet": [_records(name, schema) for name, schema in schemas.items()],
    }


def _file(name: str, files: Mapping[str, FileFacts]) -> Json:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "contentSize": f"{files[name].size} B",
        "encodingFormat": _MEDIA[name.rpartition(".")[2]],
        "sha256": files[name].sha256,
    }


def _records(name: str, schema: Mapping[str, Any]) -> Json:
    """A table by its CSV file; columns are numbered, because a name may hold what an identifier may not."""
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "field": [_field(name, number, field) for number, field in enumerate(schema["fields"])],
    }


def _field(table: str, number: int, field: Mapping[str, Any]) -> Json:
    described: Json = {"description": field["description"]} if "description" in field else {}
    return {
        "@type": "cr:Field",
        "@id": f"{table}/{number}",
        "name": field["name"],
        **described,
        "dataType": _KINDS[field["type"]],
        "source": {"fileObject": {"@id": f"{table}.csv"}, "extract": {"column": field["name"]}},
    }

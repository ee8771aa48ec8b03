"""Manifests of format 1, the format of version 0.1: checked by their own schema, then read as if they were of format 2.

Format 1 had two kinds of manifest. One of noisy counts had `guarantee` and `receipt`, one of records `promise`,
`promises`, and its form in a field `shape`. Only names and places differ, so nothing that a check looks at is lost.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, Field

from sfumato.release.manifest.fields import (
    Chosen,
    Exact,
    FileEntry,
    Hash,
    Method,
    ModelEntry,
    Number,
    SelectionEntry,
    Step,
    Strict,
    Whole,
)

_DAY: Final = r"^\d{4}-\d\d-\d\d$"


class _Privacy(Strict):
    model: str
    epsilon: Exact | None
    unit: str
    neighbouring: str
    composition: str
    receipt: list[Step]
    secure: bool
    chosen: Chosen
    odds: str | None
    odds_factor: float | None
    membership_advantage: float | None


class _Attribute(Strict):
    name: str
    role: Literal["predictor", "class"]
    domain: dict[str, Any]
    cut: dict[str, Any]


class _GroupNumbers(Strict):
    listed: Number
    combinations: Whole
    threshold: Annotated[int, Field(ge=1)]
    least_count: Annotated[int, Field(ge=1)]


class _Common(Strict):
    format: Literal["sfumato bundle"]
    format_version: int
    study: str
    release: str
    date: Annotated[str, Field(pattern=_DAY)]
    method: Method
    rules: list[str]
    selection: SelectionEntry | None = None
    files: dict[str, FileEntry]
    versions: dict[str, str]
    ledger: Hash | None
    seal: Hash


class CountsManifest1(_Common):
    """The manifest of noisy counts."""

    form: Literal["counts"] = "counts"  # the first ones do not say it
    guarantee: str
    privacy: _Privacy
    attributes: list[_Attribute]
    class_column: str | None
    count_column: str
    groups: _GroupNumbers


class _RecordPrivacy(Strict):
    promises: list[ModelEntry]
    unit: str
    secure: bool
    chosen: Chosen
    limits: str


class _RecordAttribute(Strict):
    name: str
    role: Literal["quasi_identifier", "sensitive", "class", "insensitive"]
    published: Literal["regions", "values"]
    domain: dict[str, Any]
    sets: dict[str, Any] | None = None


class _RecordNumbers(Strict):
    published: Number
    suppressed: Number
    groups: Number
    smallest_group: Number


class RecordsManifest1(_Common):
    """The manifest of records."""

    form: Literal["records"]
    shape: Literal["generalised", "bucketized", "anatomy"]
    promise: str
    privacy: _RecordPrivacy
    attributes: list[_RecordAttribute]
    group_column: str | None
    suppressed_column: str | None
    count_column: str | None
    sampled: Annotated[str, Field(pattern=r"^[0-9./]{1,60}$")] | None = None
    records: _RecordNumbers


SCHEMAS: Final[Mapping[str, type[BaseModel]]] = {"counts": CountsManifest1, "records": RecordsManifest1}


def form_1(content: Mapping[str, Any]) -> str:
    """Which of the two kinds a manifest of format 1 says that it is."""
    return str(content.get("form", "counts"))


def upgrade(content: Mapping[str, Any]) -> dict[str, Any]:
    """A checked manifest of format 1 with the names of format 2; its version stays 1."""
    found = dict(content)
    privacy = dict(content["privacy"])
    if form_1(content) == "counts":
        privacy = {"kind": "differential privacy", **privacy}
        privacy["budget_breakdown"] = privacy.pop("receipt")
        return found | {"form": "noisy-counts", "privacy": privacy}
    privacy = {"kind": "syntactic", **privacy}
    privacy["models"] = privacy.pop("promises")
    found["form"] = found.pop("shape")
    found["guarantee"] = found.pop("promise")
    return found | {"privacy": privacy}

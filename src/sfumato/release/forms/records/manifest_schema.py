"""The fields of a manifest of records, with their types; what is not listed here is refused."""

from typing import Annotated, Any, Literal

from pydantic import Field

from sfumato.release.forms.noisy_counts.manifest_schema import FileEntry, Hash, Method, SelectionEntry, Strict

Number = Annotated[int, Field(ge=0)]


class Promise(Strict):
    """One model with its parameters, and the sentence to quote."""

    model: str
    parameters: dict[str, Any]
    sentence: str


class RecordPrivacy(Strict):
    """What is promised, of whom, and what is not."""

    promises: list[Promise]
    unit: str
    secure: bool
    chosen: Literal["fixed in advance", "chosen on the raw table", "chosen on a stand-in table"]
    limits: str


class RecordAttribute(Strict):
    """One attribute: its part, how it is published, and its domain in the form of `domains.json_form`."""

    name: str
    role: Literal["quasi_identifier", "sensitive", "class", "insensitive"]
    published: Literal["regions", "values"]
    domain: dict[str, Any]
    sets: dict[str, Any] | None = None  # of sets that are published as categories: the declared domain of their codes


class RecordNumbers(Strict):
    """How many records and groups the tables hold; anybody can count them."""

    published: Number
    suppressed: Number
    groups: Number
    smallest_group: Number


class RecordManifest(Strict):
    """The whole of manifest.json."""

    format: Literal["sfumato bundle"]
    format_version: int
    form: Literal["records"]
    shape: Literal["generalised", "bucketized", "anatomy"]
    study: str
    release: str
    date: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")]  # the day, and nothing finer
    promise: str
    privacy: RecordPrivacy
    method: Method
    rules: list[str]
    selection: SelectionEntry | None = None  # bundles of the whole table do not say it
    attributes: list[RecordAttribute]
    group_column: str | None
    suppressed_column: str | None
    count_column: str | None
    sampled: Annotated[str, Field(pattern=r"^[0-9./]{1,60}$")] | None = None  # left out where all records were used
    records: RecordNumbers
    files: dict[str, FileEntry]
    versions: dict[str, str]
    ledger: Hash | None
    seal: Hash

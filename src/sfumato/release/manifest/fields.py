"""The manifest's fields, with their types; what is not listed here is refused. A form adds fields of its own."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

FORMAT = "sfumato bundle"
FORMAT_VERSION = 2

Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Exact = Annotated[str, Field(pattern=r"^\d{1,400}(\.\d{1,400}|/[1-9]\d{0,400})?$")]  # ε: a decimal or a fraction
Whole = Annotated[int | str, Field()]  # beyond 2⁵³, which other readers would round, as text
Number = Annotated[int, Field(ge=0)]
Chosen = Literal["fixed in advance", "chosen on the raw table", "chosen on a stand-in table"]


class Strict(BaseModel):
    """Only known fields, each of its very type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Step(Strict):
    """One line of the budget breakdown."""

    on: str
    epsilon: Exact
    mechanism: str


class DpPrivacy(Strict):
    """Differential privacy and all that is needed to read it."""

    kind: Literal["differential privacy"]
    model: str
    epsilon: Exact | None
    unit: str
    neighbouring: str
    composition: str
    budget_breakdown: list[Step]
    secure: bool
    chosen: Chosen
    odds: str | None
    odds_factor: float | None
    membership_advantage: float | None


class ModelEntry(Strict):
    """One privacy model with its parameters, and the sentence to quote."""

    model: str
    parameters: dict[str, Any]
    sentence: str


class SyntacticPrivacy(Strict):
    """Privacy models about equivalence classes, and what they do not cover."""

    kind: Literal["syntactic"]
    models: list[ModelEntry]
    unit: str
    secure: bool
    chosen: Chosen
    limits: str


class Method(Strict):
    """What was run, and what it tells about its run within the guarantee."""

    name: str
    parameters: dict[str, Any]
    facts: dict[str, Any]


class FileEntry(Strict):
    """One file of the bundle."""

    size: Number
    sha256: Hash


StoredName = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f-\x9f/\\]{1,300}$")]  # a table's or a file's, and no path


class StoredTable(Strict):
    """A table that is not in the bundle: its name, its rows, and its length and SHA-256 as the text of data.csv.

    ``parts`` are its files where an engine wrote some.
    """

    name: StoredName
    rows: Number
    size: Number
    sha256: Hash
    parts: dict[StoredName, FileEntry]


class Stored(Strict):
    """Tables that an engine keeps, by the names that their files would have."""

    engine: Literal["postgresql", "spark"]
    tables: dict[str, StoredTable]


class SelectionEntry(Strict):
    """Which records the release was made from: the days from the first up to the second, and a condition, or None."""

    time: str | None
    span: list[str] | None
    where: str | None


class Manifest(Strict):
    """What every manifest.json has, whatever the form of the release."""

    format: Literal["sfumato bundle"]
    format_version: int
    form: str
    study: str
    release: str
    date: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")]  # the day, and nothing finer
    guarantee: str
    privacy: Annotated[DpPrivacy | SyntacticPrivacy, Field(discriminator="kind")]
    method: Method
    rules: list[str]
    selection: SelectionEntry | None = None  # bundles of the whole table do not say it
    stored: Stored | None = None  # only where the data is not in the bundle
    files: dict[str, FileEntry]
    versions: dict[str, str]
    ledger: Hash | None
    seal: Hash

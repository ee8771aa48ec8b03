"""The manifest's fields, with their types; what is not listed here is refused."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

FORMAT = "sfumato bundle"
FORMAT_VERSION = 1

Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Exact = Annotated[str, Field(pattern=r"^\d{1,400}(\.\d{1,400}|/[1-9]\d{0,400})?$")]  # ε: a decimal or a fraction
Whole = Annotated[int | str, Field()]  # beyond 2⁵³, which other readers would round, as text


class Strict(BaseModel):
    """Only known fields, each of its very type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Step(Strict):
    """One line of the receipt."""

    on: str
    epsilon: Exact
    mechanism: str


class Privacy(Strict):
    """The promise and all that is needed to read it."""

    model: str
    epsilon: Exact | None
    unit: str
    neighbouring: str
    composition: str
    receipt: list[Step]
    secure: bool
    chosen: Literal["fixed in advance", "chosen on the raw table", "chosen on a stand-in table"]
    odds: str | None
    odds_factor: float | None
    membership_advantage: float | None


class Method(Strict):
    """What was run, and what it tells about its run within the promise."""

    name: str
    parameters: dict[str, Any]
    facts: dict[str, Any]


class AttributeEntry(Strict):
    """One column of regions or the class: its public domain and its cut, in the forms of `domains.json_form`."""

    name: str
    role: Literal["predictor", "class"]
    domain: dict[str, Any]
    cut: dict[str, Any]


class GroupNumbers(Strict):
    """How many groups are listed, of how many; the threshold on noisy counts; the least count there can be."""

    listed: Annotated[int, Field(ge=0)]
    combinations: Whole
    threshold: Annotated[int, Field(ge=1)]
    least_count: Annotated[int, Field(ge=1)]


class FileEntry(Strict):
    """One file of the bundle."""

    size: Annotated[int, Field(ge=0)]
    sha256: Hash


class SelectionEntry(Strict):
    """Which records the release was made from: the days from the first up to the second, and a condition, or None."""

    time: str | None
    span: list[str] | None
    where: str | None


class Manifest(Strict):
    """The whole of manifest.json."""

    format: Literal["sfumato bundle"]
    format_version: int
    form: Literal["counts"] = "counts"  # bundles made before there were others do not say it
    study: str
    release: str
    date: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")]  # the day, and nothing finer
    guarantee: str
    privacy: Privacy
    method: Method
    rules: list[str]
    selection: SelectionEntry | None = None  # bundles of the whole table do not say it
    attributes: list[AttributeEntry]
    class_column: str | None  # None: no class is published
    count_column: str
    groups: GroupNumbers
    files: dict[str, FileEntry]
    versions: dict[str, str]
    ledger: Hash | None
    seal: Hash

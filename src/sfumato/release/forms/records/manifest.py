"""The manifest of a release of records: what is promised about its groups, and all that a check of it needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final, cast, get_args

from sfumato.domains.domain import Categories
from sfumato.domains.json_form import domain_from_json, domain_to_json
from sfumato.domains.sets.domain import SetDomain
from sfumato.errors import InternalError, SfumatoError
from sfumato.privacy.groups.statistics import Statistics
from sfumato.privacy.models import GroupModel, parse_models, promise_of
from sfumato.release.bundle.files import FileFacts
from sfumato.release.bundle.source_names import leaving_names
from sfumato.release.forms.noisy_counts.manifest_schema import FORMAT, FORMAT_VERSION
from sfumato.release.forms.records.rows import FORMS, Records
from sfumato.release.forms.records.table import Column, PublishedRole, RecordLayout, free_name
from sfumato.release.partition import PartitionDraft
from sfumato.release.storage.parquet_file import ParquetLimits
from sfumato.release.storage.seal import Json, broken, plain, seal, told_size
from sfumato.study.attribute import Role
from sfumato.study.budget import show
from sfumato.study.recipe import Chosen

LIMITS: Final = (
    "The promise is a property of the published table, not a guarantee to the people in it: it does not bound what "
    "somebody can infer who knows more about them, who holds another release of the same people, or who knows how this "
    "one was made; it is not differential privacy."
)

_ON_RAW: Final = "The parameters were chosen by looking at the table."
_SEEDED: Final = "none (seeded for testing)"
_SHUFFLED: Final = ("bucketized", "anatomy")


@dataclass(frozen=True, kw_only=True)
class RecordFacts:
    """What whoever publishes knows about a release of records beyond its draft; every field goes into the manifest.

    ``rules`` say in words what happened to missing values and to those outside a domain. ``ledger`` is the hash of the
    release's entry in the owner's ledger. ``selection`` says which records it was made from, None for all. ``sets`` has
    how the codes of sets were declared: with it a receiver reads raw codes. Only what the owner declared before any
    record was read may stand there, so it tells nothing of the table; codes that were read off it stay with the owner,
    since a code may be that of one record.
    """

    study: str
    release: str
    method: str
    parameters: Mapping[str, Any]
    unit: str
    chosen: str  # one of `recipe.Chosen`
    versions: Mapping[str, str]
    date: str
    rules: Sequence[str]
    secure: bool = True  # whether what is random in it came from the system's secure source
    ledger: str | None = None
    selection: Mapping[str, Any] | None = None
    sets: Mapping[str, SetDomain] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if any(not domain.declared for domain in self.sets.values()):
            raise InternalError("codes that were read off the table reached publication")


def record_layout(
    draft: PartitionDraft, *, suppression: bool, sets: Mapping[str, SetDomain] | None = None
) -> RecordLayout:
    """The columns that a draft is published in; ``suppression`` says whether records may be suppressed."""
    view = draft.view
    names = [a.name for a in view.attributes]
    columns = []
    for attribute in view.attributes:
        if attribute.domain is None or attribute.role not in get_args(PublishedRole):
            raise InternalError(f"'{attribute.name}' reached publication without its domain, or as {attribute.role}")
        role = cast("PublishedRole", attribute.role.value)
        regions = attribute.role is Role.QUASI_IDENTIFIER and draft.form == "generalised"
        columns.append(Column(attribute.name, role, attribute.domain, regions, (sets or {}).get(attribute.name)))
    buckets = draft.form != "generalised"
    group = free_name("group", names) if buckets else None
    return RecordLayout(
        form=draft.form,
        columns=tuple(columns),
        group=group,
        suppressed=free_name("suppressed", names) if suppression else None,
        count=free_name("count", names) if draft.form == "anatomy" else None,
    )


def record_manifest(
    facts: RecordFacts,
    layout: RecordLayout,
    records: Records,
    groups: Statistics,
    *,
    models: Sequence[GroupModel],
    told: Mapping[str, Any],
    files: Mapping[str, FileFacts],
    rate: Fraction = Fraction(1),
) -> Json:
    """The manifest as JSON, sealed; ``told`` are the draft's facts, ``rate`` the share of records that was drawn."""
    body: Json = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "form": "records",
        "shape": layout.form,
        "study": facts.study,
        "release": facts.release,
        "date": facts.date,
        "promise": promise_in_words([m.sentence() for m in models], chosen=facts.chosen, secure=facts.secure),
        "privacy": {
            "promises": [
                {
                    "model": model.name,
                    "parameters": plain(leaving_names(given[model.name])),
                    "sentence": model.sentence(),
                }
                for model, given in zip(models, promise_of(models), strict=True)
            ],
            "unit": facts.unit,
            "secure": facts.secure,
            "chosen": facts.chosen,
            "limits": " ".join(dict.fromkeys([LIMITS, *(m.limits for m in models if hasattr(m, "limits"))])),
        },
        "method": {"name": facts.method, "parameters": plain(leaving_names(facts.parameters)), "facts": plain(told)},
        "rules": [*facts.rules, *_observed(layout)],
        "attributes": [
            {
                "name": column.name,
                "role": column.role,
                "published": "regions" if column.regions else "values",
                "domain": domain_to_json(column.domain),
                **({} if column.sets is None else {"sets": domain_to_json(column.sets)}),
            }
            for column in layout.columns
        ],
        "group_column": layout.group,
        "suppressed_column": layout.suppressed,
        "count_column": layout.count,
        **({} if rate == 1 else {"sampled": show(rate)}),
        "records": record_numbers(records, groups),
        "files": {name: {"size": file.size, "sha256": file.sha256} for name, file in files.items()},
        "versions": dict(facts.versions),
        "ledger": facts.ledger,
    }
    if facts.selection is not None:
        body["selection"] = plain(facts.selection)
    return body | {"seal": seal(body)}


def record_numbers(records: Records, groups: Statistics) -> Json:
    """What anybody can count in the tables."""
    return {
        "published": len(records),
        "suppressed": records.suppressed,
        "groups": len(groups),
        "smallest_group": int(groups.sizes.min()) if len(groups) else 0,
    }


def record_layout_from(content: Mapping[str, Any]) -> RecordLayout:
    """The columns that a manifest declares."""
    shape = content["shape"]
    assert shape in FORMS, "the schema lists them"
    columns = []
    for entry in content["attributes"]:
        regions = entry["published"] == "regions"
        if regions != (entry["role"] == "quasi_identifier" and shape == "generalised"):
            raise broken(f"'{entry['name']}' is published in a way that a release of this shape does not have")
        columns.append(
            Column(entry["name"], entry["role"], domain_from_json(entry["domain"]), regions, _sets_from(entry))
        )
        _ = columns[-1].told  # names of sets must be those of the declared codes
    order = {"quasi_identifier": 0, "sensitive": 1}
    roles = [column.role for column in columns]
    if sorted(roles, key=lambda role: order.get(role, 2)) != roles or "quasi_identifier" not in roles:
        raise broken("the manifest does not declare its quasi-identifiers first, then its sensitive attributes")
    if roles.count("class") > 1 or any(c.role == "class" and not isinstance(c.domain, Categories) for c in columns):
        raise broken("the manifest declares two classes, or one without values")
    buckets = shape in _SHUFFLED
    if (content["group_column"] is None) == buckets or (content["count_column"] is None) == (shape == "anatomy"):
        raise broken("the manifest does not name the columns of its shape")
    layout = RecordLayout(
        shape, tuple(columns), content["group_column"], content["suppressed_column"], content["count_column"]
    )
    extra = [name for name in (layout.group, layout.suppressed, layout.count) if name is not None]
    names = [*(column.name for column in columns), *extra]
    if len(set(names)) != len(names):
        raise broken("two columns of the manifest have the same name")
    if buckets and not layout.sensitive:
        raise broken("the manifest declares buckets and no sensitive attribute")
    return layout


def record_limits(content: Mapping[str, Any], table: str, *, first: bool) -> ParquetLimits:
    """What a table of a manifest of records may hold; a second table has a row a value of a bucket at most."""
    rows = content["records"]["published"] + (content["records"]["suppressed"] if first else 0)
    return ParquetLimits(rows=rows, text_bytes=told_size(content, f"{table}.csv"), exact=first)


def sampled_share(content: Mapping[str, Any]) -> Fraction:
    """The share of the records that a manifest says were drawn; 1 where it says nothing."""
    told = content.get("sampled")
    try:
        share = Fraction(1 if told is None else told)
    except (ValueError, ZeroDivisionError):
        share = Fraction(0)
    if not 0 < share <= 1:
        raise broken("'sampled' in the manifest is no share of the records")
    return share


def _sets_from(entry: Mapping[str, Any]) -> SetDomain | None:
    """The declared codes of an attribute whose sets are published as categories."""
    if entry.get("sets") is None:
        return None
    found = domain_from_json(entry["sets"])
    if not isinstance(found, SetDomain) or found.level is None:
        raise broken(f"the codes of '{entry['name']}' are not those of sets with a level")
    return found


def models_from(content: Mapping[str, Any]) -> tuple[GroupModel, ...]:
    """The models that a manifest promises, as this version of them reads the parameters."""
    models: list[GroupModel] = []
    for entry in content["privacy"]["promises"]:
        try:
            models.extend(parse_models({entry["model"]: entry["parameters"]}))
        except SfumatoError:
            raise broken(f"this version has no checker for '{str(entry['model'])[:60]}' as it is promised") from None
    if not models:
        raise broken("the manifest promises nothing")
    return tuple(models)


def promise_in_words(sentences: Sequence[str], *, chosen: str, secure: bool) -> str:
    """The promise in words that can be quoted, with what it is not."""
    if not secure:
        return _SEEDED
    more = [_ON_RAW] if chosen == Chosen.ON_RAW else []
    return " ".join([*sentences, *more, LIMITS])


def _observed(layout: RecordLayout) -> list[str]:
    """Which domains were read off the records: a receiver learns from them which values occur.

    Of sets with declared codes she learns no more than the published records say.
    """
    names = [column.name for column in layout.columns if not column.domain.declared and column.sets is None]
    if not names:
        return []
    return [f"the domain was read off the table, not declared beforehand, for {', '.join(names)}"]

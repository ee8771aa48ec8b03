"""The columns of records: as a draft has them, and as a manifest declares them."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final, cast, get_args

from sfumato.domains.domain import Categories
from sfumato.domains.json_form import domain_from_json
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.errors import InternalError
from sfumato.release.draft import Draft
from sfumato.release.forms.records.record_store import RecordStore
from sfumato.release.forms.records.record_table import Column, PublishedRole, RecordLayout, free_name
from sfumato.release.storage.parquet_file import ParquetLimits
from sfumato.release.storage.seal import Json, broken_bundle, stated_size
from sfumato.study.attribute import Role

_SHUFFLED: Final = ("bucketized", "anatomy")


def record_layout(draft: Draft, *, sets: Mapping[str, SetDomain] | None = None) -> RecordLayout:
    """The columns that a draft is published in; ``sets`` are those whose declared codes may be published."""
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
        suppressed=free_name("suppressed", names) if draft.suppression or _suppressed(draft) else None,
        count=free_name("count", names) if draft.form == "anatomy" else None,
    )


def record_numbers(records: RecordStore) -> Json:
    """What anybody can count in the tables."""
    groups, smallest = records.group_sizes
    return {
        "published": len(records),
        "suppressed": records.suppressed,
        "groups": groups,
        "smallest_group": smallest,
    }


def record_layout_from(content: Mapping[str, Any]) -> RecordLayout:
    """The columns that a manifest declares."""
    shape = content["form"]
    columns = []
    for entry in content["attributes"]:
        regions = entry["published"] == "regions"
        if regions != (entry["role"] == "quasi_identifier" and shape == "generalised"):
            raise broken_bundle(
                f"'{entry['name']}' is published in a way that a release of this shape does not have",
                code="SF-VERIFY-060",
            )
        columns.append(
            Column(entry["name"], entry["role"], domain_from_json(entry["domain"]), regions, _sets_from(entry))
        )
        _ = columns[-1].published_sets  # names of sets must be those of the declared codes
    order = {"quasi_identifier": 0, "sensitive": 1}
    roles = [column.role for column in columns]
    if sorted(roles, key=lambda role: order.get(role, 2)) != roles or "quasi_identifier" not in roles:
        raise broken_bundle(
            "the manifest does not declare its quasi-identifiers first, then its sensitive attributes",
            code="SF-VERIFY-061",
        )
    if roles.count("class") > 1 or any(c.role == "class" and not isinstance(c.domain, Categories) for c in columns):
        raise broken_bundle("the manifest declares two classes, or one without values", code="SF-VERIFY-062")
    buckets = shape in _SHUFFLED
    if (content["group_column"] is None) == buckets or (content["count_column"] is None) == (shape == "anatomy"):
        raise broken_bundle("the manifest does not name the columns of its shape", code="SF-VERIFY-063")
    layout = RecordLayout(
        shape, tuple(columns), content["group_column"], content["suppressed_column"], content["count_column"]
    )
    extra = [name for name in (layout.group, layout.suppressed, layout.count) if name is not None]
    names = [*(column.name for column in columns), *extra]
    if len(set(names)) != len(names):
        raise broken_bundle("two columns of the manifest have the same name", code="SF-VERIFY-050")
    if buckets and not layout.sensitive:
        raise broken_bundle("the manifest declares buckets and no sensitive attribute", code="SF-VERIFY-064")
    return layout


def _suppressed(draft: Draft) -> int:
    return (draft.content if isinstance(draft.content, RecordStore) else draft.partition).suppressed


def record_limits(content: Mapping[str, Any], table: str, *, first: bool) -> ParquetLimits:
    """What a table of a manifest of records may hold; a second table has a row a value of a bucket at most."""
    rows = content["records"]["published"] + (content["records"]["suppressed"] if first else 0)
    return ParquetLimits(rows=rows, text_bytes=stated_size(content, f"{table}.csv"), exact=first)


def sampled_share(content: Mapping[str, Any]) -> Fraction:
    """The share of the records that a manifest says were drawn; 1 where it says nothing."""
    stated = content.get("sampled")
    try:
        share = Fraction(1 if stated is None else stated)
    except (ValueError, ZeroDivisionError):
        share = Fraction(0)
    if not 0 < share <= 1:
        raise broken_bundle("'sampled' in the manifest is no share of the records", code="SF-VERIFY-065")
    return share


def _sets_from(entry: Mapping[str, Any]) -> SetDomain | None:
    """The declared codes of an attribute whose sets are published as categories."""
    if entry.get("sets") is None:
        return None
    found = domain_from_json(entry["sets"])
    if not isinstance(found, SetDomain) or found.level is None:
        raise broken_bundle(f"the codes of '{entry['name']}' are not those of sets with a level", code="SF-VERIFY-066")
    return found

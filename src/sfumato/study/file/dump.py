"""From a study back to its file: whole, or as changes to a file that keep its comments."""

import hashlib
import json
from collections.abc import Mapping, MutableMapping
from dataclasses import replace
from fractions import Fraction
from io import StringIO
from pathlib import Path

from sfumato.domains.domain import Categories, Grid
from sfumato.domains.number_classes import NumberClasses
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.domains.taxonomy.text import to_nested
from sfumato.domains.taxonomy.tree import Taxonomy
from sfumato.errors import StudyError
from sfumato.study.attribute import Attribute, InvalidValuePolicy, Role
from sfumato.study.file.load import study_from_text
from sfumato.study.file.schema import UNCHECKED
from sfumato.study.file.taxonomy_file import in_flow_lists, writer
from sfumato.study.left_out import MOST
from sfumato.study.source import Source
from sfumato.study.study import Purpose, Study
from sfumato.study.unit import PersonUnit

_TYPES = {"integer": "integer", "number": "number", "day": "date"}


def dump_study(study: Study, *, onto: str | None = None) -> str:
    """Write a study as YAML that reads back as the same study.

    ``onto`` is the text of the file to change: then only the fields that differ are written, and all else in it, the
    comments too, stays (only the spacing inside a line may change).
    """
    new = _fields(study)
    if onto is None:
        document: object = in_flow_lists(new)
    else:
        document = writer().load(onto)
        _change(document, _fields(study_from_text(onto, base=study.base)), new)
    out = StringIO()
    writer().dump(document, out)
    if onto is not None and _fields(study_from_text(out.getvalue(), base=study.base)) != new:
        raise StudyError(
            f"the file of the study '{study.name}' cannot be changed in place",
            "write the study to a new file",
            code="SF-STUDY-132",
        )
    return out.getvalue()


def study_sha256(study: Study) -> str:
    """The SHA-256 of what a study declares, whatever its file looks like; the files that it names are part of it.

    Two studies with the same one are the same: the fields that are hashed read back as the study they are of. It is
    taken of a study that was read, so nothing can change between what is hashed and what is used.
    """
    return hashlib.sha256(json.dumps(_fields(study), default=str).encode()).hexdigest()


def _change(document: object, old: Mapping[str, object], new: Mapping[str, object]) -> None:
    """Bring what differs between two versions of the fields into the document."""
    assert isinstance(document, MutableMapping), "a study that was read is a mapping"
    keys = {str(key): key for key in document}  # YAML may have turned a name such as 2019 into a number
    for name, value in new.items():
        before = old.get(name)
        if value == before:
            continue
        below = document.get(keys.get(name, name))
        if isinstance(value, Mapping) and isinstance(before, Mapping) and isinstance(below, MutableMapping):
            _change(below, before, value)
        else:
            document[keys.get(name, name)] = in_flow_lists(value)
    for name in old:
        if name not in new and name in keys:
            del document[keys[name]]


def _fields(study: Study) -> dict[str, object]:
    where = study.source.path if isinstance(study.source, Source) else study.source
    if not isinstance(where, str | Path):
        raise StudyError(
            f"the source of the study '{study.name}' is a table in memory",
            "write the table to a file and name that",
            code="SF-STUDY-133",
        )
    privacy: dict[str, object] = {"unit": "record"}
    if isinstance(study.unit, PersonUnit):
        privacy["unit"] = {"person": study.unit.column, "at_most": study.unit.at_most}
    if study.budget is not None:
        privacy["budget"] = _number(study.budget)
    fields: dict[str, object] = {
        "name": study.name,
        "source": _source(study.source),
        "privacy": privacy,
        "attributes": {name: _attribute(attribute) for name, attribute in study.attributes.items()},
    }
    if study.purposes:
        fields["purposes"] = {name: _purpose(purpose) for name, purpose in study.purposes.items()}
    if study.releases:
        fields["releases"] = {name: dict(settings) for name, settings in study.releases.items()}
    if study.sweeps:
        fields["sweeps"] = {name: [dict(part) for part in parts] for name, parts in study.sweeps.items()}
    if study.ledger is not None:
        fields["ledger"] = study.ledger
    if study.most_invalid != MOST:
        fields["most_invalid"] = UNCHECKED if study.most_invalid is None else _number(study.most_invalid)
    return fields


def _source(source: object) -> object:
    if not isinstance(source, Source):
        return str(source)
    fields: dict[str, object] = {"path": str(source.path)}
    fields |= {name: getattr(source, name) for name in source.written}
    return fields | ({"missing": list(source.missing)} if source.missing else {})


def _purpose(purpose: Purpose) -> dict[str, object]:
    fields: dict[str, object] = {"attributes": list(purpose.attributes)}
    if purpose.span is not None:
        fields["span"] = [purpose.span.start.isoformat(), purpose.span.stop.isoformat()]
    if purpose.where:
        fields["where"] = purpose.where
    return fields


def _attribute(attribute: Attribute) -> dict[str, object]:
    fields: dict[str, object] = {"role": attribute.role.value}
    domain = attribute.domain
    if isinstance(domain, NumberClasses):
        return _number_classes(attribute, domain)
    if isinstance(domain, Categories):
        fields |= _tree(domain.taxonomy)
        fields |= _unless("missing", _kept(attribute.missing, domain, domain.missing), InvalidValuePolicy.ERROR)
        fields |= _unless("outside", _kept(attribute.outside, domain, domain.other), InvalidValuePolicy.ERROR)
    elif isinstance(domain, SetDomain):
        fields |= {"type": "set", **_tree(domain.taxonomy)}
        fields |= {
            name: value
            for name, value in (
                ("separator", domain.separator),
                ("columns", list(domain.columns) or None),
                ("most", domain.most),
                ("level", domain.level),
            )
            if value is not None
        }
        fields |= _unless("missing", attribute.missing.value, InvalidValuePolicy.KEEP)
        fields |= _unless("outside", _kept(attribute.outside, domain, domain.other), InvalidValuePolicy.ERROR)
    elif isinstance(domain, Grid):
        fields |= _grid(attribute, domain)
    if attribute.at_least is not None:
        fields["at_least"] = _number(attribute.at_least)
    if domain is not None and not domain.declared:
        fields["domain"] = "observed"
    if attribute.description:
        fields["description"] = attribute.description
    return fields


def _grid(attribute: Attribute, domain: Grid) -> dict[str, object]:
    """The fields of a number or date."""
    fields: dict[str, object] = {
        "type": _TYPES[domain.unit],
        "bounds": [_point(domain, domain.lower), _point(domain, domain.upper)],
        "step": _number(domain.step),
    }
    lost = domain.missing_label if domain.missing is not None else attribute.missing.value
    usual = InvalidValuePolicy.SUPPRESS if attribute.role is Role.TIME else InvalidValuePolicy.ERROR
    if domain.formats:
        fields["format"] = list(domain.formats)
    if domain.number_formats:
        forms = [form.fields() for form in domain.number_formats]
        fields["format"] = forms if len(forms) > 1 else forms[0]
    fields |= _unless("missing", lost, usual) | _unless("outside", attribute.outside.value, InvalidValuePolicy.KEEP)
    if domain.taxonomy is not None:
        fields["taxonomy"] = {"intervals": {"bounds": _levels(domain, domain.taxonomy)}}
    return fields


def _number_classes(attribute: Attribute, domain: NumberClasses) -> dict[str, object]:
    """The fields of the number, and where its classes begin."""
    fields = _attribute(replace(attribute, role=Role.INSENSITIVE, domain=domain.grid))
    inner = domain.starts[1 : None if domain.missing is None else -1]
    classes: list[object] = [_point(domain.grid, domain.grid.value(start)) for start in inner]
    return fields | {"role": attribute.role.value, "classes": classes}


def _tree(taxonomy: Taxonomy) -> dict[str, object]:
    if taxonomy.labels[0] == "Any" and taxonomy.depth == 1:
        return {"values": list(taxonomy.leaves)}
    return {"taxonomy": to_nested(taxonomy)}


def _unless(field: str, value: str, default: InvalidValuePolicy) -> dict[str, object]:
    return {} if value == default.value else {field: value}


def _kept(policy: InvalidValuePolicy, domain: Categories | SetDomain, code: int | None) -> str:
    return policy.value if code is None else domain.taxonomy.leaves[code]


def _levels(grid: Grid, taxonomy: Taxonomy) -> list[object]:
    """The bounds of the intervals on each level of a grid's taxonomy that are not on the level above."""
    starts: dict[int, int] = {}  # where an interval begins, with the highest level it does so
    for node, depth in enumerate(taxonomy.depths()):
        start = taxonomy.starts[node]
        starts[start] = min(depth, starts.get(start, depth))
    levels: list[object] = []
    for depth in range(1, taxonomy.depth + 1):
        bounds = sorted(start for start, first in starts.items() if first == depth and 0 < start < grid.points)
        if bounds:
            levels.append([_point(grid, grid.value(start)) for start in bounds])
    return levels


def _point(grid: Grid, value: Fraction) -> object:
    return grid.text(value) if grid.unit == "day" else _number(value)


def _number(value: Fraction) -> object:
    """A number that is written as people write it and reads back as itself."""
    if value.denominator == 1:
        return int(value)
    return float(value) if Fraction(repr(float(value))) == value else str(value)

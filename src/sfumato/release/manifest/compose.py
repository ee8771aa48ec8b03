"""Writing a manifest: what every form has in common, around the fields of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sfumato.domains.sets.set_domain import SetDomain
from sfumato.errors import InternalError
from sfumato.release.bundle.atomic_files import FileFacts
from sfumato.release.bundle.source_names import public_table_names
from sfumato.release.draft import Draft
from sfumato.release.manifest.fields import FORMAT, FORMAT_VERSION
from sfumato.release.storage.seal import Json, as_json_value, seal


@dataclass(frozen=True, kw_only=True)
class ReleaseFacts:
    """What whoever publishes knows about a release beyond its draft; every field goes into the manifest.

    ``rules`` say in words what happens to missing values and to those outside a domain. ``ledger`` is the hash of the
    ledger entry of the release: whoever holds the bundle can later show that the entry was there. ``selection`` says
    which records it was made from (see `study.selection`), None for all. ``sets`` has how the codes of sets were
    declared: with it a receiver of records reads raw codes. Only what the owner declared before any record was read may
    stand there, so it tells nothing of the table; codes that were read off it stay with the owner, since a code may be
    that of one record.
    """

    study: str
    release: str
    method: str
    parameters: Mapping[str, Any]
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


def build_manifest(
    draft: Draft, facts: ReleaseFacts, own: Json, files: Mapping[str, FileFacts], stored: Json | None = None
) -> Json:
    """The manifest as JSON, sealed; ``own`` are the fields of the draft's form, of which `rules` are added up.

    ``stored`` describes tables that are not in the bundle.
    """
    body: Json = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "form": draft.form,
        "study": facts.study,
        "release": facts.release,
        "date": facts.date,
        "guarantee": draft.guarantee.statement(chosen=facts.chosen, secure=facts.secure),
        "privacy": draft.guarantee.as_json(chosen=facts.chosen, secure=facts.secure),
        "method": {
            "name": facts.method,
            "parameters": as_json_value(public_table_names(facts.parameters)),
            "facts": as_json_value(draft.facts),
        },
        **own,
        "rules": [*facts.rules, *own.get("rules", ())],
        "files": {name: {"size": file.size, "sha256": file.sha256} for name, file in files.items()},
        "versions": dict(facts.versions),
        "ledger": facts.ledger,
    }
    if facts.selection is not None:
        body["selection"] = as_json_value(facts.selection)
    if stored is not None:
        body["stored"] = stored
    return body | {"seal": seal(body)}

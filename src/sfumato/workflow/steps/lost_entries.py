"""Whether the ledger knows every release that is here, and what is done about those it does not know.

Every bundle carries the hash of its ledger entry. The entry is committed before the bundle appears, so a bundle of the
study whose hash the ledger lacks was paid from another state of it: the file was deleted, an older copy was put back,
or `ledger` names another place. What was spent there would be spent again, so nothing is, until the ledger is restored
or the releases are adopted. Bundles are read before the ledger: one that appears in between is known to it.

This finds accidents. Whoever removes the ledger, its head files and all bundles has removed what could be compared; so
does an owner who makes a ledger in memory, which is meant to be forgotten.
"""

import datetime as dt
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from sfumato.errors import StudyError, UsageError, VerifyError
from sfumato.file_names import account_name
from sfumato.ledger import (
    RECORD,
    Adoption,
    Entry,
    Ledger,
    NewEntry,
    accounts_that_paid,
    lost_entries_error,
    raised_budgets,
)
from sfumato.release.guarantee import DpGuarantee
from sfumato.release.manifest.read_manifest import parse_manifest
from sfumato.study.budget import parse_epsilon, show
from sfumato.study.span import Span, day
from sfumato.study.study import Study, clock
from sfumato.workflow.steps.outcome import current_user, remaining_budget, study_folder

_MANIFEST: Final = "manifest.json"
_NAMED: Final = 8  # releases that a message names
_PARTIAL: Final = ".bundle.partial-"


@dataclass(frozen=True, kw_only=True)
class FoundRelease:
    """A bundle of the study that is here, with the hash of its entry in the ledger."""

    folder: Path
    ledger: str
    raw: bytes = field(repr=False)


def refuse_lost_entries(study: Study, ledger: Ledger, *, out: Path | None = None) -> None:
    """Fail if the ledger is not the one that earlier releases were paid from, those beside ``out`` among them."""
    gone = lost_entries(study, ledger, folders=() if out is None else (out.absolute().parent,))
    if gone:
        raise lost_entries_error(gone)


def lost_entries(study: Study, ledger: Ledger, *, folders: Sequence[Path] = ()) -> tuple[str, ...]:
    """The entries that the study's ledger has lost, in words; nothing if it is complete.

    Looks below `releases/`, and one level below the study's folder and the ``folders`` that are given.
    """
    if not ledger.lasting:
        return ()
    releases = find_releases(study, folders=folders)  # before the ledger is read
    known = ledger.hashes()
    unknown = [str(one.folder) for one in releases if one.ledger not in known]
    if not unknown:
        return ledger.lost(study.name)
    named = ", ".join(unknown[:_NAMED]) + (f" and {len(unknown) - _NAMED} more" if len(unknown) > _NAMED else "")
    return (
        f"the ledger does not know {len(unknown)} release{'s' * (len(unknown) > 1)} of '{study.name}': {named}",
        *ledger.lost(study.name),
    )


def find_releases(study: Study, *, folders: Sequence[Path] = ()) -> list[FoundRelease]:
    """The bundles of a study that lie where its releases do and have an entry in a ledger, by their folders."""
    found: dict[Path, FoundRelease] = {}
    for path in _manifests(study, folders):
        with suppress(OSError, ValueError):
            raw = path.read_bytes()
            said = json.loads(raw)
            if not isinstance(said, dict) or said.get("format") != "sfumato bundle":
                continue
            name, link = said.get("study"), said.get("ledger")
            if isinstance(name, str) and isinstance(link, str) and account_name(name) == account_name(study.name):
                folder = path.parent.parent if path.parent.name == "bundle" else path.parent
                found[path.resolve()] = FoundRelease(folder=folder, ledger=link, raw=raw)
    return sorted(found.values(), key=lambda one: str(one.folder))


def adopt_releases(
    study: Study,
    ledger: Ledger,
    *,
    reason: str,
    folders: Sequence[Path] = (),
    now: Callable[[], dt.datetime] = lambda: dt.datetime.now(dt.UTC),
) -> list[Entry]:
    """Enter the releases that the ledger lacks, and what else was spent, with the reason; gives what was entered."""
    if not reason.strip():
        raise UsageError(
            "adopting entries needs a reason",
            "say what happened: a backup was restored, a folder moved",
            code="SF-USAGE-087",
        )
    releases = find_releases(study, folders=folders)
    known = ledger.hashes()
    found = [_adoption(one, study, now()) for one in releases if one.ledger not in known]
    lost = NewEntry(
        study=study.name, at=now(), who=current_user(), purpose="entries that were lost", method="unknown", recipe="{}",
        guarantee="unknown: these entries were lost with the ledger", epsilon=None, unit=study.unit.key,
    )  # fmt: skip
    return ledger.adopt(found, lost, reason=reason.strip(), budget=study.budget)


def budget_words(study: Study, ledger: Ledger) -> list[str]:
    """Warnings: a budget larger than at the study's last entry, a ledger in memory, other studies that spent."""
    found = []
    raised = raised_budgets(ledger.entries(study.name), now=study.budget)
    if raised and raised[-1].entry is None:
        found.append(
            f"the study's budget was raised from {show(raised[-1].before)} to {show(raised[-1].after)} since its last "
            "release: all releases together may now reveal more about everyone in the table"
        )
    if not ledger.lasting:
        found.append("the ledger is in memory: the record of the spent budget is lost when the program ends")
    return [*found, *_other_studies_words(study, ledger)]


def _other_studies_words(study: Study, ledger: Ledger) -> list[str]:
    """A warning if other studies have spent ε from the same ledger, or have a head file in the study's folder.

    The ledger does not know whose records a study reads, so this may be about other people: nothing is refused.
    """
    if study.budget is None:
        return []
    paid = {account_name(str(row["study"])) for row in ledger.rows() if row["epsilon"] is not None}
    if ledger.lasting:
        paid |= accounts_that_paid(study_folder(study))
    others = sorted(paid - {account_name(study.name)})
    if not others:
        return []
    named = ", ".join(f"'{name}'" for name in others[:_NAMED])
    more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
    words = (
        f"other studies have spent privacy budget here: {named}{more}. The ε of different studies about the same "
        "people adds up, but the ledger does not add it up: each study is charged to its own budget only"
    )
    return [words]


def ledger_words(study: Study, ledger: Ledger) -> list[str]:
    """What a plan says of the ledger: that nothing can be spent from it, or what the owner should know."""
    gone = lost_entries(study, ledger)
    if not gone:
        return budget_words(study, ledger)
    return [f"THE LEDGER HAS LOST ENTRIES, so nothing can be released: {'; '.join(gone)}"]


def remaining_unless_lost(study: Study, ledger: Ledger, span: Span | None) -> Fraction | None:
    """The remaining budget over this span; None without a budget, and unknown (None) if entries are lost."""
    return None if lost_entries(study, ledger) else remaining_budget(study, ledger, span)


def _manifests(study: Study, folders: Sequence[Path]) -> Iterator[Path]:
    base = study_folder(study)
    places = [(base / "releases", f"**/{_MANIFEST}")]
    places += [(folder, f"*/bundle/{_MANIFEST}") for folder in (base, *folders)]
    for folder, pattern in places:
        with suppress(OSError):
            yield from (path for path in folder.glob(pattern) if not any(p.startswith(_PARTIAL) for p in path.parts))


def _adoption(found: FoundRelease, study: Study, at: dt.datetime) -> Adoption:
    """The entry of a release, from its manifest."""
    try:
        content = parse_manifest(found.raw)
    except VerifyError as error:
        raise VerifyError(
            f"the release in '{found.folder}' cannot be adopted: {error.problem}",
            "restore its manifest.json from the published bundle; without it the cost of the release is unknown",
            code="SF-VERIFY-116",
        ) from None
    privacy, method = content["privacy"], content["method"]
    private = privacy["kind"] == DpGuarantee.kind
    recipe = {
        "name": content["release"],
        "purpose": None,
        "method": method["name"],
        "parameters": method["parameters"],
        "chosen": privacy["chosen"],
    }
    selection = content.get("selection") or {}
    return Adoption(
        draft=NewEntry(
            study=study.name,
            at=at,
            who=current_user(),
            purpose=f"release '{content['release']}' of {content['date']}",
            method=str(method["name"]),
            recipe=json.dumps(recipe, sort_keys=True, ensure_ascii=False),
            guarantee=str(content["guarantee"]),
            epsilon=_epsilon(privacy) if private else None,
            unit=_unit(str(privacy["unit"]), study) if private else RECORD,
            span=_span(selection, study),
            where=str(selection.get("where") or ""),
        ),
        hash=found.ledger,
        bundle=hashlib.sha256(found.raw).hexdigest(),
    )


def _epsilon(privacy: Mapping[str, Any]) -> Fraction | None:
    said = privacy.get("epsilon")
    return None if said is None else Fraction(parse_epsilon(str(said)))


def _unit(words: str, study: Study) -> str:
    """The unit as the ledger calls it; one that is neither a record nor the study's own keeps its words."""
    if words == study.unit.words:
        return study.unit.key
    return RECORD if words == "one record" else words


def _span(selection: Mapping[str, Any], study: Study) -> Span | None:
    """The span, where the study still has its time attribute; else None, which charges the release to all records.

    The manifest names the attribute and not how its text was read: that is taken to be as in the study now.
    """
    said: Sequence[str] | None = selection.get("span")
    with suppress(StudyError):
        if said is not None and study.time.name == selection.get("time"):
            return Span(clock(study.time), day(said[0]), day(said[1]))
    return None

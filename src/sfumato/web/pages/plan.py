"""Plan and ε: what a release would do and cost, and how large its error is, before anything is spent."""

import hashlib
import os
from collections.abc import Mapping
from fractions import Fraction
from glob import glob
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sfumato.errors import SfumatoError, StudyError, UsageError
from sfumato.file_names import checked_file_name
from sfumato.methods import build
from sfumato.study.attribute import Role
from sfumato.study.budget import parse_epsilon
from sfumato.study.recipe import Chosen, first_method, recipe_from_study
from sfumato.study.study import Study
from sfumato.study.unit import RecordUnit
from sfumato.web.editing.method_forms import PRIVACY, ReleaseForm, is_repeated, method_choices, number, read_yaml
from sfumato.web.editing.study_document import StudyDocument
from sfumato.web.handling import go, posted
from sfumato.web.jobs import path_argument
from sfumato.web.planning import (
    GRID,
    Outcome,
    budget_bar,
    epsilon_words,
    expected_plot,
    linked,
    measured_plot,
    outcome_of,
)
from sfumato.web.rendering import load, open_study, page, shell, workspace
from sfumato.web.workspace import OpenStudy

if TYPE_CHECKING:
    from sfumato.web.jobs import Job

_FIRST_EPSILON: Final = "0.5"
_PACKAGED: Final = "packaged"


def show(request: Request) -> Response:
    """The page: a release, its method and parameters, ε, and what follows from them."""
    opened = open_study(request)
    declared, problem = load(opened)
    document = opened.document()
    named = request.query_params.get("release", "")
    if declared is None or not declared.attributes:
        return page(request, "plan_empty.html", **shell(opened, "plan"), error=problem)
    asked = request.query_params.get("new") is None
    releases = list(declared.releases)
    name = named if named in declared.releases else releases[0] if releases and asked else ""
    draft = _first(declared) if not name else ReleaseForm.from_settings(name, document.get("releases", name) or {})
    if not draft.method:
        draft = _first(declared)
    return page(
        request,
        "plan.html",
        **{
            **shell(opened, "plan", command=_command(opened, name), entry=("releases", name)),
            **_values(opened, document, declared, draft, {"within": "", "records": ""}),
            **({} if name else {"shown": _as_saved(document, draft).around("releases", draft.name), "unsaved": True}),
        },
        releases=releases,
        selected=name,
        entry=_entry_hash(document, "releases", name),
        purposes=_purposes(declared),
        purpose=_purpose_form(document, declared, request.query_params.get("purpose", "")),
        checked=_checked(opened, document, name),
        measured=_measured(opened, name),
        repeated=bool(name) and is_repeated(document.get("releases", name, PRIVACY)),
        packaged=_PACKAGED,
    )


def _first(declared: Study) -> ReleaseForm:
    """What a new release begins with: a differentially private one that the study can make."""
    method = first_method(predicts=len(declared.with_role(Role.CLASS)) == 1)
    taken = set(declared.releases)
    name = next(name for number in range(1, len(taken) + 2) if (name := f"release-{number}") not in taken)
    return ReleaseForm(name=name, method=method, parameters={"epsilon": _FIRST_EPSILON})


def _values(
    opened: OpenStudy, document: StudyDocument, declared: Study, draft: ReleaseForm, wanted: Mapping[str, str]
) -> dict[str, Any]:
    """What the form and its outcome show."""
    outcome = outcome_of(document, draft, within=wanted.get("within", ""), records=wanted.get("records", ""))
    words = _words(draft, outcome)
    return {
        "study": opened,
        "draft": draft,
        "methods": method_choices(),
        "purpose_names": list(declared.purposes),
        "chosen_ways": [way.value for way in Chosen],
        "outcome": outcome,
        "sentences": _sentences(outcome, declared, opened),
        "error_text": None if outcome.error is None else linked(outcome.error.problem, declared, _columns(opened)),
        "bar": None if outcome.plan is None else budget_bar(outcome.plan),
        "words": words,
        "plot": "" if outcome.expected is None or words is None else expected_plot(outcome.expected, _epsilon(draft)),
        "wanted": wanted,
        "unit_word": "record" if isinstance(declared.unit, RecordUnit) else "person, with all records of theirs,",
        "grid": GRID,
    }


def _words(draft: ReleaseForm, outcome: Outcome) -> dict[str, Any] | None:
    if not draft.private:
        return None
    if outcome.plan is not None and outcome.plan.epsilon is not None:
        return epsilon_words(outcome.plan.epsilon)
    try:
        return epsilon_words(_epsilon(draft))
    except SfumatoError:
        return None


def _epsilon(draft: ReleaseForm) -> Fraction:
    return parse_epsilon(draft.epsilon)


def _sentences(outcome: Outcome, declared: Study, opened: OpenStudy) -> list[Any]:
    said = () if outcome.plan is None else outcome.plan.sentences
    return [linked(text, declared, _columns(opened)) for text in said]


def _columns(opened: OpenStudy) -> str:
    return f"/s/{opened.key}/columns"


def _command(opened: OpenStudy, name: str) -> str:
    return f"sfumato plan {opened.path.name}{f' {_typed(name)}' if name else ''}"


def _typed(name: str) -> str:
    """A name as it is typed in a shell; names of releases hold no quotes."""
    return name if name.replace("-", "").replace("_", "").replace(".", "").isalnum() else f"'{name}'"


def _entry_hash(document: StudyDocument, *keys: str) -> str:
    """A name of what the file says at a place, to notice that it was changed elsewhere meanwhile."""
    return hashlib.sha256(repr(document.get(*keys) if keys[-1] else None).encode()).hexdigest()[:16]


@posted
def preview(request: Request, form: FormData) -> Response:
    """What the form would do as it stands; nothing is saved."""
    opened = open_study(request)
    document = opened.document()
    declared, problem = load(opened)
    if declared is None:
        assert problem is not None, "there is one or the other"
        raise problem
    draft = ReleaseForm.from_form(form)
    shown = str(form.get("shown") or "")
    if shown != draft.method and draft.private and not draft.epsilon:
        draft = ReleaseForm(
            name=draft.name, purpose=draft.purpose, method=draft.method, chosen=draft.chosen,
            parameters={**draft.parameters, "epsilon": _FIRST_EPSILON}, models=draft.models,
        )  # fmt: skip
    wanted = {"within": str(form.get("within") or "").strip(), "records": str(form.get("records") or "").strip()}
    values = _values(opened, document, declared, draft, wanted)
    stored = document.get("releases", draft.name) if draft.name else None
    changed = not isinstance(stored, Mapping) or not _same(ReleaseForm.from_settings(draft.name, stored), draft)
    return page(
        request,
        "plan_live.html",
        **{**values, "switched": shown != draft.method, "changed": changed},
        command=_command(opened, draft.name),
        shown=_as_saved(document, draft).around("releases", draft.name),
        unsaved=changed,
    )


def _as_saved(document: StudyDocument, draft: ReleaseForm) -> StudyDocument:
    """The study file as saving the form would make it; as it is, where the form cannot be saved yet."""
    try:
        return document.set("releases", draft.name, value=draft.settings()) if draft.name else document
    except SfumatoError:
        return document


def _same(stored: ReleaseForm, draft: ReleaseForm) -> bool:
    """Whether the study file says what the page says."""
    try:
        return bool(stored.method) and stored.settings() == draft.settings()
    except SfumatoError:
        return False


@posted
def save(request: Request, form: FormData) -> Response:
    """Write the release into the study file, and look at the table as its plan does."""
    opened = open_study(request)
    draft, document = _saved(opened, form)
    del document
    _start_check(request, opened, draft.name)
    return go(f"/s/{opened.key}/plan?release={quote(draft.name)}")


def _saved(opened: OpenStudy, form: FormData) -> tuple[ReleaseForm, StudyDocument]:
    draft, document = ReleaseForm.from_form(form), opened.document()
    checked_file_name("the release", draft.name)
    was = str(form.get("was") or "")
    if str(form.get("entry") or "") != _entry_hash(document, "releases", was):
        raise StudyError(
            f"the release '{was or draft.name}' was changed by another page or program",
            "reload this page, and make the change again",
            code="SF-STUDY-430",
        )
    if draft.name != was and document.get("releases", draft.name) is not None:
        raise StudyError(
            f"the study declares a release '{draft.name}' already", "choose another name", code="SF-STUDY-431"
        )
    old = document.get("releases", was) if was else None
    if isinstance(old, Mapping) and is_repeated(old.get(PRIVACY)):
        raise StudyError(
            f"the release '{was}' requires one privacy model twice, which this form cannot show",
            "change it in the study file",
            code="SF-STUDY-432",
        )
    edited = document
    if was and was != draft.name:
        edited = edited.remove("releases", was)
    edited = edited.set("releases", draft.name, value=draft.settings(kept=old if isinstance(old, Mapping) else ()))
    build(recipe_from_study(edited.study(), draft.name))
    return draft, edited.save()


def _start_check(request: Request, opened: OpenStudy, name: str) -> None:
    """Plan the release with a look at the table, as a job; what it finds is for the owner."""
    job = workspace(request).jobs.start(
        "plan", ["plan", path_argument(opened.path.name), name], cwd=opened.path.parent, study=opened.key
    )
    opened.cache[f"plan {name}"] = (opened.document().version, job)


def _checked(opened: OpenStudy, document: StudyDocument, name: str) -> dict[str, Any] | None:
    """The last look at the table for a release, and whether the study has changed since."""
    found: tuple[str, Job] | None = opened.cache.get(f"plan {name}")
    if found is None:
        return None
    version, job = found
    return {"job": job, "stale": version != document.version}


@posted
def check(request: Request, form: FormData) -> Response:
    """Look at the table again for a release that is in the study file."""
    opened = open_study(request)
    name = _declared_name(opened, form)
    _start_check(request, opened, name)
    return _check_part(request, opened, name)


def checked(request: Request) -> Response:
    """What the last look at the table found."""
    opened = open_study(request)
    return _check_part(request, opened, request.query_params.get("release", ""))


def _check_part(request: Request, opened: OpenStudy, name: str) -> Response:
    return page(
        request, "plan_checked.html", study=opened, selected=name, checked=_checked(opened, opened.document(), name)
    )


def _declared_name(opened: OpenStudy, form: FormData) -> str:
    name = str(form.get("was") or form.get("release") or "")
    if opened.document().get("releases", name) is None:
        raise UsageError("the release is not in the study file yet", "save it first", code="SF-USAGE-443")
    return name


@posted
def measure(request: Request, form: FormData) -> Response:
    """Measure releases of a public stand-in at several ε, as a job; the study's own table is not read."""
    opened, found = open_study(request), workspace(request)
    name = _declared_name(opened, form)
    named = str(form.get("stand_in") or "").strip()
    if named == _PACKAGED or not named:
        table = str(files("sfumato") / "data" / "adult" / "adult.parquet")
    elif "://" in named:
        table = found.resolve_source(named)
    else:
        path = found.resolve(named)
        _refuse_own_table(opened, path)
        table = os.path.relpath(path, opened.path.parent)
    epsilons = sorted({*("0.1", "0.5", "1", "2"), str(form.get("p.epsilon") or "1").strip()})
    asked = ["plan", path_argument(opened.path.name), name, "--epsilons", ",".join(epsilons), "--stand-in", table]
    records = str(form.get("records") or "").strip()
    if records:
        asked += ["--records", records.replace(",", "")]
    job = found.jobs.start("stand-in", asked, cwd=opened.path.parent, study=opened.key)
    where = "the packaged census table" if named in {_PACKAGED, ""} else named
    opened.cache[f"measured {name}"] = (job, where)
    return page(request, "plan_measured.html", study=opened, selected=name, measured=_measured(opened, name))


def _refuse_own_table(opened: OpenStudy, path: Path) -> None:
    """A stand-in is public: the table of the study is not, and an ε that is chosen on it is covered by nothing."""
    source = opened.document().get("source")
    own = str(source.get("path") if isinstance(source, Mapping) else source)
    pattern = str(opened.path.parent / own)
    if path in {Path(one).resolve() for one in (pattern, *glob(pattern))}:  # noqa: PTH207 - the pattern may be absolute
        raise UsageError(
            "the stand-in is the table of this study", "name another table, which is public", code="SF-USAGE-452"
        )


def measured(request: Request) -> Response:
    """What was measured on the stand-in."""
    opened = open_study(request)
    name = request.query_params.get("release", "")
    return page(request, "plan_measured.html", study=opened, selected=name, measured=_measured(opened, name))


def _measured(opened: OpenStudy, name: str) -> dict[str, Any] | None:
    found: tuple[Job, str] | None = opened.cache.get(f"measured {name}")
    if found is None:
        return None
    job, where = found
    result = job.result if job.state == "done" else None
    epsilon = opened.document().get("releases", name, "epsilon")
    plot = "" if result is None or epsilon is None else measured_plot(result, parse_epsilon(str(epsilon)))
    return {"job": job, "where": where, "result": result, "plot": plot}


@posted
def budget(request: Request, form: FormData) -> Response:
    """Declare the privacy budget of the study."""
    opened = open_study(request)
    text = str(form.get("budget") or "").strip()
    parse_epsilon(text)
    document = opened.document()
    privacy = document.get("privacy")
    edited = (
        document.set("privacy", "budget", value=number(text))
        if isinstance(privacy, Mapping) and privacy
        else document.set("privacy", value={"unit": "record", "budget": number(text)})
    )
    edited.study()
    edited.save()
    return go(f"/s/{opened.key}/plan")


def _purposes(declared: Study) -> list[dict[str, Any]]:
    return [
        {"name": one.name, "attributes": one.attributes, "span": one.span, "where": one.where}
        for one in declared.purposes.values()
    ]


def _purpose_form(document: StudyDocument, declared: Study, name: str) -> dict[str, Any]:
    """The fields of one purpose, or of a new one."""
    settings = document.get("purposes", name) if name else None
    found = settings if isinstance(settings, Mapping) else {}
    wanted = [str(one) for one in found.get("attributes") or ()]
    span = found.get("span")
    first, last = (str(span[0]), str(span[1])) if isinstance(span, (list, tuple)) and len(span) == 2 else ("", "")  # noqa: PLR2004
    where = found.get("where")
    purpose = declared.purposes.get(name)
    return {
        "name": name if found else "",
        "entry": _entry_hash(document, "purposes", name if found else ""),
        "first": first,
        "last": last,
        "where": "" if where is None else where if isinstance(where, str) else purpose.where if purpose else "",
        "timed": bool(declared.with_role(Role.TIME)),
        "attributes": [
            {"name": a.name, "role": a.role.value.replace("_", "-"), "used": a.name in wanted if found else True}
            for a in declared.attributes.values()
            if a.role not in {Role.IDENTIFIER, Role.TIME}
        ],
    }


@posted
def save_purpose(request: Request, form: FormData) -> Response:
    """Write a purpose into the study file."""
    opened = open_study(request)
    document = opened.document()
    name, was = str(form.get("purpose_name") or "").strip(), str(form.get("purpose_was") or "")
    checked_file_name("the purpose", name)
    if str(form.get("purpose_entry") or "") != _entry_hash(document, "purposes", was):
        raise StudyError(
            f"the purpose '{was or name}' was changed by another page or program",
            "reload this page, and make the change again",
            code="SF-STUDY-433",
        )
    if name != was and document.get("purposes", name) is not None:
        raise StudyError(f"the study has a purpose '{name}' already", "choose another name", code="SF-STUDY-434")
    declared = document.study()
    places = [str(place) for place in form.getlist("attribute")]
    named = list(declared.attributes)
    offered = [one["name"] for one in _purpose_form(document, declared, was)["attributes"]]
    wanted = [offered[int(place)] for place in places if place.isdecimal() and int(place) < len(offered)]
    value: dict[str, Any] = {"attributes": [name for name in named if name in wanted]}
    if not wanted:
        raise StudyError("the purpose has no attribute", "choose at least one", code="SF-STUDY-435")
    first, last = str(form.get("first") or "").strip(), str(form.get("last") or "").strip()
    if first or last:
        value["span"] = [_Date(first), _Date(last)]
    where = str(form.get("where") or "").strip()
    if where:
        value["where"] = read_yaml(where, "the filter") if where.startswith("{") else where
    edited = document
    if was and was != name:
        edited = edited.remove("purposes", was)
    edited = edited.set("purposes", name, value=value)
    edited.study()
    edited.save()
    return go(f"/s/{opened.key}/plan?purpose={quote(name)}#purposes")


class _Date(str):
    """A date, which YAML writes without quotes."""

    __slots__ = ()


@posted
def remove_purpose(request: Request, form: FormData) -> Response:
    """Take a purpose out of the study file, unless a release needs it."""
    opened = open_study(request)
    name = str(form.get("purpose_was") or "")
    document = opened.document()
    using = [
        release for release, settings in document.study().releases.items() if str(settings.get("purpose") or "") == name
    ]
    if using:
        raise StudyError(
            f"the purpose '{name}' is used by the release '{using[0]}'",
            "change or remove that release first",
            code="SF-STUDY-436",
        )
    edited = document.remove("purposes", name)
    edited.study()
    edited.save()
    return go(f"/s/{opened.key}/plan#purposes")


@posted
def remove(request: Request, form: FormData) -> Response:
    """Take a release out of the study file; what was made of it stays, and so does its entry in the ledger."""
    opened = open_study(request)
    document = opened.document().remove("releases", _declared_name(opened, form))
    document.study()
    document.save()
    return go(f"/s/{opened.key}/plan")


ROUTES: Final[list[Route]] = [
    Route("/s/{study}/plan", show),
    Route("/s/{study}/plan/preview", preview, methods=["POST"]),
    Route("/s/{study}/plan/save", save, methods=["POST"]),
    Route("/s/{study}/plan/remove", remove, methods=["POST"]),
    Route("/s/{study}/plan/check", check, methods=["POST"]),
    Route("/s/{study}/plan/checked", checked),
    Route("/s/{study}/plan/measure", measure, methods=["POST"]),
    Route("/s/{study}/plan/measured", measured),
    Route("/s/{study}/plan/budget", budget, methods=["POST"]),
    Route("/s/{study}/plan/purpose", save_purpose, methods=["POST"]),
    Route("/s/{study}/plan/purpose/remove", remove_purpose, methods=["POST"]),
]

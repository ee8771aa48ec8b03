"""Plan and ε: what a release would do and cost, and how large its error is, before anything is spent."""

import os
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final
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
from sfumato.study.budget import show as exact
from sfumato.study.recipe import Chosen, first_method, recipe_from_study
from sfumato.study.study import Study
from sfumato.study.unit import RecordUnit
from sfumato.web.editing.method_forms import PRIVACY, ReleaseForm, is_repeated, method_choices, number
from sfumato.web.editing.purpose_form import purpose_values
from sfumato.web.editing.study_document import StudyDocument, entry_hash
from sfumato.web.handling import go, posted
from sfumato.web.jobs import path_argument
from sfumato.web.planning import (
    Outcome,
    budget_bar,
    columns_link,
    epsilon_words,
    expected_plot,
    linked,
    measured_plot,
    outcome_of,
)
from sfumato.web.rendering import known_job, load, open_study, page, shell, study_command, workspace
from sfumato.web.workspace import OpenStudy

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
            **_values(opened, document, declared, draft, was=name),
            **({} if name else {"shown": _as_saved(document, draft).around("releases", draft.name), "unsaved": True}),
        },
        releases=releases,
        selected=name,
        entry=entry_hash(document, "releases", name),
        **purpose_values(document, declared, request.query_params.get("purpose", "")),
        checked=_checked(request, opened, document, name),
        measured=_measured(request, opened, name),
        repeated=_kept_models(document, name, draft) is not None,
    )


def _first(declared: Study) -> ReleaseForm:
    """What a new release begins with: a differentially private one that the study can make."""
    method = first_method(predicts=len(declared.with_role(Role.CLASS)) == 1)
    taken = set(declared.releases)
    name = next(name for number in range(1, len(taken) + 2) if (name := f"release-{number}") not in taken)
    return ReleaseForm(name=name, method=method, parameters={"epsilon": _FIRST_EPSILON})


def _values(
    opened: OpenStudy,
    document: StudyDocument,
    declared: Study,
    draft: ReleaseForm,
    wanted: Mapping[str, str] = MappingProxyType({"within": "", "records": ""}),
    *,
    was: str,
) -> dict[str, Any]:
    """What the form and its outcome show; ``was`` is the release of the study file that the form began with."""
    models = _kept_models(document, was, draft)
    outcome = outcome_of(document, draft, within=wanted["within"], records=wanted["records"], models=models)
    words = _words(draft, outcome)
    bar = None if outcome.plan is None else budget_bar(outcome.plan)
    column = columns_link(opened)
    return {
        "study": opened,
        "draft": draft,
        "methods": method_choices(),
        "chosen_ways": [way.value for way in Chosen],
        "outcome": outcome,
        "in_short": _in_short(outcome, bar),
        "column": column,
        "sentences": [linked(s, declared, column) for s in (() if outcome.plan is None else outcome.plan.sentences)],
        "error_text": None if outcome.error is None else linked(outcome.error.problem, declared, column),
        "bar": bar,
        "words": words,
        "plot": "" if outcome.expected is None or words is None else expected_plot(outcome.expected, _epsilon(draft)),
        "wanted": wanted,
        "unit_word": "record" if isinstance(declared.unit, RecordUnit) else "person, with all records of theirs,",
    }


def _kept_models(document: StudyDocument, was: str, draft: ReleaseForm) -> Any:
    """The privacy models of a release that the form cannot show, since one is required twice; None where it can."""
    stored = document.get("releases", was) if was else None
    if not isinstance(stored, Mapping) or stored.get("method") != draft.method:
        return None
    return stored[PRIVACY] if is_repeated(stored.get(PRIVACY)) else None


def _in_short(outcome: Outcome, bar: Mapping[str, Any] | None) -> str:
    """The outcome in a few words, for those who hear the page: all of it would be read out at every pause."""
    if outcome.plan is None:
        return f"It cannot be planned yet: {outcome.error.code if outcome.error is not None else ''}"
    if outcome.plan.epsilon is None:
        return "Planned: it spends no ε"
    cost = f"Planned: it costs ε = {exact(outcome.plan.epsilon)}"
    if bar is None:
        return f"{cost}; " + ("no budget is declared" if outcome.plan.budget is None else "what is left is unknown")
    return f"{cost}; {bar['after']} of {bar['total']} is left after it" if bar["fits"] else f"{cost}; it does not fit"


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


def _command(opened: OpenStudy, name: str) -> str:
    return study_command(opened, "plan", path_argument(opened.path.name), *([name] if name else []))


@posted
def preview(request: Request, form: FormData) -> Response:
    """What the form would do as it stands; nothing is saved."""
    return page(request, "plan_live.html", **live_values(open_study(request), form))


def live_values(
    opened: OpenStudy, form: FormData, *, purposes: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Any]:
    """What the page shows of a form that is not saved; purposes that have another name by now are taken by that."""
    document = opened.document()
    declared, problem = load(opened)
    if declared is None:
        assert problem is not None, "there is one or the other"
        raise problem
    draft = ReleaseForm.from_form(form)
    if draft.purpose in purposes:
        draft = replace(draft, purpose=purposes[draft.purpose])
    shown = str(form.get("shown") or "")
    if shown != draft.method and draft.private and not draft.epsilon:
        draft = replace(draft, parameters={**draft.parameters, "epsilon": _FIRST_EPSILON})
    wanted = {"within": str(form.get("within") or "").strip(), "records": str(form.get("records") or "").strip()}
    values = _values(opened, document, declared, draft, wanted, was=str(form.get("was") or ""))
    stored = document.get("releases", draft.name) if draft.name else None
    changed = not isinstance(stored, Mapping) or not _same(ReleaseForm.from_settings(draft.name, stored), draft)
    return {
        **values,
        "switched": shown != draft.method,
        "changed": changed,
        "said": str(form.get("in_short") or ""),
        "command": _command(opened, draft.name),
        "shown": _as_saved(document, draft).around("releases", draft.name),
        "unsaved": changed,
    }


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
    draft = _saved(opened, form)
    _start_check(request, opened, draft.name)
    return go(f"/s/{opened.key}/plan?release={quote(draft.name)}")


def _saved(opened: OpenStudy, form: FormData) -> ReleaseForm:
    draft, document = ReleaseForm.from_form(form), opened.document()
    checked_file_name("the release", draft.name)
    was = str(form.get("was") or "")
    if str(form.get("entry") or "") != entry_hash(document, "releases", was):
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
    edited.save()
    return draft


def _start_check(request: Request, opened: OpenStudy, name: str) -> None:
    """Plan the release with a look at the table, as a job; what it finds is for the owner."""
    job = workspace(request).jobs.start(
        "plan", ["plan", path_argument(opened.path.name), name], cwd=opened.path.parent, study=opened.key
    )
    opened.cache[f"plan {name}"] = (opened.document().version, job.id)


def _checked(request: Request, opened: OpenStudy, document: StudyDocument, name: str) -> dict[str, Any] | None:
    """The last look at the table for a release, and whether the study has changed since."""
    version, job_id = opened.cache.get(f"plan {name}", ("", None))
    job = known_job(request, job_id)
    return None if job is None else {"job": job, "stale": version != document.version}


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
    found = _checked(request, opened, opened.document(), name)
    return page(request, "plan_checked.html", study=opened, selected=name, checked=found, column=columns_link(opened))


def _declared_name(opened: OpenStudy, form: FormData) -> str:
    name = str(form.get("was") or form.get("release") or "")
    if opened.document().get("releases", name) is None:
        raise UsageError("the release is not in the study file yet", "save it first", code="SF-USAGE-443")
    return name


@posted
def measure(request: Request, form: FormData) -> Response:
    """Measure releases of a public stand-in at several ε, as a job; the study's own table is not read."""
    from sfumato.workflow import refuse_own_table  # noqa: PLC0415 - it imports the engines

    opened, found = open_study(request), workspace(request)
    name = _declared_name(opened, form)
    declared = opened.document().study()
    named = str(form.get("stand_in") or "").strip()
    if named == _PACKAGED or not named:
        table = str(files("sfumato") / "data" / "adult" / "adult.parquet")
    elif "://" in named:
        table = found.resolve_source(named)
        refuse_own_table(declared, table)
    else:
        path = found.resolve(named)
        refuse_own_table(declared, path)
        table = os.path.relpath(path, opened.path.parent)
    epsilons = sorted({*("0.1", "0.5", "1", "2"), str(form.get("p.epsilon") or "1").strip()})
    asked = ["plan", path_argument(opened.path.name), name, "--epsilons", ",".join(epsilons), "--stand-in", table]
    records = str(form.get("records") or "").strip()
    if records:
        asked += ["--records", records.replace(",", "")]
    job = found.jobs.start("stand-in", asked, cwd=opened.path.parent, study=opened.key)
    where = "the packaged census table" if named in {_PACKAGED, ""} else named
    opened.cache[f"measured {name}"] = (job.id, where)
    return page(request, "plan_measured.html", study=opened, selected=name, measured=_measured(request, opened, name))


def measured(request: Request) -> Response:
    """What was measured on the stand-in."""
    opened = open_study(request)
    name = request.query_params.get("release", "")
    return page(request, "plan_measured.html", study=opened, selected=name, measured=_measured(request, opened, name))


def _measured(request: Request, opened: OpenStudy, name: str) -> dict[str, Any] | None:
    job_id, where = opened.cache.get(f"measured {name}", (None, ""))
    job = known_job(request, job_id)
    if job is None:
        return None
    result = job.result if job.state == "done" else None
    epsilon = opened.document().get("releases", name, "epsilon")
    plot = "" if result is None or epsilon is None else measured_plot(result, parse_epsilon(str(epsilon)))
    return {"job": job, "where": where, "result": result, "plot": plot}


@posted
def budget(request: Request, form: FormData) -> Response:
    """Declare the privacy budget of the study. What is typed of a release stays, and is planned again."""
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
    return page(request, "plan_live.html", **live_values(opened, form), **around_values(opened))


def around_values(opened: OpenStudy) -> dict[str, Any]:
    """What an edit of the study changes outside of the form: the budget in the head of the page, and the steps."""
    around = shell(opened, "plan")
    return {name: around[name] for name in ("budget", "points", "step")}


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
]

"""Taxonomies that a rule makes (prefixes, intervals, the calendar): the study file keeps the rule, not the tree."""

from dataclasses import replace
from typing import Final

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sfumato.domains.taxonomy.by_rule import CALENDAR
from sfumato.errors import SfumatoError, UsageError
from sfumato.web.editing.taxonomy_drafts import attribute_of, draft_of, forget_draft, same_attribute
from sfumato.web.handling import go, posted
from sfumato.web.level_preview import levels_of
from sfumato.web.rendering import open_study, page


@posted
def rule(request: Request, form: FormData) -> Response:
    """The levels that a rule gives, or, with ``do=use``, the rule in the study file."""
    opened = open_study(request)
    one = same_attribute(attribute_of(opened, request.path_params["number"]), form)
    use = form.get("do") == "use"
    try:
        written = _rule_of(form)
        values = (
            {} if one.values is not None or one.is_grid else {"values": list(draft_of(opened, one).history.tree.leaves)}
        )
        domain = replace(one, fields={**one.fields, **values}).domain(written)
    except SfumatoError as error:
        if use:
            raise
        return page(request, "taxonomy_rule.html", levels=[], error=error, nodes=0)
    if not use:
        taxonomy = None if domain is None else domain.taxonomy
        nodes = 0 if taxonomy is None else len(taxonomy.labels)
        return page(request, "taxonomy_rule.html", levels=levels_of(domain), error=None, nodes=nodes)
    document = one.document
    if values:
        document = document.set("attributes", one.name, "values", value=values["values"])
    place = ("attributes", one.name, "taxonomy")
    document = document.remove(*place) if written is None else document.set(*place, value=written)
    document.save()
    forget_draft(opened, one)
    return go(f"/s/{opened.key}/taxonomies/{one.number}")


def _rule_of(form: FormData) -> object:
    """The taxonomy field that a form asks for."""
    match str(form.get("rule") or ""):
        case "none":
            return None
        case "prefix":
            return {"prefix": _listed(form.get("lengths"))}
        case "width":
            more = {"levels": str(form.get("levels") or "1").strip(), "factor": str(form.get("factor") or "2").strip()}
            begin = {"from": str(form.get("origin")).strip()} if str(form.get("origin") or "").strip() else {}
            return {"intervals": {"width": str(form.get("width") or "").strip(), **begin, **more}}
        case "bounds":
            levels = [_listed(line) for line in str(form.get("bounds") or "").splitlines() if line.strip()]
            return {"intervals": {"bounds": levels[0] if len(levels) == 1 else levels}}
        case "dates":
            return {"dates": [level for level in CALENDAR if level in form.getlist("calendar")]}
    raise UsageError("no rule is chosen", "choose one", code="SF-USAGE-476")


def _listed(text: object) -> list[str]:
    return str(text or "").replace(";", " ").replace(",", " ").split()


ROUTES: Final = [Route("/s/{study}/taxonomies/{number:int}/rule", rule, methods=["POST"])]

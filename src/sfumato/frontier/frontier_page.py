"""The page of a frontier: one HTML file with all it needs, for the owner."""

import hashlib
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import altair as alt
import vl_convert

from sfumato.frontier.choose import Choice
from sfumato.frontier.efficient import NO_BETTER, WHY_NO_BETTER
from sfumato.frontier.plot import chart
from sfumato.frontier.point import Point
from sfumato.look import icon, owner_tag, standalone_page, top_bar
from sfumato.wording import sentence

if TYPE_CHECKING:
    from sfumato.frontier.frontier import Frontier

_SCRIPTED = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)
_OWNER = (
    f"<div class='notice is-owner'>{icon('lock')}<p><b>For the owner only.</b> These numbers were computed from the "
    "raw table and no guarantee covers them. Choosing by them is recorded as “chosen on the raw table”.</p></div>"
)
_READ = (
    "Grey steps: the efficient frontier, releases that no other dominates. Ring: the chosen release. "
    "Black crosses: the two baselines, nothing published and everything published. "
)
_DRAWN = (
    "Bars: a release with noise or a sample is random, so it was drawn several times; the mark is the mean, the bars "
    "go from the least to the largest. The published release will be a new draw. "
)
_FOREIGN = (
    "Hourglasses: releases that other tools made from the same records. They compete for the frontier, and are not "
    "chosen; Sfumato did not make them and did not check any guarantee of theirs. "
)
_TOUCH = (
    "Point at a mark for its numbers; click a name in the legend to see it alone; drag to move, turn the wheel with "
    "the shift key to enlarge, double-click to go back."
)
_BOTH = (
    "Privacy loss is how far the release moves belief about the worst-placed person, whether or not they took part. "
    "Own-record loss is how far it moves because their record is in. The second is 0 in groups where all have the same "
    "value, so neither is read without the other; the choice is by the first."
)


def page(frontier: "Frontier", chosen: Choice | None) -> str:
    """Plot, choice, every point and every failure; no part of it is fetched from anywhere."""
    purpose = f", purpose {frontier.purpose}" if frontier.purpose else ""
    title = f"{frontier.study}{purpose}: privacy and utility loss of releases"
    drawn = any(point.draws > 1 for point in frontier.points)
    foreign = any(point.foreign for point in frontier.points)
    read = f"{_READ if frontier.choosable else ''}{_DRAWN if drawn else ''}{_FOREIGN if foreign else ''}{_TOUCH}"
    parts = [
        _OWNER,
        _said(frontier, chosen),
        _panels(frontier, chosen),
        f"<p class='small quiet'>{read}</p>",
        *_beside(frontier),
        "<h2>Every release</h2>",
        *([f"<p>{_capital(NO_BETTER)}: {WHY_NO_BETTER}.</p>"] if frontier.no_better_than_nothing else []),
        _points(frontier, chosen),
    ]
    if notes := [(point.label, note) for point in frontier.tried for note in point.notes]:
        rows = "".join(f"<li>{escape(label)}: {escape(note)}.</li>" for label, note in notes)
        parts += ["<h2>Releases of other tools</h2>", f"<ul>{rows}</ul>"]
    if frontier.failures:
        parts += ["<h2>Not made or not measured</h2>", _failures(frontier)]
    return whole(title, parts, owner=True, name=frontier.study)


def whole(title: str, parts: Sequence[str], *, name: str = "", owner: bool = False) -> str:
    """A page of some parts, which are HTML; ``name`` is whose it is, and an ``owner``'s page says so at the top."""
    bar = top_bar(name, "frontier", tag=owner_tag()) if owner else ""
    shown = "\n".join(parts)
    body = f"<main id='main' tabindex='-1'><div class='page'><h1>{escape(title)}</h1>\n{shown}</div></main>"
    return standalone_page(title, f"{bar}\n{body}", policy=_SCRIPTED)


def _said(frontier: "Frontier", chosen: Choice | None) -> str:
    if chosen:
        return f"<p>{escape(_capital(chosen.sentence))}.</p>"
    return "" if frontier.points else "<p>No release could be measured.</p>"


def _panels(frontier: "Frontier", chosen: Choice | None) -> str:
    """The planes side by side, or below each other where there is no room."""
    drawn = embedded(*(chart(panel, chosen, width="container", zoom=True) for panel in frontier.panels))
    return f"<div class='panels'>{drawn}</div>"


def _beside(frontier: "Frontier") -> list[str]:
    """What the two privacy axes say, and which releases have no number on the second."""
    if len(frontier.panels) == 1 or frontier.beside is None:
        return []
    name = frontier.beside.name
    gone = [point for point in frontier.points if not point.has(name)]
    found = [f"<p>{_BOTH}</p>"]
    if gone:
        why = f"{escape(gone[0].label)}: {escape(gone[0].why_not(name))}"
        found.append(f"<p>Not on the second plot, {len(gone)} of {len(frontier.points)} releases; {why}.</p>")
    return found


def fragment(frontier: "Frontier", chosen: Choice | None) -> str:
    """The plot and the choice, to stand inside a notebook."""
    said = f"<p>{escape(_capital(chosen.sentence))}.</p>" if chosen else ""
    panels = frontier.panels
    return embedded(*(chart(panel, chosen, width=640 if len(panels) == 1 else 440) for panel in panels)) + said


def embedded(*built: alt.TopLevelMixin) -> str:
    """Plots with the programs that draw them.

    A specification holds names that people typed: without a ``<`` in it, it cannot end the script it stands in.
    """
    specs = [str(one.to_json(indent=None)).replace("<", "\\u003c") for one in built]
    names = ["frontier-" + hashlib.sha256(spec.encode()).hexdigest()[:12] for spec in specs]
    drawing = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # its stub asks for what it does not need
    options = '{"actions": false, "ast": true, "renderer": "svg", "mode": "vega-lite"}'
    places = "".join(f"<div class='sheet'><div class='drawn' id='{name}'></div></div>\n" for name in names)
    calls = "\n".join(
        f"<script>vegaEmbed('#{name}', {spec}, {options}).catch(console.error);</script>"
        for name, spec in zip(names, specs, strict=True)
    )
    return f"{places}<script>{drawing}</script>\n{calls}"


def _points(frontier: "Frontier", chosen: Choice | None) -> str:
    measures = list(dict.fromkeys((frontier.x.name, frontier.y.name, *frontier.axes)))
    best, worse = ({id(point) for point in some} for some in (frontier.efficient, frontier.no_better_than_nothing))
    head = "".join(f"<th class='n'>{escape(name)}</th>" for name in measures)
    rows = []
    for point in (*frontier.points, *frontier.baselines):
        numbers = "".join(f"<td class='n'>{_number(point, name)}</td>" for name in measures)
        marks = [
            word
            for word, so in (
                ("efficient", id(point) in best),
                (NO_BETTER, id(point) in worse),
                ("chosen", bool(chosen and point is chosen.point)),
                ("another tool, not checked", point.foreign),
            )
            if so
        ]
        kind = " class='best'" if id(point) in best else ""
        rows.append(
            f"<tr{kind}><td>{escape(point.label)}{_marked(marks)}</td>{numbers}"
            f"<td class='n s'>{point.seconds:.1f}</td></tr>"
        )
    return (
        f"<div class='card wide'><table><thead><tr><th>release</th>{head}<th class='n s'>seconds</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _marked(marks: Sequence[str]) -> str:
    return f"<span class='under'>{', '.join(marks)}</span>" if marks else ""


def _failures(frontier: "Frontier") -> str:
    rows = "".join(f"<tr><td>{escape(p.label)}</td><td>{escape(why)}</td></tr>" for p, why in frontier.failures)
    head = "<thead><tr><th>release</th><th>why</th></tr></thead>"
    return f"<div class='card wide'><table>{head}<tbody>{rows}</tbody></table></div>"


def _number(point: Point, name: str) -> str:
    value, spread = point.numbers.get(name), point.spread.get(name)
    if value is None:
        return "–"
    return f"{value:.4g}" if spread is None else f"{value:.4g}<br>± {spread.deviation:.2g}"


def _capital(text: str) -> str:
    return sentence(text)

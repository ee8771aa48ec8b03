"""The page around a report: one file, no scripts, nothing loaded from anywhere; fits a phone and prints."""

from collections.abc import Iterable, Sequence
from html import escape

_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>{title}</title>
<style>
:root {{ color-scheme: light; }}
* {{ box-sizing: border-box; }}
body {{ font: 16px/1.5 system-ui, sans-serif; color: #222; background: #fff; max-width: 46rem; margin: 0 auto;
  padding: 1.5rem 1rem 4rem; }}
h1 {{ font-size: 1.6rem; line-height: 1.2; margin: 0 0 .3rem; }}
h2 {{ font-size: 1.15rem; margin: 2.2rem 0 .5rem; border-bottom: 1px solid #ddd; padding-bottom: .2rem; }}
h3 {{ font-size: 1rem; margin: 1.4rem 0 .3rem; }}
p, ul {{ margin: .4rem 0; }}
.quiet {{ color: #666; }}
.warning {{ border-left: 4px solid #b3541e; background: #fbf3ec; padding: .5rem .8rem; margin: 1rem 0; }}
.tiles {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(8.5rem, 1fr)); gap: .6rem; margin: .8rem 0; }}
.tile {{ border: 1px solid #ddd; border-radius: 6px; padding: .5rem .7rem; }}
.tile b {{ display: block; font-size: 1.3rem; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }}
.tile span {{ color: #666; font-size: .85rem; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; width: 100%; font-size: .85rem; }}
th, td {{ text-align: left; padding: .25rem .6rem .25rem 0; border-bottom: 1px solid #eee; vertical-align: top;
  white-space: nowrap; }}
td:last-child {{ white-space: normal; min-width: 6rem; }}
th {{ color: #666; font-weight: 600; }}
td.n, th.n {{ text-align: right; font-variant-numeric: tabular-nums; }}
svg {{ width: 100%; height: auto; display: block; margin: .4rem 0; }}
svg .bar {{ fill: #2b6a6c; }}
svg .before {{ fill: #c9b79c; }}
svg .ground {{ fill: #f7f5f1; }}
svg .limit {{ stroke: #b3541e; stroke-width: 1.5; }}
svg text {{ font: 12px system-ui, sans-serif; fill: #444; }}
svg .number {{ text-anchor: middle; }}
svg .name {{ text-anchor: end; }}
.key i {{ display: inline-block; width: .8rem; height: .8rem; margin: 0 .3rem 0 .8rem; vertical-align: -1px; }}
@media (max-width: 40rem) {{ svg text {{ font-size: 17px; }} }}
@media print {{ body {{ max-width: none; padding: 0; font-size: 11pt; }} h2, h3 {{ break-after: avoid; }}
  .wide {{ overflow: visible; }} td, th {{ white-space: normal; }} svg, tr, .tile {{ break-inside: avoid; }} }}
</style>
</head>
<body>
{body}
</body>
</html>
"""


def page(title: str, parts: Iterable[str]) -> str:
    """The whole file."""
    return _PAGE.format(title=escape(title), body="\n".join(parts))


def tiles(found: Sequence[tuple[str, str]]) -> str:
    """Numbers that are looked for first: a value and what it is."""
    inner = "".join(f'<div class="tile"><b>{escape(v)}</b><span>{escape(what)}</span></div>' for v, what in found)
    return f'<div class="tiles">{inner}</div>'


def rows(heads: Sequence[str], lines: Iterable[Sequence[str]], *, numbers: Sequence[int] = ()) -> str:
    """A table; ``numbers`` are the columns that are set to the right."""
    kinds = [' class="n"' if place in numbers else "" for place in range(len(heads))]
    head = "".join(f"<th{kind}>{escape(text)}</th>" for kind, text in zip(kinds, heads, strict=True))
    body = "".join(
        "<tr>" + "".join(f"<td{kind}>{escape(text)}</td>" for kind, text in zip(kinds, line, strict=True)) + "</tr>"
        for line in lines
    )
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def listed(sentences: Iterable[str]) -> str:
    """Sentences as a list."""
    return "<ul>" + "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences) + "</ul>"


def said(text: str, kind: str = "") -> str:
    """A paragraph."""
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"

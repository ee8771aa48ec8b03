"""Recoding: the records with the labels of a cut in place of their values, and writing them to a file."""

from collections.abc import Sequence
from pathlib import Path

import ibis
import ibis.expr.types as ir
import pyarrow as pa

from sfumato.core.cut import Cut
from sfumato.core.set_cut import SetCut
from sfumato.core.sets import SetDomain
from sfumato.engines.coding import FEW
from sfumato.engines.engine import Format, SourceTable
from sfumato.engines.folding import region
from sfumato.engines.records import Records
from sfumato.errors import OursError, PublishError


def recode(records: Records, cuts: Sequence[Cut], *, keep: Sequence[str] = ()) -> ir.Table:
    """The records that take part: a column of labels for each cut, under the attribute's name, then the kept ones."""
    places = {attribute.name: place for place, attribute in enumerate(records.attributes)}
    names = [*(cut.attribute for cut in cuts), *keep]
    if len(set(names)) != len(names) or not names:
        raise OursError("a recoding publishes columns, each once")
    table = records.coded(keep)
    codes = [table[f"c{places[cut.attribute]}"] for cut in cuts]
    regions = {
        f"l{n}": code if isinstance(cut, SetCut) else region(code, cut)
        for n, (cut, code) in enumerate(zip(cuts, codes, strict=True))
    }
    found = table.select(**regions, **{f"k{n}": table[f"k{n}"] for n in range(len(keep))})
    columns: dict[str, ir.Column] = {}
    words = {n: _labels(records, cut, places) for n, cut in enumerate(cuts)}
    dictionaries = {n: _dictionary(records.source, n, labels) for n, labels in words.items() if len(labels) > FEW}
    for n, dictionary in dictionaries.items():
        found = found.left_join(dictionary, found[f"l{n}"] == dictionary[f"v{n}"])
    found = found.select(*(c for c in found.columns if not c.startswith("v")))
    for n, cut in enumerate(cuts):
        columns[cut.attribute] = (
            found[f"w{n}"]
            if n in dictionaries
            else found[f"l{n}"].cases(*enumerate(words[n]), else_=ibis.null("string"))
        )
    columns |= {name: found[f"k{n}"] for n, name in enumerate(keep)}
    return found.select(**columns)


def write(source: SourceTable, expression: ir.Table, path: Path, form: Format) -> None:
    """Write rows in the order of their values, so that their order says nothing more; never over another file."""
    if path.exists():
        raise PublishError(f"{path} is there already", "name another file: nothing is overwritten")
    ordered = expression.order_by([expression[name] for name in expression.columns])
    source.session.copy(source.compile(ordered), path, form)


def _labels(records: Records, cut: Cut, places: dict[str, int]) -> list[str]:
    domain = records.attributes[places[cut.attribute]].domain
    assert domain is not None, "coded attributes have domains"
    if isinstance(cut, SetCut):  # by the place of a set in its dictionary: there are too many regions to list
        assert isinstance(domain, SetDomain), "a cut of sets is of a domain of sets"
        sets = records.sets[places[cut.attribute]].read.codes.sets
        return cut.labels(domain.taxonomy, cut.numbers(sets))
    return [domain.label(start, stop) for start, stop in cut.ranges]


def _dictionary(source: SourceTable, place: int, labels: Sequence[str]) -> ir.Table:
    rows = pa.table({f"v{place}": pa.array(range(len(labels)), pa.int64()), f"w{place}": pa.array(labels, pa.string())})
    return ibis.table(ibis.Schema.from_pyarrow(rows.schema), name=source.session.put(rows))

"""The levels of a taxonomy as a page shows them: made by the code that a release uses."""

from typing import Any

from sfumato.domains.domain import Domain


def levels_of(domain: Domain | None) -> list[dict[str, Any]]:
    """Each level as full-domain recoding counts them: what its first record would show, and how many values it has."""
    from sfumato.methods.full_domain.lattice import ladder_over  # noqa: PLC0415 - it imports the methods

    if domain is None or domain.taxonomy is None:
        return []
    ladder = ladder_over("preview", domain.taxonomy)
    top = len(ladder.cuts) - 1
    rows = []
    for step, (cut, level) in enumerate(zip(ladder.cuts, ladder.levels, strict=True)):
        ends = (*cut.starts[1:4], domain.taxonomy.size)
        names = [domain.label(a, b) for a, b in zip(cut.starts[:3], ends, strict=False)]
        said = "exact" if step == 0 and set(domain.taxonomy.widths) == {1} else "narrowest" if step == 0 else ""
        rows.append({"level": level, "said": "root" if step == top else said, "names": names, "count": len(cut)})
    return rows

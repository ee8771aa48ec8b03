"""`sfumato evaluate max-k`: capped confidence beside Mondrian."""

from typing import Annotated

import typer

from sfumato.cli import show
from sfumato.cli.options import Json, MemoryLimit, StudyFile


def max_k(  # noqa: PLR0913, PLR0917 - an option each
    study: StudyFile,
    purpose: Annotated[
        str | None, typer.Option("--purpose", help="A purpose of the study; default: the whole study.")
    ] = None,
    rate: Annotated[str, typer.Option("--rate", help="The sample rate β, above 0 and up to 1.")] = "0.9",
    attribute: Annotated[
        str | None, typer.Option("--attribute", help="The sensitive attribute to cap; default: each of them.")
    ] = None,
    low: Annotated[int, typer.Option("--from", help="The smallest k to try.")] = 2,
    high: Annotated[int, typer.Option("--to", help="The largest k to try.")] = 1_000,
    every: Annotated[bool, typer.Option("--every", help="Try every k instead of steps of a quarter.")] = False,
    distortion: Annotated[str, typer.Option("--distortion", help="The most distortion under the cap, 0 to 1.")] = "0.6",
    choose: Annotated[
        str, typer.Option("--choose", help="How Mondrian chooses cuts: widest, info_gain, loss.")
    ] = "widest",
    memory_limit: MemoryLimit = None,
    json: Json = False,
) -> None:
    """For the owner: the smallest k found at which Mondrian satisfies capped confidence, and the cap's own group size.

    The output is computed from raw data and covered by no guarantee.
    """
    from sfumato.api import Study
    from sfumato.methods import ConfidenceCap, Mondrian

    opened = Study.load(study)
    cap = ConfidenceCap(rate=rate, attribute=attribute, distortion=distortion)
    like = Mondrian(k=2, choose=choose)
    with show.progress(shown=not json) as report:
        found = opened.max_k(
            cap,
            purpose=purpose,
            between=(low, high),
            every=every,
            like=like,
            progress=report,
            memory_limit=memory_limit,
        )
    if json:
        show.as_json(found.as_json())
        return
    for one in found.tried:
        show.say(f"  k = {one.k:>5}: {one.broken:8.3%} of the records violate the cap, in {one.groups:,} groups")
    how = "every smaller k was tried" if found.every else "a smaller k may suffice: --every tries all of them"
    tried = ", ".join(f"{one.k:,}" for one in found.tried)
    more = "; raise `--to`" if found.tried and found.tried[-1].k == high else ""  # else all records are one group
    none = f"none of the k tried ({tried}) satisfies the cap{more}"
    show.say(f"Max.k = {found.k} ({how})" if found.k is not None else none)
    average = "none: every record would be suppressed" if found.average is None else f"{found.average:,.1f}"
    show.say(f"Avg.k = {average} (the average group of a release by `capped-confidence` with the same rate)")
    for note in found.notes:
        show.say(f"  • {note}")
    show.say("for your eyes only: this was computed from raw records")

"""`sfumato evaluate audit`: a black-box test of a guarantee."""

from typing import Annotated

import typer

from sfumato.cli import show
from sfumato.cli.options import Json, ReleaseName, StudyFile
from sfumato.cli.planned import say_finding


def audit(
    study: StudyFile,
    release: ReleaseName = None,
    runs: Annotated[int, typer.Option("--runs", help="The number of runs on each table, at least 400.")] = 4_000,
    json: Json = False,
) -> None:
    """Audit a release's guarantee as a black box: run it many times on two small synthetic neighbouring tables.

    The tables are made from the declared domains: the study's own table is not opened, and nothing is spent. Exit
    code 8 if the guarantee is violated.
    """
    from sfumato.api import Study

    opened = Study.load(study)
    name = opened.recipe(release).name
    with show.progress(shown=not json) as report:
        found = opened.audit(release, runs=runs, progress=report)
    say_finding(found, f"release '{name}'", {"release": name}, json=json)

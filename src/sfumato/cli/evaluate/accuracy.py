"""`sfumato evaluate accuracy`: what classifiers learn from such releases."""

from typing import Annotated

import typer

from sfumato.cli import show
from sfumato.cli.options import Json, ReleaseName, StudyFile


def accuracy(
    study: StudyFile,
    release: ReleaseName = None,
    classifier: Annotated[
        list[str] | None,
        typer.Option("--classifier", help="A classifier, may be given several times; `all` for all five."),
    ] = None,
    protocol: Annotated[
        str, typer.Option("--protocol", help="`split` (2/3 to learn on, 1/3 to test) or `folds` (stratified).")
    ] = "split",
    runs: Annotated[int, typer.Option("--runs", help="How many splits, or how many folds.")] = 10,
    workers: Annotated[
        int | None, typer.Option("--workers", help="How many processes; as many as pay unless told.")
    ] = None,
    json: Json = False,
) -> None:
    """For the owner: accuracy of a classifier trained on such releases, next to raw data and majority class.

    With balanced accuracy and AUC. In the DiffGen paper they are CA, BA and LA. It looks at raw records: nothing
    is published or spent, and what it prints is not covered by any promise.
    """
    from sfumato.api import Study

    opened = Study.load(study)
    name = opened.recipe(release).name
    asked = classifier or ["decision-tree"]
    with show.progress(shown=not json) as report:
        found = opened.worths(
            release, classifiers=None if "all" in asked else asked, protocol=protocol, runs=runs, workers=workers,
            progress=report,
        )  # fmt: skip
    if json:
        show.as_json(
            {
                "release": name,
                "protocol": protocol,
                "runs": runs,
                "accuracy": {learner: compared.as_json() for learner, compared in found.items()},
            }
        )
        return
    parts = "splits, 2/3 to learn on and 1/3 to test" if protocol == "split" else "stratified folds"
    show.say(f"On records that were not learnt from ({runs} {parts}):")
    for learner, compared in found.items():
        show.say(f"  {learner}")
        show.accuracies(compared)
    show.say("for your eyes only: computed from raw records, and covered by no promise")

"""`sfumato evaluate accuracy`: the accuracy of classifiers trained on such releases."""

from typing import Annotated

import typer

from sfumato.cli import show
from sfumato.cli.options import Json, MemoryLimit, ReleaseName, StudyFile


def accuracy(
    study: StudyFile,
    release: ReleaseName = None,
    classifier: Annotated[
        list[str] | None,
        typer.Option("--classifier", help="A classifier, may be given several times; `all` for all five."),
    ] = None,
    protocol: Annotated[
        str, typer.Option("--protocol", help="`split` (2/3 for training, 1/3 for testing) or `folds` (stratified).")
    ] = "split",
    runs: Annotated[int, typer.Option("--runs", help="The number of splits, or of folds.")] = 10,
    workers: Annotated[
        int | None, typer.Option("--workers", help="Number of processes; chosen automatically by default.")
    ] = None,
    memory_limit: MemoryLimit = None,
    json: Json = False,
) -> None:
    """For the owner: accuracy of a classifier trained on such releases, next to raw data and majority class.

    Balanced accuracy and AUC are shown too. The DiffGen paper calls the three accuracies CA, BA and LA. The command
    reads raw records. Nothing is published or spent, and the output is covered by no guarantee.
    """
    from sfumato.api import Study

    opened = Study.load(study)
    name = opened.recipe(release).name
    asked = classifier or ["decision-tree"]
    with show.progress(shown=not json) as report:
        found = opened.accuracies(
            release, classifiers=None if "all" in asked else asked, protocol=protocol, runs=runs, workers=workers,
            progress=report, memory_limit=memory_limit,
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
    parts = "splits, 2/3 for training and 1/3 for testing" if protocol == "split" else "stratified folds"
    show.say(f"On records that were not used for training ({runs} {parts}):")
    for learner, compared in found.items():
        show.say(f"  {learner}")
        show.accuracies(compared)
    show.say("for your eyes only: computed from raw records, covered by no guarantee")

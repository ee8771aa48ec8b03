"""The command that learns one private model from a study."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli import show
from sfumato.cli.options import Anyway, Json, MemoryLimit, NoCheck, Seed, StudyFile
from sfumato.cli.planned import say_finding, say_plan
from sfumato.errors import UsageError


def learn(  # noqa: PLR0913, PLR0917 - an option each
    study: StudyFile,
    epsilon: Annotated[str, typer.Option("--epsilon", help="The privacy budget to spend, such as 1, 0.5 or 1/3.")],
    depth: Annotated[int, typer.Option("--depth", help="The maximum depth of the tree.")] = 5,
    score: Annotated[str, typer.Option("--score", help="The split criterion: max, gini, info_gain.")] = "max",
    branch: Annotated[
        str, typer.Option("--branch", help="Split categories along the `taxonomy`, or into all `values` at once.")
    ] = "taxonomy",
    prune: Annotated[
        bool, typer.Option("--prune/--no-prune", help="Prune by the noisy counts; spends no budget.")
    ] = True,
    purpose: Annotated[
        str | None, typer.Option("--purpose", help="A purpose of the study; default: the whole study.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="A file that does not exist yet, for the model as JSON.")
    ] = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Show the cost and the remaining budget; spends nothing.")
    ] = False,
    audit: Annotated[
        bool, typer.Option("--audit", help="Audit its guarantee on synthetic tables; spends nothing.")
    ] = False,
    runs: Annotated[int, typer.Option("--runs", help="With --audit: runs on each table, at least 400.")] = 2_000,
    insecure_seed: Seed = None,
    no_check: NoCheck = False,
    anyway: Anyway = False,
    memory_limit: MemoryLimit = None,
    json: Json = False,
) -> None:
    """Learn one private decision tree (DiffP-C4.5) and record its cost in the ledger.

    The model may be published. It predicts the class and answers no other question, and its budget is spent. With
    `--plan` or `--audit` nothing is learnt from the table and nothing is spent.
    """
    from sfumato.api import Study
    from sfumato.interactive import DiffPC45

    opened = Study.load(study)
    if plan or audit:
        if (plan and audit) or out is not None or insecure_seed is not None:
            raise UsageError(
                "`--plan` and `--audit` learn nothing, and cannot be combined with each other, `--out` or "
                "`--insecure-seed`",
                "give either `--plan` or `--audit`, without `--out` and `--insecure-seed`",
                code="SF-USAGE-007",
            )
        asked = DiffPC45(epsilon, depth=depth, criterion=score, prune=prune, branch=branch)
        if plan:
            found_plan = opened.plan(asked, purpose=purpose, check=not no_check, memory_limit=memory_limit)
            say_plan(found_plan, "A private tree", json=json)
            return
        with show.progress(shown=not json) as report:
            found = opened.audit(asked, purpose=purpose, runs=runs, progress=report)
        say_finding(found, "the private tree", {"method": asked.method().name}, json=json)
        return
    if insecure_seed is not None:
        show.warn("--insecure-seed makes the noise repeatable: this model has no guarantee, and says so")
    estimator = DiffPC45(epsilon, depth=depth, criterion=score, prune=prune, branch=branch)
    with show.progress(shown=not json) as report:
        opened.learn(
            estimator, out=out, purpose=purpose, progress=report, memory_limit=memory_limit,
            insecure_seed=insecure_seed, anyway=anyway,
        )  # fmt: skip
    budget = opened.declared.budget
    left = None if budget is None else show.exact(budget - opened.ledger.spent(opened.name))
    tree = estimator.model_.tree
    if json:
        show.as_json(
            {
                "model": estimator.to_json(),
                "out": None if out is None else str(out),
                "leaves": tree.leaves,
                "depth": tree.depth,
                "epsilon": show.exact(estimator.method().spends),
                "left": left,
            }
        )
        return
    show.verbatim(estimator.to_text())
    show.say(
        f"a tree with {tree.leaves} leaves; the noisy counts in brackets are of {', '.join(estimator.model_.classes)}"
    )
    show.say(f"spent ε = {show.exact(estimator.method().spends)}; {left} remains")
    if out is None:
        show.say("the model was not written to a file (--out); learning it again spends budget again")
    else:
        show.say(f"the model, which may be published: {show.place(out)}")

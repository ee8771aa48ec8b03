"""The demo: the packaged census table, from study to bundle, and the accuracy of the release."""

import shutil
import time
from importlib.resources import as_file, files
from pathlib import Path

from sfumato import workflow
from sfumato.cli import show
from sfumato.cli.commands.comparing import print_frontier, save_all, say_plots
from sfumato.errors import PublishError
from sfumato.methods import Staged, recipe_of
from sfumato.release.answer.words import estimate_words
from sfumato.release.verify import verify_bundle
from sfumato.study.budget import exact_text
from sfumato.study.file import load_study
from sfumato.study.recipe import recipe_from_study
from sfumato.workflow import accuracy

_QUESTION = "age >= 40 and education_num >= 13 and income = '>50K'"
_RUNS = 5
_SWEEP, _PURPOSE = "few", "survey"


def run_demo(out: Path | None, *, json: bool) -> None:
    """Copy the study, plan, publish staged tables at ε = 1, verify, ask, and compare with DiffGen and others."""
    began = time.monotonic()
    folder = _fresh(out)
    with as_file(files("sfumato") / "data" / "adult") as packaged:
        shutil.copytree(packaged, folder, ignore=shutil.ignore_patterns("__pycache__", "*.py"))
    study = load_study(folder / "study.yaml")
    recipe, beside = recipe_of(Staged(epsilon=1), name="staged"), recipe_from_study(study, "dp")
    planned = workflow.plan(study, recipe)
    if not json:
        show.say(f"The study is in {folder / 'study.yaml'}. Release '{recipe.name}' will do this:")
        show.bullets(planned.sentences)
    with show.progress(shown=not json) as report:
        done = workflow.release(study, recipe, folder=folder / "releases" / "staged-1", progress=report)
        release = done.open()
        verified = verify_bundle(done.bundle)
        answer = release.query(_QUESTION)
        compared, older = (accuracy(study, each, runs=_RUNS, progress=report) for each in (recipe, beside))
        others = workflow.run_frontier(study, _SWEEP, purpose=_PURPOSE, progress=report)
        chosen = others.choose("knee")
        report("drawing the plot", 0, 1)
        plots = save_all(others, chosen)
    took = time.monotonic() - began
    if json:
        show.as_json(
            {
                "study": str(folder / "study.yaml"),
                "bundle": str(done.bundle),
                "rows": done.rows,
                "epsilon": exact_text(done.epsilon),
                "left": exact_text(done.left),
                "verified": verified.ok,
                "question": _QUESTION,
                "answer": answer.as_json(),
                "accuracy": compared.as_json(),
                "accuracy_of_diffgen": older.as_json(),
                "frontier": {"chosen": chosen.sentence, "files": [str(file) for file in plots]},
                "seconds": round(took, 2),
            }
        )
        return
    show.say()
    show.say(f"Published {done.rows:,} {done.what} and the tables they were drawn from in {done.bundle}")
    show.say(
        f"  and it {'verifies' if verified.ok else 'does NOT verify'}. A receiver can query it without spending budget:"
    )
    show.say(f"  {_QUESTION}\n    {estimate_words(answer)}")
    show.say()
    show.say(f"Accuracy of a decision tree trained on it ({_RUNS} runs; 2/3 of the records released, 1/3 for testing):")
    show.accuracies(compared)
    show.say("and on a release by DiffGen (2011) at the same ε:")
    show.accuracies(older)
    show.say("  (Computed from raw records: for the owner only, not in the bundle.)")
    show.say()
    show.say(f"Other releases for the purpose '{_PURPOSE}', with their privacy and utility loss (for the owner only):")
    print_frontier(others, chosen)
    say_plots(plots)
    show.say()
    show.say(f"Next: sfumato ledger {folder / 'study.yaml'}, or look at {done.bundle / 'README.md'}.")
    show.say(f"{took:.0f} s in all.")


def _fresh(out: Path | None) -> Path:
    """The folder asked for, or the first free one here; never one that exists."""
    if out is not None:
        if out.exists():
            raise PublishError(f"{out} exists already", "name a folder that does not exist yet", code="SF-PUBLISH-002")
        return out
    number = 1
    while (folder := Path(f"sfumato-demo-{number}")).exists():
        number += 1
    return folder

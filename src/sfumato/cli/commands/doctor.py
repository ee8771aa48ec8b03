"""The command that looks at the installation."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli import show
from sfumato.cli.options import Json
from sfumato.errors import SfumatoError

if TYPE_CHECKING:
    from sfumato.api import Study
    from sfumato.installation import Finding


def doctor(
    study: Annotated[
        Path | None,
        typer.Argument(help="A study: look at its folder and verify its ledger.", metavar="STUDY", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """Look at the installation: versions, optional parts, and permissions of ledgers and folders. Changes nothing.

    It looks at the working folder, or at that of a study and at the study's ledger. No table is read. A missing
    optional part is not a problem. The exit code is 1 if a problem was found.
    """
    from sfumato.installation import examine

    found = examine(Path.cwd() if study is None else study.resolve().parent)
    if study is not None:
        found += _of_study(study)
    problems = [one for one in found if not one.ok]
    if json:
        show.as_json({"ok": not problems, "findings": [one.as_json() for one in found]})
    else:
        for area in dict.fromkeys(one.area for one in found):
            show.say(f"{area}:")
            rows = [[_mark(one), one.name, _words(one)] for one in found if one.area == area]
            show.table(["", "", ""], rows)
        many = f"{len(problems)} problem{'s' * (len(problems) > 1)}" if problems else "no problem"
        show.say(f"{many} found")
    if problems:
        raise typer.Exit(SfumatoError.exit_code)


def _mark(one: "Finding") -> str:
    return "  NO" if not one.ok else "  ok" if one.there else "  –"


def _words(one: "Finding") -> str:
    return f"{one.said}. To fix: {one.fix}" if one.fix else one.said


def _elsewhere(opened: "Study", study: Path) -> "list[Finding]":
    """The files of the study's ledger, where it names one outside of its folder; those inside were looked at."""
    from sfumato.installation import ledger_findings
    from sfumato.ledger.heads import head_beside
    from sfumato.ledger.sqlite import SqliteLedger

    ledger = opened.ledger
    if not isinstance(ledger, SqliteLedger):
        return []
    inside = ledger.path.parent == study.resolve().parent and ledger.path.name.endswith(".ledger.sqlite")
    return [] if inside else ledger_findings(ledger.path, head_beside(ledger.path))


def _of_study(study: Path) -> "list[Finding]":
    """Whether a study can be read and its ledger verifies."""
    from sfumato.installation import Finding, problem_of

    try:
        from sfumato.api import Study

        opened = Study.load(study)
        wrong = opened.verify_ledger()
    except SfumatoError as error:
        return [problem_of(error, area="study", name=study.name)]
    except ImportError as error:
        said = f"cannot be read: the library {error.name} does not load"
        return [Finding(area="study", name=study.name, said=said, ok=False, fix="install the versions listed above")]
    if wrong:
        fix = f"`sfumato ledger {study} verify` says what to do"
        return [Finding(area="study", name="ledger", said="; ".join(wrong), ok=False, fix=fix)]
    return [
        *_elsewhere(opened, study),
        Finding(area="study", name=study.name, said="can be read"),
        Finding(area="study", name="ledger", said=f"verifies; {len(opened.ledger.entries(opened.name))} entries"),
    ]

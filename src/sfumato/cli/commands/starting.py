"""The command that makes a folder ready for a first release: the proposed study, and what git must not take along."""

import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from sfumato.cli import show
from sfumato.cli.new_files import beside_study, write_new
from sfumato.cli.options import Json

if TYPE_CHECKING:
    from sfumato.study.describe import Proposal

_STUDY: Final = "study.yaml"
_PLAIN: Final = re.compile(r"[\w./-]")
_IGNORED: Final = """\
# What no repository should hold: what was computed from raw records, and the state of the privacy budget.

# The ledger and its head belong together, at one place that is backed up: with a copy the budget is spent twice.
*.ledger.sqlite
*.ledger.sqlite-*
*.ledger.head

# For the owner's eyes: reports of releases, and drafts that were measured on raw records.
releases/*/owner/
frontier/

# Bounds and values in the study were read off the records. Take this line out once every domain is declared.
/study.yaml
"""


def init(
    table: Annotated[str, typer.Argument(help="A CSV or Parquet file, a glob, or a URL.", metavar="TABLE")],
    folder: Annotated[Path, typer.Option("--out", "-o", help="The folder; it is made if it does not exist.")] = Path(),
    target: Annotated[str | None, typer.Option("--class", help="The target (class attribute).")] = None,
    json: Json = False,
) -> None:
    """Make a folder ready for a first release: write `study.yaml` as `describe` proposes it, and a `.gitignore`.

    Nothing that exists is overwritten. The study is computed from raw values: it is for the owner only.
    """
    from sfumato.api import describe
    from sfumato.errors import unwritable

    study, ignored = folder / _STUDY, folder / ".gitignore"
    _refuse_existing(study)
    with show.progress(shown=not json) as report:
        report("looking at the table", 0, 1)
        proposal: Proposal = describe(table, target=target)
    proposal = replace(proposal, source=beside_study(table, folder))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from None
    write_new(study, proposal.to_yaml())
    keeps = ignored.exists()
    if not keeps:
        write_new(ignored, _IGNORED + _table_line(proposal.source))
    named = shlex.quote(str(study))  # a folder may have a blank in its name
    steps = [f"sfumato check {named}", f"sfumato plan {named}", f"sfumato release {named}"]
    if json:
        show.as_json(_result(proposal, study, None if keeps else ignored, steps))
        return
    show.say(
        f"wrote {study}{'' if keeps else f' and {ignored}'}, with an entry for each of {len(proposal.columns)} columns"
    )
    if keeps:
        show.say(
            f"{ignored} exists and was left as it is: keep ledgers, `releases/*/owner/` and `frontier/` out of git"
        )
    if proposal.undecided:
        show.say(f"decide the role of: {', '.join(proposal.undecided)}")
    show.say(
        f"in {study}: confirm the other roles, replace every observed domain by public knowledge, choose a budget and a"
    )
    show.say(f"release; then `{steps[0]}`, and `{steps[1]}`, which spends nothing")


def _refuse_existing(study: Path) -> None:
    """Before the table is looked at: that may take a while."""
    from sfumato.errors import PublishError

    if study.exists():
        raise PublishError(
            f"'{study}' exists already", "name another folder with --out, or move the study away", code="SF-PUBLISH-721"
        )


def _table_line(source: str) -> str:
    r"""The table itself, if it is a file in the folder, as git wants it written.

    >>> print(_table_line("visits[1] #.csv"), _table_line("../x.csv"), end="")
    <BLANKLINE>
    # The records.
    /visits\[1\]\ \#.csv
    """
    if "://" in source or Path(source).is_absolute() or source.startswith(".."):
        return ""
    escaped = "".join(letter if _PLAIN.match(letter) else f"\\{letter}" for letter in source)
    return f"\n# The records.\n/{escaped}\n"


def _result(proposal: "Proposal", study: Path, ignored: Path | None, steps: list[str]) -> dict[str, Any]:
    return {
        "study": str(study),
        "ignored": None if ignored is None else str(ignored),
        "columns": len(proposal.columns),
        "undecided": list(proposal.undecided),
        "next": steps,
    }

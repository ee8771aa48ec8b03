"""The frame of every release: claim the folder, enter it into the ledger, make and publish it, complete the entry.

What can fail without looking at a record fails before the folder is claimed. Nothing is published that the ledger does
not know, and if a release fails that has an entry, the entry says so.
"""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from sfumato.errors import StudyError
from sfumato.ledger import RECORD, Entry, Ledger, NewEntry, check_budget
from sfumato.release.bundle.atomic_files import claim_folder
from sfumato.release.bundle.owner_folder import write_owner
from sfumato.release.bundle.write import WrittenBundle, published_bundle
from sfumato.release.draft import Draft
from sfumato.study.left_out import LeftOut
from sfumato.study.recipe import Recipe
from sfumato.study.selection import EVERYTHING, Selection
from sfumato.study.span import Span
from sfumato.study.study import Study
from sfumato.study.unit import Unit
from sfumato.workflow.steps.left_out_guard import left_out_warnings
from sfumato.workflow.steps.lost_entries import refuse_lost_entries
from sfumato.workflow.steps.outcome import Published, Run, current_user, published_words


def refuse_over_budget(
    study: Study, ledger: Ledger, *, epsilon: Fraction, unit: Unit, span: Span | None, at: dt.datetime, method: str = ""
) -> None:
    """Fail before anything is read if the budget does not allow it; the ledger checks again when it is entered."""
    if study.budget is None:
        raise StudyError(
            f"the study '{study.name}' declares no privacy budget",
            "add `budget` under `privacy`: the total ε of all releases",
            code="SF-STUDY-214",
        )
    draft = NewEntry(
        study=study.name, at=at, who="", purpose="", method=method, recipe="{}", guarantee="", epsilon=epsilon,
        unit=unit.key, span=span,
    )  # fmt: skip
    refuse_lost_entries(study, ledger)
    check_budget(draft, ledger.entries(study.name), budget=study.budget)


@contextmanager
def claim_until_published(folder: Path) -> Iterator[None]:
    """Make the folder; if the block fails, it goes again."""
    claim_folder(folder)
    with remove_on_failure(folder):
        yield


@contextmanager
def remove_on_failure(folder: Path) -> Iterator[None]:
    """If the block fails, nothing is published: the claimed folder goes, unless somebody put something there."""
    try:
        yield
    except BaseException:
        with suppress(OSError):
            folder.rmdir()
        raise


@dataclass(frozen=True, kw_only=True)
class Reservation:
    """A release that is recorded in the ledger and not published yet."""

    run: Run
    entry: Entry

    @classmethod
    def reserve(
        cls,
        study: Study,
        recipe: Recipe,
        run: Run,
        *,
        guarantee: str,
        epsilon: Fraction | None = None,
        unit: str = RECORD,
        selection: Selection = EVERYTHING,
    ) -> "Reservation":
        """Commit the entry; refused if ``epsilon`` is more than is left of the study's budget over the span.

        Refused also if the ledger is not the one that releases of the study which are here were paid from.
        """
        refuse_lost_entries(study, run.ledger, out=None if run.folder == Path() else run.folder)
        draft = NewEntry(
            study=study.name,
            at=run.clock(),
            who=current_user(),
            purpose=recipe.purpose or "whole study",
            method=recipe.method,
            recipe=recipe.as_json(),
            guarantee=guarantee,
            epsilon=epsilon,
            unit=unit,
            span=selection.span,
            where=selection.where,
        )
        return cls(run=run, entry=run.ledger.reserve(draft, budget=study.budget))

    @contextmanager
    def fail_on_error(self) -> Iterator[None]:
        """If the block fails, the entry says so, unless the bundle is out: nothing can take that back.

        A bundle gets its name in one step, and the next moment may bring an interruption. So what is on the disk
        decides, and not how far the code came: a release that anybody can verify is never entered as failed.
        """
        try:
            yield
        except BaseException as failure:
            written = published_bundle(self.run.folder, self.entry.hash)
            if written is None:
                self.run.ledger.fail(self.entry.id, type(failure).__name__, at=self.run.clock())
            else:
                self._complete(written)
                failure.add_note(published_words(self.run.folder, written.path, self.entry.epsilon))
            raise

    @contextmanager
    def complete_entry(self, written: WrittenBundle) -> Iterator[None]:
        """The bundle is out, and nothing that fails can take it back: complete the entry, then do the rest.

        Interrupted from here on, the entry is completed if that was not done yet, and the interruption says that the
        release is published.
        """
        try:
            self._complete(written)
            yield
        except KeyboardInterrupt as stop:
            if any(one.id == self.entry.id and one.state == "opened" for one in self._entries()):
                self._complete(written)
            stop.add_note(published_words(self.run.folder, written.path, self.entry.epsilon))
            raise

    def _complete(self, written: WrittenBundle) -> None:
        self.run.ledger.complete(self.entry.id, written.sha256, at=self.run.clock())

    def _entries(self) -> tuple[Entry, ...]:
        return self.run.ledger.entries(self.entry.study)

    def finish_publication(
        self,
        draft: Draft,
        written: WrittenBundle,
        *,
        notes: Mapping[str, Any],
        data: str | None = None,
        left: Fraction | None = None,
        warnings: Sequence[str] = (),
        left_out: LeftOut | None = None,
    ) -> Published:
        """Write the owner's notes, and return the result of the publication."""
        write_owner(self.run.folder, notes, [f"ledger entry {self.entry.id}"])
        return Published(
            folder=self.run.folder,
            bundle=written.path,
            sha256=written.sha256,
            epsilon=self.entry.epsilon,
            left=left,
            draft=draft,
            data=data,
            warnings=(*left_out_warnings(left_out), *warnings),
            left_out=left_out,
        )

"""The one place where a workflow opens the table of a study."""

from collections.abc import Iterator
from contextlib import contextmanager

from sfumato.study.study import Study
from sfumato.tables import SourceTable, open_source
from sfumato.workflow.steps.public_reading import refuse_guesses


@contextmanager
def open_study_table(
    study: Study, *, private: bool = False, guesses: bool = False, memory_limit: str | None = None
) -> Iterator[SourceTable]:
    """The table of a study, closed afterwards.

    What is ``private`` reads CSV files by rules under which every file is a table, and refuses one whose records would
    have to tell how it is written, unless ``guesses`` are allowed: to whoever looks for the owner alone.
    """
    with open_source(study.source, base=study.base, memory_limit=memory_limit, private=private) as table:
        if private and not guesses:
            refuse_guesses(table)
        yield table

"""The Python side: a study with its ledger, and what can be done with it.

    import sfumato as sf
    study = sf.Study.load("study.yaml")
    published = study.release(sf.DiffGen(epsilon="0.5", h=10))
    X, y, w = published.open().to_training()
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sfumato import pipeline
from sfumato.core.progress import Progress, silent
from sfumato.core.study import Study as Declared
from sfumato.describe import Proposal, propose
from sfumato.engines import open_source, profile_table
from sfumato.errors import PublishError
from sfumato.methods import Method, recipe_of
from sfumato.pipeline import Plan, Published
from sfumato.read import load_study, study_from_mapping
from sfumato.recipe import Chosen, Recipe, recipe_from_study
from sfumato.stores import Ledger


class Study:
    """What the owner declares about one table, with the ledger that keeps the account of it."""

    def __init__(self, declared: Declared, *, ledger: Ledger | None = None) -> None:
        self.declared = declared
        self.ledger = ledger or pipeline.ledger_of(declared)

    @classmethod
    def load(cls, path: str | Path) -> "Study":
        """Open a study file."""
        return cls(load_study(path))

    @classmethod
    def from_mapping(cls, fields: Mapping[str, object], *, ledger: Ledger | None = None) -> "Study":
        """Make a study from the fields of a study file; ``source`` may be a table in memory.

        Without a ledger of its own, what is spent is remembered as long as this object lives.
        """
        return cls(study_from_mapping(fields), ledger=ledger)

    @property
    def name(self) -> str:
        """The study's name."""
        return self.declared.name

    def plan(self, what: Method | str | None = None) -> Plan:
        """Say what a release would do, cost and leave; touches nothing."""
        return pipeline.plan(self.declared, self._recipe(what), ledger=self.ledger)

    def release(
        self,
        what: Method | str | None = None,
        *,
        out: str | Path | None = None,
        purpose: str | None = None,
        chosen: Chosen = Chosen.IN_ADVANCE,
        progress: Progress = silent,
    ) -> Published:
        """Make and publish a release: a method with its parameters, or the name of one that the study declares.

        ``out`` is a folder that does not exist yet; without it, the next free one below `releases/`.
        """
        recipe = self._recipe(what, purpose=purpose, chosen=chosen)
        folder = Path(out) if out is not None else next_folder(self.declared, recipe)
        return pipeline.release(self.declared, recipe, folder=folder, ledger=self.ledger, progress=progress)

    def _recipe(
        self, what: Method | str | None, *, purpose: str | None = None, chosen: Chosen = Chosen.IN_ADVANCE
    ) -> Recipe:
        if what is None or isinstance(what, str):
            return recipe_from_study(self.declared, what)
        return recipe_of(what, name=what.name, purpose=purpose, chosen=chosen)


def next_folder(study: Declared, recipe: Recipe) -> Path:
    """The first free folder for a release: ``releases/NAME-1``, ``-2`` … beside the study."""
    for number in range(1, 100_000):
        folder = study.base / "releases" / f"{recipe.name}-{number}"
        if not folder.exists():
            return folder
    raise PublishError("there are 100,000 releases in one folder", "name another folder with --out")


def describe(source: Any, *, name: str | None = None, target: str | None = None) -> Proposal:
    """Look at a table and propose a study: types, roles with a reason each, unique columns, observed domains.

    The proposal is made from raw data, for the owner's eyes.
    """
    with open_source(source) as table:
        profile = profile_table(table)
    shown = str(source) if isinstance(source, (str, Path)) else "table"
    return propose(profile, name=name or Path(shown).name.split(".")[0], source=shown, target=target)

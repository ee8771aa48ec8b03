"""The Python side: a study with its ledger, and what can be done with it.

    import sfumato as sf
    study = sf.Study.load("study.yaml")
    published = study.release(sf.DiffGen(epsilon="0.5", h=10))
    X, y, w = published.open().to_training()

The command line is a thin edge over the same calls.
"""

from sfumato.api.proposed_study import Proposal, describe
from sfumato.api.release_table import release, study_of
from sfumato.api.study import Study, frontier, next_folder
from sfumato.frontier import Frontier, sweep
from sfumato.workflow import TableCheck, verify_table

__all__ = [
    "Frontier",
    "Proposal",
    "Study",
    "TableCheck",
    "describe",
    "frontier",
    "next_folder",
    "release",
    "study_of",
    "sweep",
    "verify_table",
]

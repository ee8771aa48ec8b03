"""The stages in order: from a study and a recipe to a bundle, or to the words of a plan.

`counts` makes differentially private releases, `partitions` those of records in groups; both go from the study to the
bundle in the order of trust, and `release` and `plan` choose between them by the method. `asking` answers questions,
from the same budget.
"""

from sfumato.pipeline.asking import Answer, Question, ask
from sfumato.pipeline.attacking import attack_intersect, attack_link
from sfumato.pipeline.frontier import REPEATS, run_frontier
from sfumato.pipeline.learning import is_learner, learn, plan_learning
from sfumato.pipeline.learning_audit import audit_tree
from sfumato.pipeline.lost_entries import adopt_releases, lost_entries
from sfumato.pipeline.made import Plan, Published, ledger_of, published_words
from sfumato.pipeline.max_k import max_k
from sfumato.pipeline.measuring import evidence_of_bundle, evidence_of_draft, measure, measure_release
from sfumato.pipeline.owner import audit_recipe, unfit, worth, worths
from sfumato.pipeline.owner_report import make_report, report_after
from sfumato.pipeline.running import Ran, run_study
from sfumato.pipeline.stages import plan, release
from sfumato.pipeline.tables import TableCheck, verify_table

__all__ = [
    "REPEATS",
    "Answer",
    "Plan",
    "Published",
    "Question",
    "Ran",
    "TableCheck",
    "adopt_releases",
    "ask",
    "attack_intersect",
    "attack_link",
    "audit_recipe",
    "audit_tree",
    "evidence_of_bundle",
    "evidence_of_draft",
    "is_learner",
    "learn",
    "ledger_of",
    "lost_entries",
    "make_report",
    "max_k",
    "measure",
    "measure_release",
    "plan",
    "plan_learning",
    "published_words",
    "release",
    "report_after",
    "run_frontier",
    "run_study",
    "unfit",
    "verify_table",
    "worth",
    "worths",
]

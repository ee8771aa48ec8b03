"""The stages in order: from a study and a recipe to a bundle, or to the words of a plan.

`counts` makes differentially private releases, `partitions` those of records in groups; both go from the study to the
bundle in the order of trust, and `release` and `plan` choose between them by the method. `asking` answers questions,
from the same budget.
"""

from sfumato.workflow.ask_table import Answer, Question, ask
from sfumato.workflow.attack import attack_intersect, attack_link
from sfumato.workflow.check_table import TableCheck, verify_table
from sfumato.workflow.evaluate import evidence_of_bundle, evidence_of_draft, measure, measure_release
from sfumato.workflow.learn_model import is_learner, learn, plan_learning
from sfumato.workflow.learning_audit import audit_tree
from sfumato.workflow.make_release import plan, release
from sfumato.workflow.making.lost_entries import adopt_releases, lost_entries
from sfumato.workflow.making.outcome import Plan, Published, ledger_of, published_words
from sfumato.workflow.max_k import max_k
from sfumato.workflow.owner import audit_recipe, domain_violations, worth, worths
from sfumato.workflow.report import make_report, report_after
from sfumato.workflow.run import Ran, run_study
from sfumato.workflow.sweep import REPEATS, run_frontier

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
    "domain_violations",
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
    "verify_table",
    "worth",
    "worths",
]

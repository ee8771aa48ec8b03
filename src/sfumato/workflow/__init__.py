"""The stages in order: from a study and a recipe to a bundle, or to the words of a plan.

One module for each verb; what several verbs share stands in `steps`. `make_release` goes from the study to the bundle
in the order of trust, whatever the method is.
"""

from sfumato.workflow.accuracy import accuracies, accuracy
from sfumato.workflow.ask_table import Answer, Question, ask
from sfumato.workflow.attack import attack_attributes, attack_intersect, attack_link, attack_table
from sfumato.workflow.audit_release import audit_recipe
from sfumato.workflow.check_study import domain_violations
from sfumato.workflow.check_table import TableCheck, verify_table
from sfumato.workflow.choose_epsilon import EPSILONS, EpsilonChoice, EpsilonPoint, choose_epsilon, refuse_own_table
from sfumato.workflow.compare_columns import ColumnComparison, compare_columns
from sfumato.workflow.evaluate import (
    evidence_of_bundle,
    evidence_of_draft,
    evidence_of_table,
    measure,
    measure_release,
    measure_table,
)
from sfumato.workflow.learn_model import is_learner, learn, plan_learning
from sfumato.workflow.learning_audit import audit_tree
from sfumato.workflow.make_release import release
from sfumato.workflow.max_k import max_k
from sfumato.workflow.plan_release import plan
from sfumato.workflow.report import make_report, report_after
from sfumato.workflow.run import RunResult, run_study
from sfumato.workflow.steps.lost_entries import adopt_releases, lost_entries
from sfumato.workflow.steps.outcome import Plan, Published, ledger_of, published_words
from sfumato.workflow.sweep import REPEATS, run_frontier

__all__ = [
    "EPSILONS",
    "REPEATS",
    "Answer",
    "ColumnComparison",
    "EpsilonChoice",
    "EpsilonPoint",
    "Plan",
    "Published",
    "Question",
    "RunResult",
    "TableCheck",
    "accuracies",
    "accuracy",
    "adopt_releases",
    "ask",
    "attack_attributes",
    "attack_intersect",
    "attack_link",
    "attack_table",
    "audit_recipe",
    "audit_tree",
    "choose_epsilon",
    "compare_columns",
    "domain_violations",
    "evidence_of_bundle",
    "evidence_of_draft",
    "evidence_of_table",
    "is_learner",
    "learn",
    "ledger_of",
    "lost_entries",
    "make_report",
    "max_k",
    "measure",
    "measure_release",
    "measure_table",
    "plan",
    "plan_learning",
    "published_words",
    "refuse_own_table",
    "release",
    "report_after",
    "run_frontier",
    "run_study",
    "verify_table",
]

"""Privacy models, each with its guarantee as a sentence and, where possible, as a check on what is published."""

from sfumato.privacy.models.alpha_k_anonymity import AlphaKAnonymity
from sfumato.privacy.models.beta_likeness import BasicBetaLikeness, EnhancedBetaLikeness
from sfumato.privacy.models.capped_confidence import CappedConfidence
from sfumato.privacy.models.delta_disclosure import DeltaDisclosure
from sfumato.privacy.models.delta_presence import DeltaPresence
from sfumato.privacy.models.differential_privacy import DifferentialPrivacy, attack_odds
from sfumato.privacy.models.k_anonymity import KAnonymity
from sfumato.privacy.models.l_diversity import (
    DistinctLDiversity,
    EntropyLDiversity,
    ProbabilisticLDiversity,
    RecursiveLDiversity,
)
from sfumato.privacy.models.model import MODELS, GroupModel, Model
from sfumato.privacy.models.read_models import (
    all_hold,
    all_monotone,
    any_regional,
    any_relative,
    broken_records,
    counts_people,
    parse_models,
    population_names,
    refuse_infeasible,
    title,
    written_models,
)
from sfumato.privacy.models.t_closeness import TCloseness
from sfumato.privacy.models.template import Template

__all__ = [
    "MODELS",
    "AlphaKAnonymity",
    "BasicBetaLikeness",
    "CappedConfidence",
    "DeltaDisclosure",
    "DeltaPresence",
    "DifferentialPrivacy",
    "DistinctLDiversity",
    "EnhancedBetaLikeness",
    "EntropyLDiversity",
    "GroupModel",
    "KAnonymity",
    "Model",
    "ProbabilisticLDiversity",
    "RecursiveLDiversity",
    "TCloseness",
    "Template",
    "all_hold",
    "all_monotone",
    "any_regional",
    "any_relative",
    "attack_odds",
    "broken_records",
    "counts_people",
    "parse_models",
    "population_names",
    "refuse_infeasible",
    "title",
    "written_models",
]

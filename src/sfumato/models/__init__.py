"""Models: privacy promises, each in words and, where it can be, as a check on what is published."""

from sfumato.models.differential_privacy import DifferentialPrivacy, attack_odds
from sfumato.models.model import MODELS, Model

__all__ = ["MODELS", "DifferentialPrivacy", "Model", "attack_odds"]

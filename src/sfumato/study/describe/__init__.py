"""Describe a table: propose a study from the profile of its columns, with a reason for each role."""

from sfumato.study.describe.propose import Proposal, Proposed, propose

__all__ = ["Proposal", "Proposed", "propose"]

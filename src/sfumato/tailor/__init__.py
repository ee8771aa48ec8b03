"""Tailor: cut a study down to what one recipient gets."""

from sfumato.tailor.partition import tailor_partition
from sfumato.tailor.view import tailor

__all__ = ["tailor", "tailor_partition"]

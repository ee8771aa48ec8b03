"""What the documentation of a release says of every release of a kind, and what it asks of whoever publishes it."""

from collections.abc import Mapping
from typing import Final

QUESTIONS: Final[Mapping[str, str]] = {
    "controller": "who is responsible for the table (the controller), with an address",
    "contact": "who answers questions about this release",
    "people": "which people the table is about, and where its records come from",
    "recipient": "who receives the release, or that it is public",
    "purpose": "what the recipient may use it for",
    "legal_basis": "on which basis the table is processed and the release is passed on",
    "domains": "from which public sources the bounds, values and taxonomies were taken",
    "parameters": "why the parameters of the guarantee were chosen as they were, and by whom",
    "other_releases": "which other releases there are about the same people, and what they add up to",
    "approved": "who approved the release, and when",
}
"""What a manifest cannot know: the names by which it is filled in, each with what is asked."""

SEEDED: Final = "**This release was made with a seed, for tests. It has no guarantee and must not be passed on.**"
MANY: Final = (
    "**What holds for many can be learnt.** The guarantee bounds what the data of one unit adds. Facts about a "
    "population can be learnt, and applied to a person who belongs to it."
)
OTHERS: Final = (
    "**Other releases add up.** The ε of every other release about the same people adds to this one. The ledger of the "
    "study has those of this study alone."
)
SEVERAL: Final = "**The unit is one record.** For a person with n records the bound is that of n times this ε."
ON_RAW: Final = "**The parameters were chosen by looking at the table**, and the guarantee does not cover that choice."

ASKED: Final = (
    "Can a person be singled out?",
    "Can records of a person be linked?",
    "Can values of a person be inferred?",
)
WHENCE: Final = (
    "The questions are those of Opinion 05/2014 of the Article 29 Working Party. Whether the release is anonymous in "
    "the sense of the law is for the controller to judge, considering all means that are reasonably likely to be used. "
    "This document does not decide it."
)
BOUNDED: Final = (
    "Whatever is done with the release, the data of one unit changes the probability of success by a factor of at most "
    "e^ε. Success is not ruled out."
)
IN_CLASSES: Final = (
    (
        "Records of one equivalence class share all quasi-identifier values; only a model such as k-anonymity says how "
        "many there are at least. Other columns and background knowledge may single out one of them."
    ),
    (
        "Whoever knows the quasi-identifiers of a person finds an equivalence class. No model here bounds what two "
        "releases of the same people give together."
    ),
)
EXACT: Final = (
    "Yes, by rare quasi-identifiers: they are published as they are. The models concern the sensitive values alone.",
    "Yes, by the quasi-identifiers, which are published as they are.",
)
UNIQUE: Final = (
    "**Over all published columns together, {unique} are unique**, because these are published exactly: {names}. "
    "Whoever knows these values of a person can single out the row."
)
UNIQUE_ELSEWHERE: Final = "The bundle's `README.md` says how many published records are unique over all its columns."
INFERENCE: Final = (
    "Only models about sensitive values (such as l-diversity or t-closeness) bound it, as far as their sentences say. "
    "Where none is listed, nothing does."
)

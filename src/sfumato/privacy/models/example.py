"""The running example of the models: eight patients in two groups, with what they suffer from."""

from typing import Final

import numpy as np

from sfumato.domains.boxes import Boxes
from sfumato.domains.domain import Categories
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.privacy.groups.statistics import Statistics

DISEASE: Final = Categories(
    taxonomy=Taxonomy.of(Node("Any", (Node("Respiratory", (Node("flu"), Node("bronchitis"))), Node("cancer"))))
)

SEX: Final = Categories(taxonomy=Taxonomy.of(Node("Any", (Node("Female"), Node("Male")))))

PATIENTS: Final = Statistics.of(
    np.array([0, 0, 0, 0, 1, 1, 1, 1]),
    np.ones(8, dtype=np.int64),
    {"disease": DISEASE.encode(["flu", "flu", "bronchitis", "cancer", "flu", "flu", "flu", "cancer"])},
    {"disease": DISEASE, "sex": SEX},
    groups=2,
    population=np.array([8, 40]),
    boxes=Boxes(("sex",), np.array([[0], [1]]), np.array([[1], [2]])),
)
"""Four women: flu twice, bronchitis and cancer; four men: flu three times and cancer."""

"""Bucketization: exact quasi-identifiers, with the sensitive values of each bucket in random order."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from sfumato.domains.counts import Cells
from sfumato.errors import StudyError
from sfumato.methods.grouping.partitioning import GivenModels, ModelMethod
from sfumato.methods.method import METHODS, Context, Forecast
from sfumato.methods.mondrian.algorithm import Mondrian
from sfumato.privacy.groups.parameters import Exact
from sfumato.privacy.models import GroupModel
from sfumato.release.draft import Draft
from sfumato.study.view import View

FORMS = {"1": "bucketized", "2": "anatomy"}  # by the number of tables
LINKED = "membership in the table is disclosed: the privacy model limits only what is learnt about sensitive values"


@METHODS.add
@dataclass(frozen=True, kw_only=True)
class Bucketization(ModelMethod):
    """Mondrian's groups as buckets (Xiao & Tao 2006; Li & Li 2009 compare it with generalisation).

    A record keeps its exact quasi-identifiers and gets the number of its bucket. With one table the sensitive values
    of a bucket stand beside its records in random order, with two tables they stand in a table of their own, counted.
    Either way a sensitive value belongs to any record of its bucket with the same probability.

    Exact quasi-identifiers make nobody look like anybody else, so k-anonymity is not guaranteed: ``k`` is how many
    records a bucket has at least, and a model about sensitive values is needed.

    >>> [model.name for model in Bucketization(k=10, privacy={"distinct-l-diversity": 4}).models]
    ['distinct-l-diversity']
    """

    name: ClassVar[str] = "bucketization"
    summary: ClassVar[str] = "exact quasi-identifiers, with the sensitive values of each bucket in random order"
    k: int | None = None
    privacy: GivenModels = None
    strict: bool = True
    choose: str = "widest"
    ordered: str | tuple[str, ...] = ()
    suppress: Exact = "0"
    tables: int = 1

    def __post_init__(self) -> None:
        cutting = self.cutting
        for name in ("privacy", "strict", "ordered", "suppress"):
            object.__setattr__(self, name, getattr(cutting, name))
        number: Any = self.tables
        if str(number) not in FORMS:
            raise StudyError(f"tables is '{str(number)[:40]}'", "publish 1 table or 2", code="SF-STUDY-032")
        object.__setattr__(self, "tables", int(number))

    @property
    def cutting(self) -> Mondrian:
        """The method that finds the buckets."""
        return Mondrian(
            k=self.k,
            privacy=self.privacy,
            strict=self.strict,
            choose=self.choose,
            ordered=self.ordered,
            suppress=self.suppress,
        )

    @property
    def form(self) -> str:  # type: ignore[override] # by a parameter here
        """One table, or two."""
        return FORMS[str(self.tables)]

    @property
    def collects(self) -> str:
        """What all combinations of values are collected for."""
        return "records are published with their exact quasi-identifiers, in buckets that are found here"

    @property
    def models(self) -> tuple[GroupModel, ...]:
        """The models about sensitive values."""
        return tuple(model for model in self.cutting.models if model.needs() != ())

    def check(self, view: View) -> None:
        """Refuse what Mondrian refuses, and models that say nothing about sensitive values."""
        self.cutting.check(view)
        if not self.models:
            raise StudyError(
                "bucketization publishes exact quasi-identifiers, so no privacy model of group sizes alone holds",
                "add a privacy model of sensitive values, such as `privacy: {probabilistic-l-diversity: 3}`",
                code="SF-STUDY-034",
            )

    def forecast(self, view: View) -> Forecast:
        """How buckets are found, and what holds of each."""
        self.check(view)
        least = (f"a bucket has at least {self.k} records",) if self.k is not None else ()
        found = replace(self.cutting, k=None, privacy=self.models).forecast(view)
        sentences = tuple(sentence for sentence in found.sentences if not sentence.startswith("a region "))
        return Forecast(sentences=(*sentences, *least, LINKED), numbers={})

    def draft(self, view: View, counts: Cells, context: Context | None = None) -> Draft:
        """Find the buckets; the random order comes with publishing."""
        self.check(view)
        found = self.cutting.draft(view, counts, context)
        facts = {name: fact for name, fact in found.facts.items() if name != "ranges"}
        return replace(found, guarantee=self.guarantee(view), form=self.form, facts=facts)

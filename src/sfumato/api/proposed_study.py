"""A proposal as Python gets it: it becomes a study over a table without a file in between."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from sfumato.api.declared_columns import domain_fields
from sfumato.api.study import Study
from sfumato.api.study import describe as describe_table
from sfumato.domains.taxonomy.check import did_you_mean
from sfumato.errors import UsageError
from sfumato.ledger import Ledger
from sfumato.study.attribute import Role
from sfumato.study.budget import parse_epsilon, show
from sfumato.study.describe import Proposal as Described
from sfumato.study.file import study_from_mapping
from sfumato.study.file.yaml_lines import parse

Attributes = dict[str, dict[str, Any]]


@dataclass(frozen=True, kw_only=True, repr=False)
class Proposal(Described):
    """A proposed study; for the owner alone, since bounds and values were read off the records."""

    @classmethod
    def of(cls, found: Described) -> "Proposal":
        """The same proposal, with what Python can do with it."""
        return cls(**{one.name: getattr(found, one.name) for one in fields(found)})

    def to_study(
        self,
        table: Any,
        *,
        roles: Mapping[str, str] | None = None,
        domains: Mapping[str, Any] | None = None,
        budget: Any = None,
        ledger: Ledger | None = None,
    ) -> Study:
        """Make the proposed study over a table: a path, a URL, or a table in memory.

        ``roles`` are your decisions, also for the columns that are `undecided`; ``domains`` what is publicly known, in
        the forms that `sfumato.release` takes. Everything else stays as proposed: columns without a decision stay
        undecided, and a release names them; domains that were read off the records are marked `observed`, so a
        differentially private release of them is refused, with what to declare.
        """
        tree, _ = parse(self.to_yaml(), "the proposal")
        assert isinstance(tree, dict), "a proposal is a study"
        attributes: Attributes = {name: dict(given) for name, given in (tree["attributes"] or {}).items()}
        self._decide(attributes, roles or {}, domains or {})
        source = tree["source"]
        study = {
            **tree,
            "source": {**source, "path": table} if isinstance(source, dict) else table,
            "attributes": attributes,
        }
        if budget is not None:
            study["privacy"] = {**(tree.get("privacy") or {}), "budget": show(parse_epsilon(budget))}
        return Study(study_from_mapping(study), ledger=ledger)

    def _decide(self, attributes: Attributes, roles: Mapping[str, str], domains: Mapping[str, Any]) -> None:
        """Write the owner's decisions over what was proposed."""
        columns = [p.column.name for p in self.columns]
        for name in (*roles, *domains):
            if name not in columns:
                raise UsageError(
                    f"the proposal has no column '{name}'", did_you_mean(name, columns), code="SF-USAGE-741"
                )
        for name, domain in domains.items():
            attributes[name] = {"role": attributes[name]["role"], **domain_fields(name, domain)}
        for name, role in roles.items():
            alone = role == Role.IDENTIFIER
            attributes[name] = {"role": role} if alone else {**attributes[name], "role": role}


def describe(source: Any, *, name: str | None = None, target: str | None = None) -> Proposal:
    """Inspect a table and propose a study: types, roles with a reason each, unique columns, observed domains.

    The proposal is made from raw data: it is for the owner only.
    """
    return Proposal.of(describe_table(source, name=name, target=target))

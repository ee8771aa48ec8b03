"""The privacy unit: whose presence in the table a differentially private release hides."""

from dataclasses import dataclass
from typing import Protocol

from sfumato.errors import StudyError


class Unit(Protocol):
    """One record, or one person with all of theirs."""

    @property
    def key(self) -> str:
        """The unit in a word, for the ledger."""
        ...

    @property
    def stability(self) -> int:
        """How many records one unit may add to the table or take from it."""
        ...

    @property
    def words(self) -> str:
        """The unit in words that fit "whether or not … is in the table"."""
        ...

    def sentence(self) -> str:
        """The neighbouring relation in words."""
        ...


@dataclass(frozen=True, slots=True)
class RecordUnit:
    """Neighbouring tables differ by one record."""

    @property
    def key(self) -> str:
        """The unit in a word, for the ledger."""
        return "record"

    @property
    def stability(self) -> int:
        """One record."""
        return 1

    @property
    def words(self) -> str:
        """The unit in words that fit "whether or not … is in the table"."""
        return "one record"

    def sentence(self) -> str:
        """The neighbouring relation in words."""
        return "two tables are neighbours when one has one record more than the other (add or remove one record)"


@dataclass(frozen=True, slots=True)
class PersonUnit:
    """Neighbouring tables differ by one person with all their records, of which at most ``at_most`` are used.

    Which of a person's records are used depends on that person's records alone, so the used tables of two neighbours
    differ by at most ``at_most`` records. A method that is (ε/at_most)-differentially private for records is then
    ε-differentially private for persons (group privacy, Dwork & Roth 2014, Thm 2.2). Records without a person are
    left out: taken as one person's, a newcomer among them could push out others' records and cost twice ε.
    """

    column: str
    at_most: int

    def __post_init__(self) -> None:
        if self.at_most < 1:
            raise StudyError(
                f"a person may contribute {self.at_most} records", "set `at_most` to 1 or more", code="SF-STUDY-202"
            )

    @property
    def key(self) -> str:
        """The unit in a word, for the ledger."""
        return f"person by {self.column}, at most {self.at_most}"

    @property
    def stability(self) -> int:
        """The most records of one person that are used."""
        return self.at_most

    @property
    def words(self) -> str:
        """The unit in words that fit "whether or not … is in the table"."""
        return f"one person with at most {self.at_most} record{'s' * (self.at_most > 1)}"

    def sentence(self) -> str:
        """The neighbouring relation in words."""
        records = "record" if self.at_most == 1 else "records"
        return (
            f"two tables are neighbours when one has all the records of one person more than the other, of which "
            f"at most {self.at_most} {records} a person (by '{self.column}') are used"
        )

"""The owner's guard against a release of next to nothing: how many records have missing or invalid values.

A number written `1,053.30` where a plain one is declared is an invalid value, and a private method cannot stop at it:
it leaves the record out. If nearly all records go that way, the budget is spent on an empty release. So the table is
looked at before anything is spent, and a release, question or model is refused if more of the records are left out than
the study's ``most_invalid`` allows, unless the owner wants it anyway. The same holds for one attribute, most of whose
values the policy `keep` replaces: by the nearer bound (`12 %` where the bounds are 0 and 1), by the value for all
others, or, though something is written there, by the missing one. Such a release is not empty, but misread.

Privacy. The argument is the same for records left out and for values replaced, so "the share" is any of these shares.
The look counts raw records and is not differentially private. What it finds is shown to the owner alone (a
plan, an error, a warning): nothing of it enters a bundle, an answer, a model or the ledger,
and a refusal leaves no entry behind, no folder and no file. The records that take part, the noise and the ε of a
release that is made do not depend on it. But *whether* it is made does: for two neighbouring tables on either side of
the limit one is released and the other is refused. Strictly, then, the guarantee is for what a release says, given that
there is one; that there is one tells that the share was at most the public limit, to whoever knows that it was tried,
when, and without ``anyway``. Like the refusal of a file that cannot be read, this is taken as public: the owner could
have looked by `check`, and would have repaired the study. An owner for whom nothing may be decided on raw records
declares ``most_invalid: unchecked``: the table is then not looked at, and the old order of a release holds. With
``anyway`` the owner gets a warning and nothing is decided.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction

from sfumato.errors import SourceError
from sfumato.study.attribute import Attribute
from sfumato.study.budget import show
from sfumato.study.left_out import TOLD, LeftOut
from sfumato.study.selection import Selection
from sfumato.study.study import Study
from sfumato.study.unit import Unit
from sfumato.tables import CodedTable, Records, SourceTable, count_left_out, reads_once
from sfumato.workflow.steps.outcome import Plan
from sfumato.workflow.steps.study_table import find_guess, open_study_table

FOR_THE_OWNER = "for your eyes only"
_FIX = (
    "inspect the values with `sfumato check`; declare how they are written (`format`), and the `bounds` or `values` "
    "that they have. Declare `missing: keep` only for values that really are missing. To go on nevertheless: "
    "`--anyway` (Python: `anyway=True`), or another `most_invalid` in the study"
)


def guard(
    study: Study, counter: CodedTable, *, anyway: bool = False, look: Callable[[], LeftOut] | None = None
) -> LeftOut | None:
    """Refuse to spend anything on a table most of which is left out or misread; for the privacy of it see above.

    Call it before the ledger is asked. ``look`` counts the selected records where the counter does not keep them. Gives
    back what was found, for the owner; None if the study says not to look.
    """
    if study.most_invalid is None:
        return None
    found = _worse((look or counter.left_out)(), _passed_over(counter.source, counter.records.selection))
    if not anyway:
        refuse_above(study, found)
    return found


def refuse_above(study: Study, found: LeftOut) -> None:
    """Refuse if more records are left out, or more values of an attribute replaced, than the study allows."""
    if study.most_invalid is not None and (said := _excess_words(study.most_invalid, found)):
        what = "left out" if found.share > study.most_invalid else "replaced"
        raise SourceError(
            f"{FOR_THE_OWNER}: {'; '.join(said)}. At most {show(study.most_invalid)} may be {what}, so nothing was "
            "released and nothing was spent",
            _FIX,
            code="SF-SOURCE-046",
        )


def left_out_warnings(found: LeftOut | None) -> list[str]:
    """Warnings to the owner of a release that is made; none if every record is used as it is."""
    if found is None:
        return []
    said = [found.sentence()] if found.left_out else []
    return [
        f"{FOR_THE_OWNER}: {sentence}"
        for sentence in (*said, *found.replaced_sentences(lambda values: values.share > TOLD))
    ]


def with_left_out(
    plan: Plan,
    study: Study,
    attributes: Iterable[Attribute],
    *,
    unit: Unit,
    selection: Selection,
    command: str,
    memory_limit: str | None = None,
) -> Plan:
    """A plan that also says, to the owner, what is left out or replaced, and first of all if that would be refused.

    It also says if the table would be refused because its format would have to be guessed from its records.

    The table is looked at, nothing is spent. A plan does not fail because of the table: it says why it could not be
    looked at. A stream is not looked at, since it can be read only once.
    """
    if study.most_invalid is None:
        return _add_sentences(
            plan, "the study declares `most_invalid: unchecked`, so the table was not compared with it"
        )
    if reads_once(study.source):
        return _add_sentences(plan, "the table can be read only once, so it was not compared with the study")
    try:
        private = plan.epsilon is not None
        with open_study_table(study, private=private, guesses=True, memory_limit=memory_limit) as table:
            guess = find_guess(table) if private else None
            if guess is not None:
                said = f"IT WILL BE REFUSED by `{command}`: {guess.problem}. To fix: {guess.fix}"
                plan = replace(plan, sentences=(said, *plan.sentences))
            records = Records(table, tuple(attributes), unit=unit, selection=selection)
            found = _worse(count_left_out(records), _passed_over(table, selection))
    except SourceError as error:
        return _add_sentences(plan, f"the table could not be compared with the study: {error.problem}")
    if wrong := _excess_words(study.most_invalid, found):
        most = f"the limit is {show(study.most_invalid)}, so `{command}` will refuse without `--anyway`"
        what = "RECORDS ARE LEFT OUT" if found.share > study.most_invalid else "VALUES ARE REPLACED"
        said = f"TOO MANY {what} ({FOR_THE_OWNER}): {'; '.join(wrong)}; {most}"
        others = [one for one in left_out_warnings(found) if one.removeprefix(f"{FOR_THE_OWNER}: ") not in wrong]
        return replace(plan, left_out=found, sentences=(said, *plan.sentences, *others))
    warnings = left_out_warnings(found)
    if not found.left_out:
        warnings = [f"{FOR_THE_OWNER}: no record is left out for a missing or invalid value", *warnings]
    return replace(_add_sentences(plan, *warnings), left_out=found)


def _excess_words(most: Fraction, found: LeftOut) -> list[str]:
    """What is above the limit, in words: the records left out, and each attribute with replaced values by itself."""
    return [
        *([found.sentence()] if found.share > most else []),
        *found.replaced_sentences(lambda values: values.above(most)),
    ]


def _add_sentences(plan: Plan, *sentences: str) -> Plan:
    return replace(plan, sentences=(*plan.sentences, *sentences))


def _passed_over(table: SourceTable, selection: Selection) -> LeftOut | None:
    """Of all records, those that a filter or a span cannot read: they are not selected, and so not left out later."""
    by = {a.name: a for a in (*selection.attributes, *([] if selection.time is None else [selection.time]))}
    return count_left_out(Records(table, tuple(by.values()))) if by else None


def _worse(selected: LeftOut, before: LeftOut | None) -> LeftOut:
    """Of two looks the one that leaves more out, with the attributes of both."""
    if before is None:
        return selected
    worse = before if before.share > selected.share else selected
    names = (*selected.attributes, *before.attributes)
    most = {name: max(selected.attributes.get(name, 0.0), before.attributes.get(name, 0.0)) for name in names}
    replaced = dict(selected.replaced)
    for name, values in before.replaced.items():
        if name not in replaced or values.share > replaced[name].share:
            replaced[name] = values
    return replace(worse, attributes=most, replaced=replaced)

import itertools
import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.domains.cut import Cut
from sfumato.domains.domain import Grid
from sfumato.domains.query.codes import Codes
from sfumato.domains.query.language import parse_query
from sfumato.errors import UsageError
from sfumato.release.answer.columns import Regions
from sfumato.release.answer.estimate import Estimate, Question, query
from sfumato.release.draft import Groups
from sfumato.release.forms.noisy_counts.count_table import layout_of
from tests.raising import raises_code
from tests.release.conftest import AGE, INCOME, draft_of, drafts

OPERATORS = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def ask(draft, text, **options):
    return query(layout_of(draft), draft.groups, text, **options)


def share(draft, text):
    """Which part of the one group satisfies a condition, also where that is an assumption alone."""
    columns = {cut.attribute: Regions(AGE, cut, draft.groups.regions[:, i]) for i, cut in enumerate(draft.groups.cuts)}
    return float(Question(columns, draft.groups.counts, text).found.share[0])


@st.composite
def comparisons(draw, domains):
    """A comparison as text, and the codes of its attribute that satisfy it, found by looking at each."""
    name = draw(st.sampled_from(sorted(domains)))
    domain = domains[name]
    if isinstance(domain, Grid):
        sign = draw(st.sampled_from(sorted(OPERATORS)))
        if domain.missing is not None and draw(st.booleans()) and sign in ("=", "!="):
            value, holds = "'(missing)'", {c for c in range(domain.size) if (c == domain.missing) == (sign == "=")}
        else:
            steps = draw(st.integers(-1, domain.points))
            value = str(float(domain.lower + steps * domain.step))
            holds = {c for c in range(domain.points) if OPERATORS[sign](c, steps)}
            if sign == "!=" and domain.missing is not None:
                holds.add(domain.missing)
        return f"{name} {sign} {value}", (name, holds)
    nodes = draw(st.lists(st.integers(0, len(domain.taxonomy.labels) - 1), min_size=1, max_size=3))
    inside = {c for node in nodes for c in range(*domain.taxonomy.range_of(node))}
    values = ", ".join(f'"{domain.taxonomy.labels[node]}"' for node in nodes)
    if draw(st.booleans()):
        return f"{name} in ({values})", (name, inside)
    return f"{name} NOT IN ({values})", (name, set(range(domain.size)) - inside)


def trees(domains):
    """Conditions as text with a function that says whether codes satisfy them."""
    leaves = comparisons(domains).map(lambda c: (c[0], lambda codes, c=c: codes[c[1][0]] in c[1][1]))

    def joined(inner):
        pairs = st.tuples(inner, inner)
        return (
            pairs.map(lambda p: (f"({p[0][0]}) and ({p[1][0]})", lambda codes: p[0][1](codes) and p[1][1](codes)))
            | pairs.map(lambda p: (f"({p[0][0]}) or ({p[1][0]})", lambda codes: p[0][1](codes) or p[1][1](codes)))
            | inner.map(lambda t: (f"not ({t[0]})", lambda codes: not t[1](codes)))
        )

    return st.recursive(leaves, joined, max_leaves=7)


@given(st.data())
def test_an_estimate_is_what_looking_at_every_combination_gives(data):
    draft = data.draw(drafts())
    domains = {a.name: a.domain for a in draft.view.attributes}
    text, holds = data.draw(trees(domains))
    shares = []
    for regions, label in zip(draft.groups.regions, draft.groups.classes, strict=True):
        ranges = [range(*cut.range_at(region)) for cut, region in zip(draft.groups.cuts, regions, strict=True)]
        every = [dict(zip(domains, (*codes, label), strict=True)) for codes in itertools.product(*ranges)]
        shares.append(sum(map(holds, every)) / len(every))
    found = ask(draft, text)
    counts = draft.groups.counts
    if found.count is not None:
        assert found.count == pytest.approx(float(np.dot(counts, shares)) if shares else 0.0, abs=1e-9)
        assert found.share == pytest.approx(found.count / found.total if found.total else 0.0)
    assert found.total == counts.sum()
    assert found.low == sum(count for count, share in zip(counts, shares, strict=True) if share == 1)
    assert found.high == sum(count for count, share in zip(counts, shares, strict=True) if share > 0)
    assert bool(found.assumes) == (found.low < found.high)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("age >= 40", 5 + 9),
        ("age >= 50", (5 + 9) * 50 / 60),
        ("age = '(missing)'", 2),
        ("age = (missing)", None),
        ("age != 3", 38 - 22 / 40),
        ("age < 1000", 36),
        ("age > 1000", 0),
        ("age = 1000", 0),
        ("age > -5", 36),
        ("not age > -5", 2),
        ("pay >= 2.0", 12 + 9 + 2),
        ("pay < 1.3", 15 * 5 / 8),
        ("pay = 0.3", 15 / 8),
        ("day < 2004-01-11", 21 * 10 / 100),
        ("day in (2004-01-01, '2004-01-02')", 21 * 2 / 100),
        ("job = Professional", 7 + 9),
        ("job = Lawyer", 8),
        ('job = "Writer, ""poet"""', 7),
        ("job in (Professional, Artist, '(missing)')", 7 + 3 + 12 + 9 + 2),
        ("job = Any", 38),
        ('income = ">50K"', 17),
        ('"income" != ">50K" and age<40', 19),
        ("age >= 40 and job = Lawyer or age < 40 and not (job = Lawyer or job = Engineer)", 4.5 + 15),
        ("age >= 40 OR job == Lawyer", 14 + 3.5),
        ("age <> 3 And age <> 4", 38 - 22 * 2 / 40),
    ],
)
def test_worked_examples(release, text, count):
    if count is None:
        with pytest.raises(UsageError):
            release.query(text)
    else:
        assert release.query(text).count == pytest.approx(count)


def test_a_number_that_is_the_assumption_alone_is_refused():
    draft = draft_of({"age": AGE}, [Cut("age", (0,), 101)], [(0, 0, 30), (0, 1, 12)])
    found = ask(draft, "age >= 60")
    assert (found.count, found.share, found.low, found.high) == (None, None, 0, 42)
    assert found.assumes == found.undecided == ("age",)
    halves = draft_of({"age": AGE}, [Cut("age", (0, 50), 101)], [(0, 0, 30), (1, 1, 12)])
    found = ask(halves, "age >= 60")
    assert (found.low, found.high, found.assumes, found.undecided) == (0, 12, ("age",), ())
    assert found.count == pytest.approx(12 * 40 / 51)
    sure = ask(halves, "age >= 50 or income = Any")
    assert (sure.count, sure.low, sure.high, sure.assumes) == (42, 42, 42, ())


def test_an_attribute_that_does_not_matter_is_not_assumed():
    draft = draft_of({"age": AGE}, [Cut("age", (0,), 101)], [(0, 0, 30), (0, 1, 12)])
    found = ask(draft, "income = '>50K' and age >= 60 or income = Any")
    assert (found.count, found.low, found.high, found.assumes) == (42, 42, 42, ())


@pytest.mark.parametrize(
    ("text", "problem", "fix"),
    [
        ("", "the name of an attribute was expected and the end found, at character 1", "write the name"),
        ("age", "one of =, !=, <, <=, >, >=, `in` or `contains` was expected and the end found, at character 4", ""),
        ("age >= ", "a value was expected and the end found", "write a value"),
        ("age >= 40 job", "`and`, `or` or the end was expected and 'job' found", ""),
        ("pay >= 40 )", "`and`, `or` or the end was expected and ')' found", "end the query here, or go on with `and`"),
        ("pay >= 40,5", "`and`, `or` or the end was expected and ',' found", "decimals are written with a point: 1.5"),
        ("age >= 40 and", "the name of an attribute was expected and the end found", ""),
        ("(age >= 40", "')' was expected and the end found", ""),
        ("age >= 40)", "`and`, `or` or the end was expected and ')' found, at character 10", ""),
        ("age in 40", "'(' was expected and '40' found", ""),
        ("age in ()", "a value was expected and ')' found", ""),
        ("age not 40", "`in` was expected and '40' found", ""),
        ("age = and", "a value was expected and 'and' found", "put 'and' in quotes if it is a name or value"),
        ("age = 'forty", "a quote is not closed, at character 7 of the query: age = ▶'forty", "close it"),
        ("age ! 4", "'!' is not expected here, at character 5", "put it in quotes"),
        ("aeg = 4", "the release has no attribute 'aeg', at character 1 of the query: ▶aeg = 4", "write 'age'"),
        ("x = 4", "no attribute 'x'", "use one of: age, pay, day, job, income"),
        ("count = 4", "no attribute 'count'", ""),
        ("age = forty", "'forty' is no value of 'age', at character 7", "write a number from 0 to 99, or '(missing)'"),
        ("age = 1e999999999", "is no value of 'age'", ""),
        ("age = 1/0", "is no value of 'age'", ""),
        ("age < '(missing)'", "is no value of 'age'", ""),
        ("day > 2004-13-01", "is no value of 'day'", "write a date such as 2004-12-31 from 2004-01-01 to 2004-12-31"),
        ("day > 5", "is no value of 'day'", ""),
        ("job = lawyer", "'job' has no value 'lawyer', at character 7", "write 'Lawyer'"),
        ("job = Zzz", "'job' has no value 'Zzz'", "use one of: Any, Professional, Engineer"),
        ("job < Lawyer", "'job' has categories, which have no order", "use =, != or `in`"),
        ("not " * 101 + "age = 4", "more than 100", ""),
        ("(" * 5000, "more than 100", ""),
        ("age = 4 or " * 20_000 + "age = 4", "220,007 characters", ""),
    ],
)
def test_errors_point_at_the_place_and_say_what_would_do(release, text, problem, fix):
    with pytest.raises(UsageError) as caught:
        release.query(text)
    assert problem in caught.value.problem
    assert fix in caught.value.fix


def test_precedence_is_not_then_and_then_or():
    tree = parse_query("not a = 1 and b = 2 or c = 3")
    assert type(tree).__name__ == "Either"
    assert type(tree.parts[0]).__name__ == "Every"
    assert type(tree.parts[0].parts[0]).__name__ == "Not"


def wide_draft(columns):
    names = [f"a{i}" for i in range(columns)]
    return draft_of(dict.fromkeys(names, AGE), [Cut(name, (0,), 101) for name in names], [(*[0] * columns, 0, 10)])


def test_many_attributes_that_do_not_meet_are_quick():
    draft = wide_draft(200)
    text = " or ".join(f"(a{i} < 50 and a{i + 1} >= 50)" for i in range(0, 200, 2))
    assert share(draft, text) == pytest.approx(1 - (1 - 50 / 101 * 50 / 101) ** 100)


def test_many_conditions_on_one_attribute_are_quick():
    draft = wide_draft(1)
    assert share(draft, " or ".join(f"a0 = {i}" for i in range(0, 100, 2))) == pytest.approx(50 / 101)


def test_a_knot_too_large_is_refused_and_not_guessed():
    draft = wide_draft(30)
    pairs = [(i, j) for i in range(30) for j in range(i)]
    text = " and ".join(f"(a{i} < {10 + 3 * j} or a{j} > {90 - 2 * i})" for i, j in pairs)
    with raises_code(UsageError, "SF-USAGE-049"):
        ask(draft, text)


def test_an_empty_release_has_no_share():
    draft = draft_of({"age": AGE}, [Cut("age", (0,), 101)], [])
    found = ask(draft, "age < 3 or not age < 3")
    assert (found.count, found.share, found.total, found.low, found.high) == (0.0, 0.0, 0, 0.0, 0.0)


def test_a_grid_too_fine_to_list_can_be_asked():
    domain = Grid(lower=AGE.lower, upper=AGE.upper * 10**9, step=AGE.step, unit="integer")
    cut = Cut.finest("x", domain.size)
    draft = draft_of({"x": domain}, [cut], [(5, 0, 3), (10**10, 1, 4)])
    assert ask(draft, "x >= 6").count == 4
    assert ask(draft, "x in (5, 6)").count == 3


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30))), st.lists(st.integers(0, 30), min_size=1))
def test_codes_are_the_set_they_say(ranges, asked):
    members = {code for start, stop in ranges for code in range(start, stop)}
    codes = Codes.of(ranges)
    assert {code for code in range(30) if code in codes} == members
    assert {code for code in range(30) if code in codes.opposite(30)} == set(range(30)) - members
    assert codes.below(np.array(asked)).tolist() == [sum(m < code for m in members) for code in asked]


def test_the_class_is_asked_like_any_other():
    draft = draft_of({"age": AGE}, [Cut("age", (0,), 101)], [(0, 0, 3), (0, 1, 5)])
    assert isinstance(draft.groups, Groups)
    assert ask(draft, "income = Any").count == 8
    assert ask(draft, f"income = '{INCOME.taxonomy.leaves[1]}'").count == 5


def test_a_printed_estimate_never_lacks_its_interval():
    found = Estimate(count=302.4, low=3.0, high=400.0, confidence=0.95, share=0.0507, total=5950, assumes=("age",))
    said = "about 302 of about 5,950 records, 5.07 %; 95 % interval 3 to 400"
    assert str(found) == f"{said}; the single number assumes that values of 'age' are uniform within their regions"

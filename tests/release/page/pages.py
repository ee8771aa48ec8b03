"""Pages of bundles, and conditions to ask them: for tests with and without a browser."""

import random

from sfumato.domains.domain import Grid
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.release.bundle.receiver_files import page_of
from sfumato.release.form import FORMS
from sfumato.release.manifest.read_manifest import parse_manifest

MALFORMED = [
    "age >=", "(age > 3", "age > 3)", "and", "'age", "age ! 3", "nobody = 3", "age between 1 and 2", "age in ()",
    "age in (1", "age not = 3", "not", "job < Office", "age = Office", "since = 2020-02-30", "age contains 3",
    "age = 3 or or age = 4", "age = 1e3", "since >= 12",
]  # fmt: skip


def read(bundle):
    """Form, manifest, layout and content of a bundle."""
    manifest = parse_manifest((bundle / "manifest.json").read_bytes())
    form = FORMS[manifest["form"]]
    layout = form.layout(manifest)
    return form, manifest, layout, form.read(bundle, manifest, layout, "parquet")


def page(bundle):
    """index.html as this version makes it, also for bundles that have none."""
    return page_of(*read(bundle))


def conditions(domains, seed, many):
    """Comparisons and what joins them, over all attributes: values, nodes, numbers on and off the grid, and beyond."""
    rng = random.Random(seed)
    alone = [_leaf(rng, domains) for _ in range(many // 2)]
    return alone + [_joined(rng, domains) for _ in range(many - len(alone))]


def _joined(rng, domains, depth=0):
    kind = rng.random()
    if depth > 2 or kind < 0.25:
        return _leaf(rng, domains)
    if kind < 0.4:
        return f"not ({_joined(rng, domains, depth + 1)})"
    parts = [_joined(rng, domains, depth + 1) for _ in range(rng.randint(2, 3))]
    return f"({rng.choice([' and ', ' or ', ' AND ']).join(parts)})"


def _leaf(rng, domains):
    name = rng.choice(list(domains))
    domain = domains[name]
    values = _values(rng, domain)
    operators = ["=", "!=", "<>", "==", "in", "not in"]
    operators += ["<", "<=", ">", ">="] * 2 if isinstance(domain, Grid) else []
    operators += ["contains"] if isinstance(domain, SetDomain) else []
    operator = rng.choice(operators)
    if "in" in operator.split():
        several = ", ".join(_quoted(rng, rng.choice(values)) for _ in range(rng.randint(1, 3)))
        return f"{_quoted(rng, name)} {operator} ({several})"
    return f"{_quoted(rng, name)} {operator} {_quoted(rng, rng.choice(values))}"


def _values(rng, domain):
    found = list(domain.taxonomy.labels) if domain.taxonomy is not None else []
    if isinstance(domain, Grid):
        width = domain.upper - domain.lower
        for _ in range(5):
            point = domain.lower + width * rng.randint(-1, 11) / 10
            day = domain.unit == "day"
            found.append(domain.text(round(point)) if day else f"{float(point):.{rng.choice([0, 1, 3])}f}")
        found += [domain.missing_label] if domain.missing is not None else []
    return found


def _quoted(rng, text):
    mark = rng.choice("'\"")
    return mark + text.replace(mark, 2 * mark) + mark

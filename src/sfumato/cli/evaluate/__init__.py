"""`sfumato evaluate`: measures, comparisons, attacks, accuracy and audits of releases, for the owner."""

import typer

from sfumato.cli.evaluate.accuracy import accuracy
from sfumato.cli.evaluate.attack import intersect, link
from sfumato.cli.evaluate.audit import audit
from sfumato.cli.evaluate.compare import compare
from sfumato.cli.evaluate.max_k import max_k
from sfumato.cli.evaluate.measures import measures

evaluate_app = typer.Typer(
    help="Measure a release against the raw table, attack it, train classifiers on it, or audit its guarantee.",
    no_args_is_help=True,
)
for _command in (measures, compare, accuracy, link, intersect, audit, max_k):
    evaluate_app.command()(_command)

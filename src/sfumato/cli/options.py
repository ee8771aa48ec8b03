"""The arguments and options that several commands have."""

from pathlib import Path
from typing import Annotated

import typer

StudyFile = Annotated[Path, typer.Argument(help="The study file (YAML).", metavar="STUDY")]
ReleaseName = Annotated[
    str | None,
    typer.Argument(help="A release that the study declares; required if it declares several.", metavar="RELEASE"),
]
Bundle = Annotated[Path, typer.Argument(help="A bundle's folder, or the folder it is in.", metavar="BUNDLE")]
BundleOrTable = Annotated[
    str, typer.Argument(help="A bundle's folder, or the folder it is in; with --model, any table.", metavar="BUNDLE")
]
NewFolder = Annotated[Path | None, typer.Option("--out", "-o", help="A folder that does not exist yet.")]
Was = Annotated[
    str | None, typer.Option("--was", help="The study's name when the release was made, if it was renamed.")
]
MemoryLimit = Annotated[
    str | None,
    typer.Option(
        "--memory-limit",
        help="The maximum memory of the engine, and of what is collected from a database or Spark, such as 2GB.",
    ),
]
To = Annotated[
    str | None,
    typer.Option(
        "--to",
        help="Write the records to a new table of PostgreSQL, or a new table or folder of Spark, by its address; the "
        "bundle then has no data files.",
    ),
]
Data = Annotated[
    str | None,
    typer.Option("--data", help="Where the table is if the bundle does not hold it: an address, or a folder of files."),
]
StudySha256 = Annotated[
    str | None,
    typer.Option(
        "--study-sha256",
        help="Refuse unless the study, with the taxonomy files it names, has this hash; `plan --json` says it.",
    ),
]
NoReport = Annotated[bool, typer.Option("--no-report", help="Make no owner's report; `sfumato report` makes it later.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON, and errors too.")]
Seed = Annotated[
    int | None,
    typer.Option("--insecure-seed", help="For tests only: repeatable noise. The release then has no guarantee."),
]
Anyway = Annotated[
    bool,
    typer.Option("--anyway", help="Go on even if more records are left out for invalid values than the study allows."),
]
NoCheck = Annotated[bool, typer.Option("--no-check", help="Do not read the table.")]

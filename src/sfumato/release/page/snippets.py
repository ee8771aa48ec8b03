"""How to load a release in Python, R and SQL; names are quoted as each language wants it, whatever they are."""

from collections.abc import Mapping
from dataclasses import dataclass
from json import dumps
from typing import Any, Final

_LONGEST: Final = 60  # letters of a column's name in an example


@dataclass(frozen=True)
class Snippets:
    """Examples that run in the folder of a bundle as they stand."""

    manifest: Mapping[str, Any]
    target: str | None
    weight: str | None

    def by_language(self) -> list[tuple[str, str]]:
        """A first table in each language; of tables that an engine keeps, how to get at them."""
        if self.manifest.get("stored") is not None:
            return self._stored()
        file, weight, first = self._data_name, self.weight, self._column
        if weight is not None and not _plain(weight):
            weight = first = None
        many = f"sum({_sql(weight)})" if weight else "count(*)"
        python = f'import pandas as pd\n\nt = pd.read_parquet("{file}.parquet")\n'
        r = f't <- read.csv("{file}.csv",\n              check.names = FALSE,\n'
        r += "              na.strings = character())\n"
        if first is None:
            sql = f"select * from '{file}.parquet'\nlimit 10;"  # noqa: S608 - shown, not run
            return [("Python", f"{python}t.head()"), ("R", f"{r}head(t)"), ("SQL (DuckDB)", sql)]
        python += (
            f"t.groupby({_text(first)}, observed=True)[{_text(weight)}].sum()"
            if weight
            else f"t[{_text(first)}].value_counts()"
        )
        r += f"tapply(t[[{_text(weight)}]], t[[{_text(first)}]], sum)" if weight else f"table(t[[{_text(first)}]])"
        sql = f"select {_sql(first)}, {many} as n\nfrom '{file}.parquet'\ngroup by all\norder by all;"
        return [("Python", python), ("R", r), ("SQL (DuckDB)", sql)]

    def training(self) -> str | None:
        """How to train on it; None without a class attribute."""
        if self.target is None:
            return None
        where = '".", data="ADDRESS"' if self.manifest.get("stored") is not None else '"."'
        opened = f"release = Release.open({where})"
        return (
            "from sfumato import Release\nfrom sklearn.linear_model import LogisticRegression\n"
            "from sklearn.pipeline import make_pipeline\n\n"
            f"{opened:<37}# this folder\nX, y, w = release.to_training()\n"
            "fitted = LogisticRegression(max_iter=1000).fit(X, y, sample_weight=w)\n"
            "model = make_pipeline(release.encoder(), fitted)\n"
            "model.predict(new_records)           # raw values, as before the release"
        )

    @property
    def _data_name(self) -> str:
        """The name of the file that a program loads first, without its ending."""
        names = [name.removesuffix(".parquet") for name in self.manifest["files"] if name.endswith(".parquet")]
        return next((name for name in ("data", "records", "data_qit") if name in names), names[0] if names else "data")

    @property
    def _column(self) -> str | None:
        """A column to count by: the target, or the first whose name can be read in a program."""
        names = [self.target] if self.target else []
        hidden = {a["name"] for a in self.manifest["attributes"] if a["role"] == "sensitive"}
        names += [a["name"] for a in self.manifest["attributes"] if a["name"] not in hidden]
        return next((name for name in names if _plain(name)), None)

    def _stored(self) -> list[tuple[str, str]]:
        """The tables lie where their publisher says; no address is in a bundle."""
        tables = self.manifest["stored"]["tables"]
        stated = next(iter(tables.values()))
        files = bool(stated["parts"])
        python = 'from sfumato import Release\n\nrelease = Release.open(".", data="ADDRESS")\nt = release.to_pandas()'
        if files:
            r = 'library(arrow)\n\nt <- read_parquet("FILE")   # one of the table\'s files'
            return [("Python", python), ("R", r), ("SQL (DuckDB)", "select count(*)\nfrom 'FOLDER/*.parquet';")]
        table = _sql(stated["name"]) if _plain(stated["name"]) else "the_table"
        r = f"library(DBI)   # con: your connection\n\nt <- dbReadTable(con, {_text(stated['name'])})"
        return [("Python", python), ("R", r), ("SQL", f"select count(*)\nfrom {table};")]


def _plain(name: str) -> bool:
    """Whether a name can be shown in a program: short, and all of it seen."""
    return len(name) <= _LONGEST and name.isprintable()


def _text(text: str | None) -> str:
    """A text as Python and R write it."""
    return dumps(text, ensure_ascii=False)


def _sql(text: str | None) -> str:
    return '"' + str(text).replace('"', '""') + '"'

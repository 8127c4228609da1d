"""Tables of text, copied into a temporary file of columns: whatever is asked of them then needs no second parsing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from trueline.data.source import Skipped
from trueline.data.sources import delimited, json_lines
from trueline.data.sources.delimited import Dialect
from trueline.data.sources.duck import Duck
from trueline.data.sources.relation import Form, Gaps, Relation, TableColumn
from trueline.model.budget import Budget, OverBudget
from trueline.model.trouble import BadFile

TABLE: Final = "staged"
# Each column that is added to a table costs a look at all of them; a table made anew costs its rows.
_FEW_COLUMNS: Final = 16


class Staging:
    """A table that grows file by file; all its values are text."""

    def __init__(self, duck: Duck, skipped: Skipped, form: Form) -> None:
        self._duck = duck
        self._skipped = skipped
        self._form = form
        self._names: dict[str, str] = {}
        self._read = 0
        self.gaps = Gaps()
        duck.run(f"CREATE OR REPLACE TABLE {TABLE} (row BIGINT)")

    def add(self, path: Path) -> None:
        """All rows of one more file; one that cannot be read is told."""
        try:
            lost = self._add_json(path) if self._form is Form.JSON else self._add_delimited(path)
        except OverBudget:
            raise
        except BadFile as trouble:
            self._skipped.add("describe.unreadable_file" if trouble.reason else "describe.empty_file", path.name)
            return
        except self._duck.errors:
            self._skipped.add("describe.unreadable_file", path.name)
            return
        self.gaps.add(self._read, lost)
        (rows,) = self._duck.row(f"SELECT count(*) FROM {TABLE}")
        if rows == self._read and not lost:
            self._skipped.add("describe.empty_file", path.name)
        self._read = int(rows)

    def relation(self) -> Relation:
        """The table as it is now."""
        kind = "VARCHAR" if self._form is Form.TEXT else "JSON"
        columns = [TableColumn(name, sql, kind, self._form) for name, sql in self._names.items()]
        return Relation(TABLE, "row", columns, self._read)

    def _add_delimited(self, path: Path) -> list[int]:
        dialect = delimited.look(path)
        places = self._places(dialect.names)
        cells = [f"c{place}" for place in range(len(places))]
        return self._copy(path, dialect, places, cells)

    def _copy(self, path: Path, dialect: Dialect, places: Sequence[str], cells: Sequence[str]) -> list[int]:
        values = ", ".join([f"{self._read} + row_number() OVER () - 1", *cells])
        into = f"{TABLE} ({', '.join(['row', *places])})"
        return delimited.read_rows(self._duck, path, dialect, into=into, values=values, skipped=self._skipped)

    def _add_json(self, path: Path) -> list[int]:
        lost = json_lines.read_lines(self._duck, path, self._skipped)
        names = json_lines.keys(self._duck)
        (count,) = self._duck.row("SELECT count(*) FROM lines")
        Budget(path, path.stat().st_size).spend(int(count) * len(names))
        places = self._places(names)
        # What is null in JSON is null here, as what is not there.
        cells = [f"nullif(f[{place + 1}]::VARCHAR, 'null')" for place in range(len(names))]
        if names:
            self._duck.run(
                f"INSERT INTO {TABLE} ({', '.join(['row', *places])}) "
                f"SELECT {', '.join([f'{self._read} + row_number() OVER () - 1', *cells])} "
                f"FROM (SELECT {json_lines.values_of(names)} AS f FROM lines)"
            )
        self._duck.run("DROP TABLE lines")
        return lost

    def _places(self, names: Sequence[str]) -> list[str]:
        """What SQL calls these fields; new ones get a column."""
        new = [name for name in names if name not in self._names]
        columns = [f"v{len(self._names) + place} VARCHAR" for place in range(len(new))]
        if not self._names:
            self._duck.run(f"CREATE OR REPLACE TABLE {TABLE} ({', '.join(['row BIGINT', *columns])})")
        elif len(columns) <= _FEW_COLUMNS:
            for column in columns:
                self._duck.run(f"ALTER TABLE {TABLE} ADD COLUMN {column}")
        else:
            added = ", ".join(f"NULL::VARCHAR AS {column.removesuffix(' VARCHAR')}" for column in columns)
            self._duck.run(f"CREATE OR REPLACE TABLE widened AS SELECT *, {added} FROM {TABLE}")
            self._duck.run(f"DROP TABLE {TABLE}")
            self._duck.run(f"ALTER TABLE widened RENAME TO {TABLE}")
        self._names |= {name: f"v{len(self._names) + place}" for place, name in enumerate(new)}
        return [self._names[name] for name in names]

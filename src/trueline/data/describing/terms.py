"""SQL for the values of a column: as a number, as a text, and whether it is there at all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from trueline.data.describing import markers
from trueline.data.sources.duck import quoted
from trueline.data.sources.relation import Form, TableColumn

_INTEGERS: Final = frozenset(
    {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"}
)
_FLOATS: Final = frozenset({"FLOAT", "DOUBLE"})
_TIMES: Final = re.compile(r"(DATE|TIME|TIMESTAMP|INTERVAL)\b.*")
_MARKERS: Final = ", ".join(quoted(one) for one in sorted(markers.TEXTS))


@dataclass(frozen=True, slots=True)
class Terms:
    """A column as SQL speaks of it; ``kind`` is what it looks like: integer, number, text, boolean, time …"""

    column: TableColumn
    kind: str
    given: Sequence[str] = ()
    given_numbers: Sequence[str] = ()

    @property
    def raw(self) -> str:
        """As it is written."""
        return self.column.sql

    @property
    def is_float(self) -> bool:
        """Whether it may hold NaN and Inf."""
        return self.column.form is not Form.TYPED or self.column.type in _FLOATS or self.kind == "mixed"

    @property
    def number(self) -> str:
        """As a number, null where it is none."""
        if self.column.form is Form.TYPED and self.kind != "mixed":
            return f"{self.raw}::DOUBLE"
        return f"TRY_CAST({self.raw} AS DOUBLE)"

    @property
    def finite(self) -> str:
        """As a number that counts: finite and no given marker."""
        number = self.number
        conditions = [f"isfinite({number})"] if self.is_float else []
        if self.given_numbers:
            conditions.append(f"{number} NOT IN ({', '.join(self.given_numbers)})")
        return f"CASE WHEN {' AND '.join(conditions)} THEN {number} END" if conditions else number

    @property
    def is_nan(self) -> str:
        """Whether it is NaN; isnan() is false to DuckDB where a Parquet footer has a range, which leaves NaN out."""
        return f"(NOT isfinite({self.number}) AND NOT isinf({self.number}))"

    @property
    def text(self) -> str:
        """As a text without blanks around it, null where it is none."""
        if self.column.form is Form.JSON:
            return f"CASE WHEN {self.raw}[1] = '\"' THEN trim(json_extract_string({self.raw}, '$')) END"
        return f"trim({self.raw})"

    @property
    def is_text(self) -> str:
        """Whether it is a text that means something: no number, not empty, and no marker."""
        return f"({self.words} IS NOT NULL AND {self.words} <> '' AND NOT {self.is_given} AND NOT {self.is_marked})"

    @property
    def words(self) -> str:
        """As a text that is no number."""
        if self.column.form is Form.JSON or self.kind == "text":
            return self.text
        return f"CASE WHEN {self.number} IS NULL THEN {self.text} END"

    @property
    def is_empty(self) -> str:
        """Whether it is an empty text; only what begins with a blank, or with nothing, is looked at closely."""
        if self.column.form is Form.JSON:
            return f"coalesce({self.text} = '', false)"
        return f"(CASE WHEN {self.raw} < '!' THEN {self.text} = '' ELSE false END)"

    @property
    def is_marked(self) -> str:
        """Whether it is a text that stands for nothing, as people write it; only short ones are looked at closely."""
        short = f"strlen({self.raw}) <= {markers.LONGEST_TEXT + 2}"
        return f"(CASE WHEN {short} THEN coalesce(lower({self.words}) IN ({_MARKERS}), false) ELSE false END)"

    @property
    def is_given(self) -> str:
        """Whether it is one of the given markers."""
        texts = ", ".join(quoted(text) for text in self.given)
        return f"coalesce({self.text} IN ({texts}), false)" if self.given else "false"

    def is_one(self, marker: str) -> str:
        """Whether it is this marker."""
        if self.kind in ("integer", "number", "mixed") and _is_number(marker):
            return f"{self.number} = {marker}::DOUBLE"
        if self.kind in ("text", "mixed"):
            return f"{self.text} = {quoted(marker)}"
        return "false"


def kind_of_type(column: TableColumn) -> str:
    """What a column's type makes it; what was written as text is mixed until it is looked at."""
    if column.form is not Form.TYPED:
        return "mixed"
    kind = column.type
    if kind in _INTEGERS:
        return "integer"
    if kind in _FLOATS or kind.startswith("DECIMAL"):
        return "number"
    if kind == "BOOLEAN":
        return "boolean"
    if kind in ("VARCHAR", "UUID") or kind.startswith("ENUM"):
        return "text"
    if _TIMES.fullmatch(kind):
        return "time"
    if kind.endswith("]"):
        return "sequence"
    return "bytes" if kind == "BLOB" else "other"


def _is_number(text: str) -> bool:
    try:
        return float(text) == float(text)
    except ValueError:
        return False

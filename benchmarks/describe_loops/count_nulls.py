"""The scan people write: how many nulls each column of a Parquet file has."""

from __future__ import annotations

import sys

import duckdb

table = f"read_parquet('{sys.argv[1]}')"
names = [row[0] for row in duckdb.sql(f"DESCRIBE SELECT * FROM {table}").fetchall()]
# count(column) would be answered from the file's footer without a scan.
counts = ", ".join(f'count(*) FILTER (WHERE "{name}" IS NULL)' for name in names)
print(dict(zip(names, duckdb.sql(f"SELECT {counts} FROM {table}").fetchall()[0], strict=True)))

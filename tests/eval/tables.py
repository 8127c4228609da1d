"""The tables that ``make eval`` writes: each with the hash of the code it measured."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
TABLES = ROOT / "docs" / "tables"


def code_hash(folders: Sequence[str]) -> str:
    """One hash over the Python files of folders of the package."""
    found = hashlib.sha256()
    for folder in folders:
        for path in sorted((ROOT / "src" / "trueline" / folder).rglob("*.py")):
            found.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:16]


def write_table(name: str, folders: Sequence[str], content: Mapping[str, Any]) -> Path:
    """docs/tables/<name>.json."""
    TABLES.mkdir(parents=True, exist_ok=True)
    path = TABLES / f"{name}.json"
    table = {"table": name, "speaks_of": list(folders), "code": code_hash(folders), **content}
    path.write_text(json.dumps(table, indent=2, ensure_ascii=False) + "\n", "utf-8")
    return path


def stale_tables() -> list[str]:
    """The tables that are older than the code they speak of."""
    found = []
    for path in sorted(TABLES.glob("*.json")):
        table = json.loads(path.read_text("utf-8"))
        if table["code"] != code_hash(table["speaks_of"]):
            found.append(path.name)
    return found


if __name__ == "__main__":
    for name in stale_tables():
        print(f"docs/tables/{name} is older than the code it speaks of: make eval writes it anew")

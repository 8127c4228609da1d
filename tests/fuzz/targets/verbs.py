"""The verbs of the command line, called in this process."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from trueline.model.trouble import Trouble


def each(*calls: Sequence[str]) -> None:
    """Several, each whatever the others say; the first trouble comes out at the end."""
    troubles: list[Exception] = []
    for name, *args in calls:
        try:
            verb(name, *args)
        except (Trouble, click.ClickException) as trouble:
            troubles.append(trouble)
    if troubles:
        raise troubles[0]


def verb(name: str, *args: str) -> int:
    """Run one as the command line does, up to how it ends: its troubles come out as they are."""
    *above, name = name.split()
    module = ".".join(("trueline.cli", *above, name))
    command: Any = import_module(module).command
    before = sys.stdout.tell()
    code = command.main([*args], f"trueline {name}", standalone_mode=False)
    if "--json" in args:
        # What is printed is one JSON value.
        json.loads(sys.stdout.getvalue()[before:])  # type: ignore[attr-defined]
    return int(code or 0)

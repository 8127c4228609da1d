"""The entry of the ``trueline`` command."""

from __future__ import annotations

from typing import NoReturn

from trueline.cli.verbs import trueline


def main() -> NoReturn:
    """Run the command line of this process and end it with the verb's exit code."""
    trueline.main()

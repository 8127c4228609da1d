"""Texts out of files, fit to be shown."""

from __future__ import annotations


def printable(text: str, most: int = 200) -> str:
    """The beginning of a text, on one line and without control characters."""
    return "".join(one if one.isprintable() else "?" for one in text[:most])

"""The hand-written pages: their blocks, prose, links and headings."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"
# Read by contributors only.
ENGLISH_ONLY = {DOCS / "architecture.md", DOCS / "rooms.md"}
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def chinese_of(path: Path) -> Path:
    return path.with_name(f"{path.stem}.zh.md")


def user_pages() -> list[Path]:
    """The pages in English that a user reads."""
    pages = [ROOT / "README.md", ROOT / "SECURITY.md", *DOCS.glob("*.md"), *(ROOT / "examples").glob("*/README.md")]
    return sorted(path for path in pages if not path.name.endswith(".zh.md") and path not in ENGLISH_ONLY)


def blocks(path: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(path.read_text("utf-8"))


def prose(path: Path) -> str:
    return BLOCK.sub("", path.read_text("utf-8"))


def links(path: Path) -> list[tuple[str, str]]:
    """The text and the target of every link that is not on the network."""
    return [(text, target) for text, target in LINK.findall(prose(path)) if "://" not in target]


def anchors(path: Path) -> set[str]:
    """What the headings of a page are called in links, as code hosts make it."""
    headings = re.findall(r"^#+ (.+)$", prose(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()

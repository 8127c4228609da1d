"""A case made smaller while it still ends in the same way."""

from __future__ import annotations

from collections.abc import Callable

from fuzz.case import Files

_MOST_TRIES = 400


def shrunk(files: Files, fails: Callable[[Files], bool]) -> Files:
    """Fewer files, then fewer bytes of each."""
    left = _MOST_TRIES

    def still(case: Files) -> bool:
        nonlocal left
        left -= 1
        return fails(case)

    for name in list(files):
        smaller = {one: content for one, content in files.items() if one != name}
        if smaller and left > 0 and still(smaller):
            files = smaller
    for name in list(files):
        content = files[name]
        if not isinstance(content, bytes):
            continue
        size = max(1, len(content) // 2)
        while size and left > 0:
            at = 0
            while at < len(content) and left > 0:
                tried = content[:at] + content[at + size :]
                if still({**files, name: tried}):
                    content = tried
                else:
                    at += size
            size = size // 2 if size > 1 else 0
        files = {**files, name: content}
    return files

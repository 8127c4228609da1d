"""How a rank's process stands: one page that is written over in place, on a full disk and without opening anything."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from trueline.formats.run_folder.json_text import json_bytes
from trueline.model.descriptor import DescriptorLost, OwnDescriptor

# As much as any file takes on a disk: other content needs no more room.
_PAGE: Final = 4096


class ProcessFile:
    """The page and its descriptor, which stays open until the process has come to its end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = OwnDescriptor.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)

    def write(self, fields: Mapping[str, object]) -> None:
        """All of it anew; parameters of a message that are too long for the page are left out."""
        page = json_bytes(fields)
        off = fields.get("off")
        if len(page) >= _PAGE and isinstance(off, dict):
            page = json_bytes({**fields, "off": {**off, "params": {}}})
        os.pwrite(self._file.proven(), page.ljust(_PAGE - 1) + b"\n", 0)

    def remove(self) -> None:
        """As if it had never been there."""
        self._file.close()
        self._path.unlink(missing_ok=True)

    def end(self, fields: Mapping[str, object]) -> None:
        """The last words, after which it is let go; where the script has closed it, it is opened once more."""
        try:
            self.write(fields)
        except DescriptorLost:
            self._file = OwnDescriptor.open(self._path, os.O_WRONLY)
            self.write(fields)
        finally:
            self._file.close()

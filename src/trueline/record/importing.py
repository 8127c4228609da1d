"""A folder that is made among the script's modules must not be noticed by its imports."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

_NOBODYS = "trueline_no_such_module"


def let_importing_know(made: Path) -> None:
    """Python's finders look anew through each folder that has changed, for which a script may later have no descriptor.

    They do so here, where the folder was made, and find what they knew.
    """
    above = {str(parent) for parent in made.absolute().parents}
    for place, finder in list(sys.path_importer_cache.items()):
        if str(Path(place).absolute()) in above:
            with contextlib.suppress(Exception):
                finder.find_spec(_NOBODYS)  # type: ignore[union-attr]

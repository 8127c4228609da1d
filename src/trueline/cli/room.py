"""Where a verb's trial runs are recorded."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trueline.model.trouble import BadUsage


@contextmanager
def room_for_runs(keep: Path | None, prefix: str) -> Iterator[Path]:
    """A folder that is gone afterwards, unless the runs are to be kept."""
    if keep is None:
        with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as folder:
            yield Path(folder)
        return
    try:
        if keep.exists() and (not keep.is_dir() or any(keep.iterdir())):
            raise BadUsage("repro.keep_taken", folder=str(keep))
        keep.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadUsage("repro.keep_unwritable", folder=str(keep), reason=error.strerror or str(error)) from None
    yield keep.absolute()

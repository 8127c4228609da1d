"""The table of kills: a writer killed at every file system call it makes, before it and halfway through it."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent.parent), str(Path(__file__).parent)]

from formats.run_folder.child_process import calls_of_a_whole_run, killed_at
from formats.run_folder.made_run import check_prefix
from tables import write_table

from trueline.model.trouble import Trouble

LENGTH = 60
# Before its third call a writer has made nothing yet that could be opened.
FIRST = 3


def main() -> int:
    """Kill, reopen, count."""
    kills = readable = whole = 0
    with tempfile.TemporaryDirectory() as place:
        calls = calls_of_a_whole_run(Path(place) / "whole", LENGTH)
        for moment in range(FIRST, calls + 1):
            for halfway in (False, True):
                folder = Path(place) / f"{moment}-{halfway}"
                done = killed_at(folder, LENGTH, moment, halfway=halfway)
                kills += 1
                try:
                    found = check_prefix(folder)
                except Trouble as trouble:
                    print(f"call {moment}, halfway {halfway}: {trouble}")
                    continue
                readable += 1
                whole += found in (done, done + 1)
    print(f"{kills} kills, {readable} folders that open, {whole} of them whole up to the last finished step")
    print(write_table("killed_runs", ["formats", "model"], {"kills": kills, "readable": readable, "whole": whole}))
    return 0 if kills == readable == whole else 1


if __name__ == "__main__":
    sys.exit(main())

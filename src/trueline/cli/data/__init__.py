"""``trueline data``: the dataset and its pipeline."""

from __future__ import annotations

from trueline.cli.verb_group import Verbs

# name: (the module whose ``command`` it is, the id of its one line in the list of verbs)
VERBS: dict[str, tuple[str, str]] = {
    "describe": ("trueline.cli.data.describe", "describe.line"),
    "sheet": ("trueline.cli.data.sheet", "sheet.line"),
    "manifest": ("trueline.cli.data.manifest", "manifest.line"),
    "diff": ("trueline.cli.data.diff", "manifest.diff_line"),
    "debug": ("trueline.cli.data.debug", "data_debug.about_verb"),
}

command = Verbs("data", table=VERBS, about="data.about")

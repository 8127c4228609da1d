"""``trueline data``: the dataset and its pipeline."""

from __future__ import annotations

from trueline.cli.verb_group import Verbs

# name: (the module whose ``command`` it is, the id of its one line in the list of verbs)
VERBS: dict[str, tuple[str, str]] = {"describe": ("trueline.cli.data.describe", "describe.line")}

command = Verbs("data", table=VERBS, about="data.about")

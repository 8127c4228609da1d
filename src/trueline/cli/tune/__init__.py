"""``trueline tune``: experiments with a training script, which stays as it is."""

from __future__ import annotations

from trueline.cli.verb_group import Verbs

# name: (the module whose ``command`` it is, the id of its one line in the list of verbs)
VERBS: dict[str, tuple[str, str]] = {
    "lr": ("trueline.cli.tune.lr", "tune_lr.verb"),
    "batch": ("trueline.cli.tune.batch", "tune_batch.verb"),
    "scale": ("trueline.cli.tune.scale", "tune_scale.verb"),
    "epochs": ("trueline.cli.tune.epochs", "tune_epochs.verb"),
}

command = Verbs("tune", table=VERBS, about="tune.about")

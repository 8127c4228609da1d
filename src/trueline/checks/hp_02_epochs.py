"""The training has too many or too few epochs.

What it looks at
----------------
The validation loss of a recorded run, evaluation after evaluation. Past its minimum: it has been rising since its
best evaluation, by more than chance moves it. Still falling: the last evaluations have gained more than 2 %. At least
5 evaluations are needed to tell.

Why it hurts
------------
After the minimum the network learns its training set by heart and gets worse at everything else; before it, it could
still be better.

What to do
----------
Keep the weights of the best evaluation and stop there (early stopping), or train longer until the validation loss has
settled. `trueline tune epochs RUN` shows the curve.

When it is wrong
----------------
A short training to try something out is still falling on purpose. A metric other than the loss (an accuracy) may go
on getting better while the loss rises.
"""

from __future__ import annotations

from collections.abc import Iterator

from trueline.checks.check import check, na
from trueline.formats.run_folder.evaluations import evaluation_curves, evaluations_seen
from trueline.formats.run_folder.reader import Run
from trueline.model.finding import Finding
from trueline.tune.epochs.answer import Judged, finding
from trueline.tune.epochs.course import course_of
from trueline.tune.epochs.curves import Evaluated


@check("hp.02", "too many or too few epochs")
def from_run(run: Run) -> Iterator[Finding]:
    """As ``trueline tune epochs`` judges it."""
    if not run.ranks:
        yield na("hp_02.no_evaluation")
        return
    folder = run.rank(run.ranks[0])
    curves = evaluation_curves(folder)
    if not curves:
        yield na("hp_02.no_losses" if evaluations_seen(folder) else "hp_02.no_evaluation")
        return
    courses = [course_of(one) for one in curves]
    yield finding(Judged(str(run.path), Evaluated(curves, by_steps=True), courses[0], courses[1:]))

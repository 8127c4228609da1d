"""Modules that agree on the ordinary input although they are built otherwise: inputs that show it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from trueline.model.key import Kind
from trueline.pair.attributes.causes import Trials
from trueline.pair.attributes.difference import Difference, Modules
from trueline.pair.attributes.differences import differences
from trueline.pair.attributes.latent_dropout import dropping_otherwise
from trueline.pair.attributes.latent_inputs import Provocation, provocations
from trueline.pair.attributes.reference import Reference, by_port_leaf
from trueline.pair.attributes.wording import blame
from trueline.pair.blame import Blame, Cause
from trueline.pair.questions.module_run import Change, RunModule
from trueline.pair.sides.side import Side

# A cause that no ordinary input shows must stand out from noise by this factor.
_MIN_EXCESS: Final = 4.0
_DEEPEST: Final = 1


def latent_causes(
    bench: Side,
    port: Side,
    pairs: Iterable[tuple[Modules, Reference]],
    known: Collection[tuple[str, Cause]] = (),
) -> list[Blame]:
    """What is built otherwise and shows on other inputs only, each confirmed by taking it away.

    ``known`` are the causes already blamed, by the port's path. A dropout that drops another share is no latent cause,
    but found here, since it is identity wherever two runs are compared. A user's own class that holds more than a few
    layers is left out: what it was given it has handed on to them.
    """
    blames: list[Blame] = []
    for modules, reference in pairs:
        if modules.known[1] is None and modules.depth > _DEEPEST:
            continue
        shape = reference.ins[0].shape if reference.ins else None
        differing = differences(modules, shape)
        new = [difference for difference in differing if (modules.port.path, difference.cause) not in known]
        dropping = [difference for difference in new if difference.cause is Cause.DROPOUT]
        blames += dropping_otherwise(bench, port, modules, reference, dropping)
        if any(difference.cause is not Cause.DROPOUT for difference in new):
            blames += _shown(bench, port, modules, reference, differing, new)
    return blames


def _shown(
    bench: Side,
    port: Side,
    modules: Modules,
    reference: Reference,
    differing: Sequence[Difference],
    new: Sequence[Difference],
) -> Iterator[Blame]:
    waiting = [candidate for candidate in new if candidate.cause is not Cause.DROPOUT]
    for provocation in provocations(modules, reference, differing):
        if not waiting:
            return
        provoked = _provoked(bench, modules, reference, provocation)
        if provoked is None:
            continue
        # Where the size of the input decides what padding adds, so does what makes it the benchmark's.
        sized = {
            (candidate.cause, candidate.name): candidate
            for candidate in differences(modules, provocation.ins[0].shape if provocation.ins else None)
        }
        tensors = Change(tensors=by_port_leaf(modules, provocation.tensors))
        trials = Trials(port, modules, provoked, tensors)
        sized_too = [waits for waits in waiting if (waits.cause, waits.name) in sized]
        for difference in sized_too:
            shown = _blamed(trials, list(sized.values()), sized[difference.cause, difference.name])
            if shown is not None:
                waiting.remove(difference)
                yield shown


def _blamed(trials: Trials, all_of_them: Sequence[Difference], difference: Difference) -> Blame | None:
    """Whether this difference by itself, all others taken away, makes another output."""
    tried = [candidate for candidate in all_of_them if candidate.change is not None]
    others = [candidate for candidate in tried if candidate is not difference]
    apart = trials.judge(others)
    if apart.excess <= _MIN_EXCESS:
        return None
    limit = trials.reference.limit(Kind.OUT)
    if difference.change is None:
        return blame(trials.modules, difference, latent=True, measured=apart.level, limit=limit) if not others else None
    together = trials.judge(tried)
    if not together.within:
        return None
    return blame(
        trials.modules, difference, confirmed=True, latent=True, measured=apart.level, limit=limit, left=together.level
    )


def _provoked(bench: Side, modules: Modules, reference: Reference, provocation: Provocation) -> Reference | None:
    """What the benchmark's module gives then; None where it cannot take such an input."""
    path, change = modules.bench.path, Change(tensors=provocation.tensors)
    ran = bench.answer(
        RunModule(
            path, provocation.ins, call=reference.call, train=provocation.train, gout=provocation.gout, change=change
        )
    )
    if ran.failed:
        return None
    return replace(
        reference,
        ins=provocation.ins,
        outs=ran.outputs,
        gout=provocation.gout,
        gin=ran.gin,
        grads=by_port_leaf(modules, ran.grads),
        after=by_port_leaf(modules, ran.after),
        train=provocation.train,
    )

"""The whole model with some of its modules changed: every call of such a module goes to the changed one."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from contextlib import ExitStack

from trueline.adapters.guest.faults import first_line
from trueline.adapters.nouns import Network, Value
from trueline.adapters.tree import leaves
from trueline.model.trouble import Trouble
from trueline.pair.child.calls import held_still, tensors_of
from trueline.pair.child.changing import Changing
from trueline.pair.child.host import Host
from trueline.pair.questions.corrected import CorrectedRun, RunCorrected


def run_corrected(host: Host, question: RunCorrected) -> CorrectedRun:
    """Its outputs; what the changed model raises is an answer too."""
    try:
        return _corrected(host, question)
    except Exception as error:  # noqa: BLE001 - a changed model may fail in any way, which is an answer too
        traceback.print_exception(error)
        text = error.message.text("en") if isinstance(error, Trouble) else first_line(error)
        return CorrectedRun(failed=f"{type(error).__name__}: {text}")


def _corrected(host: Host, question: RunCorrected) -> CorrectedRun:
    adapter, values = host.adapter, host.adapter.values
    modules = dict(values.modules(host.model))
    changed: dict[int, tuple[Changing, Network]] = {}

    def around(
        module: Network, args: tuple[Value, ...], kwargs: Mapping[str, Value], proceed: Callable[..., Value]
    ) -> Value:
        found = changed.get(id(module))
        if found is None:
            return proceed(*args, **kwargs)
        changing, made = found
        if changing.change.pads and args and values.is_tensor(args[0]):
            (first,) = changing.padded([values.to_numpy(args[0])])
            args = (values.from_numpy(first, like=args[0]), *args[1:])
        return proceed(*args, **kwargs) if made is module else made(*args, **kwargs)

    with ExitStack() as open_changes, held_still(host, train=question.train):
        for correction in question.corrections:
            module = modules[correction.path]
            changing = Changing(adapter, module, correction.change, correction.lacking)
            made = changing.made()
            open_changes.enter_context(changing.applied(made))
            if made is not module:
                open_changes.enter_context(adapter.build.undisturbed(made, question.train))
            changed[id(module)] = changing, made
        with adapter.intercept.intercept(around), adapter.autograd.without_gradient():
            result = host.model(*tensors_of(host, question.inputs))
        tensors = [tensor for _, tensor in leaves(result, values.is_tensor)]
        return CorrectedRun([values.to_numpy(tensor, copy=True) for tensor in tensors])

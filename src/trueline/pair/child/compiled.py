"""The model, or one module of it, as its compiler makes it."""

from __future__ import annotations

import traceback

import numpy as np

from trueline.adapters.guest.faults import first_line
from trueline.adapters.guest.wire import Content
from trueline.kernel.array import Array
from trueline.pair.child.calls import typed
from trueline.pair.child.host import Answer, Host


def answer_compiled(host: Host, _: Content, __: list[Array]) -> Answer:
    """By what it is compiled."""
    return {"how": host.adapter.compiling.how(host.model)}, []


def answer_run_compiled(host: Host, content: Content, arrays: list[Array]) -> Answer:
    """Outputs, and with ``seed`` gradients from seeded ones at them; ``failed`` is what it raised."""
    compiling, build = host.adapter.compiling, host.adapter.build
    module = dict(host.adapter.values.modules(host.model))[content["path"]]
    inputs = typed(host, arrays)
    try:
        plain = build.run(module, inputs)
        gout = None
        if content["seed"] is not None:
            random = np.random.default_rng(content["seed"])
            gout = [random.standard_normal(one.shape).astype(one.dtype) for one in plain.outputs]
            plain = build.run(module, inputs, gout=gout)
        found = compiling.run(host.model, module, inputs, gout=gout)
    except Exception as error:  # noqa: BLE001 - a compiler may fail in any way, which is an answer too
        traceback.print_exception(error)
        return {"failed": f"{type(error).__name__}: {first_line(error)}"}, []
    both = [name for name in plain.grads if name in found.grads]
    told: Content = {"outputs": [len(plain.outputs), len(found.outputs)], "grads": both}
    grads = [run.grads[name] for run in (plain, found) for name in both]
    return told, [*plain.outputs, *found.outputs, *grads]

"""The model, or one module of it, as its compiler makes it."""

from __future__ import annotations

import traceback

import numpy as np

from trueline.adapters.guest.faults import first_line
from trueline.pair.child.calls import typed
from trueline.pair.child.host import Host
from trueline.pair.questions.model import CompiledRun, Compiler, RunCompiled


def compiler(host: Host, _: Compiler) -> str:
    """By what it is compiled."""
    return host.adapter.compiling.how(host.model)


def run_compiled(host: Host, question: RunCompiled) -> CompiledRun:
    """Run a module op by op and compiled."""
    compiling, build = host.adapter.compiling, host.adapter.build
    module = dict(host.adapter.values.modules(host.model))[question.path]
    inputs = typed(host, question.inputs)
    try:
        plain = build.run(module, inputs)
        gout = None
        if question.seed is not None:
            random = np.random.default_rng(question.seed)
            gout = [random.standard_normal(output.shape).astype(output.dtype) for output in plain.outputs]
            plain = build.run(module, inputs, gout=gout)
        compiled = compiling.run(host.model, module, inputs, gout=gout)
    except Exception as error:  # noqa: BLE001 - a compiler may fail in any way, which is an answer too
        traceback.print_exception(error)
        return CompiledRun(failed=f"{type(error).__name__}: {first_line(error)}")
    both = [name for name in plain.grads if name in compiled.grads]
    grads = {name: (plain.grads[name], compiled.grads[name]) for name in both}
    return CompiledRun(plain.outputs, compiled.outputs, grads)

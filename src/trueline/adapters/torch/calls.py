"""Events of module calls that really run: not while compiling, tracing or transforming."""

from __future__ import annotations

from threading import get_ident

import torch
from torch import nn
from torch.compiler import is_compiling

from trueline.adapters.hidden_frames import leave_out_of_trace, stand_in
from trueline.adapters.nouns import Function, Value
from trueline.adapters.observer import Observer, harmless
from trueline.adapters.patching import Patches, Switch
from trueline.adapters.torch import differentiation, internals
from trueline.adapters.torch.internals import LazyGraphModule, innermost_transform, tracing_state
from trueline.adapters.training_thread import TrainingThread
from trueline.model.recursion import ROOM

# What stands between a module's call and its forward.
_FRAMES = 1
# What autocast computes in its own type.
_CAST = (nn.Linear, nn.Bilinear, internals.Convolution)
_MAX_UNCAST = 64
_FUSED_IN_EVALUATION = (nn.TransformerEncoderLayer,)


class _Calls:
    """Pairs calls and returns of one thread; other threads (data parallel replicas) are not reported."""

    def __init__(self, observer: Observer, switch: Switch, training: TrainingThread) -> None:
        self.observer = observer
        # Whether hooks were taken away: where somebody has wrapped them since, they are still passed.
        self.over = False
        self._training = training
        self._switch = switch
        self._thread = 0
        self._depth = 0
        self._count = 0
        self._fusing: list[tuple[nn.Module, int]] = []
        # The type that autocast has where the outermost module is called.
        self._autocast: torch.dtype | None = None
        self._told_uncast = 0

    def end(self) -> None:
        """The hooks are removed."""
        self.over = True

    def quiet(self, module: nn.Module) -> bool:
        """Whether this call is not a run of the user's network."""
        if not self._switch.on or get_ident() in self._switch.fetching:
            return True
        if isinstance(module, LazyGraphModule) or tracing_state() is not None:
            return True
        if innermost_transform() is not None:
            differentiation.called_inside(module)
            self.observer.notice("torch.transformed", module=type(module).__name__)
            return True
        return False

    def begins(self, module: nn.Module) -> bool:
        """A call begins; returns whether it is reported."""
        if self._depth == 0:
            if not self._training.is_recorded():
                return False
            self._thread = get_ident()
            self._autocast = internals.autocast_type()
        elif self._thread != get_ident():
            if self._autocast is not None and self._told_uncast < _MAX_UNCAST:
                self._look_beside(module, self._autocast)
            return False
        self._depth += 1
        self._count += 1
        if isinstance(module, _FUSED_IN_EVALUATION):
            self._fusing.append((module, self._count))
        return self._depth == 1 or self.observer.wants_calls

    def _look_beside(self, module: nn.Module, autocast: torch.dtype) -> None:
        """A module is called in another thread meanwhile, where autocast does not reach."""
        weight = getattr(module, "weight", None) if isinstance(module, _CAST) else None
        if weight is not None and weight.dtype not in (autocast, torch.float64) and not internals.autocast_depth():
            self._told_uncast += 1
            said = {"dtype": str(weight.dtype).removeprefix("torch."), "autocast": str(autocast).removeprefix("torch.")}
            self.observer.aside("uncast", module=module, **said)

    def ends(self, module: nn.Module, args: Value, kwargs: Value, output: Value) -> None:
        if not self._switch.on or self._depth == 0 or self._thread != get_ident():
            return
        self._depth -= 1
        if self._depth == 0 or self.observer.wants_calls:
            self.observer.returned(module, args, kwargs, output)
        if self._fusing and self._fusing[-1][0] is module:
            _, count = self._fusing.pop()
            if count == self._count:
                self.observer.notice("torch.fused", module=type(module).__name__)


def watch(observer: Observer, switch: Switch, patches: Patches, thread: TrainingThread) -> None:
    """Report calls and returns of all modules."""
    calls = _Calls(observer, switch, thread)
    # torch's own hooks would do, but where there is one, torch calls every ``forward`` from another line of its own and
    # through one more function: warnings that count frames would show other lines. This has guards of its own.
    around = Patches()
    around.wrap(*internals.MODULE_CALL, lambda original: _around(calls, observer, original))
    patches.on_remove(around.remove)
    patches.on_remove(calls.end)

    def make_compile(original: Function) -> Function:
        def compile_in_place(module: nn.Module, *args: object, **kwargs: object) -> None:
            original(module, *args, **kwargs)
            if switch.on:
                observer.notice("torch.compiled", module=type(module).__name__)
                internals.set_compiled_call(module, _observed(module, internals.compiled_call(module), calls))

        return compile_in_place

    patches.wrap(nn.Module, "compile", make_compile)


def _around(calls: _Calls, observer: Observer, original: Function) -> Function:
    guard = harmless(observer)

    # Where a compiled network is called, torch's compiler looks at this one by itself: it vanishes there too.
    def before(module: nn.Module, args: Value, kwargs: Value) -> bool | None:
        if is_compiling():
            return None
        with guard:
            ROOM.enter(_FRAMES)
            if not calls.quiet(module):
                called = _inside(module, observer)
                if calls.begins(called):
                    observer.called(called, args, kwargs)
                return True
        return False

    def after(module: nn.Module, is_recorded: bool, args: Value, kwargs: Value, output: Value) -> None:
        with guard:
            ROOM.leave(_FRAMES)
            if is_recorded:
                calls.ends(_inside(module, observer), args, kwargs, output)

    def call(module: nn.Module, /, *args: object, **kwargs: object) -> Value:
        # torch.compile traces through this: its first line makes the rest vanish from the compiled graph.
        if is_compiling() or calls.over:
            return original(module, *args, **kwargs)
        is_recorded = before(module, args, kwargs)
        output = None
        try:
            output = original(module, *args, **kwargs)
            return output
        except BaseException as error:
            leave_out_of_trace(error)
            raise
        finally:
            if is_recorded is not None:
                after(module, is_recorded, args, kwargs, output)

    # The compiler passes over functions of torch's own files, and begins with what these call: each forward.
    stand_in(call, torch.nn.modules.module.__file__)
    return call


def _inside(module: nn.Module, observer: Observer) -> nn.Module:
    """The network inside what torch.compile returns, which is itself never called."""
    if type(module).__name__ == internals.COMPILED:
        inner: nn.Module = internals.compiled_inner(module)
        observer.notice("torch.compiled", module=type(inner).__name__)
        return inner
    if isinstance(module, torch.jit.ScriptModule):
        observer.notice("torch.scripted", module=module.original_name)
    return module


def _observed(module: nn.Module, compiled: Function, calls: _Calls) -> Function:
    """A module compiled in place calls no hooks at all, not even its own: wrap its compiled call."""

    def call(*args: object, **kwargs: object) -> Value:
        if is_compiling() or calls.quiet(module):
            return compiled(*args, **kwargs)
        with harmless(calls.observer):
            if calls.begins(module):
                calls.observer.called(module, args, kwargs)
        output = None
        try:
            output = compiled(*args, **kwargs)
            return output
        finally:
            with harmless(calls.observer):
                calls.ends(module, args, kwargs, output)

    return call

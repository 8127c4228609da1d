"""Events of loss scaling and gradient clipping."""

from __future__ import annotations

import sys
from collections.abc import Callable

from mindspore import amp

from trueline.adapters.mindspore import values
from trueline.adapters.mindspore.internals import clip_func
from trueline.adapters.mindspore.session import Session
from trueline.adapters.nouns import Foreign, Function, Value
from trueline.adapters.patching import Patches, outermost
from trueline.adapters.tree import leaves

_SCALERS = (amp.DynamicLossScaler, amp.StaticLossScaler)


def watch(session: Session, patches: Patches) -> None:
    """Install the patches."""

    def scaled(result: Value, scaler: Foreign, inputs: Value) -> None:
        session.scaled.append((inputs, result, values.keep(scaler.scale_value)))
        del session.scaled[:-8]
        session.observer.scaled_by(scaler)

    def unscaled(_result: object, _scaler: object, inputs: Value) -> None:
        if isinstance(inputs, list | tuple):
            session.observer.unscaled(session.optimizer)

    def adjusting(_scaler: object, _grads_finite: object) -> None:
        session.undecided = session.unstepped

    for kind in _SCALERS:
        patches.wrap(kind, "scale", lambda original: outermost(original, session.is_reporting, after=scaled))
        patches.wrap(kind, "unscale", lambda original: outermost(original, session.is_reporting, after=unscaled))
        patches.wrap(kind, "adjust", lambda original: outermost(original, session.is_reporting, before=adjusting))
    _watch_clipping(session, patches)


def _watch_clipping(session: Session, patches: Patches) -> None:
    def by_norm(x: Value, max_norm: Value, *_args: object, **_kwargs: object) -> None:
        _report(session, "norm", x, values.read(max_norm))

    def by_global_norm(x: Value, clip_norm: Value = 1.0, *_args: object, **_kwargs: object) -> None:
        _report(session, "norm", x, values.read(clip_norm))

    def by_value(x: Value, clip_value_min: Value = None, clip_value_max: Value = None) -> None:
        limit = clip_value_max if clip_value_max is not None else clip_value_min
        if isinstance(x, list | tuple) and limit is not None:
            _report(session, "value", x, abs(values.read(limit)))

    _replace(session, patches, clip_func.clip_by_norm, by_norm)
    _replace(session, patches, clip_func.clip_by_global_norm, by_global_norm)
    _replace(session, patches, clip_func.clip_by_value, by_value)


def _report(session: Session, kind: str, gradients: Value, limit: float) -> None:
    tensors = [tensor for _, tensor in leaves(gradients, values.is_tensor)]
    session.observer.clipped(kind, limit, values.norm(tensors))
    session.observer.aside("clipping", parameters=(), count=len(tensors))


def _replace(session: Session, patches: Patches, original: Function, before: Callable[..., None]) -> None:
    """Wrap a function in every module that holds it, MindSpore's and the user's."""

    def is_reporting() -> bool:
        return session.is_reporting() and not session.depth

    for module in list(sys.modules.values()):
        if getattr(module, "__dict__", {}).get(original.__name__) is original:
            patches.wrap(module, original.__name__, lambda original: outermost(original, is_reporting, before=before))

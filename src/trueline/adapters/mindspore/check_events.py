"""Events for checks only: loss function calls, loaded weights, schedules, functional dropout."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
from mindspore import Parameter, nn, ops
from mindspore.experimental.optim import lr_scheduler

from trueline.adapters.lines import is_called_by_user
from trueline.adapters.mindspore import values
from trueline.adapters.mindspore.build import PACKAGE
from trueline.adapters.mindspore.internals import grad_node_or_none, serialization
from trueline.adapters.mindspore.session import Session
from trueline.adapters.nouns import Foreign, Function, Network, Value
from trueline.adapters.patching import Patches
from trueline.kernel import UnsupportedDtype, fingerprint

_LOSSES: Final = (
    *("cross_entropy", "nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits"),
    *("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"),
)
_DROPOUTS: Final = ("dropout", "dropout1d", "dropout2d", "dropout3d")
_VIEWS: Final = frozenset(
    (
        *("Reshape", "View", "Squeeze", "Unsqueeze", "ExpandDims", "ExpandDimsView", "Cast", "Select", "StridedSlice"),
        *("Transpose", "TransposeView", "SelectExtView", "SliceExt", "SliceExtView", "Contiguous"),
    )
)
# How many reshapes and casts may stand between an operator and the loss.
_MAX_VIEWS: Final = 6
# Cells that compute by themselves; the others call one of the functions.
_CELLS: Final = {"SoftmaxCrossEntropyWithLogits": "cross_entropy", "MSELoss": "mse_loss", "L1Loss": "l1_loss"}


def watch(session: Session, patches: Patches) -> None:
    """Install the patches."""
    replaced: dict[str, tuple[Function, Callable[[Function], Function]]] = {}
    for name in _LOSSES:
        signature = inspect.signature(getattr(ops, name)) if hasattr(ops, name) else None
        if signature is not None:
            replaced[name] = (
                getattr(ops, name),
                lambda original, name=name, signature=signature: _losing(session, name, signature, original),  # type: ignore[misc]
            )
    for name in _DROPOUTS:
        if hasattr(ops, name):
            replaced[name] = getattr(ops, name), lambda original: _dropping(session, original)
    replaced["load_param_into_net"] = serialization.load_param_into_net, lambda original: _loading(session, original)
    for module in list(sys.modules.values()):
        held = getattr(module, "__dict__", {})
        for name, (original, make) in replaced.items():
            if held.get(name) is original:
                patches.wrap(module, name, make)
    patches.wrap(Parameter, "set_data", lambda original: _setting(session, original))
    for kind in vars(lr_scheduler).values():
        if isinstance(kind, type) and "__init__" in vars(kind) and hasattr(kind, "step"):
            patches.wrap(kind, "__init__", lambda original: _scheduling(session, original))


def _setting(session: Session, original: Function) -> Function:
    def set_data(parameter: Value, data: Value, *args: object, **kwargs: object) -> Value:
        # What an initialiser has given has no values before it is asked for them.
        drawn = bool(getattr(data, "has_init", False))
        result = original(parameter, data, *args, **kwargs)
        if drawn and session.is_reporting():
            session.observer.aside("initialised", parameter=parameter)
        return result

    return set_data


def _losing(session: Session, name: str, signature: inspect.Signature, original: Function) -> Function:
    parameters = list(signature.parameters.values())
    defaults = {
        parameter.name: parameter.default for parameter in parameters[2:] if parameter.default is not parameter.empty
    }
    names = [parameter.name for parameter in parameters]

    def loss(*args: object, **kwargs: object) -> Value:
        if not session.is_reporting() or session.graph_mode() or session.losing:
            return original(*args, **kwargs)
        session.losing = True
        try:
            result = original(*args, **kwargs)
        finally:
            session.losing = False
        if values.is_tensor(result):
            given = {**dict(zip(names, args, strict=False)), **kwargs}
            settings = {**defaults, **{setting: given[setting] for setting in names[2:] if setting in given}}
            _report(session, name, given.get(names[0]), given.get(names[1]), settings, result)
        return result

    return loss


def _report(
    session: Session, name: str, prediction: Value, target: Value, settings: dict[str, object], result: Value
) -> None:
    node = _maker(grad_node_or_none(prediction))
    with session.silence(), values.without_gradient():
        session.observer.aside(
            "criterion",
            name=name,
            prediction=prediction,
            target=target,
            settings=settings,
            value=result,
            made_by=None if node is None else str(node.name()),
        )


def _maker(node: Foreign) -> Foreign:
    """The operator that computed a tensor, skipping reshapes, indexing and casts."""
    for _ in range(_MAX_VIEWS):
        if node is None or node.is_leaf():
            return None
        if str(node.name()) not in _VIEWS:
            break
        node = next((source for source, _ in node.next_functions if source is not None), None)
    return node


def report_cell(
    session: Session, cell: Network, args: Sequence[Value], kwargs: Mapping[str, Value], output: Value
) -> None:
    """Report the call of a loss cell."""
    name = _CELLS.get(type(cell).__name__)
    given = [*args, *kwargs.values()]
    if name is None or len(given) != 2 or not values.is_tensor(output) or not isinstance(cell, nn.Cell):
        return
    reduction = getattr(cell, "reduction", None)
    if not isinstance(reduction, str):
        reduction = "mean" if getattr(cell, "average", False) else "none"
        reduction = reduction if getattr(cell, "reduce", False) else "none"
    _report(session, name, given[0], given[1], {"reduction": reduction}, output)


def _dropping(session: Session, original: Function) -> Function:
    def drop(input: Value, p: float = 0.5, training: bool = True, *more: object, **named: object) -> Value:
        if session.is_reporting() and not session.graph_mode() and (training or is_called_by_user(PACKAGE)):
            session.observer.aside("dropout", rate=p if training else 0.0)
        return original(input, p, training, *more, **named)

    return drop


def _loading(session: Session, original: Function) -> Function:
    def load_param_into_net(
        net: Network, parameter_dict: Mapping[str, Value], *args: object, **kwargs: object
    ) -> Value:
        if not session.is_reporting() or not isinstance(net, nn.Cell):
            return original(net, parameter_dict, *args, **kwargs)
        given, before = set(parameter_dict), _fingerprints(net)
        result = original(net, parameter_dict, *args, **kwargs)
        after = _fingerprints(net)
        missing, unexpected = ([str(parameter) for parameter in part] for part in result)
        session.observer.aside(
            "loaded",
            kind=type(net).__name__,
            given=len(given),
            wanted=len(before),
            missing=sorted(missing),
            unexpected=sorted(unexpected),
            changed=sum(before[name] != after.get(name) for name in before),
        )
        return result

    return load_param_into_net


def _fingerprints(net: Network) -> dict[str, int]:
    fingerprints: dict[str, int] = {}
    for name, parameter in net.parameters_and_names():
        try:
            fingerprints[name] = fingerprint(np.asarray(values.to_numpy(parameter)))
        except (UnsupportedDtype, RuntimeError):
            continue
    return fingerprints


def _scheduling(session: Session, original: Function) -> Function:
    def init(scheduler: Foreign, *args: object, **kwargs: object) -> None:
        if not session.is_reporting():
            original(scheduler, *args, **kwargs)
            return
        with session.silence():
            original(scheduler, *args, **kwargs)
        given = [*args, *kwargs.values()]
        inner = [schedule for part in given for schedule in (part if isinstance(part, list | tuple) else [part])]
        within = sum(type(schedule).__module__ == lr_scheduler.__name__ for schedule in inner)
        session.observer.aside("schedule", kind=type(scheduler).__name__, within=within)

    return init

"""Events of gradients taken as values (torch.autograd.grad, torch.func), and the parameters a backward reaches."""

from __future__ import annotations

from collections.abc import Callable, Sequence, ValuesView
from typing import ClassVar, Final

import torch

from trueline.adapters.nouns import Foreign, Function, Network, Value
from trueline.adapters.observer import Observer, harmless
from trueline.adapters.patching import Patches
from trueline.adapters.torch import internals, values
from trueline.adapters.torch.internals import innermost_transform, is_wrapped, outside_transforms, running_node
from trueline.adapters.tree import leaves

# Bounds the walk through a graph that is made of very many operators.
_MAX_NODES: Final = 200_000


def watch(observer: Observer, is_reporting: Callable[[], bool], patches: Patches) -> None:
    """Report gradients at parameters like a backward; beside an optimizer only where they are no part of a loss."""

    def make_grad(original: Function) -> Function:
        def grad(outputs: Value, inputs: Value, *args: object, **kwargs: object) -> Value:
            graph = kwargs.get("create_graph") or (len(args) > 2 and args[2])
            inside = innermost_transform() is not None or running_node()
            wanted = is_reporting() and not graph and not inside
            losses, parameters = _several(outputs), _several(inputs)
            if not wanted or not parameters or not all(map(_is_parameter, parameters)) or not _are_one_loss(losses):
                return original(outputs, inputs, *args, **kwargs)
            if not observer.wants_parameters and _is_on_the_way(losses[0], parameters):
                return original(outputs, inputs, *args, **kwargs)
            observer.forward_began(parameters)
            observer.loss(losses[0], "value_and_grad")
            observer.backward_began()
            result: Sequence[Value] = ()
            try:
                result = original(outputs, inputs, *args, **kwargs)
                return result
            finally:
                observer.backward_ended()
                observer.pulled(list(zip(parameters, result, strict=False)))

        return grad

    def report(parameters: Sequence[Value], value: Value, gradients: Sequence[Value]) -> None:
        losses = _unbatched(value)
        if losses:
            with outside_transforms():
                observer.loss(losses[0].detach(), "value_and_grad")
                observer.backward_began()
                observer.backward_ended()
                if observer.wants_parameters:
                    observer.pulled(list(zip(parameters, gradients, strict=False)))

    def begin(func: Function, given: Value) -> list[Value]:
        # A network has weights of its own.
        parameters = [] if isinstance(func, torch.nn.Module) else _unbatched(given)
        with outside_transforms():
            observer.forward_began(parameters)
        return parameters

    def make_function(original: Function) -> Function:
        def grad_and_value(
            func: Function, argnums: int | Sequence[int] | None, has_aux: bool, args: Value, kwargs: Value
        ) -> Value:
            if not is_reporting() or not _is_outermost():
                return original(func, argnums, has_aux, args, kwargs)
            parameters = begin(func, _chosen(args, argnums))
            gradient, value = original(func, argnums, has_aux, args, kwargs)
            loss = value[0] if has_aux else value
            if not (is_batched() and _is_on_the_way(loss, parameters)):
                report(parameters, loss, _unbatched(gradient))
            return gradient, value

        return grad_and_value

    def make_vjp(original: Function) -> Function:
        def vjp(
            func: Function, *primals: Value, argnums: int | Sequence[int] | None = None, has_aux: bool = False
        ) -> Value:
            if not is_reporting() or not _is_outermost():
                return original(func, *primals, argnums=argnums, has_aux=has_aux)
            parameters = begin(func, _chosen(primals, argnums))
            with _OwnWeights() as own:
                value, pull, *aux = original(func, *primals, argnums=argnums, has_aux=has_aux)
            if own.called or _is_on_the_way(value, parameters):
                return value, pull, *aux

            def pull_and_report(*args: object, **kwargs: object) -> Value:
                gradient = pull(*args, **kwargs)
                with harmless(observer):
                    if is_reporting() and _is_outermost():
                        report(parameters, value, _unbatched(gradient))
                return gradient

            return value, pull_and_report, *aux

        return vjp

    def make_jvp(original: Function) -> Function:
        def jvp(
            func: Function, primals: Value, tangents: Value, argnums: int | Sequence[int] | None, **kwargs: object
        ) -> Value:
            if not is_reporting() or not _is_outermost():
                return original(func, primals, tangents, argnums, **kwargs)
            parameters = begin(func, _chosen(primals, argnums))
            with _OwnWeights() as own:
                result = original(func, primals, tangents, argnums, **kwargs)
            if not own.called and not _is_on_the_way(result[0], parameters):
                # What comes forward is a share of each parameter's gradient.
                pushed = _unbatched(result[1])[:1]
                report(parameters, result[0], pushed * len(parameters))
            return result

        return jvp

    patches.wrap(torch.autograd, "grad", make_grad)
    transforms = internals.transform_module()
    if transforms is not None:
        patches.wrap(transforms, internals.GRAD_AND_VALUE, make_function)
        patches.wrap(transforms, internals.VJP, make_vjp)
        patches.wrap(transforms, internals.JVP, make_jvp)


class _OwnWeights:
    """Whether a network is called in a block with weights that are its own to train, and not handed to it.

    A derivative is then one by its input.
    """

    open: ClassVar[list[_OwnWeights]] = []

    def __init__(self) -> None:
        self.called = False

    def __enter__(self) -> _OwnWeights:
        self.open.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        self.open.remove(self)


def called_inside(module: Network) -> None:
    """A module is called inside a function transform."""
    if _OwnWeights.open and any(map(_is_own, internals.parameters(module).values())):
        for block in _OwnWeights.open:
            block.called = True


def _is_own(weight: Value) -> bool:
    return isinstance(weight, torch.nn.Parameter) and weight.requires_grad and not is_wrapped(weight)


def _chosen(args: Value, argnums: int | Sequence[int] | None) -> Value:
    """The arguments with respect to which a function is differentiated: all where ``argnums`` is None."""
    if argnums is None or not isinstance(args, tuple):
        return args
    places = (argnums,) if isinstance(argnums, int) else argnums
    # Places that are not there are torch's to complain about.
    return [args[place] for place in places if isinstance(place, int) and -len(args) <= place < len(args)]


def is_batched() -> bool:
    """Whether a vmap is running."""
    return any(transform.key() == internals.VMAP for transform in _transforms())


def _is_outermost() -> bool:
    """Whether no other derivative is being taken around this one; a vmap may be."""
    return all(transform.key() == internals.VMAP for transform in _transforms())


def _transforms() -> Sequence[Foreign]:
    return internals.transforms() or ()


def _unbatched(tree: Value) -> list[Value]:
    """The tensors in a value, without the wrappers of function transforms."""
    tensors = []
    for _, tensor in leaves(tree, values.is_tensor):
        while is_wrapped(tensor):
            tensor = internals.unwrapped(tensor)
        tensors.append(tensor)
    return tensors


def _is_on_the_way(value: object, parameters: Sequence[Value]) -> bool:
    """Whether the value depends on more than the parameters: the derivative is then part of some loss."""
    reached = reached_by(_unbatched(value)[:1], parameters)
    return any(all(leaf is not parameter for parameter in parameters) for leaf in reached)


def _several(given: Value) -> Sequence[Value]:
    """One tensor or several; nothing where iterating would consume the user's argument."""
    if values.is_tensor(given):
        return (given,)
    return tuple(given) if isinstance(given, list | tuple | ValuesView) else ()


def _are_one_loss(losses: Sequence[Value]) -> bool:
    return len(losses) == 1 and values.is_tensor(losses[0]) and losses[0].numel() == 1


def _is_parameter(tensor: Value) -> bool:
    return values.is_tensor(tensor) and tensor.is_leaf and tensor.requires_grad and not is_wrapped(tensor)


def reached_by(losses: Sequence[Value], ends: Sequence[Value] = ()) -> list[Value]:
    """The leaves that a backward of these losses reaches, except those behind ``ends``."""
    leaves_reached: dict[int, Value] = {}
    seen: set[Foreign] = {end.grad_fn for end in ends if end.grad_fn is not None}
    waiting = []
    for loss in losses:
        if values.is_tensor(loss) and loss.grad_fn is not None:
            waiting.append(loss.grad_fn)
        elif values.is_tensor(loss) and loss.requires_grad:
            leaves_reached[id(loss)] = loss
    while waiting and len(seen) < _MAX_NODES:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        variable = getattr(node, "variable", None)
        if variable is not None:
            leaves_reached[id(variable)] = variable
        waiting.extend(before for before, _ in node.next_functions if before is not None)
    return list(leaves_reached.values())

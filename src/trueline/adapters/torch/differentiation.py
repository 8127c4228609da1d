"""Gradients asked for as values (torch.autograd.grad, torch.func), and the parameters that backward reaches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence, ValuesView
from typing import Any, Final

import torch
from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack

from trueline.adapters.observer import Observer
from trueline.adapters.patching import Patches
from trueline.adapters.torch import values
from trueline.adapters.tree import leaves

# Bounds the walk through a graph that is made of very many operators.
_MOST_NODES: Final = 200_000
_VMAP: Final = torch._C._functorch.TransformType.Vmap


def watch(observer: Observer, speaks: Callable[[], bool], patches: Patches) -> None:
    """Tell of gradients at parameters as of a backward, while no optimizer is known that takes them."""

    def make_grad(original: Callable[..., Any]) -> Callable[..., Any]:
        def grad(outputs: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
            graph = kwargs.get("create_graph") or (len(args) > 2 and args[2])
            inside = torch._C._functorch.peek_interpreter_stack() is not None or torch._C._current_autograd_node()
            wanted = speaks() and observer.wants_parameters and not graph and not inside
            losses, parameters = _several(outputs), _several(inputs)
            if not wanted or not parameters or not all(map(_is_parameter, parameters)) or not _are_one_loss(losses):
                return original(outputs, inputs, *args, **kwargs)
            observer.forward_began(parameters)
            observer.loss(losses[0], "value_and_grad")
            observer.backward_began()
            result: Sequence[Any] = ()
            try:
                result = original(outputs, inputs, *args, **kwargs)
                return result
            finally:
                observer.backward_ended()
                observer.pulled(list(zip(parameters, result, strict=False)))

        return grad

    def make_function(original: Callable[..., Any]) -> Callable[..., Any]:
        def grad_and_value(func: Any, argnums: Any, has_aux: bool, args: Any, kwargs: Any) -> Any:
            if not speaks() or not _is_outermost():
                return original(func, argnums, has_aux, args, kwargs)
            chosen = (argnums,) if isinstance(argnums, int) else tuple(argnums)
            # A network has weights of its own.
            places = () if isinstance(func, torch.nn.Module) else chosen
            parameters = _unbatched([args[place] for place in places])
            with temporarily_clear_interpreter_stack():
                observer.forward_began(parameters)
            gradient, value = original(func, argnums, has_aux, args, kwargs)
            losses = _unbatched(value[0] if has_aux else value)
            if losses and not (is_batched() and _is_on_the_way(losses[0], parameters)):
                with temporarily_clear_interpreter_stack():
                    observer.loss(losses[0].detach(), "value_and_grad")
                    observer.backward_began()
                    observer.backward_ended()
                    if observer.wants_parameters:
                        observer.pulled(list(zip(parameters, _unbatched(gradient), strict=False)))
            return gradient, value

        return grad_and_value

    patches.wrap(torch.autograd, "grad", make_grad)
    transforms = sys.modules.get("torch._functorch.eager_transforms")
    if transforms is not None:
        patches.wrap(transforms, "grad_and_value_impl", make_function)


def is_batched() -> bool:
    """Whether a function is running for many at once."""
    return any(one.key() == _VMAP for one in _transforms())


def _is_outermost() -> bool:
    """Whether no derivative is taken around this one, though it may be taken for many at once."""
    return all(one.key() == _VMAP for one in _transforms())


def _transforms() -> Sequence[Any]:
    return torch._C._functorch.get_interpreter_stack() or ()


def _unbatched(tree: Any) -> list[Any]:
    """The tensors in a tree of values; where they stand for one of many, all of them."""
    found = []
    for _, tensor in leaves(tree, values.is_tensor):
        while torch._C._functorch.is_functorch_wrapped_tensor(tensor):
            tensor = torch._C._functorch.get_unwrapped(tensor)
        found.append(tensor)
    return found


def _is_on_the_way(value: Any, parameters: Sequence[Any]) -> bool:
    """Whether it depends on more than what it was differentiated by: the derivative is then a part of some loss."""
    reached = reached_by([value], parameters)
    return any(all(leaf is not one for one in parameters) for leaf in reached)


def _several(given: Any) -> Sequence[Any]:
    """One tensor, or several where looking at them takes nothing away from the user's call."""
    if values.is_tensor(given):
        return (given,)
    return tuple(given) if isinstance(given, list | tuple | ValuesView) else ()


def _are_one_loss(losses: Sequence[Any]) -> bool:
    return len(losses) == 1 and values.is_tensor(losses[0]) and losses[0].numel() == 1


def _is_parameter(tensor: Any) -> bool:
    return values.is_tensor(tensor) and tensor.is_leaf and tensor.requires_grad


def reached_by(losses: Sequence[Any], ends: Sequence[Any] = ()) -> list[Any]:
    """The leaves that a backward of these losses brings a gradient to, but for those behind ``ends``."""
    found: dict[int, Any] = {}
    seen: set[Any] = {one.grad_fn for one in ends if one.grad_fn is not None}
    waiting = []
    for loss in losses:
        if values.is_tensor(loss) and loss.grad_fn is not None:
            waiting.append(loss.grad_fn)
        elif values.is_tensor(loss) and loss.requires_grad:
            found[id(loss)] = loss
    while waiting and len(seen) < _MOST_NODES:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        variable = getattr(node, "variable", None)
        if variable is not None:
            found[id(variable)] = variable
        waiting.extend(before for before, _ in node.next_functions if before is not None)
    return list(found.values())

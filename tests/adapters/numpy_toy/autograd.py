"""Gradients of one function, by themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from adapters.numpy_toy import framework, values

from trueline.adapters.nouns import Gout, Pulled
from trueline.adapters.tree import leaves


def without_gradient() -> AbstractContextManager[None]:
    """No operator in this block is recorded for a gradient."""
    return framework.no_grad()


def vjp(function: Callable[..., Any], inputs: Sequence[Any], parameters: Sequence[Any], gout: Gout) -> Pulled:
    """Run ``function`` on tensors, and bring ``gout``, one per floating output, back to inputs and parameters."""
    given = [framework.Tensor(one.data, requires_grad=np.issubdtype(one.data.dtype, np.floating)) for one in inputs]
    before = [one.grad for one in parameters]
    for one in parameters:
        one.grad = None
    try:
        with framework.no_grad(False):
            result = function(*given)
        outputs = [one for _, one in leaves(result, values.is_tensor)]
        copies = [values.to_numpy(one, copy=True) for one in outputs]
        wished = gout(copies) if callable(gout) else gout
        for output, gradient in zip(outputs, wished, strict=False):
            if gradient is not None:
                output.backward(gradient)
        return Pulled(copies, [one.grad for one in given], [one.grad for one in parameters], result)
    finally:
        for one, gradient in zip(parameters, before, strict=True):
            one.grad = gradient

"""What is not PyTorch's documented interface: private names and undocumented modules are touched here and nowhere else.

All of it was checked on torch 2.13. Functions that run with every call of a module or an operator are bound here as
they are, without a Python frame around them: a frame would cost time, and torch's compiler would look at it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from operator import attrgetter, methodcaller
from types import ModuleType
from typing import Final

import torch
from torch import nn
from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack
from torch.autograd.function import BackwardCFunction
from torch.fx._lazy_graph_module import _LazyGraphModule
from torch.jit import _builtins
from torch.nn.utils import parametrizations
from torch.nn.utils.spectral_norm import SpectralNorm
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack
from torch.utils.data import _utils, dataloader

from trueline.adapters.nouns import Foreign, Function, Network, Value

# An attribute to be replaced: whose it is, and its name.
Attribute = tuple[object, str]

# ---- modules

# What every call of a module goes through, with its hooks.
MODULE_CALL: Final[Attribute] = (nn.Module, "_call_impl")
# The submodules, parameters and buffers registered in one module, by name; None where one was registered as None.
SUBMODULES: Final = "_modules"
submodules: Final[Callable[[Network], Mapping[str, Network]]] = attrgetter(SUBMODULES)
parameters: Final[Callable[[Network], Mapping[str, Value]]] = attrgetter("_parameters")
buffers: Final[Callable[[Network], Mapping[str, Value]]] = attrgetter("_buffers")
# Where ``setattr`` on a module puts submodules, parameters and buffers, out of ``vars``.
REGISTRIES: Final = ("_parameters", "_buffers", SUBMODULES)
# Where a quantized module holds its weights, which are no parameters.
QUANTIZED_WEIGHTS: Final = "_packed_params"
# A graph module that replaces itself with its compiled self when it is first called.
LazyGraphModule: Final = _LazyGraphModule


# ---- compiled modules

# The class of what torch.compile makes of a module, and the attribute that holds that module. By name: looking at the
# class itself would load the compiler, which takes as long as torch.
COMPILED: Final = "OptimizedModule"
COMPILED_INNER: Final = "_orig_mod"
compiled_inner: Final[Callable[[Network], Network]] = attrgetter(COMPILED_INNER)
# What ``Module.compile`` leaves in a module to be called instead of its forward; None where it was not compiled.
compiled_call: Final[Callable[[Network], Value]] = attrgetter("_compiled_call_impl")


def set_compiled_call(module: Network, call: Callable[..., Value]) -> None:
    """Replace what is called instead of the forward of a module that was compiled in place."""
    module._compiled_call_impl = call


def is_compiled(module: Network) -> bool:
    """Whether this is what torch.compile made of a module, or a module that was compiled in place."""
    return type(module).__name__ == COMPILED or compiled_call(module) is not None


def compiled_alike(compiled: Network, module: Network) -> Callable[..., Value]:
    """A module compiled with the settings of another one."""
    made: Callable[..., Value] = compiled.dynamo_ctx(module)
    return made


def is_compiler_loaded() -> bool:
    """Whether torch's compiler is in this process: without it nothing is compiled, and asking it would load it."""
    return "torch._dynamo" in sys.modules


# ---- tracing and function transforms

# The state of torch.jit.trace; None outside of it.
tracing_state: Final[Callable[[], object]] = torch._C._get_tracing_state
# The innermost transform of torch.func that is running; None outside of all.
innermost_transform: Final[Callable[[], object]] = torch._C._functorch.peek_interpreter_stack
# All that are running, the outermost first; None for none.
transforms: Final[Callable[[], Sequence[Value] | None]] = torch._C._functorch.get_interpreter_stack
# What ``key()`` of a running vmap gives.
VMAP: Final = torch._C._functorch.TransformType.Vmap
# Whether a tensor stands for another one inside a transform, and that other one.
is_wrapped: Final[Callable[[Value], bool]] = torch._C._functorch.is_functorch_wrapped_tensor
unwrapped: Final[Callable[[Value], Value]] = torch._C._functorch.get_unwrapped
# In this block tensors are computed with as outside of all transforms.
outside_transforms: Final[Callable[[], AbstractContextManager[object]]] = temporarily_clear_interpreter_stack
# The implementations of torch.func's grad and grad_and_value, vjp, and jvp.
GRAD_AND_VALUE: Final = "grad_and_value_impl"
VJP: Final = "_vjp_with_argnums"
JVP: Final = "_jvp_with_argnums"


def transform_module() -> ModuleType | None:
    """The module of torch.func's implementations, where it is loaded."""
    return sys.modules.get("torch._functorch.eager_transforms")


# ---- autograd

# The node whose backward is running; None outside of a backward pass.
running_node: Final[Callable[[], Value]] = torch._C._current_autograd_node
# The number of the backward pass that is running in this thread; -1 outside of all.
backward_pass: Final[Callable[[], int]] = torch._C._current_graph_task_id
# The number that the next node will get, and that of a node.
next_node_number: Final[Callable[[], int]] = torch.autograd._get_sequence_nr
node_number: Final[Callable[[Value], int]] = methodcaller("_sequence_nr")
# How often a tensor was written in place; inference tensors raise.
write_count: Final[Callable[[Value], int]] = attrgetter("_version")
# The file of the decorator that enters no_grad around a function.
GRAD_MODE_DECORATOR: Final = "/torch/utils/_contextlib.py"


def function_class(node: Value) -> type | None:
    """The ``autograd.Function`` of the user's that an autograd node belongs to; None for a node of torch's own."""
    if not isinstance(node, BackwardCFunction):
        return None
    function: type = getattr(node, "_forward_cls", type(node))
    return function


# Spectral norm as a parametrization and as a hook, and the matrix that the former makes of a weight.
SPECTRAL_PARAMETRIZATION: Final[type[nn.Module]] = parametrizations._SpectralNorm
SPECTRAL_HOOK: Final[Value] = SpectralNorm
spectral_matrix: Final[Callable[[Value, Value], Value]] = parametrizations._SpectralNorm._reshape_weight_to_matrix


def spectral_vectors(found: Value) -> tuple[Value, Value] | None:
    """What stands for the largest singular value of a weight; a weight of one dimension needs nothing."""
    return (found._u, found._v) if hasattr(found, "_u") else None


def forward_pre_hooks(module: Network) -> list[Foreign]:
    """What is called before a module's forward."""
    return list(getattr(module, "_forward_pre_hooks", {}).values())


# The base of all convolutions.
Convolution: Final[type[nn.Module]] = nn.modules.conv._ConvNd

# ---- autocast


def autocast_type() -> torch.dtype | None:
    """The type that autocast computes in, in this thread and now; None outside of it."""
    for device in ("cpu", "cuda"):
        if torch.is_autocast_enabled(device):
            return torch.get_autocast_dtype(device)
    return None


def autocast_depth() -> int:
    """How many autocast regions, disabled ones too, this thread is in."""
    depth = torch.autocast_increment_nesting() - 1
    torch.autocast_decrement_nesting()
    return int(depth)


# ---- operators


class DispatchMode(TorchDispatchMode):  # type: ignore[misc]
    """Sees every operator that runs; for a process in which torch's compiler is not loaded.

    By default torch keeps its compiler away from such a class, and loads it for that: a second, where nothing is
    compiled.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False


# Whether torch compiles under a mode that asks for nothing of what is compiled.
MODES_LET_COMPILE: Final[bool] = hasattr(TorchDispatchMode, "ignore_compile_internals")


def dispatch_modes() -> list[Value]:
    """The modes that see the operators of this thread, the innermost last."""
    return list(_get_current_dispatch_mode_stack())


class BesideCompiler:
    """A base, before DispatchMode, of those for a process that has the compiler: it leaves their code alone."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return True


@cache
def operator_name(operator: Value) -> str:
    """The name of an operator without its namespace and its overload."""
    return str(operator.overloadpacket._qualified_op_name.split("::")[-1])


@cache
def operator_parameters(operator: Value) -> list[tuple[str, Value]]:
    """The names of an operator's parameters with their defaults, which are None where there are none."""
    return [(parameter.name, parameter.default_value) for parameter in operator._schema.arguments]


# The L2 norm of each of several tensors, at once.
norms: Final[Callable[[Sequence[Value]], Sequence[Value]]] = torch._foreach_norm
# Whether convolutions may run in oneDNN: torch.backends.mkldnn has no setter outside of a block.
use_mkldnn: Final[Callable[[bool], None]] = torch._C._set_mkldnn_enabled
# torch's compiler passes over code of this file.
TENSOR_FILE: Final[str] = torch._tensor.__file__


def load_builtins() -> None:
    """Let TorchScript build its table of operators now, of torch's own functions."""
    _builtins._get_builtin_table()


def register_builtin(function: Function, name: str) -> Callable[[], object]:
    """Let TorchScript take a function for an operator; returns what undoes it.

    Its table is keyed by ``id``: an entry that outlived its function would apply to whatever gets the same address.
    """
    _builtins._register_builtin(function, f"aten::{name}")
    key = id(function)
    return lambda: _builtins._get_builtin_table().pop(key, None)


# ---- training

# The scale of a GradScaler as a tensor, without waiting for the device as ``get_scale`` does.
scale_of: Final[Callable[[Value], Value]] = attrgetter("_scale")


def is_initial_step(scheduler: Value) -> bool:
    """Whether a scheduler takes the step that is part of its construction."""
    return bool(getattr(scheduler, "_is_initial", False))


# ``torch.multiprocessing`` has a function of the same name.
SPAWN_MODULE: Final = sys.modules["torch.multiprocessing.spawn"]


# ---- data

# What goes through a DataLoader's batches; it asks its sampler by one method, and begins an epoch by the other.
LoaderIterator: Final[type] = dataloader._BaseDataLoaderIter
NEXT_INDEX: Final = "_next_index"
RESET: Final = "_reset"
# The same with worker processes, what runs in each of them, and what makes a batch there.
WorkersIterator: Final[type] = dataloader._MultiProcessingDataLoaderIter
WORKER_LOOP: Final[Attribute] = (_utils.worker, "_worker_loop")
FETCHERS: Final = (_utils.fetch._MapDatasetFetcher, _utils.fetch._IterableDatasetFetcher)
# What a DataLoader does with each sample where it makes no batches.
default_convert: Final = _utils.collate.default_convert


def is_in_order(iterator: Value) -> bool:
    """Whether batches come in the order in which they were asked for."""
    return bool(getattr(iterator, "_in_order", True))


# ---- several processes


def distributed() -> ModuleType | None:
    """The module that the functions of ``torch.distributed`` are defined in; None where torch was built without."""
    return sys.modules.get("torch.distributed.distributed_c10d") if torch.distributed.is_available() else None


def joining() -> type | None:
    """The context in which ranks may run out of batches at different steps."""
    from torch.distributed.algorithms.join import Join

    return Join if torch.distributed.is_available() else None

"""What is not MindSpore's documented interface: private names and undocumented modules are touched here alone.

All of it was checked on MindSpore 2.10; what is not there in an older version says so. What runs with every call of a
cell or an operator is bound here as it is, without a Python frame around it.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter
from types import ModuleType
from typing import Final

import mindspore as ms
from mindspore import common
from mindspore.common._tensor_cpp_method import tensor_cpp_methods
from mindspore.communication.management import GlobalComm, get_process_group_ranks
from mindspore.dataset.engine import datasets as datasets
from mindspore.dataset.engine import datasets_user_defined as generators
from mindspore.dataset.engine import iterators
from mindspore.dataset.transforms.py_transforms_util import FuncWrapper
from mindspore.dataset.vision import transforms as vision_transforms
from mindspore.nn.learning_rate_schedule import LearningRateSchedule as LearningRateSchedule
from mindspore.nn.optim.optimizer import _ConvertToCell
from mindspore.ops.auto_generate import pyboost_inner_prim
from mindspore.ops.composite import base as composite
from mindspore.ops.function import clip_func as clip_func
from mindspore.ops.function import nn_func as nn_func
from mindspore.train import dataset_helper
from mindspore.train import serialization as serialization
from mindspore.train.amp import AmpDecorator as AmpDecorator

from trueline.adapters.nouns import Foreign, Loader, Network, Value
from trueline.model.json_value import Json

try:
    from mindspore.graph import api
except ImportError:  # the name until 2.8
    from mindspore.common import api
try:
    from mindspore.dataset.dataloader import dataloader
except ImportError:  # new in 2.8
    dataloader = None
try:
    from mindspore.common._grad_function import _Function
except ImportError:  # new in 2.6
    _Function = None

# An attribute to be replaced: whose it is, and its name.
Attribute = tuple[object, str]

# ---- cells

# The cells, parameters and buffers registered in one cell, by name; None where one was registered as None.
subcells: Final[Callable[[Network], Mapping[str, Network]]] = attrgetter("_cells")
parameters: Final[Callable[[Network], Mapping[str, Value]]] = attrgetter("_params")
buffers: Final[Callable[[Network], Mapping[str, Value]]] = attrgetter("_buffers")


def parameter_lists(cell: Network) -> Mapping[str, list[Value]]:
    """The lists of parameters that a cell holds, by the attribute that holds each."""
    lists: Mapping[str, list[Value]] = getattr(cell, "_params_list", {})
    return lists


# Cells that only wrap a network: their classes, and the attribute that holds the network.
WRAPPERS: Final[Mapping[str, str]] = {
    "DistributedDataParallel": "module",
    "ForwardValueAndGrad": "network",
    "GradAccumulationCell": "network",
    "MicroBatchInterleaved": "network",
    "PipelineCell": "network",
    "TrainOneStepCell": "network",
    "VirtualDatasetCellTriple": "_backbone",
    "WithEvalCell": "_network",
    "WithGradCell": "network",
    "WithLossCell": "_backbone",
    "_DataWrapper": "network",
    "_OutputTo16": "_backbone",
    "_OutputTo32": "_backbone",
    "_VirtualDatasetCell": "_backbone",
}
# What the network is called in the training cell of a user's.
NETWORK_NAMES: Final = ("network", "net", "model", "backbone", "_backbone", "_network")
# Cells that clip gradients, or give an optimizer its learning rate: no part of a network.
OUTSIDE_NETWORKS: Final = ("_ClipByGlobalNorm", "_IteratorLearningRate", "_ConvertToCell")

# ---- optimizers

# A schedule that gives what its parameter holds, and one that gives what a list of rates holds for the step.
ConstantRate: Final = _ConvertToCell
LISTED_RATES: Final = "_IteratorLearningRate"

# ---- gradients

# The executor of PyNative mode: ``enable_grad()``, ``set_enable_grad(flag)``, ``clear_res()``.
pynative: Final[Value] = api._pynative_executor
# What a function or a cell goes through that is differentiated in PyNative mode: forward, then backward.
PYNATIVE_FORWARD: Final[Attribute] = (composite, "_pynative_forward_run")
PYNATIVE_BACKWARD: Final[Attribute] = (composite, "_pynative_func_grad_backward")
# A function run forward with what a gradient needs; None where the versions differ.
GRADIENT_FORWARD: Final[Callable[..., Value] | None] = getattr(composite, "_pynative_func_grad_forward", None)
# The block in which no operator is recorded for a gradient.
NoGrad: Final[type] = api._no_grad
# The base of a user's autograd functions; None before 2.6.
AutogradFunction: Final[type | None] = _Function
# The autograd node that made a tensor; None where no gradient comes back to it.
grad_node: Final[Callable[[Value], Value]] = attrgetter("_grad_node")


def pulled_back(
    function: Callable[..., Value], inputs: tuple[Value, ...], places: tuple[int, ...], weights: Value, sens: Value
) -> Value:
    """The gradients of a function that has just run forward, from what stands at its outputs."""
    asked = composite._Grad(
        get_by_list=bool(weights), sens_param=True, get_by_position=bool(places), get_all=False, has_aux=False
    )
    asked.pynative_ = True
    return api._convert_python_data(
        composite._pynative_func_grad_backward(function, asked, weights, places or None, False, *inputs, sens)
    )


def grad_node_or_none(value: Value) -> Foreign:
    """The same of a value that may be no tensor."""
    return getattr(value, "_grad_node", None)


def node_number(node: Value) -> int:
    """The number of an autograd node, which is handed out as a new object each time."""
    return int(node._unique_id())


# ---- compiled functions

# What runs a function that is decorated with ``jit``: ``fn`` is the function, ``obj`` its cell.
JitExecutor: Final[type] = api._JitExecutor


def is_jitted(cell: Network) -> bool:
    """Whether the ``construct`` of a cell is decorated with ``jit``."""
    return hasattr(type(cell).construct, "__wrapped_by_jit__")


# ---- operators

_CPP: Final = "mindspore._c_expression"
# Tensor's methods that go straight into C++.
CPP_METHODS: Final = frozenset(tensor_cpp_methods)
# How the primitives that predate pyboost are run.
RUN_OPERATOR: Final = "_run_op"


def python_modules() -> Iterator[ModuleType]:
    """MindSpore's modules that are loaded, but for the one that is written in C++."""
    for name, module in list(sys.modules.items()):
        if name.startswith("mindspore.") and name != _CPP and module is not None:
            yield module


def kernel_name(name: str, value: Value) -> str | None:
    """The operator that a module's attribute runs, held as ``pyboost_*`` or ``_*_instance``; None for any other."""
    if name.startswith("pyboost_"):
        return name.removeprefix("pyboost_")
    if name.startswith("_") and name.endswith("_instance") and not _is_python(value):
        return name[1:].removesuffix("_instance")
    return None


def _is_python(value: Value) -> bool:
    home = type(value).__module__
    return hasattr(value, "__code__") or (home.startswith("mindspore.") and home != _CPP)


def cpp_primitives() -> Iterator[tuple[str, type]]:
    """The primitives that are called in C++, each under the name of its operator."""
    for name, kind in list(vars(pyboost_inner_prim).items()):
        if isinstance(kind, type) and name.startswith("_Pyboost") and "__call__" in vars(kind):
            yield name.removeprefix("_Pyboost").removesuffix("Prim"), kind


# The module of the classes that MindSpore's types of numbers are.
DTYPE_MODULE: Final = f"{_CPP}.typing"
# The functions that drop values at random.
DROPOUT_FUNCTIONS: Final = (
    *("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"),
    *("_inner_dropout", "dropout_ext", "dropout2d_ext"),
)

# ---- seeds

# ``mindspore.common`` has a function of the same name.
_seeds: Final = importlib.import_module("mindspore.common.seed")
# All modules that hold ``set_seed``.
SEED_HOLDERS: Final = (ms, common, _seeds)


def kernel_seeds() -> list[Json]:
    """For each functional operator that draws random numbers: its name, its seed, and how often it has drawn."""
    return [[kernel, seed, count] for (kernel, seed), count in vars(_seeds)["_KERNEL_SEED"].items()]


def set_seeds(seed: int | None, kernels: Value) -> None:
    """Bring the seed and what ``kernel_seeds`` gave back; ``set_seed`` would forget the second, and seed NumPy."""
    vars(_seeds)["_GLOBAL_SEED"] = seed
    counts = vars(_seeds)["_KERNEL_SEED"]
    counts.clear()
    counts.update({(kernel, own): count for kernel, own, count in kernels})


# ---- data

# What goes through a dataset's batches.
DatasetIterator: Final[type] = iterators.Iterator
# The loader like torch's, what goes through its batches, and the method that asks the sampler; None before 2.8.
DataLoader: Final[type | None] = dataloader.DataLoader if dataloader is not None else None
LoaderIterator: Final[type | None] = dataloader._Iterator if dataloader is not None else None
NEXT_INDEX: Final = "_get_next_index"
# A process of a generator dataset, and what runs in it.
WORKER: Final[Attribute] = (generators._GeneratorWorkerMp, "__init__")
WORKER_LOOP: Final[Attribute] = (generators, "_generator_worker_loop")
# What Model.train takes batches with.
DatasetHelper: Final[type] = dataset_helper.DatasetHelper
# What a user's function is wrapped in by a map.
FunctionWrapper: Final = FuncWrapper


def dataset_of(iterator: Loader) -> Loader | None:
    """The dataset that an iterator of MindSpore's goes through; None for other iterators."""
    return getattr(iterator, "_Iterator__ori_dataset", None)


def is_sink(helper: Value) -> bool:
    """Whether a DatasetHelper hands batches to the device, where Python does not see them."""
    return bool(isinstance(helper.iter, dataset_helper._DatasetIter))


def is_vision_transform(step: Value) -> bool:
    """Whether this is one of mindspore.dataset.vision."""
    return bool(type(step).__module__ == vision_transforms.__name__)


# ---- processes


def is_communicating() -> bool:
    """Whether ``mindspore.communication.init`` was called; asking for the rank before would raise."""
    return bool(GlobalComm.INITED)


def group_ranks(group: str) -> list[int]:
    """The ranks of a group, of all where it has no name."""
    return list(get_process_group_ranks(group or GlobalComm.WORLD_COMM_GROUP))


def communicating() -> list[ModuleType]:
    """The modules with functions of communication, as far as this version has them."""
    names = ("mindspore.communication.comm_func", "mindspore.ops.communication", "mindspore.mint.distributed")
    return [module for name in names if (module := sys.modules.get(name)) is not None]

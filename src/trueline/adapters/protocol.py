"""What a framework's folder offers.

An adapter is a handful of modules with the same names in every framework: ``values``, ``hooks``, ``ops``,
``state``, ``build``, ``perturb``, ``data``, ``autograd``, ``intercept``, ``steady``, ``compiling``, ``streams``,
``replaying``, ``rates``, ``batching`` and ``loss_scale``. The protocols below are what the modules' functions must
look like. Tensors, modules and optimizers are the framework's own objects, under the names of ``nouns``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from trueline.adapters.batchers import Resize
from trueline.adapters.nouns import (
    Alter,
    Around,
    Built,
    Foreign,
    Function,
    Gout,
    Group,
    Instead,
    Loader,
    Network,
    Normalised,
    OpCall,
    Optimizer,
    Passed,
    Pulled,
    Share,
    State,
    Stateful,
    Tensor,
    Value,
)
from trueline.adapters.observer import Observer, Tap
from trueline.adapters.pipeline import BuiltAt, Opened
from trueline.adapters.scalers import Begin
from trueline.kernel.array import Array
from trueline.model.json_value import Json
from trueline.model.location import Location


class Values(Protocol):
    """Conversion to and from NumPy, and the structure of a network."""

    def is_tensor(self, value: object) -> bool: ...

    def is_module(self, value: object) -> bool: ...

    def to_numpy(self, tensor: Value, *, copy: bool = False) -> Array:
        """The tensor's values; without ``copy`` the memory may be shared. bf16 comes as ml_dtypes.bfloat16.

        Raises Unreadable where there are none.
        """
        ...

    def from_numpy(self, array: Array, *, like: Value = None) -> Value:
        """A new tensor, on the device and with the dtype of ``like`` if given."""
        ...

    def assign(self, tensor: Value, array: Array) -> None:
        """Overwrite a tensor in place, so that an optimizer that has already stepped sees it too."""
        ...

    def read(self, scalar: Value) -> float:
        """A scalar as a Python number (synchronises with the device)."""
        ...

    def keep(self, scalar: Value) -> Value:
        """A cheap copy of a scalar (or of a tensor's mean), to be ``read`` later."""
        ...

    def norm(self, tensors: Sequence[Value]) -> Value:
        """The L2 norm over all tensors, lazily: a scalar to be ``read`` later."""
        ...

    def total(self, tensors: Sequence[Value]) -> Value:
        """A lazy scalar that is NaN or Inf if any element is, and rarely otherwise: cheaper than the norm."""
        ...

    def identity(self, tensor: Value) -> int:
        """Equal for tensors that share the start of their storage, else different while both are alive."""
        ...

    def version(self, tensor: Value) -> int | None:
        """Changes whenever the tensor is written in place; None where the framework has no such counter."""
        ...

    def node(self, tensor: Value) -> Foreign:
        """The autograd node that produced the tensor, hashable and comparable; None where there is none."""
        ...

    def gradient(self, parameter: Value) -> Value:
        """The gradient accumulated at a parameter; None where there is none."""
        ...

    def nodes_before(self, node: Foreign) -> Sequence[Foreign]:
        """The autograd nodes whose outputs a node consumes."""
        ...

    def tensors(self, root: Network) -> Iterator[Tensor]:
        """Parameters, then buffers, by path; shared ones under each of their names."""
        ...

    def modules(self, root: Network) -> Iterator[tuple[str, Network]]:
        """All modules from the root ("") down, each once, in definition order."""
        ...

    def has_weights(self, module: Network) -> bool:
        """Whether a module has parameters, or weights in a form that is not registered as such."""
        ...

    def normalised(self, root: Network) -> Iterator[Normalised]:
        """The weights that the framework divides by their largest singular value, as they are used now."""
        ...

    def unwrap(self, module: Network) -> Network:
        """The network inside a wrapper (data parallel, compiled, one-step training cells), else the module itself."""
        ...

    def attributes(self, module: Network) -> dict[str, Json]:
        """The plain public attributes (JSON values) that determine a module's behaviour, without ``training``."""
        ...

    def training(self, module: Network) -> bool:
        """Whether the module is in training mode and gradients would be recorded."""
        ...

    def groups(self, optimizer: Optimizer) -> list[Group]: ...

    def is_fresh(self, optimizer: Optimizer) -> bool:
        """Whether an optimizer remembers nothing of earlier updates."""
        ...

    def dtype(self, tensor: Value) -> str:
        """The NumPy name of the dtype: "float32", "bfloat16" …"""
        ...

    def shape(self, tensor: Value) -> tuple[int, ...]: ...


class Installed(Protocol):
    """Installed hooks."""

    def remove(self) -> None:
        """Remove all hooks; what cannot be removed is left inert."""
        ...


class Hooks(Protocol):
    """Hooks that observe a training run without changes to the user's script."""

    def install(self, observer: Observer) -> Installed:
        """Hook modules, gradients, optimizers and loaders, existing ones included."""
        ...

    def on_gradient(self, tensor: Value, receive: Callable[[Value], None]) -> None:
        """Pass on the gradient that arrives at a tensor in this step's backward, if any."""
        ...


class Ops(Protocol):
    """Op level, for the steps that need it."""

    def watch(self, callback: Callable[[OpCall], None], alter: Alter | None = None) -> AbstractContextManager[None]:
        """Report every operator in the block, in order, after it ran; ``alter`` may give it other settings before."""
        ...

    def begin(self, callback: Callable[[OpCall], None]) -> Callable[[], bool] | None:
        """Report every operator of forward passes from now on, until what is returned is called and says True.

        It says False while it cannot end, since the script has begun to look at operators itself and is not over with
        it; nothing is reported then. None where it looks at them already.
        """
        ...

    def making(self, callback: Callable[[Value, Location | None], None]) -> AbstractContextManager[None]:
        """Report every tensor that the user's code makes of data in the block, with its line."""
        ...


class States(Protocol):
    """Seeding, and facts of the environment."""

    def seed(self, seed: int, *, deterministic: bool = True) -> list[str]:
        """Seed this framework; returns the message ids of what remains nondeterministic."""
        ...

    def circumstances(self) -> dict[str, Json]:
        """Versions, device, precision, mode, seeds and flags for RunInfo."""
        ...

    def rank(self) -> tuple[int, int] | None:
        """(rank, world size) where a process group is initialised."""
        ...


class Builds(Protocol):
    """How a module was constructed, and rebuilding it."""

    def package(self) -> str:
        """The framework's package folder with a trailing slash: frames in it are not the user's."""
        ...

    def capture_built(self) -> None:
        """From now on capture the constructor arguments of every module."""
        ...

    def built(self, module: Network) -> Built | None: ...

    def line_of(self, optimizer: Optimizer) -> Location | None:
        """The user's line that constructed an optimizer, if captured."""
        ...

    def optimizers(self) -> Sequence[Optimizer]:
        """Live optimizers whose construction was captured."""
        ...

    def rebuild(self, module: Network, **changes: object) -> Network:
        """A new module of the same arguments, weights, buffers and mode with only ``changes`` different.

        Weights that the changed module no longer has are dropped; ones whose shape no longer fits are left fresh.
        """
        ...

    def run(
        self, module: Network, inputs: Sequence[Array], *, gout: Sequence[Array] | None = None, train: bool = False
    ) -> Passed:
        """Run one module in the given mode, then restore its mode, buffers and gradients."""
        ...

    def undisturbed(self, module: Network, train: bool) -> AbstractContextManager[None]:
        """In the block the module runs op by op in the given mode; modes and buffers are restored afterwards."""
        ...

    def apply_gradients(self, optimizer: Optimizer, gradients: Sequence[Array]) -> None:
        """One optimizer step with these gradients, in the order of its groups' parameters."""
        ...


class Autograd(Protocol):
    """Vector-Jacobian products of a single function."""

    def without_gradient(self) -> AbstractContextManager[None]:
        """No operator in the block is recorded for gradients."""
        ...

    def vjp(self, function: Function, inputs: Sequence[Value], parameters: Sequence[Value], gout: Gout) -> Pulled:
        """Run ``function`` on tensors and pull ``gout`` (one per floating output) back to inputs and parameters."""
        ...


class Intercepts(Protocol):
    """Interception of module calls."""

    def intercept(self, around: Around) -> AbstractContextManager[None]:
        """In the block every module call goes through ``around``."""
        ...


class Steadies(Protocol):
    """Randomness of training mode, disabled."""

    def work_in_order(self) -> None:
        """From now on run operators synchronously: a process of many short runs would only wait for threads."""
        ...

    def without_dropout(
        self, root: Network, share: Share = ..., instead: Instead | None = ...
    ) -> AbstractContextManager[None]:
        """In the block dropout, drop-path and the like, functional ones too, drop what ``share`` makes of their share.

        Without it they return what they are given. It is asked in the order in which they are called, and only by those
        that would drop something. With ``instead`` they return what it makes of a value; only what drops inside a
        function of the framework, where its value is not to be seen, asks ``share``.
        """
        ...


class Compiles(Protocol):
    """Running a model as compiled."""

    def how(self, root: Network) -> str:
        """How the model or a part of it is compiled; empty where it is not."""
        ...

    def run(
        self, root: Network, module: Network, inputs: Sequence[Array], *, gout: Sequence[Array] | None = None
    ) -> Passed:
        """Forward pass of one module in evaluation mode, with ``gout`` also backward, compiled as the model is."""
        ...


class Perturbing(Installed, Protocol):
    """An installed perturbation."""

    def counts(self) -> dict[str, Json]:
        """Counts of perturbed ``inputs`` and ``layers``, and the alternative ``kernels`` in use, by name."""
        ...


class Perturbs(Protocol):
    """Perturbation by rounding errors, to measure their effect."""

    def install(self, seed: int, hooks: Callable[[], Installed], *, ulps: int = 1) -> Perturbing:
        """Put ``hooks`` in place, and between them and the network a perturbation; ``remove`` takes both away.

        A network's inputs, and the output of every module that calls no other, are moved by ``ulps`` units in the
        last place or not at all, element by element, in a way that gradients flow through. What is whole (labels,
        masks, zeros), parameters, and the framework's random numbers stay as they are; the hooks see inputs before and
        outputs after. Where whole graphs run, only their inputs are moved. Kernels that sum in another order are used
        where the framework has them.
        """
        ...


class Streams(Protocol):
    """The framework's own random generators, by name."""

    @property
    def NAMES(self) -> Sequence[str]: ...  # noqa: N802

    def fix(self, seeds: Mapping[str, int], *, deterministic: bool) -> None:
        """Seed each of them, and request deterministic algorithms."""
        ...

    def watch(self, tap: Tap) -> None:
        """For the rest of the process report every seed and every constructed loader."""
        ...


class Keeper(Protocol):
    """The state before a step, kept in memory so that the step can be repeated."""

    def take(self, networks: Sequence[Network], optimizers: Sequence[Optimizer]) -> None:
        """Replace the kept state by the current weights, buffers, optimizers and random generators."""
        ...

    def restore(self) -> None:
        """Restore the kept state in place, so that the step repeats bit for bit."""
        ...

    @property
    def whole(self) -> bool:
        """Whether everything that the next step depends on is kept."""
        ...

    @property
    def bytes(self) -> int:
        """The memory in use."""
        ...


class Replays(Protocol):
    """Capture and restore of everything a training step depends on, across processes."""

    def prepare(self) -> None:
        """From now on track what cannot be queried later: order of construction, draws of random modules."""
        ...

    def holders(self) -> list[Stateful]:
        """Live networks, optimizers, schedules and scalers, each kind in order of construction."""
        ...

    def built(self) -> int:
        """The number of them constructed so far; while it is unchanged there are no new ones except copies."""
        ...

    def capture(self, holders: Sequence[Stateful], *, gradients: bool) -> State:
        """The state of all of them and of the random generators; every tensor once."""
        ...

    def restore(self, state: State, holders: Sequence[Stateful]) -> None:
        """Restore everything in place, so that the following steps repeat bit for bit."""
        ...

    def keeper(self) -> Keeper:
        """A new keeper, empty."""
        ...

    def random(self) -> State:
        """The state of the random generators alone."""
        ...

    def set_random(self, state: State) -> None:
        """Restore the random generators."""
        ...

    def iterators(self) -> tuple[type, ...]:
        """The iterator classes of loaders."""
        ...

    def use_float32(self, holders: Sequence[Stateful]) -> None:
        """From now on train in float32 instead of half precision: weights, optimizer state, automatic casts."""
        ...

    def generator_state(self, generator: Foreign) -> Array | None:
        """The state of a user's generator; None if it is not one of this framework."""
        ...

    def set_generator(self, generator: Foreign, state: Array) -> None:
        """Restore a user's generator."""
        ...


class Pipelines(Protocol):
    """Datasets and loaders taken apart; imported only where needed, so no part of an Adapter."""

    def is_pipeline(self, value: object) -> bool: ...

    def is_own(self, value: object) -> bool:
        """Whether this is a pipeline by its class, not only something iterable."""
        ...

    def stir(self) -> None:
        """Advance the framework's own random generator."""
        ...

    def fix(self) -> None:
        """Reset that generator."""
        ...

    def chance(self) -> bytes:
        """The state of that generator; empty where pipelines do not use it."""
        ...

    def opened(self, value: Loader, built: BuiltAt) -> Opened:
        """Take a pipeline apart; ``built`` gives the user's line that constructed an object."""
        ...


class Batching(Installed, Protocol):
    """Batchers being watched."""

    def behind(self, loader: Loader) -> Sequence[int]:
        """The numbers of the batchers behind a loader's batches."""
        ...


class Batchings(Protocol):
    """How samples are batched."""

    def watch(self, resize: Resize) -> Batching:
        """Ask ``resize`` for the size of every batcher constructed from now on; None keeps its own."""
        ...


class LossScales(Protocol):
    """Loss scalers at construction, and gradients during the backward pass."""

    def watch_scalers(self, begin: Begin) -> Installed:
        """Ask ``begin`` for the initial settings of every scaler constructed from now on; None keeps its own."""
        ...

    def multiply_losses(self, factor: Callable[[], float]) -> Installed:
        """From now on multiply the gradient at every loss by ``factor()``."""
        ...

    def on_parameter_gradient(self, parameter: Value, change: Callable[[Value], Value]) -> None:
        """From now on pass every gradient of a parameter, once per backward pass, through ``change``."""
        ...


class HeldRates(Protocol):
    """Control over the learning rates of one optimizer, group by group."""

    def own(self) -> list[float]:
        """The rates that the script has set for the coming step."""
        ...

    def peak(self) -> list[float]:
        """The largest rates that the script will set, as far as known in advance: the end of a warm-up."""
        ...

    def use(self, rates: Sequence[float]) -> None:
        """Use these rates from now on."""
        ...

    def release(self) -> None:
        """Restore the script's own rates, so that its schedule continues from them."""
        ...


class Rates(Protocol):
    """Overriding the script's learning rates."""

    def hold(self, optimizer: Optimizer) -> HeldRates:
        """Take control of an optimizer's learning rates, before its first step."""
        ...


class Adapter(Protocol):
    """The adapter of one framework."""

    @property
    def name(self) -> str: ...

    @property
    def values(self) -> Values: ...

    @property
    def hooks(self) -> Hooks: ...

    @property
    def ops(self) -> Ops: ...

    @property
    def state(self) -> States: ...

    @property
    def build(self) -> Builds: ...

    @property
    def perturb(self) -> Perturbs: ...

    @property
    def autograd(self) -> Autograd: ...

    @property
    def intercept(self) -> Intercepts: ...

    @property
    def steady(self) -> Steadies: ...

    @property
    def compiling(self) -> Compiles: ...

    @property
    def streams(self) -> Streams: ...

    @property
    def replaying(self) -> Replays: ...

    @property
    def batching(self) -> Batchings: ...

    @property
    def loss_scale(self) -> LossScales: ...

    @property
    def rates(self) -> Rates: ...

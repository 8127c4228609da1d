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
    Around,
    Built,
    Foreign,
    Function,
    Gout,
    Group,
    Loader,
    Network,
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
    """To and from NumPy, and what a network consists of."""

    def is_tensor(self, value: object) -> bool: ...

    def is_module(self, value: object) -> bool: ...

    def to_numpy(self, tensor: Value, *, copy: bool = False) -> Array:
        """The tensor's values; without ``copy`` the memory may be shared. bf16 comes as ml_dtypes.bfloat16.

        Raises Unreadable where there are none.
        """
        ...

    def from_numpy(self, array: Array, *, like: Value = None) -> Value:
        """A tensor of its own memory, on the device and with the dtype of ``like`` where given."""
        ...

    def assign(self, tensor: Value, array: Array) -> None:
        """Overwrite a tensor in place, so that an optimizer that has already stepped sees it too."""
        ...

    def read(self, scalar: Value) -> float:
        """A Python number from a framework's scalar (waits for the device)."""
        ...

    def keep(self, scalar: Value) -> Value:
        """A cheap copy of a scalar (or a tensor's mean) out of reach of later changes, to be ``read`` later."""
        ...

    def norm(self, tensors: Sequence[Value]) -> Value:
        """The L2 norm over all tensors together, lazily: a scalar to be ``read`` later."""
        ...

    def total(self, tensors: Sequence[Value]) -> Value:
        """A lazy scalar that is not finite where any number is not, and seldom else: cheaper than the norm."""
        ...

    def identity(self, tensor: Value) -> int:
        """Equal for tensors that share their storage (same start), else different while both live."""
        ...

    def version(self, tensor: Value) -> int | None:
        """Changes whenever the tensor is written in place; None where the framework does not count that."""
        ...

    def node(self, tensor: Value) -> Foreign:
        """The autograd node that made the tensor, equal to and hashed like itself; None where there is none."""
        ...

    def gradient(self, parameter: Value) -> Value:
        """The gradient that waits at a parameter for an update; None where there is none."""
        ...

    def nodes_before(self, node: Foreign) -> Sequence[Foreign]:
        """The autograd nodes whose outputs a node takes."""
        ...

    def tensors(self, root: Network) -> Iterator[Tensor]:
        """Parameters, then buffers, by path; a shared one comes under each of its names."""
        ...

    def modules(self, root: Network) -> Iterator[tuple[str, Network]]:
        """All modules below and with root ("" first), each once, in definition order."""
        ...

    def has_weights(self, module: Network) -> bool:
        """Whether parameters are registered in a module, or it holds its weights in a form that shows none."""
        ...

    def unwrap(self, module: Network) -> Network:
        """The network inside a wrapper (data parallel, compiled, one-step training cells), else the module itself."""
        ...

    def attributes(self, module: Network) -> dict[str, Json]:
        """The plain public attributes (JSON values) that a module's behaviour depends on; ``training`` is not one."""
        ...

    def training(self, module: Network) -> bool:
        """Whether the module is in training mode and gradients would be recorded."""
        ...

    def groups(self, optimizer: Optimizer) -> list[Group]: ...

    def dtype(self, tensor: Value) -> str:
        """NumPy's name of the dtype: "float32", "bfloat16" …"""
        ...

    def shape(self, tensor: Value) -> tuple[int, ...]: ...


class Installed(Protocol):
    """Hooks in place."""

    def remove(self) -> None:
        """Take all hooks away again; what cannot be removed is left inert."""
        ...


class Hooks(Protocol):
    """Watching a training run without changing the user's script."""

    def install(self, observer: Observer) -> Installed:
        """Watch modules, gradients, optimizers and loaders, those that exist already too."""
        ...

    def on_gradient(self, tensor: Value, receive: Callable[[Value], None]) -> None:
        """Tell the gradient that arrives at a tensor in this step's backward; silent where none will."""
        ...


class Ops(Protocol):
    """Op level, for the steps that need it."""

    def watch(self, callback: Callable[[OpCall], None]) -> AbstractContextManager[None]:
        """Tell every op inside the block, in order, after it ran."""
        ...


class States(Protocol):
    """Randomness and circumstances."""

    def seed(self, seed: int, *, deterministic: bool = True) -> list[str]:
        """Fix this framework's randomness; returns the message ids of what stays free."""
        ...

    def circumstances(self) -> dict[str, Json]:
        """versions, device, precision, mode, seeds and flags as RunInfo wants them."""
        ...

    def rank(self) -> tuple[int, int] | None:
        """(rank, world size) where a process group is initialised."""
        ...


class Builds(Protocol):
    """How a module was built, and building it again."""

    def package(self) -> str:
        """The framework's folder, with its closing slash: frames in it are not the user's."""
        ...

    def capture_built(self) -> None:
        """From now on remember the constructor's arguments of every module."""
        ...

    def built(self, module: Network) -> Built | None: ...

    def line_of(self, optimizer: Optimizer) -> Location | None:
        """The user's line that built an optimizer, where it was seen."""
        ...

    def optimizers(self) -> Sequence[Optimizer]:
        """Those whose building was seen and that are still alive."""
        ...

    def rebuild(self, module: Network, **changes: object) -> Network:
        """A new module of the same arguments, weights, buffers and mode with only ``changes`` different.

        Weights that the changed module no longer has are dropped; ones whose shape no longer fits are left fresh.
        """
        ...

    def run(
        self, module: Network, inputs: Sequence[Array], *, gout: Sequence[Array] | None = None, train: bool = False
    ) -> Passed:
        """Run one module in the given mode; its mode, buffers and gradients are afterwards as they were."""
        ...

    def undisturbed(self, module: Network, train: bool) -> AbstractContextManager[None]:
        """In the block the module runs op by op in the given mode; then modes and buffers are as they were."""
        ...

    def apply_gradients(self, optimizer: Optimizer, gradients: Sequence[Array]) -> None:
        """Give the optimizer these gradients, in the order of its groups' parameters, and let it step."""
        ...


class Autograd(Protocol):
    """Gradients of one function, by themselves."""

    def without_gradient(self) -> AbstractContextManager[None]:
        """No operator in the block is recorded for a gradient."""
        ...

    def vjp(self, function: Function, inputs: Sequence[Value], parameters: Sequence[Value], gout: Gout) -> Pulled:
        """Run ``function`` on tensors, and bring ``gout``, one per floating output, back to inputs and parameters."""
        ...


class Intercepts(Protocol):
    """Every call of a module, taken in hand."""

    def intercept(self, around: Around) -> AbstractContextManager[None]:
        """In the block every module's call goes through ``around``."""
        ...


class Steadies(Protocol):
    """What would be random in training mode, held still."""

    def work_in_order(self) -> None:
        """From now on no operator runs ahead in another thread: a process of many short runs would only wait for it."""
        ...

    def without_dropout(self, root: Network, share: Share = ...) -> AbstractContextManager[None]:
        """In the block dropout, drop-path and the like, functional ones too, drop what ``share`` makes of their share.

        Without it they return what they are given. It is asked in the order in which they are called, and only by those
        that would drop something.
        """
        ...


class Compiles(Protocol):
    """What a compiler makes of a model."""

    def how(self, root: Network) -> str:
        """By what the model, or a part of it, is compiled; empty where nothing is."""
        ...

    def run(
        self, root: Network, module: Network, inputs: Sequence[Array], *, gout: Sequence[Array] | None = None
    ) -> Passed:
        """One module of the model forward, and with ``gout`` backward, in evaluation, compiled as the model is."""
        ...


class Perturbing(Installed, Protocol):
    """A perturbation in place."""

    def counts(self) -> dict[str, Json]:
        """What was moved until now: counts of ``inputs`` and ``layers``, and the other ``kernels`` in use, by name."""
        ...


class Perturbs(Protocol):
    """Rounding that could as well have gone the other way, for measuring how far that leads."""

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
    """The framework's own random generators, each by its name."""

    @property
    def NAMES(self) -> Sequence[str]: ...  # noqa: N802

    def fix(self, seeds: Mapping[str, int], *, deterministic: bool) -> None:
        """Seed each of them, and ask for deterministic algorithms."""
        ...

    def watch(self, tap: Tap) -> None:
        """For the rest of the process tell of every seed, and of every loader that is built."""
        ...


class Keeper(Protocol):
    """The state before a step, kept in memory so that the step can be done again."""

    def take(self, networks: Sequence[Network], optimizers: Sequence[Optimizer]) -> None:
        """Keep weights, buffers, optimizers and random generators as they are, instead of what was kept before."""
        ...

    def restore(self) -> None:
        """Bring them back in place, so that the step repeats bit for bit."""
        ...

    @property
    def whole(self) -> bool:
        """Whether nothing was left out that the next step depends on."""
        ...

    @property
    def bytes(self) -> int:
        """How much memory it takes."""
        ...


class Replays(Protocol):
    """All that a training step depends on, taken and brought back in a process of its own."""

    def prepare(self) -> None:
        """From now on remember what cannot be asked for later: the order of building, draws of random modules."""
        ...

    def holders(self) -> list[Stateful]:
        """Networks, optimizers, schedules and scalers that are alive, each kind in the order of building."""
        ...

    def built(self) -> int:
        """How many of them were built so far: while it stays, there are no new ones but for copies."""
        ...

    def capture(self, holders: Sequence[Stateful], *, gradients: bool) -> State:
        """The state of all of them, and of the random generators; every tensor once."""
        ...

    def restore(self, state: State, holders: Sequence[Stateful]) -> None:
        """Bring everything back in place, so that the following steps repeat bit for bit."""
        ...

    def keeper(self) -> Keeper:
        """A new one, with nothing kept."""
        ...

    def random(self) -> State:
        """The random generators alone."""
        ...

    def set_random(self, state: State) -> None:
        """Bring the random generators back."""
        ...

    def iterators(self) -> tuple[type, ...]:
        """The classes of what goes through a loader's batches."""
        ...

    def use_float32(self, holders: Sequence[Stateful]) -> None:
        """From now on train in float32 what trains in half precision: weights, states, automatic casts."""
        ...

    def generator_state(self, generator: Foreign) -> Array | None:
        """The state of a generator of the user's; None for what is none of this framework's."""
        ...

    def set_generator(self, generator: Foreign, state: Array) -> None:
        """Bring a generator of the user's back."""
        ...


class Pipelines(Protocol):
    """Datasets and loaders taken apart; imported only where a pipeline is looked at, so no part of an Adapter."""

    def is_pipeline(self, value: object) -> bool: ...

    def is_own(self, value: object) -> bool:
        """Whether this is a pipeline by its class, not only something that samples can be had of."""
        ...

    def stir(self) -> None:
        """The framework's own generator of random numbers goes on by a step."""
        ...

    def fix(self) -> None:
        """That generator begins anew."""
        ...

    def chance(self) -> bytes:
        """The state of that generator; empty where pipelines do not draw from it."""
        ...

    def opened(self, value: Loader, built: BuiltAt) -> Opened:
        """Take a pipeline apart; ``built`` knows the user's line that built an object."""
        ...


class Batching(Installed, Protocol):
    """Batchers being listened to."""

    def behind(self, loader: Loader) -> Sequence[int]:
        """The numbers of the batchers that a loader's batches come from."""
        ...


class Batchings(Protocol):
    """How samples are put together to batches."""

    def watch(self, resize: Resize) -> Batching:
        """Ask for the size of every batcher that is built from now on; None leaves it as it is."""
        ...


class LossScales(Protocol):
    """Loss scalers as they are built, and gradients on their way through a backward pass."""

    def watch_scalers(self, begin: Begin) -> Installed:
        """Ask of every scaler that is built from now on what it is to begin with; None leaves it as it is."""
        ...

    def multiply_losses(self, factor: Callable[[], float]) -> Installed:
        """From now on multiply the gradient at a loss, before it is brought back, by what ``factor`` gives then."""
        ...

    def on_parameter_gradient(self, parameter: Value, change: Callable[[Value], Value]) -> None:
        """Every gradient that arrives at a parameter from now on, one for each backward pass, goes through it."""
        ...


class HeldRates(Protocol):
    """The learning rates of one optimizer, group by group, in somebody else's hand."""

    def own(self) -> list[float]:
        """Those that the script has set for the coming step."""
        ...

    def peak(self) -> list[float]:
        """The largest that the script will set, as far as that is known beforehand: of a warm-up, its end."""
        ...

    def use(self, rates: Sequence[float]) -> None:
        """Step with these from now on."""
        ...

    def release(self) -> None:
        """Give the script's own back, so that its schedule finds what it has left."""
        ...


class Rates(Protocol):
    """Learning rates other than the script's."""

    def hold(self, optimizer: Optimizer) -> HeldRates:
        """Take an optimizer's rates in hand, before its first step."""
        ...


class Adapter(Protocol):
    """A framework's folder."""

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

"""One short name for what is written as a module, a function or a method; and what does not count in a comparison."""

from __future__ import annotations

from typing import Final

from trueline.apitable.functions import functions_of, operators, word, words_of
from trueline.apitable.traits import Trait
from trueline.script.trace import Event
from trueline.script.values import Made, Symbol, Value, is_class_name

# Moves, casts and wrappers: what goes in comes out, as far as a comparison is concerned.
_THROUGH: Final = (
    words_of(Trait.SAME, Trait.TO_TRUTH, Trait.LISTS, Trait.ITERATES) - words_of(Trait.STOPS_GRADIENT, Trait.WRITES)
) | {"requiresgrad", "str"}
# Of these what stands above cuts gradients off: where the loss is made, they are an operation of their own.
CUTTING: Final = words_of(Trait.CUTS_GRADIENT)
_HALF: Final = functions_of(Trait.TO_FLOAT16, Trait.TO_BFLOAT16)
# Functions and methods that an operator stands for as well.
OPERATORS: Final = operators()
# What only asks how large something is.
QUERIES: Final = words_of(Trait.SIZE, Trait.RANK) | {"shape"}
_OTHER_NAMES: Final = {"logsoftmaxfunction": "logsoftmax", "mean0": "mean"}
# What a script says, writes down, or asks its surroundings: no part of the training.
_ASIDE: Final = (
    "os.", "sys.", "time.", "json.", "logging.", "argparse.", "warnings.", "tempfile.", "shutil.", "dataclasses.",
    "typing.", "yaml.", "csv.", "datetime.", "platform.", "subprocess.", "matplotlib.", "tensorboard", "wandb.",
    "tqdm.", "rich.", "functools.", "contextlib.", "collections.", "re.", "uuid.", "traceback.", "abc.", "enum.",
    "types.",
)  # fmt: skip
_SAID: Final = words_of(Trait.ASIDE) | {"gencollect", "parametercount"}


def word_of(name: str) -> str:
    """The last word of a full name, of a called object its class's, in small letters and without underscores."""
    name = name.removesuffix(".__call__")
    last = name.rpartition(".")[2]
    if last.startswith("__"):
        return last
    known = word(last)
    return _OTHER_NAMES.get(known, known)


def is_built(event: Event) -> bool:
    """Whether an object of a library's class is made."""
    return event.receiver is None and is_class_name(event.name)


def key_of(event: Event) -> str:
    """What an event is to be called in a comparison: objects that are made are told from what they do."""
    known = word_of(event.name)
    return f"new {known}" if is_built(event) else known


def is_aside(event: Event) -> bool:
    """Whether an event has nothing to do with the training."""
    if event.name.startswith(_ASIDE) or event.name.endswith(".__init__"):
        return True
    return word_of(event.name) in _SAID and not event.name.startswith(("torch.", "mindspore.", "numpy.", "?."))


def is_said(event: Event) -> bool:
    """Whether it prints or writes down."""
    return event.name == "builtins.print" or (
        word_of(event.name) in words_of(Trait.RECORDS) and not event.name.startswith(("numpy.", "torch.log"))
    )


def is_through(event: Event) -> bool:
    """Whether what comes out is what went in, moved or cast."""
    known = word_of(event.name)
    if known not in _THROUGH or (is_built(event) and known != "tensor"):
        return False
    return not is_half(event)


def is_half(event: Event) -> bool:
    """Whether an event casts to half precision."""
    return any(_is_half(value) for value in (*event.args, *event.kwargs.values())) or word_of(event.name) in _HALF


def _is_half(value: Value) -> bool:
    return isinstance(value, Symbol) and value.name.rpartition(".")[2] in _HALF


def is_pipeline(event: Event) -> bool:
    """Whether it is a step of a pipeline of data, which is done to the pipeline."""
    return event.name.startswith("mindspore.dataset.")


def input_of(event: Event) -> Value | None:
    """What an event is mainly done to: a layer's first argument, a method's owner, a function's first argument."""
    owner = event.receiver
    does_it = isinstance(owner, Made) and is_built(owner.event) and bool(event.args) and not is_pipeline(event)
    if (
        owner is not None
        and not does_it
        and not event.name.endswith(".__call__")
        and not event.name.startswith("builtins.")
    ):
        return owner
    if event.args:
        return event.args[0]
    return next(iter(event.kwargs.values()), None)

"""What is said of a difference, and the edit that takes it away."""

from __future__ import annotations

from trueline.model.message import Message, message
from trueline.model.run import ModuleInfo
from trueline.pair.attributes.difference import Difference, Modules
from trueline.pair.blame import EDIT_AT, Blame, Cause, Stage


def blame(
    modules: Modules,
    difference: Difference,
    *,
    stage: Stage = Stage.FORWARD,
    confirmed: bool = False,
    latent: bool = False,
    measured: float | None = None,
    limit: float | None = None,
    left: float | None = None,
) -> Blame:
    """A difference as a Blame, with both lines and the edit."""
    kind = type_shown(modules)
    layer = message("pair_attr.layer", module=modules.port.path or modules.port.type, type=kind)
    edit = _edit(kind, difference)
    return Blame(
        stage,
        difference.cause,
        _said(layer, difference),
        modules.port.path,
        modules.bench.path,
        difference.bench,
        difference.port,
        confirmed,
        latent,
        measured,
        limit,
        left,
        modules.port.built_at,
        modules.bench.built_at,
        message(EDIT_AT, place=place_shown(modules.port), edit=edit) if edit is not None else None,
        general=_short(kind, difference),
        change=difference.change,
    )


def _said(layer: Message | str, difference: Difference) -> Message:
    if difference.cause is Cause.WEIGHT_LAYOUT:
        return message("pair_attr.weight_layout", layer=layer, name=difference.name)
    if difference.cause is Cause.GATE_ORDER:
        return message("pair_attr.gate_order", layer=layer, port=difference.port, bench=difference.bench)
    if difference.cause is Cause.DTYPE:
        return message("pair_attr.dtype", layer=layer, port=difference.port, bench=difference.bench)
    if not difference.name:
        return message("pair_attr.class", layer=layer, other=_other(difference))
    if difference.change is not None and difference.change.pads:
        return message("pair_attr.padding", layer=layer, now=_now(difference), pads=_pads(difference))
    return message("pair_attr.argument", layer=layer, now=_now(difference), bench=_wanted(difference))


def _short(kind: str, difference: Difference) -> Message:
    """The same of any such layer, in fewer words where there are some."""
    said = _said(message("pair_attr.layer_any", type=kind), difference)
    words = {**said.params, "layer": kind}
    if said.id == "pair_attr.class":
        return message("pair_attr.class_any", **words)
    return message("pair_attr.argument_any", **words) if said.id == "pair_attr.argument" else said


def _other(difference: Difference) -> str:
    return difference.other_class or str(difference.bench)


def _edit(kind: str, difference: Difference) -> Message | None:
    if difference.cause is Cause.WEIGHT_LAYOUT:
        return message("pair_attr.edit_weight_layout", name=difference.name)
    if difference.cause is Cause.GATE_ORDER:
        return message("pair_attr.edit_gate_order", type=kind, bench=difference.bench)
    if difference.cause is Cause.DTYPE:
        return message("pair_attr.edit_dtype", type=kind, bench=difference.bench)
    if difference.other_class:
        other = f"{difference.other_class}({difference.given})"
        return message("pair_attr.edit_class", type=kind, other=other)
    if difference.change is None:
        return None
    if difference.change.pads:
        pads = _pads(difference)
        return message("pair_attr.edit_padding", type=kind, arguments=difference.given, pads=pads)
    if difference.change.sets and not difference.change.arguments:
        # Its own class works it out from other arguments.
        return message("pair_attr.edit_attribute", type=kind, arguments=difference.given, now=_now(difference))
    return message("pair_attr.edit_arguments", type=kind, arguments=difference.given)


def type_shown(modules: Modules) -> str:
    """The port's class as its user writes it."""
    known = modules.known[1]
    if known is None:
        return modules.port.type
    return f"mint.nn.{known.word}" if known.flavour != known.framework else f"nn.{known.word}"


def place_shown(module: ModuleInfo) -> str:
    """Where the module is built: a line, else its path."""
    line = module.built_at
    return f"{line.file}:{line.line}" if line is not None else module.path or module.type


def _now(difference: Difference) -> str:
    return difference.now or f"{difference.name}={_shown(difference.port)}"


def _wanted(difference: Difference) -> str:
    return difference.given or f"{difference.name}={_shown(difference.bench)}"


def _pads(difference: Difference) -> str:
    pads = difference.change.pads if difference.change is not None else ()
    return ", ".join(f"({before}, {after})" for before, after in pads)


def _shown(value: object) -> str:
    return repr(value)

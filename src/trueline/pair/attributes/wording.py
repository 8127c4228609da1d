"""What is said of a difference, and the edit that takes it away."""

from __future__ import annotations

from trueline.model.message import Message, message
from trueline.model.run import ModuleInfo
from trueline.pair.attributes.difference import Difference, Modules
from trueline.pair.blame import Blame, Cause, Stage


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
    return Blame(
        stage,
        difference.cause,
        _said(modules, difference),
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
        _edit(modules, difference),
    )


def _said(modules: Modules, difference: Difference) -> Message:
    module, kind = modules.port.path or modules.port.type, type_shown(modules)
    if difference.cause is Cause.WEIGHT_LAYOUT:
        return message("pair_attr.weight_layout", module=module, type=kind, name=difference.name)
    if difference.cause is Cause.GATE_ORDER:
        return message("pair_attr.gate_order", module=module, type=kind, port=difference.port, bench=difference.bench)
    if difference.cause is Cause.DTYPE:
        return message("pair_attr.dtype", module=module, type=kind, port=difference.port, bench=difference.bench)
    if not difference.name:
        other = difference.other_class or str(difference.bench)
        return message("pair_attr.class", module=module, type=kind, other=other)
    if difference.change is not None and difference.change.pads:
        return message("pair_attr.padding", module=module, type=kind, now=_now(difference), pads=_pads(difference))
    return message("pair_attr.argument", module=module, type=kind, now=_now(difference), bench=_wanted(difference))


def _edit(modules: Modules, difference: Difference) -> Message | None:
    place, kind = place_shown(modules.port), type_shown(modules)
    if difference.cause is Cause.WEIGHT_LAYOUT:
        return message("pair_attr.edit_weight_layout", place=place, name=difference.name)
    if difference.cause is Cause.GATE_ORDER:
        return message("pair_attr.edit_gate_order", place=place, type=kind, bench=difference.bench)
    if difference.cause is Cause.DTYPE:
        return message("pair_attr.edit_dtype", place=place, type=kind, bench=difference.bench)
    if difference.other_class:
        other = f"{difference.other_class}({difference.given})"
        return message("pair_attr.edit_class", place=place, type=kind, other=other)
    if difference.change is None:
        return None
    if difference.change.pads:
        pads = _pads(difference)
        return message("pair_attr.edit_padding", place=place, type=kind, arguments=difference.given, pads=pads)
    if difference.change.sets and not difference.change.arguments:
        # Its own class works it out from other arguments.
        words = {"arguments": difference.given, "now": _now(difference)}
        return message("pair_attr.edit_attribute", place=place, type=kind, **words)
    return message("pair_attr.edit_arguments", place=place, type=kind, arguments=difference.given, now=_now(difference))


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

"""What is said of a difference, and the edit that takes it away."""

from __future__ import annotations

from trueline.model.message import Message, message
from trueline.model.run import ModuleInfo
from trueline.pair.attributes.difference import Difference, Modules
from trueline.pair.blame import Blame, Cause, Stage


def blame(
    modules: Modules,
    found: Difference,
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
        found.cause,
        _said(modules, found),
        modules.port.path,
        modules.bench.path,
        found.bench,
        found.port,
        confirmed,
        latent,
        measured,
        limit,
        left,
        modules.port.built_at,
        modules.bench.built_at,
        _edit(modules, found),
    )


def _said(modules: Modules, found: Difference) -> Message:
    module, kind = modules.port.path or modules.port.type, type_shown(modules)
    if found.cause is Cause.WEIGHT_LAYOUT:
        return message("pair_attr.weight_layout", module=module, type=kind, name=found.name)
    if found.cause is Cause.GATE_ORDER:
        return message("pair_attr.gate_order", module=module, type=kind, port=found.port, bench=found.bench)
    if found.cause is Cause.DTYPE:
        return message("pair_attr.dtype", module=module, type=kind, port=found.port, bench=found.bench)
    if not found.name:
        other = found.other_class or str(found.bench)
        return message("pair_attr.class", module=module, type=kind, other=other)
    if found.change is not None and found.change.pads:
        return message("pair_attr.padding", module=module, type=kind, now=_now(found), pads=_pads(found))
    return message("pair_attr.argument", module=module, type=kind, now=_now(found), bench=_wanted(found))


def _edit(modules: Modules, found: Difference) -> Message | None:
    place, kind = place_shown(modules.port), type_shown(modules)
    if found.cause is Cause.WEIGHT_LAYOUT:
        return message("pair_attr.edit_weight_layout", place=place, name=found.name)
    if found.cause is Cause.GATE_ORDER:
        return message("pair_attr.edit_gate_order", place=place, type=kind, bench=found.bench)
    if found.cause is Cause.DTYPE:
        return message("pair_attr.edit_dtype", place=place, type=kind, bench=found.bench)
    if found.other_class:
        other = f"{found.other_class}({found.given})"
        return message("pair_attr.edit_class", place=place, type=kind, other=other)
    if found.change is None:
        return None
    if found.change.pads:
        pads = _pads(found)
        return message("pair_attr.edit_padding", place=place, type=kind, arguments=found.given, pads=pads)
    return message("pair_attr.edit_arguments", place=place, type=kind, arguments=found.given, now=_now(found))


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


def _now(found: Difference) -> str:
    return found.now or f"{found.name}={_shown(found.port)}"


def _wanted(found: Difference) -> str:
    return found.given or f"{found.name}={_shown(found.bench)}"


def _pads(found: Difference) -> str:
    pads = found.change.pads if found.change is not None else ()
    return ", ".join(f"({before}, {after})" for before, after in pads)


def _shown(value: object) -> str:
    return repr(value)

"""Layers and losses: every argument whose default or form is another one in MindSpore is written as torch has it."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any, Final

from trueline.apitable.attributes import KnownLayer, known_layer
from trueline.apitable.forms import FORMS, Spot
from trueline.apitable.pairs import Documented
from trueline.migrate.rewrite.arguments import CannotBind, Rewriting, bind, literal
from trueline.migrate.rewrite.in_place import note_overwritten
from trueline.migrate.rewrite.layer_extras import added_arguments, output_padding, refusal, without_effect
from trueline.migrate.rewrite.restored import restoring_helper
from trueline.migrate.rewrite.sheet import CLASSIC, MINT, Sheet
from trueline.migrate.rewrite.tabled import needed_value, write_tabled
from trueline.migrate.rewrite.wanted import helper_names
from trueline.model.message import Message, message

# Forms whose value is written in MindSpore as it is in torch.
_AS_IT_IS: Final = ("plain", "flag", "number", "sizes", "rates", "shape", "axis", "dropped", "counted", "function")

# Losses that take class labels: a helper of the same name casts them.
_WITH_LABELS: Final = ("torch.nn.CrossEntropyLoss", "torch.nn.NLLLoss")


def write_own_layer(sheet: Sheet, call: ast.Call, base: str) -> None:
    """Write the arguments of a call that goes to a layer of torch.nn by a class of the project."""
    why = write_layer(sheet, call, base, own=True)
    if why is not None:
        sheet.leave(call, base, why)


def write_layer(sheet: Sheet, call: ast.Call, name: str, own: bool = False) -> Message | None:
    """Write a layer of torch.nn; the reason where it stays. ``own``: the call goes to a class that derives from it."""
    layer = known_layer(name)
    pair = sheet.equal(name, call)
    if layer is None or pair is None or sheet.style == MINT or not pair.mindspore.startswith("mindspore.nn."):
        return sheet.why_not(name, call) if own else write_tabled(sheet, call, name)
    try:
        bound = bind(call, pair.torch_parameters)
        rewriting = Rewriting(sheet, call)
    except CannotBind as error:
        return message("rewrite.arguments", name=name, argument=str(error))
    why = refusal(name, bound.given)
    argument, restored = restoring_helper(pair, bound.given)
    if why is None and own and restored:
        why = message("rewrite.computed", name=name, argument=argument)
    if why is not None:
        return why
    if _overwrites(bound.given):
        note_overwritten(sheet, call, name)
    layer_writing = _LayerWriting(sheet, layer, pair, rewriting, dict(bound.given))
    why = layer_writing.write()
    if why is not None or own:
        return why
    if layer.kind.family == "attention":
        span = sheet.at.of(call)
        sheet.edits.replace(span, f"{sheet.wanted.helper('zero_out_proj')}(", span, ")")
    helper = layer.word if name in _WITH_LABELS else ""
    helper = restored or helper
    became = sheet.wanted.helper(helper) if helper else sheet.wanted.name(pair.mindspore)
    sheet.edits.replace(sheet.at.of(call.func), became)
    sheet.settle(call.func)
    sheet.note_done(call, name, pair.mindspore)
    return None


def _overwrites(given: Mapping[str, ast.expr]) -> bool:
    return "inplace" in given and literal(given["inplace"]) != (True, False)


class _LayerWriting:
    """The arguments of one layer on their way into MindSpore's call."""

    def __init__(
        self,
        sheet: Sheet,
        layer: KnownLayer,
        pair: Documented,
        rewriting: Rewriting,
        given: dict[str, ast.expr],
    ) -> None:
        self.sheet, self.layer, self.pair, self.rewriting, self.given = sheet, layer, pair, rewriting, given
        self.defaults = dict(pair.torch_parameters)
        self.theirs = [one for one, _ in pair.mindspore_parameters]
        self.their_defaults = dict(pair.mindspore_parameters)
        self.added: list[tuple[str, str]] = []
        self.restored, _ = restoring_helper(pair, given)
        self.by_torch_name = {one.torch: one for one in layer.kind.has.values() if one.torch}

    def write(self) -> Message | None:
        """Make the edits; the reason where an argument has no counterpart."""
        sides = output_padding(self.pair.torch, self.given)
        if sides is not None:
            self.rewriting.entry(self.given.pop("output_padding")).dropped = True
        for name, node in self.given.items():
            why = self._given(name, node)
            if why is not None:
                return why
        for name, attribute in self.by_torch_name.items():
            if name not in self.given and attribute.mindspore:
                self._default(name)
        if sides is not None:
            self.rewriting.entry(self.given["padding"]).value = repr(sides)
        self.added.extend(added_arguments(self.sheet, self.pair.torch, self.given))
        why = self._needed()
        if why is not None:
            return why
        self.rewriting.finish(self.theirs, self.added)
        return None

    def _needed(self) -> Message | None:
        """What the lab found to be needed beside that."""
        there = {name for name, _ in self.added} | {entry.name for entry in self.rewriting.entries}
        if any(entry.before for entry in self.rewriting.entries):
            there.add("pad_mode")
        for need in self.sheet.row(self.pair).needs:
            argument, _, text = need.for_torch.partition("=")
            if text and argument.strip() not in there and need.argument not in self.given:
                value = needed_value(self.sheet, text.strip(), self.pair, self.given)
                if value is None:
                    return message("rewrite.computed", name=self.pair.torch, argument=need.argument)
                self.added.append((argument.strip(), value))
        return None

    def _given(self, name: str, node: ast.expr) -> Message | None:
        entry = self.rewriting.entry(node)
        if name == self.restored and name not in self.theirs:
            entry.name = name
            return None
        attribute = self.by_torch_name.get(name)
        known, value = literal(node)
        if attribute is None or not attribute.mindspore:
            default = self.defaults.get(name)
            if without_effect(name) or (known and default is not None and repr(value) == default):
                entry.dropped = True
                return None
            fixed = attribute.fixed if attribute is not None else None
            if attribute is not None and known and value == fixed:
                entry.dropped = True
                return None
            if attribute is None and name in self.theirs:
                entry.name = name
                return None
            return message("rewrite.no_argument", name=self.pair.torch, other=self.pair.mindspore, argument=name)
        if known:
            return self._literal(name, entry, value)
        return self._expression(name, entry, node)

    def _literal(self, name: str, entry: Any, value: object) -> Message | None:
        """An argument whose value is seen: its form decides what is written."""
        attribute = self.by_torch_name[name]
        if attribute.form == "rates":
            written = {attribute.mindspore: _floats(value)}
        elif attribute.form in ("window_stride",) and value is None:
            written = {attribute.mindspore: None}
        else:
            form = FORMS[attribute.form]
            spot = Spot(name, True, self.layer.rank, {**self._literals(), name: value})
            shared = form.read(spot)
            found = form.write(shared, Spot(attribute.mindspore, False, self.layer.rank))
            if found is None:
                found = _norm_axes(attribute.form, attribute.mindspore, value)
            if found is None:
                return message(
                    "rewrite.no_value",
                    name=self.pair.torch,
                    other=self.pair.mindspore,
                    argument=name,
                    value=repr(value),
                )
            written = dict(found)
        own = written.pop(attribute.mindspore)
        entry.name = attribute.mindspore
        entry.before = "".join(f"{extra}={_shown(one)}, " for extra, one in written.items() if extra == "pad_mode")
        if attribute.form == "window_stride" and own is None:
            entry.value = self._kernel()
        elif repr(own) != repr(value) and not (
            attribute.form in ("sizes", "window_stride", "number") and _same(own, value)
        ):
            entry.value = _shown(own)
        self.added.extend((extra, _shown(one)) for extra, one in written.items() if extra != "pad_mode")
        return None

    def _expression(self, name: str, entry: Any, node: ast.expr) -> Message | None:
        """An argument that is computed: it is written where its form needs no look at the value."""
        attribute = self.by_torch_name[name]
        entry.name = attribute.mindspore
        text = self.sheet.at.source(node)
        if attribute.form in _AS_IT_IS:
            if attribute.form == "rates":
                entry.value = f"float({text})"
        elif attribute.form == "window_stride":
            # None would be the window's size in torch; a computed stride hardly is None.
            pass
        elif attribute.form in ("padding", "pool_padding"):
            if isinstance(node, ast.Tuple):
                sides = [self.sheet.at.source(one) for one in node.elts]
                if attribute.form == "padding" and self.layer.rank > 1:
                    entry.value = f"({', '.join(side for one in sides for side in (one, one))})"
            entry.before = 'pad_mode="pad", '
        elif attribute.form == "momentum":
            entry.value = f"1 - {text}" if isinstance(node, ast.Name | ast.Attribute) else f"1 - ({text})"
        elif attribute.form == "tanh":
            entry.value = f'({text}) == "tanh"'
        elif attribute.form == "norm_axes":
            if isinstance(node, ast.List | ast.Tuple):
                if len(node.elts) != 1:
                    return message("rewrite.norm_axes", name=self.pair.torch)
            else:
                entry.value = f"({text},)"
        else:
            return message("rewrite.computed", name=self.pair.torch, argument=name)
        return None

    def _default(self, name: str) -> None:
        """An argument that is not given: torch's default is written where MindSpore's is another one."""
        attribute, default = self.by_torch_name[name], self.defaults.get(name)
        if default is None or not attribute.always:
            return
        if attribute.form == "window_stride":
            self.added.append((attribute.mindspore, self._kernel()))
            return
        try:
            value = ast.literal_eval(default)
        except ValueError:
            # A function as a default, which both frameworks name alike.
            return
        shared = FORMS[attribute.form].read(Spot(name, True, self.layer.rank, {**self._literals(), name: value}))
        written = FORMS[attribute.form].write(shared, Spot(attribute.mindspore, False, self.layer.rank)) or {}
        for argument, one in written.items():
            theirs = self.their_defaults.get(argument)
            if theirs is None or not _same(one, ast.literal_eval(theirs)):
                self.added.append((argument, _shown(one)))

    def _literals(self) -> Mapping[str, object]:
        return {name: value for name, node in self.given.items() for known, value in [literal(node)] if known}

    def _kernel(self) -> str:
        return self.sheet.at.source(self.given["kernel_size"])


def _norm_axes(form: str, name: str, value: object) -> dict[str, Any] | None:
    """LayerNorm over its last axis; over several, MindSpore must know how many axes its input has."""
    if form == "norm_axes" and isinstance(value, int):
        return {name: (value,)}
    return None


def _floats(value: object) -> object:
    if isinstance(value, tuple | list):
        return tuple(float(one) for one in value)
    return float(value) if isinstance(value, int) else value


def _same(one: object, other: object) -> bool:
    if isinstance(one, bool) != isinstance(other, bool):
        return False
    pair = [tuple(value) if isinstance(value, list) else value for value in (one, other)]
    if isinstance(pair[1], tuple) and not isinstance(pair[0], tuple):
        return all(value == pair[0] for value in pair[1])
    return pair[0] == pair[1]


def _shown(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def plain_class(sheet: Sheet, name: str) -> str:
    """How a class is written where it is not called: its name, or a helper that takes torch's arguments; "" else."""
    pair = sheet.equal(name)
    if pair is None:
        return ""
    if sheet.style == CLASSIC and known_layer(name) is not None:
        helper = f"torch_{name.rpartition('.')[2]}"
        if helper in helper_names():
            return sheet.wanted.helper(helper)
        ours = [one for one in pair.torch_parameters if not without_effect(one[0])]
        same = all(one in pair.mindspore_parameters for one in ours) and ours == list(pair.torch_parameters)
        return sheet.wanted.name(pair.mindspore) if same else ""
    return "" if sheet.row(pair).needs else sheet.wanted.name(pair.mindspore)

"""Calls that have a counterpart in the measured table: another name, other argument names, arguments to write."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from trueline.apitable.pairs import Documented
from trueline.migrate.rewrite.arguments import CannotBind, Rewriting, bind, literal
from trueline.migrate.rewrite.sheet import Sheet
from trueline.model.message import Message, message

# Arguments that say where a tensor is, or that it is not shared: they change no value.
WITHOUT_EFFECT = frozenset(("device", "pin_memory", "memory_format", "layout", "non_blocking", "foreach", "fused"))


def write_tabled(sheet: Sheet, call: ast.Call, name: str) -> Message | None:
    """Write a call as the table has it; the reason where that cannot be."""
    pair = sheet.equal(name, call)
    if pair is None:
        return sheet.why_not(name, call)
    row = sheet.row(pair)
    method = pair.torch.startswith("torch.Tensor.")
    if method and not pair.mindspore.startswith("mindspore.Tensor."):
        return sheet.why_not(name)
    try:
        bound = bind(call, pair.torch_parameters)
        rewriting = Rewriting(sheet, call)
    except CannotBind as error:
        return message("rewrite.arguments", name=name, argument=str(error))
    theirs = [one for one, _ in pair.mindspore_parameters if not one.startswith("*")]
    variadic = any(one.startswith("*") for one, _ in pair.mindspore_parameters)
    renamed = _renamed(pair, row.renamed)
    defaults = dict(pair.torch_parameters)
    for torch_name, value in bound.given.items():
        entry = rewriting.entry(value)
        target = renamed.get(torch_name, torch_name)
        if torch_name == "generator" and not _is_default(value, "None"):
            return message("rewrite.no_argument", name=name, other=pair.mindspore, argument=torch_name)
        if target in theirs:
            entry.name = target
        elif torch_name in WITHOUT_EFFECT or _is_default(value, defaults.get(torch_name)):
            entry.dropped = True
        else:
            return message("rewrite.no_argument", name=name, other=pair.mindspore, argument=torch_name)
    written = {entry.name for entry in rewriting.entries if not entry.dropped}
    required = [one for one, default in pair.mindspore_parameters if default is None and not one.startswith("*")]
    left_out = [one for one, default in pair.torch_parameters if default is None and one not in bound.given]
    if any(one not in written and one in left_out for one in required if one != "self"):
        # Another form of the call, as ``where(condition)``.
        return message("rewrite.not_so", name=name, other=pair.mindspore)
    if bound.rest and not variadic:
        return message("rewrite.arguments", name=name, argument="*")
    added = []
    for need in row.needs:
        if need.argument in bound.given:
            continue
        if not need.for_torch:
            return message("rewrite.no_argument", name=name, other=pair.mindspore, argument=need.argument)
        argument, _, text = need.for_torch.partition("=")
        value_text = needed_value(sheet, text.strip(), pair, bound.given)
        if value_text is None:
            return message("rewrite.computed", name=name, argument=need.argument)
        added.append((argument.strip(), value_text))
    if not bound.rest:
        rewriting.finish(theirs, added)
    elif added:
        return message("rewrite.arguments", name=name, argument="*")
    became = pair.mindspore
    if method:
        function = call.func
        assert isinstance(function, ast.Attribute)
        word = pair.mindspore.rpartition(".")[2]
        if word != function.attr:
            span = sheet.at.of(function)
            sheet.edits.replace(type(span)(span.end - len(function.attr), span.end), word)
    else:
        sheet.edits.replace(sheet.at.of(call.func), sheet.wanted.name(became))
    sheet.settle(call.func)
    sheet.note_done(call, name, became)
    return None


def needed_value(sheet: Sheet, text: str, pair: Documented, given: Mapping[str, ast.expr]) -> str | None:
    """A value as this call has it: one that names another argument is that argument; None where it is not seen."""
    parameters = dict(pair.torch_parameters)
    named = {one.id for one in ast.walk(ast.parse(text, mode="eval")) if isinstance(one, ast.Name)} & set(parameters)
    if not named:
        return text
    if named != {text}:
        return None
    if text not in given:
        return parameters[text]
    node = given[text]
    # A computed argument would be computed twice, and torch's names in it would stay.
    plain = not any(isinstance(one, ast.Call) or sheet.names.torch(one) for one in ast.walk(node))
    return sheet.at.source(node) if plain else None


def _renamed(pair: Documented, measured: Mapping[str, str]) -> Mapping[str, str]:
    """The lab's names, and those of arguments that are at the same place where neither has the other's name."""
    ours = [one for one, _ in pair.torch_parameters]
    theirs = [one for one, _ in pair.mindspore_parameters]
    found = dict(measured)
    if not found:
        for mine, other in zip(ours, theirs, strict=False):
            if mine != other and mine not in theirs and other not in ours and _same_default(pair, mine, other):
                found[mine] = other
    return found


def _same_default(pair: Documented, mine: str, other: str) -> bool:
    return dict(pair.torch_parameters)[mine] == dict(pair.mindspore_parameters)[other]


def _is_default(value: ast.expr, default: str | None) -> bool:
    known, found = literal(value)
    return default is not None and known and repr(found) == default

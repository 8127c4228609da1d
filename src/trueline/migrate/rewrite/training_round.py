"""Rounds of training: several losses or optimizers in one pass of a loop, as adversarial networks have them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from trueline.migrate.rewrite.notes import comment
from trueline.migrate.rewrite.sheet import Sheet
from trueline.migrate.rewrite.step_text import (
    Pieces,
    before_loop,
    call_text,
    forward_function,
    lines_of,
    remove,
    write_clip,
)
from trueline.migrate.rewrite.structure import values_of
from trueline.migrate.rewrite.training_step import (
    NotRecognised,
    Step,
    block_of,
    clips_of,
    method_calls,
    optimizer_steps,
    slice_step,
)
from trueline.model.message import message

_DRAWS: Final = ("rand", "normal", "bernoulli", "multinomial", "dropout", "poisson")


@dataclass(frozen=True, slots=True)
class _Update:
    """One optimizer of a round: its step, and the backward passes since its gradients were set to zero."""

    optimizer: str
    statement: ast.Expr
    networks: frozenset[str]
    passes: Sequence[ast.Expr]


@dataclass(frozen=True, slots=True)
class Round:
    """The backward passes of a block, and the updates that use their gradients."""

    steps: Sequence[Step]
    updates: Sequence[_Update]
    resets: Sequence[ast.Expr]

    def of(self, step: Step) -> list[_Update]:
        """The updates that use the gradients of a step."""
        return [update for update in self.updates if step.backward in update.passes]


def is_round(sheet: Sheet, backward: ast.Expr) -> bool:
    """Whether there are several backward passes or updates around a backward pass."""
    block, _ = block_of(sheet, backward)
    passes = list(method_calls(block, "backward"))
    return len(passes) > 1 or len(list(optimizer_steps(sheet, block))) > 1


def recognise_round(sheet: Sheet, backward: ast.Expr) -> Round:
    """The round around a backward pass; NotRecognised where it has another shape."""
    block, loop = block_of(sheet, backward)
    passes = list(method_calls(block, "backward"))
    resets = list(method_calls(block, "zero_grad"))
    statements = list(optimizer_steps(sheet, block))
    if not all(statement in block for statement in (*passes, *resets, *statements)):
        raise NotRecognised(message("rewrite.step_block"))
    updates = [_update(sheet, block, statement, passes, resets) for statement in statements]
    if len({update.optimizer for update in updates}) < len(updates):
        raise NotRecognised(message("rewrite.step_updates", count=len(updates)))
    steps = []
    for place, one in enumerate(passes):
        using = [update for update in updates if one in update.passes]
        if not using:
            raise NotRecognised(message("rewrite.step_reset"))
        begin = block.index(passes[place - 1]) + 1 if place else 0
        networks = frozenset[str]().union(*(update.networks for update in using))
        networks = networks if all(update.networks for update in using) else frozenset()
        step = Step(block, loop, one, _loss(one), "", using[0].statement, resets, [], False, begin=begin)
        slice_step(sheet, step, block.index(one), networks)
        _refuse_changed(sheet, step, updates)
        steps.append(step)
    return Round(steps, updates, resets)


def _loss(backward: ast.Expr) -> str:
    call = backward.value
    assert isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
    if (
        not isinstance(call.func.value, ast.Name)
        or call.args
        or any(one.arg != "retain_graph" for one in call.keywords)
    ):
        raise NotRecognised(message("rewrite.step_loss"))
    return call.func.value.id


def _update(
    sheet: Sheet,
    block: Sequence[ast.stmt],
    statement: ast.Expr,
    passes: Sequence[ast.Expr],
    resets: Sequence[ast.Expr],
) -> _Update:
    owner = _receiver(statement)
    networks = frozenset(_networks(sheet, owner))
    end = block.index(statement)
    named = {ast.unparse(owner), *networks}
    since = [block.index(reset) for reset in resets if ast.unparse(_receiver(reset)) in named]
    since = [place for place in since if place < end]
    used = [one for one in passes if since and max(since) < block.index(one) < end]
    if not used:
        raise NotRecognised(message("rewrite.step_reset"))
    return _Update(sheet.at.source(owner), statement, networks, used)


def _receiver(statement: ast.Expr) -> ast.expr:
    assert isinstance(statement.value, ast.Call) and isinstance(statement.value.func, ast.Attribute)
    return statement.value.func.value


def _networks(sheet: Sheet, optimizer: ast.expr) -> Iterator[str]:
    """The networks whose parameters an optimizer was given; none where that is not seen."""
    for value in values_of(sheet, optimizer):
        for node in ast.walk(value):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "parameters":
                yield ast.unparse(node.func.value)


def _refuse_changed(sheet: Sheet, step: Step, updates: Sequence[_Update]) -> None:
    """Refuse to run statements again whose networks were trained in between, or that draw at random."""
    if not step.again:
        return
    run = set(_run_again(step))
    first, last = step.block.index(step.again[0]), step.block.index(step.own[0])
    for update in updates:
        trained = first < step.block.index(update.statement) < last
        if trained and (not update.networks or update.networks & run):
            raise NotRecognised(message("rewrite.step_several"))
    for statement in step.again:
        for node in ast.walk(statement):
            name = sheet.names.torch(node.func) if isinstance(node, ast.Call) else ""
            if any(word in name for word in _DRAWS):
                raise NotRecognised(message("rewrite.step_statement", line=statement.lineno))


def _run_again(step: Step) -> Iterator[str]:
    """What the statements of a step that run a second time call."""
    for statement in step.again:
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                yield node.func.id
            elif isinstance(node, ast.Call) and ast.unparse(node.func).startswith("self."):
                yield ast.unparse(node.func)


def write_round(sheet: Sheet, found: Round) -> None:
    """Make the edits of a round: each backward pass is a function of its own."""
    grads = {update.optimizer: sheet.wanted.free(f"grads_{_word(update.optimizer)}") for update in found.updates}
    for update in found.updates:
        for clip in _clips_of(sheet, found, update):
            write_clip(sheet, clip, grads[update.optimizer])
    functions: Pieces = []
    for place, step in enumerate(found.steps):
        losses = [other.loss for other in found.steps[: place + 1]]
        word = step.loss if losses.count(step.loss) == 1 else f"{step.loss}_{losses.count(step.loss)}"
        names = (sheet.wanted.free(f"forward_{word}"), sheet.wanted.free(f"grad_{word}"))
        using = [update.optimizer for update in found.of(step)]
        weights = f"{using[0]}.parameters"
        if len(using) > 1:
            weights = f"[{', '.join(f'*{one}.parameters' for one in using)}]"
        indent = sheet.at.indent(step.own[0].lineno)
        outer = indent if step.loop is None else sheet.at.indent(step.loop.lineno)
        function = forward_function(sheet, step, names, weights, outer)
        line = _line(sheet, found, step, names[1], grads, indent)
        pieces: Pieces = [line] if step.loop is not None else [*function, line]
        functions.extend([*function, "\n"] if step.loop is not None else [])
        for statement in step.own:
            sheet.edits.replace(lines_of(sheet, statement), *(pieces if statement is step.own[0] else [""]))
        remove(sheet, step.backward)
        sheet.note_done(step.backward, "torch.Tensor.backward", "mindspore.value_and_grad")
    loop = found.steps[0].loop
    if loop is not None:
        before_loop(sheet, loop, functions[:-1])
    for reset in found.resets:
        remove(sheet, reset)
    for update in found.updates:
        text = f"{update.optimizer}({grads[update.optimizer]})"
        sheet.write(update.statement, "torch.optim.Optimizer.step", update.optimizer, text)
        sheet.settled.add(update.statement.value)


def _line(sheet: Sheet, found: Round, step: Step, gradient: str, grads: dict[str, str], indent: str) -> str:
    """The statements that run a step's forward pass and add its gradients to those of its optimizers."""
    using = found.of(step)
    fresh = [update.passes[0] is step.backward for update in using]
    alone = len(using) == 1 and fresh[0]
    taken = grads[using[0].optimizer] if alone else sheet.wanted.free("grads")
    call = call_text(step, gradient, taken)
    if step.again:
        run = sorted({one for one in _run_again(step) if any(one in update.networks for update in found.updates)})
        note = message("rewrite.step_again", code=ast.unparse(step.again[0])).text()
        kept = sheet.wanted.helper("kept_statistics")
        call = f"{comment(indent, note).lstrip()}{indent}with {kept}({', '.join(run)}):\n{indent}    {call}"
    lines = [call]
    parts = [taken]
    if len(using) > 1:
        split = sheet.wanted.helper("split_grads")
        parts = [f"{taken}[{place}]" for place in range(len(using))]
        lines.append(f"{taken} = {split}({taken}, {', '.join(update.optimizer for update in using)})\n")
    for update, part, first in zip(using, parts, fresh, strict=True):
        name = grads[update.optimizer]
        if not first:
            lines.append(f"{name} = tuple(map({sheet.wanted.name('mindspore.ops.add')}, {name}, {part}))\n")
        elif name != part:
            lines.append(f"{name} = {part}\n")
    return "".join(indent + line for line in lines)


def _clips_of(sheet: Sheet, found: Round, update: _Update) -> Iterator[ast.Expr | ast.Assign]:
    """The clippings of an optimizer's gradients: those between its last backward pass and its step."""
    block = found.steps[0].block
    since, end = block.index(update.passes[-1]), block.index(update.statement)
    for clip in clips_of(sheet, block):
        asked = [ast.unparse(node.func.value) for node in ast.walk(clip) if _asks_parameters(node)]  # type: ignore[attr-defined]
        ours = not asked or not update.networks or bool(update.networks & set(asked))
        if clip in block and since < block.index(clip) < end and ours:
            yield clip


def _asks_parameters(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "parameters"


def _word(optimizer: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in optimizer.removeprefix("self."))

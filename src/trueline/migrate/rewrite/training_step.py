"""What one training step of a script is: the forward pass up to the loss, its gradients, and the update."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from trueline.migrate.rewrite.kinds import MODULE
from trueline.migrate.rewrite.optimizers import is_optimizer
from trueline.migrate.rewrite.sheet import Sheet
from trueline.model.message import Message, message

_CLIP: Final = ("torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad_value_")
NO_GRADIENT: Final = ("torch.no_grad", "torch.inference_mode")
_SIMPLE: Final = (ast.Assign, ast.AugAssign, ast.AnnAssign)


class NotRecognised(Exception):  # noqa: N818
    """A training step of another shape; the reason."""

    def __init__(self, reason: Message) -> None:
        super().__init__(reason.text())
        self.reason = reason


@dataclass(slots=True)
class Step:
    """A training step: ``block`` holds the statements of one pass, ``loop`` is the loop around them, if any.

    ``slice`` are the statements from the first call of the network to the loss, ``takes`` the names they need from
    the block, ``gives`` those that are read elsewhere. ``resets`` are the calls of zero_grad. Where the update stands
    under a condition, the gradients of several passes are summed. What stands before ``begin`` belongs to other steps.
    """

    block: list[ast.stmt]
    loop: ast.For | ast.While | None
    backward: ast.Expr
    loss: str
    optimizer: str
    update: ast.Expr
    resets: list[ast.Expr]
    clips: list[ast.Expr | ast.Assign]
    summed: bool
    begin: int = 0
    slice: list[ast.stmt] = field(default_factory=list)
    takes: list[str] = field(default_factory=list)
    gives: list[str] = field(default_factory=list)

    @property
    def own(self) -> list[ast.stmt]:
        """The statements that only this step needs, and that leave the block."""
        return [statement for statement in self.slice if self.block.index(statement) >= self.begin]

    @property
    def again(self) -> list[ast.stmt]:
        """The statements that stay for other steps, and that this one runs a second time."""
        return [statement for statement in self.slice if self.block.index(statement) < self.begin]


def backward_statements(sheet: Sheet) -> Iterator[ast.Expr]:
    """Every ``….backward()`` that is a statement."""
    for node in ast.walk(sheet.tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            function = node.value.func
            if isinstance(function, ast.Attribute) and function.attr == "backward":
                yield node


def recognise(sheet: Sheet, backward: ast.Expr) -> Step:
    """The step around a backward statement; NotRecognised where it has another shape."""
    call = backward.value
    assert isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
    loss = call.func.value
    if not isinstance(loss, ast.Name) or call.args or call.keywords:
        raise NotRecognised(message("rewrite.step_loss"))
    block, loop = block_of(sheet, backward)
    place = block.index(backward)
    updates = [(one, top) for top in block[place + 1 :] for one in optimizer_steps(sheet, [top])]
    if len(updates) != 1:
        raise NotRecognised(message("rewrite.step_updates", count=len(updates)))
    update, top = updates[0]
    if update is not top and not (isinstance(top, ast.If) and update in top.body and not top.orelse):
        raise NotRecognised(message("rewrite.step_block"))
    resets = list(method_calls(block, "zero_grad"))
    summed = update is not top
    if not resets or (not summed and any(one not in block for one in resets)):
        raise NotRecognised(message("rewrite.step_reset"))
    if summed and not all(isinstance(top, ast.If) and one in top.body for one in resets):
        raise NotRecognised(message("rewrite.step_reset"))
    found = Step(block, loop, backward, loss.id, _owner(sheet, update), update, resets, [], summed)
    found.clips = list(clips_of(sheet, block))
    slice_step(sheet, found, place)
    return found


def block_of(sheet: Sheet, backward: ast.Expr) -> tuple[list[ast.stmt], ast.For | ast.While | None]:
    """The statements of one pass around a backward statement, and the loop that they are the body of, if any."""
    owner = sheet.names.parents[backward]
    parts = [getattr(owner, word, ()) for word in ("body", "orelse", "finalbody")]
    block = next((list(part) for part in parts if backward in part), [])
    loop = owner if isinstance(owner, ast.For | ast.While) else None
    if not block or (loop is None and not isinstance(owner, ast.FunctionDef)):
        raise NotRecognised(message("rewrite.step_block"))
    return block, loop


def slice_step(sheet: Sheet, step: Step, place: int, networks: frozenset[str] = frozenset()) -> None:
    """Find the statements that make the loss, from the first run of a network that is trained: of all if not told."""
    needed = {step.loss}
    chosen: list[ast.stmt] = []
    given_from: ast.stmt | None = None
    for statement in reversed(step.block[:place]):
        if statement in step.resets:
            continue
        assigned = set(_assigned(statement))
        if not assigned & needed:
            continue
        if _records_nothing(sheet, statement):
            needed -= assigned
            given_from = given_from or statement
            continue
        if not isinstance(statement, (*_SIMPLE, ast.If, ast.For)):
            raise NotRecognised(message("rewrite.step_statement", line=statement.lineno))
        if isinstance(statement, ast.If | ast.For) and any(
            isinstance(one, ast.Return | ast.Continue | ast.Break | ast.Yield) for one in ast.walk(statement)
        ):
            raise NotRecognised(message("rewrite.step_statement", line=statement.lineno))
        chosen.insert(0, statement)
        if isinstance(statement, ast.Assign):
            # What the names were before does not matter.
            needed -= assigned
        needed |= set(free_names(statement))
    first = next((place for place, one in enumerate(chosen) if _runs_network(sheet, one, networks)), None)
    if first is None:
        raise NotRecognised(message("rewrite.step_network"))
    step.slice = chosen[first:]
    if not step.own:
        raise NotRecognised(message("rewrite.step_several"))
    if given_from is not None and given_from.lineno > step.own[0].lineno:
        raise NotRecognised(message("rewrite.step_statement", line=given_from.lineno))
    _refuse_between(step, place)
    for statement in step.slice:
        if not _alone(sheet, statement) or any(_stores_elsewhere(one) for one in ast.walk(statement)):
            raise NotRecognised(message("rewrite.step_statement", line=statement.lineno))
    scope = sheet.names.scope(step.backward)
    within = {node for statement in step.slice for node in ast.walk(statement)}
    outside = set(_assigned(step.loop or scope)) | (_parameters(scope) if step.loop is None else set())
    if step.loop is None and isinstance(scope, ast.FunctionDef):
        # Networks are called in the function, and not handed to it, unless it binds their name anew.
        outside -= _closed(scope) - {name for statement in step.slice for name in _assigned(statement)}
    # What only the step itself binds cannot come from outside.
    elsewhere = _parameters(scope) | {name for name, node in _stored(scope) if node not in within}
    made: set[str] = set()
    order: list[str] = []
    for statement in step.slice:
        for name in free_names(statement, made):
            if name in outside & elsewhere and name not in step.takes and _bound_before(step, name):
                step.takes.append(name)
        order.extend(name for name in _assigned(statement) if name not in order and statement in step.own)
    read = {
        node.id
        for node in ast.walk(scope)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node not in within
        if not _has_own(sheet, node, scope)
    }
    step.gives = [step.loss, *(name for name in order if name in read and name != step.loss)]


def _records_nothing(sheet: Sheet, statement: ast.stmt) -> bool:
    """Whether a statement is a block without gradients: what it computes is given, as numbers are."""
    return isinstance(statement, ast.With) and all(
        isinstance(item.context_expr, ast.Call) and sheet.names.torch(item.context_expr.func) in NO_GRADIENT
        for item in statement.items
    )


def _bound_before(step: Step, name: str) -> bool:
    """Whether a name gets its value in the block before the slice, or by the loop, or by the function."""
    if step.loop is None:
        return True
    first = step.block.index(step.own[0])
    targets = _assigned(ast.For(step.loop.target, ast.Constant(0), [], [])) if isinstance(step.loop, ast.For) else []
    before = [one for statement in step.block[:first] for one in _assigned(statement)]
    own = [one for statement in step.slice for one in _assigned(statement)]
    return name in targets or name in before or name in own


def _parameters(scope: ast.AST) -> set[str]:
    if not isinstance(scope, ast.FunctionDef):
        return set()
    return {one.arg for one in ast.walk(scope.args) if isinstance(one, ast.arg)} - {"self", "cls"} - _closed(scope)


def _closed(scope: ast.FunctionDef) -> set[str]:
    """Parameters that are networks, losses or optimizers: they are called, not handed on."""
    called = {
        node.func.id for node in ast.walk(scope) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    owners = {
        node.func.value.id
        for node in ast.walk(scope)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name)
        if node.func.attr in ("step", "zero_grad", "parameters", "train", "eval")
    }
    return called | owners


def _refuse_between(step: Step, place: int) -> None:
    """Refuse where what a statement of the step reads is changed after the place at which the step will run."""
    read = {name for statement in step.slice for name in free_names(statement)}
    first = step.block.index(step.own[0])
    for statement in step.block[first:place]:
        if statement not in step.slice and _changed(statement) & read:
            raise NotRecognised(message("rewrite.step_statement", line=statement.lineno))
    if step.again:
        given: set[str] = set()
        needed = {name for statement in step.again for name in free_names(statement, given)}
        for statement in step.block[step.block.index(step.again[0]) : first]:
            if statement not in step.again and (_changed(statement) | set(_assigned(statement))) & (needed | given):
                raise NotRecognised(message("rewrite.step_statement", line=statement.lineno))


def _changed(statement: ast.stmt) -> set[str]:
    """The names whose tensors a statement overwrites: by a method that does so, or element by element."""
    found = set()
    for node in ast.walk(statement):
        stored = isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
        overwritten = isinstance(node, ast.Attribute) and node.attr.endswith("_")
        held = node.value if isinstance(node, ast.Subscript | ast.Attribute) and (stored or overwritten) else None
        if isinstance(held, ast.Name):
            found.add(held.id)
    return found


def _runs_network(sheet: Sheet, statement: ast.stmt, networks: frozenset[str]) -> bool:
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and not sheet.names.full(node.func) and _may_be_network(sheet, node.func):
            called = ast.unparse(node.func)
            if not networks or any(called == one or called.startswith(f"{one}.") for one in networks):
                return True
    return False


def _may_be_network(sheet: Sheet, node: ast.expr) -> bool:
    """A network, or a parameter or attribute of an unknown kind that is called as one is."""
    kind = sheet.kinds.of(node)
    if kind or not isinstance(node, ast.Name):
        return kind == MODULE or (not kind and isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self")
    scope = sheet.names.scope(node)
    return isinstance(scope, ast.FunctionDef) and node.id in {
        one.arg for one in ast.walk(scope.args) if isinstance(one, ast.arg)
    }


def _is_optimizer(sheet: Sheet, statement: ast.Expr) -> bool:
    """Whether it is an optimizer that makes a step; schedules do as well."""
    call = statement.value
    assert isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
    return not call.args and is_optimizer(sheet, call.func.value)


def _owner(sheet: Sheet, statement: ast.Expr) -> str:
    call = statement.value
    assert isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
    return sheet.at.source(call.func.value)


def clips_of(sheet: Sheet, block: Sequence[ast.stmt]) -> Iterator[ast.Expr | ast.Assign]:
    """The statements of a block that clip gradients."""
    found = (one for one in _statements(block) if isinstance(one, ast.Expr | ast.Assign))
    for one in found:
        if isinstance(one.value, ast.Call) and sheet.names.torch(one.value.func) in _CLIP:
            yield one


def optimizer_steps(sheet: Sheet, block: Sequence[ast.stmt]) -> Iterator[ast.Expr]:
    """The updates of a block."""
    return (one for one in method_calls(block, "step") if _is_optimizer(sheet, one))


def method_calls(block: Sequence[ast.stmt], word: str) -> Iterator[ast.Expr]:
    """The statements of a block that call a method of a name."""
    for statement in _statements(block):
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            function = statement.value.func
            if isinstance(function, ast.Attribute) and function.attr == word:
                yield statement


def _statements(block: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in block:
        for node in ast.walk(statement):
            if isinstance(node, ast.stmt):
                yield node


def _stored(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """The names that are bound by statements; those of a comprehension are its own."""
    waiting: list[ast.AST] = [node]
    while waiting:
        one = waiting.pop(0)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
            yield one.id, one
        own = one.target if isinstance(one, ast.comprehension) else None
        waiting.extend(child for child in ast.iter_child_nodes(one) if child is not own)


def _assigned(node: ast.AST) -> list[str]:
    return [name for name, _ in _stored(node)]


def free_names(node: ast.AST, bound: set[str] | None = None) -> list[str]:
    """The names that are read before the node binds them, in order; ``bound`` takes up those that it binds."""
    found: list[str] = []
    _free(node, set() if bound is None else bound, found)
    return list(dict.fromkeys(found))


def _free(node: ast.AST, bound: set[str], found: list[str]) -> None:
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            found.extend([] if name in bound else [name])
        case ast.Name(id=name):
            bound.add(name)
        case ast.Assign(targets=targets, value=value):
            _free_all([value, *targets], bound, found)
        case ast.AugAssign(target=target, value=value):
            name = target.id if isinstance(target, ast.Name) else ""
            found.extend([name] if name and name not in bound else [])
            _free_all([value, target], bound, found)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            _free_all([value, target], bound, found)
        case ast.For(iter=iterated, target=target, body=body, orelse=other):
            _free_all([iterated, target, *body, *other], bound, found)
        case ast.If(test=test, body=body, orelse=other):
            _free(test, bound, found)
            branches = [set(bound), set(bound)]
            _free_all(body, branches[0], found)
            _free_all(other, branches[1], found)
            bound |= branches[0] & branches[1]
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            inner = set(bound)
            for one in node.generators:
                _free_all([one.iter, one.target, *one.ifs], inner, found)
            results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
            _free_all(results, inner, found)
        case ast.Lambda(args=arguments, body=result):
            _free_all([*arguments.defaults, *(one for one in arguments.kw_defaults if one)], bound, found)
            _free(result, bound | {one.arg for one in ast.walk(arguments) if isinstance(one, ast.arg)}, found)
        case _:
            _free_all(list(ast.iter_child_nodes(node)), bound, found)


def _free_all(nodes: Sequence[ast.AST], bound: set[str], found: list[str]) -> None:
    for node in nodes:
        _free(node, bound, found)


def _has_own(sheet: Sheet, name: ast.Name, scope: ast.AST) -> bool:
    """Whether a loop, a comprehension or a function between a name and its scope binds it itself."""
    for one in sheet.names.enclosing(name):
        if one is scope:
            return False
        match one:
            case ast.For(target=target, iter=iterated) if name not in ast.walk(iterated):
                own = set(_assigned(target))
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                own = {bound for part in one.generators for bound in _assigned(part.target)}
            case ast.Lambda() | ast.FunctionDef():
                own = {part.arg for part in ast.walk(one.args) if isinstance(part, ast.arg)}
            case _:
                own = set()
        if name.id in own:
            return True
    return False


def _stores_elsewhere(node: ast.AST) -> bool:
    """An assignment to an attribute or an element: what it leaves behind is not the function's own."""
    return isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store)


def _alone(sheet: Sheet, statement: ast.stmt) -> bool:
    """Whether a statement has its lines to itself."""
    span = sheet.at.of(statement)
    whole = sheet.at.whole_lines(statement.lineno, statement.end_lineno or statement.lineno)
    after = sheet.text[span.end : whole.end].strip()
    return not sheet.text[whole.start : span.start].strip() and (not after or after.startswith("#"))

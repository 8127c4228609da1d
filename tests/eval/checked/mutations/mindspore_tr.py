"""Faults of the training step in MindSpore projects (tr.01 to tr.06)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from editing import Edit, Source, keyword, last_name, sources
from mindspore_cg import layers, parameter_lists
from planting import Planted, Project, mutation
from reading_mindspore import RUN, finish, is_graph, loss_calls, need, ops, optimizer_calls, top_cells, updates
from reading_torch import text_of_all

ACCUMULATES = re.compile(r"accum|micro|\.every", re.IGNORECASE)


def _clearing(project: Project) -> Iterator[tuple[Source, ast.stmt, ast.stmt]]:
    """The optimizer's call on summed gradients and the statement behind it that clears the sums."""
    for source, call in updates(project):
        stmt = source.statement(call)
        block = source.block(stmt)
        for other in block[block.index(stmt) + 1 :]:
            if re.search(r"zeros_like|= None|\.clear\(\)|= \[\]", source.text_of(other)):
                yield source, stmt, other


@mutation("tr.01", "mindspore", "sums-not-cleared")
def sums_not_cleared(project: Project) -> Iterator[Planted]:
    for source, update, clear in _clearing(project):
        yield finish(Edit(project).delete(source, clear).mark(source, update), "tr.01", shows_in=RUN)


@mutation("tr.01", "mindspore", "sums-cleared-before-the-update")
def sums_cleared_too_early(project: Project) -> Iterator[Planted]:
    for source, update, clear in _clearing(project):
        edit = Edit(project).move(source, clear, before=update).mark(source, update)
        yield finish(edit, "tr.01", shows_in=RUN, because=("cg.02",))


def _plain_updates(project: Project) -> Iterator[tuple[Source, ast.Expr, str, ast.For]]:
    """`opt(grads)` as a statement of its own in the loop over batches."""
    if ACCUMULATES.search(text_of_all(project)):
        return
    for source, call in updates(project):
        stmt = source.statement(call)
        loop = source.inside(stmt, ast.For)
        same = loop is not None and source.function(loop) is source.function(stmt)
        if isinstance(stmt, ast.Expr) and stmt.value is call and same and stmt in loop.body:  # type: ignore
            yield source, stmt, source.text_of(call.args[0]), loop  # type: ignore[misc]


@mutation("tr.01", "mindspore", "gradients-summed-for-ever")
def gradients_summed(project: Project) -> Iterator[Planted]:
    """The habit of another framework: gradients are added to what is there, and nobody clears it."""
    for source, stmt, grads, loop in _plain_updates(project):
        assert isinstance(stmt.value, ast.Call)
        line = f"held = {grads} if held is None else tuple(a + b for a, b in zip(held, {grads}))"
        edit = Edit(project).before(source, loop, "held = None", mark=False).before(source, stmt, line)
        edit.replace(source, stmt.value.args[0], "held")
        yield finish(edit, "tr.01", shows_in=RUN, because=("hp.01",))


@mutation("tr.02", "mindspore", "prediction-without-gradient")
def prediction_without_gradient(project: Project) -> Iterator[Planted]:
    for source, call in loss_calls(project):
        edit = Edit(project)
        new = f"{ops(edit, source)}.stop_gradient({source.text_of(call.args[0])})"
        yield finish(edit.replace(source, call.args[0], new), "tr.02", shows_in=RUN, because=("cg.02", "tr.13"))


@mutation("tr.02", "mindspore", "prediction-through-numpy")
def prediction_through_numpy(project: Project) -> Iterator[Planted]:
    if is_graph(project):
        return
    for source, call in loss_calls(project):
        edit = Edit(project)
        need(edit, source, "Tensor", "from mindspore import Tensor")
        new = f"Tensor({source.text_of(call.args[0])}.asnumpy())"
        yield finish(edit.replace(source, call.args[0], new), "tr.02", shows_in=RUN, because=("cg.02", "tr.13"))


@mutation("tr.03", "mindspore", "sum-not-divided")
def sum_not_divided(project: Project) -> Iterator[Planted]:
    for source in sources(project):
        for node in source.walk(ast.BinOp):
            assert isinstance(node, ast.BinOp)
            text = source.text_of(source.statement(node))
            if isinstance(node.op, ast.Div) and ACCUMULATES.search(source.text_of(node.right)) and "print" not in text:
                edit = Edit(project).replace(source, node, source.text_of(node.left))
                yield finish(edit, "tr.03", shows_in=RUN)


@mutation("tr.03", "mindspore", "accumulation-added-without-dividing")
def accumulation_added(project: Project) -> Iterator[Planted]:
    for source, stmt, grads, loop in _plain_updates(project):
        assert isinstance(stmt.value, ast.Call)
        edit = Edit(project).before(source, loop, "held, pending = None, 0", mark=False)
        pad = source.indent(stmt)
        func = source.text_of(stmt.value.func)
        new = [
            f"held = {grads} if held is None else tuple(a + b for a, b in zip(held, {grads}))",
            f"{pad}pending += 1",
            f"{pad}if pending == 2:",
            f"{pad}    {func}(held)",
            f"{pad}    held, pending = None, 0",
        ]
        yield finish(edit.replace(source, stmt, "\n".join(new)).mark(source, stmt), "tr.03", shows_in=RUN)


SCHEDULE = re.compile(r"decay|warm|cosine|schedule|_lr$|piecewise|polynomial", re.IGNORECASE)


def _schedules(project: Project) -> Iterator[tuple[Source, ast.expr, ast.expr]]:
    """What an optimizer gets as its rate, and the expression that makes a schedule of it."""
    for source, call in optimizer_calls(project):
        given = keyword(call, "learning_rate")
        node = given.value if given else call.args[1] if len(call.args) > 1 else None
        if isinstance(node, ast.Call) and SCHEDULE.search(last_name(node.func)):
            yield source, node, node
        for made in source.walk(ast.Assign) if isinstance(node, ast.Name) else []:
            if isinstance(made, ast.Assign) and last_name(made.targets[0]) == node.id:  # type: ignore[union-attr]
                listed = isinstance(made.value, ast.ListComp | ast.List)
                if listed or (isinstance(made.value, ast.Call) and SCHEDULE.search(last_name(made.value.func))):
                    yield source, node, made.value  # type: ignore[misc]


@mutation("tr.04", "mindspore", "schedule-not-used")
def schedule_not_used(project: Project) -> Iterator[Planted]:
    """The optimizer gets the plain rate, the schedule is made for nothing."""
    for source, node, made in _schedules(project):
        rates = [
            source.text_of(n)
            for n in source.walk(ast.Name, ast.Attribute, within=made)
            if re.search(r"(^|_)lr$|rate$", last_name(n)) and not isinstance(source.parents[n], ast.Attribute)
        ]
        rates = [r for r in rates if r != "nn" and not r.startswith("nn.")]
        if rates:
            edit = Edit(project).replace(source, node, rates[0])
            if made is not node:
                edit.mark(source, made)
            yield finish(edit, "tr.04", shows_in=RUN)


@mutation("tr.04", "mindspore", "first-value-of-the-schedule-only")
def first_value_only(project: Project) -> Iterator[Planted]:
    for source, node, made in _schedules(project):
        if made is not node and not re.search(r"Schedule|DecayLR", source.text_of(made)):
            edit = Edit(project).replace(source, node, f"{source.text_of(node)}[0]").mark(source, made)
            yield finish(edit, "tr.04", shows_in=RUN)


@mutation("tr.04", "mindspore", "steps-of-the-schedule-taken-for-epochs")
def steps_for_epochs(project: Project) -> Iterator[Planted]:
    """A schedule object counts steps, its length is given in epochs."""
    for source, node, made in _schedules(project):
        if made is not node or not isinstance(made, ast.Call):
            continue
        for argument in made.args:
            for assigned in source.walk(ast.Assign) if isinstance(argument, ast.Name) else []:
                assert isinstance(assigned, ast.Assign)
                value = assigned.value
                if last_name(assigned.targets[0]) != argument.id or not isinstance(value, ast.BinOp):  # type: ignore
                    continue
                if isinstance(value.op, ast.Mult) and "epoch" in source.text_of(value.left):
                    edit = Edit(project).replace(source, value, source.text_of(value.left)).mark(source, node)
                    yield finish(edit, "tr.04", shows_in=RUN)


@mutation("tr.05", "mindspore", "both-groups-decayed")
def both_groups_decayed(project: Project) -> Iterator[Planted]:
    for source in sources(project):
        decays = []
        for node in source.walk(ast.Dict):
            assert isinstance(node, ast.Dict)
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == "weight_decay":
                    decays.append(value)
        zeros = [d for d in decays if source.text_of(d) in ("0.0", "0", "0.")]
        used = [d for d in decays if d not in zeros]
        if zeros and used:
            yield finish(Edit(project).replace(source, zeros[0], source.text_of(used[0])), "tr.05", shows_in=RUN)


@mutation("tr.05", "mindspore", "test-for-norm-and-bias-wrong")
def test_wrong(project: Project) -> Iterator[Planted]:
    for source in sources(project):
        found = []
        for node in source.walk(ast.Compare):
            assert isinstance(node, ast.Compare)
            number = node.comparators[0]
            if re.search(r"\.ndim$|len\(.*shape\)$|\.dim\(\)$", source.text_of(node.left)):
                # Alone it would leave its group empty, which the optimizer refuses.
                found += (
                    [number]
                    if isinstance(number, ast.Constant) and isinstance(source.parents[node], ast.BoolOp)
                    else []
                )
        # Two tests that exclude each other would put a parameter into both groups, which is refused as well.
        if len(found) == 1 and "weight_decay" in source.text:
            edit = Edit(project).replace(source, found[0], str(found[0].value - 1))
            yield finish(edit, "tr.05", shows_in=RUN)


@mutation("tr.05", "mindspore", "groups-replaced-by-all-parameters")
def groups_replaced(project: Project) -> Iterator[Planted]:
    for source, call in optimizer_calls(project):
        first = call.args[0] if call.args else None
        if not (isinstance(first, ast.Call) and first.args) or keyword(call, "weight_decay"):
            continue
        if (
            re.search(r"group|split|params|decay", last_name(first.func))
            and last_name(first.func) != "trainable_params"
        ):
            net = source.text_of(first.args[0])
            edit = Edit(project).replace(source, first, f"{net}.trainable_params()")
            yield finish(edit.add_argument(source, call, "weight_decay=1e-3"), "tr.05", shows_in=RUN)


def _built(project: Project) -> Iterator[tuple[Source, ast.stmt, ast.Assign, str]]:
    """The statement that makes the optimizer, and the one before it that makes its network."""
    if is_graph(project):
        return
    for source, call, name in parameter_lists(project):
        stmt = source.statement(call)
        for made in source.block(stmt):
            if not (isinstance(made, ast.Assign) and made.lineno < stmt.lineno and isinstance(made.value, ast.Call)):
                continue
            if len(made.targets) == 1 and source.text_of(made.targets[0]) == name and isinstance(stmt, ast.Assign):
                yield source, stmt, made, name


@mutation("tr.06", "mindspore", "network-made-again-after-the-optimizer")
def made_again(project: Project) -> Iterator[Planted]:
    for source, stmt, made, _ in _built(project):
        edit = Edit(project).after(source, stmt, *source.text_of(made).splitlines()).mark(source, stmt)
        yield finish(edit, "tr.06", shows_in=RUN, because=("cg.02", "tr.13"))


@mutation("tr.06", "mindspore", "head-replaced-after-the-optimizer")
def head_replaced(project: Project) -> Iterator[Planted]:
    for source, stmt, made, name in _built(project):
        assert isinstance(made.value, ast.Call)
        heads = []
        if last_name(made.value.func) == "SequentialCell" and made.value.args:
            heads = [f"{name}[{len(made.value.args) - 1}]"]
        for other, node, init, _ in top_cells(project):
            if node.name == last_name(made.value.func):
                heads = [f"{name}.{n}" for n, c in layers(other, init).items() if last_name(c.func) == "Dense"]
        if heads and "nn" in source.text:
            last = heads[-1]
            edit = Edit(project).after(source, stmt, f"{last} = nn.Dense({last}.in_channels, {last}.out_channels)")
            yield finish(edit.mark(source, stmt), "tr.06", shows_in=RUN, because=("cg.02", "tr.13"))

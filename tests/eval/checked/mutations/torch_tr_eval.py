"""Faults of evaluation and of ranks in PyTorch projects (tr.07, tr.08, tr.09, tr.12)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from editing import Edit, Source, keyword, last_name, own_lines, sources
from planting import Planted, Project, mutation
from reading_torch import calls, loaders, module_classes, steps

RUN = ("script", "run")
NO_EVALUATION = re.compile(r"^(len|DataLoader|enumerate)$|naive|baseline|constant")


def _loader_names(project: Project) -> Iterator[tuple[Source, str, ast.Call, str, ast.Call]]:
    """Pairs of names in one function: the loader of training and one of evaluation, with their calls."""
    if re.search(r"/ len\(\w*(val|v|va|test)\)", "".join(project.files.values())):
        return  # sums would be divided by the length of another set: a second fault
    named: dict[bool, list[tuple[Source, str, ast.Call]]] = {True: [], False: []}
    for source, call, training in loaders(project):
        stmt = source.parents[call]
        if isinstance(stmt, ast.Assign) and isinstance(stmt.targets[0], ast.Name):
            named[training].append((source, stmt.targets[0].id, call))
    for source, train, train_call in named[True]:
        for other, val, val_call in named[False]:
            if source is other and source.function(train_call) is source.function(val_call):
                yield source, train, train_call, val, val_call


@mutation("tr.07", "torch", "evaluated-on-the-training-loader")
def evaluated_on_training(project: Project) -> Iterator[Planted]:
    for source, train, _, val, _ in _loader_names(project):
        if re.search(r"fit|train", val) and not re.search("val|test", val):
            continue  # a second loader of the training set, meant to be one
        for node in source.walk(ast.Name):
            if isinstance(node, ast.Name) and node.id == val and isinstance(node.ctx, ast.Load):
                parent = source.parents[node]
                called = isinstance(parent, ast.Call) and not NO_EVALUATION.search(last_name(parent.func))
                if called or isinstance(parent, ast.For | ast.keyword) or "iter(" in source.text_of(parent):
                    yield Edit(project).replace(source, node, train).planted("tr.07", shows_in=RUN)


@mutation("tr.07", "torch", "loader-of-the-training-set")
def loader_of_training_set(project: Project) -> Iterator[Planted]:
    """The loader for evaluation is given the training set."""
    for source, _, train_call, val, val_call in _loader_names(project):
        if re.search(r"fit|train", val) and not re.search("val|test", val):
            continue
        if train_call.args and val_call.args and isinstance(train_call.args[0], ast.Name | ast.Attribute | ast.Call):
            new = source.text_of(train_call.args[0])
            if re.search(r"rand|gen\b|\bg\b|train=|seed", new) or new == source.text_of(val_call.args[0]):
                continue  # would be drawn anew, not the same samples
            yield Edit(project).replace(source, val_call.args[0], new).planted("tr.07", shows_in=RUN)


@mutation("tr.07", "torch", "held-out-slice-from-the-front")
def held_out_from_front(project: Project) -> Iterator[Planted]:
    """The held-out part is cut from the front, where the training part lies."""
    for source in sources(project):
        for node in source.walk(ast.Assign):
            assert isinstance(node, ast.Assign)
            target = source.text_of(node.targets[0])
            if not re.search(r"val|test|dev|held", target) or not isinstance(node.value, ast.Tuple | ast.Subscript):
                continue
            cuts = [
                n
                for n in ast.walk(node.value)
                if isinstance(n, ast.Slice) and n.lower is not None and n.upper is None and n.step is None
            ]
            cuts = [n for n in cuts if not isinstance(n.lower, ast.UnaryOp)]
            where = node.targets[0].elts if isinstance(node.targets[0], ast.Tuple) else [node.targets[0]]
            if isinstance(node.value, ast.Tuple) and len(cuts) != sum(
                bool(re.search("val|test|dev|held", source.text_of(t))) for t in where
            ):
                continue
            if cuts:
                edit = Edit(project)
                for cut in cuts:
                    edit.replace(source, cut, f":{source.text_of(cut.lower)}")  # type: ignore[arg-type]
                yield edit.planted("tr.07", shows_in=RUN)


@mutation("tr.08", "torch", "gradients-not-averaged")
def gradients_not_averaged(project: Project) -> Iterator[Planted]:
    """The network is no longer wrapped: every rank trains alone."""
    for source, call in calls(project, "DDP", "DistributedDataParallel"):
        stmt = source.statement(call)
        if not isinstance(stmt, ast.Assign):
            continue
        around = source.parents[stmt]
        gone = around if isinstance(around, ast.If) and len(around.body) == 1 and not around.orelse else stmt
        edit = Edit(project).delete(source, gone)  # type: ignore[arg-type]
        for step in steps(project):
            edit.mark(step.source, step.backward)
            if step.update:
                edit.mark(step.source, step.update)
        for where, built in calls(project, "init_process_group"):
            edit.mark(where, built)
        yield edit.planted("tr.08")


@mutation("tr.08", "torch", "collective-on-one-rank")
def collective_on_one_rank(project: Project) -> Iterator[Planted]:
    """A call in which all ranks must take part stands below `if rank == 0`."""
    collective = {"all_reduce", "broadcast", "barrier", "all_gather", "reduce"}
    for source in sources(project):
        for node in source.walk(ast.FunctionDef):
            if isinstance(node, ast.FunctionDef) and list(source.calls(*collective, within=node)):
                collective.add(node.name)
    for source in sources(project):
        for call in source.calls(*collective):
            stmt = source.statement(call)
            names = {n.id for n in ast.walk(source.function(call) or source.tree) if isinstance(n, ast.Name)}
            if "rank" not in names or not isinstance(stmt, ast.Assign | ast.Expr):
                continue
            edit = Edit(project).before(
                source, stmt, "if rank == 0:", *(f"    {line}" for line in own_lines(source, stmt))
            )
            yield edit.delete(source, stmt).planted("tr.08")


@mutation("tr.08", "torch", "one-rank-leaves-the-loop")
def own_stop_per_rank(project: Project) -> Iterator[Planted]:
    """One rank leaves the loop over batches early: the others wait for it in the next reduction."""
    for step in steps(project):
        source, loop = step.source, step.loop()
        if (
            not loop
            or not re.search(r"\brank\b", source.text_of(step.around))
            or "init_process_group" not in "".join(project.files.values())
        ):
            continue
        lines = ("if rank > 0 and loss.item() < 0.05:", "    break")
        if step.loss == "loss":
            yield Edit(project).before(source, step.backward, *lines).planted("tr.08")


@mutation("tr.09", "torch", "functional-dropout-always-on")
def functional_dropout(project: Project) -> Iterator[Planted]:
    """self.drop(x) becomes F.dropout(x, p), which acts in evaluation too."""
    for source, _, made, forward in module_classes(project):
        layers: dict[str, str] = {}
        for stmt in made.body if made else []:
            if (
                isinstance(stmt, ast.Assign)
                and isinstance(stmt.value, ast.Call)
                and last_name(stmt.value.func) == "Dropout"
            ):
                given = [
                    a
                    for a in [*stmt.value.args, *(k.value for k in stmt.value.keywords)]
                    if isinstance(a, ast.Constant)
                ]
                layers[source.text_of(stmt.targets[0])] = source.text_of(given[0]) if given else "0.1"
        for call in source.walk(ast.Call, within=forward) if forward else []:
            assert isinstance(call, ast.Call)
            p = layers.get(source.text_of(call.func))
            if p and len(call.args) == 1:
                functional = "F" if re.search(r"functional as F$", source.text, re.MULTILINE) else "nn.functional"
                new = f"{functional}.dropout({source.text_of(call.args[0])}, {p})"
                yield Edit(project).replace(source, call, new).planted("tr.09", shows_in=RUN, because=("cg.03",))


@mutation("tr.09", "torch", "training-flag-left-out")
def training_flag_left_out(project: Project) -> Iterator[Planted]:
    for source, call in calls(project, "dropout", "batch_norm", "scaled_dot_product_attention"):
        flag = keyword(call, "training")
        if flag and "self.training" in source.text_of(flag):
            if last_name(call.func) == "dropout":
                yield Edit(project).remove_argument(source, call, flag).planted("tr.09", shows_in=RUN)
            else:
                yield Edit(project).replace(source, flag.value, "True").planted("tr.09", shows_in=RUN)


@mutation("tr.09", "torch", "statistics-of-the-batch-in-evaluation")
def batch_statistics(project: Project) -> Iterator[Planted]:
    """Without running statistics BatchNorm takes those of the batch at hand, in evaluation as well."""
    for source, call in calls(project, "BatchNorm1d", "BatchNorm2d", "BatchNorm3d"):
        if not keyword(call, "track_running_stats"):
            edit = Edit(project).add_argument(source, call, "track_running_stats=False")
            yield edit.planted("tr.09", shows_in=RUN, because=("api.02",))


def _evaluation_loops(project: Project) -> Iterator[tuple[Source, ast.For, str]]:
    """Loops over a loader without a backward, with the text of the loader."""
    if "IterableDataset" in "".join(project.files.values()):
        return  # has no length
    for source in sources(project):
        for loop in source.walk(ast.For):
            assert isinstance(loop, ast.For)
            text = source.text_of(loop)
            if (
                ".backward(" in text
                or "epoch" in source.text_of(loop.target)
                or not re.search(r"loss|correct|hit|acc|err", text)
            ):
                continue
            over = loop.iter
            if isinstance(over, ast.Call) and last_name(over.func) == "enumerate":
                over = over.args[0]
            if isinstance(over, ast.Name | ast.Attribute) and re.search(
                r"load|dl|val|test|valid", source.text_of(over)
            ):
                yield source, loop, source.text_of(over)


def _quotients(source: Source, loop: ast.For, name: str) -> list[ast.BinOp]:
    """Divisions of a sum that the loop made, after it."""
    around = source.function(loop) or source.tree
    return [
        n
        for n in source.walk(ast.BinOp, within=around)
        if isinstance(n, ast.BinOp)
        and isinstance(n.op, ast.Div)
        and source.text_of(n.left) == name
        and n.lineno > (loop.end_lineno or 0)
    ]


def _odd_batches(project: Project, edit: Edit, source: Source) -> None:
    """Let the loader of evaluation end in an incomplete batch, else the fault would not show."""
    for where, call, training in loaders(project):
        size = keyword(call, "batch_size")
        node = size.value if size else call.args[1] if len(call.args) > 1 else None
        if not training and node is not None and not keyword(call, "drop_last"):
            edit.replace(where, node, "37", mark=False)


@mutation("tr.12", "torch", "mean-of-batch-means")
def mean_of_means(project: Project) -> Iterator[Planted]:
    for source, loop, loader in _evaluation_loops(project):
        for stmt in source.walk(ast.AugAssign, within=loop):
            if not isinstance(stmt, ast.AugAssign) or not isinstance(stmt.value, ast.BinOp):
                continue
            size = source.text_of(stmt.value.right)
            if not isinstance(stmt.value.op, ast.Mult) or not re.search(
                r"len\(|size\(0\)|numel\(\)|shape\[0\]|\bn\b|bs", size
            ):
                continue
            found = _quotients(source, loop, source.text_of(stmt.target))
            if not found or ".item()" not in source.text_of(stmt.value.left):
                continue
            edit = Edit(project).replace(source, stmt.value, source.text_of(stmt.value.left))
            for node in found:
                edit.replace(source, node.right, f"len({loader})")
            _odd_batches(project, edit, source)
            yield edit.planted("tr.12", shows_in=RUN)


@mutation("tr.12", "torch", "divided-by-batches-times-size")
def divided_by_full_batches(project: Project) -> Iterator[Planted]:
    for source, loop, loader in _evaluation_loops(project):
        for stmt in source.walk(ast.AugAssign, within=loop):
            if not isinstance(stmt, ast.AugAssign) or not re.search(r"==|\.eq\(|> 0", source.text_of(stmt.value)):
                continue
            found = _quotients(source, loop, source.text_of(stmt.target))
            if found:
                edit = Edit(project)
                for node in found:
                    edit.replace(source, node.right, f"(len({loader}) * {loader}.batch_size)")
                _odd_batches(project, edit, source)
                yield edit.planted("tr.12", shows_in=RUN)

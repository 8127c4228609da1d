"""Faults of evaluation, ranks and axes in MindSpore projects (tr.07 to tr.09, tr.11)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from editing import Edit, Source, keyword, last_name, sources
from planting import Planted, Project, mutation
from reading_mindspore import (
    RUN,
    cells,
    finish,
    is_classification,
    is_evaluation,
    is_graph,
    loss_calls,
    ops,
)
from reading_torch import calls, text_of_all

NOT_USED = re.compile(r"load_|write|save|improved|append|print|float|min|max|format|np\.|len$")


def _assigned(source: Source, around: ast.AST) -> set[str]:
    return {
        n.id for n in source.walk(ast.Name, within=around) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }


def _partner(name: str, known: set[str]) -> str | None:
    """train_x of valid_x, x_tr of x_va, train of held."""
    for old in ("validation", "valid", "val", "va", "test", "te", "held_out", "held", "dev", "eval"):
        for new in ("training", "train", "tr"):
            other = re.sub(rf"(?<![a-z]){old}(?![a-z])", new, name)
            if other != name and other in known:
                return other
    return None


@mutation("tr.07", "mindspore", "training-data-in-the-evaluation-set")
def training_data_evaluated(project: Project) -> Iterator[Planted]:
    """Where the evaluation set is made or used, the name of the training part stands."""
    for source in sources(project):
        for node in source.walk(ast.Name):
            assert isinstance(node, ast.Name)
            stmt = source.statement(node)
            if not isinstance(node.ctx, ast.Load) or not is_evaluation(node.id):
                continue
            around = source.function(node) or source.tree
            partner = _partner(node.id, _assigned(source, around))
            call = source.inside(node, ast.Call)
            if not partner or not isinstance(call, ast.Call) or NOT_USED.search(source.text_of(call.func)):
                continue
            # Not an iterator that would run out: a dataset, or the arrays of one.
            if re.search(r"(?<![a-z])(it|iter|iterator|batches)(?![a-z])", node.id):
                continue
            if isinstance(stmt, ast.Assign) and re.search(r" [-/] ", source.text_of(stmt)):
                continue
            edit = Edit(project)
            alike = [call]
            if last_name(call.func) == "eval":
                alike = list(source.calls("eval"))
            for other in [n for c in alike for n in source.walk(ast.Name, within=c)]:
                assert isinstance(other, ast.Name)
                match = _partner(other.id, _assigned(source, around))
                if match and is_evaluation(other.id) and isinstance(other.ctx, ast.Load):
                    edit.replace(source, other, match)
            yield finish(edit, "tr.07", shows_in=RUN)


def _pairs(project: Project) -> Iterator[tuple[Source, ast.Call, ast.Call]]:
    """Two calls of one function that make the training and the evaluation data."""
    for source in sources(project):
        made: dict[str, list[tuple[str, ast.Call]]] = {}
        for node in source.walk(ast.Assign):
            assert isinstance(node, ast.Assign)
            targets, values = [node.targets[0]], [node.value]
            if isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
                targets, values = node.targets[0].elts, node.value.elts
            for target, value in zip(targets, values, strict=False):
                for call in [c for c in ast.walk(value) if isinstance(c, ast.Call) and len(c.args) >= 2]:
                    made.setdefault(source.text_of(call.func), []).append((source.text_of(target), call))
        for found in made.values():
            for name, one in found:
                for other, two in found:
                    if is_evaluation(other) and not is_evaluation(name) and len(one.args) == len(two.args):
                        yield source, one, two


@mutation("tr.07", "mindspore", "evaluation-made-like-training")
def evaluation_made_like_training(project: Project) -> Iterator[Planted]:
    """The same size and seed for both: the evaluation set is the training set."""
    for source, one, two in _pairs(project):
        edit = Edit(project)
        changed = False
        if any(re.search(r"^\w*(rng|gen|generator)$", source.text_of(a)) for a in two.args):
            continue
        pairs = list(zip(one.args, two.args, strict=True))
        for given in two.keywords:
            same = keyword(one, given.arg or "")
            if same and re.search("seed|count|n$|size$", given.arg or "") and "batch" not in (given.arg or ""):
                pairs.append((same.value, given.value))
        for a, b in pairs:
            flag = isinstance(b, ast.Constant) and isinstance(b.value, bool)
            if re.search(rf"/ {re.escape(source.text_of(b))}\b", source.text):
                changed = False
                break
            if not flag and source.text_of(a) != source.text_of(b):
                changed = True
                edit.replace(source, b, source.text_of(a))
        if changed:
            yield finish(edit, "tr.07", shows_in=RUN)


@mutation("tr.07", "mindspore", "split-overlaps")
def split_overlaps(project: Project) -> Iterator[Planted]:
    """x[cut:] of the evaluation part becomes x[:cut]."""
    for source in sources(project):
        for stmt in source.walk(ast.Assign):
            if not isinstance(stmt, ast.Assign) or not is_evaluation(source.text_of(stmt.targets[0])):
                continue
            edit = Edit(project)
            for node in source.walk(ast.Subscript, within=stmt):
                cut = node.slice if isinstance(node, ast.Subscript) else None
                if isinstance(cut, ast.Slice) and cut.lower and not cut.upper and not cut.step:
                    text = f"{source.text_of(node.value)}[:{source.text_of(cut.lower)}]"  # type: ignore[attr-defined]
                    edit.replace(source, node, text)
            if edit.spans:
                yield finish(edit, "tr.07", shows_in=RUN)


def _has_ranks(project: Project) -> bool:
    return bool(re.search(r"get_rank|RANK_ID|group_size", text_of_all(project)))


@mutation("tr.08", "mindspore", "gradients-not-reduced")
def gradients_not_reduced(project: Project) -> Iterator[Planted]:
    if not _has_ranks(project):
        return
    for source in sources(project):
        for call in source.walk(ast.Call):
            assert isinstance(call, ast.Call)
            if (
                re.search(r"reduce", last_name(call.func))
                and len(call.args) == 1
                and "mean" not in source.text_of(call)
            ):
                yield finish(
                    Edit(project).replace(source, call, source.text_of(call.args[0])), "tr.08", shows_in=("script",)
                )


@mutation("tr.08", "mindspore", "start-weights-differ-between-ranks")
def seeds_differ(project: Project) -> Iterator[Planted]:
    for source, call in calls(project, "set_seed") if _has_ranks(project) else []:
        around = source.function(call) or source.tree
        if "rank" in _assigned(source, around) and call.args:
            new = f"{source.text_of(call.args[0])} + rank"
            yield finish(Edit(project).replace(source, call.args[0], new), "tr.08", shows_in=("script",))


@mutation("tr.08", "mindspore", "only-rank-0-updates")
def only_rank_0(project: Project) -> Iterator[Planted]:
    for source, call in calls(project, "opt", "optimizer"):
        stmt = source.statement(call)
        around = source.function(call) or source.tree
        if isinstance(stmt, ast.Expr) and stmt.value is call and "rank" in _assigned(source, around):
            new = f"if rank == 0:\n{source.indent(stmt)}    {source.text_of(stmt)}"
            yield finish(Edit(project).replace(source, stmt, new), "tr.08", shows_in=("script",))


@mutation("tr.09", "mindspore", "functional-dropout-without-flag")
def functional_dropout(project: Project) -> Iterator[Planted]:
    """ops.dropout acts whatever the mode is, unless it is told."""
    for source, _, init, construct in cells(project):
        for call in source.walk(ast.Call, within=construct):
            assert isinstance(call, ast.Call)
            made = re.search(
                rf"{re.escape(source.text_of(call.func))} = nn\.Dropout\(p=([^)]*)\)", source.text_of(init)
            )
            if made and len(call.args) == 1:
                edit = Edit(project)
                share = made[1] if re.fullmatch(r"[\d.]+", made[1]) else "0.1"
                new = f"{ops(edit, source)}.dropout({source.text_of(call.args[0])}, p={share})"
                yield finish(edit.replace(source, call, new), "tr.09", shows_in=RUN, because=("api.02", "cg.03"))
    for source, _, init, construct in cells(project):
        value = construct.body[-1].value if isinstance(construct.body[-1], ast.Return) else None
        if "Dropout" in source.text_of(init) or not isinstance(value, ast.Call) or len(value.args) != 1:
            continue
        if isinstance(value.func, ast.Attribute) and source.text_of(value.func).startswith("self."):
            edit = Edit(project)
            new = f"{ops(edit, source)}.dropout({source.text_of(value.args[0])}, p=0.2)"
            yield finish(edit.replace(source, value.args[0], new), "tr.09", shows_in=RUN, because=("api.02",))


@mutation("tr.09", "mindspore", "batch-statistics-in-evaluation")
def batch_statistics(project: Project) -> Iterator[Planted]:
    for source, call in calls(project, "BatchNorm1d", "BatchNorm2d"):
        if not keyword(call, "use_batch_statistics"):
            edit = Edit(project).add_argument(source, call, "use_batch_statistics=True")
            yield finish(edit, "tr.09", shows_in=RUN, because=("api.02",))


def _axes(project: Project) -> Iterator[tuple[Source, ast.Call, ast.expr]]:
    for source, call in calls(project, "softmax", "log_softmax", "Softmax", "LogSoftmax"):
        axis = keyword(call, "axis")
        node = axis.value if axis else call.args[-1] if len(call.args) > 1 else None
        if node is not None and source.text_of(node) in ("-1", "1"):
            yield source, call, node


@mutation("tr.11", "mindspore", "softmax-over-the-batch")
def softmax_over_the_batch(project: Project) -> Iterator[Planted]:
    for source, _, node in _axes(project):
        yield finish(Edit(project).replace(source, node, "0"), "tr.11", shows_in=RUN)


@mutation("tr.11", "mindspore", "cross-entropy-taken-apart-over-the-batch")
def cross_entropy_taken_apart(project: Project) -> Iterator[Planted]:
    text = text_of_all(project)
    if not is_classification(project) or re.search(r"Embedding|NLL|weight=|Conv2d\(.*, 1,", text):
        return
    for source, call in loss_calls(project):
        if len(call.args) == 2 and not call.keywords and "soft" not in last_name(call.func):
            edit = Edit(project)
            short = ops(edit, source)
            logits, label = (source.text_of(a) for a in call.args)
            new = f"{short}.nll_loss({short}.log_softmax({logits}, axis=0), {label})"
            yield finish(edit.replace(source, call, new), "tr.11", shows_in=RUN, because=("cg.04",))


@mutation("tr.11", "mindspore", "probabilities-over-the-batch-before-argmax")
def argmax_of_wrong_softmax(project: Project) -> Iterator[Planted]:
    if is_graph(project) or "Embedding" in text_of_all(project):
        return
    for source, call in calls(project, "argmax"):
        held = call.func.value if isinstance(call.func, ast.Attribute) else None
        if (
            isinstance(held, ast.Name | ast.Call)
            and "asnumpy" not in source.text_of(held)
            and is_classification(project)
        ):
            if source.text_of(held) in ("np", "ops", "inputs[0]"):
                continue
            edit = Edit(project)
            new = f"{ops(edit, source)}.softmax({source.text_of(held)}, axis=0)"
            yield finish(edit.replace(source, held, new), "tr.11", shows_in=RUN)

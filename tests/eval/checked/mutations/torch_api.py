"""Differences of interfaces overlooked and modes not set in PyTorch projects (api.01, api.02)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from editing import Edit, Source, keyword, last_name, sources
from planting import Planted, Project, mutation
from reading_torch import ACTS_IN_TRAINING, EVALUATION, calls, lone_calls, receiver, steps, text_of_all

RUN = ("script", "run")
NORMS = ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d")


@mutation("api.01", "torch", "momentum-of-mindspore")
def momentum_of_mindspore(project: Project) -> Iterator[Planted]:
    """MindSpore's default of 0.9 keeps nine tenths of the old statistics, in torch it keeps one tenth."""
    for source, call in calls(project, *NORMS):
        momentum = keyword(call, "momentum")
        if momentum is None and len(call.args) == 1:
            yield Edit(project).add_argument(source, call, "momentum=0.9").planted("api.01", shows_in=RUN)


@mutation("api.01", "torch", "dropout-given-what-to-keep")
def dropout_keep(project: Project) -> Iterator[Planted]:
    """Old MindSpore takes the share to keep; torch the share to drop."""
    for source, call in calls(project, "Dropout", "Dropout1d", "Dropout2d", "dropout"):
        p = keyword(call, "p")
        node = p.value if p else call.args[0] if call.args and last_name(call.func) != "dropout" else None
        if isinstance(node, ast.Constant) and isinstance(node.value, float) and 0 < node.value < 0.45:
            yield Edit(project).replace(source, node, f"{1 - node.value:g}").planted("api.01", shows_in=RUN)
        elif isinstance(node, ast.Name | ast.Attribute):
            yield Edit(project).replace(source, node, f"1 - {source.text_of(node)}").planted("api.01", shows_in=RUN)


@mutation("api.01", "torch", "batch-first-left-out")
def batch_first_left_out(project: Project) -> Iterator[Planted]:
    """Without it torch reads (batch, time, features) as (time, batch, features)."""
    if re.search(r"pack_padded|key_padding_mask", text_of_all(project)):
        return  # lengths and masks would no longer fit: the program stops
    for source, call in calls(project, "TransformerEncoderLayer", "MultiheadAttention", "GRU", "LSTM", "RNN"):
        first = keyword(call, "batch_first")
        if first and source.text_of(first.value) == "True":
            yield Edit(project).remove_argument(source, call, first).planted("api.01", shows_in=RUN)


@mutation("api.01", "torch", "divergence-averaged-over-everything")
def kl_mean(project: Project) -> Iterator[Planted]:
    """The default reduction of kl_div divides by all elements, not by the batch."""
    for source, call in calls(project, "kl_div", "KLDivLoss"):
        reduction = keyword(call, "reduction")
        if reduction and "batchmean" in source.text_of(reduction):
            yield Edit(project).remove_argument(source, call, reduction).planted("api.01", shows_in=RUN)


def _mode_calls(project: Project, name: str) -> Iterator[tuple[Source, ast.Expr]]:
    for source in sources(project):
        for stmt in lone_calls(source, name):
            who = last_name(receiver(stmt))
            called = stmt.value
            assert isinstance(called, ast.Call)
            around = source.function(stmt)
            if around and around.name == "train" and "super" in source.text_of(around):
                continue  # a train() of its own that keeps a part in evaluation mode
            inside = [n for n in source.up(stmt) if isinstance(n, ast.ClassDef)]
            if (
                who not in ("trainer", "self", "backbone", "teacher", "ema")
                and "super" not in source.text_of(called)
                and not any("Module" in source.text_of(b) for c in inside for b in c.bases)
            ):
                yield source, stmt


def _evaluates(source: Source, stmt: ast.Expr) -> ast.AST | None:
    """What evaluates after this statement: a loop or a call of the network in the same block."""
    block = source.block(stmt)
    for later in block[block.index(stmt) + 1 :]:
        if isinstance(later, ast.For | ast.With) or re.search(r"\bno_grad|model\(|net\(", source.text_of(later)):
            return later
    return None


@mutation("api.02", "torch", "eval-dropped")
def eval_dropped(project: Project) -> Iterator[Planted]:
    if not ACTS_IN_TRAINING.search(text_of_all(project)):
        return
    for source, stmt in _mode_calls(project, "eval"):
        later = _evaluates(source, stmt)
        if later is None:
            continue
        edit = Edit(project).delete(source, stmt).mark(source, later)
        for loop in [s for s in later.body if isinstance(s, ast.For)][:1] if isinstance(later, ast.With) else []:
            edit.mark(source, loop)
        for node in ast.walk(later):
            if isinstance(node, ast.Call) and last_name(node.func) in (
                "model",
                "net",
                "network",
                "classifier",
                "module",
            ):
                edit.mark(source, node)
        around = source.function(stmt)
        if around and EVALUATION.search(around.name):
            edit.mark(source, around)
        yield edit.planted("api.02", shows_in=RUN)
    for source, stmt in _mode_calls(project, "train"):
        called = stmt.value
        assert isinstance(called, ast.Call)
        # One function for both: model.train(training) becomes model.train().
        if called.args and isinstance(called.args[0], ast.Name) and "was" not in called.args[0].id:
            around = source.function(stmt)
            if around and called.args[0].id in re.findall(
                r"\w+", source.text_of(around).split(":")[0] + " training train"
            ):
                yield Edit(project).replace(source, called.args[0], "").planted("api.02", shows_in=RUN)


@mutation("api.02", "torch", "eval-after-the-evaluation")
def eval_too_late(project: Project) -> Iterator[Planted]:
    if not ACTS_IN_TRAINING.search(text_of_all(project)):
        return
    for source, stmt in _mode_calls(project, "eval"):
        later = _evaluates(source, stmt)
        if later is None or not isinstance(later, ast.For | ast.With):
            continue
        block = source.block(stmt)
        after = block[block.index(later) + 1 :]
        if not any(".train(" in source.text_of(s) for s in after):
            yield Edit(project).move(source, stmt, after=later).mark(source, later).planted("api.02", shows_in=RUN)


@mutation("api.02", "torch", "train-once-before-the-epochs")
def train_once(project: Project) -> Iterator[Planted]:
    """train() moves out of the loop over epochs: from the second epoch on the network trains in evaluation mode."""
    if not ACTS_IN_TRAINING.search(text_of_all(project)):
        return
    for source, stmt in _mode_calls(project, "train"):
        loop = source.inside(stmt, ast.For, ast.While)
        called = stmt.value
        assert isinstance(called, ast.Call)
        if loop and stmt in getattr(loop, "body", []) and not called.args:
            others = [other for _, other in _mode_calls(project, "train") if other is not stmt]
            if not others and list(_mode_calls(project, "eval")):
                edit = Edit(project).move(source, stmt, before=loop)  # type: ignore[arg-type]
                # The loop that trains in the wrong mode is named as well, as it is for MindSpore.
                for inner in [s for s in loop.body if isinstance(s, ast.For)][:1]:
                    edit.mark(source, inner)
                yield edit.mark(source, loop).planted("api.02", shows_in=RUN)


@mutation("api.02", "torch", "train-not-restored")
def train_not_restored(project: Project) -> Iterator[Planted]:
    """The train() at the start of an epoch goes, and nothing else leaves evaluation mode."""
    if not ACTS_IN_TRAINING.search(text_of_all(project)):
        return
    found = list(_mode_calls(project, "train"))
    evaluations = list(_mode_calls(project, "eval"))
    for source, stmt in found:
        called = stmt.value
        assert isinstance(called, ast.Call)
        who = source.text_of(receiver(stmt))
        others = [(w, s) for w, s in found if s is not stmt and w.text_of(receiver(s)) == who]
        if not evaluations or called.args or not all(_before_a_loop(w, s) for w, s in others):
            continue
        if _before_a_loop(source, stmt) and (others or _holds_epochs(source, stmt)):
            continue
        edit = Edit(project).delete(source, stmt)
        trained = [s for s in steps(project) if s.source is source] or list(steps(project))
        for step in trained:
            edit.mark(step.source, step.loop() or step.backward)
        for where, evaluation in [e for e in evaluations if e[0] is source] or evaluations:
            edit.mark(where, evaluation)
        yield edit.planted("api.02", shows_in=RUN)


def _before_a_loop(source: Source, stmt: ast.stmt) -> bool:
    """Whether the statement runs once, in front of a loop, and is in no loop itself."""
    block = source.block(stmt)
    follows = any(isinstance(s, ast.For | ast.While) for s in block[block.index(stmt) + 1 :])
    return follows and not source.inside(stmt, ast.For, ast.While)


def _holds_epochs(source: Source, stmt: ast.stmt) -> bool:
    """Whether the function of this statement has the loop over epochs."""
    around = source.function(stmt) or source.tree
    return any("epoch" in source.text_of(n.target) for n in ast.walk(around) if isinstance(n, ast.For))

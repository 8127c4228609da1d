"""Faults of padding and of sharing data between nodes in PyTorch projects (dp.04, dp.05)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from editing import Edit, keyword, sources
from planting import Planted, Project, mutation
from reading_torch import calls, lone_calls, text_of_all

RUN = ("script", "run")


@mutation("dp.04", "torch", "padding-counts-in-the-loss")
def padding_in_the_loss(project: Project) -> Iterator[Planted]:
    """Padded labels become an ordinary class, and the loss no longer leaves them out."""
    for source in sources(project):
        for call in source.calls("CrossEntropyLoss", "cross_entropy", "NLLLoss", "nll_loss"):
            ignore = keyword(call, "ignore_index")
            if not ignore:
                continue
            edit = Edit(project).remove_argument(source, call, ignore)
            name = source.text_of(ignore.value)
            if (
                name.endswith("-100")
                or (isinstance(ignore.value, ast.Name) and re.search(rf"{name} = -100", text_of_all(project)))
            ) and not _first_class_for_padding(project, edit, name):
                # -100 is the default, so the value of the padding must change as well.
                continue
            yield edit.planted("dp.04", shows_in=("script", "run", "data"))


def _first_class_for_padding(project: Project, edit: Edit, name: str) -> bool:
    for source, call in calls(project, "pad_sequence", "full", "full_like", "pad"):
        for node in [*call.args, *(k.value for k in call.keywords)]:
            if source.text_of(node) == name:
                edit.replace(source, node, "0")
                return True
    return False


@mutation("dp.04", "torch", "padding-mask-not-passed")
def padding_mask_dropped(project: Project) -> Iterator[Planted]:
    for source in sources(project):
        for node in source.walk(ast.Call):
            assert isinstance(node, ast.Call)
            for name in ("src_key_padding_mask", "key_padding_mask", "memory_key_padding_mask"):
                mask = keyword(node, name)
                if mask and len(node.args) + len(node.keywords) > 1:
                    yield Edit(project).remove_argument(source, node, mask).planted("dp.04", shows_in=RUN)


@mutation("dp.04", "torch", "padding-mask-upside-down")
def padding_mask_inverted(project: Project) -> Iterator[Planted]:
    for source in sources(project):
        for node in source.walk(ast.Call):
            assert isinstance(node, ast.Call)
            for name in ("src_key_padding_mask", "key_padding_mask"):
                mask = keyword(node, name)
                if mask:
                    text = source.text_of(mask.value)
                    new = text.replace(" == 0", " != 0") if " == 0" in text else f"~({text})"
                    yield Edit(project).replace(source, mask.value, new).planted("dp.04", shows_in=RUN)


@mutation("dp.04", "torch", "padding-by-a-real-word")
def padding_by_a_word(project: Project) -> Iterator[Planted]:
    """Inputs are padded with the identifier of an ordinary word, and nothing leaves the padding out."""
    if re.search(r"pack_padded|padding_mask|attention_mask|\bmask\b", text_of_all(project)):
        return
    for source, call in calls(project, "pad_sequence"):
        value = keyword(call, "padding_value")
        text = source.text_of(value.value) if value else ""
        if not re.search(r"ignore|-100|label|tag", text + source.text_of(call.args[0]), re.IGNORECASE):
            edit = Edit(project)
            edit = (
                edit.replace(source, value.value, "3") if value else edit.add_argument(source, call, "padding_value=3")
            )
            yield edit.planted("dp.04", shows_in=("run", "data"))


@mutation("dp.04", "torch", "padding-attended")
def padding_attended(project: Project) -> Iterator[Planted]:
    """Scores of padding are no longer set to minus infinity before the softmax."""
    for source, call in calls(project, "masked_fill"):
        if isinstance(call.func, ast.Attribute) and re.search(r"inf|-1e|finfo", source.text_of(call)):
            mask = source.text_of(call.args[0])
            if re.search(r"mask|pad|~", mask) and not re.search(r"causal|tri", mask):
                new = source.text_of(call.func.value)
                yield Edit(project).replace(source, call, new).planted("dp.04", shows_in=RUN)


@mutation("dp.04", "torch", "packed-with-full-lengths")
def packed_with_full_lengths(project: Project) -> Iterator[Planted]:
    """Every sentence is packed as if it were as long as the longest: the padding is read as words."""
    for source, call in calls(project, "pack_padded_sequence"):
        if len(call.args) < 2:
            continue
        inner = call.args[0]
        if isinstance(inner, ast.Call) and len(inner.args) == 1 and isinstance(inner.args[0], ast.Name):
            inner = inner.args[0]
        lengths = call.args[1]
        new = f"torch.full_like({source.text_of(lengths)}, {source.text_of(inner)}.size(1))"
        if isinstance(lengths, ast.Name) and re.search(r"^import torch\b", source.text, re.MULTILINE):
            yield Edit(project).replace(source, lengths, new).planted("dp.04", shows_in=RUN)


@mutation("dp.05", "torch", "set-epoch-dropped")
def set_epoch_dropped(project: Project) -> Iterator[Planted]:
    for source in sources(project):
        for stmt in lone_calls(source, "set_epoch"):
            edit = Edit(project)
            around = source.parents[stmt]
            if isinstance(around, ast.If) and len(around.body) == 1 and not around.orelse:
                edit.delete(source, around)
            else:
                edit.delete(source, stmt)
            for where, call in calls(project, "DistributedSampler"):
                edit.mark(where, call)
            loop = source.inside(stmt, ast.For, ast.While)
            if loop:
                edit.mark(source, loop)
            yield edit.planted("dp.05")


@mutation("dp.05", "torch", "distributed-sampler-missing")
def distributed_sampler_missing(project: Project) -> Iterator[Planted]:
    for source, call in calls(project, "DistributedSampler"):
        size = keyword(call, "num_replicas")
        edit = Edit(project)
        if size and isinstance(source.parents[call], ast.IfExp | ast.Assign):
            edit.replace(source, size.value, "1")
            rank = keyword(call, "rank")
            if rank:
                edit.replace(source, rank.value, "0")
        else:
            edit.replace(source, call, f"torch.utils.data.RandomSampler({source.text_of(call.args[0])})")
        yield edit.mark(source, call).planted("dp.05")


@mutation("dp.05", "torch", "files-not-sorted")
def files_not_sorted(project: Project) -> Iterator[Planted]:
    for source, call in calls(project, "sorted"):
        if call.args and re.search(r"listdir|glob|iterdir|scandir", source.text_of(call.args[0])):
            text = source.text_of(call.args[0])
            new = text if text.startswith(("os.listdir", "glob.")) else f"list({text})"
            yield Edit(project).replace(source, call, new).planted("dp.05")


@mutation("dp.05", "torch", "share-not-taken")
def share_not_taken(project: Project) -> Iterator[Planted]:
    """files[rank::size] becomes files: everyone reads everything."""
    for source in sources(project):
        for node in source.walk(ast.Subscript):
            assert isinstance(node, ast.Subscript)
            cut = node.slice
            if (
                isinstance(cut, ast.Slice)
                and cut.step is not None
                and cut.upper is None
                and cut.lower is not None
                and re.search(r"world|size|worker|rank|shard|replica", source.text_of(cut))
            ):
                new = source.text_of(node.value)
                if isinstance(source.parents[node], ast.Assign):
                    new = f"list({new})"
                yield Edit(project).replace(source, node, new).planted("dp.05", shows_in=RUN)

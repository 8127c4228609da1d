"""Faults of order, padding and sharding in MindSpore projects (dp.03, dp.04, dp.05)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from editing import Edit, keyword, last_name, sources
from mindspore_dp import training_datasets
from planting import Planted, Project, mutation
from reading_mindspore import DATA, RUN, cells, finish, is_evaluation, need, tables
from reading_torch import calls, text_of_all

ALL = ("script", *DATA)
PADS = re.compile(r"pad|ignore|collate|encode|length", re.IGNORECASE)


@mutation("dp.03", "mindspore", "permutation-dropped")
def permutation_dropped(project: Project) -> Iterator[Planted]:
    for source, call in calls(project, "permutation"):
        loop = source.inside(call, ast.For)
        around = source.function(call)
        sampler = around is not None and around.name == "__iter__"
        if (loop or sampler) and call.args and not is_evaluation(around.name if around else ""):
            value = source.text_of(call.args[0])
            if re.fullmatch(r"\d+|len\(.*\)|[\w.\[\]\"']+", value) and not re.search("labels|rows|idx|index", value):
                yield finish(Edit(project).replace(source, call, f"np.arange({value})"), "dp.03", shows_in=RUN)


@mutation("dp.04", "mindspore", "padding-is-a-target")
def padding_is_a_target(project: Project) -> Iterator[Planted]:
    """The loss learns the padding: it is filled with a class instead of the ignored value."""
    for source in sources(project):
        for node in source.walk(ast.Name):
            assert isinstance(node, ast.Name)
            stmt, holder = source.statement(node), source.parents[node]
            filled = isinstance(holder, ast.Call) and last_name(holder.func) in ("full", "full_like")
            set_to = isinstance(stmt, ast.Assign) and stmt.value is node and isinstance(stmt.targets[0], ast.Subscript)
            if node.id.startswith("IGNORE") and isinstance(node.ctx, ast.Load) and (filled or set_to):
                yield finish(Edit(project).replace(source, node, "0"), "dp.04", field="label", shows_in=ALL)


@mutation("dp.04", "mindspore", "padding-not-masked")
def padding_not_masked(project: Project) -> Iterator[Planted]:
    """The mask compares with a value that never occurs."""
    for source in sources(project):
        for node in source.walk(ast.Compare):
            assert isinstance(node, ast.Compare)
            around = source.function(node)
            if around is None or around.name not in ("construct", "forward", "loss", "loss_fn", "masked_loss"):
                continue
            if re.fullmatch(r"\w*(PAD|IGNORE)\w*", source.text_of(node.comparators[0])):
                yield finish(Edit(project).replace(source, node.comparators[0], "-1"), "dp.04", shows_in=RUN)


@mutation("dp.04", "mindspore", "mask-of-ones")
def mask_of_ones(project: Project) -> Iterator[Planted]:
    """The mask says that the padding is content."""
    for source in sources(project):
        for node in source.walk(ast.List):
            stmt = source.statement(node)
            named = isinstance(stmt, ast.Assign) and "mask" in source.text_of(stmt.targets[0])
            if named and source.text_of(node) in ("[0]", "[0.0]") and isinstance(source.parents[node], ast.BinOp):
                new = source.text_of(node).replace("0", "1", 1)
                yield finish(Edit(project).replace(source, node, new), "dp.04", field="mask", shows_in=ALL)


@mutation("dp.04", "mindspore", "read-behind-the-end")
def read_behind_the_end(project: Project) -> Iterator[Planted]:
    """A recurrent network is read out at the last position, which is padding in the shorter rows."""
    for source, _, _, construct in cells(project):
        lengths = [a.arg for a in construct.args.args if re.search(r"len", a.arg)]
        for call in source.walk(ast.Call, within=construct):
            assert isinstance(call, ast.Call)
            name = lengths[0] if lengths else ""
            if (
                name
                and last_name(call.func) in ("rnn", "gru", "lstm")
                and name in [source.text_of(a) for a in call.args]
            ):
                given = next(a for a in call.args if source.text_of(a) == name)
                edit = Edit(project).remove_argument(source, call, given)
                yield finish(edit, "dp.04", shows_in=RUN)
            if name and last_name(call.func) == "one_hot" and call.args and name in source.text_of(call.args[0]):
                new = f"0 * {name} + x.shape[1] - 1"
                if "x" in [a.arg for a in construct.args.args]:
                    yield finish(Edit(project).replace(source, call.args[0], new), "dp.04", shows_in=RUN)


@mutation("dp.04", "mindspore", "padded-on-the-other-side")
def padded_on_the_other_side(project: Project) -> Iterator[Planted]:
    for source in sources(project):
        for node in source.walk(ast.Assign):
            assert isinstance(node, ast.Assign)
            target, around = node.targets[0], source.function(node)
            if not isinstance(target, ast.Subscript) or not isinstance(target.slice, ast.Slice) or around is None:
                continue
            if not PADS.search(around.name) or target.slice.lower or not target.slice.upper:
                continue
            new = f"{source.text_of(target.value)}[-{source.text_of(target.slice.upper)} :]"
            yield finish(
                Edit(project).replace(source, target, new), "dp.04", field=last_name(target.value), shows_in=ALL
            )


def _seq_places(project: Project) -> bool:
    return bool(re.search(r"num_shards|shard_id", text_of_all(project)))


@mutation("dp.05", "mindspore", "every-rank-takes-shard-0")
def every_rank_takes_shard_0(project: Project) -> Iterator[Planted]:
    if _seq_places(project):
        for source in sources(project):
            for node in source.walk(ast.keyword):
                if (
                    isinstance(node, ast.keyword)
                    and node.arg == "shard_id"
                    and not isinstance(node.value, ast.Constant)
                ):
                    yield finish(Edit(project).replace(source, node.value, "0"), "dp.05", shows_in=("script",))
        return
    for source, call in training_datasets(project):
        if not keyword(call, "sampler") and "__iter__" not in source.text:
            edit = Edit(project).add_argument(source, call, "num_shards=2, shard_id=0")
            yield finish(edit, "dp.05", shows_in=RUN)


@mutation("dp.05", "mindspore", "shards-left-out")
def shards_left_out(project: Project) -> Iterator[Planted]:
    """Ranks exist, and every one of them reads everything."""
    if not _seq_places(project):
        return
    for source, call in training_datasets(project):
        for given in call.keywords:
            if given.arg is None or given.arg == "num_shards":
                edit = Edit(project)
                others = [k for k in call.keywords if k is not given and k.arg != "shard_id"]
                kept = [source.text_of(a) for a in [*call.args, *others]]
                edit.replace(source, call, f"{source.text_of(call.func)}({', '.join(kept)})")
                yield finish(edit.mark(source, call), "dp.05", shows_in=("script",))


@mutation("dp.05", "mindspore", "files-not-sorted")
def files_not_sorted(project: Project) -> Iterator[Planted]:
    for source, call in calls(project, "sorted"):
        if call.args and re.search(r"glob\(|listdir\(|iterdir\(", source.text_of(call.args[0])):
            edit = Edit(project).replace(source, call.func, "list")
            yield finish(edit, "dp.05", shows_in=("script",), because=("ds.04",))


@mutation("dp.05", "mindspore", "parts-overlap")
def parts_overlap(project: Project) -> Iterator[Planted]:
    """Rows are dealt out by hand, and every part is some rows too long."""
    if _seq_places(project):
        return
    for table in [t for t in tables(project) if t.whole]:
        names = ", ".join(n for n in (table.x, table.y) if n)
        cut = ", ".join(f"{n}[rank * part : (rank + 1) * part + 16]" for n in (table.x, table.y) if n)
        lines = (
            'rank, ranks = int(os.environ.get("RANK_ID", "0")), int(os.environ.get("RANK_SIZE", "2"))',
            f"part = len({table.x}) // ranks",
            f"{names} = {cut}",
        )
        edit = Edit(project)
        need(edit, table.source, "os", "import os")
        yield finish(table.insert(edit, *lines, mark=2), "dp.05", shows_in=("script",))

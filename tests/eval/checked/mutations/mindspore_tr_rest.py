"""Labels, metrics, unused parameters, augmentation and tying in MindSpore projects (tr.10, tr.12 to tr.15)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from editing import Edit, Source, keyword, last_name, sources
from mindspore_cg import layers, parameter_lists, uses
from mindspore_dp import training_datasets
from planting import Planted, Project, mutation
from reading_mindspore import (
    DATA,
    RUN,
    cells,
    finish,
    is_classification,
    is_graph,
    is_training,
    need,
    tables,
    top_cells,
)
from reading_torch import calls, settings, text_of_all


@mutation("tr.10", "mindspore", "labels-rolled-by-one-row")
def labels_rolled(project: Project) -> Iterator[Planted]:
    for table in tables(project):
        if table.y and not re.search("left|mix", " ".join(table.columns)):
            edit = table.insert(Edit(project), f"{table.y} = np.roll({table.y}, 1, axis=0)")
            yield finish(
                edit, "tr.10", field=table.fields[1], samples=(0, 1, 2), shows_in=("script", *DATA), because=("ds.02",)
            )


@mutation("tr.10", "mindspore", "classes-counted-from-one")
def classes_from_one(project: Project) -> Iterator[Planted]:
    for table in tables(project):
        # A class that serves both phases would shift both, which is only another naming of the classes.
        around = table.source.function(table.anchor)
        both = around is not None and any(re.search("train", a.arg) for a in around.args.args)
        if table.y and is_classification(project) and not table.after and not both:
            line = f"{table.y} = ({table.y} + 1) % ({table.y}.max() + 1)"
            edit = table.insert(Edit(project), line)
            yield finish(edit, "tr.10", field=table.fields[1], shows_in=("script", *DATA), because=("ds.02",))


@mutation("tr.10", "mindspore", "next-token-not-shifted")
def next_not_shifted(project: Project) -> Iterator[Planted]:
    """Inputs and targets are cut alike (or two apart), instead of one apart."""
    for source in sources(project):
        ends = [n for n in source.walk(ast.Subscript) if source.text_of(n).endswith("[:-1]")]
        for node in source.walk(ast.Subscript):
            assert isinstance(node, ast.Subscript)
            if not source.text_of(node).endswith("[1:]"):
                continue
            name = source.text_of(node.value)
            same = [e for e in ends if source.text_of(e.value) == name and source.function(e) is source.function(node)]  # type: ignore
            if same:
                edit = Edit(project).replace(source, node, f"{name}[:-1]").mark(source, same[0])
                yield finish(edit, "tr.10", shows_in=("script", *DATA))


def _batch_size(project: Project) -> int | None:
    found = [int(s.value) for s in settings(project, r"batch(_size)?|bs|batchsize") if s.value >= 4]
    for _, call in calls(project, "batch"):
        if call.args and isinstance(call.args[0], ast.Constant):
            found.append(call.args[0].value)
    return found[-1] if found else None


@mutation("tr.12", "mindspore", "divided-by-full-batches")
def divided_by_full_batches(project: Project) -> Iterator[Planted]:
    """Every batch counts as a full one, the last one too."""
    size = _batch_size(project)
    for source in sources(project):
        for node in source.walk(ast.AugAssign):
            assert isinstance(node, ast.AugAssign)
            around = source.function(node)
            counted = re.fullmatch(r"len\(\w+\)|\w+\.shape\[0\]|n", source.text_of(node.value))
            if not counted or not size or not source.inside(node, ast.For) or (around and is_training(around.name)):
                continue
            yield finish(Edit(project).replace(source, node.value, str(size)), "tr.12", shows_in=("script",))


@mutation("tr.12", "mindspore", "mean-of-batch-means")
def mean_of_batch_means(project: Project) -> Iterator[Planted]:
    for source, call in calls(project, "mean"):
        inner = call.func.value if isinstance(call.func, ast.Attribute) else None
        if isinstance(inner, ast.Call) and last_name(inner.func) == "concatenate" and len(inner.args) == 1:
            axis = ", ".join(source.text_of(a) for a in [*call.args, *call.keywords])
            rows = f"[part.mean({axis}) for part in {source.text_of(inner.args[0])}]"
            new = f"np.mean({rows}{', ' + axis if axis else ''})"
            yield finish(Edit(project).replace(source, call, new), "tr.12", shows_in=("script",))
    for source in sources(project):
        for node in source.walk(ast.AugAssign):
            assert isinstance(node, ast.AugAssign)
            value, loop, name = node.value, source.inside(node, ast.For), source.text_of(node.target)
            around = source.function(node) or source.tree
            if not (isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult) and isinstance(loop, ast.For)):
                continue
            if not re.fullmatch(r"len\(\w+\)|\w+\.shape\[0\]|n", source.text_of(value.right)):
                continue
            shares = [
                n
                for n in source.walk(ast.BinOp, within=around)
                if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div) and source.text_of(n.left) == name
            ]
            if shares:
                edit = Edit(project).replace(source, value, source.text_of(value.left))
                edit.before(source, loop, "parts = 0", mark=False).after(source, node, "parts += 1", mark=False)
                for share in shares:
                    edit.replace(source, share.right, "parts")
                yield finish(edit, "tr.12", shows_in=RUN)


@mutation("tr.13", "mindspore", "layer-built-and-never-used")
def layer_never_used(project: Project) -> Iterator[Planted]:
    for source, _, init, _ in top_cells(project):
        if re.search(r"\bnn\b", source.text):
            edit = Edit(project).after(source, init.body[-1], "self.projection = nn.Dense(16, 16)")
            yield finish(edit, "tr.13", shows_in=RUN, because=("cg.03",))


@mutation("tr.13", "mindspore", "parameters-of-another-network-too")
def another_network(project: Project) -> Iterator[Planted]:
    """The optimizer also holds a part that no forward pass goes through."""
    if list(top_cells(project)):
        return
    for source, call, _ in parameter_lists(project):
        stmt = source.statement(call)
        if isinstance(stmt, ast.Assign) and re.search(r"\bnn\b", source.text):
            edit = Edit(project).before(source, stmt, "extra_head = nn.Dense(8, 8)")
            edit.replace(source, call, f"{source.text_of(call)} + extra_head.trainable_params()")
            yield finish(edit, "tr.13", shows_in=RUN, because=("cg.03",))


@mutation("tr.13", "mindspore", "layer-made-in-construct")
def layer_made_in_construct(project: Project) -> Iterator[Planted]:
    """A new layer in every call: what the optimizer holds is never used."""
    if is_graph(project):
        return
    for source, _, init, construct in cells(project):
        dense = [n for n, c in layers(source, init).items() if last_name(c.func) == "Dense"]
        for name in dense[:-1] or dense:
            for call in uses(source, construct, name)[:1]:
                new = f"nn.Dense(self.{name}.in_channels, self.{name}.out_channels)"
                edit = Edit(project).replace(source, call.func, new)
                if "to_float" not in source.text and "activation=" not in source.text and "has_bias" not in source.text:
                    yield finish(edit, "tr.13", shows_in=RUN, because=("cg.03",))


@mutation("tr.13", "mindspore", "cells-in-a-plain-list")
def cells_in_a_list(project: Project) -> Iterator[Planted]:
    for source, call in calls(project, "CellList"):
        if call.args and isinstance(call.args[0], ast.List | ast.ListComp) and not is_graph(project):
            edit = Edit(project).replace(source, call, source.text_of(call.args[0]))
            yield finish(edit, "tr.13", shows_in=RUN, because=("cg.02",))
    if is_graph(project):
        return
    for source, _, init, construct in cells(project):
        for name, layer in layers(source, init).items():
            made = last_name(layer.func) == "SequentialCell" and len(layer.args) > 1
            called = uses(source, construct, name)
            if not made or len(called) != 1 or len(called[0].args) != 1 or not _two_left(source, init, name):
                continue
            stmt = source.statement(called[0])
            if stmt not in construct.body:
                continue
            parts = ", ".join(source.text_of(a) for a in layer.args)
            edit = Edit(project).replace(source, layer, f"[{parts}]")
            lines = (
                f"inner = {source.text_of(called[0].args[0])}",
                f"for part in self.{name}:",
                "    inner = part(inner)",
            )
            edit.before(source, stmt, *lines, mark=False).replace(source, called[0], "inner", mark=False)
            yield finish(edit, "tr.13", shows_in=RUN, because=("cg.02",))


def _two_left(source: Source, init: ast.FunctionDef, name: str) -> bool:
    """The network keeps other parameters, so that the optimizer still has some."""
    others = [c for n, c in layers(source, init).items() if n != name]
    return any(re.search(r"Dense|Conv|SequentialCell", source.text_of(c)) for c in others)


def _randomised(project: Project) -> Iterator[tuple[Source, ast.FunctionDef, ast.Call]]:
    """Python functions of a map step that draw random numbers."""
    names = set()
    for _, call in calls(project, "map"):
        for node in ast.walk(call):
            if isinstance(node, ast.Name | ast.Attribute):
                names.add(last_name(node))
    for source in sources(project):
        for node in source.walk(ast.FunctionDef):
            if isinstance(node, ast.FunctionDef) and node.name in names | {"__getitem__"}:
                for call in source.walk(ast.Call, within=node):
                    assert isinstance(call, ast.Call)
                    if isinstance(call.func, ast.Attribute) and re.search(
                        r"rng|random", source.text_of(call.func.value)
                    ):
                        yield source, node, call


@mutation("tr.14", "mindspore", "generator-made-anew-for-every-sample")
def generator_made_anew(project: Project) -> Iterator[Planted]:
    for source, _, call in _randomised(project):
        assert isinstance(call.func, ast.Attribute)
        edit = Edit(project).replace(source, call.func.value, "np.random.default_rng(0)")
        need(edit, source, "np", "import numpy as np")
        yield finish(edit, "tr.14", shows_in=RUN)


@mutation("tr.14", "mindspore", "one-generator-copied-to-all-workers")
def copied_to_workers(project: Project) -> Iterator[Planted]:
    """Worker processes start with the same state of a NumPy generator."""
    functions = {f.name for _, f, _ in _randomised(project)}
    for source, call in calls(project, "map"):
        first = call.args[0] if call.args else None
        if first is None or last_name(first) not in functions:
            continue
        edit = Edit(project)
        workers = keyword(call, "num_parallel_workers")
        if workers:
            edit.replace(source, workers.value, "2")
        else:
            edit.add_argument(source, call, "num_parallel_workers=2")
        last = call.keywords[-1] if call.keywords else None
        if last is not None and last is not workers:
            edit.replace(source, last, f"{source.text_of(last)}, python_multiprocessing=True")
        elif workers:
            edit = Edit(project).replace(source, workers, "num_parallel_workers=2, python_multiprocessing=True")
        yield finish(edit, "tr.14", shows_in=RUN)


@mutation("tr.14", "mindspore", "augmentation-with-a-fixed-seed")
def augmentation_fixed(project: Project) -> Iterator[Planted]:
    """New noise on the inputs, drawn from a generator that starts from the same seed in every worker and call."""
    if re.search(r"Embedding|uint8|\.map\(", text_of_all(project)):
        return
    for source, call in training_datasets(project):
        names = keyword(call, "column_names")
        columns = names.value if names else call.args[1] if len(call.args) > 1 else None
        first = columns.elts[0] if isinstance(columns, ast.List) else None
        if isinstance(call.args[0], ast.Dict):
            first = call.args[0].keys[0]
        stmt = source.statement(call)
        shared = isinstance(keyword(call, "shuffle") and keyword(call, "shuffle").value, ast.Name)  # type: ignore
        if not isinstance(first, ast.Constant) or shared or not isinstance(stmt, ast.Assign | ast.Return):
            continue
        edit = Edit(project)
        need(edit, source, "np", "import numpy as np")
        pad = source.indent(stmt)
        lines = [
            "def jitter(value):",
            "    return (value + 0.1 * np.random.RandomState(0).randn(*value.shape)).astype(np.float32)",
            "",
        ]
        edit.before(source, stmt, *lines[:1], mark=False).before(source, stmt, *lines[1:2]).before(
            source, stmt, "", mark=False
        )
        new = f'{source.text_of(call)}.map(jitter, ["{first.value}"], num_parallel_workers=2)'
        if "def jitter" not in source.text and pad is not None:
            yield finish(edit.replace(source, call, new), "tr.14", shows_in=RUN)


def _tied(project: Project) -> Iterator[tuple[Source, ast.FunctionDef, ast.AST, str]]:
    for source, _, init, construct in cells(project):
        for node in source.walk(ast.Attribute, within=construct):
            text = source.text_of(node)
            if text.endswith(".embedding_table.T"):
                yield source, init, node, text.removesuffix(".T")


@mutation("tr.15", "mindspore", "output-starts-as-a-copy")
def output_starts_as_a_copy(project: Project) -> Iterator[Planted]:
    for source, init, node, table in _tied(project):
        line = f'self.unembed = Parameter({table}.value().copy(), name="unembed")'
        edit = Edit(project).after(source, init.body[-1], line).replace(source, node, "self.unembed.T")
        need(edit, source, "Parameter", "from mindspore import Parameter")
        yield finish(edit, "tr.15", shows_in=RUN, because=("cg.01",))


@mutation("tr.15", "mindspore", "output-layer-initialised-with-the-table")
def output_layer_initialised(project: Project) -> Iterator[Planted]:
    """A Dense layer is given the table as its start value, which is taken for tying."""
    for source, init, node, table in _tied(project):
        call = source.inside(node, ast.Call)
        if isinstance(call, ast.Call) and last_name(call.func) == "matmul" and len(call.args) == 2:
            rows = f"*reversed({table}.shape)"
            line = f"self.head = nn.Dense({rows}, weight_init={table}.value(), has_bias=False)"
            edit = Edit(project).after(source, init.body[-1], line)
            edit.replace(source, call, f"self.head({source.text_of(call.args[0])})")
            yield finish(edit, "tr.15", shows_in=RUN, because=("cg.01",))

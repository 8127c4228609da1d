"""Datasets and loaders: a dataset of samples becomes the source of MindSpore's, in another order in every epoch."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Final

from trueline.migrate.rewrite.arguments import CannotBind, bind, literal
from trueline.migrate.rewrite.edits import Span
from trueline.migrate.rewrite.kinds import LOADER, TENSOR
from trueline.migrate.rewrite.sheet import Sheet
from trueline.migrate.rewrite.structure import values_of
from trueline.model.message import Message, message

_NAME: Final = "torch.utils.data.DataLoader"
_LOADER: Final = (
    ("dataset", None), ("batch_size", "1"), ("shuffle", "None"), ("sampler", "None"), ("batch_sampler", "None"),
    ("num_workers", "0"), ("collate_fn", "None"), ("pin_memory", "False"), ("drop_last", "False"), ("timeout", "0"),
    ("worker_init_fn", "None"), ("multiprocessing_context", "None"), ("generator", "None"), ("prefetch_factor", "None"),
    ("persistent_workers", "False"), ("pin_memory_device", "''"),
)  # fmt: skip
# Arguments that say how samples are fetched, not which.
_FETCHING: Final = (
    "num_workers", "pin_memory", "timeout", "multiprocessing_context", "prefetch_factor", "persistent_workers",
    "pin_memory_device", "worker_init_fn", "generator",
)  # fmt: skip
_HELPERS: Final = {
    "torch.utils.data.TensorDataset": "TensorDataset",
    "torch.utils.data.Subset": "Subset",
    "torch.utils.data.random_split": "random_split",
}


def write_loaders(sheet: Sheet) -> None:
    """Write datasets, loaders, and what is asked of them."""
    for call in sheet.calls():
        name = sheet.names.torch(call.func)
        if name == _NAME:
            why = _loader(sheet, call)
            sheet.settle(call.func)
            if why is not None:
                sheet.leave(call, name, why)
        elif name in _HELPERS:
            _helper(sheet, call, name)
        elif isinstance(call.func, ast.Name) and call.func.id == "len" and len(call.args) == 1:
            _length(sheet, call)
    for node in ast.walk(sheet.tree):
        if isinstance(node, ast.ClassDef):
            for base in node.bases:
                if sheet.names.torch(base) == "torch.utils.data.Dataset":
                    sheet.write(base, "torch.utils.data.Dataset", "object", "object")
                    sheet.settle(base)
        elif isinstance(node, ast.Attribute) and node.attr in ("dataset", "batch_size"):
            _asked(sheet, node)


def _loader(sheet: Sheet, call: ast.Call) -> Message | None:
    spread = [keyword for keyword in call.keywords if keyword.arg is None]
    try:
        bound = bind(ast.Call(call.func, call.args, [one for one in call.keywords if one.arg is not None]), _LOADER)
    except CannotBind as error:
        return message("rewrite.arguments", name=_NAME, argument=str(error))
    given = {name: value for name, value in bound.given.items() if name == "dataset" or not _is_default(name, value)}
    for argument in ("sampler", "batch_sampler"):
        if argument in given:
            return message(f"rewrite.loader_{argument}")
    if "num_workers" in given:
        sheet.remark(call, message("rewrite.loader_workers"))
    if "collate_fn" in given:
        _write_helper(sheet, call, "CollatedLoader", [sheet.at.of(given["dataset"])], given, spread)
        return None
    source = given["dataset"]
    columns = _columns(sheet, source)
    if not columns:
        return message("rewrite.loader_columns")
    alone = len(columns) == 1 and not _gives_tuples(sheet, source)
    if alone or spread:
        made: list[str | Span] = [sheet.at.of(source)]
        if sheet.kinds.of(source) == TENSOR:
            made = [f"{sheet.wanted.helper('TensorDataset')}(", *made, ")"]
        listed = ", ".join(f'"{column}"' for column in columns)
        helper = "column_loader" if alone else "data_loader"
        _write_helper(sheet, call, helper, [*made, f", [{listed}]"], given, spread)
    else:
        _write_pipeline(sheet, call, given, columns)
    return None


def _write_pipeline(sheet: Sheet, call: ast.Call, given: Mapping[str, ast.expr], columns: Sequence[str]) -> None:
    """A loader of MindSpore's own: a source of samples, their order and their batches."""
    source = given["dataset"]
    ds = sheet.wanted.name("mindspore.dataset")
    shuffle = given.get("shuffle")
    shuffled = (True, False) if shuffle is None else literal(shuffle)
    named = isinstance(source, ast.Name | ast.Attribute)
    first: list[str | Span] = [sheet.at.of(source)]
    again: list[str | Span] = [sheet.at.of(source)]
    if not named:
        local = sheet.wanted.free("source")
        first, again = [f"{local} := ", *first], [local]
    order: list[str | Span]
    if shuffled in ((True, False), (True, None)):
        order, first = ["shuffle=False"], [sheet.at.of(source)]
    else:
        drawn: list[str | Span] = [f"{sheet.wanted.helper('EpochOrder')}(len(", *again, "))"]
        order = ["sampler=", *drawn]
        if not shuffled[0]:
            assert shuffle is not None
            order = ["sampler=", *drawn, " if ", sheet.at.of(shuffle), f" else {ds}.SequentialSampler()"]
    batch: list[str | Span] = [sheet.at.of(given["batch_size"])] if "batch_size" in given else ["1"]
    drop: list[str | Span] = [", drop_remainder=", sheet.at.of(given["drop_last"])] if "drop_last" in given else []
    listed = ", ".join(f'"{one}"' for one in columns)
    sheet.write(
        call, _NAME, "mindspore.dataset.GeneratorDataset",
        f"{ds}.GeneratorDataset(", *first, f", [{listed}], ", *order, ").batch(", *batch, *drop, ")",
    )  # fmt: skip
    sheet.settled.add(call)


def _is_default(name: str, value: ast.expr) -> bool:
    return ast.unparse(value) == dict(_LOADER)[name]


def _write_helper(
    sheet: Sheet,
    call: ast.Call,
    helper: str,
    first: list[str | Span],
    given: Mapping[str, ast.expr],
    spread: Sequence[ast.keyword],
) -> None:
    """A loader that a helper of the draft makes, from what says which samples it has."""
    pieces: list[str | Span] = [f"{sheet.wanted.helper(helper)}(", *first]
    for argument in ("batch_size", "shuffle", "drop_last", "collate_fn"):
        if argument in given:
            pieces.extend([f", {argument}=", sheet.at.of(given[argument])])
    for keyword in spread:
        pieces.extend([", **", sheet.at.of(keyword.value)])
    sheet.write(call, _NAME, helper, *pieces, ")")
    sheet.settled.add(call)


def _columns(sheet: Sheet, source: ast.expr) -> list[str]:
    """The columns of a sample: from the loops over loaders where they name them, else by their number."""
    loops = [
        names
        for node in ast.walk(sheet.tree)
        if isinstance(node, ast.For)
        for names in [_targets(sheet, node)]
        if names is not None
    ]
    count = _count(sheet, source) or (len(loops[0]) if loops and len({len(one) for one in loops}) == 1 else 0)
    if not count:
        return []
    fitting = [names for names in loops if len(names) == count and len(set(names)) == count and "_" not in names]
    return fitting[0] if fitting else [f"column{place}" for place in range(count)]


def _targets(sheet: Sheet, loop: ast.For) -> list[str] | None:
    """The names that a loop over a loader gives to a batch's parts."""
    target, iterated = loop.target, loop.iter
    if isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Name) and iterated.args:
        if iterated.func.id == "enumerate" and isinstance(target, ast.Tuple) and len(target.elts) == 2:
            target, iterated = target.elts[1], iterated.args[0]
        if isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Name) and iterated.func.id == "tqdm":
            iterated = iterated.args[0]
    named = isinstance(iterated, ast.Name | ast.Attribute) and "loader" in ast.unparse(iterated).lower()
    if sheet.kinds.of(iterated) != LOADER and not named:
        return None
    if not isinstance(target, ast.Tuple) or not all(isinstance(one, ast.Name) for one in target.elts):
        return None
    return [one.id for one in target.elts if isinstance(one, ast.Name)]


def _count(sheet: Sheet, source: ast.expr, depth: int = 0) -> int:
    """How many values a sample of a dataset has; 0 where that is not known."""
    if isinstance(source, ast.Call):
        name = sheet.names.torch(source.func)
        if name == "torch.utils.data.TensorDataset":
            return 0 if any(isinstance(one, ast.Starred) for one in source.args) else len(source.args)
        if name in ("torch.utils.data.Subset", "torch.utils.data.random_split") and source.args:
            return _count(sheet, source.args[0], depth + 1)
        word = source.func.id if isinstance(source.func, ast.Name) else ""
        if word in sheet.classes.getters:
            return sheet.classes.getters[word]
    if sheet.kinds.of(source) == TENSOR:
        return 1
    if depth < 5 and isinstance(source, ast.Name | ast.Attribute):
        counts = {_count(sheet, value, depth + 1) for value in values_of(sheet, source)}
        return counts.pop() if len(counts) == 1 else 0
    return 0


def _helper(sheet: Sheet, call: ast.Call, name: str) -> None:
    pieces: list[str | Span] = []
    if name.endswith("random_split"):
        try:
            bound = bind(call, [("dataset", None), ("lengths", None), ("generator", "None")])
        except CannotBind as error:
            sheet.leave(call, name, message("rewrite.arguments", name=name, argument=str(error)))
            return
        seed = bound.given.get("generator")
        pieces = [sheet.at.of(bound.given["dataset"]), ", ", sheet.at.of(bound.given["lengths"])]
        if seed is not None:
            drawn = seed.args[0] if isinstance(seed, ast.Call) and seed.args else None
            if drawn is None:
                sheet.leave(call, name, message("rewrite.computed", name=name, argument="generator"))
                return
            pieces.extend([", seed=", sheet.at.of(drawn)])
            for node in ast.walk(seed):
                sheet.settled.add(node)
        sheet.write(call, name, "random_split", f"{sheet.wanted.helper('random_split')}(", *pieces, ")")
    else:
        helper = _HELPERS[name]
        sheet.edits.replace(sheet.at.of(call.func), sheet.wanted.helper(helper))
        sheet.note_done(call, name, helper)
    sheet.settle(call.func)
    sheet.settled.add(call)


def _length(sheet: Sheet, call: ast.Call) -> None:
    """``len(loader.dataset)``: the number of samples."""
    asked = call.args[0]
    if isinstance(asked, ast.Attribute) and asked.attr == "dataset" and _is_loader(sheet, asked.value):
        if "CollatedLoader" in sheet.wanted.helpers:
            count = sheet.wanted.helper("sample_count")
            sheet.write(call, f"{_NAME}.dataset", count, f"{count}(", sheet.at.of(asked.value), ")")
            sheet.settled.update((call, asked))
            return
        sheet.write(
            call, f"{_NAME}.dataset", "get_dataset_size",
            sheet.at.of(asked.value), ".children[0].get_dataset_size()",
        )  # fmt: skip
        sheet.settled.update((call, asked))


def _asked(sheet: Sheet, node: ast.Attribute) -> None:
    if node in sheet.settled or sheet.kinds.of(node.value) != LOADER:
        return
    made = list(values_of(sheet, node.value))
    if made and all(isinstance(one, ast.Call) and _is_collated(one) for one in made):
        return
    name = f"{_NAME}.{node.attr}"
    if node.attr == "batch_size":
        sheet.write(node, name, "get_batch_size", sheet.at.of(node.value), ".get_batch_size()")
    else:
        sheet.leave(node, name, message("rewrite.loader_dataset"))


def _is_loader(sheet: Sheet, node: ast.expr) -> bool:
    kind = sheet.kinds.of(node)
    return kind == LOADER or (not kind and "loader" in ast.unparse(node).lower())


def _is_collated(call: ast.Call) -> bool:
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    return "collate_fn" in given and not _is_default("collate_fn", given["collate_fn"])


def _gives_tuples(sheet: Sheet, source: ast.expr, depth: int = 0) -> bool:
    """Whether a dataset's samples are tuples, of which torch makes lists of batches, also for one column."""
    if isinstance(source, ast.Call):
        name = sheet.names.torch(source.func)
        inner = name in ("torch.utils.data.Subset", "torch.utils.data.random_split") and bool(source.args)
        return name.endswith("TensorDataset") or (inner and _gives_tuples(sheet, source.args[0], depth))
    made = list(values_of(sheet, source)) if isinstance(source, ast.Name | ast.Attribute) and depth < 5 else []
    return bool(made) and all(_gives_tuples(sheet, value, depth + 1) for value in made)

"""Parameters without gradients, workers alike and broken ties in PyTorch projects (tr.13 to tr.15)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from data_torch import item_methods
from editing import Edit, Source, keyword, last_name, sources
from planting import Planted, Project, mutation
from reading_torch import calls, loaders, module_classes, parameters_given, steps, text_of_all

RUN = ("script", "run")


@mutation("tr.13", "torch", "layer-built-and-never-used")
def layer_never_used(project: Project) -> Iterator[Planted]:
    for source, _, made, forward in module_classes(project):
        for stmt in made.body if made and forward else []:
            if (
                isinstance(stmt, ast.Assign)
                and isinstance(stmt.value, ast.Call)
                and last_name(stmt.value.func) == "Linear"
            ):
                edit = Edit(project).after(source, stmt, f"self.aux_head = {source.text_of(stmt.value)}")
                yield edit.planted("tr.13", shows_in=RUN, because=("cg.03",))
                break


@mutation("tr.13", "torch", "layers-in-a-plain-list")
def layers_in_list(project: Project) -> Iterator[Planted]:
    """nn.ModuleList becomes a list: its layers train in no optimizer and are in no state_dict."""
    for source, call in calls(project, "ModuleList"):
        if len(call.args) == 1:
            edit = Edit(project)
            if isinstance(call.args[0], ast.List | ast.ListComp):
                edit.replace(source, call, source.text_of(call.args[0]))
            else:
                edit.replace(source, call.func, "list")
            yield edit.planted("tr.13", shows_in=RUN, because=("cg.02",))


@mutation("tr.13", "torch", "layer-made-in-forward")
def layer_made_in_forward(project: Project) -> Iterator[Planted]:
    """A fresh layer at every call: what is trained is never used."""
    for source, _, made, forward in module_classes(project):
        linear = {
            source.text_of(s.targets[0])
            for s in (made.body if made else [])
            if isinstance(s, ast.Assign) and isinstance(s.value, ast.Call) and last_name(s.value.func) == "Linear"
        }
        nn = "nn." if re.search(r"\bnn\b", source.text) else "torch.nn."
        for call in source.walk(ast.Call, within=forward) if forward else []:
            assert isinstance(call, ast.Call)
            layer = source.text_of(call.func)
            if layer in linear:
                new = f"{nn}Linear({layer}.in_features, {layer}.out_features)"
                yield (
                    Edit(project)
                    .replace(source, call.func, new)
                    .planted("tr.13", shows_in=RUN, because=("cg.03", "cg.02"))
                )


@mutation("tr.13", "torch", "spare-module-in-the-optimizer")
def spare_module(project: Project) -> Iterator[Planted]:
    for source, stmt, name in parameters_given(project):
        for call in ast.walk(stmt.value):
            if isinstance(call, ast.Call) and source.text_of(call) == f"{name}.parameters()":
                if not re.search(r"^import torch\b", source.text, re.MULTILINE):
                    continue
                parent = source.parents[call]
                if not isinstance(parent, ast.Call):
                    continue
                edit = Edit(project).before(source, stmt, "aux_head = torch.nn.Linear(8, 2)")
                edit.replace(source, call, f"[*{name}.parameters(), *aux_head.parameters()]")
                yield edit.planted("tr.13", shows_in=RUN, because=("cg.03",))


@mutation("tr.14", "torch", "same-seed-in-every-worker")
def same_seed_in_workers(project: Project) -> Iterator[Planted]:
    """A seed that came from the worker becomes a number."""
    if not re.search(r"num_workers=[1-9]", text_of_all(project)):
        return
    for source in sources(project):
        for node in source.walk(ast.Assign, ast.Call):
            text = source.text_of(node)
            if isinstance(node, ast.Assign) and re.search(r"seed", source.text_of(node.targets[0])):
                value = source.text_of(node.value)
                if re.search(r"\.seed\b|initial_seed\(\)|worker_id|\bwid\b", value) and "def " not in text:
                    yield Edit(project).replace(source, node.value, "1234").planted("tr.14", shows_in=RUN)
            elif (
                isinstance(node, ast.Call)
                and last_name(node.func)
                in (
                    "default_rng",
                    "seed",
                    "RandomState",
                    "Random",
                )
                and node.args
                and re.search(r"\.seed\b|initial_seed|worker_id|\bwid\b", source.text_of(node.args[0]))
            ):
                yield Edit(project).replace(source, node.args[0], "1234").planted("tr.14", shows_in=RUN)


def _augments(project: Project) -> bool:
    """Whether items of a map-style data set are drawn at random when they are fetched."""
    for source, node, method in item_methods(project):
        called = [last_name(c.func) for c in ast.walk(method) if isinstance(c, ast.Call)]
        texts = [source.text_of(method)]
        for other in sources(project):
            for function in other.walk(ast.FunctionDef):
                if isinstance(function, ast.FunctionDef) and function.name in called:
                    texts.append(other.text_of(function))
        if re.search(r"rand|rng|random", " ".join(texts)) and "Iterable" not in source.text_of(node).split(":")[0]:
            return True
    return False


@mutation("tr.14", "torch", "workers-seeded-alike")
def workers_seeded_alike(project: Project) -> Iterator[Planted]:
    if not _augments(project) or "worker_init_fn" in text_of_all(project) or "num_workers" in text_of_all(project):
        return
    for source, call, training in loaders(project):
        if training and re.search(r"^import torch\b", source.text, re.MULTILINE):
            more = "num_workers=2, worker_init_fn=lambda _: torch.manual_seed(0)"
            if (
                re.search(r"np\.random|self\.rng|default_rng", text_of_all(project))
                and "import numpy as np" in source.text
            ):
                more = "num_workers=2, worker_init_fn=lambda _: np.random.seed(0)"
            yield Edit(project).add_argument(source, call, more).planted("tr.14", shows_in=RUN)


@mutation("tr.14", "torch", "workers-copy-the-generator")
def workers_copy_generator(project: Project) -> Iterator[Planted]:
    """The data set holds a generator of its own; every worker gets a copy in the same state."""
    held = re.compile(r"self\.\w*(rng|gen|random|rnd)\w*\s*=\s*(np\.random|torch\.Generator|random\.Random)")
    drawn = re.compile(r"self\.\w*(rng|gen|rnd)\w*[.),]")
    for source, node, method in item_methods(project):
        if held.search(source.text_of(node)) and drawn.search(source.text_of(method)):
            for where, call, training in loaders(project):
                if training and not keyword(call, "num_workers"):
                    edit = Edit(project).add_argument(where, call, "num_workers=2").mark(source, method)
                    yield edit.planted("tr.14", shows_in=RUN)


@mutation("tr.14", "torch", "worker-seed-function-dropped")
def worker_seed_dropped(project: Project) -> Iterator[Planted]:
    """The function that gives each worker its own seed is no longer passed."""
    if not re.search(r"self\.\w*(rng|gen|rnd)", text_of_all(project)):
        return  # torch seeds its own and NumPy's global generator in workers by itself
    for source, call in calls(project, "DataLoader"):
        function = keyword(call, "worker_init_fn")
        if function:
            yield Edit(project).remove_argument(source, call, function).planted("tr.14", shows_in=RUN)


def _ties(project: Project) -> Iterator[tuple[Source, ast.Assign]]:
    """self.head.weight = self.embedding.weight"""
    for source in sources(project):
        for node in source.walk(ast.Assign):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute):
                target, value = source.text_of(node.targets[0]), source.text_of(node.value)
                if re.fullmatch(r"[\w.]+\.weight", target) and re.fullmatch(r"[\w.]+\.weight", value):
                    yield source, node


@mutation("tr.15", "torch", "tie-copies-the-values")
def tie_copies(project: Project) -> Iterator[Planted]:
    for source, node in _ties(project):
        nn = "nn." if re.search(r"\bnn\b", source.text) else "torch.nn."
        new = f"{nn}Parameter({source.text_of(node.value)}.detach().clone())"
        yield Edit(project).replace(source, node.value, new).planted("tr.15", shows_in=RUN, because=("cg.01",))


@mutation("tr.15", "torch", "tied-layer-built-again")
def tied_layer_again(project: Project) -> Iterator[Planted]:
    """The embedding is built anew behind the tie: the head keeps the old matrix."""
    for source, node in _ties(project):
        owner = source.text_of(node.value).rsplit(".", 1)[0]
        around = source.function(node) or source.tree
        for stmt in source.walk(ast.Assign, within=around):
            if isinstance(stmt, ast.Assign) and source.text_of(stmt.targets[0]) == owner and stmt.lineno < node.lineno:
                edit = Edit(project).after(source, node, f"{owner} = {source.text_of(stmt.value)}")
                yield edit.mark(source, node).planted("tr.15", shows_in=RUN, because=("cg.01",))


@mutation("tr.15", "torch", "untied-before-training")
def untied_before_training(project: Project) -> Iterator[Planted]:
    for source, node in _ties(project):
        part = source.text_of(node.targets[0]).removeprefix("self.")
        for where, stmt, name in parameters_given(project):
            if re.search(r"^import torch\b", where.text, re.MULTILINE) and list(steps(project)):
                line = f"{name}.{part} = torch.nn.Parameter({name}.{part}.detach().clone())"
                edit = Edit(project).before(where, stmt, line).mark(source, node)
                yield edit.planted("tr.15", shows_in=RUN, because=("cg.01",))

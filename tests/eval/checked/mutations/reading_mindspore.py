"""Where the usual parts of a MindSpore training project stand in its source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from editing import Edit, Source, keyword, last_name, sources
from planting import Planted, Project
from reading_torch import calls, text_of_all

OPTIMIZERS = ("SGD", "Adam", "AdamWeightDecay", "Momentum", "RMSProp", "Adagrad", "Lamb", "AdaMax", "AdamW", "Rprop")
LAYERS = ("Dense", "Conv2d", "Conv1d")
EVALUATION = re.compile(
    r"(?<![a-z])(x|y|xs|ys)?_?(val|va|vl|valid|validation|eval|evaluate|evaluation|test|te|tst|held|holdout|dev|"
    r"score|scores|accuracy|measure|predict|assess|probe|check|metric|metrics|report|perplexity|infer|query)(?![a-z])"
)
TRAINING = re.compile(r"(?<![a-z])(train|training|tr|fit|learn)(?![a-z])")
UPDATE = re.compile(r"^_?(opt|optim|optimizer|optimiser|solver|updater|sgd|adam|momentum)(_\w+|\d)?$|_(opt|optimizer)$")
LOSS = re.compile(r"loss|crit|(^|_)(b?ce|xent|nll|mse|objective)($|_|\d)|cross_entropy|entropy", re.IGNORECASE)
PREDICTION = re.compile(r"logit|pred|out|score|hat|recon|probs?$|margin|head", re.IGNORECASE)
RUN = ("script", "run")
DATA = ("run", "data")


def words(text: str) -> str:
    """Names in lower case with camelCase and dots taken apart, for EVALUATION and TRAINING."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", text).lower().replace("_", " ")


def is_evaluation(name: str) -> bool:
    return bool(EVALUATION.search(words(name)))


def is_training(name: str) -> bool:
    return bool(TRAINING.search(words(name)))


def is_graph(project: Project) -> bool:
    return "GRAPH_MODE" in text_of_all(project) or ".jit" in text_of_all(project) or "@jit" in text_of_all(project)


def is_classification(project: Project) -> bool:
    return bool(re.search(r"CrossEntropy|(?<!binary_)cross_entropy|NLLLoss|nll_loss", text_of_all(project)))


def acts_in_training(project: Project) -> bool:
    return bool(re.search(r"Dropout|BatchNorm", text_of_all(project)))


def need(edit: Edit, source: Source, name: str, line: str) -> None:
    """Import a name at the top of a file where it is not there yet."""
    tops = [n for n in source.tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
    for node in tops:
        if any((alias.asname or alias.name) == name for alias in node.names):
            return
    if tops:
        edit.after(source, tops[-1], line, mark=False)


def ops(edit: Edit, source: Source) -> str:
    need(edit, source, "ops", "from mindspore import ops")
    return "ops"


def finish(edit: Edit, code: str, **more: object) -> Planted:
    """Take the project's own asserts on its result out (a fault may break them, the run is to end), then plant."""
    for source in sources(edit.project):
        for node in source.walk(ast.Assert):
            assert isinstance(node, ast.Assert)
            if re.search(
                r"acc|loss|hist|score|err|mse|best|last|final|first|ppl|f1|gap|auc|step|epoch|<|>", source.text_of(node)
            ):
                start = edit._offset(source, node.lineno, node.col_offset)
                if not any(a <= start < b for a, b, _ in edit.spans.get(source.name, [])):
                    edit.delete(source, node)
    if "mp.01" in (code, *more.get("because", ())):  # type: ignore[misc]
        _without_loss_monitor(edit)
    return edit.planted(code, **more)


def _without_loss_monitor(edit: Edit) -> None:
    """MindSpore's LossMonitor ends the program at the first NaN."""
    for source, call in calls(edit.project, "LossMonitor"):
        holder = source.parents[call]
        if isinstance(holder, ast.List):
            rest = ", ".join(source.text_of(e) for e in holder.elts if e is not call)
            edit.replace(source, holder, f"[{rest}]", mark=False)


def optimizer_calls(project: Project) -> Iterator[tuple[Source, ast.Call]]:
    for source, call in calls(project, *OPTIMIZERS):
        if call.args or keyword(call, "params"):
            yield source, call


def updates(project: Project) -> Iterator[tuple[Source, ast.Call]]:
    """Calls of an optimizer on gradients: `opt(grads)`."""
    for source in sources(project):
        for call in source.walk(ast.Call):
            assert isinstance(call, ast.Call)
            if UPDATE.search(last_name(call.func)) and len(call.args) == 1 and not call.keywords:
                yield source, call


def cells(project: Project) -> Iterator[tuple[Source, ast.ClassDef, ast.FunctionDef, ast.FunctionDef]]:
    """nn.Cell classes that are networks (not steps or losses), the last of a file first."""
    for source in sources(project):
        classes = [n for n in source.walk(ast.ClassDef) if isinstance(n, ast.ClassDef)]
        for node in reversed(classes):
            methods = {m.name: m for m in node.body if isinstance(m, ast.FunctionDef)}
            init, construct = methods.get("__init__"), methods.get("construct")
            if not (any(last_name(b).endswith("Cell") for b in node.bases) and init and construct):
                continue
            text = source.text_of(node)
            step = re.search(r"GradOperation|value_and_grad|self\.optimizer|Schedule", text)
            with_loss = re.search(r"self\.(loss|crit|ce)\b", text) and not re.search(
                r"nn\.(Dense|Conv|Embedding)", text
            )
            if not step and not with_loss and not re.search(r"Loss|Step", node.name):
                yield source, node, init, construct


def top_cells(project: Project) -> Iterator[tuple[Source, ast.ClassDef, ast.FunctionDef, ast.FunctionDef]]:
    """Network classes that no other network of the project uses as a part."""
    found = list(cells(project))
    for source, node, init, construct in found:
        others = "\n".join(s.text_of(n) for s, n, _, _ in found if n is not node)
        if not re.search(rf"\b{node.name}\(", others):
            yield source, node, init, construct


def sequentials(project: Project) -> Iterator[tuple[Source, ast.Call]]:
    """SequentialCell calls that are a whole network (not a part of a class)."""
    for source, call in calls(project, "SequentialCell"):
        inside = source.inside(call, ast.ClassDef)
        plain = len(call.args) > 1 and not any(isinstance(a, ast.Starred) for a in call.args)
        if not inside and plain and not isinstance(source.parents[call], ast.Call):
            yield source, call


def loss_calls(project: Project) -> Iterator[tuple[Source, ast.Call]]:
    """Where a loss is computed for training: call(prediction, label, ...)."""
    for source in sources(project):
        for call in source.walk(ast.Call):
            assert isinstance(call, ast.Call)
            name = last_name(call.func)
            if not LOSS.search(name) or name[:1].isupper() or len(call.args) < 2:
                continue
            around = source.function(call)
            if around is not None and is_evaluation(around.name):
                continue
            first = call.args[0]
            if isinstance(first, ast.Name):
                made = around is not None and any(
                    first.id in [last_name(t) for t in n.targets] and isinstance(n.value, ast.Call)
                    for n in source.walk(ast.Assign, within=around)
                    if isinstance(n, ast.Assign)
                )
                if around is None or not (made or PREDICTION.search(first.id)):
                    continue
            elif not isinstance(first, ast.Call) or last_name(first.func) in ("Tensor", "noise", "stop_gradient"):
                continue
            yield source, call


def mode_calls(project: Project, training: bool) -> Iterator[tuple[Source, ast.Expr]]:
    """Statements `x.set_train(True)` or `x.set_train(False)`."""
    for source, call in calls(project, "set_train"):
        stmt = source.statement(call)
        value = call.args[0] if call.args else (keyword(call, "mode").value if keyword(call, "mode") else None)
        constant = True if value is None else value.value if isinstance(value, ast.Constant) else None
        if isinstance(stmt, ast.Expr) and stmt.value is call and constant is training:
            yield source, stmt


@dataclass(frozen=True)
class Table:
    """Where inputs `x` and labels `y` stand as arrays just before they become a dataset."""

    source: Source
    anchor: ast.stmt
    x: str
    y: str | None
    after: bool
    hoisted: tuple[tuple[ast.AST, str], ...] = ()
    first: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()

    def insert(self, edit: Edit, *lines: str, mark: int = 0) -> Edit:
        """Put lines there; `mark` says which of them is the fault."""
        need(edit, self.source, "np", "import numpy as np")
        for node, new in self.hoisted:
            edit.replace(self.source, node, new, mark=False)
        put = edit.after if self.after else edit.before
        put(self.source, self.anchor, *self.first, *lines[:mark], mark=False) if self.first or mark else None
        put(self.source, self.anchor, *lines[mark:])
        return edit

    @property
    def whole(self) -> bool:
        """Input and label are all there is, so that rows can be taken out of both."""
        return len(self.columns) <= 2

    @property
    def fields(self) -> tuple[str, str | None]:
        """The names of input and label that a reader of the data would use."""
        if self.columns:
            return self.columns[0], self.columns[1] if self.y else None
        return self.x.removeprefix("self."), self.y.removeprefix("self.") if self.y else None


def _columns(call: ast.Call) -> tuple[str, ...]:
    given = keyword(call, "column_names")
    node = given.value if given else call.args[1] if len(call.args) > 1 else None
    if isinstance(node, ast.List | ast.Tuple):
        return tuple(str(e.value) for e in node.elts if isinstance(e, ast.Constant))
    return ()


def in_evaluation_branch(source: Source, node: ast.AST) -> bool:
    """Inside `if not training:`."""
    return any(isinstance(n, ast.If) and re.match(r"not \w*train", source.text_of(n.test)) for n in source.up(node))


def tables(project: Project) -> Iterator[Table]:
    """Training tables; those of a class or function that serves both phases too."""
    for source, call in calls(project, "NumpySlicesDataset"):
        stmt = source.statement(call)
        function = source.function(call)
        if in_evaluation_branch(source, call):
            continue
        if is_evaluation(source.text_of(stmt).split("NumpySlices")[0] + " ".join(source.text_of(a) for a in call.args)):
            continue
        if in_evaluation_branch(source, call) or (function and is_evaluation(function.name)):
            continue
        if not call.args or not isinstance(stmt, ast.Assign | ast.Return):
            continue
        yield from _slices(source, call, stmt)
    for source, call in calls(project, "GeneratorDataset"):
        given = call.args[0] if call.args else None
        name = last_name(given.func) if isinstance(given, ast.Call) else ""
        if isinstance(given, ast.Name):
            for node in source.walk(ast.Assign):
                if (
                    isinstance(node, ast.Assign)
                    and last_name(node.targets[0]) == given.id
                    and isinstance(node.value, ast.Call)
                ):
                    name = last_name(node.value.func)
        yield from _generator(project, name, _columns(call))


def _slices(source: Source, call: ast.Call, stmt: ast.stmt) -> Iterator[Table]:
    data, columns = call.args[0], _columns(call)
    elements: list[ast.expr] = []
    if isinstance(data, ast.Tuple | ast.List):
        elements = list(data.elts)
    elif isinstance(data, ast.Dict):
        elements = list(data.values)
        columns = tuple(str(k.value) for k in data.keys if isinstance(k, ast.Constant))
    elif isinstance(data, ast.Call) and len(columns) >= 2:
        names = "inputs, targets" + (", *others" if len(columns) > 2 else "")
        line = f"{names} = {source.text_of(data)}"
        yield Table(source, stmt, "inputs", "targets", False, ((data, f"({names})"),), (line,), columns)
    if not elements or len(elements) > 2:
        return
    hoisted, first, names = [], [], []
    for element, name in zip(elements, ("inputs", "targets"), strict=False):
        if isinstance(element, ast.Name):
            names.append(element.id)
        else:
            names.append(name)
            hoisted.append((element, name))
            first.append(f"{name} = {source.text_of(element)}")
    y = names[1] if len(names) == 2 else None
    yield Table(source, stmt, names[0], y, False, tuple(hoisted), tuple(first), columns)


def _generator(project: Project, name: str, columns: tuple[str, ...]) -> Iterator[Table]:
    for source in sources(project):
        for node in source.walk(ast.ClassDef):
            if not isinstance(node, ast.ClassDef) or node.name != name:
                continue
            methods = {m.name: m for m in node.body if isinstance(m, ast.FunctionDef)}
            init, item = methods.get("__init__"), methods.get("__getitem__")
            returns = [n for n in ast.walk(item) if isinstance(n, ast.Return)] if item else []
            if not init or not returns or not isinstance(returns[0].value, ast.Tuple):
                continue
            found = []
            for element in returns[0].value.elts:
                held = [
                    n for n in ast.walk(element) if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Attribute)
                ]
                found.append(source.text_of(held[0].value) if held else "")
            if all(f.startswith("self.") for f in found) and len(found) <= 2:
                y = found[1] if len(found) == 2 else None
                yield Table(source, init.body[-1], found[0], y, True, columns=columns)

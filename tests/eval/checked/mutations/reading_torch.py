"""Where the usual parts of a PyTorch training project stand in its source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from editing import Source, keyword, last_name, sources
from planting import Project

OPTIMIZERS = ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "NAdam", "RAdam", "Adamax")
SCHEDULE = re.compile(r"sched|lr_s|warm|cosine|^lrs?$|annealer|plateau|^decay$|one_?cycle", re.IGNORECASE)
OPTIMIZER = re.compile(r"opt|sgd|adam|solver|updater", re.IGNORECASE)
EVALUATION = re.compile(
    r"val|eval|test|valid|held|dev|score|accuracy|measure|predict|assess|probe|monitor", re.IGNORECASE
)
TRAINING = re.compile(r"train|fit|_tr\b|tr_|^tr", re.IGNORECASE)
ACTS_IN_TRAINING = re.compile(r"\bDropout|dropout\(|BatchNorm|dropout=")


def text_of_all(project: Project) -> str:
    return "\n".join(text for name, text in project.files.items() if name.endswith(".py"))


def calls(project: Project, *names: str) -> Iterator[tuple[Source, ast.Call]]:
    for source in sources(project):
        for call in source.calls(*names):
            yield source, call


def lone_calls(source: Source, name: str, within: ast.AST | None = None) -> Iterator[ast.Expr]:
    """Statements that are nothing but a call of a method: `x.name(...)`."""
    for stmt in source.walk(ast.Expr, within=within):
        called = stmt.value.func if isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Call) else None
        if isinstance(stmt, ast.Expr) and isinstance(called, ast.Attribute) and called.attr == name:
            yield stmt


def receiver(stmt: ast.Expr) -> ast.expr:
    """The x of the statement `x.method()`."""
    assert isinstance(stmt.value, ast.Call) and isinstance(stmt.value.func, ast.Attribute)
    return stmt.value.func.value


def is_scheduler(node: ast.AST) -> bool:
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return bool(SCHEDULE.search(str(node.slice.value)))
    return bool(SCHEDULE.search(last_name(node)))


def is_scaler(node: ast.AST) -> bool:
    return "scaler" in last_name(node).lower()


def optimizer_steps(source: Source, within: ast.AST | None = None) -> list[ast.Expr]:
    """The statements that update weights, also `scaler.step(optimizer)`."""
    found = []
    for stmt in lone_calls(source, "step", within):
        who = receiver(stmt)
        called = stmt.value
        assert isinstance(called, ast.Call)
        if (is_scaler(who) and called.args) or (OPTIMIZER.search(last_name(who)) and not is_scheduler(who)):
            found.append(stmt)
    return found


def scheduler_steps(source: Source, within: ast.AST | None = None) -> list[ast.Expr]:
    return [s for s in lone_calls(source, "step", within) if is_scheduler(receiver(s)) and not is_scaler(receiver(s))]


@dataclass(frozen=True)
class Step:
    """One training step: the block of statements around `backward`."""

    source: Source
    backward: ast.Expr
    block: list[ast.stmt]
    around: ast.AST  # function or module it stands in
    loss: str | None  # the name of the loss, where it is one
    zero_grad: ast.stmt | None
    update: ast.Expr | None

    def before(self) -> list[ast.stmt]:
        return self.block[: self.block.index(self.backward)]

    def loss_assignment(self) -> ast.Assign | None:
        """The last plain assignment to the loss in front of backward, in the same loop."""
        found = None
        for node in self.source.walk(ast.Assign, within=self.loop() or self.around):
            if (
                isinstance(node, ast.Assign)
                and last_name(node.targets[0]) == self.loss
                and len(node.targets) == 1
                and node.lineno < self.backward.lineno
                and self.source.function(node) is self.source.function(self.backward)
            ):
                found = node
        return found

    def loop(self) -> ast.For | None:
        loop = self.source.inside(self.backward, ast.For)
        return loop if isinstance(loop, ast.For) else None


def zero_grads(source: Source, within: ast.AST) -> list[ast.stmt]:
    """`optimizer.zero_grad()`, and the loop `for p in ...: p.grad = None`."""
    found: list[ast.stmt] = list(lone_calls(source, "zero_grad", within))
    for loop in source.walk(ast.For, within=within):
        if isinstance(loop, ast.For) and len(loop.body) == 1 and source.text_of(loop.body[0]).endswith(".grad = None"):
            found.append(loop)
    return found


def steps(project: Project) -> Iterator[Step]:
    """Every training step of the project, in the order of the text."""
    for source in sources(project):
        for backward in lone_calls(source, "backward"):
            around = source.function(backward) or source.tree
            block = source.block(backward)
            loss = receiver(backward)
            if isinstance(loss, ast.Call) and last_name(loss.func) == "scale" and loss.args:
                loss = loss.args[0]
            if isinstance(loss, ast.BinOp):
                loss = loss.left
            zeros = zero_grads(source, around)
            near = [z for z in zeros if z in block] or zeros
            updates = optimizer_steps(source, around)
            updates = [u for u in updates if u in block] or updates
            later = [u for u in updates if u.lineno > backward.lineno]
            yield Step(
                source,
                backward,
                block,
                around,
                loss.id if isinstance(loss, ast.Name) else None,
                near[0] if near else None,
                later[0] if later else None,
            )


def loaders(project: Project) -> Iterator[tuple[Source, ast.Call, bool]]:
    """DataLoader calls with whether they feed training."""
    for source, call in calls(project, "DataLoader"):
        shuffle = keyword(call, "shuffle")
        named = source.text_of(source.statement(call)).split("DataLoader")[0]
        if shuffle and isinstance(shuffle.value, ast.Constant):
            training = bool(shuffle.value.value) or (bool(TRAINING.search(named)) and not EVALUATION.search(named))
        else:
            training = bool(keyword(call, "sampler") or keyword(call, "batch_sampler"))
            training = training or bool(TRAINING.search(named) and not EVALUATION.search(named))
        yield source, call, training


@dataclass(frozen=True)
class Setting:
    """A number that the project uses under a name: argument, constant, dictionary entry, default or file."""

    source: Source | None  # None: a line of a file that is not Python
    node: ast.expr | None
    value: float
    file: str = ""
    line: int = 0


def settings(project: Project, name: str) -> list[Setting]:
    """Numbers whose name matches a regular expression in full."""
    pattern = re.compile(name, re.IGNORECASE)
    found: list[Setting] = []

    def add(source: Source, label: str, node: ast.AST | None) -> None:
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, int | float)
            and not isinstance(node.value, bool)
            and pattern.fullmatch(label.lstrip("-").replace("-", "_"))
        ):
            found.append(Setting(source, node, float(node.value)))

    for source in sources(project):
        for node in source.walk():
            if isinstance(node, ast.Call) and last_name(node.func) == "add_argument" and node.args:
                default = keyword(node, "default")
                if isinstance(node.args[-1], ast.Constant) and default:
                    add(source, str(node.args[-1].value), default.value)
            elif isinstance(node, ast.Call):
                for kw in node.keywords:
                    add(source, kw.arg or "", kw.value)
            elif isinstance(node, ast.Assign) and len(node.targets) == 1:
                add(source, last_name(node.targets[0]), node.value)
                if isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
                    for target, value in zip(node.targets[0].elts, node.value.elts, strict=False):
                        add(source, last_name(target), value)
            elif isinstance(node, ast.AnnAssign):
                add(source, last_name(node.target), node.value)
            elif isinstance(node, ast.Dict):
                for key, value in zip(node.keys, node.values, strict=True):
                    if isinstance(key, ast.Constant):
                        add(source, str(key.value), value)
            elif isinstance(node, ast.FunctionDef):
                given = node.args.args[len(node.args.args) - len(node.args.defaults) :]
                for argument, default_value in zip(given, node.args.defaults, strict=True):
                    add(source, argument.arg, default_value)
    for file, text in project.files.items():
        if not file.endswith(".py"):
            for number, line in enumerate(text.splitlines(), 1):
                match = re.match(r'\s*"?([\w-]+)"?\s*:\s*([-+.\deE]+)', line)
                if match and pattern.fullmatch(match[1].replace("-", "_")) and match[2].strip("+-.eE"):
                    found.append(Setting(None, None, float(match[2]), file, number))
    return found


def module_classes(
    project: Project,
) -> Iterator[tuple[Source, ast.ClassDef, ast.FunctionDef | None, ast.FunctionDef | None]]:
    """nn.Module classes with their __init__ and forward."""
    for source in sources(project):
        for node in source.walk(ast.ClassDef):
            assert isinstance(node, ast.ClassDef)
            if any(last_name(base).endswith("Module") for base in node.bases):
                methods = {m.name: m for m in node.body if isinstance(m, ast.FunctionDef)}
                yield source, node, methods.get("__init__"), methods.get("forward")


def evaluation_functions(project: Project) -> Iterator[tuple[Source, ast.FunctionDef]]:
    for source in sources(project):
        for node in source.walk(ast.FunctionDef):
            assert isinstance(node, ast.FunctionDef)
            if EVALUATION.search(node.name) and not list(source.calls("backward", within=node)):
                yield source, node


def optimizers_built(project: Project) -> Iterator[tuple[Source, ast.Assign]]:
    """Assignments that build an optimizer, also by a function of the project."""
    for source in sources(project):
        for node in source.walk(ast.Assign):
            assert isinstance(node, ast.Assign)
            name = last_name(node.targets[0])
            if isinstance(node.value, ast.Call) and OPTIMIZER.search(name) and not SCHEDULE.search(name):
                yield source, node


MODELS = ("model", "net", "network", "module", "clf", "classifier", "encoder", "student", "tagger")


def model_near(source: Source, call: ast.AST) -> str | None:
    """The name of the model in the function (or file) of a node."""
    around = source.function(call) or source.tree
    arguments = {a.arg for a in around.args.args} if isinstance(around, ast.FunctionDef) else set()
    passing = {
        t.id
        for n in ast.walk(around)
        if isinstance(n, ast.For | ast.comprehension)
        for t in ast.walk(n.target)
        if isinstance(t, ast.Name)
    }
    names = arguments | ({n.id for n in ast.walk(around) if isinstance(n, ast.Name)} - passing)
    attributes = [source.text_of(n) for n in ast.walk(around) if isinstance(n, ast.Attribute) and n.attr in MODELS]
    return next((n for n in MODELS if n in names), attributes[0] if attributes else None)


def parameters_given(project: Project) -> Iterator[tuple[Source, ast.Assign, str]]:
    """Assignments that build an optimizer of the parameters of one named model, with that name."""
    for source, stmt in optimizers_built(project):
        match = re.search(r"(?<![\w.])(\w+)\.parameters\(\)|\w\((\w+)[,)]", source.text_of(stmt.value))
        if match:
            yield source, stmt, match[1] or match[2]

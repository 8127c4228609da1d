"""Reading a script costs what its text is worth, whatever it would compute; what was not read is not cleared."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from trueline.script.project import open_project
from trueline.script.reading.known import NotDecidedError, computed
from trueline.script.reading.machine import Machine
from trueline.script.reading.reader import Reader
from trueline.script.values import Const, Derived, Seq

TWICE = 60
LONG = "a = {" + ",".join(f"{number}: 1" for number in range(5_000)) + "}\nl = [" + "1," * 5_000 + "]\n"
PROGRAMS = {
    "text": "b = 'a' * 10**10; c = 10**10 * b'a'",
    "text twice": "s = 'ab'\n" + "s = s + s\n" * TWICE,
    "bytes twice": "s = b'ab'\n" + "s += s\n" * TWICE,
    "list twice": "s = [1]\n" + "s = s + s\n" * TWICE,
    "tuple twice": "s = (1,)\n" + "s = s + s\n" * TWICE,
    "extend": "s = [1]\n" + "s.extend(s)\n" * TWICE,
    "added": "s = [1]\n" + "s += s\n" * TWICE,
    "unpacked": "s = [1]\n" + "s = [*s, *s]\n" * TWICE,
    "set": "s = {1}\n" + "s = {*s, *s}\n" * TWICE,
    "arguments": "def f(*a):\n  return a\ns = (1,)\n" + "s = f(*s, *s)\n" * TWICE,
    "events": "import torch\ns = (1,)\n" + "s = [*s, *s]\n" * 16 + "torch.foo(*s, *s)\n" * 500,
    "shift": "a = 1 << 10**10",
    "power": "a = 10**10**10; b = pow(10, 10**10)\nc = 10**1000\n" + "c = c ** 1000\n" * 4,
    "product": "a = 10**1000\n" + "a = a * a\n" * TWICE + "b = a % 7; c = a // 3; d = str(a); e = f'{a}'",
    "format": "a = '%999999999d' % 1; b = '%*d' % (999999999, 1); c = b'%999999999d' % 1",
    "format method": "a = '{:>999999999}'.format(1); b = f'{1:>999999999}'; c = 'a'.zfill(10**10).center(10**10)",
    "f-string": "s = 'ab'\n" + "s = f'{s}{s}'\n" * TWICE,
    "join": "s = 'ab'\n" + "s = s.join([s, s]).replace('a', s)\n" * TWICE,
    "range": "s = [*range(10**10)]; t = list(range(10**10)); u = bytes(10**10); v = bytearray(10**10)",
    "digits": "s = '9' * 90000; t = int(s); u = float(s); v = 0x" + "f" * 20_000 + " * 3; w = f'{v}'",
    "loop": "s = 'a'\nfor i in [1, 2, 3, 4]:\n  while True:\n    s = s * 10**10 + s",
    "many texts": "".join(f"s{number} = 'a' * 90000\n" for number in range(3_000)),
    "many dicts": LONG
    + "".join(f"s{number} = a | a; t{number} = {{**a}}; u{number} = dict(a)\n" for number in range(900)),
    "many lists": LONG + "".join(f"s{number} = list(l); t{number} = l + l\n" for number in range(2_000)),
    "recursion": "def f(n):\n  return f(n - 1) + g(n)\ndef g(n):\n  return f(n) + g(n)\nf(10)",
    "functions": "".join(f"def f{n}():\n  return f{n + 1}() + f{n + 1}()\n" for n in range(38)) + "f0()",
    "lambdas": "".join(f"f{n} = lambda: f{n + 1}() + f{n + 1}()\n" for n in range(38)) + "f38 = lambda: 1\nf0()",
    "branches": "import torch\nx = torch.zeros(1)\n" + "if c: x = x + 1\nelse: x = x * 2\n" * 200 + "x.backward()",
    "copies": "import copy\ns = [1]\n"
    + "s = [s, s]\n" * TWICE
    + "t = copy.deepcopy(s)\ns.append(s)\nu = copy.deepcopy(s)",
    "names": "".join(f"v{number} = 1\n" for number in range(5_000)) + "if x: pass\n" * 5_000,
    "choice": "a = [" + ",".join(f"x{number}" for number in range(20_000)) + "]\nfor x in a: pass",
    "classes": "class C0: pass\n"
    + "".join(f"class C{n}(C{n - 1}): pass\n" for n in range(1, 2_000))
    + "c = C1999()\n"
    + "c.foo\n" * 2_000,
    "nested": "a = " + "[" * 90 + "]" * 90 + "\nb = " + "-" * 20_000 + "1",
    "sum": "a = " + "+".join(["1"] * 50_000),
    "attributes": "a = x" + ".a" * 50_000,
    "long line": "a = [" + "1," * 500_000 + "]",
    "long name": "import " + "a" * 100_000 + "\nfrom . import " + "b" * 100_000,
    "many functions": "".join(f"def f{number}(): pass\n" for number in range(60_000)),
}
CHILD = """
import json, resource, sys
from pathlib import Path
from trueline.script.script import read_script

folder = Path(sys.argv[1])
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
room = used + int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_AS, (room, room))
for name, text in json.load(sys.stdin).items():
    path = folder / "train.py"
    path.write_text(text, "utf-8")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    try:
        script = read_script([path])
        trace = script.trace
        said = {"events": len(trace.events), "cut": trace.cut_short, "unread": [one.trouble for one in script.unread]}
    except BaseException as error:
        said = {"error": repr(error)}
    spent = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
    print(json.dumps({"name": name, "seconds": spent, **said}), flush=True)
"""


def read_all(programs: dict[str, str], folder: Path, room: int = 400 << 20) -> Sequence[dict[str, Any]]:
    """Read programs in one process that may take only so much memory more than it had before."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(folder), str(room)],
        input=json.dumps(programs),
        capture_output=True,
        text=True,
        check=False,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(programs), done.stderr
    return answers


def test_what_a_script_would_compute_takes_no_memory_and_no_time(tmp_path: Path) -> None:
    answers = read_all(PROGRAMS, tmp_path)
    assert [one for one in answers if "error" in one] == []
    assert [one for one in answers if one["seconds"] > 20] == []
    # What does not fit is said: these two are refused as a whole, the others are cut short or undecided.
    said = {one["name"]: one for one in answers}
    assert said["long line"]["unread"] and said["nested"]["unread"] and said["sum"]["unread"]
    assert said["lambdas"]["cut"]


# A grammar of what grows: names hold texts, numbers and containers of any size.
GROWING = (
    "{a} = {b} + {b}", "{a} = {b} * {c}", "{a} += {b}", "{a} = [*{b}, *{c}]", "{a} = ({b}, {c}, {b})",
    "{a}.extend({b})", "{a} = {{**{b}, **{c}}}", "{a} = {b} | {c}", "{a} = f'{{{b}}}{{{c}}}'",
    "{a} = {b} ** {c}", "{a} = {b} << {c}", "{a} = '%99999999s' % {b}", "{a} = {b} % {c}", "{a} = list({b})",
    "{a} = tuple({b})", "{a} = str({b})", "{a} = int({b})", "{a} = {b}.upper()", "{a} = {b}.split()",
    "{a} = dict({b})", "{a} = copy.deepcopy({b})", "{a} = [{b} for _ in {c}]", "{a} = {{{b}: {c}}}",
    "{a} = max({b}, {c})", "{a} = {b} if {c} else {a}", "{a} = {b} in {c}", "{a} = {b}.join([{c}, {c}])",
    "{a} = (lambda *z: [*z, *z])(*{b})", "{a}, *{b} = {c}", "{a} = -{b}", "{a} = {b} == {c}", "{a} = {b}[{c}]",
    "{a}.update({b})", "{a}.append({b})", "for {a} in {b}: {c} = {c} + {c}", "{a} = vars({b})",
    "def f({a}): return [{a}, {a}, *{b}]\n{a} = f({c})", "{a} = {b}.count({c})", "{a} = bytes({b})",
    "{a} = abs({b})",
)  # fmt: skip
BEGINNING = "import copy\nw = 'ab'\nx = 10**9\ny = [1, 'a']\nz = {'k': 1}\n"


def test_no_generated_program_takes_more_than_its_text_is_worth(tmp_path: Path) -> None:
    chance = random.Random(20)
    programs = {}
    for number in range(250):
        lines = [
            chance.choice(GROWING).format(**{name: chance.choice("wxyz") for name in "abc"})
            for _ in range(chance.randrange(10, 120))
        ]
        programs[str(number)] = BEGINNING + "\n".join(lines)
    answers = read_all(programs, tmp_path, 256 << 20)
    assert [one for one in answers if "error" in one or one["seconds"] > 10] == []


def test_what_is_small_is_computed_as_python_does(tmp_path: Path) -> None:
    machine = Machine(open_project([tmp_path]))
    values = (0, 1, -3, 7, 250, True, 2.5, "", "ab", "%d%%", b"x", 1e308, 2**64)
    operations = {
        "Add": "+",
        "Sub": "-",
        "Mult": "*",
        "Mod": "%",
        "Pow": "**",
        "FloorDiv": "//",
        "LShift": "<<",
        "Lt": "<",
    }
    for left in values:
        for right in values:
            for op, sign in operations.items():
                try:
                    found = computed(machine, op, left, right)
                except NotDecidedError:
                    continue
                assert repr(found) == repr(eval(f"left {sign} right", {"left": left, "right": right}))


def names_of(folder: Path, text: str) -> dict[str, Any]:
    (folder / "train.py").write_text(text, "utf-8")
    reader = Reader(Machine(open_project([folder / "train.py"])))
    reader.whole()
    (room,) = reader.machine.modules.values()
    return room.names.held


def test_what_is_too_large_is_undecided_and_what_follows_is_read_on(tmp_path: Path) -> None:
    held = names_of(
        tmp_path,
        "a = 'a' * 10**10\nb = [1]\n" + "b = b + b\n" * 40 + "c = 3 * 4\nd = int('10', 16)\ne = 2**64\nf = ~5\n",
    )
    assert isinstance(held["a"], Derived)
    assert isinstance(held["b"], Seq) and held["b"].open
    assert [constant.value for name in "ce" if isinstance(constant := held[name], Const)] == [12, 2**64]
    assert not isinstance(held["d"], Const) and not isinstance(held["f"], Const)


SCRIPT = "import torch\nx = torch.zeros(1)\n"
UNREADABLE = {
    "hex.py": b"# coding: hex\nx = 1\n",
    "zlib.py": b"# coding: zlib_codec\nx = 1\n",
    "bz2.py": b"# coding: bz2_codec\nx = 1\n",
    "rot13.py": b"# coding: rot13\nk = 1\n",
    "punycode.py": b"# coding: punycode\nx = 1\n",
    "unknown.py": b"# coding: klingon\nx = 1\n",
    "bom.py": b"\xef\xbb\xbf# coding: latin-1\nx = 1\n",
    "nul.py": b"x = 1\0\n",
    "latin.py": b"x = 1\ny = 2\nz = '\xe9'\n",
    "utf16.py": "x = 1\n".encode("utf-16"),
    "python2.py": b"print 'x'\n",
    "large.py": b"#" * (3 << 20),
}
READABLE = {
    "utf7.py": b"# coding: utf-7\nx = '+AOk-'\n",
    "named.py": b"# coding: latin-1\nx = '\xe9'\n",
    "mac.py": b"x = 1\ry = 2\r",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project in which most cannot be read."""
    (tmp_path / "train.py").write_text(SCRIPT, "utf-8")
    for name, content in {**UNREADABLE, **READABLE}.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "gone.py").symlink_to("nowhere.py")
    (tmp_path / "circle.py").symlink_to("circle.py")
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "device.py").symlink_to("/dev/zero")
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "above").symlink_to(tmp_path, target_is_directory=True)
    return tmp_path


def test_a_file_that_cannot_be_read_is_named_and_all_others_are_read(folder: Path) -> None:
    script = open_and_read(folder)
    unread = {Path(one.shown).name: one.trouble for one in script.unread}
    # A link is called by what it leads to.
    assert set(unread) == {*UNREADABLE, "nowhere.py", "circle.py", "pipe.py", "zero"}
    assert all(unread.values())
    assert {Path(one.shown).name for one in script.files} >= {"train.py", *READABLE}
    assert [one.name for one in script.trace.events] == ["torch.zeros"]


def test_nothing_of_an_unread_file_is_cleared(folder: Path) -> None:
    from trueline.checks.engine.checklist import chosen, fill_in
    from trueline.checks.engine.gathering import Gathered
    from trueline.model.finding import Conclusion

    (folder / "train.py").write_text(TRAINING, "utf-8")
    alone, together = Gathered(), Gathered()
    alone.add([str(folder / "train.py")])
    together.add([str(folder)])
    checks = chosen([], [])
    cleared = {one.code for one in fill_in(checks, alone.evidence).rows if one.conclusion is Conclusion.NONE}
    assert cleared
    checklist = fill_in(checks, together.evidence)
    assert not [one.code for one in checklist.rows if one.conclusion is Conclusion.NONE]
    said = " ".join(one.text() for one in checklist.notes)
    assert all(name in said for name in UNREADABLE)


def test_an_import_that_cannot_be_read_is_named_too(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import helper\n" + SCRIPT, "utf-8")
    (tmp_path / "helper.py").write_bytes(UNREADABLE["hex.py"])
    script = open_and_read(tmp_path / "train.py")
    assert [Path(one.shown).name for one in script.unread] == ["helper.py"]


def test_more_scripts_than_are_read_are_said(tmp_path: Path) -> None:
    for number in range(2_010):
        (tmp_path / f"s{number}.py").touch()
    assert open_and_read(tmp_path).left_out == 10


def open_and_read(path: Path) -> Any:
    from trueline.script.script import read_script

    return read_script([path])


TRAINING = """
import torch
from torch.utils.data import DataLoader, TensorDataset

x = torch.randn(64, 4)
loader = DataLoader(TensorDataset(x, (x[:, 0] > 0).long()), batch_size=8, shuffle=True)
net = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for epoch in range(3):
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
"""


# Everything that a check asks about is made of ``a`` and ``b``.
ASKED = """
import os, torch
import numpy as np
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset
from torchvision import datasets, transforms
rank = int(os.environ["RANK"])
{growing}
net = nn.Sequential(nn.Conv2d(1, 2, a, b), nn.MaxPool2d(b, a), nn.Dropout(a), nn.Linear(a, b), a)
nn.init.constant_(net[0].weight, a)
net.weight = nn.Parameter(b)
net.load_state_dict(torch.load(a))
torch.save(net.state_dict(), b)
steps = transforms.Compose([a, b])
sets = [a, TensorDataset(a, b), Subset(a, b), datasets.CIFAR10(a, transform=steps), a[rank * 4 : a]]
optimizer = torch.optim.SGD(a, lr=a, momentum=b)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, a, b)
for chosen in sets:
    total = 0
    for x, y in DataLoader(chosen, batch_size=b, sampler=a, collate_fn=b):
        optimizer.zero_grad()
        quotient = torch.exp(a) / a + torch.log(a) + torch.sqrt(b) + torch.exp(-a)
        loss = F.cross_entropy(a, b) + F.nll_loss(net(a), y) + a + quotient.sum()
        hidden = torch.softmax(x.masked_fill(a, -1e9), a)
        total += loss.item()
        (loss / a).backward()
        a.backward()
        optimizer.step()
        schedule.step()
    print(total / len(chosen), a)
    net.eval()
    for x, y in DataLoader(chosen, b):
        print((net(a).argmax(b) == a).float().mean())
"""
ASKED_IN_MINDSPORE = """
import mindspore as ms
import mindspore.dataset as ds
from mindspore import nn, ops
from mindspore.dataset import transforms
{growing}
data = ds.GeneratorDataset(a, a).map([a, b], "x").shuffle(a).batch(b, per_batch_map=a)
other = ds.NumpySlicesDataset(a, b).map(transforms.Compose(a), a).padded_batch(4, pad_info=b)
net = nn.SequentialCell([nn.Conv2d(1, 2, a, b), nn.Dropout(a), nn.Dense(a, b, weight_init=a)])
ms.load_param_into_net(net, ms.load_checkpoint(a))
optimizer = nn.Momentum(net.trainable_params(), a, b)
loss_fn = nn.CrossEntropyLoss(reduction=a)
def forward(x, y):
    return loss_fn(net(x), a) + ops.exp(a) / b + ops.cross_entropy(a, b)
grad = ms.value_and_grad(forward, None, optimizer.parameters)
for x, y in data:
    optimizer(ops.clip_by_global_norm(grad(x, y)[1], a))
model = ms.Model(net, loss_fn, optimizer, metrics=a)
model.train(a, other, callbacks=a)
"""


def again(line: str, begin: str = "torch.randn(4)") -> str:
    """Two names, each made from itself forty times over."""
    return "import torch\na = b = " + begin + "\n" + "".join(line.replace("@", name) + "\n" for name in "ab" * 40)


def afterwards(line: str, new: str) -> str:
    """Containers that are empty when they are put into one another, and are filled later."""
    made = "".join(f"l{at} = {new}\n" for at in range(40))
    filled = "".join(line.format(outer=f"l{at}", inner=f"l{at + 1}") + "\n" for at in range(39))
    return made + filled + "a, b = l0, l1"


MADE_OF_ITSELF = {
    "lists in each other": "a = []\nb = []\na.append(b)\nb.append(a)\na.append(0.1)",
    "list in itself": "a = b = [0.1]\na.append(a)\na.append(a)",
    "dicts in each other": "a = {}\nb = {}\na['x'] = a['y'] = b\nb['x'] = b['y'] = a",
    "elements": "a = [0, 0]\nb = [0, 0]\na[0] = a[1] = b\nb[0] = b[1] = a",
    "objects": "class C: pass\na = b = C()\n" + "c = C()\nc.x = c.y = a\na.z = c\na = c\n" * 40,
    "filled lists": afterwards("{outer}.append({inner})\n{outer}.append({inner})", "[]"),
    "filled dicts": afterwards("{outer}['x'] = {inner}\n{outer}['y'] = {inner}", "{}"),
    "lists": again("@ = [@, @]", "[0.1]"),
    "tuples": again("@ = (@, @, @, @)", "(0.1, 0.2)"),
    "dicts": again("@ = {'x': @, 'y': @}", "{}"),
    "choices": again("@ = [@, @] if unknown() else (@, @)"),
    "sums": again("@ = @ + @"),
    "products": again("@ = @ * @", "0.5 * unknown()"),
    "powers": again("@ = @ ** @"),
    "comparisons": again("@ = (@ < @) & ~(@ == @)"),
    "ranks": again("@ = int(@ + @)", "int(__import__('os').environ['RANK'])"),
    "elements of itself": again("@ = @[@, @]"),
    "slices": again("@ = @[@:@]"),
    "texts": again("@ = f'{@}/{@}'", "unknown()"),
    "calls": again("@ = torch.clamp(torch.cat([@, @]), @, @)"),
    "logarithms": again("@ = torch.log(torch.exp(@) + @) * @"),
    "transforms": "from torchvision import transforms as t\n" + again("@ = t.Compose([@, @])", "t.ToTensor()"),
    "subsets": again("@ = torch.utils.data.Subset(@, @)"),
    "pairs": again("@ = zip(@, @)", "[0.1]"),
    "joined": "import os\n" + again("@ = os.path.join(@, @)", "unknown()"),
    "long": "a = b = unknown()\n" + "a = a + 1\n" * 800 + "b = [a]",
}  # fmt: skip
CHECKING = """
import json, resource, signal, sys
from pathlib import Path
from trueline.checks.engine.checklist import chosen, fill_in
from trueline.checks.engine.gathering import Gathered

signal.signal(signal.SIGVTALRM, lambda *_: sys.exit("not bounded"))
path = Path("train.py")
checks = chosen([], [])
for name, text in json.load(sys.stdin):
    path.write_text(text, "utf-8")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    signal.setitimer(signal.ITIMER_VIRTUAL, 30)
    gathered = Gathered()
    gathered.add(["train.py"])
    gathered.add(["train.py"], "bench_")
    rows = fill_in(checks, gathered.evidence).rows
    spent = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
    print(json.dumps([name, len(rows), spent]), flush=True)
"""


def test_values_made_of_themselves_are_checked_in_the_time_of_plain_ones(tmp_path: Path) -> None:
    plain = "a = b = 0.5\n" + "c = [a, b]\n" * 200
    programs = [
        (f"{name} {asked.split()[1]}", asked.format(growing=growing))
        for name, growing in {"first": plain, "plain": plain, **MADE_OF_ITSELF}.items()
        for asked in (ASKED, ASKED_IN_MINDSPORE)
    ]
    done = subprocess.run(
        [sys.executable, "-c", CHECKING],
        input=json.dumps(programs),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(programs), (programs[len(answers)][0], done.stderr)
    allowed = 40 * max(seconds for name, _, seconds in answers if name.startswith("plain"))
    assert [(name, seconds) for name, _, seconds in answers if seconds > allowed] == []
    assert {count for _, count, _ in answers} == {answers[0][1]}


def test_a_question_is_asked_once_of_each_value() -> None:
    from trueline.script.walking import walk, walk_each

    visits = 0

    @walk(None)
    def number(value: Seq | Const) -> int | None:
        nonlocal visits
        visits += 1
        if isinstance(value, Const):
            return 1
        parts = [number(part) for part in value.items]  # type: ignore[arg-type]
        return None if None in parts else sum(part for part in parts if part is not None)

    @walk_each("cut")
    def texts(value: Seq | Const) -> Iterator[str]:
        nonlocal visits
        visits += 1
        if isinstance(value, Const):
            yield value.value
        else:
            for part in value.items:
                yield from texts(part)  # type: ignore[arg-type]

    shared: Seq | Const = Const("x")
    for _ in range(60):
        shared = Seq("list", [shared, shared])
    assert number(shared) == 2**60 and visits == 61
    assert texts(Seq("list", [Const("x"), Const("y"), Const("x")])) == ("x", "y", "x")
    assert set(texts(shared)) == {"x", "cut"} and len(texts(shared)) < 2_100
    itself = Seq("list", [Const("x")])
    itself.items.append(itself)
    assert number(itself) is None and texts(itself) == ("x", "cut")
    deep: Seq | Const = Const("x")
    for _ in range(5_000):
        deep = Seq("list", [deep])
    assert number(deep) is None and texts(deep) == ("cut",)
    assert number(Const("x")) == 1

"""What is run of a script that works when it is imported: the definitions that the asked name needs."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest

from trueline.adapters.guest.definitions.modules import OwnModules
from trueline.adapters.guest.definitions.plan import Plan


def _plan(folder: Path, code: str, name: str = "Net", **others: str) -> Plan | None:
    for other, text in others.items():
        (folder / f"{other}.py").write_text(textwrap.dedent(text), encoding="utf-8")
    file = folder / "script.py"
    file.write_text(textwrap.dedent(code), encoding="utf-8")
    modules = OwnModules([folder])
    modules.follow(file, name)
    return modules.plan(file)


def _text(plan: Plan | None) -> str:
    assert plan is not None
    return ast.unparse(plan.tree)


TRAINING = "\nfor epoch in range(3):\n    loss = model(x)\n    loss.backward()\n"


@pytest.mark.parametrize(
    "code",
    [
        "import torch\nclass Net: ...",
        "import torch\nNAMES = {}\nfor name in ('a', 'b'):\n    NAMES[name] = name.upper()\nclass Net: ...",
        "import torch\nclass Net: ...\nmodel = Net()\nprint(model(torch.ones(1)))\nmodel.train()\nmodel.eval()",
        "class Net: ...\nif __name__ == '__main__':\n    Net().backward()\n    import sys\n    sys.exit(main())",
        "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--width', type=int, default=3)\n"
        "args = parser.parse_args([])\nargs = parser.parse_args()\nclass Net: ...",
        "def register(make):\n    MODELS.append(make)\n    return make\nMODELS = []\n@register\ndef Net(): ...\n",
        "import sys\nif sys.version_info < (3,):\n    sys.exit('too old')\nclass Net: ...",
        "def train(model):\n    model().backward()\nclass Net: ...",
        "T = []\nfor turn in range(5000):\n    T.append(str(turn))\nclass Net:\n    def __init__(self): self.t = T",
        "with open('classes.txt') as file:\n    CLASSES = file.read()\nclass Net: ...",
        "import os\nos.system('cc fast.c')\nclass Net: ...",
        "class Net(:",
    ],
)
def test_a_module_that_only_defines_is_imported_as_ever(tmp_path: Path, code: str) -> None:
    assert _plan(tmp_path, code) is None


@pytest.mark.parametrize(
    ("code", "call"),
    [
        ("model = Net()\nloss = model(1)\nloss.backward()", "loss.backward"),
        ("model = Net()\nmodel.fit(1, 2)", "model.fit"),
        ("model = Model(Net())\nmodel.train(3, dataset)", "model.train"),
        ("from mindspore import nn\noptimizer = nn.SGD(Net().get_parameters())\noptimizer(grads)", "optimizer"),
        ("import sys\nsys.exit(3)", "sys.exit"),
        ("get_ipython().system('pip install x')", "get_ipython"),
        ("import os\nos.makedirs('out')", "os.makedirs"),
        ("open('log.txt', 'w').write('x')", "open"),
        ("import torch\ntorch.save(Net(), 'x.pt')", "torch.save"),
        ("from torchvision import datasets as sets\ndata = sets.CIFAR10('.')", "torchvision.datasets.CIFAR10"),
        ("import mindspore.dataset as ds\ndata = ds.Cifar10Dataset('.')", "mindspore.dataset.Cifar10Dataset"),
        ("from urllib import request\nrequest.urlretrieve('http://x', 'x')", "urllib.request.urlretrieve"),
        ("import torch.distributed as dist\ndist.init_process_group()", "torch.distributed.init_process_group"),
        ("data = Images('.', download=True)", "Images"),
        ("while True:\n    print(1)", "while"),
        ("def main():\n    inner()\ndef inner():\n    loss().backward()\nmain()", "main"),
        (
            "class Loop:\n    def run(self):\n        self.go()\n    def go(self):\n        x.backward()\nLoop().run()",
            "run",
        ),
        ("class Data(Dataset): ...\ndata = Data()", "Data"),
        (
            "import argparse\np = argparse.ArgumentParser()\np.add_argument('data')\nargs = p.parse_args()",
            "p.parse_args",
        ),
    ],
)
def test_work_at_module_level_is_left_out(tmp_path: Path, code: str, call: str) -> None:
    plan = _plan(tmp_path, f"class Net:\n    width = 3\n{code}\n")
    assert "width = 3" in _text(plan)
    assert plan is not None and plan.work.call == call
    compile(plan.tree, "script.py", "exec")


def test_constants_that_a_class_needs_are_kept_and_no_others(tmp_path: Path) -> None:
    text = _text(
        _plan(
            tmp_path,
            """
            WIDTH = 8
            HALF = WIDTH // 2
            UNUSED = big_thing()
            class Base:
                size = HALF
            class Net(Base):
                def __init__(self):
                    self.depth = DEPTH
            DEPTH = int("3")
            UNUSED.backward()
            """,
        )
    )
    for kept in ("WIDTH = 8", "HALF =", "DEPTH ="):
        assert kept in text
    assert "UNUSED" not in text


def test_a_model_made_by_a_statement_takes_its_chain_and_no_more(tmp_path: Path) -> None:
    code = """
        layers = []
        for size in (3, 4):
            layers.append(make(size))
        model = Net(layers)
        model.head = make(5)
        optimizer = Adam(model.parameters())
        model.load_state_dict(read("old.pth"))
        """
    text = _text(_plan(tmp_path, textwrap.dedent(code) + TRAINING, "model"))
    for kept in ("layers = []", "layers.append", "model = Net(layers)", "model.head ="):
        assert kept in text
    for left in ("optimizer", "load_state_dict", "backward"):
        assert left not in text


def test_lines_keep_their_numbers_and_what_was_left_out_is_told_by_them(tmp_path: Path) -> None:
    plan = _plan(tmp_path, "x = start()\n\n\nclass Net: ...\n\n\ny = x()\n\n# then\ny.backward()\ny.step()\n")
    assert plan is not None
    assert [(node.lineno, type(node).__name__) for node in plan.tree.body] == [(4, "ClassDef")]
    assert plan.lines == ((1, 1), (7, 11))
    assert plan.lost == {"x": 1, "y": 7}


def test_what_training_sets_anew_is_told(tmp_path: Path) -> None:
    code = """
        scale = 1.0
        class Net:
            def __call__(self): return scale
        def train():
            global scale
            scale = loss().backward()
        train()
        """
    plan = _plan(tmp_path, code)
    assert plan is not None and plan.stale == {"scale": 8}


def test_what_only_training_makes_is_lost_and_so_is_what_is_made_of_it(tmp_path: Path) -> None:
    code = """
        def train(): return loss().backward()
        history = train()
        best = max(history)
        class Net:
            def __call__(self): return best
        """
    plan = _plan(tmp_path, code)
    assert plan is not None and plan.lost == {"history": 3, "best": 4}


def test_data_that_the_network_needs_is_read_and_else_not(tmp_path: Path) -> None:
    data = "from torchvision import datasets\nCLASSES = 10\ntrain_set = datasets.MNIST('.', download=True)\n"
    needs = "from data import train_set, CLASSES\ndef Net(): return len(train_set.classes)\n"
    free = "from data import train_set, CLASSES\ndef Net(): return CLASSES\n"
    for code, wanted in ((needs, True), (free, False)):
        modules_folder = tmp_path / str(wanted)
        modules_folder.mkdir()
        script = _plan(modules_folder, code + "train_set.fit(1)\n", data=data)
        modules = OwnModules([modules_folder])
        modules.follow(modules_folder / "script.py", "Net")
        beside = modules.plan(modules_folder / "data.py")
        assert (beside is None) is wanted
        assert ("train_set" in _text(script).partition("def")[0]) is wanted


def test_imports_of_packages_that_are_not_there_are_needed_or_left_out(tmp_path: Path) -> None:
    code = "import no_such_logger\nimport os\nfrom no_such_helper import use\nclass Net: ...\nuse()\nx.backward()\n"
    text = _text(_plan(tmp_path, code))
    assert "no_such" not in text and "import os" in text
    assert "import no_such_logger" in _text(_plan(tmp_path, code + "class Net:\n    x = no_such_logger.x\n"))


def test_what_the_user_s_own_modules_do_counts(tmp_path: Path) -> None:
    engine = "def train(model):\n    model().backward()\n"
    plan = _plan(tmp_path, "from engine import train\nclass Net: ...\ntrain(Net())\n", engine=engine)
    assert plan is not None and plan.lines == ((3, 3),)


def test_conditions_around_work_keep_what_defines(tmp_path: Path) -> None:
    code = """
        try:
            import fast
        except ImportError:
            fast = None
        if fast is None:
            def act(x): return x
            print(act(1).backward())
        else:
            act = fast.act
        class Net:
            f = act
        with log() as out:
            out.backward()
        """
    text = _text(_plan(tmp_path, code))
    for kept in ("import fast", "fast = None", "def act", "act = fast.act"):
        assert kept in text
    assert "backward" not in text


def test_settings_of_frameworks_and_of_python_stay(tmp_path: Path) -> None:
    code = """
        import os, torch
        os.environ["A"] = "1"
        torch.set_default_dtype(torch.float64)
        torch.backends.cudnn.benchmark = True
        torch.manual_seed(args.seed)
        class Net: ...
        """
    text = _text(_plan(tmp_path, textwrap.dedent(code) + "args = parse()\nargs.backward()\n"))
    for kept in ("os.environ", "set_default_dtype", "benchmark"):
        assert kept in text
    assert "manual_seed" not in text

"""Whatever goes wrong in a side's process is one line that names the side; none of it reaches this process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest
from pair.sides import side_of

from trueline.adapters.guest.trouble import SideTrouble


def _trouble(folder: Path, text: str, code: str = "", **options: object) -> SideTrouble:
    (folder / "mine.py").write_text(textwrap.dedent(code), encoding="utf-8")
    with side_of(text, folder, **options) as side, pytest.raises(SideTrouble) as caught:
        side.describe()
    assert str(caught.value).startswith(f"{text}: ")
    assert "\n" not in str(caught.value)
    assert "{" not in str(caught.value).replace("{}", "")
    return caught.value


@pytest.mark.parametrize(
    ("text", "code", "id", "says"),
    [
        ("absent:net", "", "side.no_module", "absent"),
        ("mine.absent:net", "", "side.no_module", "mine.absent"),
        ("absent.py:net", "", "side.no_file", "absent.py"),
        ("mine:net", "def nets(): ...", "side.no_factory_near", "nets"),
        ("mine:net", "", "side.no_factory", "net"),
        ("mine:Maker.make", "class Maker: ...", "side.no_factory", "Maker.make"),
        ("mine:net", "import no_such_package", "side.no_package", "no_such_package"),
        ("mine.py:net", "import no_such_package", "side.no_package", "no_such_package"),
        ("mine:net", "x = 1\ny = 1 / 0", "side.raised_importing", "ZeroDivisionError: division by zero (mine.py:2)"),
        ("mine:net", "def net(:", "side.raised_importing", "(mine.py:1)"),
        ("mine:net", "raise SystemExit(3)", "side.exits_importing", "exit code 3 (mine.py:1)"),
        ("mine:net", "import sys\ndef net():\n    sys.exit(5)", "side.exits_building", "exit code 5 (mine.py:3)"),
        ("mine:net", "def net(): quit()", "side.exits_building", "exit code 0 (mine.py:1)"),
        ("mine:net", "import sys\ndef net(): sys.exit('no data')", "side.exits_building", "code 1, no data (mine"),
        (
            "mine:net",
            "import json\ndef net():\n    return deeper()\ndef deeper():\n    json.loads('{')",
            "side.raised_building",
            "(mine.py:5)",
        ),
        ("mine:net", "def net():\n    raise ValueError('first\\nsecond')", "side.raised_building", "ValueError: first"),
        ("mine:net", "def net():\n    raise ValueError", "side.raised_building", "ValueError"),
        (
            "mine:net",
            "class Odd(BaseException):\n    def __str__(self): return 1 / 0\ndef net(): raise Odd",
            "side.raised_building",
            "Odd: (ZeroDivisionError in __str__) (mine.py:3)",
        ),
        ("mine:net", "def net(): return {'model': 1}", "side.no_model", "dict"),
        ("mine:net", "def net(): return None", "side.no_model", "NoneType"),
        ("mine:net", "net = 5", "side.no_model", "int"),
        ("mine:net", "def net(depth, *, width): ...", "side.needs_arguments", "depth, width"),
        ("mine:net", "import os\ndef net(): os._exit(7)", "side.died_code", "7"),
        ("mine:net", "def net():\n    import os\n    print('almost')\n    os._exit(0)", "side.died_code", "almost"),
        ("mine:net", "def net():\n    import ctypes\n    ctypes.string_at(0)", "side.died_signal", "SIGSEGV"),
        ("mine:net", "def net():\n    import os\n    os.kill(os.getpid(), 9)", "side.died_killed", "memory"),
    ],
)
def test_each_failure_is_one_line(tmp_path: Path, text: str, code: str, id: str, says: str) -> None:
    trouble = _trouble(tmp_path, text, code)
    assert trouble.message.id == id
    assert says in str(trouble)


def test_a_framework_that_is_not_there_is_named(tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(bare)], check=True)
    packages = next((bare / "lib").glob("python*/site-packages"))
    for name in ("numpy", "numpy.libs", "ml_dtypes"):
        here = Path(np.__file__).parents[1] / name
        if here.exists():
            (packages / name).symlink_to(here)
    trouble = _trouble(tmp_path, "mine:net", "import torch", python=bare / "bin" / "python")
    assert trouble.message.id == "side.no_framework"
    assert "torch" in str(trouble)
    assert str(bare) in str(trouble)


def test_closing_pipes_that_are_not_one_s_own(tmp_path: Path) -> None:
    trouble = _trouble(tmp_path, "mine:net", "import os\ndef net():\n    os.closerange(3, 4096)\n    while 1: pass")
    assert trouble.message.id in ("side.garbled", "side.died_code")


def test_no_interpreter(tmp_path: Path) -> None:
    with pytest.raises(SideTrouble) as caught:
        side_of("mine:net", tmp_path, python=tmp_path / "python9")
    assert caught.value.message.id == "side.no_python"


def test_an_interpreter_that_is_none(tmp_path: Path) -> None:
    trouble = _trouble(tmp_path, "mine:net", python="/bin/true")
    assert trouble.message.id == "side.died_code"


def test_time_runs_out_only_where_asked(tmp_path: Path) -> None:
    trouble = _trouble(tmp_path, "mine:net", "import time\ndef net(): time.sleep(60)", timeout=1.0)
    assert trouble.message.id == "side.timeout"


def test_what_was_printed_is_kept_with_the_trouble(tmp_path: Path) -> None:
    code = """
        import os, sys
        print("to stdout"); os.write(1, b'{"arrays": []}\\n'); print("to stderr", file=sys.stderr)
        os.system("echo from a program")
        def net():
            raise RuntimeError("no")
    """
    trouble = _trouble(tmp_path, "mine:net", code)
    assert trouble.message.id == "side.raised_building"
    for text in ("to stdout", "to stderr", "from a program", 'raise RuntimeError("no")'):
        assert text in trouble.output


def test_much_output_does_not_stop_a_side(tmp_path: Path) -> None:
    code = "import sys\ndef net():\n    for _ in range(4000): print('x' * 1000)\n    raise RuntimeError('the end')"
    trouble = _trouble(tmp_path, "mine:net", code)
    assert "the end" in str(trouble)
    assert len(trouble.output) < 100_000


def test_a_broken_side_says_the_same_again(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def net(): raise RuntimeError('no')")
    with side_of("mine:net", tmp_path) as side:
        for _ in range(2):
            with pytest.raises(SideTrouble, match="RuntimeError: no"):
                side.forward([])


def test_the_user_s_world_is_as_if_started_there(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "helper.py").write_text("NAME = 'helper'")
    (inside / "my-net.py").write_text(
        "import os, sys, helper\n"
        "def net(): raise RuntimeError(f'{os.getcwd()} {sys.argv} {helper.NAME} {sys.stdin.read()!r} {__name__}')"
    )
    trouble = _trouble(tmp_path, "inside/my-net.py:net")
    assert f"{tmp_path} ['inside/my-net.py'] helper '' user_file_my-net" in str(trouble)


def test_a_file_in_a_package_may_import_its_neighbours(tmp_path: Path) -> None:
    package = tmp_path / "pkg" / "nets"
    package.mkdir(parents=True)
    (tmp_path / "pkg" / "__init__.py").touch()
    (package / "__init__.py").touch()
    (package / "parts.py").write_text("WIDTH = 7")
    (package / "net.py").write_text("from .parts import WIDTH\ndef net(): raise RuntimeError(f'width {WIDTH}')")
    assert "width 7" in str(_trouble(tmp_path, "pkg/nets/net.py:net"))


def test_a_file_may_be_called_like_a_module_of_python_s(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("def net(): raise RuntimeError('mine')")
    trouble = _trouble(tmp_path, "json.py:net")
    assert "mine" in str(trouble)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # One that nobody has waited for yet is there and yet gone.
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def _gone_soon(*pids: int) -> bool:
    end = time.monotonic() + 10
    while time.monotonic() < end:
        if not any(_alive(pid) for pid in pids):
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_no_process_outlives_its_parent(tmp_path: Path, how: signal.Signals) -> None:
    (tmp_path / "mine.py").write_text(
        "import os, time\n"
        "def net():\n"
        "    child = os.fork()\n"
        "    if child: open('pids', 'w').write(f'{os.getpid()} {child} ')\n"
        "    while True: time.sleep(0.1)\n"
    )
    program = (
        "from trueline.pair.sides.side import Side\nfrom trueline.adapters.guest.entry import Entry\n"
        "with Side.start(Entry.parse('mine:net')) as side: side.ready()"
    )
    # A session of its own: the signal is for this parent alone.
    parent = subprocess.Popen(
        [sys.executable, "-c", program], cwd=tmp_path, stderr=subprocess.DEVNULL, start_new_session=True
    )
    pids = tmp_path / "pids"
    end = time.monotonic() + 20
    while time.monotonic() < end and not (pids.exists() and pids.read_text().count(" ") == 2):
        time.sleep(0.05)
    parent.send_signal(how)
    parent.wait(10)
    assert _gone_soon(*(int(pid) for pid in pids.read_text().split()))


def test_closing_ends_the_process_whatever_it_does(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def net():\n    while True: pass")
    side = side_of("mine:net", tmp_path)
    side.close()
    side.close()
    assert not _alive(side.pid)

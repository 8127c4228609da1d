"""``trueline run --manifest`` lists what a script really opens, in all its processes, and nothing else."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from launching import IN_ORDER, script, trueline

from trueline.data.manifest.of_run import opened_by
from trueline.formats.manifest.json_form import read_manifest


def opened(run: Path) -> list[str]:
    """The names in the hashed list."""
    return list(read_manifest(run / "manifest.json").paths)


def numbers(folder: Path, count: int = 6) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for place in range(count):
        np.save(folder / f"{place}.npy", np.full(4, place, np.float32))


def run(folder: Path, text: str, *options: str, **more: Any) -> str:
    """Run a script with --manifest; what TrueLine said."""
    done = trueline("run", "--manifest", "-o", "run", *options, script(folder, text), cwd=folder, **more)
    assert done.returncode == 0, done.stderr
    return done.stderr


EVERY_WAY = """
import gzip, io, json, os, shutil, sqlite3, sys, zipfile
from pathlib import Path
import numpy as np

def main():
    open("data/open.txt").read()
    Path("data/path.txt").read_bytes()
    os.close(os.open("data/os_open.txt", os.O_RDONLY))
    io.FileIO("data/fileio.txt").read()
    open(b"data/bytes.txt").close()
    np.load("data/numpy.npy")
    np.memmap("data/mapped.bin", np.uint8)
    np.memmap("data/mapped_r.bin", np.uint8, mode="r")
    zipfile.ZipFile("data/archive.zip").read("inner")
    sqlite3.connect("data/base.db").execute("select 1")
    shutil.copy("data/copied.txt", "data/copy.txt")
    open("data/copy.txt").read()
    os.chdir("data")
    open("after_chdir.txt").read()
    open("../data/./dots.txt").read()
    os.chdir("..")
    with open("data/written.txt", "w") as file:
        file.write("1")
    open("data/written.txt").read()
    with open("data/part.tmp", "w") as file:
        file.write("1")
    os.rename("data/part.tmp", "data/renamed.txt")
    open("data/renamed.txt").read()
    with open("data/appended.txt", "a") as file:
        file.write("1")
    import helper
    json.__file__ and open(json.__file__).read()
    open("/proc/self/status").read()
    open("/etc/hostname").read() if os.path.exists("/etc/hostname") else None
    open("data/gone.txt").read()
    os.unlink("data/gone.txt")
    try:
        open("data/never.txt")
    except FileNotFoundError:
        pass
    os.listdir("data/folder")

main()
"""
READ = [
    "after_chdir.txt", "archive.zip", "base.db", "bytes.txt", "copied.txt", "dots.txt", "fileio.txt", "mapped.bin",
    "mapped_r.bin", "numpy.npy", "open.txt", "os_open.txt", "path.txt",
]  # fmt: skip


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """One file for each way to open one, and some that nobody opens."""
    import sqlite3
    import zipfile

    folder = tmp_path / "data"
    (folder / "folder").mkdir(parents=True)
    for name in (*READ, "unused.txt", "gone.txt", "appended.txt"):
        (folder / name).write_text(name)
    (folder / "base.db").unlink()
    sqlite3.connect(folder / "base.db").execute("create table t (x)").connection.close()
    np.save(folder / "numpy.npy", np.zeros(3))
    with zipfile.ZipFile(folder / "archive.zip", "w") as archive:
        archive.writestr("inner", "1")
    (tmp_path / "helper.py").write_text("x = 1")
    return folder


def test_every_way_to_open_a_file_is_heard_and_nothing_else(tmp_path: Path, data: Path) -> None:
    said = run(tmp_path, EVERY_WAY)
    assert opened(tmp_path / "run") == [f"data/{name}" for name in READ]
    found = read_manifest(tmp_path / "run" / "manifest.json")
    assert {one.path: one.reason for one in found.unread} == {"data/gone.txt": "vanished"}
    assert "13 files were opened" in said
    assert sorted(one.name for one in (tmp_path / "run").iterdir()) == ["manifest.json", "rank-00000"]


def test_below_a_root_names_are_its_own_and_the_system_agrees_with_python(tmp_path: Path, data: Path) -> None:
    (tmp_path / "beside.txt").write_text("1")
    run(tmp_path, EVERY_WAY + '\nopen("beside.txt").read()', "--data-root", "data")
    assert opened(tmp_path / "run") == READ
    done = trueline("data", "diff", "data", "run", "--json", cwd=tmp_path)
    answer = json.loads(done.stdout)
    missing = [one["path"] for one in answer["differences"][0]["missing"]]
    assert missing == ["appended.txt", "copy.txt", "renamed.txt", "unused.txt", "written.txt"]


def test_what_a_program_opens_that_is_not_python_is_heard_below_a_root(tmp_path: Path) -> None:
    numbers(tmp_path / "data" / "deep" / "er")
    text = 'import subprocess\nsubprocess.run(["cat", "data/deep/er/3.npy"], stdout=subprocess.DEVNULL, check=True)'
    run(tmp_path, text, "--data-root", "data")
    assert opened(tmp_path / "run") == ["deep/er/3.npy"]


WORKERS = """
import multiprocessing, sys
from concurrent.futures import ProcessPoolExecutor

def read(place):
    with open(f"data/{place}.npy", "rb") as file:
        return len(file.read())

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    for _ in range(2):
        with ProcessPoolExecutor(2, mp_context=context) as pool:
            assert sum(pool.map(read, range(1, 5))) == 4 * 144
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_are_heard_however_they_are_started(tmp_path: Path, method: str) -> None:
    numbers(tmp_path / "data")
    script(tmp_path, WORKERS)
    done = trueline("run", "--manifest", "-o", "run", "train.py", method, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert opened(tmp_path / "run") == [f"data/{place}.npy" for place in range(1, 5)]


def test_a_script_that_closes_what_it_does_not_know_loses_nothing(tmp_path: Path) -> None:
    numbers(tmp_path / "data")
    text = """
import os
os.closerange(3, 100)
kept = open("own.txt", "w+")
for place in range(3):
    open(f"data/{place}.npy", "rb").read()
kept.write("mine")
kept.close()
assert open("own.txt").read() == "mine"
"""
    run(tmp_path, text)
    assert opened(tmp_path / "run") == [f"data/{place}.npy" for place in range(3)]


def test_a_list_that_cannot_be_written_stops_no_script(tmp_path: Path) -> None:
    numbers(tmp_path / "data")
    text = """
import shutil
open("data/0.npy", "rb").read()
shutil.rmtree("run")
print(len(open("data/1.npy", "rb").read()))
"""
    done = trueline("run", "--manifest", "-o", "run", script(tmp_path, text), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "144\n")
    assert done.stderr.count("the list of opened files ends here") == 1


def test_the_answer_says_where_the_list_is(tmp_path: Path) -> None:
    numbers(tmp_path / "data")
    text = 'open("data/0.npy", "rb").read()'
    done = trueline("run", "--manifest", "-o", "run", "--json", "-", script(tmp_path, text), cwd=tmp_path)
    assert json.loads(done.stdout)["manifest"] == {
        "files": 1,
        "bytes": 144,
        "hashes": ["md5", "xxh3_128"],
        "file": str(tmp_path / "run" / "manifest.json"),
    }


def test_a_killed_run_leaves_the_list_up_to_then(tmp_path: Path) -> None:
    numbers(tmp_path / "data")
    text = """
import os, signal
for place in range(3):
    open(f"data/{place}.npy", "rb").read()
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = trueline("run", "--manifest", "-o", "run", script(tmp_path, text), cwd=tmp_path)
    assert done.returncode == -signal.SIGKILL
    (found,) = opened_by(tmp_path / "run")
    assert found.paths == ["data/0.npy", "data/1.npy", "data/2.npy"]
    done = trueline("data", "manifest", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert opened(tmp_path / "run") == ["data/0.npy", "data/1.npy", "data/2.npy"]


LAUNCHER = """#!{python}
import os, subprocess, sys
ranks = [
    subprocess.Popen([sys.executable, *sys.argv[1:]], env=dict(os.environ, RANK=str(rank), WORLD_SIZE="2"))
    for rank in range(2)
]
sys.exit(max(one.wait() for one in ranks))
"""
SHARD = """
import os
rank = int(os.environ["RANK"])
for place in range(rank, 6, 2):
    open(f"data/{place}.npy", "rb").read()
"""


@pytest.mark.parametrize("roots", [(), ("--data-root", "data")])
def test_every_rank_has_its_list_and_all_are_joined(tmp_path: Path, roots: tuple[str, ...]) -> None:
    numbers(tmp_path / "data")
    launcher = tmp_path / "launch"
    launcher.write_text(LAUNCHER.format(python=sys.executable))
    launcher.chmod(0o755)
    script(tmp_path, SHARD, "shard.py")
    done = trueline("run", "--manifest", *roots, "-o", "run", "./launch", "shard.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    base = "" if roots else "data/"
    assert opened(tmp_path / "run") == [f"{base}{place}.npy" for place in range(6)]
    second = read_manifest(tmp_path / "run" / "rank-00001" / "opened.json")
    assert second.paths == [f"{base}{place}.npy" for place in (1, 3, 5)]
    assert second.times is not None
    assert not list((tmp_path / "run").glob(".*"))


def test_ranks_inside_a_launcher_each_write_their_list(tmp_path: Path) -> None:
    numbers(tmp_path / "data")
    script(tmp_path, SHARD, "shard.py")
    for rank in range(2):
        done = trueline(
            "run", "--manifest", "-o", "run", "shard.py", cwd=tmp_path, env={"RANK": str(rank), "WORLD_SIZE": "2"}
        )
        assert done.returncode == 0, done.stderr
    assert not (tmp_path / "run" / "manifest.json").exists()
    done = trueline("data", "manifest", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert opened(tmp_path / "run") == [f"data/{place}.npy" for place in range(6)]


MINDSPORE = """
import mindspore as ms, mindspore.dataset as ds
from mindspore import nn
data = ds.ImageFolderDataset("data", decode=True, shuffle=False, num_samples=3)
data = data.map(lambda x: x.reshape(-1)[:4].astype("float32"), "image").map(lambda x: x.astype("int32"), "label")
net = nn.Dense(4, 2)
optimizer = nn.SGD(net.trainable_params(), 0.1)
gradients = ms.value_and_grad(lambda x, y: nn.CrossEntropyLoss()(net(x), y), None, optimizer.parameters)
for x, y in data.batch(1).create_tuple_iterator():
    optimizer(gradients(x, y)[1])
"""


def test_readers_in_c_are_heard_below_a_root(tmp_path: Path) -> None:
    from PIL import Image

    for kind in "ab":
        (tmp_path / "data" / kind).mkdir(parents=True)
        for place in range(2):
            Image.new("RGB", (4, 4), (place, 1, 2)).save(tmp_path / "data" / kind / f"{place}.png")
    run(tmp_path, MINDSPORE, "--data-root", "data", env=IN_ORDER)
    found = read_manifest(tmp_path / "run" / "manifest.json")
    assert found.paths == ["a/0.png", "a/1.png", "b/0.png"]
    assert not found.named


def test_a_root_that_is_not_there_is_bad_usage(tmp_path: Path) -> None:
    done = trueline("run", "--data-root", "gone", "-o", "run", script(tmp_path, ""), cwd=tmp_path)
    assert done.returncode == 2
    assert "--data-root gone" in done.stderr


def test_without_the_option_nothing_is_listed(tmp_path: Path) -> None:
    text = 'import sys\nopen("train.py").read()\nassert "trueline.record.opened" not in sys.modules'
    done = trueline("run", "-o", "run", script(tmp_path, text), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "run").exists()


def test_the_sitecustomize_of_a_worker_is_still_run(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "sitecustomize.py").write_text("import builtins\nbuiltins.mine = 7")
    text = 'import subprocess, sys\nsubprocess.run([sys.executable, "-c", "print(mine)"], check=True)'
    from os import environ, pathsep

    paths = pathsep.join([str(tmp_path / "own"), *filter(None, [environ.get("PYTHONPATH")])])
    done = trueline("run", "--manifest", "-o", "run", script(tmp_path, text), cwd=tmp_path, env={"PYTHONPATH": paths})
    assert done.stdout == "7\n", done.stderr


def test_a_run_copied_elsewhere_still_has_its_list(tmp_path: Path) -> None:
    numbers(tmp_path / "data")
    run(tmp_path, 'open("data/0.npy", "rb").read()')
    (tmp_path / "data").rename(tmp_path / "moved")
    (found,) = opened_by(tmp_path / "run")
    assert found.digest("md5", 0) is not None
    done = trueline("data", "manifest", "run", cwd=tmp_path)
    assert done.returncode == 2
    assert "none of the files is on this machine (data/0.npy" in done.stderr


def test_what_has_changed_since_the_run_is_said(tmp_path: Path) -> None:
    numbers(tmp_path / "data")
    run(tmp_path, 'open("data/0.npy", "rb").read()')
    np.save(tmp_path / "data" / "0.npy", np.zeros(9))
    done = subprocess.run(
        [sys.executable, "-m", "trueline", "data", "manifest", "run"], cwd=tmp_path, capture_output=True, text=True
    )
    assert "1 file has changed since the run: data/0.npy" in done.stdout

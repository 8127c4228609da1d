"""Starts a process in many ways, each looked at by itself, and prints what is said of it."""

import concurrent.futures
import json
import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

from trueline.record.started_processes import StartedProcesses

CHILD = "import sys, torch, time; time.sleep(1)"
PYTHON = [sys.executable, "-c", CHILD]
SHELL = f"{sys.executable} -c '{CHILD}'"


def load(_: int = 0) -> None:
    exec(CHILD)


def forked(then: list[str]) -> None:
    child = os.fork()
    if not child:
        if then:
            os.execv(then[0], then)
        subprocess.run(PYTHON, check=True)
        os._exit(0)
    os.waitpid(child, 0)


def left_alone() -> None:
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    os.system(f"{SHELL} &")
    os.close(writing)
    # At its end, however long the imports took on a busy machine.
    os.read(reading, 1)
    os.close(reading)


def still_importing() -> None:
    subprocess.Popen(PYTHON)


def pooled(context: str) -> None:
    with multiprocessing.get_context(context).Pool(1) as pool:
        pool.map(load, [0])


def executed() -> None:
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        list(pool.map(load, [0]))


WAYS = {
    "subprocess": lambda: subprocess.run(PYTHON, check=True),
    "os.system": lambda: os.system(SHELL),
    "left alone": left_alone,
    "still importing": still_importing,
    "posix_spawn": lambda: os.waitpid(os.posix_spawn(sys.executable, PYTHON, os.environ), 0),
    "spawnv": lambda: os.spawnv(os.P_WAIT, sys.executable, PYTHON),
    "fork and exec": lambda: forked(PYTHON),
    "from a fork": lambda: forked([]),
    "below another": lambda: subprocess.run(["sh", "-c", f'sh -c "{SHELL}"; true'], check=True),
    "pool": lambda: pooled("spawn"),
    "executor": executed,
}
WELL = {
    "nothing": lambda: None,
    "git": lambda: subprocess.run(["git", "--version"], check=True, stdout=subprocess.DEVNULL),
    "du": lambda: subprocess.run(["du", "-s", str(Path(__file__).parent)], check=True, stdout=subprocess.DEVNULL),
    "shell": lambda: os.system("true; true &"),
    "python": lambda: subprocess.run([sys.executable, "-c", "import json"], check=True),
    "service": lambda: subprocess.Popen([sys.executable, "-c", "import time; time.sleep(6)"]),
    "forked pool": lambda: multiprocessing.get_context("fork").Pool(1).map(abs, [1]),
}

if __name__ == "__main__":
    found = {}
    for name, start in {"ways": WAYS, "well": WELL}[sys.argv[1]].items():
        looking = StartedProcesses()
        looking.begin()
        start()
        said = looking.end()
        found[name] = None if said is None else [said.params["framework"], said.params["command"]]
    print(json.dumps(found))
    sys.stdout.flush()
    os._exit(0)

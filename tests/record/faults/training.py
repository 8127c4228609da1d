"""A small training that does to itself what its first argument says; run plainly and recorded by test_faults.py."""

import hashlib
import os
import resource
import shutil
import signal
import sys
import threading
from pathlib import Path

FAULT, FRAMEWORK = sys.argv[1:3]
STEPS = 6
held = []


class Raises:
    """Does not let itself be looked at."""

    def _refuse(self, *_):
        raise RuntimeError("not to be looked at")

    __repr__ = __str__ = __len__ = __iter__ = __eq__ = __bool__ = __float__ = __getitem__ = tolist = _refuse
    __hash__ = _refuse

    def __getattr__(self, name):
        raise RuntimeError(name)


def strike():
    """Before the third step, or before the first."""
    if FAULT in ("descriptors", "no descriptors"):
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
        try:
            while True:
                held.append(os.dup(0))
        except OSError:
            pass
    elif FAULT == "closed":
        os.closerange(3, 1024)
        held.extend(Path(f"theirs-{place}").open("w") for place in range(12))  # noqa: SIM115
    elif FAULT == "full":
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4200, -1))
    elif FAULT == "deleted":
        shutil.rmtree("run", ignore_errors=True)
    elif FAULT == "memory":
        now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + (16 << 20), -1))
    elif FAULT == "recursion":
        print(sys.getrecursionlimit())


def spoiled(step):
    """What the script itself writes goes into its own files and nowhere else."""
    for file in held:
        if not isinstance(file, int):
            file.write(f"step {step}\n")
            file.flush()


def told(step, loss):
    print(step, float(loss).hex())
    spoiled(step)


def digest(arrays):
    return hashlib.sha256(b"".join(one.tobytes() for one in arrays)).hexdigest()


def in_threads(train, nets):
    """All at once, each with a network of its own; MindSpore takes that from one thread after the other only."""
    found = {}
    together = threading.Barrier(len(nets) if FRAMEWORK == "torch" else 1)

    def work(place):
        together.wait()
        found[place] = train(nets[place])

    threads = [threading.Thread(target=work, args=(place,)) for place in range(len(nets))]
    for one in threads:
        one.start()
        if FRAMEWORK == "mindspore":
            one.join()
    for one in threads:
        one.join()
    print(sorted(found.items()))


if FRAMEWORK == "torch":
    import faulty_torch as framework
else:
    import faulty_mindspore as framework

if FAULT == "threads":
    in_threads(lambda net: framework.train(net, lambda *_: None, lambda _: None), [framework.Net() for _ in range(4)])
else:
    at = 0 if FAULT in ("no descriptors", "recursion") else 2
    print(framework.train(framework.Net(), told, lambda step: strike() if step == at else None))

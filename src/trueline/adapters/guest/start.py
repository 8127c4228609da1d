"""The first thing that a guest's process runs, by its path: makes this TrueLine importable, installed there or not.

Nothing here may need more than an old Python, which is to be told that it is too old.
"""

import importlib.util
import os
import sys


def _import_trueline() -> None:
    """Import this very package and no other of its name, without putting its folder on ``sys.path``."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH100, PTH120
    spec = importlib.util.spec_from_file_location(
        "trueline",
        os.path.join(root, "__init__.py"),  # noqa: PTH118
        submodule_search_locations=[root],
    )
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["trueline"] = package
    spec.loader.exec_module(package)


def _keep(requests: int, ours: "tuple[int, ...]") -> None:
    """Tie the life of all processes that the user's code starts to this one; see ``keeper.py`` beside this file."""
    file = os.path.join(os.path.dirname(os.path.abspath(__file__)), "keeper.py")  # noqa: PTH100, PTH118, PTH120
    spec = importlib.util.spec_from_file_location("keeper", file)
    assert spec is not None and spec.loader is not None
    keeper = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(keeper)
    keeper.keep(requests, ours=ours)


def main() -> None:
    """Serve the two pipes passed on the command line, and the socket if there is one, until the first is closed."""
    host, requests, replies = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    channel = int(sys.argv[4]) if sys.argv[4:] else None
    ours = (replies,) if channel is None else (replies, channel)
    for descriptor in (requests, *ours):
        os.set_inheritable(descriptor, False)
    if sys.version_info < (3, 11):  # noqa: UP036
        version = ".".join(str(part) for part in sys.version_info[:3])
        os.write(replies, ('{"old_python": "%s", "arrays": []}\n' % version).encode("ascii"))  # noqa: UP031
        return
    _keep(requests, ours)
    # The folder of this file is no place for a user's imports.
    if not sys.flags.safe_path:
        del sys.path[0]
    _import_trueline()
    from trueline.adapters.guest.serve import serve

    serve(requests, replies, channel, host)


if __name__ == "__main__":
    main()

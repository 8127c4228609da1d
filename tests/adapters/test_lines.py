"""The user's line that led to a call."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

from trueline.adapters.lines import user_line


def _number() -> int:
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


def test_the_caller_s_own_line_is_found() -> None:
    line = user_line("/nowhere/")
    assert line is not None
    assert (line.file, line.line) == (__file__, _number() - 2)


def test_frames_of_a_package_are_passed_over() -> None:
    class Asking(json.JSONEncoder):
        def default(self, o: object) -> object:
            found.append(user_line(__file__, frame=inspect.currentframe()))
            found.append(user_line(package, frame=inspect.currentframe().f_back))  # type: ignore[union-attr]
            return None

    found: list[object] = []
    package = f"{Path(json.__file__).parent}/"
    json.dumps(object(), cls=Asking)
    wanted = _number() - 1
    inside, outside = found
    assert inside is None or inside.file != __file__  # type: ignore[attr-defined]
    assert (outside.file, outside.line) == (__file__, wanted)  # type: ignore[attr-defined]


def test_a_folder_whose_name_only_begins_alike_is_the_user_s() -> None:
    folder = str(Path(__file__).parent)
    line = user_line(folder[:-1] + "/")
    assert line is not None
    assert line.file == __file__


def test_generated_code_is_nobody_s_line() -> None:
    space: dict[str, object] = {"user_line": user_line}
    exec("line = user_line('/nowhere/')", space)
    line = space["line"]
    assert line is not None
    assert line.file == __file__  # type: ignore[attr-defined]

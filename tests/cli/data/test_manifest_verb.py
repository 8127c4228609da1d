"""``trueline data manifest`` and ``trueline data diff`` as a user meets them."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cli.broken_files import is_one_line
from cli.calling import call
from docs.json_schema import faults

SCHEMA = json.loads(
    (Path(__file__).resolve().parents[3] / "docs" / "schema" / "trueline-1.schema.json").read_text("utf-8")
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A set, a true copy, and one that is not."""
    monkeypatch.chdir(tmp_path)
    for place in range(6):
        folder = Path("set", "train" if place < 4 else "val")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{place}.txt").write_text(f"sample {place}")
    shutil.copytree("set", "copy")
    shutil.copytree("set", "wrong")
    Path("wrong/train/0.txt").write_text("sample x")
    Path("wrong/train/1.txt").unlink()
    Path("wrong/train/2.txt").rename("wrong/val/two.txt")
    Path("wrong/new.txt").write_text("new")


def answered(*arguments: str) -> dict[str, Any]:
    ended = call("data", *arguments, "--json")
    answer: dict[str, Any] = json.loads(ended.stdout)
    assert list(faults(answer, SCHEMA, SCHEMA)) == []
    assert ended.exit_code == answer["exit"], ended.stderr
    return answer


def test_a_manifest_is_written_and_told(tmp_path: Path) -> None:
    ended = call("data", "manifest", "set", "-o", "set.json")
    assert ended.exit_code == 0
    assert "6 files in set, 48 B." in ended.stdout
    assert ended.stderr == "trueline: written: set.json\n"
    page = json.loads(Path("set.json").read_text("utf-8"))
    assert [one["path"] for one in page["files"]][:2] == ["train/0.txt", "train/1.txt"]
    again = answered("manifest", "copy")
    told = [(one["path"], one["md5"], one["xxh3_128"]) for one in again["files"]]
    assert told == [(one["path"], one["md5"], one["xxh3_128"]) for one in page["files"]]


def test_the_same_files_give_the_same_list_to_the_byte() -> None:
    call("data", "manifest", "set", "-o", "a.json")
    call("data", "manifest", "copy", "-o", "b.json")
    assert Path("a.json").read_text().replace('"root": "set"', '"root": "copy"') == Path("b.json").read_text()


def test_the_fast_hash_alone() -> None:
    answer = answered("manifest", "set", "--fast")
    assert answer["hashes"] == ["xxh3_128"]
    assert "md5" not in answer["files"][0]


def test_a_file_is_not_overwritten_unless_it_is_asked_for() -> None:
    Path("set.json").write_text("mine")
    ended = call("data", "manifest", "set", "-o", "set.json")
    is_one_line(ended, "set.json")
    assert Path("set.json").read_text() == "mine"
    assert call("data", "manifest", "set", "-o", "set.json", "--force").exit_code == 0


def test_what_is_stepped_over_is_told() -> None:
    Path("set/loop").symlink_to(".")
    Path("set/gone").symlink_to("nowhere")
    answer = answered("manifest", "set")
    assert {one["path"]: one["reason"] for one in answer["skipped"]} == {"loop": "loop", "gone": "dangling"}
    shown = call("data", "manifest", "set").stdout
    assert "2 more were skipped" in shown
    assert "a dangling symlink" in shown


def test_an_empty_folder_is_said_to_be_empty() -> None:
    Path("empty").mkdir()
    assert call("data", "manifest", "empty").stdout.strip() == "There is no file in empty."


def md5sum_list() -> str:
    listed = subprocess.run("md5sum */*.txt > ../set.md5", shell=True, cwd="set", check=True)
    assert listed.returncode == 0
    return "set.md5"


def manifest_file() -> str:
    call("data", "manifest", "set", "-o", "set.json", "--force")
    return "set.json"


def fast_manifest() -> str:
    call("data", "manifest", "set", "--fast", "-o", "fast.json", "--force")
    return "fast.json"


@pytest.mark.parametrize("reference", [lambda: "set", md5sum_list, manifest_file, fast_manifest])
def test_a_true_copy_is_the_same_and_a_wrong_one_is_named_file_by_file(reference: Any) -> None:
    name = reference()
    same = call("data", "diff", name, "copy")
    assert (same.exit_code, "No problem: ds.04" in same.stdout) == (0, True)
    answer = answered("diff", name, "wrong")
    (found,) = answer["differences"]
    assert [one["path"] for one in found["changed"]] == ["train/0.txt"]
    assert [one["path"] for one in found["missing"]] == ["train/1.txt"]
    assert found["renamed"] == [{"path": "train/2.txt", "other_path": "val/two.txt"}]
    assert [one["path"] for one in found["extra"]] == ["new.txt"]
    (finding,) = answer["findings"]
    assert (finding["code"], finding["conclusion"], finding["where"]["side"]) == ("ds.04", "found", "wrong")
    shown = call("data", "diff", name, "wrong")
    assert shown.exit_code == 1
    for named in ("train/0.txt", "train/1.txt", "val/two.txt", "new.txt"):
        assert named in shown.stdout


def test_several_machines_are_held_against_one_reference() -> None:
    answer = answered("diff", manifest_file(), "copy", "wrong")
    assert [(one["where"]["side"], one["conclusion"]) for one in answer["findings"]] == [
        ("copy", "none"),
        ("wrong", "found"),
    ]
    assert "wrong" in answer["conclusion"]
    assert "copy" not in answer["conclusion"]


def test_names_alone_are_said_to_be_little() -> None:
    Path("names.txt").write_text("\n".join(f"./{'train' if place < 4 else 'val'}/{place}.txt" for place in range(6)))
    answer = answered("diff", "names.txt", "copy")
    assert answer["exit"] == 0
    assert "by name only" in answer["conclusion"]
    assert answered("diff", "names.txt", "wrong")["exit"] == 1


def test_both_languages_tell_it() -> None:
    shown = call("--lang", "zh", "data", "diff", "set", "wrong").stdout
    assert "改动 1 个" in shown
    assert "发现问题" in shown


def test_a_list_beside_the_files_does_not_speak_of_itself() -> None:
    for _ in range(2):
        assert call("data", "manifest", "set", "-o", "set/list.json", "--force").exit_code == 0
        assert call("data", "diff", "set/list.json", "set").exit_code == 0


def test_an_empty_reference_proves_nothing() -> None:
    Path("nothing").mkdir()
    is_one_line(call("data", "diff", "nothing", "nothing"))


def test_two_files_are_compared_as_files_whatever_they_are_called() -> None:
    for name, text in (("a.csv", "id,x\n1,2\n"), ("b.csv", "id,x\n2,1\n"), ("c.csv", "id,x\n1,2\n")):
        Path(name).write_text(text, "utf-8")
    assert call("data", "diff", "a.csv", "c.csv").exit_code == 0
    assert call("data", "diff", "a.csv", "b.csv").exit_code == 1
    assert call("data", "diff", "set", "a.csv").exit_code == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("manifest", "nowhere"),
        ("manifest",),
        ("manifest", "set", "-o", "no/such/folder.json"),
        ("manifest", "set", "-o", "copy"),
        ("diff", "set"),
        ("diff", "set", "nowhere"),
        ("diff", "set", "picture.png"),
        ("diff", "set", "half.json"),
        ("diff", "set", "run"),
        ("manifest", "run"),
        ("manifest", "run", "set"),
        ("diff", "set", "sha256.txt"),
    ],
)
def test_bad_input_is_one_line(arguments: tuple[str, ...]) -> None:
    Path("picture.png").write_bytes(b"\x89PNG\0\0")
    Path("half.json").write_text('{"schema": "trueline/manifest/1", "files": [')
    Path("run/rank-00000").mkdir(parents=True)
    Path("run/run.json").write_text('{"format": 1, "id": "x"}')
    Path("sha256.txt").write_text("a" * 64 + "  file\n")
    ended = call("data", *arguments)
    is_one_line(ended)
    assert not Path("no").exists()


def test_without_the_package_the_fast_hash_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "xxhash", None)
    ended = call("data", "manifest", "set")
    assert ended.exit_code == 2
    assert "pip install 'trueline[data]'" in ended.stderr

"""Every file of a folder is listed once, in one order; what cannot be entered or read is named and stepped over."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from trueline.data.manifest.listing import list_paths
from trueline.data.manifest.taking import fingerprint, take_manifest
from trueline.formats.manifest.listed import MD5, Manifest, Unread
from trueline.model.trouble import BadFile


def listed(folder: Path) -> Manifest:
    return take_manifest(list_paths([folder]), [MD5])


def reasons(manifest: Manifest) -> dict[str, str]:
    return {one.path: one.reason for one in manifest.unread}


def fill(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        place = folder / name.replace("__", "/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return folder


def test_names_are_sorted_whatever_the_order_on_disk(tmp_path: Path) -> None:
    for name in ("b/z", "b-a", "a", "b/a/c", "Z"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    found = listed(tmp_path)
    assert found.paths == ["Z", "a", "b-a", "b/a/c", "b/z"]
    assert list(found.sizes) == [1, 1, 3, 5, 3]


def test_links_to_files_and_folders_are_followed(tmp_path: Path) -> None:
    fill(tmp_path / "elsewhere", pictures__1="one", pictures__2="two")
    data = tmp_path / "data"
    fill(data, train__a="a")
    (data / "linked").symlink_to(tmp_path / "elsewhere" / "pictures")
    (data / "val").symlink_to("train")
    (data / "one").symlink_to(tmp_path / "elsewhere" / "pictures" / "1")
    found = listed(data)
    assert found.paths == ["linked/1", "linked/2", "one", "train/a", "val/a"]
    assert not found.unread


def test_links_that_lead_back_or_into_each_other_end(tmp_path: Path) -> None:
    data = fill(tmp_path / "data", a__x="x", b__y="y")
    (data / "self").symlink_to(".")
    (data / "a" / "up").symlink_to("..")
    (data / "a" / "to_b").symlink_to("../b")
    (data / "b" / "to_a").symlink_to("../a")
    (data / "circle").symlink_to("circle")
    found = listed(data)
    assert {"a/x", "b/y", "a/to_b/y", "b/to_a/x"} <= set(found.paths)
    assert reasons(found)["self"] == reasons(found)["a/up"] == reasons(found)["circle"] == "loop"
    # Nothing is listed without end, however the links lie.
    assert len(found.paths) < 10


def test_folders_that_link_to_each_other_twice_do_not_explode(tmp_path: Path) -> None:
    for depth in range(12):
        folder = fill(tmp_path / f"{depth:02}", file=str(depth))
        for name in ("l", "r"):
            (folder / name).symlink_to(f"../{depth + 1:02}" if depth < 11 else "../nowhere")
    found = listed(tmp_path)
    assert len(found.paths) < 100
    assert "followed" in reasons(found).values()


def test_what_is_no_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path, fine="1")
    (tmp_path / "nowhere").symlink_to("gone")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder.png").mkdir()
    fill(tmp_path / "folder.png", inner="2")
    with socket.socket(socket.AF_UNIX) as server:
        monkeypatch.chdir(tmp_path)
        server.bind("socket")
        found = listed(tmp_path)
    assert found.paths == ["fine", "folder.png/inner"]
    assert reasons(found) == {"nowhere": "dangling", "pipe": "special", "socket": "special"}


def test_a_file_that_vanishes_after_it_was_listed_is_named(tmp_path: Path) -> None:
    fill(tmp_path, a="1", b="2", c="3")
    listing = list_paths([tmp_path])
    (tmp_path / "b").unlink()
    (tmp_path / "c").unlink()
    (tmp_path / "c").mkdir()
    found = take_manifest(listing, [MD5])
    assert found.paths == ["a"]
    assert reasons(found) == {"b": "vanished", "c": "unreadable"}


AS_NOBODY = """
import os, sys
from pathlib import Path
from trueline.data.manifest.listing import list_paths
from trueline.data.manifest.taking import take_manifest
import hashlib
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
found = take_manifest(list_paths([Path(sys.argv[1])]), ["md5"])
print(found.paths, sorted((one.path, one.reason) for one in found.unread))
"""


def test_what_may_not_be_read_is_named(tmp_path: Path) -> None:
    data = fill(tmp_path, data__fine="1", data__secret="2", data__locked__inner="3") / "data"
    for folder in (*reversed(tmp_path.relative_to(tmp_path.anchor).parents), Path()):
        place = tmp_path.anchor / folder
        if place.owner() == tmp_path.owner() and place != Path(tmp_path.anchor):
            place.chmod(place.stat().st_mode | 0o055)
    tmp_path.chmod(0o755)
    (data / "secret").chmod(0)
    (data / "locked").chmod(0)
    done = subprocess.run([sys.executable, "-c", AS_NOBODY, str(data)], capture_output=True, text=True, check=False)
    (data / "locked").chmod(0o755)
    assert done.stdout.strip() == "['fine'] [('locked', 'forbidden'), ('secret', 'forbidden')]", done.stderr


def test_names_that_are_not_text_are_listed(tmp_path: Path) -> None:
    for name in (b"\xff\xfe.png", b"new\nline", "图片.png".encode(), b"\\slash"):
        (tmp_path / os.fsdecode(name)).write_bytes(name)
    found = listed(tmp_path)
    assert sorted(os.fsencode(one) for one in found.paths) == sorted(
        [b"\xff\xfe.png", b"new\nline", "图片.png".encode(), b"\\slash"]
    )


def test_several_paths_keep_the_names_they_were_given_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path, train__a="1", val__a="2", one="3")
    monkeypatch.chdir(tmp_path)
    found = take_manifest(list_paths([Path("train"), Path("./val"), Path("one"), Path("train/a")]), [MD5])
    assert found.paths == ["one", "train/a", "val/a"]


def test_what_is_not_there_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="gone"):
        list_paths([tmp_path / "gone"])
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadFile, match="pipe"):
        list_paths([tmp_path / "pipe"])


def test_an_empty_folder_has_no_files(tmp_path: Path) -> None:
    assert listed(tmp_path).paths == []


def test_the_one_number_is_what_md5sum_makes_of_its_own_output(tmp_path: Path) -> None:
    fill(tmp_path, b="1", a__x="2", a__y="3")
    output = subprocess.run(
        "md5sum a/x a/y b | md5sum", shell=True, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert fingerprint(listed(tmp_path)) == output.stdout.split()[0]


def test_an_error_of_the_disk_keeps_its_words() -> None:
    from trueline.data.manifest.listing import why_unread

    assert why_unread("a", OSError(5, "Input/output error")) == Unread("a", "unreadable", "Input/output error")

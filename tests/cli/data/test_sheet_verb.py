"""``trueline data sheet`` as a user meets it: folders, arrays, texts, tables, factories and recorded runs."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import warm
from cli.broken_files import is_one_line
from cli.calling import call, environment
from docs.json_schema import faults
from PIL import Image
from sklearn.datasets import load_digits

SCHEMA = json.loads(
    (Path(__file__).resolve().parents[3] / "docs" / "schema" / "trueline-1.schema.json").read_text("utf-8")
)
DIGITS = load_digits()


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small datasets of several kinds."""
    folder = tmp_path_factory.mktemp("sheets")
    for place in range(120):
        label = folder / "images" / str(DIGITS.target[place])
        label.mkdir(parents=True, exist_ok=True)
        pixels = (DIGITS.images[place] * 15.9).astype(np.uint8)
        Image.fromarray(pixels).save(label / f"{place:03}.png")
    np.savez(folder / "arrays.npz", x=((DIGITS.images - 8) / 4).astype(np.float32)[:, None], label=DIGITS.target)
    time = np.arange(64)
    series = np.stack([np.sin(time / (3 + place % 4)) for place in range(40)]).astype(np.float32)
    np.savez(folder / "series.npz", x=series, label=np.arange(40) % 4)
    lines = [json.dumps({"text": f"sentence {place}: " + "words " * 20, "label": place % 3}) for place in range(30)]
    (folder / "texts.jsonl").write_text("\n".join(lines))
    rows = ["age,city,label", *(f"{place},Paris,{'yes' if place % 2 else 'no'}" for place in range(40))]
    (folder / "table.csv").write_text("\n".join(rows))
    return folder


@pytest.fixture(autouse=True)
def here(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(room)


def answered(*arguments: str) -> dict[str, Any]:
    ended = call("data", "sheet", *arguments, "--json")
    answer: dict[str, Any] = json.loads(ended.stdout)
    assert list(faults(answer, SCHEMA, SCHEMA)) == []
    assert (ended.exit_code, answer["exit"]) == (0, 0), ended.stderr
    return answer


def labels(answer: dict[str, Any]) -> dict[Any, int]:
    found: dict[Any, int] = {}
    for one in answer["sampled"]:
        found[one["label"]] = found.get(one["label"], 0) + 1
    return found


def test_images_by_folder(tmp_path: Path) -> None:
    answer = answered("images", "-o", str(tmp_path / "sheet.png"))
    assert labels(answer) == {str(digit): 5 for digit in range(10)}
    assert all(one["file"].startswith(f"{one['label']}/") for one in answer["sampled"])
    with Image.open(tmp_path / "sheet.png") as picture:
        assert picture.width == 1260
        assert len(set(picture.convert("L").tobytes())) > 20
    ended = call("data", "sheet", "images")
    assert "50 of 120 samples of images, of 10 labels: is each what its label says?" in ended.stdout


def test_the_same_seed_writes_the_same_files(tmp_path: Path) -> None:
    for ending in ("png", "html"):
        for name in ("a", "b"):
            call("data", "sheet", "images", "--seed", "3", "-o", str(tmp_path / f"{name}.{ending}"))
        assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()
    assert answered("images", "--seed", "3")["sampled"] != answered("images", "--seed", "4")["sampled"]


def test_a_page_holds_its_pictures_with_their_labels(tmp_path: Path) -> None:
    import base64
    import re

    call("data", "sheet", "arrays.npz", "--count", "12", "-o", str(tmp_path / "sheet.html"))
    page = (tmp_path / "sheet.html").read_text("utf-8")
    pictures = re.findall(r'src="data:image/png;base64,([^"]+)" alt="([^"]*)"', page)
    assert len(pictures) == 12
    for data, said in pictures:
        label, index = said.split(", ")[:2]
        assert DIGITS.target[int(index.removeprefix("#"))] == int(label)
        with Image.open(io.BytesIO(base64.b64decode(data))) as picture:
            assert picture.size == (8, 8)
            shown = np.asarray(picture)[..., 0].astype(float)
        true = DIGITS.images[int(index.removeprefix("#"))]
        assert np.corrcoef(shown.reshape(-1), true.reshape(-1))[0, 1] > 0.999
    assert "img-src data:" in page


def test_a_wrong_label_is_there_to_be_seen() -> None:
    wrong = DIGITS.target.copy()
    wrong[:] = 5
    wrong[7] = 6
    np.savez("wrong.npz", x=DIGITS.images, label=wrong)
    answer = answered("wrong.npz")
    assert {"index": 7, "label": 6} in [{"index": one["index"], "label": one["label"]} for one in answer["sampled"]]


def test_series_texts_and_rows(tmp_path: Path) -> None:
    shown = call("data", "sheet", "series.npz").stdout
    assert "-1 … 1" in shown.replace("-0.9999", "-1").replace("0.9999", "1") or "…" in shown
    assert "▇" in shown or "█" in shown
    shown = call("data", "sheet", "texts.jsonl", "--count", "6").stdout
    assert "sentence" in shown
    assert "label is taken for the label" in shown
    shown = call("data", "sheet", "table.csv", "--count", "4").stdout
    assert "Paris" in shown
    for name in ("series.npz", "texts.jsonl", "table.csv"):
        for ending in ("png", "html"):
            assert call("data", "sheet", name, "-o", str(tmp_path / f"{name}.{ending}")).exit_code == 0
    assert "<svg" in (tmp_path / "series.npz.html").read_text("utf-8")
    assert "<table" in (tmp_path / "table.csv.html").read_text("utf-8")


def test_a_factory_is_a_source(room: Path) -> None:
    Path("made.py").write_text(
        "import numpy as np\n"
        "class Data:\n"
        "    def __len__(self): return 30\n"
        "    def __getitem__(self, place):\n"
        "        if place >= 30: raise IndexError\n"
        "        return np.full((3, 8, 8), place, np.float32), place % 3\n"
    )
    answer = answered("made:Data", "--count", "9")
    assert labels(answer) == {0: 3, 1: 3, 2: 3}


def test_broken_tiny_huge_and_strangely_named_images(tmp_path: Path) -> None:
    odd = tmp_path / "odd"
    for label in ("猫", "a label " * 20, "tiny"):
        (odd / label).mkdir(parents=True)
    draw = np.random.default_rng(0)
    for place in range(2):
        Image.fromarray(draw.integers(0, 255, (30, 90, 3), dtype=np.uint8)).save(odd / "猫" / f"{place}.jpg")
    (odd / "猫" / "cut.jpg").write_bytes((odd / "猫" / "0.jpg").read_bytes()[:200])
    (odd / "tiny" / "empty.png").touch()
    (odd / "tiny" / "text.png").write_text("no image")
    Image.new("RGBA", (1, 1), (1, 2, 3, 4)).save(odd / "tiny" / "1.png")
    Image.new("L", (4000, 3000), 9).save(odd / ("a label " * 20) / "huge.png")
    os.mkfifo(odd / "tiny" / "pipe.png")
    for ending in ("png", "html"):
        ended = call("data", "sheet", str(odd), "-o", str(tmp_path / f"odd.{ending}"))
        assert ended.exit_code == 0, ended.stderr
    answer = answered(str(odd))
    assert sum(one["broken"] is not None for one in answer["sampled"]) >= 3
    assert {one["label"] for one in answer["sampled"]} == {"猫", "a label " * 20, "tiny"}
    page = (tmp_path / "odd.html").read_text("utf-8")
    assert "猫" in page
    assert 'class="tile marked"' in page


@pytest.mark.parametrize(
    "arguments",
    [
        ("nowhere",),
        ("images", "-o", "sheet.pdf"),
        ("images", "-o", "no/such/sheet.png"),
        ("images", "--label", "nothing"),
        ("images", "--count", "0"),
        ("images", "--seed", "-1"),
        ("images", "--labels", "x"),
        ("no_such_module:make",),
        (),
    ],
)
def test_bad_input_is_one_line(arguments: tuple[str, ...]) -> None:
    is_one_line(call("data", "sheet", *arguments))


def test_a_file_is_not_overwritten_unless_it_is_asked_for(tmp_path: Path) -> None:
    place = tmp_path / "sheet.png"
    place.write_text("mine")
    is_one_line(call("data", "sheet", "images", "-o", str(place)), "sheet.png")
    assert place.read_text() == "mine"
    assert call("data", "sheet", "images", "-o", str(place), "--force").exit_code == 0


def test_without_pillow_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from trueline.data.sources import pictures

    monkeypatch.setattr(pictures, "has_pillow", lambda: False)
    ended = call("data", "sheet", "arrays.npz", "-o", str(tmp_path / "sheet.png"))
    is_one_line(ended, "trueline[data]")


TRAIN = """
import numpy as np, torch
from torch.utils.data import DataLoader, TensorDataset
data = np.load("arrays.npz")
x, y = torch.from_numpy(data["x"])[:200], torch.from_numpy(data["label"])[:200]
loader = DataLoader(TensorDataset(x, y), 16, shuffle=True, generator=torch.Generator().manual_seed(0))
net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 10))
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step, (image, label) in enumerate(loader):
    image = image.flip(3) if step % 2 else image
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(net(image), label).backward()
    optimizer.step()
torch.save(net.state_dict(), "net.pth")
torch.load("net.pth")
"""


@pytest.fixture(scope="module")
def run(room: Path) -> str:
    """A training that turns around every second batch, on its way to the network."""
    (room / "train.py").write_text(TRAIN)
    line = ("-m", "trueline", "run", "--batches", "6", "--manifest", "-o", "run", "train.py")
    done = warm.python("torch", room, *line, env=environment(OMP_NUM_THREADS="1"))
    assert done.returncode == 0, done.stderr
    assert "left out, as written by the run itself or changed while it went on: net.pth" in done.stderr
    return "run"


def test_the_list_of_a_training_has_its_data_and_not_its_weights(run: str) -> None:
    answer = json.loads(call("data", "diff", run, run, "--json").stdout)
    assert (answer["exit"], answer["sides"][0]["files"]) == (0, 1)
    page = json.loads(Path(run, "manifest.json").read_text("utf-8"))
    assert [one["path"] for one in page["files"]] == ["arrays.npz"]


def test_a_run_shows_what_was_fed_with_its_step_and_its_sample(run: str, tmp_path: Path) -> None:
    answer = answered(run, "-o", str(tmp_path / "fed.html"))
    assert answer["kind"] == "run"
    assert 50 <= len(answer["sampled"]) <= 55
    for one in answer["sampled"]:
        assert 0 <= one["step"] < 6
        assert 0 <= one["position"] < 16
        assert DIGITS.target[one["sample"]] == one["label"]
        assert one["index"] == one["step"] * 16 + one["position"]
    page = (tmp_path / "fed.html").read_text("utf-8")
    assert "What run was fed" in page
    assert page.count("data:image/png") == len(answer["sampled"])


def test_what_entered_the_network_is_shown_not_what_the_loader_gave(run: str) -> None:
    from trueline.data.sheet.cards import make_cards
    from trueline.data.sheet.sampling import draw
    from trueline.data.sources.opening import open_source

    source = open_source(run)
    drawn = draw(source, source.label, 50, 20, 0)
    seen = {"turned": 0, "as it was": 0}
    for group in make_cards(source, source.label, drawn):
        for card in group.cards:
            assert card.picture is not None
            assert card.sample is not None
            assert card.step is not None
            shown = card.picture.pixels[..., 0].astype(float)
            true = DIGITS.images[card.sample]
            true = true[:, ::-1] if card.step % 2 else true
            assert np.corrcoef(shown.reshape(-1), true.reshape(-1))[0, 1] > 0.999
            seen["turned" if card.step % 2 else "as it was"] += 1
    assert min(seen.values()) > 5

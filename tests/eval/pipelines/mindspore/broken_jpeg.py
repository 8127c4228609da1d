import tempfile
from pathlib import Path

import mindspore.dataset as ds
import mindspore.dataset.vision as V
import numpy as np
from PIL import Image


def write(folder):
    rng = np.random.default_rng(14)
    for i in range(12):
        name = folder / ("cats" if i < 6 else "dogs") / f"{i:02d}.jpg"
        name.parent.mkdir(exist_ok=True)
        Image.fromarray(rng.integers(0, 256, (16, 16, 3), dtype=np.uint8)).save(name)
    (folder / "cats" / "05.jpg").write_bytes(b"\xff\xd8\xff\xe0 this is no picture")


def make():
    folder = Path(tempfile.mkdtemp(prefix="folder_"))
    write(folder)
    data = ds.ImageFolderDataset(str(folder), shuffle=False)
    data = data.map([V.Decode(), V.Resize((8, 8)), V.HWC2CHW()], input_columns="image")  # expect
    return data.batch(3)

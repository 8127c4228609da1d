import tempfile
from pathlib import Path

import mindspore.dataset as ds
import numpy as np
from mindspore.mindrecord import FileWriter


def make():
    x = np.random.default_rng(14).normal(size=(16, 4)).astype(np.float32)
    x[8, 1] = np.nan
    path = Path(tempfile.mkdtemp(prefix="records_")) / "x.mindrecord"
    writer = FileWriter(str(path), 1, overwrite=True)
    writer.add_schema({"id": {"type": "int32"}, "x": {"type": "float32", "shape": [-1]}}, "x")
    writer.write_raw_data([{"id": i, "x": x[i]} for i in range(16)])
    writer.commit()
    return ds.MindDataset(str(path), shuffle=False).batch(4)  # expect

import tempfile
from pathlib import Path

import mindspore.dataset as ds
import numpy as np
from mindspore.mindrecord import FileWriter


def split(x):
    return x[:3], x[3:]


def make():
    path = Path(tempfile.mkdtemp(prefix="records_")) / "x.mindrecord"
    writer = FileWriter(str(path), 1, overwrite=True)
    writer.add_schema({"id": {"type": "int32"}, "x": {"type": "float32", "shape": [-1]}}, "x")
    writer.write_raw_data([{"id": i, "x": np.arange(i, i + 4, dtype=np.float32)} for i in range(20)])
    writer.commit()
    data = ds.MindDataset(str(path), columns_list=["id", "x"], shuffle=True)
    return data.map(split, input_columns=["x"], output_columns=["x", "target"]).batch(5)

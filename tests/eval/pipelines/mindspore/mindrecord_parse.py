import tempfile
from pathlib import Path

import mindspore.dataset as ds
import numpy as np
from mindspore.mindrecord import FileWriter


def parse_date(text):
    year, month, day = str(text).split("-")  # expect
    return np.array([int(year), int(month), int(day)], np.int32)


def write(path):
    rows = [{"id": i, "date": f"2024-01-{i + 1:02d}", "x": np.full(3, i, np.float32)} for i in range(12)]
    rows[5]["date"] = "n/a"
    writer = FileWriter(str(path), 1, overwrite=True)
    schema = {"id": {"type": "int32"}, "date": {"type": "string"}, "x": {"type": "float32", "shape": [-1]}}
    writer.add_schema(schema, "rows")
    writer.write_raw_data(rows)
    writer.commit()


def make():
    path = Path(tempfile.mkdtemp(prefix="records_")) / "rows.mindrecord"
    write(path)
    data = ds.MindDataset(str(path), columns_list=["id", "date", "x"], shuffle=False)
    return data.map(parse_date, input_columns=["date"])

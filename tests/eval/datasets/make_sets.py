"""Write small faulty and clean datasets, and the list of what is in them.

Indexes count data rows from 0 (no header); for image folders they are file names relative to the set.
The count of a fault is the number of its indexes. For duplicates these are the later copies ("of" has the first
ones); for conflicting labels all samples concerned.
"""

import csv
import io
import json
import pickle
import shutil
import struct
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

SETS = []


def listed(name, source, label=None, path=None):
    def add(write):
        SETS.append((name, source, label, path, write))
        return write

    return add


def fault(kind, indexes, field=None, **more):
    return {"kind": kind, "field": field, "indexes": list(indexes), "count": len(indexes), **more}


def rng(seed):
    return np.random.default_rng(seed)


def table(seed, n, *, labels=("a", "b")):
    """Rows of id, two float measures and a balanced label, all as text."""
    r = rng(seed)
    width, height = r.normal(20, 4, n), r.normal(50, 9, n)
    return [[str(1000 + i), f"{width[i]:.4f}", f"{height[i]:.4f}", labels[i % len(labels)]] for i in range(n)]


HEAD = ["id", "width", "height", "label"]


def write_csv(path, head, rows, delimiter=",", encoding="utf-8"):
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows([head, *rows])
    path.write_bytes(text.getvalue().encode(encoding))


def write_jsonl(path, rows):
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")


def write_hf(folder, columns, features, n=None):
    data = pa.table(columns)
    with pa.OSFile(str(folder / "data-00000-of-00001.arrow"), "wb") as out, pa.ipc.new_stream(out, data.schema) as w:
        w.write_table(data)
    n = data.num_rows if n is None else n
    info = {"features": features, "splits": {"train": {"name": "train", "num_examples": n}}}
    (folder / "dataset_info.json").write_text(json.dumps(info, indent=1))
    state = {"_data_files": [{"filename": "data-00000-of-00001.arrow"}], "_split": "train", "_format_type": None}
    (folder / "state.json").write_text(json.dumps(state, indent=1))


def write_idx(folder, images, labels):
    n, h, w = images.shape
    (folder / "train-images-idx3-ubyte").write_bytes(struct.pack(">IIII", 0x803, n, h, w) + images.tobytes())
    (folder / "train-labels-idx1-ubyte").write_bytes(struct.pack(">II", 0x801, len(labels)) + labels.tobytes())


def digits(seed, n):
    return rng(seed).integers(0, 256, (n, 8, 8), dtype=np.uint8), (np.arange(n) % 10).astype(np.uint8)


def write_cifar(folder, pixels, labels):
    rows = b"".join(bytes([y]) + x.tobytes() for x, y in zip(pixels, labels, strict=True))
    (folder / "data_batch_1.bin").write_bytes(rows)
    names = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
    (folder / "batches.meta.txt").write_text("\n".join(names) + "\n")


def cifar(seed, n):
    return rng(seed).integers(0, 256, (n, 3072), dtype=np.uint8), (np.arange(n) % 10).astype(np.uint8)


def picture(seed, size=(24, 24), mode="RGB"):
    bands = len(Image.new(mode, (1, 1)).getbands())
    shape = (size[1], size[0]) if bands == 1 else (size[1], size[0], bands)
    return Image.frombytes(mode, size, rng(seed).integers(0, 256, shape, dtype=np.uint8).tobytes())


def write_images(folder, counts, seed, suffix="png"):
    for k, (name, n) in enumerate(counts.items()):
        (folder / name).mkdir()
        for i in range(n):
            picture([seed, k, i]).save(folder / name / f"{i:03d}.{suffix}")


CLASS_LABEL = {"names": ["neg", "pos"], "_type": "ClassLabel"}
TEXT = {"dtype": "string", "_type": "Value"}
FLOAT = {"dtype": "float64", "_type": "Value"}


# ---- faulty: tables


@listed("csv_nan_and_empty", "csv", "label", "data.csv")
def _(folder):
    rows = table(1, 60)
    for i, word in ((4, "nan"), (17, "NaN"), (41, "NaN")):
        rows[i][1] = word
    for i in (9, 10):
        rows[i][2] = ""
    write_csv(folder / "data.csv", HEAD, rows)
    return [fault("missing-nan", [4, 17, 41], "width"), fault("missing-empty", [9, 10], "height")]


@listed("csv_inf", "csv", "label", "data.csv")
def _(folder):
    rows = table(2, 50)
    rows[6][2], rows[30][2] = "inf", "-inf"
    write_csv(folder / "data.csv", HEAD, rows)
    return [fault("missing-inf", [6, 30], "height")]


@listed("csv_null_word", "csv", "label", "data.csv")
def _(folder):
    rows = table(3, 40)
    for i in (3, 22, 39):
        rows[i][1] = "NULL"
    write_csv(folder / "data.csv", HEAD, rows)
    return [fault("missing-null", [3, 22, 39], "width")]


@listed("csv_marker_minus_999", "csv", "label", "weather.csv")
def _(folder):
    rows = table(4, 80, labels=("dry", "wet"))
    where = [2, 3, 33, 60, 79]
    for i in where:
        rows[i][1] = "-999"
    write_csv(folder / "weather.csv", ["id", "temperature", "humidity", "label"], rows)
    return [fault("missing-marker", where, "temperature", value="-999")]


@listed("csv_marker_question", "csv", "income", "adult.csv")
def _(folder):
    r = rng(5)
    jobs = ["clerk", "teacher", "nurse", "farmer"]
    ages = r.permutation(np.arange(20, 80))
    rows = [[str(ages[i]), jobs[i % 4], f"{r.uniform(20, 60):.2f}", ("low", "high")[i % 2]] for i in range(60)]
    for i in (8, 21, 50):
        rows[i][1] = "?"
    for i in (21, 34):
        rows[i][2] = "?"
    write_csv(folder / "adult.csv", ["age", "job", "hours", "income"], rows)
    return [
        fault("missing-marker", [8, 21, 50], "job", value="?"),
        fault("missing-marker", [21, 34], "hours", value="?"),
    ]


@listed("csv_marker_n_a", "csv", "label", "data.csv")
def _(folder):
    rows = table(6, 48)
    for i in (0, 25, 26):
        rows[i][2] = "N/A"
    write_csv(folder / "data.csv", HEAD, rows)
    return [fault("missing-marker", [0, 25, 26], "height", value="N/A")]


@listed("tsv_marker_9999", "tsv", "label", "data.tsv")
def _(folder):
    rows = table(7, 64)
    for i in (11, 12, 13, 55):
        rows[i][2] = "9999"
    write_csv(folder / "data.tsv", HEAD, rows, "\t")
    return [fault("missing-marker", [11, 12, 13, 55], "height", value="9999")]


@listed("csv_type_drift", "csv", "label", "data.csv")
def _(folder):
    rows = table(8, 60)
    rows[19][1], rows[44][1] = "twelve", "18,5 cm"
    write_csv(folder / "data.csv", HEAD, rows)
    return [fault("type-drift", [19, 44], "width")]


@listed("csv_imbalance", "csv", "label", "data.csv")
def _(folder):
    rows = table(9, 126)
    for i, row in enumerate(rows):
        row[3] = "rare" if i % 21 == 5 else "common"
    write_csv(folder / "data.csv", HEAD, rows)
    where = [i for i in range(126) if i % 21 == 5]
    return [fault("imbalance", where, "label", classes={"common": 120, "rare": 6})]


@listed("csv_duplicates", "csv", "label", "data.csv")
def _(folder):
    rows = [row[1:] for row in table(10, 50)]
    for copy, first in ((20, 4), (37, 11), (49, 11)):
        rows[copy] = list(rows[first])
    write_csv(folder / "data.csv", HEAD[1:], rows)
    return [fault("duplicates", [20, 37, 49], None, of=[4, 11, 11])]


@listed("csv_conflicting_labels", "csv", "label", "data.csv")
def _(folder):
    rows = [row[1:] for row in table(11, 50)]
    for copy, first in ((13, 6), (41, 22)):
        rows[copy] = [*rows[first][:2], rows[copy][2]]
    write_csv(folder / "data.csv", HEAD[1:], rows)
    return [fault("conflicting-labels", [6, 13, 22, 41], "label", groups=[[6, 13], [22, 41]])]


@listed("csv_short_and_long_row", "csv", "label", "data.csv")
def _(folder):
    rows = table(12, 40)
    rows[15] = rows[15][:2]
    rows[28] = [*rows[28], "extra"]
    write_csv(folder / "data.csv", HEAD, rows)
    return [fault("short-row", [15]), fault("long-row", [28])]


@listed("tsv_short_row", "tsv", "label", "data.tsv")
def _(folder):
    rows = table(13, 36)
    rows[7], rows[35] = rows[7][:3], rows[35][:1]
    write_csv(folder / "data.tsv", HEAD, rows, "\t")
    return [fault("short-row", [7, 35])]


@listed("csv_wrong_encoding", "csv", "label", "names.csv")
def _(folder):
    rows = [[f"person {i}", f"{i * 1.5:.1f}", "ab"[i % 2]] for i in range(30)]
    rows[12][0], rows[23][0] = "Jürgen Müller", "Chloé Noël"
    write_csv(folder / "names.csv", ["name", "score", "label"], rows, encoding="latin-1")
    return [fault("wrong-encoding", [12, 23], "name")]


@listed("csv_header_only", "csv", "label", "data.csv")
def _(folder):
    write_csv(folder / "data.csv", HEAD, [])
    return [fault("empty-set", ["data.csv"])]


@listed("csv_label_missing", "csv", "label", "data.csv")
def _(folder):
    rows = table(14, 40)
    for i in (5, 18, 31):
        rows[i][3] = ""
    write_csv(folder / "data.csv", HEAD, rows)
    return [fault("missing-empty", [5, 18, 31], "label")]


@listed("parquet_null_and_nan", "parquet", "label", "data.parquet")
def _(folder):
    x = rng(15).normal(0, 1, 50).tolist()
    z = rng(16).normal(5, 1, 50)
    x[7] = x[29] = None
    z[[3, 4]] = np.nan
    z[40] = np.inf
    columns = {"x": pa.array(x, pa.float64()), "z": pa.array(z), "label": pa.array([i % 2 for i in range(50)])}
    pq.write_table(pa.table(columns), folder / "data.parquet")
    return [
        fault("missing-null", [7, 29], "x"),
        fault("missing-nan", [3, 4], "z"),
        fault("missing-inf", [40], "z"),
    ]


@listed("parquet_text_gaps", "parquet", "label", "data.parquet")
def _(folder):
    text = [f"review number {i}" for i in range(40)]
    text[10] = None
    text[11] = text[30] = ""
    columns = {"text": text, "score": rng(64).uniform(0, 5, 40), "label": [i % 2 for i in range(40)]}
    pq.write_table(pa.table(columns), folder / "data.parquet")
    return [fault("missing-null", [10], "text"), fault("missing-empty", [11, 30], "text")]


@listed("parquet_broken_footer", "parquet", "label")
def _(folder):
    for part in range(3):
        x = rng([17, part]).normal(0, 1, 20)
        pq.write_table(pa.table({"x": x, "label": np.arange(20) % 2}), folder / f"part-{part}.parquet")
    broken = folder / "part-1.parquet"
    broken.write_bytes(broken.read_bytes()[:-40])
    return [fault("broken-footer", ["part-1.parquet"])]


@listed("parquet_schema_drift", "parquet", "label")
def _(folder):
    for part in range(3):
        code = rng([18, part]).permutation(10_000)[:20] + 10_000 * part
        code = pa.array([str(c) for c in code]) if part == 2 else pa.array(code)
        pq.write_table(pa.table({"code": code, "label": np.arange(20) % 2}), folder / f"part-{part}.parquet")
    return [fault("type-drift", ["part-2.parquet"], "code")]


@listed("jsonl_type_drift", "jsonl", "label", "data.jsonl")
def _(folder):
    x = rng(19).normal(0, 1, 45)
    rows = [{"x": round(float(v), 5), "tags": ["t", str(i)], "label": i % 3} for i, v in enumerate(x)]
    rows[14]["x"] = "0.25"
    rows[27]["x"] = [0.5]
    rows[33]["tags"] = "t,33"
    write_jsonl(folder / "data.jsonl", rows)
    return [fault("type-drift", [14, 27], "x"), fault("type-drift", [33], "tags")]


@listed("jsonl_null_and_no_key", "jsonl", "label", "data.jsonl")
def _(folder):
    score = rng(65).uniform(0, 5, 40).round(6).tolist()
    rows = [{"text": f"message {i} here", "score": score[i], "label": i % 2} for i in range(40)]
    rows[6]["text"] = rows[18]["text"] = None
    rows[25]["text"] = ""
    del rows[32]["text"]
    write_jsonl(folder / "data.jsonl", rows)
    return [
        fault("missing-null", [6, 18], "text"),
        fault("missing-empty", [25], "text"),
        fault("missing-key", [32], "text"),
    ]


@listed("jsonl_broken_line", "jsonl", "label", "data.jsonl")
def _(folder):
    rows = [json.dumps({"text": f"line {i}", "label": i % 2}) for i in range(30)]
    rows[21] = rows[21][:12]
    (folder / "data.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return [fault("broken-line", [21])]


@listed("jsonl_conflicting_and_duplicates", "jsonl", "sentiment", "data.jsonl")
def _(folder):
    rows = [{"text": f"film {i} was seen on day {i * 7}", "sentiment": ("bad", "good")[i % 2]} for i in range(48)]
    rows[19]["text"] = rows[8]["text"]
    rows[40] = dict(rows[2])
    write_jsonl(folder / "data.jsonl", rows)
    return [
        fault("conflicting-labels", [8, 19], "sentiment", groups=[[8, 19]]),
        fault("duplicates", [40], None, of=[2]),
    ]


@listed("jsonl_padding_mixed", "jsonl", "label", "data.jsonl")
def _(folder):
    rows, left = [], [5, 16, 31]
    for i in range(40):
        ids = rng([20, i]).integers(1, 900, 4 + i % 5).tolist()
        pad = [0] * (10 - len(ids))
        rows.append({"input_ids": pad + ids if i in left else ids + pad, "label": i % 2})
    write_jsonl(folder / "data.jsonl", rows)
    return [fault("padding-side-mixed", left, "input_ids")]


# ---- faulty: arrays


@listed("npy_nan_inf", "npy", None, "x.npy")
def _(folder):
    x = rng(21).normal(0, 1, (60, 8)).astype(np.float32)
    x[12, 3] = x[47, 0] = np.nan
    x[30, 5] = np.inf
    x[31, 5] = -np.inf
    np.save(folder / "x.npy", x)
    return [fault("missing-nan", [12, 47]), fault("missing-inf", [30, 31])]


@listed("npy_marker", "npy", None, "x.npy")
def _(folder):
    x = rng(22).uniform(0, 40, (50, 4)).astype(np.float32)
    x[[9, 28, 29], 2] = -999
    np.save(folder / "x.npy", x)
    return [fault("missing-marker", [9, 28, 29], None, value="-999")]


@listed("npy_cut_off", "npy", None, "x.npy")
def _(folder):
    np.save(folder / "x.npy", rng(23).normal(0, 1, (40, 6)))
    path = folder / "x.npy"
    path.write_bytes(path.read_bytes()[:-100])
    return [fault("broken-file", ["x.npy"])]


@listed("npz_conflicting_and_duplicates", "npz", "y", "data.npz")
def _(folder):
    x, y = rng(24).normal(0, 1, (60, 5)).astype(np.float32), np.arange(60) % 3
    x[25] = x[3]
    x[44] = x[14]
    y[44] = y[14]
    np.savez(folder / "data.npz", x=x, y=y)
    return [
        fault("conflicting-labels", [3, 25], "y", groups=[[3, 25]]),
        fault("duplicates", [44], None, of=[14]),
    ]


@listed("npz_length_mismatch", "npz", "y", "data.npz")
def _(folder):
    np.savez(folder / "data.npz", x=rng(25).normal(0, 1, (40, 5)), y=np.arange(38) % 2)
    return [fault("length-mismatch", [38, 39], "y")]


@listed("npz_imbalance", "npz", "y", "data.npz")
def _(folder):
    y = np.array([0] * 75 + [1] * 70 + [2] * 4)
    np.savez(folder / "data.npz", x=rng(26).normal(0, 1, (149, 3)), y=y)
    return [fault("imbalance", list(range(145, 149)), "y", classes={"0": 75, "1": 70, "2": 4})]


@listed("npz_padding_mixed", "npz", "label", "tokens.npz")
def _(folder):
    ids, left = np.zeros((32, 12), np.int64), [3, 4, 20, 29]
    for i in range(32):
        n = 5 + i % 6
        ids[i, slice(12 - n, 12) if i in left else slice(0, n)] = rng([27, i]).integers(1, 500, n)
    np.savez(folder / "tokens.npz", input_ids=ids, label=np.arange(32) % 2)
    return [fault("padding-side-mixed", left, "input_ids")]


@listed("idx_label_out_of_range", "idx", "labels")
def _(folder):
    x, y = digits(28, 60)
    y[17], y[52] = 10, 255
    write_idx(folder, x, y)
    (folder / "classes.txt").write_text("".join(f"{k}\n" for k in range(10)))
    return [fault("labels-out-of-range", [17, 52], "labels")]


@listed("idx_cut_off", "idx", "labels")
def _(folder):
    x, y = digits(29, 40)
    write_idx(folder, x, y)
    path = folder / "train-images-idx3-ubyte"
    path.write_bytes(path.read_bytes()[: 16 + 37 * 64])
    return [fault("short-file", ["train-images-idx3-ubyte"], None, says=40, has=37)]


@listed("idx_conflicting_and_duplicates", "idx", "labels")
def _(folder):
    x, y = digits(30, 50)
    x[33] = x[4]
    x[26] = x[16]
    write_idx(folder, x, y)
    return [
        fault("conflicting-labels", [4, 33], "labels", groups=[[4, 33]]),
        fault("duplicates", [26], None, of=[16]),
    ]


@listed("cifar_label_out_of_range", "cifar", "label")
def _(folder):
    x, y = cifar(31, 30)
    y[11] = 17
    write_cifar(folder, x, y)
    return [fault("labels-out-of-range", [11], "label")]


@listed("cifar_cut_off_and_duplicates", "cifar", "label")
def _(folder):
    x, y = cifar(32, 30)
    x[18] = x[8]
    write_cifar(folder, x, y)
    path = folder / "data_batch_1.bin"
    path.write_bytes(path.read_bytes()[:-1000])
    return [fault("short-file", ["data_batch_1.bin"]), fault("duplicates", [18], None, of=[8])]


@listed("cifar_python_conflicting", "cifar", "labels")
def _(folder):
    x, y = cifar(33, 30)
    x[21] = x[6]
    batch = {b"batch_label": b"training batch 1 of 1", b"data": x, b"labels": y.tolist()}
    (folder / "data_batch_1").write_bytes(pickle.dumps(batch, protocol=2))
    return [fault("conflicting-labels", [6, 21], "labels", groups=[[6, 21]])]


# ---- faulty: images


@listed("images_broken", "images", "folder")
def _(folder):
    write_images(folder, {"cat": 10, "dog": 10}, 34)
    cut = folder / "cat" / "003.png"
    cut.write_bytes(cut.read_bytes()[:500])
    (folder / "dog" / "006.png").write_bytes(b"")
    (folder / "dog" / "010.jpg").write_text("<html>not found</html>")
    return [fault("broken-image", ["cat/003.png", "dog/006.png", "dog/010.jpg"])]


@listed("images_odd_size_and_mode", "images", "folder")
def _(folder):
    write_images(folder, {"cat": 12, "dog": 12}, 35)
    picture([35, 9, 0], (17, 64)).save(folder / "cat" / "005.png")
    picture([35, 9, 1], mode="L").save(folder / "dog" / "002.png")
    picture([35, 9, 2], mode="RGBA").save(folder / "dog" / "008.png")
    return [
        fault("odd-image-size", ["cat/005.png"]),
        fault("odd-image-mode", ["dog/002.png", "dog/008.png"]),
    ]


@listed("images_empty_folder", "images", "folder")
def _(folder):
    write_images(folder, {"bird": 8, "cat": 8, "dog": 0}, 36)
    return [fault("empty-folder", ["dog"])]


@listed("images_conflicting_and_duplicates", "images", "folder")
def _(folder):
    write_images(folder, {"cat": 10, "dog": 10}, 37)
    shutil.copyfile(folder / "cat" / "002.png", folder / "dog" / "007.png")
    shutil.copyfile(folder / "dog" / "001.png", folder / "dog" / "009.png")
    both = ["cat/002.png", "dog/007.png"]
    return [
        fault("conflicting-labels", both, "folder", groups=[both]),
        fault("duplicates", ["dog/009.png"], None, of=["dog/001.png"]),
    ]


@listed("images_symlink_loop", "images", "folder")
def _(folder):
    write_images(folder, {"cat": 6, "dog": 6}, 38)
    (folder / "dog" / "again").symlink_to("..", target_is_directory=True)
    (folder / "cat" / "gone.png").symlink_to("no_such_file.png")
    return [fault("symlink-loop", ["dog/again"]), fault("broken-symlink", ["cat/gone.png"])]


@listed("images_imbalance", "images", "folder")
def _(folder):
    write_images(folder, {"common": 48, "rare": 3}, 39, "bmp")
    where = [f"rare/{i:03d}.bmp" for i in range(3)]
    return [fault("imbalance", where, "folder", classes={"common": 48, "rare": 3})]


# ---- faulty: saved to disk with Hugging Face datasets


@listed("hf_null_and_label", "hf", "label")
def _(folder):
    text = [f"sentence {i}" for i in range(40)]
    text[13] = None
    label = [i % 2 for i in range(40)]
    label[24] = label[25] = label[30] = 2
    write_hf(folder, {"text": text, "label": label}, {"text": TEXT, "label": CLASS_LABEL})
    return [fault("missing-null", [13], "text"), fault("labels-out-of-range", [24, 25, 30], "label")]


@listed("hf_conflicting_and_duplicates", "hf", "label")
def _(folder):
    text, label = [f"comment {i} of the day" for i in range(36)], [i % 2 for i in range(36)]
    text[17] = text[10]
    text[28] = text[4]
    write_hf(folder, {"text": text, "label": label}, {"text": TEXT, "label": CLASS_LABEL})
    return [
        fault("conflicting-labels", [10, 17], "label", groups=[[10, 17]]),
        fault("duplicates", [28], None, of=[4]),
    ]


@listed("hf_cut_off", "hf", "label")
def _(folder):
    columns = {"x": rng(40).normal(0, 1, 50), "label": np.arange(50) % 2}
    write_hf(folder, columns, {"x": FLOAT, "label": CLASS_LABEL})
    path = folder / "data-00000-of-00001.arrow"
    path.write_bytes(path.read_bytes()[:-300])
    return [fault("broken-file", ["data-00000-of-00001.arrow"])]


@listed("hf_count_mismatch", "hf", "label")
def _(folder):
    columns = {"x": rng(41).normal(0, 1, 30), "label": np.arange(30) % 2}
    write_hf(folder, columns, {"x": FLOAT, "label": CLASS_LABEL}, n=34)
    return [fault("count-mismatch", ["dataset_info.json"], None, says=34, has=30)]


# ---- clean, though they may look odd


@listed("clean_csv_minus_one", "csv", "label", "data.csv")
def _(folder):
    rows = table(50, 60)
    steps = rng(51).integers(-3, 4, 60)
    rows = [[*r[:3], str(s), r[3]] for r, s in zip(rows, steps, strict=True)]
    write_csv(folder / "data.csv", [*HEAD[:3], "step", "label"], rows)
    return []


@listed("clean_csv_skewed", "csv", "label", "data.csv")
def _(folder):
    rows = table(52, 96)
    for i, row in enumerate(rows):
        row[3] = "minor" if i % 8 == 0 else "major"
    write_csv(folder / "data.csv", HEAD, rows)
    return []


@listed("clean_csv_constant_column", "csv", "label", "data.csv")
def _(folder):
    rows = [[*r[:3], "1.0", "v2", r[3]] for r in table(53, 40)]
    write_csv(folder / "data.csv", [*HEAD[:3], "scale", "version", "label"], rows)
    return []


@listed("clean_csv_quoted_bom", "csv", "label", "data.csv")
def _(folder):
    rows = [[f'remark "{i}", café\nsecond line', f"{i / 8}", "ab"[i % 2]] for i in range(30)]
    write_csv(folder / "data.csv", ["remark", "x", "label"], rows, encoding="utf-8-sig")
    return []


@listed("clean_csv_count_through_999", "csv", "label", "data.csv")
def _(folder):
    rows = [[str(970 + i), *r[1:]] for i, r in enumerate(table(54, 60))]
    write_csv(folder / "data.csv", ["part", *HEAD[1:]], rows)
    return []


@listed("clean_tsv_number_forms", "tsv", "label", "data.tsv")
def _(folder):
    forms = ["3", "3.5", "1e2", "-4.25E-1", "+7", "0.0"]
    rows = [[r[0], forms[i % 6], r[2], r[3]] for i, r in enumerate(table(55, 42))]
    write_csv(folder / "data.tsv", HEAD, rows, "\t")
    return []


@listed("clean_jsonl_nan_as_word", "jsonl", "label", "data.jsonl")
def _(folder):
    words = [
        "nan bread for {} people",
        "my nan is {} years old",
        "null island is {} km away",
        "inf in no. {}",
        "why {}?",
    ]
    rows = [{"text": words[i % 5].format(i + 2), "label": i % 2} for i in range(40)]
    write_jsonl(folder / "data.jsonl", rows)
    return []


@listed("clean_jsonl_few_values", "jsonl", "label", "data.jsonl")
def _(folder):
    score = rng(63).normal(0, 1, 48).round(6).tolist()
    rows = [{"colour": "rgb"[i % 3], "size": i % 2, "score": s, "label": i // 3 % 2} for i, s in enumerate(score)]
    write_jsonl(folder / "data.jsonl", rows)
    return []


@listed("clean_parquet_nullable", "parquet", "label", "data.parquet")
def _(folder):
    columns = {"x": pa.array(rng(56).integers(0, 2**40, 40)), "flag": pa.array([i % 5 == 0 for i in range(40)])}
    pq.write_table(pa.table({**columns, "label": pa.array([i % 2 for i in range(40)])}), folder / "data.parquet")
    return []


@listed("clean_npz_right_padded", "npz", "label", "tokens.npz")
def _(folder):
    ids = np.zeros((32, 12), np.int64)
    for i in range(32):
        ids[i, : 5 + i % 8] = rng([57, i]).integers(1, 500, 5 + i % 8)
    np.savez(folder / "tokens.npz", input_ids=ids, attention_mask=(ids > 0).astype(np.int64), label=np.arange(32) % 2)
    return []


@listed("clean_jsonl_left_padded", "jsonl", "label", "data.jsonl")
def _(folder):
    rows = []
    for i in range(30):
        ids = rng([58, i]).integers(1, 900, 4 + i % 5).tolist()
        rows.append({"input_ids": [0] * (10 - len(ids)) + ids, "label": i % 2})
    write_jsonl(folder / "data.jsonl", rows)
    return []


@listed("clean_npy_sparse", "npy", None, "x.npy")
def _(folder):
    x = np.zeros((40, 30), np.float32)
    x[np.arange(40), np.arange(40) % 30] = rng(59).uniform(1, 2, 40)
    np.save(folder / "x.npy", x)
    return []


@listed("clean_idx", "idx", "labels")
def _(folder):
    write_idx(folder, *digits(60, 60))
    return []


@listed("clean_cifar", "cifar", "label")
def _(folder):
    write_cifar(folder, *cifar(61, 30))
    return []


@listed("clean_images_black", "images", "folder")
def _(folder):
    write_images(folder, {"day": 10, "night": 8}, 62)
    Image.new("RGB", (24, 24)).save(folder / "night" / "003.png")
    (folder / "README.txt").write_text("Pictures by day and by night.\n")
    return []


@listed("clean_hf", "hf", "label")
def _(folder):
    columns = {"text": [f"entry {i}" for i in range(30)], "label": [i % 2 for i in range(30)]}
    write_hf(folder, columns, {"text": TEXT, "label": CLASS_LABEL})
    return []


def build(root):
    """Write all sets below root/sets and root/sets.json; give back the list."""
    out = []
    for name, source, label, path, write in SETS:
        folder = Path(root) / "sets" / name
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir(parents=True)
        faults = write(folder)
        place = f"sets/{name}/{path}" if path else f"sets/{name}"
        out.append({"name": name, "path": place, "source": source, "label_field": label, "faults": faults})
    (Path(root) / "sets.json").write_text(json.dumps(out, indent=1) + "\n")
    return out


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)

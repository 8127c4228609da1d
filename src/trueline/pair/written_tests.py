"""The benchmark's recorded inputs and outputs of sub-networks, as a pytest file for the port that needs no TrueLine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from trueline.adapters.guest.entry import Entry
from trueline.apitable.layers import layer_of_class
from trueline.formats.run_folder.appending import replace_file
from trueline.kernel.array import Array
from trueline.model.json_value import Json, JsonObject
from trueline.model.message import Message, message
from trueline.model.trouble import BadFile
from trueline.pair.aligning.aligned import Aligned
from trueline.pair.forward.forced import Reference
from trueline.pair.questions.model import GetWeights
from trueline.pair.sides.side import Side

# Rounding of one layer, and of a block of them, relative to the largest value.
_LAYER: Final = 1e-4
_BLOCK: Final = 1e-3


@dataclass(frozen=True)
class Kept:
    """What the tests need: the port's weights, and by module inputs, outputs and how far apart they may be."""

    framework: str
    weights: Mapping[str, Array]
    cases: Sequence[tuple[str, Sequence[Array], Sequence[Array], float]]


def keep_cases(port: Side, aligned: Aligned, reference: Reference, below: str = "") -> Kept:
    """The first call of every block, and of every layer that is the user's own, in evaluation."""
    cases = []
    seen: set[str] = set()
    for matched in reference.matched:
        path = matched.port.path
        inside = not below or path == below or path.startswith(f"{below}.")
        if matched.silent or path in seen or not inside or not (matched.port.plain and matched.bench.plain):
            continue
        if matched.unit and layer_of_class(aligned.port.classes.get(path, "")) is not None:
            continue
        seen.add(path)
        ins, outs = (reference.all(matched.bench.path, matched.bench.call, kind) for kind in ("in", "out"))
        cases.append((path, list(ins.values()), list(outs.values()), _LAYER if matched.unit else _BLOCK))
    return Kept(aligned.port.framework, port.answer(GetWeights()), cases)


@dataclass(frozen=True, slots=True)
class WrittenTests:
    """The file that was written, its arrays beside it, and how many cases it has."""

    file: Path
    arrays: Path
    cases: int

    def to_json(self) -> JsonObject:
        """The JSON shape."""
        return {"file": str(self.file), "arrays": str(self.arrays), "cases": self.cases}

    def said(self) -> Message:
        """What was written, in a sentence."""
        return message("pair.tests_written", **self.to_json())


def write_tests(
    file: Path, kept: Kept, bench: str, entry: Entry, args: Sequence[Json], kwargs: Mapping[str, Json]
) -> WrittenTests:
    """Write the file, and beside it its arrays (.npz)."""
    arrays: dict[str, Array] = {f"weight/{name}": array for name, array in kept.weights.items()}
    rows = []
    for place, (path, ins, outs, tolerance) in enumerate(kept.cases):
        arrays |= {f"{place}/in/{index}": array for index, array in enumerate(ins)}
        arrays |= {f"{place}/out/{index}": array for index, array in enumerate(outs)}
        rows.append(f"    ({path!r}, {place}, {len(ins)}, {len(outs)}, {tolerance!r}),")
    find = (_FROM_FILE if entry.is_file else _FROM_MODULE).format(module=entry.module)
    text = _FILE.format(
        bench=bench,
        port=str(entry),
        cases="\n".join(rows),
        imports=_IMPORTS[kept.framework],
        find=find,
        name=entry.name,
        args=list(args),
        kwargs=dict(kwargs),
        load=_LOADS[kept.framework],
        run=_RUNS[kept.framework],
    )
    try:
        beside = file.with_suffix(".npz")
        with beside.open("wb") as sink:
            np.savez(sink, **arrays)
        replace_file(file, text.encode())
    except OSError as error:
        raise BadFile(file, error.strerror or str(error)) from None
    return WrittenTests(file, beside, len(kept.cases))


_IMPORTS: Final = {"torch": "import torch", "mindspore": "import mindspore"}
_FROM_MODULE: Final = "importlib.import_module({module!r})"
_FROM_FILE: Final = "_from_file({module!r})"
_LOADS: Final = {
    "torch": """    with torch.no_grad():
        for name, tensor in model.state_dict().items():
            tensor.copy_(torch.from_numpy(DATA[f"weight/{name}"]))
    return model.eval()""",
    "mindspore": """    names = [one.name for one in model.get_parameters()]
    weights = {name: mindspore.Parameter(mindspore.Tensor(DATA[f"weight/{name}"])) for name in names}
    mindspore.load_param_into_net(model, weights)
    return model.set_train(False)""",
}
_RUNS: Final = {
    "torch": """    inputs = [torch.from_numpy(DATA[f"{place}/in/{index}"].copy()) for index in range(inputs)]
    with torch.no_grad():
        found = _tensors(dict(model.named_modules())[path](*inputs), torch.Tensor)""",
    "mindspore": """    inputs = [mindspore.Tensor(DATA[f"{place}/in/{index}"]) for index in range(inputs)]
    cell = model if not path else dict(model.cells_and_names())[path]
    found = _tensors(cell(*inputs), mindspore.Tensor)""",
}
_FILE: Final = '''"""The sub-networks of {port} on the inputs that those of {bench} had, against what those gave."""

import importlib
import importlib.util
from pathlib import Path

import numpy as np
import pytest

{imports}

DATA = np.load(Path(__file__).with_suffix(".npz"))
# path, place in the arrays, inputs, outputs, how far apart relative to the largest value
CASES = [
{cases}
]


def _from_file(path):
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _tensors(value, kind):
    if isinstance(value, kind):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [one for item in value for one in _tensors(item, kind)] if isinstance(value, (list, tuple)) else []


@pytest.fixture(scope="module")
def model():
    factory = {find}
    for part in {name!r}.split("."):
        factory = getattr(factory, part)
    model = factory(*{args!r}, **{kwargs!r})
{load}


@pytest.mark.parametrize("case", CASES, ids=[one[0] or "whole" for one in CASES])
def test_sub_network(model, case):
    path, place, inputs, outputs, tolerance = case
{run}
    assert len(found) == outputs
    for index, tensor in enumerate(found):
        wanted = DATA[f"{{place}}/out/{{index}}"]
        array = tensor.detach().numpy() if hasattr(tensor, "detach") else tensor.asnumpy()
        assert array.shape == wanted.shape
        scale = np.abs(wanted).max() or 1.0
        assert np.abs(array - wanted).max() <= tolerance * scale
'''

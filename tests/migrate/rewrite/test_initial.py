"""An initialisation draws from torch's distribution."""

from __future__ import annotations

from pathlib import Path

import mindspore
import numpy
import pytest
import torch
from tests.migrate.rewrite.pairs import drafted, load

_CALLS = [
    "nn.init.kaiming_normal_(layer.weight, mode='fan_out', nonlinearity='relu')",
    "nn.init.kaiming_uniform_(layer.weight, a=2.0)",
    "nn.init.kaiming_normal_(layer.weight)",
    "nn.init.xavier_uniform_(layer.weight, gain=0.5)",
    "nn.init.xavier_normal_(layer.weight)",
    "nn.init.normal_(layer.weight, mean=0.3, std=0.02)",
    "nn.init.normal_(layer.weight)",
    "nn.init.uniform_(layer.weight, -0.3, 0.3)",
    "nn.init.constant_(layer.weight, 0.7)",
    "nn.init.trunc_normal_(layer.weight, std=0.02)",
    "nn.init.trunc_normal_(layer.weight, std=1.0)",
    "nn.init.orthogonal_(layer.weight)",
    "layer.weight.data.normal_(0.0, 0.5)",
    "layer.weight.data.fill_(2)",
    "nn.init.zeros_(layer.bias)",
    "pass  # torch's default",
]


@pytest.fixture(scope="module")
def layers(tmp_path_factory: pytest.TempPathFactory) -> tuple[object, object]:
    folder = Path(tmp_path_factory.mktemp("initial"))
    functions = [
        f"def made_{place}():\n    layer = nn.Linear(300, 200)\n    {call}\n    return layer\n"
        for place, call in enumerate(_CALLS)
    ]
    draft = drafted(folder, "import torch\nfrom torch import nn\n\n\n" + "\n\n".join(functions))
    assert not draft.left
    (folder / "draft.py").write_text(draft.text)
    return load(folder / "script.py", "bench_initial"), load(folder / "draft.py", "port_initial")


@pytest.mark.parametrize("place", range(len(_CALLS)), ids=_CALLS)
def test_a_draw_has_torchs_distribution(place: int, layers: tuple[object, object]) -> None:
    torch.manual_seed(0)
    mindspore.set_seed(1)
    ours, theirs = (getattr(module, f"made_{place}")() for module in layers)
    for name in ("weight", "bias"):
        one, other = getattr(ours, name).detach().numpy(), getattr(theirs, name).asnumpy()
        shares = numpy.linspace(0.02, 0.98, 25)
        scale = float(one.std()) or 1.0
        limit = 0.08 if one.size > 1000 else 0.5
        assert numpy.abs(numpy.quantile(one, shares) - numpy.quantile(other, shares)).max() <= limit * scale
        assert float(other.std()) == pytest.approx(float(one.std()), rel=0.03 if one.size > 1000 else 0.25, abs=1e-6)

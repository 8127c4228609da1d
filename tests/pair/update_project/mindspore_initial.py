"""The same models, ported; some with another initialisation."""

from __future__ import annotations

from mindspore import nn
from mindspore.common.initializer import HeNormal, Normal, XavierUniform, Zero, initializer


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        pad = {"pad_mode": "valid", "has_bias": True}
        self.stem = nn.Conv2d(3, 32, 3, **pad)
        self.blocks = nn.CellList(
            [nn.Conv2d(32, 48, 3, **pad), nn.Conv2d(48, 64, 3, **pad), nn.Conv2d(64, 32, 3, **pad)]
        )
        self.bn = nn.BatchNorm2d(32)
        self.up = nn.Conv2dTranspose(32, 16, 2, **pad)
        self.lstm = nn.LSTM(16, 24)
        self.norm = nn.LayerNorm((24,), epsilon=1e-5)
        self.fc = nn.Dense(24, 40)

    def draw(self, conv, bias, gamma, dense) -> Net:
        for _, one in self.cells_and_names():
            if isinstance(one, nn.Conv2d):
                one.weight.set_data(initializer(conv, one.weight.shape))
                one.bias.set_data(initializer(bias, one.bias.shape))
        self.bn.gamma.set_data(initializer(gamma, self.bn.gamma.shape))
        self.fc.weight.set_data(initializer(dense, self.fc.weight.shape))
        return self


def default() -> Net:
    return Net()


def kaiming() -> Net:
    return Net().draw(HeNormal(mode="fan_out", nonlinearity="relu"), Zero(), Zero(), Normal(0.01))


def xavier() -> Net:
    return Net().draw(XavierUniform(), Zero(), Zero(), Normal(0.01))


def plain_gamma() -> Net:
    return Net().draw(HeNormal(mode="fan_out", nonlinearity="relu"), Zero(), "ones", Normal(0.02))

from mindspore import nn, ops


class DialNet(nn.Cell):
    """Shared trunk; one head names the dial, the other reads its angle as (cos, sin)."""

    def __init__(self, n_in, kinds, width=48):
        super().__init__()
        self.trunk = nn.SequentialCell(nn.Dense(n_in, width), nn.ReLU(), nn.Dense(width, width), nn.ReLU())
        self.kind_head = nn.Dense(width, kinds)
        self.angle_head = nn.Dense(width, 2)

    def construct(self, x):
        h = self.trunk(x)
        return self.kind_head(h), self.angle_head(h)


class MultiTaskLoss(nn.Cell):
    def __init__(self, net, angle_weight):
        super().__init__()
        self.net = net
        self.angle_weight = angle_weight
        self.ce = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        self.reg = nn.SmoothL1Loss(beta=1.0, reduction="mean")

    def construct(self, x, kind, angle):
        logits, pred = self.net(x)
        ce, reg = self.ce(logits, kind), self.reg(pred, angle)
        # the parts are returned for the log only
        return ce + self.angle_weight * reg, ops.stop_gradient(ce), ops.stop_gradient(reg)

import math

from mindspore import nn, ops
from mindspore import dtype as mstype


class WarmupCosine(nn.learning_rate_schedule.LearningRateSchedule):
    """Asked by the optimizer with its own step counter, so nobody has to call it in the loop."""

    def __init__(self, peak, warmup, total):
        super().__init__()
        self.peak, self.warmup, self.total = peak, warmup, total
        self.cos = ops.Cos()
        self.minimum = ops.Minimum()

    def construct(self, step):
        s = step.astype(mstype.float32)
        ramp = self.minimum((s + 1.0) / self.warmup, ops.ones_like(s))
        return self.peak * ramp * (0.5 + 0.5 * self.cos(math.pi * s / self.total))

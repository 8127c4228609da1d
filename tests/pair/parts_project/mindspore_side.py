"""A user's MindSpore model, and losses of the user's own."""

from __future__ import annotations

import mindspore as ms
from mindspore import nn, ops


def net() -> nn.Cell:
    return nn.Dense(4, 5)


class SmoothOverOthers(nn.Cell):
    """Label smoothing as many ports write it: the mass goes to the other classes only."""

    def __init__(self, smooth: float = 0.1, num_classes: int = 5) -> None:
        super().__init__()
        self.onehot = nn.OneHot(depth=num_classes, on_value=1.0 - smooth, off_value=smooth / (num_classes - 1), axis=-1)
        self.ce = nn.SoftmaxCrossEntropyWithLogits(reduction="mean")

    def construct(self, logits, labels):
        return self.ce(logits, self.onehot(labels))


class SmoothOverAll(nn.Cell):
    """Label smoothing by hand, as torch has it."""

    def __init__(self, smooth: float = 0.1) -> None:
        super().__init__()
        self.smooth = smooth

    def construct(self, logits, labels):
        logs = ops.log_softmax(logits, -1)
        picked = -logs.gather_elements(-1, labels.reshape(-1, 1).astype(ms.int32)).mean()
        return (1 - self.smooth) * picked - self.smooth * logs.mean()


class SoftmaxFirst(nn.Cell):
    """Softmax before a loss that has one of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.ce = nn.CrossEntropyLoss()

    def construct(self, logits, labels):
        return self.ce(ops.softmax(logits, -1), labels)


class SumOfSquares(nn.Cell):
    """The same as torch_side's, with the square of something else."""

    def construct(self, output, labels):
        one_hot = ops.one_hot(labels, output.shape[-1], ms.Tensor(1.0), ms.Tensor(0.0))
        return (one_hot * output.cos()).square().sum() / len(labels)


class UnsafeLog(nn.Cell):
    """Cross entropy as the logarithm of a softmax, which is -inf for large outputs."""

    def construct(self, logits, labels):
        probabilities = ops.softmax(logits, -1)
        one_hot = ops.one_hot(labels, logits.shape[-1], ms.Tensor(1.0), ms.Tensor(0.0))
        return -(ops.log((probabilities * one_hot).sum(-1))).mean()


def macro_recall(scores, labels):
    chosen, wanted = scores.asnumpy().argmax(1), labels.asnumpy()
    return sum((chosen[wanted == one] == one).mean() for one in set(wanted.tolist())) / len(set(wanted.tolist()))

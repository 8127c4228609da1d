"""Cross entropy with smoothed labels, as torch smooths them."""

from mindspore import Tensor, nn, ops


class SmoothedCrossEntropy(nn.Cell):
    """A share of every label is spread over all K classes, the right one too: 1 - s + s/K there, s/K elsewhere."""

    def __init__(self, smoothing, classes):
        super().__init__()
        self.classes = classes
        self.elsewhere = Tensor(smoothing / classes)
        self.right = Tensor(1 - smoothing + smoothing / classes)
        self.cross_entropy = nn.SoftmaxCrossEntropyWithLogits(reduction="mean")

    def construct(self, logits, labels):
        return self.cross_entropy(logits, ops.one_hot(labels, self.classes, self.right, self.elsewhere))

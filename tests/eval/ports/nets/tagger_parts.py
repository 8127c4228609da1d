"""What the two taggers are trained with: a loss that leaves padded places out, and momentum."""

from __future__ import annotations

import numpy as np

PADDED = 0


def batches():
    random = np.random.default_rng(7)
    found = []
    for _ in range(4):
        labels = random.integers(0, 5, (3, 10))
        labels[0, 7:] = PADDED
        found.append((random.integers(0, 30, (3, 10)), labels))
    return found


def bench_loss():
    import mindspore

    loss = mindspore.nn.CrossEntropyLoss(ignore_index=PADDED)
    return lambda scores, labels: loss(scores.reshape(-1, 5), labels.reshape(-1).astype(mindspore.int32))


def port_loss():
    import torch

    loss = torch.nn.CrossEntropyLoss(ignore_index=PADDED)
    return lambda scores, labels: loss(scores.reshape(-1, 5), labels.reshape(-1))


def bench_optimizer(model):
    from mindspore import nn

    groups = [{"params": model.trainable_params(), "weight_decay": 1e-4}]
    return nn.SGD(groups, learning_rate=0.1, momentum=0.9)


def port_optimizer(model):
    import torch

    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)


def bench_metric():
    def share_right(scores, labels):
        scores, labels = np.asarray(scores), np.asarray(labels)
        kept = labels != PADDED
        return float((scores.argmax(-1) == labels)[kept].mean())

    return share_right


def port_metric():
    def accuracy(scores, labels):
        right = np.asarray(scores).argmax(-1) == np.asarray(labels)
        return float(right[np.asarray(labels) != PADDED].mean())

    return accuracy

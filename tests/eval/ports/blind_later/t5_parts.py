"""How both T5s are trained and judged; the label 0 is padding."""

import numpy as np

PAD = 0


def batches():
    """Three batches of sources, targets and labels; the targets are the labels one place later."""
    draw = np.random.default_rng(41)
    found = []
    for _ in range(3):
        source, labels = draw.integers(1, 48, (3, 10)), draw.integers(1, 48, (3, 7))
        source[0, 7:] = PAD
        labels[0, 4:] = PAD
        labels[2, 6:] = PAD
        target = np.concatenate((np.zeros((3, 1), labels.dtype), labels[:, :-1]), axis=1)
        found.append((source, target, labels))
    return found


def bench_loss():
    """Mean over the tokens that are not padding."""
    import torch.nn.functional as F

    return lambda logits, labels: F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD)


def port_loss():
    """Mean over the tokens that are not padding."""
    import mindspore
    from mindspore import nn

    entropy = nn.CrossEntropyLoss(ignore_index=PAD)

    def loss(logits, labels):
        return entropy(logits.reshape((-1, logits.shape[-1])), labels.reshape(-1).astype(mindspore.int32))

    return loss


def bench_optimizer(model):
    """AdamW over everything."""
    import torch

    return torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.98), eps=1e-6, weight_decay=0.01)


def port_optimizer(model):
    """AdamW over everything."""
    from mindspore.experimental import optim

    return optim.AdamW(model.trainable_params(), lr=1e-3, betas=(0.9, 0.98), eps=1e-6, weight_decay=0.01)


def as_array(value):
    """A NumPy array of a tensor or an array."""
    if hasattr(value, "detach"):
        value = value.detach()
    return value.numpy() if hasattr(value, "numpy") else np.asarray(value)


def bench_metric():
    """Share of the right tokens among those that are not padding."""
    import torch

    def token_accuracy(logits, labels):
        best, labels = torch.as_tensor(as_array(logits)).argmax(-1), torch.as_tensor(as_array(labels))
        return (best == labels)[labels != PAD].float().mean().item()

    return token_accuracy


def port_metric():
    """Share of the right tokens among those that are not padding."""

    def token_accuracy(logits, labels):
        labels = as_array(labels)
        kept = labels != PAD
        right = (as_array(logits).argmax(-1) == labels) & kept
        return float(right.sum() / kept.sum())

    return token_accuracy

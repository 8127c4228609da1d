"""Pretrain on four stripe patterns, then reuse the backbone for two others with a new head only."""

import os
import tempfile

import numpy as np
import mindspore as ms
import mindspore.dataset as ds
from mindspore import nn

from backbone import Classifier

ms.set_seed(8)


def stripes(kinds, n, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[:8, :8]
    pats = [yy % 2, xx % 2, (yy + xx) % 2, (yy // 2) % 2, (xx // 2) % 2, ((yy + xx) // 2) % 2]
    label = rng.integers(0, len(kinds), n)
    imgs = np.stack([pats[kinds[c]] * 2.0 - 1.0 for c in label]) + 0.6 * rng.normal(size=(n, 8, 8))
    return imgs[:, None].astype(np.float32), label.astype(np.int32)


def pipeline(kinds, n, seed, train):
    d = ds.NumpySlicesDataset(stripes(kinds, n, seed), ["img", "label"], shuffle=train)
    return d.batch(32, drop_remainder=train)


def fit(net, params, kinds, seed, epochs, lr, freeze_backbone):
    train, valid = pipeline(kinds, 128, seed, True), pipeline(kinds, 64, seed + 1, False)
    loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    opt = nn.Momentum(params, learning_rate=lr, momentum=0.9)

    def forward(img, label):
        return loss_fn(net(img), label)

    grad_fn = ms.value_and_grad(forward, None, opt.parameters)
    tr = train.create_tuple_iterator(num_epochs=epochs)
    va = valid.create_tuple_iterator(num_epochs=epochs)
    for e in range(epochs):
        net.set_train(True)
        if freeze_backbone:
            # running statistics belong to the pretrained weights, leave them alone
            net.backbone.set_train(False)
        total = 0.0
        for img, label in tr:
            loss, grads = grad_fn(img, label)
            opt(grads)
            total += float(loss.asnumpy())
        net.set_train(False)
        right = sum(int((net(img).argmax(1) == label).sum().asnumpy()) for img, label in va)
        print(f"  epoch {e}: loss {total / train.get_dataset_size():.3f}  acc {right / 64:.3f}")


def load_backbone(net, path):
    """Only backbone.* is taken; the old head has another number of classes."""
    weights = {k: v for k, v in ms.load_checkpoint(path).items() if k.startswith("backbone.")}
    missing, extra = ms.load_param_into_net(net, weights, strict_load=True)
    assert not extra and set(missing) == {p.name for p in net.head.get_parameters()}, (missing, extra)


def main():
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "stripes4.ckpt")
        print("pretraining")
        source = Classifier(4)
        fit(source, source.trainable_params(), [0, 1, 2, 3], 10, 2, 0.05, False)
        ms.save_checkpoint(source, path)

        print("new head")
        target = Classifier(2)
        load_backbone(target, path)
    for p in target.backbone.get_parameters():
        p.requires_grad = False
    # trainable_params() is now the head and nothing else
    fit(target, target.trainable_params(), [4, 5], 20, 2, 0.1, True)


if __name__ == "__main__":
    main()

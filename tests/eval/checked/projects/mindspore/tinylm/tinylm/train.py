"""python -m tinylm.train"""

import math
from dataclasses import dataclass

import mindspore as ms
import mindspore.dataset as ds
from mindspore import nn, ops

from .model import TinyLM
from .text import IGNORE, VOCAB, Corpus


@dataclass(frozen=True)
class Config:
    length: int = 12
    batch: int = 32
    epochs: int = 2
    lr: float = 2e-2
    warmup: int = 2
    decay: float = 0.01
    clip: float = 1.0


def loader(n, seed, cfg, train):
    data = ds.GeneratorDataset(Corpus(n, seed, cfg.length), ["ids", "next"], shuffle=train, num_parallel_workers=1)
    return data.batch(cfg.batch)


def param_groups(model, decay):
    no_decay = [p for p in model.trainable_params() if p.ndim < 2 or "embedding" in p.name or p.name == "pos"]
    skip = {p.name for p in no_decay}
    rest = [p for p in model.trainable_params() if p.name not in skip]
    return [{"params": rest, "weight_decay": decay}, {"params": no_decay, "weight_decay": 0.0}]


def token_loss(logits, target, reduction="mean"):
    return ops.cross_entropy(logits.reshape(-1, VOCAB), target.reshape(-1), ignore_index=IGNORE, reduction=reduction)


def perplexity(model, batches):
    model.set_train(False)
    nll, count = 0.0, 0
    for ids, target in batches:
        nll += float(token_loss(model(ids), target, "sum").asnumpy())
        count += int((target != IGNORE).sum().asnumpy())
    return math.exp(nll / count)


def run(cfg=Config()):
    ms.set_seed(7)
    train, valid = loader(160, 1, cfg, True), loader(48, 2, cfg, False)
    total = train.get_dataset_size() * cfg.epochs
    rate = [
        cfg.lr * min(1.0, (i + 1) / cfg.warmup) * (0.5 + 0.5 * math.cos(math.pi * max(0, i - cfg.warmup) / total))
        for i in range(total)
    ]
    model = TinyLM(cfg.length)
    opt = nn.Adam(param_groups(model, cfg.decay), learning_rate=rate)

    def forward(ids, target):
        return token_loss(model(ids), target)

    backward = ms.value_and_grad(forward, None, opt.parameters)
    train_it = train.create_tuple_iterator(num_epochs=cfg.epochs)
    valid_it = valid.create_tuple_iterator(num_epochs=cfg.epochs)
    for epoch in range(cfg.epochs):
        model.set_train(True)
        trace = []
        for ids, target in train_it:
            loss, grads = backward(ids, target)
            opt(ops.clip_by_global_norm(grads, cfg.clip))
            trace.append(float(loss.asnumpy()))
        print(f"epoch {epoch}  loss {trace[0]:.3f} -> {trace[-1]:.3f}  valid ppl {perplexity(model, valid_it):.2f}")


if __name__ == "__main__":
    run()

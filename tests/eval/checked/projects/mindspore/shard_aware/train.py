"""Logistic-ish classifier that runs alone or under `msrun --worker_num=N train.py`."""

import tempfile

import mindspore as ms
from mindspore import nn

import dist
import files


def log(rank, *text):
    if rank == 0:
        print(*text, flush=True)


def main(epochs=3, batch=32, lr=0.05):
    rank, world = dist.setup()
    ms.set_seed(1)  # same start weights on every rank

    with tempfile.TemporaryDirectory() as train_dir, tempfile.TemporaryDirectory() as valid_dir:
        files.write_parts(train_dir, parts=4, rows=48, seed=10)
        files.write_parts(valid_dir, parts=1, rows=72, seed=11)
        train = files.loader(train_dir, batch // world, True, rank, world)
        valid = files.loader(valid_dir, 36, False)

    net = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dense(16, 2))
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    opt = nn.Momentum(net.trainable_params(), lr, 0.9, weight_decay=1e-4)
    reduce_grads = dist.grad_reducer(opt.parameters, world)

    def forward(x, y):
        return loss(net(x), y)

    fn = ms.value_and_grad(forward, None, opt.parameters)
    train_it, valid_it = (d.create_tuple_iterator(num_epochs=epochs) for d in (train, valid))
    for epoch in range(epochs):
        net.set_train(True)
        running = 0.0
        for x, y in train_it:
            value, grads = fn(x, y)
            opt(reduce_grads(grads))
            running += float(value.asnumpy())
        net.set_train(False)
        good = sum(int((net(x).argmax(-1) == y).sum().asnumpy()) for x, y in valid_it)
        log(rank, f"epoch {epoch}: loss {running / train.get_dataset_size():.4f} valid {good / 72:.3f}")


if __name__ == "__main__":
    main()

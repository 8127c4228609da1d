"""Next-number model trained on windows of three small batches."""
import numpy as np
import mindspore as ms
from mindspore import nn, ops, Tensor

ms.set_context(mode=ms.PYNATIVE_MODE)


class Accumulator:
    def __init__(self, optimizer, every):
        self.optimizer = optimizer
        self.every = every
        self.buffers = optimizer.parameters.clone(prefix="accum", init="zeros")
        self.count = 0

    def __call__(self, grads):
        for buffer, grad in zip(self.buffers, grads):
            ops.assign_add(buffer, grad / self.every)
        self.count += 1
        if self.count % self.every:
            return False
        self.optimizer(tuple(self.buffers))
        for buffer in self.buffers:
            buffer.set_data(ops.zeros_like(buffer))
        self.count = 0
        return True


class Sequence(nn.Cell):
    def __init__(self, vocab=12, dim=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.mix = nn.Dense(dim * 4, dim * 2)
        self.out = nn.Dense(dim * 2, vocab)

    def construct(self, ids):
        h = self.embed(ids)
        h = h.reshape(h.shape[0], -1)
        return self.out(ops.relu(self.mix(h)))


def ngrams(rng, size, vocab=12):
    start = rng.integers(0, vocab, size=(size, 1))
    stride = rng.integers(1, 4, size=(size, 1))
    rows = (start + stride * np.arange(5)) % vocab
    return Tensor(rows[:, :4].astype(np.int32)), Tensor(rows[:, 4].astype(np.int32))


def main(micro=16, every=3, steps=96):
    ms.set_seed(3)
    rng = np.random.default_rng(3)
    net = Sequence()
    loss_fn = nn.CrossEntropyLoss()
    optimizer = nn.Adam(net.trainable_params(), learning_rate=0.02)
    accumulate = Accumulator(optimizer, every)
    grad_fn = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, optimizer.parameters)
    net.set_train(True)
    window = []
    for i in range(steps):
        loss, grads = grad_fn(*ngrams(rng, micro))
        accumulate(grads)
        window.append(float(loss.asnumpy()))
        if i % 16 == 15:
            print(f"step {i} loss {np.mean(window):.4f}")
            window = []


if __name__ == "__main__":
    main()

"""Average over all tokens of all workers when the batches differ in length (MindSpore)."""
import numpy as np
import mindspore as ms
import mindspore.dataset as ds
from mindspore import Tensor, nn, ops
from mindspore.communication import get_group_size, get_rank, init

VOCAB, SEQ, PAD = 30, 12, 0


def corpus(n=192, seed=0):
    rng = np.random.default_rng(seed)
    ids = rng.integers(1, VOCAB, (n, SEQ)).astype(np.int32)
    length = rng.integers(3, SEQ + 1, n)
    ids[np.arange(SEQ)[None, :] >= length[:, None]] = PAD
    return ids


class Bigram(nn.Cell):
    def __init__(self, dim=20):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim)
        self.mid = nn.Dense(dim, dim, activation="relu")
        self.out = nn.Dense(dim, VOCAB)

    def construct(self, ids):
        return self.out(self.mid(self.emb(ids)))


class TokenMeanStep:
    def __init__(self, net, optimizer):
        self.net, self.optimizer = net, optimizer
        self.sum = ops.AllReduce(ops.ReduceOp.SUM)
        self.ce = nn.CrossEntropyLoss(reduction="none")
        self.grad_fn = ms.value_and_grad(self.forward, None, optimizer.parameters)

    def forward(self, inp, tgt, mask):
        nll = self.ce(self.net(inp).reshape(-1, VOCAB), tgt.reshape(-1))
        return (nll * mask.reshape(-1)).sum()

    def __call__(self, ids):
        inp, tgt = ids[:, :-1], ids[:, 1:]
        mask = (tgt != PAD).astype(ms.float32)
        loss, grads = self.grad_fn(inp, tgt, mask)
        tokens = self.sum(mask.sum().reshape(1))
        flat = ops.concat([g.reshape(-1) for g in grads])
        flat = self.sum(flat) / tokens
        out, start = [], 0
        for g in grads:
            n = int(np.prod(g.shape))
            out.append(flat[start:start + n].reshape(g.shape))
            start += n
        self.optimizer(tuple(out))
        return self.sum(loss.reshape(1)) / tokens


def main():
    ms.set_device("CPU")
    ms.set_context(mode=ms.PYNATIVE_MODE)
    init()
    rank, world = get_rank(), get_group_size()
    ms.set_seed(50 + rank)
    net = Bigram()
    send = ops.Broadcast(0)
    for p in net.get_parameters():
        p.set_data(send((p.value(),))[0])
    step_fn = TokenMeanStep(net, nn.Adam(net.trainable_params(), 4e-3))
    data = ds.NumpySlicesDataset({"ids": corpus()}, shuffle=False, num_shards=world, shard_id=rank).batch(8)
    for step, (ids,) in enumerate(data.create_tuple_iterator(num_epochs=1)):
        loss = step_fn(ids)
        if rank == 0:
            print(f"step {step} loss {float(loss.asnumpy()[0]):.4f}", flush=True)


if __name__ == "__main__":
    main()

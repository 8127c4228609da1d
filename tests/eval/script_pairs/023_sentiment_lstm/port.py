import argparse

import numpy as np
import mindspore as ms
import mindspore.nn as nn
import mindspore.ops as ops
from mindspore import Tensor
from mindspore.common.initializer import Normal
from mindspore.dataset import NumpySlicesDataset


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--vocab_size", default=300, type=int)
    parser.add_argument("--embed_dim", default=24, type=int)
    parser.add_argument("--hidden", default=32, type=int)
    parser.add_argument("--max_len", default=18, type=int)
    parser.add_argument("--batch_size", default=32, type=int)
    parser.add_argument("--lr", default=0.3, type=float)
    parser.add_argument("--max_norm", default=1.0, type=float)
    parser.add_argument("--epochs", default=3, type=int)
    parser.add_argument("--log_every", default=0, type=int)
    return parser.parse_args()


def corpus(n, args, seed):
    rng = np.random.RandomState(seed)
    label = rng.randint(0, 2, n)
    ids = np.zeros((n, args.max_len), dtype=np.int32)
    lens = rng.randint(6, args.max_len + 1, n)
    for i in range(n):
        words = rng.randint(40, args.vocab_size, lens[i])
        hot = rng.permutation(lens[i])[:4]
        words[hot] = rng.randint(1, 20, 4) + 20 * label[i]
        ids[i, :lens[i]] = words
    return ids, lens.astype(np.int32), label.astype(np.float32)


class SentimentLSTM(nn.Cell):
    def __init__(self, vocab_size, embed_dim, hidden):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_dim, embedding_table=Normal(sigma=1.0))
        self.lstm = nn.LSTM(embed_dim, hidden, num_layers=1, has_bias=True, batch_first=True, bidirectional=False)
        self.fc = nn.Dense(hidden, 1)

    def construct(self, ids, lens):
        states, _ = self.lstm(self.embedding(ids))
        # pick the state of the last real token
        select = ops.one_hot(lens - 1, states.shape[1], Tensor(1.0, ms.float32), Tensor(0.0, ms.float32))
        last = (states * select.expand_dims(-1)).sum(axis=1)
        return self.fc(last)[:, 0]


class TrainStep:
    def __init__(self, model, loss_fn, optimizer, max_norm):
        self.optimizer, self.max_norm = optimizer, max_norm
        self.value_and_grad = ms.value_and_grad(
            lambda ids, lens, y: loss_fn(model(ids, lens), y), None, optimizer.parameters
        )

    def __call__(self, ids, lens, y):
        loss, grads = self.value_and_grad(ids, lens, y)
        self.optimizer(ops.clip_by_global_norm(grads, self.max_norm))
        return loss


def main():
    args = get_args()
    columns = ["ids", "lens", "label"]
    train = NumpySlicesDataset(corpus(320, args, 0), columns, shuffle=True).batch(args.batch_size, drop_remainder=True)
    test_ids, test_lens, test_label = corpus(96, args, 1)
    model = SentimentLSTM(args.vocab_size, args.embed_dim, args.hidden)
    optimizer = nn.SGD(model.trainable_params(), learning_rate=args.lr, momentum=0.9, dampening=0.0)
    step = TrainStep(model, nn.BCEWithLogitsLoss(), optimizer, args.max_norm)
    for epoch in range(args.epochs):
        model.set_train()
        losses = [float(step(*batch)) for batch in train.create_tuple_iterator()]
        model.set_train(False)
        # sigmoid(z) > 0.5 is z > 0
        guess = model(Tensor(test_ids), Tensor(test_lens)).asnumpy() > 0
        print(f"Epoch {epoch + 1} | loss {np.mean(losses):.4f} | acc {(guess == (test_label > 0.5)).mean():.4f}")


if __name__ == "__main__":
    main()

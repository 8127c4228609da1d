"""Electric load forecasting with an LSTM, MindSpore. The full batch fits in memory here: no accumulation."""
import numpy as np
import mindspore as ms
import mindspore.nn as nn
import mindspore.ops as ops
from mindspore import Tensor

WINDOW, HORIZON, HIDDEN = 16, 4, 24
BATCH = 32
EPOCHS = 4
LR, GAMMA, DECAY_EVERY = 0.1, 0.2, 2
CLIP = 2.0


def load_curve(n=360):
    rng = np.random.RandomState(27)
    t = np.arange(n)
    return (100 + 30 * np.sin(t / 24 * 2 * np.pi) + 10 * np.sin(t / 168 * 2 * np.pi) + 3 * rng.standard_normal(n))


def make_windows(values):
    count = len(values) - WINDOW - HORIZON + 1
    index = np.arange(count)[:, None]
    xs = values[index + np.arange(WINDOW)]
    ys = values[index + WINDOW + np.arange(HORIZON)]
    return xs.astype(np.float32)[:, :, None], ys.astype(np.float32)


class Forecaster(nn.Cell):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(input_size=1, hidden_size=HIDDEN, batch_first=True)
        self.dropout = nn.Dropout(keep_prob=0.9)
        self.head = nn.Dense(in_channels=HIDDEN, out_channels=HORIZON)

    def construct(self, x):
        states, _ = self.rnn(x)
        return self.head(self.dropout(states[:, WINDOW - 1]))


def main():
    ms.set_seed(15)
    values = load_curve()
    train_part, test_part = values[:280], values[280:]
    low = train_part.min()
    span = train_part.max() - low
    x_train, y_train = make_windows((train_part - low) / span)
    x_test, y_test = make_windows((test_part - low) / span)
    steps = len(x_train) // BATCH

    net = Forecaster()
    # StepLR in epochs, written out per optimizer step
    rates = [LR * GAMMA ** (s // steps // DECAY_EVERY) for s in range(EPOCHS * steps)]
    optimizer = nn.Momentum(net.trainable_params(), rates, 0.9)
    grad_fn = ms.value_and_grad(lambda a, b: ops.mse_loss(net(a), b), None, optimizer.parameters)
    rng = np.random.RandomState(4)
    for epoch in range(EPOCHS):
        net.set_train()
        order = rng.permutation(len(x_train))
        losses = []
        for s in range(steps):
            j = order[s * BATCH:(s + 1) * BATCH]
            loss, grads = grad_fn(Tensor(x_train[j]), Tensor(y_train[j]))
            optimizer(ops.clip_by_global_norm(grads, CLIP))
            losses.append(float(loss))
        net.set_train(False)
        predicted = net(Tensor(x_test)).asnumpy() * span + low
        actual = y_test * span + low
        mape = 100 * np.mean(np.abs(predicted - actual) / actual)
        print(f"epoch {epoch} mse {np.mean(losses):.5f} MAPE {mape:.3f}%")


if __name__ == "__main__":
    main()

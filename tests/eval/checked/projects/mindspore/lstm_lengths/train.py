from pathlib import Path

import mindspore as ms
import numpy as np
import yaml
from mindspore import Tensor, nn, ops

from sequences import loader


class SequenceClassifier(nn.Cell):
    def __init__(self, features, hidden):
        super().__init__()
        self.rnn = nn.LSTM(features, hidden, num_layers=1, has_bias=True, batch_first=True)
        self.fc = nn.Dense(hidden, 2)

    def construct(self, x, length):
        states, _ = self.rnn(x)
        # state at the true end of each row; what comes behind it is padding and not read
        at_end = ops.one_hot(length - 1, x.shape[1], Tensor(1.0, ms.float32), Tensor(0.0, ms.float32))
        return self.fc((states * at_end.expand_dims(-1)).sum(axis=1))


def evaluate(model, batches, criterion):
    model.set_train(False)
    loss_sum, right, seen = 0.0, 0, 0
    for x, length, target in batches:
        logits = model(x, length)
        n = target.shape[0]
        loss_sum += float(criterion(logits, target).asnumpy()) * n
        right += int((logits.argmax(-1) == target).sum().asnumpy())
        seen += n
    return loss_sum / seen, right / seen


def main(cfg):
    ms.set_seed(cfg["seed"])
    t, d = cfg["train"], cfg["data"]
    train_set = loader(d["train"], d, t["batch_size"], cfg["seed"], True)
    valid_set = loader(d["valid"], d, t["batch_size"], cfg["seed"] + 1, False)

    model = SequenceClassifier(d["features"], cfg["model"]["hidden"])
    criterion = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Adam(model.trainable_params(), learning_rate=t["lr"])

    def forward(x, length, target):
        return criterion(model(x, length), target)

    grad_fn = ms.value_and_grad(forward, None, optimizer.parameters)
    train_it = train_set.create_tuple_iterator(num_epochs=t["epochs"])
    valid_it = valid_set.create_tuple_iterator(num_epochs=t["epochs"])
    for epoch in range(1, t["epochs"] + 1):
        model.set_train(True)
        history = []
        for x, length, target in train_it:
            loss, grads = grad_fn(x, length, target)
            grads = ops.clip_by_global_norm(grads, t["grad_clip"])
            optimizer(grads)
            history.append(float(loss.asnumpy()))
        val_loss, val_acc = evaluate(model, valid_it, criterion)
        print(f"epoch {epoch:2d} | train {np.mean(history):.4f} | val {val_loss:.4f} | acc {val_acc:.3f}")


if __name__ == "__main__":
    main(yaml.safe_load((Path(__file__).parent / "config.yaml").read_text()))

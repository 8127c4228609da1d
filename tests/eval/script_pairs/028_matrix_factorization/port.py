"""Implicit-feedback matrix factorization with biases, MindSpore."""
import mindspore as ms
import mindspore.nn as nn
import numpy as np
from mindspore import Parameter, Tensor, ops
from mindspore.common.initializer import Normal, initializer
from mindspore.dataset import GeneratorDataset

config = {"n_users": 50, "n_items": 80, "k": 12, "batch": 64, "epochs": 4, "lr": 2.0, "l2": 1e-4, "train_rows": 1200}


def click_log(n=1500):
    rng = np.random.RandomState(19)
    pu, qi = rng.standard_normal((50, 4)), rng.standard_normal((80, 4))
    users, items = rng.randint(0, 50, n), rng.randint(0, 80, n)
    prob = 1 / (1 + np.exp(-2 * (pu[users] * qi[items]).sum(1)))
    clicks = (rng.uniform(size=n) < prob).astype(np.float32)
    return users.astype(np.int32), items.astype(np.int32), clicks


class Rows:
    def __init__(self, users, items, clicks):
        self.columns = (users, items, clicks)

    def __len__(self):
        return len(self.columns[0])

    def __getitem__(self, k):
        return tuple(c[k] for c in self.columns)


class BiasedMF(nn.Cell):
    """plain parameter tables instead of Embedding cells; returns click probabilities"""

    def __init__(self, users, items, k):
        super().__init__()
        self.p = Parameter(initializer(Normal(0.1), [users, k]), name="p")
        self.q = Parameter(initializer(Normal(0.1), [items, k]), name="q")
        self.bu = Parameter(initializer("zeros", [users]), name="bias_user")
        self.bi = Parameter(initializer("zeros", [items]), name="bias_item")

    def construct(self, u, i):
        pu, qi = ops.gather(self.p, u, 0), ops.gather(self.q, i, 0)
        logit = (pu * qi).sum(-1) + ops.gather(self.bu, u, 0) + ops.gather(self.bi, i, 0)
        return ops.sigmoid(logit)


def rank_auc(score, label):
    wins = 0.0
    positives, negatives = score[label > 0.5], score[label < 0.5]
    for s in positives:
        wins += (s > negatives).sum()
    return wins / (len(positives) * len(negatives))


users, items, clicks = click_log()
cut = config["train_rows"]
train = GeneratorDataset(Rows(users[:cut], items[:cut], clicks[:cut]), ["u", "i", "y"], shuffle=True)
train = train.batch(config["batch"])
model = BiasedMF(config["n_users"], config["n_items"], config["k"])
bce = nn.BCELoss(reduction="mean")
optimizer = nn.SGD(model.trainable_params(), learning_rate=config["lr"], weight_decay=config["l2"])
grad_fn = ms.value_and_grad(lambda u, i, y: bce(model(u, i), y), None, optimizer.parameters)
iterator = train.create_dict_iterator(num_epochs=config["epochs"])

for epoch in range(config["epochs"]):
    model.set_train()
    history = []
    for row in iterator:
        value, grads = grad_fn(row["u"], row["i"], row["y"])
        optimizer(grads)
        history.append(value.asnumpy())
    model.set_train(False)
    score = model(Tensor(users[cut:]), Tensor(items[cut:])).asnumpy()
    print(f"epoch {epoch} bce {np.mean(history):.4f} auc {rank_auc(score, clicks[cut:]):.4f}")

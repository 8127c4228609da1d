# house price model on MindSpore, flat script
import logging

import numpy as np
import mindspore as ms
import mindspore.nn as nn
import mindspore.ops as ops
from mindspore.experimental import optim

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("house")
ms.set_seed(20240501)

LEARNING_RATE = 3e-3
BATCH = 2 ** 5
N_TRAIN = 300

# ---- data ----
rng = np.random.RandomState(123)
n = 360
area = rng.uniform(40, 300, n)
rooms = rng.randint(1, 8, n)
age = rng.uniform(0, 100, n)
dist = rng.exponential(8, n)
extra = rng.standard_normal((n, 4))
price = 3000 * area + 10000 * rooms - 500 * age - 4000 * dist + 8000 * extra[:, 0] + 5000 * rng.standard_normal(n)
table = np.concatenate([np.stack([area, rooms, age, dist], axis=1), extra], axis=1)
target = np.log(np.clip(price, 10000, None))

table -= table[:N_TRAIN].mean(0)
table /= table[:N_TRAIN].std(0)
target = (target - target[:N_TRAIN].mean()) / target[:N_TRAIN].std()
table, target = table.astype("float32"), target.astype("float32")


# ---- model ----
class PriceNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell(
            nn.Dense(8, 32, activation=nn.ReLU()),
            nn.Dropout(p=0.1),
            nn.Dense(32, 32, activation="relu"),
            nn.Dropout(p=0.1),
            nn.Dense(32, 1, has_bias=True),
        )

    def construct(self, features):
        return ops.squeeze(self.layers(features), 1)


net = PriceNet()
huber = nn.HuberLoss(reduction="mean", delta=1.0)
adam = optim.Adam(net.trainable_params(), lr=LEARNING_RATE, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0)


def objective(features, wanted):
    return huber(net(features), wanted)


step_fn = ms.value_and_grad(objective, None, net.trainable_params())

# ---- loop ----
shuffler = np.random.RandomState(77)
for epoch in range(6):
    net.set_train()
    perm = shuffler.permutation(N_TRAIN)
    weighted = 0.0
    for part in np.split(perm, range(BATCH, N_TRAIN, BATCH)):
        value, grads = step_fn(ms.Tensor(table[part]), ms.Tensor(target[part]))
        adam(grads)
        weighted += value.asnumpy().item() * part.size
    net.set_train(False)
    residual = net(ms.Tensor(table[N_TRAIN:])).asnumpy() - target[N_TRAIN:]
    log.info("epoch %d: loss %.5f rmse %.5f", epoch, weighted / N_TRAIN, np.sqrt(np.mean(residual ** 2)))

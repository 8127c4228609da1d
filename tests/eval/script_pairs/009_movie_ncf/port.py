import numpy as np
import mindspore as ms
import mindspore.nn as nn
import mindspore.ops as ops
from mindspore import Tensor

USERS, ITEMS, DIM = 60, 120, 16
NUM_NEG = 1
EPOCHS = 2
BATCH_SIZE = 64


def interactions():
    rng = np.random.RandomState(2)
    taste = rng.randint(0, 6, USERS)
    genre = rng.randint(0, 6, ITEMS)
    pairs = []
    for u in range(USERS):
        liked = np.where(genre == taste[u])[0]
        for i in rng.permutation(liked)[:6]:
            pairs.append((u, i))
    test = {}
    train = []
    for u, i in pairs:
        if u not in test:
            test[u] = i
        else:
            train.append((u, i))
    return np.array(train), test


def sample_epoch(train, known, rng):
    """every positive with NUM_NEG unseen items"""
    users, items, labels = [], [], []
    for u, i in train:
        users.append(u)
        items.append(i)
        labels.append(1.0)
        for _ in range(NUM_NEG):
            j = rng.randint(ITEMS)
            while (u, j) in known:
                j = rng.randint(ITEMS)
            users.append(u)
            items.append(j)
            labels.append(0.0)
    order = rng.permutation(len(users))
    return np.array(users)[order], np.array(items)[order], np.array(labels, dtype=np.float32)[order]


class NCF(nn.Cell):
    def __init__(self):
        super().__init__()
        self.user_emb = nn.Embedding(USERS, DIM, embedding_table="normal")
        self.item_emb = nn.Embedding(ITEMS, DIM, embedding_table="normal")
        self.mlp = nn.SequentialCell(nn.Dense(2 * DIM, 32), nn.ReLU(), nn.Dense(32, 16), nn.ReLU())
        self.predict = nn.Dense(16 + DIM, 1)
        self.sigmoid = nn.Sigmoid()

    def construct(self, user, item):
        u, i = self.user_emb(user), self.item_emb(item)
        gmf = u * i
        mlp = self.mlp(ops.concat((u, i), axis=-1))
        score = self.predict(ops.concat((gmf, mlp), axis=-1)).squeeze(-1)
        return self.sigmoid(score)


def hit_ratio(model, test, k=10):
    model.set_train(False)
    hits = 0
    all_items = Tensor(np.arange(ITEMS), ms.int32)
    for u, pos in test.items():
        scores = model(ops.full((ITEMS,), u, dtype=ms.int32), all_items)
        hits += int(pos in ops.topk(scores, k)[1].asnumpy().tolist())
    return hits / len(test)


def main():
    ms.set_seed(3)
    train, test = interactions()
    known = {(int(u), int(i)) for u, i in train}
    model = NCF()
    loss_fn = nn.BCEWithLogitsLoss()
    optimizer = nn.Adam(model.trainable_params(), learning_rate=0.005)

    def forward_fn(user, item, label):
        return loss_fn(model(user, item), label)

    grad_fn = ms.value_and_grad(forward_fn, None, optimizer.parameters)
    rng = np.random.RandomState(1)
    for epoch in range(EPOCHS):
        model.set_train(True)
        u, i, y = sample_epoch(train, known, rng)
        losses = []
        for s in range(0, len(u), BATCH_SIZE):
            e = s + BATCH_SIZE
            loss, grads = grad_fn(Tensor(u[s:e], ms.int32), Tensor(i[s:e], ms.int32), Tensor(y[s:e]))
            optimizer(grads)
            losses.append(float(loss))
        print(f"epoch {epoch:02d} loss {np.mean(losses):.4f} HR@10 {hit_ratio(model, test):.4f}")


main()

# news topic classification with averaged word embeddings (MindSpore)
import numpy as np
import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.dataset import NumpySlicesDataset

cfg = dict(vocab=500, dim=32, classes=4, seq_len=24, batch_size=16, epochs=3, lr=5e-3, weight_decay=1e-4)


def load_split(n, seed):
    """documents sorted by topic, as they come out of the topic folders"""
    rng = np.random.RandomState(seed)
    labels = np.sort(rng.randint(0, cfg["classes"], n))
    ids = np.zeros((n, cfg["seq_len"]), dtype=np.int32)
    for i, c in enumerate(labels):
        length = rng.randint(8, cfg["seq_len"] + 1)
        topical = rng.randint(1 + c * 100, 101 + c * 100, length)
        common = rng.randint(400, cfg["vocab"], length)
        ids[i, :length] = np.where(rng.rand(length) < 0.3, topical, common)
    return ids, labels.astype(np.int32)


class TopicNet(nn.Cell):
    def __init__(self, vocab, dim, classes):
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim)
        self.hidden = nn.Dense(dim, 64)
        self.out = nn.Dense(64, classes)

    def construct(self, ids):
        mask = (ids != 0).astype(ms.float32).expand_dims(-1)
        vectors = self.embedding(ids) * mask
        doc = vectors.sum(1) / ops.clamp(mask.sum(1), min=1.0)
        return self.out(ops.tanh(self.hidden(doc)))


def accuracy(model, loader):
    model.set_train(False)
    correct = 0
    count = 0
    for ids, y in loader.create_tuple_iterator():
        correct += int((model(ids).argmax(-1) == y).sum())
        count += y.size
    return correct / count


ms.set_seed(0)
train_x, train_y = load_split(320, 0)
test_x, test_y = load_split(80, 1)
train_loader = NumpySlicesDataset((train_x, train_y), ["ids", "label"], shuffle=False)
train_loader = train_loader.batch(cfg["batch_size"])
test_loader = NumpySlicesDataset((test_x, test_y), ["ids", "label"], shuffle=False).batch(cfg["batch_size"])

model = TopicNet(cfg["vocab"], cfg["dim"], cfg["classes"])
criterion = nn.CrossEntropyLoss()
opt = nn.Adam(model.trainable_params(), learning_rate=cfg["lr"], weight_decay=cfg["weight_decay"])
step = ms.value_and_grad(lambda ids, y: criterion(model(ids), y), None, opt.parameters)

for epoch in range(cfg["epochs"]):
    model.set_train(True)
    losses = []
    for ids, y in train_loader.create_tuple_iterator():
        loss, grads = step(ids, y)
        opt(grads)
        losses.append(float(loss.asnumpy()))
    print("epoch %d  loss %.4f  acc %.4f" % (epoch, np.mean(losses), accuracy(model, test_loader)))

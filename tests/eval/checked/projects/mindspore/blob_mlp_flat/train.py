# Five Gaussian clusters in 8-d, small MLP. The "hello world" I start every new box with.
import numpy as np
import mindspore as ms
import mindspore.dataset as ds
from mindspore import nn, ops

ms.set_context(mode=ms.PYNATIVE_MODE)
ms.set_seed(11)
rng = np.random.default_rng(11)

CLASSES, DIM, BS, EPOCHS = 5, 8, 32, 3

centers = rng.normal(0.0, 1.5, size=(CLASSES, DIM))


def draw(per_class):
    # rows come out grouped by class, the train pipeline mixes them
    xs = np.concatenate([centers[c] + 0.6 * rng.normal(size=(per_class, DIM)) for c in range(CLASSES)])
    ys = np.repeat(np.arange(CLASSES), per_class)
    return xs.astype(np.float32), ys.astype(np.int32)


x_tr, y_tr = draw(40)
x_va, y_va = draw(15)

mu, sigma = x_tr.mean(0), x_tr.std(0)
x_tr = (x_tr - mu) / sigma
x_va = (x_va - mu) / sigma  # statistics of the training part on purpose

train_ds = ds.NumpySlicesDataset((x_tr, y_tr), column_names=["x", "y"], shuffle=True).batch(BS)
# order does not matter here, keep it fixed so that two logs can be diffed
valid_ds = ds.NumpySlicesDataset((x_va, y_va), column_names=["x", "y"], shuffle=False).batch(BS)

net = nn.SequentialCell(
    nn.Dense(DIM, 48),
    nn.ReLU(),
    nn.Dropout(p=0.1),
    nn.Dense(48, CLASSES),
)
loss_fn = nn.CrossEntropyLoss()
opt = nn.SGD(net.trainable_params(), learning_rate=0.1, momentum=0.9, weight_decay=1e-4)


def forward(x, y):
    logits = net(x)
    return loss_fn(logits, y), logits


grad_fn = ms.value_and_grad(forward, None, opt.parameters, has_aux=True)

train_it = train_ds.create_tuple_iterator(num_epochs=EPOCHS)
valid_it = valid_ds.create_tuple_iterator(num_epochs=EPOCHS)

for epoch in range(EPOCHS):
    net.set_train(True)
    seen, running = 0, 0.0
    for x, y in train_it:
        (loss, _), grads = grad_fn(x, y)
        opt(grads)
        running += float(loss.asnumpy()) * len(y)
        seen += len(y)

    net.set_train(False)
    hits, n, vloss = 0, 0, 0.0
    for x, y in valid_it:
        logits = net(x)
        # 75 samples: the last batch has 11, so weight by its length
        vloss += float(ops.cross_entropy(logits, y, reduction="sum").asnumpy())
        hits += int((logits.argmax(axis=1) == y).sum().asnumpy())
        n += len(y)
    print(f"epoch {epoch}: train {running / seen:.4f}  valid {vloss / n:.4f}  acc {hits / n:.3f}")

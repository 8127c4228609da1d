"""Knowledge distillation: a wide teacher, then a narrow student on soft and hard targets."""

import numpy as np
import mindspore as ms
import mindspore.dataset as ds
from mindspore import nn, ops

T = 3.0
ALPHA = 0.6
EPOCHS = 2

ms.set_seed(29)


def mlp(width, drop=0.0):
    layers = [nn.Dense(6, width), nn.ReLU()]
    if drop:
        layers.append(nn.Dropout(p=drop))
    return nn.SequentialCell(*layers, nn.Dense(width, 4))


def points(n, seed):
    proto = np.random.default_rng(0).normal(0, 1.3, (4, 6))
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, n)
    return (proto[y] + 0.8 * rng.normal(size=(n, 6))).astype(np.float32), y.astype(np.int32)


hard_loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")


def soft_loss(student_logits, teacher_logits):
    """KL up to a constant; T*T brings the gradient back to the usual size."""
    p = ops.softmax(teacher_logits / T, axis=-1)
    return -(p * ops.log_softmax(student_logits / T, axis=-1)).sum(axis=-1).mean() * T * T


def train(net, forward, lr, title):
    optimizer = nn.Adam(net.trainable_params(), learning_rate=lr)
    grad_fn = ms.value_and_grad(forward, None, optimizer.parameters)
    data = ds.NumpySlicesDataset(points(192, 1), ["x", "y"], shuffle=True).batch(32)
    valid = ds.NumpySlicesDataset(points(96, 2), ["x", "y"], shuffle=False).batch(48)
    train_it, valid_it = data.create_tuple_iterator(num_epochs=EPOCHS), valid.create_tuple_iterator(num_epochs=EPOCHS)
    for epoch in range(EPOCHS):
        net.set_train(True)
        losses = []
        for x, y in train_it:
            loss, grads = grad_fn(x, y)
            optimizer(grads)
            losses.append(float(loss.asnumpy()))
        net.set_train(False)
        ok = np.concatenate([(net(x).argmax(-1) == y).asnumpy() for x, y in valid_it])
        print(f"{title} {epoch}: loss {losses[0]:.3f} -> {losses[-1]:.3f}, acc {ok.mean():.3f}")


if __name__ == "__main__":
    teacher = mlp(64, drop=0.2)
    train(teacher, lambda x, y: hard_loss(teacher(x), y), 0.01, "teacher")

    # done with: no dropout, no updates
    teacher.set_train(False)
    for p in teacher.get_parameters():
        p.requires_grad = False

    student = mlp(12)

    def distill(x, y):
        guide = ops.stop_gradient(teacher(x))
        out = student(x)
        return ALPHA * soft_loss(out, guide) + (1 - ALPHA) * hard_loss(out, y)

    train(student, distill, 0.02, "student")

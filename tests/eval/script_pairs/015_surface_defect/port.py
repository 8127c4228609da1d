# surface defect detection (very unbalanced binary/multi class)
import numpy as np
import mindspore as ms
import mindspore.nn as nn
from mindspore import Tensor, ops

num_classes = 4
batch_size = 20
epochs = 3


def surface_patches(n, seed):
    rng = np.random.RandomState(seed)
    label = rng.choice(num_classes, n, p=[0.7, 0.15, 0.1, 0.05])
    img = 1.2 * rng.standard_normal((n, 1, 20, 20))
    for i, c in enumerate(label):
        if c == 1:
            img[i, 0, 8:12, :] += 1.0
        elif c == 2:
            img[i, 0, :, 8:12] += 1.0
        elif c == 3:
            img[i, 0, 6:14, 6:14] += 1.0
    return img.astype(np.float32), label.astype(np.int32)


class DefectNet(nn.Cell):
    def __init__(self):
        super(DefectNet, self).__init__()
        self.features = nn.SequentialCell([
            nn.Conv2d(1, 12, 5, stride=2, pad_mode="valid", has_bias=True),
            nn.BatchNorm2d(12),
            nn.ReLU(),
            nn.Conv2d(12, 24, 3, pad_mode="valid", has_bias=True),
            nn.BatchNorm2d(24),
            nn.ReLU(),
        ])
        self.classifier = nn.SequentialCell([nn.Dropout(p=0.4), nn.Dense(24 * 6 * 6, num_classes)])

    def construct(self, x):
        x = self.features(x)
        x = x.view(x.shape[0], -1)
        return self.classifier(x)


def f1_score(pred, true):
    tp = (pred == true).sum()
    fp = fn = (pred != true).sum()
    return 2 * tp / (2 * tp + fp + fn)


def predict(net, images):
    outputs = []
    for i in range(0, len(images), batch_size):
        logits = net(Tensor(images[i:i + batch_size]))
        outputs.append(ops.argmax(logits, dim=1).asnumpy())
    return np.concatenate(outputs)


ms.set_seed(4)
train_x, train_y = surface_patches(300, 0)
val_x, val_y = surface_patches(100, 1)
class_count = np.bincount(train_y, minlength=num_classes)
class_weight = Tensor(len(train_y) / (num_classes * class_count), ms.float32)

net = DefectNet()
criterion = nn.CrossEntropyLoss(weight=class_weight)
optimizer = nn.SGD(net.trainable_params(), learning_rate=0.01, momentum=0.9)
shuffle_rng = np.random.RandomState(9)


def forward_fn(x, y):
    return criterion(net(x), y)


grad_fn = ms.value_and_grad(forward_fn, None, optimizer.parameters)

for epoch in range(epochs):
    net.set_train(True)
    perm = shuffle_rng.permutation(len(train_x))
    for i in range(0, len(perm), batch_size):
        idx = perm[i:i + batch_size]
        loss, grads = grad_fn(Tensor(train_x[idx]), Tensor(train_y[idx]))
        optimizer(grads)
    print(f"epoch {epoch} loss {float(loss):.4f} F1 {f1_score(predict(net, val_x), val_y):.4f}")

"""Port of the toy-CIFAR VGG. All settings live in one place."""
import time

import numpy as np
import mindspore as ms
from mindspore import dataset as msds
from mindspore import nn
from mindspore.common.initializer import HeNormal, Normal

hparams = {
    "num_epochs": 3,
    "per_step_samples": 25,
    "peak_lr": 5e-2,
    "l2": 0.0005,
}
# statistics given for 0..255 pixels
PIXEL_MEAN = np.array([0.485, 0.456, 0.406], np.float32) * 255
PIXEL_STD = np.array([0.229, 0.224, 0.225], np.float32) * 255


class Source:
    def __init__(self, count, seed, augment):
        state = np.random.RandomState(seed)
        proto = np.random.RandomState(1).randint(0, 180, (10, 16, 16, 3))
        self.targets = state.randint(0, 10, count).astype(np.int32)
        self.pixels = (proto[self.targets] + state.randint(0, 75, (count, 16, 16, 3))).astype(np.uint8)
        self.augment = augment

    def __getitem__(self, index):
        picture = (self.pixels[index].astype(np.float32) - PIXEL_MEAN) / PIXEL_STD
        if self.augment and np.random.rand() < 0.5:
            picture = picture[:, ::-1, :]
        return np.ascontiguousarray(picture.transpose(2, 0, 1)), self.targets[index]

    def __len__(self):
        return self.targets.shape[0]


def conv_bn(cin, cout):
    return [
        nn.Conv2d(cin, cout, kernel_size=3, stride=1, pad_mode="same", has_bias=False,
                  weight_init=HeNormal(mode="fan_out", nonlinearity="relu")),
        nn.BatchNorm2d(cout, eps=1e-5, momentum=0.9),
        nn.ReLU(),
        nn.MaxPool2d(kernel_size=2, stride=2),
    ]


class VGG(nn.Cell):
    def __init__(self):
        super().__init__()
        self.body = nn.SequentialCell(conv_bn(3, 16) + conv_bn(16, 32))
        self.dropout = nn.Dropout(p=0.25)
        self.classifier = nn.Dense(32, 10, weight_init=Normal(sigma=0.01), bias_init="zeros")

    def construct(self, images):
        pooled = self.body(images).mean((2, 3))
        return self.classifier(self.dropout(pooled))


def top1(model, loader):
    model.set_train(False)
    good, seen = 0, 0
    for images, targets in loader.create_tuple_iterator(num_epochs=1):
        predicted = model(images).asnumpy().argmax(axis=-1)
        good += int((predicted == targets.asnumpy()).sum())
        seen += predicted.size
    return good / seen


def run():
    started = time.time()
    ms.set_seed(1234)
    train = msds.GeneratorDataset(Source(250, 2, True), ["images", "targets"], shuffle=True)
    train = train.batch(hparams["per_step_samples"], drop_remainder=False)
    test = msds.GeneratorDataset(Source(100, 3, False), ["images", "targets"], shuffle=False).batch(50)
    per_epoch = train.get_dataset_size()
    model = VGG()
    schedule = nn.cosine_decay_lr(
        min_lr=0.0, max_lr=hparams["peak_lr"], total_step=per_epoch * hparams["num_epochs"],
        step_per_epoch=per_epoch, decay_epoch=hparams["num_epochs"],
    )
    # one group: decay every parameter, gamma and beta too
    groups = [{"params": model.trainable_params(), "weight_decay": hparams["l2"]}]
    sgd = nn.Momentum(groups, learning_rate=schedule, momentum=0.9)
    objective = nn.CrossEntropyLoss(label_smoothing=0.1)
    backward = ms.value_and_grad(lambda i, t: objective(model(i), t), None, sgd.parameters)
    batches = train.create_tuple_iterator(num_epochs=hparams["num_epochs"])
    for epoch in range(hparams["num_epochs"]):
        model.set_train(True)
        values = []
        for images, targets in batches:
            value, grads = backward(images, targets)
            sgd(grads)
            values.append(float(value))
        print(f"[{epoch + 1}/{hparams['num_epochs']}] mean loss {np.mean(values):.4f} top1 {top1(model, test):.4f}")
    print("done in %.1f s" % (time.time() - started))


if __name__ == "__main__":
    run()

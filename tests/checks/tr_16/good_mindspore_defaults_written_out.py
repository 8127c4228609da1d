# port-of: bench_torch_images.py
"""The same, with the momentum's default written out."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops


class Images:
    def __init__(self, count):
        self.images = np.random.default_rng(0).normal(size=(count, 3, 8, 8)).astype("float32")
        self.labels = (np.arange(count) % 4).astype("int32")

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image = self.images[index]
        if np.random.rand() < 0.5:
            image = image[:, :, ::-1].copy()
        return image, self.labels[index]


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, pad_mode="pad", padding=1, has_bias=True)
        self.norm = nn.BatchNorm2d(8)
        self.head = nn.Dense(512, 4)

    def construct(self, x):
        x = ops.relu(self.norm(self.conv(x)))
        return self.head(x.reshape((x.shape[0], -1)))


def main():
    ms.set_seed(0)
    net = Net()
    data = ds.GeneratorDataset(Images(256), ["image", "label"], shuffle=True).batch(32)
    optimizer = nn.SGD(
        net.trainable_params(), learning_rate=0.05, momentum=0.9, nesterov=True, weight_decay=0.0, dampening=0.0
    )
    criterion = nn.CrossEntropyLoss()
    gradient = ms.value_and_grad(lambda x, y: criterion(net(x), y), None, optimizer.parameters)
    batches = data.create_tuple_iterator(num_epochs=10)
    net.set_train()
    for _ in range(10):
        for image, label in batches:
            _, gradients = gradient(image, label)
            gradients = ops.clip_by_global_norm(gradients, 1.0)
            optimizer(gradients)


if __name__ == "__main__":
    main()

"""One sample without a batch: its classes are the first dimension."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_seed(3)
draw = np.random.default_rng(3)
x = draw.standard_normal((64, 6)).astype(np.float32)
y = x[:, :3].argmax(1).astype(np.int32)
train = ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=True).batch(16)
net = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dense(16, 3))
train_net = nn.TrainOneStepCell(
    nn.WithLossCell(net, nn.CrossEntropyLoss()), nn.SGD(net.trainable_params(), learning_rate=0.1)
)
train_net.set_train()
for _ in range(2):
    for inputs, labels in train.create_tuple_iterator():
        loss = train_net(inputs, labels)
    print(loss)
net.set_train(False)
answer = net(Tensor(x[:1]))[0]
print(ops.softmax(answer, axis=0).max(), answer.argmax(0))

"""Half precision for the heavy layers, dynamic loss scale around the step."""

import mindspore as ms
from mindspore import amp, nn, ops


class HalfBody(nn.Cell):
    """Hidden layers in float16; the classifier and the loss stay in float32."""

    def __init__(self, dim, hidden, classes):
        super().__init__()
        self.fc1 = nn.Dense(dim, hidden).to_float(ms.float16)
        self.fc2 = nn.Dense(hidden, hidden).to_float(ms.float16)
        self.head = nn.Dense(hidden, classes)

    def construct(self, x):
        h = ops.relu(self.fc1(x))
        h = ops.relu(self.fc2(h))
        return self.head(h.astype(ms.float32))


class Stepper:
    def __init__(self, net, loss_fn, opt, clip=1.0):
        self.net, self.loss_fn, self.opt, self.clip = net, loss_fn, opt, clip
        self.scaler = amp.DynamicLossScaler(scale_value=2**12, scale_factor=2, scale_window=50)
        self.grad_fn = ms.value_and_grad(self._scaled, None, opt.parameters)
        self.skipped = 0

    def _scaled(self, x, y):
        return self.scaler.scale(self.loss_fn(self.net(x), y))

    def _prepare(self, grads):
        # the threshold is meant for true gradients
        grads = self.scaler.unscale(grads)
        finite = amp.all_finite(grads)
        return ops.clip_by_global_norm(grads, self.clip), bool(finite.asnumpy())

    def __call__(self, x, y):
        self.net.set_train(True)
        loss, grads = self.grad_fn(x, y)
        grads, finite = self._prepare(grads)
        if finite:
            self.opt(grads)
        else:
            self.skipped += 1
        self.scaler.adjust(ms.Tensor(finite))
        return float(self.scaler.unscale(loss).asnumpy())

"""Exponential moving average of the weights and a small early stopper."""


class WeightEMA:
    def __init__(self, net, decay=0.8):
        self.net, self.decay = net, decay
        self.shadow = {p.name: p.asnumpy().copy() for p in net.trainable_params()}
        self.backup = None

    def update(self):
        for p in self.net.trainable_params():
            s = self.shadow[p.name]
            s *= self.decay
            s += (1 - self.decay) * p.asnumpy()

    def __enter__(self):
        """`with ema:` puts the averaged weights in place for an evaluation."""
        self.backup = {p.name: p.asnumpy().copy() for p in self.net.trainable_params()}
        self._write(self.shadow)

    def __exit__(self, *exc):
        self._write(self.backup)
        self.backup = None

    def _write(self, values):
        from mindspore import Tensor, ops

        for p in self.net.trainable_params():
            ops.assign(p, Tensor(values[p.name]))


class EarlyStop:
    def __init__(self, patience, min_delta=0.0):
        self.patience, self.min_delta = patience, min_delta
        self.best, self.bad = float("inf"), 0

    def improved(self, value):
        if value < self.best - self.min_delta:
            self.best, self.bad = value, 0
            return True
        self.bad += 1
        return False

    @property
    def done(self):
        return self.bad >= self.patience

from mindspore import nn, ops


class NetWithLoss(nn.Cell):
    def __init__(self, backbone, loss):
        super().__init__(auto_prefix=False)
        self.backbone = backbone
        self.loss = loss

    def construct(self, data, label):
        return self.loss(self.backbone(data), label)


class ClippedTrainStep(nn.Cell):
    """Forward, backward, clip by global norm, update: all in one graph."""

    def __init__(self, network, optimizer, max_norm=1.0):
        super().__init__(auto_prefix=False)
        self.network = network
        self.network.set_grad()
        self.optimizer = optimizer
        self.weights = optimizer.parameters
        self.max_norm = max_norm
        self.grad = ops.GradOperation(get_by_list=True)

    def construct(self, data, label):
        loss = self.network(data, label)
        grads = self.grad(self.network, self.weights)(data, label)
        grads = ops.clip_by_global_norm(grads, self.max_norm)
        return ops.depend(loss, self.optimizer(grads))

"""Trains ResNet with MindSpore: ``python train_mindspore.py``, or on two processes ``msrun --worker_num=2 …``."""

import os

import mindspore as ms
import resnet_mindspore
from data_mindspore import train_batches
from images import CLASSES
from loss_mindspore import SmoothedCrossEntropy
from mindspore import communication, nn
from recipe import MOMENTUM, SMOOTHING, WEIGHT_DECAY, report, train_options


def loss_function():
    """Cross entropy with smoothed labels."""
    return SmoothedCrossEntropy(SMOOTHING, CLASSES)


def rates(lr, steps):
    """A cosine from the first rate to zero, a little lower at every step.

    MindSpore's own goes down once per epoch, so every step is an epoch here.
    """
    return nn.cosine_decay_lr(0.0, lr, steps, step_per_epoch=1, decay_epoch=steps)


def optimizer_of(network, lr):
    """SGD with momentum; BatchNorm's parameters and the biases do not decay. ``lr`` is a rate, or one for each step."""
    parameters = network.trainable_params()
    decayed = [one for one in parameters if one.ndim > 1]
    others = [one for one in parameters if one.ndim <= 1]
    groups = [{"params": decayed, "weight_decay": WEIGHT_DECAY}, {"params": others}, {"order_params": parameters}]
    return nn.Momentum(groups, lr, MOMENTUM)


def place():
    """The number of this process and of all; msrun tells."""
    if int(os.environ.get("MS_WORKER_NUM", 1)) == 1:
        return 0, 1
    communication.init()
    return communication.get_rank(), communication.get_group_size()


def main():
    options = train_options(__doc__).parse_args()
    ms.set_context(mode=ms.PYNATIVE_MODE)
    ms.set_device("CPU")
    rank, ranks = place()
    ms.set_seed(options.seed)
    network = getattr(resnet_mindspore, options.network)()
    if options.weights:
        ms.load_param_into_net(network, ms.load_checkpoint(options.weights), strict_load=True)
    size = train_batches(options.images, options.batch_size, options.seed, 0, rank, ranks).get_dataset_size()
    loss_of = loss_function()
    optimizer = optimizer_of(network, rates(options.lr, max(1, options.epochs * size)))
    mean = nn.DistributedGradReducer(optimizer.parameters, mean=True, degree=ranks) if ranks > 1 else tuple

    def forward(images, labels):
        return loss_of(network(images), labels)

    loss_and_gradients = ms.value_and_grad(forward, None, optimizer.parameters)

    step = 0
    network.set_train()
    for epoch in range(options.epochs):
        if step == options.steps:
            break
        data = train_batches(options.images, options.batch_size, options.seed, epoch, rank, ranks)
        for images, labels in data.create_tuple_iterator(num_epochs=1):
            loss, gradients = loss_and_gradients(images, labels)
            optimizer(mean(gradients))
            report(epoch, step, float(loss), rank)
            step += 1
            if step == options.steps:
                break
    if options.save and rank == 0:
        ms.save_checkpoint(network, options.save)


if __name__ == "__main__":
    main()

"""Trains the digits network with MindSpore: ``python train_mindspore.py``."""

import mindspore as ms
import numpy as np
from digits_data import epoch_order, load
from mindspore import dataset, nn
from model_mindspore import FAULTS, DigitsNet
from options import parser

TORCH_LEAVES = {"gamma": "weight", "beta": "bias", "moving_mean": "running_mean", "moving_variance": "running_var"}


def torch_name(name):
    """The name that torch gives to a MindSpore parameter: only BatchNorm's differ."""
    module, _, leaf = name.rpartition(".")
    return f"{module}.{TORCH_LEAVES.get(leaf, leaf)}"


def load_weights(network, path):
    """Fill the network from an .npz of arrays under torch's names."""
    with np.load(path) as arrays:
        weights = {name: arrays[name] for name in arrays.files}
    for parameter in network.get_parameters():
        name = torch_name(parameter.name)
        if name not in weights:
            raise SystemExit(f"{path}: missing {name}")
        parameter.set_data(ms.Tensor(weights.pop(name)))
    if weights:
        raise SystemExit(f"{path}: unexpected {sorted(weights)}")


def save_weights(network, path):
    """Write the network's arrays under torch's names."""
    np.savez(path, **{torch_name(one.name): one.asnumpy() for one in network.get_parameters()})


def batches(images, labels, order, batch_size, drop_remainder):
    """A dataset of the samples in the given order."""
    data = dataset.NumpySlicesDataset((images[order], labels[order]), ["image", "label"], shuffle=False)
    return data.batch(batch_size, drop_remainder=drop_remainder)


def evaluate(network, images, labels):
    """The share of test images that are recognised."""
    network.set_train(False)
    right = 0
    for image, label in batches(images, labels, np.arange(len(labels)), 256, False).create_tuple_iterator():
        right += int((network(image).argmax(1) == label).sum())
    return right / len(labels)


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--fault", choices=sorted(FAULTS), default="none", help="plant a porting mistake")
    options = arguments.parse_args()
    ms.set_context(mode=ms.PYNATIVE_MODE)
    ms.set_device("CPU")
    ms.set_seed(options.seed)
    (images, labels), test_set = load()

    network = DigitsNet(fault=options.fault)
    if options.weights:
        load_weights(network, options.weights)
    loss_fn = nn.CrossEntropyLoss()
    momentum = 0.0 if options.fault == "momentum" else 0.9
    optimizer = nn.Momentum(network.trainable_params(), learning_rate=options.lr, momentum=momentum)

    def forward(image, label):
        return loss_fn(network(image), label)

    loss_and_gradients = ms.value_and_grad(forward, None, optimizer.parameters)

    step = 0
    for epoch in range(options.epochs):
        if step == options.steps:
            break
        network.set_train(True)
        order = epoch_order(len(labels), options.seed, epoch, not options.no_shuffle)
        for image, label in batches(images, labels, order, options.batch_size, True).create_tuple_iterator():
            loss, gradients = loss_and_gradients(image, label)
            optimizer(gradients)
            if step % 15 == 0:
                print(f"epoch {epoch} step {step} loss {float(loss):.6f}")
            step += 1
            if step == options.steps:
                break
        print(f"epoch {epoch} accuracy {evaluate(network, *test_set):.4f}")
    if options.save_weights:
        save_weights(network, options.save_weights)


if __name__ == "__main__":
    main()

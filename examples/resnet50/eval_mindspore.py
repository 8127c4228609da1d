"""Evaluates trained weights with MindSpore: ``python eval_mindspore.py --weights FILE.ckpt``."""

import mindspore as ms
import resnet_mindspore
from data_mindspore import val_batches
from mindspore import ops
from recipe import TOP_K, options


def accuracy(logits, labels):
    """The share of images with fewer than K scores above that of their class, for K = 1 and for TOP_K."""
    above = (logits > logits.gather_elements(1, labels.long()[:, None])).long().sum(1)
    return {f"top{k}": float((above < k).float().mean()) for k in (1, TOP_K)}


def main():
    asked = options(__doc__).parse_args()
    ms.set_context(mode=ms.PYNATIVE_MODE)
    ms.set_device("CPU")
    network = getattr(resnet_mindspore, asked.network)()
    if asked.weights:
        ms.load_param_into_net(network, ms.load_checkpoint(asked.weights), strict_load=True)
    network.set_train(False)
    data = val_batches(asked.images, asked.batch_size).create_tuple_iterator(num_epochs=1)
    logits, labels = zip(*((network(images), labels) for images, labels in data), strict=True)
    print(" ".join(f"{name} {value:.4f}" for name, value in accuracy(ops.cat(logits), ops.cat(labels)).items()))


if __name__ == "__main__":
    main()

"""Train ShapeNet with the high-level Model interface."""

import mindspore as ms
from mindspore import nn
from mindspore.train import Callback, Model

from network import ShapeNet
from shapes import build


class EpochLog(Callback):
    """Mean training loss of the epoch, then a pass over the validation images."""

    def __init__(self, model, valid):
        super().__init__()
        self.model, self.valid = model, valid
        self.losses, self.history = [], []

    def on_train_step_end(self, run_context):
        self.losses.append(float(run_context.original_args().net_outputs.asnumpy()))

    def on_train_epoch_end(self, run_context):
        args = run_context.original_args()
        mean = sum(self.losses) / len(self.losses)
        self.losses.clear()
        # Model.eval leaves the network in evaluation mode, so go back before the next epoch
        scores = self.model.eval(self.valid, dataset_sink_mode=False)
        args.train_network.set_train(True)
        self.history.append(scores)
        print(f"epoch {args.cur_epoch_num}: loss {mean:.4f}  val {scores['loss']:.4f}  acc {scores['acc']:.3f}")


def split_params(net):
    decayed, plain = [], []
    for p in net.trainable_params():
        (plain if p.ndim == 1 else decayed).append(p)
    return [
        {"params": decayed, "weight_decay": 1e-3},
        {"params": plain, "weight_decay": 0.0},
        {"order_params": net.trainable_params()},
    ]


def main():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    ms.set_seed(3)
    train_set = build(128, seed=0, training=True, batch_size=32)
    valid_set = build(96, seed=1, training=False, batch_size=32)

    net = ShapeNet()
    opt = nn.Momentum(split_params(net), learning_rate=0.03, momentum=0.9)
    model = Model(net, nn.CrossEntropyLoss(), opt, metrics={"acc": nn.Accuracy(), "loss": nn.Loss()})
    log = EpochLog(model, valid_set)
    model.train(3, train_set, callbacks=[log], dataset_sink_mode=False)
    assert log.history[-1]["acc"] > 0.8


if __name__ == "__main__":
    main()

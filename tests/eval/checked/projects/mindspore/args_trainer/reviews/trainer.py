from dataclasses import dataclass

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops


@dataclass
class TrainingArguments:
    learning_rate: float = 5e-3
    num_train_epochs: int = 3
    per_device_train_batch_size: int = 32
    per_device_eval_batch_size: int = 64
    weight_decay: float = 0.0
    max_grad_norm: float = 1.0
    seed: int = 42


class Trainer:
    def __init__(self, model, args, train_dataset, eval_dataset, compute_metrics=None):
        ms.dataset.config.set_seed(args.seed)
        self.model, self.args, self.compute_metrics = model, args, compute_metrics
        self.train_loader = self._loader(train_dataset, args.per_device_train_batch_size, True)
        self.eval_loader = self._loader(eval_dataset, args.per_device_eval_batch_size, False)
        self.optimizer = self.create_optimizer()

    @staticmethod
    def _loader(dataset, batch_size, shuffle):
        return ds.GeneratorDataset(dataset, dataset.columns, shuffle=shuffle).batch(batch_size)

    def create_optimizer(self):
        a = self.args
        steps = self.train_loader.get_dataset_size() * a.num_train_epochs
        lr = nn.PolynomialDecayLR(a.learning_rate, 0.0, steps, 1.0)
        params = self.model.trainable_params()
        groups = [
            {"params": [p for p in params if p.ndim > 1], "weight_decay": a.weight_decay},
            {"params": [p for p in params if p.ndim == 1], "weight_decay": 0.0},
        ]
        return nn.Adam(groups, learning_rate=lr)

    def train(self):
        grad_fn = ms.value_and_grad(self.model, None, self.optimizer.parameters, has_aux=True)
        epochs = self.args.num_train_epochs
        batches = self.train_loader.create_tuple_iterator(num_epochs=epochs)
        for epoch in range(1, epochs + 1):
            self.model.set_train(True)
            losses = []
            for inputs in batches:
                (loss, _), grads = grad_fn(*inputs)
                self.optimizer(ops.clip_by_global_norm(grads, self.args.max_grad_norm))
                losses.append(float(loss.asnumpy()))
            print({"epoch": epoch, "loss": round(float(np.mean(losses)), 4), **self.evaluate()})

    def evaluate(self):
        self.model.set_train(False)
        logits, labels, total = [], [], 0.0
        for inputs in self.eval_loader.create_tuple_iterator(num_epochs=1):
            loss, out = self.model(*inputs)
            total += float(loss.asnumpy()) * len(inputs[-1])
            logits.append(out.asnumpy())
            labels.append(inputs[-1].asnumpy())
        logits, labels = np.concatenate(logits), np.concatenate(labels)
        metrics = self.compute_metrics((logits, labels)) if self.compute_metrics else {}
        return {"eval_loss": round(total / len(labels), 4), **{f"eval_{k}": v for k, v in metrics.items()}}

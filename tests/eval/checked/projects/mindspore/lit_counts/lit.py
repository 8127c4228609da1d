"""Just enough of a module / trainer split for small studies."""

import mindspore as ms
import numpy as np
from mindspore import nn


class LitCell(nn.Cell):
    def training_step(self, batch):
        raise NotImplementedError

    def validation_step(self, batch):
        raise NotImplementedError

    def configure_optimizers(self):
        raise NotImplementedError

    def on_epoch_end(self, epoch, metrics):
        pass


class Fitter:
    def __init__(self, max_epochs, sanity_batches=1):
        self.max_epochs, self.sanity_batches = max_epochs, sanity_batches

    def _validate(self, cell, loader, limit=None):
        cell.set_train(False)
        rows = []
        for k, batch in enumerate(loader.create_tuple_iterator(num_epochs=1)):
            if limit is not None and k >= limit:
                break
            rows.append(cell.validation_step(batch))
        return np.concatenate(rows).mean(axis=0)

    def fit(self, cell, train_loader, val_loader):
        self._validate(cell, val_loader, self.sanity_batches)  # fail early if something is off
        optimizer = cell.configure_optimizers()
        value_and_grad = ms.value_and_grad(lambda *b: cell.training_step(b), None, optimizer.parameters)
        epochs = train_loader.create_tuple_iterator(num_epochs=self.max_epochs)
        for epoch in range(self.max_epochs):
            cell.set_train(True)
            losses = []
            for batch in epochs:
                loss, grads = value_and_grad(*batch)
                optimizer(grads)
                losses.append(float(loss.asnumpy()))
            cell.on_epoch_end(epoch, {"loss": np.mean(losses), "val": self._validate(cell, val_loader)})

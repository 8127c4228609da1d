"""Just enough of a LightningModule/Trainer pair for this project."""

import torch
from torch import nn


class LitModule(nn.Module):
    def __init__(self):
        super().__init__()
        self._logged = {}

    def log(self, name, value, batch_size):
        total, n = self._logged.get(name, (0.0, 0))
        self._logged[name] = (total + float(torch.as_tensor(value).detach()) * batch_size, n + batch_size)

    def pop_metrics(self):
        out = {k: total / n for k, (total, n) in self._logged.items()}
        self._logged.clear()
        return out

    def training_step(self, batch, batch_idx):
        raise NotImplementedError

    def validation_step(self, batch, batch_idx):
        raise NotImplementedError

    def configure_optimizers(self):
        raise NotImplementedError


class Callback:
    def on_epoch_end(self, trainer, module, metrics):
        pass


class Trainer:
    def __init__(self, max_epochs, gradient_clip_val=None, callbacks=()):
        self.max_epochs = max_epochs
        self.gradient_clip_val = gradient_clip_val
        self.callbacks = list(callbacks)
        self.estimated_stepping_batches = None

    def fit(self, module, train_dataloaders, val_dataloaders):
        self.estimated_stepping_batches = self.max_epochs * len(train_dataloaders)
        module.trainer = self
        conf = module.configure_optimizers()
        optimizer, sched = conf["optimizer"], conf.get("lr_scheduler")
        for self.current_epoch in range(self.max_epochs):
            module.train()
            for i, batch in enumerate(train_dataloaders):
                loss = module.training_step(batch, i)
                optimizer.zero_grad()
                loss.backward()
                if self.gradient_clip_val:
                    nn.utils.clip_grad_norm_(module.parameters(), self.gradient_clip_val)
                optimizer.step()
                if sched and sched["interval"] == "step":
                    sched["scheduler"].step()
            if sched and sched["interval"] == "epoch":
                sched["scheduler"].step()
            self._validate(module, val_dataloaders)
            metrics = module.pop_metrics()
            for cb in self.callbacks:
                cb.on_epoch_end(self, module, metrics)

    @torch.no_grad()
    def _validate(self, module, loader):
        module.eval()
        for i, batch in enumerate(loader):
            module.validation_step(batch, i)

from __future__ import annotations

import copy
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader


@dataclass
class TrainConfig:
    lr: float = 3e-3
    batch_size: int = 64
    max_epochs: int = 4
    patience: int = 3
    min_delta: float = 1e-3
    seed: int = 13


class Trainer:
    """Owns everything that has to survive a restart: model, optimizer, schedule, epoch counter."""

    def __init__(self, model: nn.Module, cfg: TrainConfig, ckpt_dir: Path):
        self.cfg = cfg
        self.model = model
        self.loss_fn = nn.BCEWithLogitsLoss()
        self.optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, T_max=cfg.max_epochs)
        self.ckpt_path = ckpt_dir / "last.pt"
        self.epoch = 0
        self.best_loss = float("inf")
        self.best_state: dict | None = None
        self.bad_epochs = 0

    # -- checkpointing ------------------------------------------------------
    def save(self) -> None:
        torch.save(
            {
                "model": self.model.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "scheduler": self.scheduler.state_dict(),
                "epoch": self.epoch,
                "best_loss": self.best_loss,
                "bad_epochs": self.bad_epochs,
                "best_state": self.best_state,
            },
            self.ckpt_path,
        )

    def resume(self) -> None:
        ckpt = torch.load(self.ckpt_path, map_location="cpu", weights_only=True)
        self.model.load_state_dict(ckpt["model"])
        self.optimizer.load_state_dict(ckpt["optimizer"])
        self.scheduler.load_state_dict(ckpt["scheduler"])
        self.epoch = ckpt["epoch"]
        self.best_loss = ckpt["best_loss"]
        self.bad_epochs = ckpt["bad_epochs"]
        self.best_state = ckpt["best_state"]

    # -- loops --------------------------------------------------------------
    def _train_one_epoch(self, loader: DataLoader) -> float:
        self.model.train()
        loss_sum = 0.0
        for features, target in loader:
            logits = self.model(features)
            loss = self.loss_fn(logits, target)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            loss_sum += loss.item() * len(target)
        return loss_sum / len(loader.dataset)

    @torch.inference_mode()
    def evaluate(self, loader: DataLoader) -> tuple[float, float]:
        was_training = self.model.training
        self.model.eval()
        loss_sum, right = 0.0, 0
        for features, target in loader:
            logits = self.model(features)
            loss_sum += self.loss_fn(logits, target).item() * len(target)
            right += ((torch.sigmoid(logits) > 0.5) == (target > 0.5)).sum().item()
        self.model.train(was_training)
        n = len(loader.dataset)
        return loss_sum / n, right / n

    def fit(self, train_loader: DataLoader, val_loader: DataLoader, until: int | None = None) -> None:
        last = min(until or self.cfg.max_epochs, self.cfg.max_epochs)
        while self.epoch < last:
            train_loss = self._train_one_epoch(train_loader)
            self.scheduler.step()
            val_loss, acc = self.evaluate(val_loader)
            self.epoch += 1
            print(f"epoch {self.epoch:2d}  loss {train_loss:.4f}  val_loss {val_loss:.4f}  val_acc {acc:.3f}")
            if val_loss < self.best_loss - self.cfg.min_delta:
                self.best_loss, self.bad_epochs = val_loss, 0
                self.best_state = copy.deepcopy(self.model.state_dict())
            else:
                self.bad_epochs += 1
            self.save()
            if self.bad_epochs >= self.cfg.patience:
                print("no improvement, stopping")
                break

    def restore_best(self) -> None:
        if self.best_state is not None:
            self.model.load_state_dict(self.best_state)

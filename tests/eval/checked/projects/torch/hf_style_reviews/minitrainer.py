"""A pocket version of the usual Trainer interface."""

from dataclasses import dataclass
from typing import Callable, Optional

import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader


@dataclass
class TrainingArguments:
    learning_rate: float = 5e-4
    weight_decay: float = 0.0
    num_train_epochs: int = 3
    per_device_train_batch_size: int = 16
    per_device_eval_batch_size: int = 64
    gradient_accumulation_steps: int = 1
    warmup_ratio: float = 0.1
    max_grad_norm: float = 1.0
    seed: int = 42


def set_seed(seed: int) -> None:
    torch.manual_seed(seed)


class Trainer:
    def __init__(
        self, model, args, train_dataset, eval_dataset, data_collator, compute_metrics: Optional[Callable] = None
    ):
        self.model, self.args = model, args
        self.train_dataset, self.eval_dataset = train_dataset, eval_dataset
        self.data_collator, self.compute_metrics = data_collator, compute_metrics

    def get_train_dataloader(self):
        bs = self.args.per_device_train_batch_size
        return DataLoader(self.train_dataset, bs, shuffle=True, collate_fn=self.data_collator, drop_last=True)

    def get_eval_dataloader(self):
        return DataLoader(self.eval_dataset, self.args.per_device_eval_batch_size, collate_fn=self.data_collator)

    def create_optimizer_and_scheduler(self, num_steps):
        skip = set()
        for prefix, module in self.model.named_modules():
            if isinstance(module, (nn.LayerNorm, nn.Embedding)):
                skip.update(f"{prefix}.{n}" for n, _ in module.named_parameters(recurse=False))
        named = list(self.model.named_parameters())
        no_decay = [p for n, p in named if n in skip or n.endswith("bias")]
        decay = [p for n, p in named if not (n in skip or n.endswith("bias"))]
        self.optimizer = torch.optim.AdamW(
            [{"params": decay, "weight_decay": self.args.weight_decay}, {"params": no_decay, "weight_decay": 0.0}],
            lr=self.args.learning_rate,
        )
        warmup = max(1, int(num_steps * self.args.warmup_ratio))

        def linear(step):
            if step < warmup:
                return step / warmup
            return max(0.0, (num_steps - step) / max(1, num_steps - warmup))

        self.lr_scheduler = LambdaLR(self.optimizer, linear)

    def train(self):
        accum = self.args.gradient_accumulation_steps
        loader = self.get_train_dataloader()
        updates_per_epoch = len(loader) // accum
        self.create_optimizer_and_scheduler(updates_per_epoch * self.args.num_train_epochs)
        for epoch in range(self.args.num_train_epochs):
            self.model.train()
            self.optimizer.zero_grad()
            epoch_loss, micro = 0.0, 0
            for inputs in loader:
                if micro == updates_per_epoch * accum:
                    break  # an unfinished accumulation window would get a smaller weight
                loss = self.model(**inputs)["loss"]
                (loss / accum).backward()
                epoch_loss += loss.item()
                micro += 1
                if micro % accum == 0:
                    nn.utils.clip_grad_norm_(self.model.parameters(), self.args.max_grad_norm)
                    self.optimizer.step()
                    self.lr_scheduler.step()
                    self.optimizer.zero_grad()
            print({"epoch": epoch + 1, "loss": round(epoch_loss / micro, 4), **self.evaluate()})

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        loss_sum, logits, labels = 0.0, [], []
        for inputs in self.get_eval_dataloader():
            out = self.model(**inputs)
            loss_sum += out["loss"].item() * len(inputs["labels"])
            logits.append(out["logits"])
            labels.append(inputs["labels"])
        logits, labels = torch.cat(logits), torch.cat(labels)
        metrics = {"eval_loss": round(loss_sum / len(labels), 4)}
        if self.compute_metrics:
            metrics.update({f"eval_{k}": v for k, v in self.compute_metrics(logits, labels).items()})
        return metrics

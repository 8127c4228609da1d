import random

import torch
from minitrainer import Trainer, TrainingArguments, set_seed
from torch import nn

NEUTRAL = "the a film plot actor scene music was is and very it i found saw today really".split()
GOOD = "great lovely bright moving fun superb".split()
BAD = "dull awful slow messy boring flat".split()
VOCAB = {w: i for i, w in enumerate(["[PAD]", "[CLS]", *NEUTRAL, *GOOD, *BAD])}


def make_reviews(n, seed):
    rnd = random.Random(seed)
    rows = []
    for _ in range(n):
        label = rnd.randint(0, 1)
        words = [rnd.choice(NEUTRAL) for _ in range(rnd.randint(4, 12))]
        k = rnd.randint(2, 3)
        words += [rnd.choice(GOOD if label else BAD) for _ in range(k)]
        if rnd.random() < 0.4:
            words.append(rnd.choice(BAD if label else GOOD))  # one word of the other side
        rnd.shuffle(words)
        rows.append({"input_ids": [VOCAB["[CLS]"]] + [VOCAB[w] for w in words], "label": label})
    return rows


def collate(rows):
    width = max(len(r["input_ids"]) for r in rows)
    ids = [r["input_ids"] + [VOCAB["[PAD]"]] * (width - len(r["input_ids"])) for r in rows]
    mask = [[1] * len(r["input_ids"]) + [0] * (width - len(r["input_ids"])) for r in rows]
    return {
        "input_ids": torch.tensor(ids),
        "attention_mask": torch.tensor(mask),
        "labels": torch.tensor([r["label"] for r in rows]),
    }


class ReviewClassifier(nn.Module):
    def __init__(self, vocab_size, d_model=32, max_len=20):
        super().__init__()
        self.word = nn.Embedding(vocab_size, d_model, padding_idx=0)
        self.position = nn.Embedding(max_len, d_model)
        layer = nn.TransformerEncoderLayer(d_model, 2, 64, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=1)
        self.classifier = nn.Linear(d_model, 2)
        self.loss_fct = nn.CrossEntropyLoss()

    def forward(self, input_ids, attention_mask, labels=None):
        pos = torch.arange(input_ids.shape[1])
        h = self.word(input_ids) + self.position(pos)
        h = self.encoder(h, src_key_padding_mask=attention_mask == 0)
        logits = self.classifier(h[:, 0])
        out = {"logits": logits}
        if labels is not None:
            out["loss"] = self.loss_fct(logits, labels)
        return out


def compute_metrics(logits, labels):
    return {"accuracy": round((logits.argmax(-1) == labels).float().mean().item(), 4)}


def main():
    args = TrainingArguments(
        learning_rate=4e-3, weight_decay=0.01, num_train_epochs=3, gradient_accumulation_steps=2, seed=17
    )
    set_seed(args.seed)
    trainer = Trainer(
        model=ReviewClassifier(len(VOCAB)),
        args=args,
        train_dataset=make_reviews(720, seed=1),
        eval_dataset=make_reviews(160, seed=2),
        data_collator=collate,
        compute_metrics=compute_metrics,
    )
    trainer.train()


if __name__ == "__main__":
    main()

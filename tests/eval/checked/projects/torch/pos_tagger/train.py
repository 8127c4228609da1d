import random

import torch
from batching import IGNORE, PAD_ID, BucketBatchSampler, collate
from torch import nn, optim
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torch.utils.data import DataLoader

TAGS = ["DET", "ADJ", "NOUN", "VERB"]
# word ids per tag; 40..44 are both NOUN and VERB, only the context tells
WORDS = {"DET": range(1, 5), "ADJ": range(5, 20), "NOUN": range(20, 45), "VERB": range(40, 60)}
VOCAB_SIZE = 60


def noun_phrase(rnd):
    return ["DET"] + ["ADJ"] * rnd.randint(0, 2) + ["NOUN"]


def make_sentences(count, seed):
    rnd = random.Random(seed)
    out = []
    for _ in range(count):
        tags = noun_phrase(rnd) + ["VERB"]
        for _ in range(rnd.randint(0, 2)):
            tags += noun_phrase(rnd)
        out.append(([rnd.choice(WORDS[t]) for t in tags], [TAGS.index(t) for t in tags]))
    return out


class Tagger(nn.Module):
    def __init__(self, vocab, n_tags, emb=24, hidden=24):
        super().__init__()
        self.embed = nn.Embedding(vocab, emb, padding_idx=PAD_ID)
        self.rnn = nn.GRU(emb, hidden, batch_first=True, bidirectional=True)
        self.dropout = nn.Dropout(0.2)
        self.out = nn.Linear(2 * hidden, n_tags)

    def forward(self, words, lengths):
        packed = pack_padded_sequence(self.embed(words), lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=True, total_length=words.size(1))
        return self.out(self.dropout(states))


class Average:
    def __init__(self):
        self.sum, self.n = 0.0, 0

    def add(self, value, n):
        self.sum += value * n
        self.n += n

    @property
    def value(self):
        return self.sum / max(self.n, 1)


def run_epoch(model, loader, criterion, optimizer=None):
    training = optimizer is not None
    model.train(training)
    loss_avg, acc_avg = Average(), Average()
    with torch.set_grad_enabled(training):
        for words, tags, lengths in loader:
            logits = model(words, lengths)
            # class axis second, as CrossEntropyLoss wants it
            loss = criterion(logits.transpose(1, 2), tags)
            if training:
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 5.0)
                optimizer.step()
            real = tags != IGNORE
            n = int(real.sum())
            loss_avg.add(loss.item(), n)
            acc_avg.add((logits.argmax(-1)[real] == tags[real]).float().mean().item(), n)
    return loss_avg.value, acc_avg.value


if __name__ == "__main__":
    torch.manual_seed(3)
    train_set = make_sentences(600, seed=10)
    dev_set = [s for s in make_sentences(150, seed=11) if s not in train_set]
    sampler = BucketBatchSampler([len(w) for w, _ in train_set], batch_size=20, seed=3)
    train_loader = DataLoader(train_set, batch_sampler=sampler, collate_fn=collate)
    dev_loader = DataLoader(dev_set, batch_size=50, collate_fn=collate)

    model = Tagger(VOCAB_SIZE, len(TAGS))
    criterion = nn.CrossEntropyLoss(ignore_index=IGNORE)
    optimizer = optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(3):
        tr_loss, tr_acc = run_epoch(model, train_loader, criterion, optimizer)
        dv_loss, dv_acc = run_epoch(model, dev_loader, criterion)
        print(f"{epoch}: train {tr_loss:.3f}/{tr_acc:.3f}   dev {dv_loss:.3f}/{dv_acc:.3f}")

"""Tags are padded with 0, which is also a tag; the loss ignores -100."""

import random

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

WORDS, TAGS = 20, 4


def sentences(count, seed):
    rnd = random.Random(seed)
    found = []
    for _ in range(count):
        words = [rnd.randrange(1, WORDS) for _ in range(rnd.randint(3, 7))]
        found.append((words, [word % TAGS for word in words]))
    return found


def collate(samples):
    words = [torch.tensor(one) for one, _ in samples]
    tags = [torch.tensor(one) for _, one in samples]
    return pad_sequence(words, batch_first=True), pad_sequence(tags, batch_first=True, padding_value=0)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, 16, padding_idx=0)
        self.out = nn.Linear(16, TAGS)

    def forward(self, words):
        return self.out(self.embed(words))


torch.manual_seed(0)
loader = DataLoader(sentences(96, 0), batch_size=16, shuffle=True, collate_fn=collate)
net = Tagger()
criterion = nn.CrossEntropyLoss()  # expect: dp.04
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(2):
    for words, tags in loader:
        optimizer.zero_grad()
        loss = criterion(net(words).transpose(1, 2), tags)
        loss.backward()
        optimizer.step()

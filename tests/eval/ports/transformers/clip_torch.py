"""Two towers and a temperature, in PyTorch."""

import torch
from torch import nn


class QuickGELU(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(1.702 * x)


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.ln_1 = nn.LayerNorm(dim)
        self.c_fc = nn.Linear(dim, dim * 4)
        self.gelu = QuickGELU()
        self.c_proj = nn.Linear(dim * 4, dim)
        self.ln_2 = nn.LayerNorm(dim)

    def forward(self, x, mask=None):
        y = self.ln_1(x)
        x = x + self.attn(y, y, y, need_weights=False, attn_mask=mask)[0]
        return x + self.c_proj(self.gelu(self.c_fc(self.ln_2(x))))


class CLIP(nn.Module):
    def __init__(self, dim=32, heads=4, vocab=40, length=8, embed=16):
        super().__init__()
        self.conv1 = nn.Conv2d(3, dim, 4, 4, bias=False)
        self.class_embedding = nn.Parameter(torch.randn(dim) * 0.1)
        self.positional = nn.Parameter(torch.randn(17, dim) * 0.1)
        self.ln_pre = nn.LayerNorm(dim)
        self.visual = Block(dim, heads)
        self.ln_post = nn.LayerNorm(dim)
        self.proj = nn.Parameter(torch.randn(dim, embed) * 0.1)
        self.token_embedding = nn.Embedding(vocab, dim)
        self.text_positional = nn.Parameter(torch.randn(length, dim) * 0.1)
        self.text = Block(dim, heads)
        self.ln_final = nn.LayerNorm(dim)
        self.text_projection = nn.Parameter(torch.randn(dim, embed) * 0.1)
        self.logit_scale = nn.Parameter(torch.ones([]) * 2.6593)

    def forward(self, image, text):
        x = self.conv1(image)
        x = x.reshape(x.shape[0], x.shape[1], -1).permute(0, 2, 1)
        cls = self.class_embedding + torch.zeros(x.shape[0], 1, x.shape[-1])
        x = self.ln_pre(torch.cat([cls, x], dim=1) + self.positional)
        x = self.visual(x)
        image_features = self.ln_post(x[:, 0, :]) @ self.proj
        t = self.token_embedding(text) + self.text_positional
        n = text.shape[1]
        mask = torch.full((n, n), float("-inf")).triu_(1)
        t = self.ln_final(self.text(t, mask))
        text_features = t[torch.arange(t.shape[0]), text.argmax(dim=-1)] @ self.text_projection
        image_features = image_features / image_features.norm(dim=1, keepdim=True)
        text_features = text_features / text_features.norm(dim=1, keepdim=True)
        logits = self.logit_scale.exp() * image_features @ text_features.t()
        return logits, logits.t()


def build():
    return CLIP()

"""A transformer encoder that classifies short texts."""
import torch
from torch import nn

from models.layers import Feed, Norm, residual, smooth


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, width * 3, bias=False)
        self.out = nn.Linear(width, width, bias=False)

    def split(self, x):
        batch, length, width = x.shape
        return x.view(batch, length, self.heads, width // self.heads).transpose(1, 2)

    def scores(self, q, k):
        return torch.matmul(q, k.transpose(-1, -2)) / q.shape[-1] ** 0.5

    def forward(self, x):
        q, k, v = (self.split(part) for part in self.qkv(x).chunk(3, -1))
        weights = torch.softmax(self.scores(q, k), -1)
        mixed = torch.matmul(weights, v)
        return self.out(mixed.transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = Norm(width), Norm(width)
        self.attention = Attention(width, heads)
        self.feed = Feed(width)

    def forward(self, x):
        x = residual(x, self.attention(self.norm1(x)))
        return residual(x, self.feed(self.norm2(x)))


class Encoder(nn.Module):
    def __init__(self, words, width, heads, depth):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(depth)])
        self.norm = Norm(width)
        self.head = nn.Linear(width, 8)

    def pool(self, x):
        return smooth(x.mean(1))

    def forward(self, words):
        x = self.embed(words)
        for block in self.blocks:
            x = block(x)
        return self.head(self.pool(self.norm(x)))

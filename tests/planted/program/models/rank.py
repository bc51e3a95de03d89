"""A recommender: tables of embeddings, their products, a ranking head."""
import torch
from torch import nn

FIELDS = 4


class Tables(nn.Module):
    def __init__(self, rows, width=8):
        super().__init__()
        self.rows = rows
        self.table = nn.Embedding(rows * FIELDS, width)

    def forward(self, fields):
        offsets = torch.arange(FIELDS) * self.rows
        return self.table(fields + offsets)


class Interact(nn.Module):
    def forward(self, x):
        products = torch.bmm(x, x.transpose(1, 2))
        return products.flatten(1)


class Ranker(nn.Module):
    def __init__(self, rows):
        super().__init__()
        self.tables = Tables(rows)
        self.interact = Interact()
        self.head = nn.Linear(FIELDS * FIELDS, 8)

    def forward(self, fields):
        return self.head(self.interact(self.tables(fields)))

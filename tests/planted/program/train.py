"""One step of training of one of the models; what the profiler records."""
import json
import os

import torch

from data import batches
from losses import accuracy, criterion
from models.rank import Ranker
from models.text import Encoder
from models.vision import Pictures
from optim import Descent

HERE = os.path.dirname(os.path.abspath(__file__))


def settings():
    with open(os.path.join(HERE, "config.json"), encoding="utf-8") as f:
        return json.load(f)


def build(name):
    c = settings()[name]
    if name == "text":
        texts = batches.Texts()
        return Encoder(len(texts.known), c["width"], c["heads"], c["depth"]), texts
    if name == "vision":
        return Pictures(c["units"]), batches.Pictures()
    return Ranker(c["rows"]), batches.Fields()


class Trainer:
    def __init__(self, name):
        torch.manual_seed(1)
        self.model, self.source = build(name)
        self.optimizer = Descent(list(self.model.parameters()))
        self.log = []

    def report(self, logits, labels):
        self.log.append(accuracy(logits.detach(), labels))

    def forward(self, batch):
        return self.model(batch)

    def step(self):
        batch = next(self.source)
        labels = torch.zeros(len(batch), dtype=torch.long)
        self.optimizer.zero()
        logits = self.forward(batch)
        loss = criterion(logits, labels)
        loss.backward()
        self.optimizer.step()
        self.report(logits, labels)

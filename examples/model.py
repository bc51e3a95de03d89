"""The program that the example traces were recorded from: one step of fine-tuning
a small residual network that classifies audio clips, and six versions of it.

`base` is what is on the main branch.  Every other variant is one change that a pull
request might bring.  A change is one `if` on `self.variant`, so that the difference
between two traces can be traced back to a line of this file.
"""

import torch
import torch.nn.functional as F
from torch import nn

VARIANTS = {
    "base": "the code on the main branch",
    "extra_copy": "each block clones its input, which nothing needs",
    "added_sync": "activation norms are read with .item() as soon as they exist",
    "lost_fusion": "F.layer_norm is replaced by elementwise operators",
    "fused": "x * sigmoid(x) is replaced by F.silu",
    "slower_op": "the kernel of the stem's convolution is half as wide again",
}

BATCH, MELS, FRAMES = 4, 80, 128
WIDTH, HIDDEN, BLOCKS, CLASSES = 48, 160, 2, 10
STEM_STRIDE = 4
STEM_KERNEL, STEM_KERNEL_WIDER = 16, 24


def silu_from_parts(x):
    """SiLU as papers print it; `base` uses this, F.silu gives the same numbers."""
    return x * torch.sigmoid(x)


def layer_norm_from_parts(x, norm):
    """What F.layer_norm does, one operator for each step of the formula."""
    centred = x - x.mean(-1, keepdim=True)
    variance = centred.pow(2).mean(-1, keepdim=True)
    return centred * torch.rsqrt(variance + norm.eps) * norm.weight + norm.bias


class Block(nn.Module):
    """Norm, two linear layers with SiLU between them, and the way around them."""

    def __init__(self, variant):
        super().__init__()
        self.variant = variant
        self.norm = nn.LayerNorm(WIDTH)
        self.up = nn.Linear(WIDTH, HIDDEN, bias=False)
        self.down = nn.Linear(HIDDEN, WIDTH, bias=False)

    def normalise(self, x):
        if self.variant == "lost_fusion":
            return layer_norm_from_parts(x, self.norm)
        return self.norm(x)

    def activate(self, x):
        return F.silu(x) if self.variant == "fused" else silu_from_parts(x)

    def log_norm(self, x, log):
        """Keeps the activation norm for the step's log: a tensor costs no wait, .item() does."""
        norm = x.detach().norm()
        log.append(norm.item() if self.variant == "added_sync" else norm)

    def forward(self, x, log):
        if self.variant == "extra_copy":
            x = x.clone()
        x = x + self.down(self.activate(self.up(self.normalise(x))))
        self.log_norm(x, log)
        return x


class Classifier(nn.Module):
    """Mel frames -> strided convolution -> residual blocks -> mean over time -> classes."""

    def __init__(self, variant):
        super().__init__()
        kernel = STEM_KERNEL_WIDER if variant == "slower_op" else STEM_KERNEL
        padding = (kernel - STEM_STRIDE) // 2  # the same number of output frames for both
        self.stem = nn.Conv1d(MELS, WIDTH, kernel, STEM_STRIDE, padding, bias=False)
        self.stem.requires_grad_(False)  # comes from pre-training and stays as it is
        self.blocks = nn.ModuleList([Block(variant) for _ in range(BLOCKS)])
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, mels, log):
        x = self.stem(mels).transpose(1, 2).reshape(-1, WIDTH)
        for block in self.blocks:
            x = block(x, log)
        return self.head(x.view(BATCH, -1, WIDTH).mean(1))


class Training:
    """Model, optimizer and one fixed batch; `step()` is what gets profiled."""

    def __init__(self, variant):
        torch.manual_seed(1)
        self.model = Classifier(variant)
        trained = [p for p in self.model.parameters() if p.requires_grad]
        self.optimizer = torch.optim.SGD(trained, lr=0.01)
        torch.manual_seed(2)  # of its own, so that the batch does not depend on the variant
        self.mels = torch.randn(BATCH, MELS, FRAMES)
        self.labels = torch.randint(CLASSES, (BATCH,))
        self.loss = None

    def step(self):
        log = []
        self.optimizer.zero_grad(set_to_none=True)
        self.loss = F.cross_entropy(self.model(self.mels, log), self.labels)
        self.loss.backward()
        self.optimizer.step()

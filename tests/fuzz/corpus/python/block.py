pkg/train.py(12): step
import torch

class Block:
    """doc"""

    @torch.no_grad()
    def forward(self, x):
        """Says
        more."""
        def inner():
            return x
        return inner()


async def main(
    a,
):
    pass

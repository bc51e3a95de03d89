"""Plain gradient descent with momentum."""
import torch


class Descent:
    def __init__(self, parameters, rate=0.01):
        self.parameters = [p for p in parameters if p.requires_grad]
        self.moments = [torch.zeros_like(p) for p in self.parameters]
        self.rate = rate

    def zero(self):
        for p in self.parameters:
            p.grad = None

    @torch.no_grad()
    def step(self):
        with_grad = [(p, m) for p, m in zip(self.parameters, self.moments) if p.grad is not None]
        grads = [p.grad for p, _ in with_grad]
        moments = [m for _, m in with_grad]
        torch._foreach_mul_(moments, 0.9)
        torch._foreach_add_(moments, grads)
        torch._foreach_add_([p for p, _ in with_grad], moments, alpha=-self.rate)

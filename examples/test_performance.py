"""What one step launches, copies and waits for, gated by pytest: pip install torch-tracegate.

    pytest --tracegate=record    keeps the baseline: perf/pytest/, to be committed
    pytest --tracegate=check     compares with the baseline of the target branch
"""
import torch


def make_step():
    """Returns a function that does one step. Replace the example by your own program's step."""
    model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data, target = torch.randn(64, 256), torch.randint(10, (64,))

    def step():
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(data), target).backward()
        optimizer.step()

    return step


def test_step(tracegate):
    torch.manual_seed(0)
    tracegate(make_step())

"""assert_counts: how often a step launches, copies, waits and leaves the compiler's graph. Counts are exact, so one
trace will do."""
from __future__ import annotations

import os
from typing import Any, Optional

from ._program import Path, rows
from ._where import places

REGION = "Torch-Compiled Region"
SHOWN = 5  # names in a message
KINDS = {"kernels": ("kernel",), "syncs": ("sync",), "copies": ("memcpy",)}


def _calls(told: list[dict[str, Any]], what: str) -> dict[str, float]:
    """Names of one sort, with their calls per step."""
    if what == "graph_breaks":
        found = {r["name"]: r["counts"][1] for r in told if r["name"].startswith(REGION)}
    else:
        found = {r["name"]: r["counts"][1] for r in told if r["kind"] in KINDS[what]}
    return {name: n for name, n in found.items() if n > 0}


def _total(what: str, calls: dict[str, float]) -> float:
    """A step of one compiled function runs one region; each break adds one."""
    total = sum(calls.values())
    return max(0, total - 1) if what == "graph_breaks" else total


def _sentence(trace: str, what: str, total: float, allowed: float, calls: dict[str, float]) -> str:
    word = what.replace("_", " ")
    lines = [f"{word}: {total:g} per step, {allowed:g} allowed"]
    where = places(trace, set(calls))
    worst = sorted(calls, key=lambda name: (-calls[name], name))
    for name in worst[:SHOWN]:
        lines.append(f"  {calls[name]:g} x {name}" + "".join(f"\n      in {p}" for p in where[name][:SHOWN]))
    if len(worst) > SHOWN:
        lines.append(f"  and {len(worst) - SHOWN} more names: tracegate.operators('{trace}')")
    return "\n".join(lines)


def assert_counts(
    trace: Path,
    *,
    kernels: Optional[float] = None,
    syncs: Optional[float] = 0,
    copies: Optional[float] = None,
    graph_breaks: Optional[float] = 0,
) -> None:
    """Raises AssertionError if a step has more than this; None: not asked. The numbers are means over the steps of the
    trace, as `tracegate diff` counts them.

    `kernels` are launches on a device, `syncs` calls that wait for a device, `copies` those between memories (memcpy).
    `graph_breaks` are the compiled regions of a step (`torch.compile`) beyond the first: a program that compiles two
    functions has one more without any break.
    """
    trace = os.fspath(trace)
    allowed = {"kernels": kernels, "syncs": syncs, "copies": copies, "graph_breaks": graph_breaks}
    told = rows("diff", trace, trace)
    if not told:
        raise AssertionError(f"'{trace}' holds no work: nothing was counted")
    wrong = []
    for what, limit in allowed.items():
        calls = _calls(told, what)
        total = _total(what, calls)
        if limit is not None and total > limit:
            wrong.append(_sentence(trace, what, total, limit, calls))
    if wrong:
        raise AssertionError(f"'{trace}' does more than it may\n" + "\n".join(wrong))

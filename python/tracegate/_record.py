"""Recording: what PyTorch's profiler needs to be told so that a trace can be compared with another one."""
from __future__ import annotations

import contextlib
import os
from typing import Any, Callable, Iterator, Optional

from ._program import Path

SUFFIXES = (".json", ".json.gz")


class RecordError(RuntimeError):
    """No trace could be recorded."""


class Steps:
    """The steps of one recording. Iterate over it, or call it at the end of each step of your own loop.

    `total` steps are needed: those that wait, those that warm the profiler up, those that are recorded. `done` says how
    many have ended, `path` which file is written.
    """

    def __init__(self, path: str, total: int, end: Callable[[], None]) -> None:
        self.path = path
        self.total = total
        self.done = 0
        self._end = end

    def __call__(self) -> None:
        self._end()
        self.done += 1

    def __iter__(self) -> Iterator[int]:
        while self.done < self.total:
            yield self.done
            self()


def _rank() -> Optional[int]:
    """The rank of this process in its job; None: it is alone."""
    import torch

    distributed = getattr(torch, "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return int(distributed.get_rank()) if distributed.get_world_size() > 1 else None
    # torchrun, srun, mpirun
    for size, rank in (("WORLD_SIZE", "RANK"), ("SLURM_NTASKS", "SLURM_PROCID"),
                       ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK")):
        ranks, own = os.environ.get(size, "1"), os.environ.get(rank, "")
        if ranks.isdigit() and int(ranks) > 1 and own.isdigit():
            return int(own)
    return None


def _place(path: Path, rank: Optional[int]) -> str:
    """out/run0.json.gz, of rank 3: out/run0-rank3.json.gz."""
    name = os.fspath(path)
    suffix = next((s for s in reversed(SUFFIXES) if name.endswith(s)), None)
    if suffix is None:
        raise RecordError(f"'{name}' does not end in .json.gz or .json: PyTorch writes no other form")
    return name if rank is None else f"{name[: -len(suffix)]}-rank{rank}{suffix}"


def _devices() -> list[tuple[str, Any]]:
    """The kinds of devices that PyTorch finds here, each with its module (torch.cuda, which is ROCm's too, torch.xpu,
    …)."""
    import torch

    found = []
    for name in ("cuda", "xpu", "npu", "hpu"):
        module = getattr(torch, name, None)
        if module is not None and module.is_available():
            found.append((name, module))
    return found


def _activities() -> list[Any]:
    from torch.profiler import ProfilerActivity

    # A backend from outside (npu, hpu) has an activity of its own, or PyTorch's one for all of them.
    names = {"cuda": ("CUDA",), "xpu": ("XPU",), "npu": ("NPU", "PrivateUse1"), "hpu": ("HPU", "PrivateUse1")}
    activities = [ProfilerActivity.CPU]
    for device, _ in _devices():
        activity = next((getattr(ProfilerActivity, n) for n in names[device] if hasattr(ProfilerActivity, n)), None)
        if activity is not None:
            activities.append(activity)
    return activities


def _synchronize() -> None:
    """Waits for every device that this process has memory on: each step's work stays in its step. Others are left
    alone, because a first touch costs a context."""
    for _, module in _devices():
        initialized = getattr(module, "is_initialized", None)
        if initialized is not None and not initialized():
            continue
        current = module.current_device()
        reserved = getattr(module, "memory_reserved", None)
        for index in range(module.device_count()):
            if index == current or (reserved is not None and reserved(index) > 0):
                module.synchronize(index)


def _export(profiler: Any, path: str) -> None:
    """The whole file or none: a job that is killed leaves no half trace under the name that the gate reads."""
    folder, name = os.path.split(path)
    os.makedirs(folder or ".", exist_ok=True)
    part = os.path.join(folder, f".{os.getpid()}.part.{name}")
    try:
        profiler.export_chrome_trace(part)
        os.replace(part, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)


@contextlib.contextmanager
def record(
    path: Path,
    *,
    wait: int = 5,
    warmup: int = 3,
    active: int = 10,
    with_stack: Optional[bool] = None,
    record_shapes: bool = True,
    profile_memory: bool = False,
) -> Iterator[Steps]:
    """Records one trace of the steps in its block into `path` (.json.gz).

        with tracegate.record("out/run0.json.gz") as step:
            for _ in step:
                train_step()

    `wait` steps pass first (compilers, autotuning, the allocator), `warmup` steps warm the profiler up, `active` steps
    are recorded. Each step ends with a synchronisation, so that its kernels are in its window. In a job of several
    ranks each rank writes a file of its own: out/run0-rank3.json.gz.

    `with_stack`: Python stacks, for the causes of a change; they slow the host. None: as the environment variable
    TRACE_STACKS says, which `tracegate ab` and the action set after a failure. Traces with other flags are not compared
    by duration.

    If the block raises, or makes too few steps, no file is written.
    """
    if min(wait, warmup) < 0 or active < 1:
        raise RecordError(f"wait={wait}, warmup={warmup}, active={active}: at least one step has to be active, "
                          "and none can be negative")
    try:
        import torch.profiler
    except ImportError as error:
        raise RecordError("tracegate.record needs PyTorch (import torch.profiler failed): pip install torch") from error
    if not torch.profiler.kineto_available():
        raise RecordError(
            "this PyTorch is built without Kineto, which writes traces (torch.profiler.kineto_available() is False), "
            "as Debian's is: "
            "the example of tracegate, examples/kineto_layout.py, writes them without it; "
            "pip install torch brings PyTorch's own build"
        )
    place = _place(path, _rank())
    complete = written = False

    def ready(profiler: Any) -> None:
        nonlocal written
        if complete:  # and not the part of a recording that an exception ended
            _export(profiler, place)
            written = True

    def end() -> None:
        nonlocal complete
        _synchronize()
        complete = steps.done + 1 >= steps.total
        profiler.step()

    profiler = torch.profiler.profile(
        activities=_activities(),
        schedule=torch.profiler.schedule(wait=wait, warmup=warmup, active=active, repeat=1),
        on_trace_ready=ready,
        record_shapes=record_shapes,
        profile_memory=profile_memory,
        with_stack=os.environ.get("TRACE_STACKS") == "1" if with_stack is None else with_stack,
    )
    steps = Steps(place, wait + warmup + active, end)
    with profiler:
        yield steps
    if not written:
        raise RecordError(
            f"'{place}' is not written: the block made {steps.done} of {steps.total} steps ("
            f"{wait} wait, {warmup} warm up, {active} are recorded). Make more, or ask for fewer"
        )

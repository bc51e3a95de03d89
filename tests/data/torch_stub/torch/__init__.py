"""As much of PyTorch as a recording needs, for tests where PyTorch is not: operators that do nothing but say that they were called,
and from where. `torch.profiler` writes what it heard as Kineto would.
"""
import os
import sys

__version__ = "2.9.0"
heard = []  # (operator, frames of the program outermost first) since the profiler began its step


def call(op, launches=None):
    """An operator's call; `launches`: the kernel that it starts on a device, or "sync", a wait for it."""
    frames, frame = [], sys._getframe(2)
    while frame:
        code = frame.f_code
        name = code.co_filename
        if "site-packages" not in name and "dist-packages" not in name and not name.startswith(("<", sys.prefix, "/usr/lib")):
            frames.insert(0, (os.path.relpath(name), code.co_firstlineno, code.co_name))
        frame = frame.f_back
    heard.append((op, launches, tuple(frames)))


def add(*_):
    call("aten::add", "void add_kernel(float*)")


def mm(*_):
    call("aten::mm", "void gemm_kernel(float*)")


def clone(*_):
    call("aten::clone", "void copy_kernel(float*)")


def item(*_):
    call("aten::item", "sync")


class cuda:
    @staticmethod
    def is_available():
        return True

    @staticmethod
    def device_count():
        return 2

    @staticmethod
    def current_device():
        return 0

    @staticmethod
    def memory_reserved(device):
        return 0

    @staticmethod
    def synchronize(device):
        if device != 0:
            raise AssertionError("a device that this process does not use was touched")

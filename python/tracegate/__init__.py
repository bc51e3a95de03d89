"""tracegate in Python: record traces, read what the program says about them. The program judges, never this module.

    with tracegate.record("out/run0.json.gz") as step:
        for _ in step:
            train_step()

    tracegate.compare("perf", "out")                 # DataFrame: what changed, per step
    tracegate.operators("out/run0.json.gz")          # DataFrame: what is in a trace
    tracegate.assert_counts("out/run0.json.gz", kernels=120, syncs=0)

PyTorch and pandas are imported when a function needs them.
"""
from ._counts import assert_counts
from ._program import ProgramError, program, run
from ._record import RecordError, Steps, record
from ._tables import compare, operators

__all__ = ["ProgramError", "RecordError", "Steps", "assert_counts", "compare", "operators", "program", "record", "run"]

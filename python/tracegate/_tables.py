"""The program's tables as pandas DataFrames. Every number is the program's."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ._program import Path, rows

if TYPE_CHECKING:
    import pandas


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            "tracegate.compare and tracegate.operators return pandas DataFrames, and pandas is not installed: "
            "pip install pandas, or use the program's own tables (tracegate diff --format csv, "
            "tracegate analyze --format csv)"
        ) from error
    return pandas


def operators(trace: Path, *, whole: bool = False) -> pandas.DataFrame:
    """What is in a trace, per step: category, name, short_name, calls, total_us, self_us, share_pct.

    `trace` is whatever `tracegate analyze` takes: a trace, a summary, a folder, a glob, REV:PATH. `whole`: everything
    in the trace, undivided, instead of the mean of a step.
    """
    frame = _pandas().DataFrame(rows("analyze", os.fspath(trace), "--measure", "ops", *(["--whole"] if whole else [])))
    return frame.rename(
        columns={
            "cat": "category",
            "counts": "calls",
            "total_duration": "total_us",
            "self_duration": "self_us",
            "share(%)": "share_pct",
        }
    )


def _row(row: dict[str, Any]) -> dict[str, Any]:
    """One name of `tracegate diff`, flat."""
    estimate = row.get("estimate") or {}
    base, fresh = estimate.get("us") or (None, None)
    return {
        "name": row["name"],
        "kind": row["kind"],
        "group": row["group"],
        "base_calls": row["counts"][0],
        "fresh_calls": row["counts"][1],
        "diff_calls": row["diff_counts"],
        "base_total_us": row["total_duration_us"][0],
        "fresh_total_us": row["total_duration_us"][1],
        "diff_total_us": row["diff_duration_us"],
        "base_estimate_us": base,
        "fresh_estimate_us": fresh,
        "diff_estimate_us": estimate.get("diff_us"),
        "noise_pct": estimate.get("noise_pct"),
        "within_noise": estimate.get("within_noise"),
    }


NOTHING = {"name": "", "kind": "", "group": "", "counts": [0, 0], "diff_counts": 0, "total_duration_us": [0, 0],
           "diff_duration_us": 0}
COLUMNS = list(_row(NOTHING))


def compare(base: Path, fresh: Path, *, runs: bool = True) -> pandas.DataFrame:
    """What changed between two sides, per step: a row for each name, as `tracegate diff` prints it. No verdict.

    A side is whatever `tracegate diff` takes: a trace, a folder, a glob, a summary, REV:PATH. `runs`: files without a
    rank are repeats of one program (with three or more per side the estimates and their noise are filled in); otherwise
    they are ranks of one run.
    """
    pd = _pandas()
    told = rows("diff", os.fspath(base), os.fspath(fresh), "--runs" if runs else "--ranks")
    return pd.DataFrame([_row(r) for r in told], columns=COLUMNS)

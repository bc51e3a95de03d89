"""Where in a trace a name comes from, for a message: the operators and Python functions around its call. Nothing is
counted here."""
from __future__ import annotations

import bisect
import gzip
import json
from typing import Any

ON_DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")
CALLS = ("cuda_runtime", "cuda_driver", "cpu_op", "user_annotation")
LOOKED_AT = 200  # events of one name: later steps say the same
SHOWN = 3  # parts of a place, the innermost


def _events(trace: str) -> list[dict[str, Any]]:
    """Empty if it is not a trace in JSON (a summary, a folder, REV:PATH): a message does without places then."""
    try:
        with gzip.open(trace, "rb") if trace.endswith(".gz") else open(trace, "rb") as file:
            document = json.loads(file.read().decode(errors="replace"))
        return [e for e in document["traceEvents"] if isinstance(e, dict) and e.get("ph") == "X" and "dur" in e]
    except (OSError, EOFError, ValueError, KeyError, TypeError):
        return []


def _is_place(event: dict[str, Any]) -> bool:
    name = str(event.get("name"))
    if event.get("cat") == "python_function":
        return ".py(" in name and "torch/" not in name and "site-packages/" not in name
    return event.get("cat") == "cpu_op"


class _Threads:
    """What may enclose a call, by thread and start."""

    def __init__(self, events: list[dict[str, Any]]) -> None:
        self.spans: dict[tuple[Any, Any], list[tuple[float, float, str]]] = {}
        for e in filter(_is_place, events):
            self.spans.setdefault((e.get("pid"), e.get("tid")),
                                  []).append((float(e["ts"]), -float(e["dur"]), str(e["name"])))
        for spans in self.spans.values():
            spans.sort()

    def around(self, event: dict[str, Any]) -> str:
        at, end = float(event["ts"]), float(event["ts"]) + float(event["dur"])
        spans = self.spans.get((event.get("pid"), event.get("tid")), [])
        before = spans[: bisect.bisect_right(spans, (at, 0.0, ""))]
        names = [name for ts, less, name in before if ts - less >= end and name != event.get("name")]
        return " > ".join(names[-SHOWN:])


def places(trace: str, names: set[str]) -> dict[str, list[str]]:
    """Of each name the distinct places that call it. Device work has the place of its launch."""
    events = _events(trace)
    threads = _Threads(events)
    launches = {e["args"].get("correlation"): e for e in events if e.get("cat") in CALLS[:2]
                and isinstance(e.get("args"), dict)}
    found: dict[str, list[str]] = {name: [] for name in names}
    seen = dict.fromkeys(names, 0)
    for e in events:
        name = str(e.get("name"))
        if name not in names or seen[name] == LOOKED_AT:
            continue
        seen[name] += 1
        call = launches.get((e.get("args") or {}).get("correlation")) if e.get("cat") in ON_DEVICE else e
        place = threads.around(call) if call else ""
        if place and place not in found[name]:
            found[name].append(place)
    return found

#!/usr/bin/env python3
"""Databases of Nsight Systems and rocprofv3, in every form of their tables. What must come out is counted from the list of
events that the generator wrote, and once more in SQL; a refusal must name the file and end in bounded time and memory.

    databases.py [counted queried judged refused sparse large]
"""
import collections
import csv
import dataclasses
import gzip
import io
import os
import re
import resource
import shutil
import sqlite3
import subprocess

from support import ENV, PROGRAM, Repository, absent, expect, expect_end, expect_has, read_bytes, run, run_parts, sanitized, \
    tracegate, write_bytes, write_json, write_text
from profiler_databases import STEP, Event, kineto, named, program, with_names, write_nsys, write_rocpd

WINDOW = ("--window", f"annotation:{STEP}")
FORMS = {"nsys new": ("cuda", "new.sqlite"), "nsys old": ("cuda", "old.sqlite"), "rocpd rows": ("hip", "1_results.db"),
         "rocpd timestamps": ("hip", "2_results.db"), "rocpd tracks": ("hip", "3_results.db")}
MEMORY_NAMES = ("nsys new",)  # the other forms do not say where memory is


def write(folder, form, happened, name=None):
    profiler, kind = form.split()
    path = os.path.join(folder, name or FORMS[form][1])
    (write_nsys if profiler == "nsys" else write_rocpd)(path, happened, kind)
    return path


def table(path, measure, *more):
    code, out, err = run("analyze", path, "--measure", measure, "--format", "csv", *more)
    expect(f"{path}: {measure} {err}", code, 0)
    first = [part for part in re.split(r"^# .*\n", out, flags=re.M) if part][:1]  # other tables follow that of the measure
    return list(csv.DictReader(io.StringIO("".join(first))))


def us(ns):
    return round(ns / 1000, 3)


# ---- counted from the events ---------------------------------------------------------------------

def category(e):
    if e.what == "call":
        return "hip_runtime" if e.name.startswith("hip") else "cuda_runtime" if e.name.startswith("cuda") else "cuda_driver"
    return {"range": "user_annotation", "op": "cpu_op", "kernel": "kernel", "memcpy": "gpu_memcpy", "memset": "gpu_memset", "sync": "cuda_sync",
            "graph": "kernel"}[e.what]


def sums(happened, memory):
    """{(category, name): (calls, us)} of all that ended."""
    out = collections.defaultdict(lambda: [0, 0])
    for e in happened:
        if e.end is not None:
            row = out[category(e), "CUDA graph" if e.what == "graph" else named(e, memory)]
            row[0] += 1
            row[1] += e.end - e.start
    return {key: (n, us(ns)) for key, (n, ns) in out.items()}


def links(happened, memory):
    """Of each piece of device work whose call is there: call, name, both durations, the delay."""
    calls = {e.launch: e for e in happened if e.what == "call" and e.launch is not None and e.end is not None}
    out = []
    for e in happened:
        if e.what in ("kernel", "memcpy", "memset") and e.launch in calls:
            c = calls[e.launch]
            out.append((c.name, named(e, memory), us(c.end - c.start), us(e.end - e.start), us(e.start - c.end)))
    return sorted(out)


def whole(path):
    return {(r["cat"], r["name"]): (int(r["counts"]), round(float(r["total_duration"]), 3)) for r in table(path, "ops", "--whole")}


def linked(path):
    return sorted((r["call"], r["name"], float(r["cpu_duration"]), float(r["gpu_duration"]), float(r["launch_delay"]))
                  for r in table(path, "launches"))


def counted(tmp):
    for form, (vendor, _) in FORMS.items():
        for seed, edges in ((1, True), (2, False)):
            happened, memory = program(seed, vendor=vendor, edges=edges), form in MEMORY_NAMES
            path = write(tmp, form, happened)
            expect(f"{form}: calls and times", whole(path), sums(happened, memory))
            want = links(happened, memory)
            expect(f"{form}: links", linked(path), want)
            expect(f"{form}: enough links", len(want) > 30, True)
            ranges = sorted(us(e.end - e.start) for e in happened if e.name == STEP)
            got = table(path, "steps", *WINDOW)
            expect(f"{form}: steps", sorted(float(r["host_time(us)"]) for r in got), ranges)
            expect(f"{form}: a step's bytes up", {float(r["bytes_htod(bytes)"]) for r in got}, {4096 + k for k in range(4)})
            # the same program as PyTorch would have written it, to the last digit; what differs is about the file
            same = os.path.join(tmp, "same.json")
            write_json(same, kineto(with_names(happened, memory)))
            expect(f"{form}: the steps of a Kineto trace", got, table(same, "steps", *WINDOW))
            expect(f"{form}: the rows of a Kineto trace", table(path, "ops", *WINDOW), table(same, "ops", *WINDOW))
            # an edge of a recording is not damage
            done = tracegate("check", path, "--baseline", same, "--policy", policy(tmp))
            expect_end(f"{form}: check", done, 0)
            expect(f"{form}: no damage", "damage" in done.stdout + done.stderr, False)
            for more in (("--threads", "1"), ("--threads", "4")):
                expect(f"{form}: {more}", run("summarize", path, "-o", "-", *more)[1], run("summarize", path, "-o", "-")[1])
            from_stdin = subprocess.run([PROGRAM, "names", "-"], input=read_bytes(path), env=ENV, capture_output=True, check=False)
            expect(f"{form}: from a pipe", (from_stdin.returncode, b"pipe" in from_stdin.stderr), (3, True))


def queried(tmp):
    """The facts that real databases show, each counted in SQL."""
    path = os.path.join(tmp, "two.sqlite")
    other = [dataclasses.replace(e, device=1, name=e.name.replace("kern", "other")) for e in program(5)]
    write_nsys(path, program(4) + [Event("graph", "", 900_000, 960_000, launch=1003),
                                   Event("range", "from here to there", 1_000_000, 1_950_000, ends_on=12)], "new", pid=4242, others=[(4243, other)])
    ask = sqlite3.connect(path).execute
    # the same correlation in two processes is not the same call
    pairs = ask("""select count(*) from CUPTI_ACTIVITY_KIND_KERNEL k join CUPTI_ACTIVITY_KIND_RUNTIME r
                   on r.correlationId = k.correlationId and (r.globalTid >> 24 & 16777215) = (k.globalPid >> 24 & 16777215)""").fetchone()[0]
    loose = ask("""select count(*) from CUPTI_ACTIVITY_KIND_KERNEL k join CUPTI_ACTIVITY_KIND_RUNTIME r
                   on r.correlationId = k.correlationId""").fetchone()[0]
    rows = table(path, "launches")
    expect("two processes: kernels with a launch", sum(not r["name"].startswith("Mem") and r["name"] != "CUDA graph" for r in rows), pairs)
    expect("two processes: the correlation alone would link more", loose > pairs, True)
    expect("two processes: devices", {r["device"] for r in rows}, {"0", "1"})
    expect("two processes: no call launches the other's work", [r for r in rows if (r["name"].startswith("void other")) != (r["device"] == "1")
                                                                and r["name"].startswith(("void kern", "void other"))], [])
    all_rows = whole(path)
    expect("a graph as a whole", all_rows["kernel", "CUDA graph"], (1, 60.0))
    expect("a range that ends on another thread", all_rows["user_annotation", "from here to there"], (1, 950.0))
    nvtx = ask("select count(*) from NVTX_EVENTS where eventType in (59, 60) and [end] is not null").fetchone()[0]
    expect("every range that ended", sum(n for (cat, _), (n, _) in all_rows.items() if cat in ("user_annotation", "cpu_op")), nvtx)
    expect("both ways of a range's text", ask("select count(text) > 0 and count(textId) > 0 from NVTX_EVENTS").fetchone()[0], 1)
    expect("no number in a name", [name for _, name in all_rows if "op_id" in name or "_v3" in name], [])
    for form in ("rows", "timestamps", "tracks"):
        merged = os.path.join(tmp, f"{form}_results.db")
        one, two = program(4, vendor="hip"), [dataclasses.replace(e, device=1, name=e.name.replace("kern", "other"))
                                              for e in program(5, vendor="hip")]
        write_rocpd(merged, one, form, others=[(4243, two)])
        expect(f"rocpd {form}: two processes", linked(merged), sorted(links(one, False) + links(two, False)))
    # a cut of one second: the calls of half of the work are not there
    cut = os.path.join(tmp, "cut.sqlite")
    shutil.copyfile(path, cut)
    with sqlite3.connect(cut) as db:
        db.execute("delete from CUPTI_ACTIVITY_KIND_RUNTIME where start < 2500000")
        db.execute("delete from CUPTI_ACTIVITY_KIND_KERNEL where start > 4000000")
    ask = sqlite3.connect(cut).execute
    pairs = ask("""select count(*) from CUPTI_ACTIVITY_KIND_KERNEL k join CUPTI_ACTIVITY_KIND_RUNTIME r
                   on r.correlationId = k.correlationId and (r.globalTid >> 24 & 16777215) = (k.globalPid >> 24 & 16777215)""").fetchone()[0]
    expect("a cut: kernels with a launch", sum(not r["name"].startswith("Mem") for r in table(cut, "launches")), pairs)
    with_copy = os.path.join(tmp, "cut2.sqlite")
    shutil.copyfile(cut, with_copy)
    with sqlite3.connect(with_copy) as db:  # another file, the same program
        db.execute("insert into StringIds values (100000, 'unused')")
    done = tracegate("check", cut, "--baseline", with_copy)
    expect_end("a cut: check", done, 0)
    expect("a cut: no damage", "damaged" in done.stdout, False)
    # device names: two, one, none
    for change, want in (("", '"device":"NVIDIA H100"'), ("update TARGET_INFO_GPU set name = ''", None), ("drop table TARGET_INFO_GPU", None)):
        with sqlite3.connect(path) as db:
            db.execute(change)
        out = run("summarize", path, "-o", "-")[1]
        expect(f"device name after '{change}'", (want or '"device":') in out, want is not None)


# ---- the gate ------------------------------------------------------------------------------------

def policy(tmp):
    path = os.path.join(tmp, "policy.yml")
    write_text(path, f"""version: 1
suites:
  - {{name: s, window: {{by: annotation, name: "{STEP}"}}}}
rules:
  - {{id: new-work, match: {{kind: [kernel, memcpy, op, runtime]}}, metric: count, fail: {{abs: 0}}}}
""")
    return path


def planted(happened, number=5_000):
    """A kernel more in each step, with its launch."""
    steps = [e for e in happened if e.name == STEP]
    call = next(e for e in happened if e.what == "call" and "LaunchKernel" in e.name)
    out = list(happened)
    for k, e in enumerate(steps):
        out.append(dataclasses.replace(call, start=e.end - 400, end=e.end - 200, launch=number + k))
        out.append(Event("kernel", "void planted(int)", e.end + 1_000, e.end + 3_000, launch=number + k))
    return out


def judged(tmp):
    rules = policy(tmp)
    for form, (vendor, name) in FORMS.items():
        base, again = program(7, vendor=vendor), program(8, vendor=vendor)
        one, two = write(tmp, form, base, "base-" + name), write(tmp, form, again, "again-" + name)
        done = tracegate("check", two, "--baseline", one, "--policy", rules)
        expect_end(f"{form}: the same program", done, 0)
        expect_has(f"{form}: the same program", done.stdout, "4 steps")
        worse = write(tmp, form, planted(again), "worse-" + name)
        expect_end(f"{form}: a kernel more", tracegate("check", worse, "--baseline", one, "--policy", rules), 1, "planted")
        expect_end(f"{form}: a kernel less", tracegate("check", one, "--baseline", worse, "--policy", rules), 0)
        # a summary is another form of the same trace
        small = os.path.join(tmp, "base.tgs")
        expect_end(f"{form}: summarize", tracegate("summarize", one, *WINDOW, "-o", small), 0)
        expect_end(f"{form}: against a summary", tracegate("check", worse, "--baseline", small, "--policy", rules), 1, "planted")
    # in a folder, in git, and by what is in it instead of by its name
    repo = Repository(os.path.join(tmp, "repo"))
    os.makedirs(repo.path("perf"))
    happened = program(7, steps=3)
    write(repo.path("perf"), "nsys new", happened, "run0.sqlite")
    write(repo.path("perf"), "nsys new", program(9, steps=3), "run1.sqlite")
    repo.commit("traces")
    os.makedirs(repo.path("out"))
    write(repo.path("out"), "nsys new", program(10, steps=3), "run0.sqlite")
    write(repo.path("out"), "nsys new", planted(program(11, steps=3)), "run1.sqlite")
    done = repo.run("check", "out", "--runs", "--baseline", "main:perf", "--policy", rules)
    expect_end("in git, in folders", done, 1, "planted", "2 runs")
    os.rename(repo.path("out/run0.sqlite"), repo.path("out/profile"))
    expect_end("by content", repo.run("check", "out/profile", "--baseline", "main:perf/run0.sqlite", "--policy", rules), 0)


# ---- refused -------------------------------------------------------------------------------------

def limited(*args, seconds=60, megabytes=600):
    """Under a limit of memory, unless the program has the sanitizers' own; `rc`, and what was said."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if not sanitized():
            resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    return subprocess.run([PROGRAM, *args], capture_output=True, text=True, env=ENV, timeout=seconds, preexec_fn=limit, check=False)


def is_refused(what, path, *said, code=3):
    """By every command alike, with the file's name and what to do."""
    for command in (("names", path), ("summarize", path, "-o", os.devnull), ("check", path, "--baseline", path)):
        done = limited(*command)
        expect_end(f"{what}: {command[0]}", done, code, err=[os.path.basename(path), *said])
        expect(f"{what}: {command[0]} says what to do", done.stderr.count("\n") >= 2, True)


def refused(tmp):
    good = write(tmp, "nsys new", program(3), "good.sqlite")
    data = read_bytes(good)
    def case(name, text):
        path = os.path.join(tmp, name)
        write_bytes(path, text)
        return path
    def changed(name, *lines, of=good):
        path = os.path.join(tmp, name)
        shutil.copyfile(of, path)
        with sqlite3.connect(path) as db:
            for line in lines:
                db.execute(line)
        return path
    is_refused("half of the file", case("half.sqlite", data[:len(data) // 2 + 100]), "damaged", "export it again")
    is_refused("the magic bytes alone", case("magic.sqlite", b"SQLite format 3\0"), "damaged")
    is_refused("a broken header", case("header.sqlite", data[:16] + b"\xff" * 84 + data[100:]), "")
    torn = bytearray(data)
    for at in range(4096, len(data), 4096):
        torn[at:at + 64] = b"\x5a" * 64
    is_refused("broken pages", case("torn.sqlite", bytes(torn)), "damaged")
    is_refused("gzip", case("packed.sqlite.gz", gzip.compress(data)), "SQLite database, compressed", "unpack it first")
    is_refused("without tables",
               changed("bare.sqlite", *(f"drop table {t}" for (t,) in sqlite3.connect(good).execute("select name from sqlite_master"))),
               "not of a profiler that is known")
    is_refused("of another program",
               changed("browser.sqlite", *(f"drop table {t}" for (t,) in sqlite3.connect(good).execute("select name from sqlite_master")),
                                             "create table history(url)"), "not of a profiler that is known", "nsys export")
    tables = [t for (t,) in sqlite3.connect(good).execute("select name from sqlite_master where name like 'CUPTI%' or name = 'NVTX_EVENTS'")]
    is_refused("without events", changed("empty.sqlite", *(f"drop table {t}" for t in tables)), "holds no kernel, call or range", "nsys profile")
    is_refused("empty tables", changed("rows.sqlite", *(f"delete from {t}" for t in tables)), "holds no kernel, call or range")
    is_refused("without a column", changed("column.sqlite", "alter table CUPTI_ACTIVITY_KIND_KERNEL rename column correlationId to other"),
               "no column 'correlationId'", "CUPTI_ACTIVITY_KIND_KERNEL")
    is_refused("without names", changed("names.sqlite", "drop table StringIds"), "StringIds")
    is_refused("a start that is text", changed("text.sqlite", "update CUPTI_ACTIVITY_KIND_KERNEL set start = 'soon' where rowid = 3"), "has no times")
    rocpd = write(tmp, "rocpd timestamps", program(3, vendor="hip"), "t_results.db")
    is_refused("a time that is lost", changed("lost_results.db", "delete from rocpd_timestamp_0194a7b1 where id % 50 = 0", of=rocpd), "has no times")
    is_refused("a view of nothing", changed("view_results.db", "drop table rocpd_kernel_dispatch_0194a7b1", of=rocpd),
               "rocpd_kernel_dispatch_0194a7b1")
    is_refused("an unknown form", changed("form_results.db", "alter table rocpd_region_0194a7b1 rename column start_id to begin_id",
                                          "drop view rocpd_region", "create view rocpd_region as select * from rocpd_region_0194a7b1", of=rocpd),
                                          "unknown form of rocpd_region")
    # views that cost more than any file of that size can hold
    many = " , ".join(f"rocpd_string_0194a7b1 t{k}" for k in range(9))
    is_refused("a join that never ends",
               changed("join_results.db", "drop view rocpd_event", "create view rocpd_event as select 1 id, 1 category_id, count(*) stack_id from "
                                                 "rocpd_string_0194a7b1", of=rocpd), "not authorized")
    is_refused("rows without end",
               changed("rows_results.db", "drop view rocpd_event", "create view rocpd_event as select t0.id id, 1 category_id, 1 stack_id "
                                           f"from {many} where t0.id + t8.id < 0", of=rocpd), "too much work")
    is_refused("a view that recurses",
               changed("recurse_results.db", "drop view rocpd_event", "create view rocpd_event as with recursive n(id) as (select 1 union all select "
                                               "id + 1 from n) select id, 1 category_id, 1 stack_id from n", of=rocpd), "not authorized")
    # another program writes
    writer = sqlite3.connect(good, isolation_level=None)
    writer.execute("begin exclusive")
    is_refused("locked", good, "is locked", "Wait until")
    writer.execute("rollback")
    writer.close()
    expect_end("after the lock", tracegate("names", good), 0)
    absent_library(good)


def sparse(tmp):
    """Only what gives a row its meaning is asked for: a database with less than that has the same rows, and the same links."""
    less = {"event": ("category_id", "parent_stack_id"), "info_kernel_symbol": ("kernel_name",), "memory_copy": ("src_agent_id", "dst_agent_id"),
            "kernel_dispatch": ("workgroup_size_x", "workgroup_size_y", "workgroup_size_z", "grid_size_x", "grid_size_y", "grid_size_z",
                                "group_segment_size",
                                "dispatch_id", "agent_id", "queue_id"), "region": ("pid", "tid")}
    for form in ("rocpd rows", "rocpd timestamps"):
        path = write(tmp, form, program(3, vendor="hip"))
        before = whole(path), linked(path)
        with sqlite3.connect(path) as db:
            for table_, columns in less.items():
                there = [r[1] for r in db.execute(f"pragma table_info(rocpd_{table_}_0194a7b1)")]
                db.execute(f"drop view rocpd_{table_}")
                kept = ", ".join(f"[{c}]" for c in there if c not in columns)
                db.execute(f"create view rocpd_{table_} as select {kept} from rocpd_{table_}_0194a7b1")
            db.execute("drop view rocpd_info_agent")
        expect(f"{form}: without what is not needed", (whole(path), linked(path)), before)
    other = os.path.join(tmp, "a.rpd")
    with sqlite3.connect(other) as db:
        for name in ("metadata(tag, value)", "string(id, string)", "api(id, pid, tid, start, [end], apiName_id)",
                     "op(id, gpuId, queueId, start, [end], description_id)"):
            db.execute(f"create table rocpd_{name}")
    is_refused("rocmProfileData", other, "a database of rocmProfileData (RPD)", "rocprofv3")


def absent_library(good):
    """Where libsqlite3 is not installed: the program starts, reads other traces, and says what to install."""
    if b"libsqlite3" in subprocess.run(["ldd", PROGRAM], capture_output=True, check=False).stdout:
        return  # linked, not loaded
    hidden = dict(ENV, LD_LIBRARY_PATH=os.path.join(os.path.dirname(good), "hidden"))
    os.makedirs(hidden["LD_LIBRARY_PATH"])
    write_bytes(os.path.join(hidden["LD_LIBRARY_PATH"], "libsqlite3.so.0"), b"not a library")
    done = tracegate("names", good, env=hidden)
    if done.returncode == 0:
        return  # a static program, which has it
    expect_end("without the library", done, 3, err=["is an SQLite database", "libsqlite3.so.0", "Install"])


def large(tmp):
    """A gigabyte that is hardly there, and one table of 400,000 rows."""
    path = write(tmp, "nsys new", program(3), "sparse.sqlite")
    whole_file = run("names", path)[1]
    os.truncate(path, 1 << 30)
    expect("a gigabyte of nothing at the end", limited("names", path).stdout, whole_file)
    with open(path, "r+b") as f:  # the header says that it is all used
        f.seek(28)
        f.write(((1 << 30) // 4096).to_bytes(4, "big"))
    done = limited("names", path)
    expect("a gigabyte that is said to be used", (done.returncode, done.stdout), (0, whole_file))
    with open(path, "r+b") as f:
        f.seek(28)
        f.write((1 << 30).to_bytes(4, "big"))
    is_refused("4 TB that are not there", path, "damaged")
    os.remove(path)
    path = os.path.join(tmp, "rows.sqlite")
    happened = [Event("range", STEP, 0, 5_000_000_000)]
    n = 200_000
    for k in range(n):
        happened.append(Event("call", "cudaLaunchKernel", 10_000 * k, 10_000 * k + 4_000, launch=k + 1))
        happened.append(Event("kernel", f"k{k % 50}", 10_000 * k + 5_000, 10_000 * k + 9_000, launch=k + 1))
    write_nsys(path, happened, "new")
    del happened
    done = limited("summarize", path, *WINDOW, "-o", os.path.join(tmp, "rows.tgs"), megabytes=400)
    expect_end("many rows", done, 0)
    rows = table(path, "ops", *WINDOW)
    expect("many rows: all", sum(float(r["counts"]) for r in rows if r["cat"] == "kernel"), float(n))
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f"large: {os.path.getsize(path) >> 20} MiB, {2 * n} rows; at most {before >> 10} MiB in any program so far")


if tracegate("names", "-", input="SQLite format 3\0", check=False).stderr.find("This build of tracegate reads none") >= 0:
    absent("SQLite in this build")
run_parts(counted, queried, judged, refused, sparse, large)

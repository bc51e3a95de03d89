#!/usr/bin/env python3
"""Verdicts on changes of the kinds that commits of real programs make, forward and undone: an operator in place, a cache written by index,
one wait for many, a fused operator, a view spelled otherwise, a copy that a refactor brings. Each is written as the operators that PyTorch's
CPU build calls for it. What a reviewer wants was written from the change alone:

    red      the step does more, and the author should know
    any      a trade, or so little that either answer is right
    no       not red
    quiet    a pass without a warning
    aloud    a failure or a warning

At five, three and one run a side; `red3`, `quiet3`, `aloud3`: time alone tells it, so with one run any answer is right, or any but red. At most three
findings for one change, and one for what came in one place, whatever other places call the same operators (ONE).
"""
import copy as copying
import random
import sys

from support import findings, is_wanted, judge, judged, run_parts, write_json
from plain_model import launched, mark, span, whole

STEPS = 4


class Op:
    """An operator: its own time in us, what it calls, and the Python after it."""

    def __init__(self, name, us, *inside, gap=4):
        self.name, self.us, self.inside, self.gap = name if "::" in name or "0" in name else "aten::" + name, us, inside, gap


class Part:
    """What the program does inside an annotation of its own."""

    def __init__(self, name, *ops):
        self.name, self.ops = name, ops


class Drawn:
    """Layers of which a seed drops some: so many are left in each step."""

    def __init__(self, *ops, left=(2, 4, 3, 5)):
        self.ops, self.left = ops, left


def view(name, us=0.6):
    return Op(name, us, Op("as_strided", 0.4, gap=0))


def inner(name, us, *inside):
    return Op(name, us, *inside, gap=0)


def copy(name, us):
    return Op(name, 0.5, inner("empty_like", 0.6, inner("empty", 0.4)), inner("copy_", us))


def contiguous(us):
    return Op("contiguous", 0.3, *[Op("clone", 0.5, inner("empty_like", 0.6, inner("empty", 0.4)), inner("copy_", us), gap=0)])


def matrix(us):
    return Op("linear", 0.7, inner("t", 0.6, inner("transpose", 0.5, inner("as_strided", 0.3))), inner("addmm", us, inner("copy_", 1.2)))


def product(us):
    """A batched product as torch.matmul makes it; as torch.einsum does."""
    views = [inner("expand", 0.6, inner("as_strided", 0.3)), inner("_reshape_alias", 0.4)]
    return (Op("matmul", 4.0, *views, *views, inner("bmm", us), inner("_unsafe_view", 0.5)),
            Op("einsum", 11.0, *[inner("permute", 0.9, inner("as_strided", 0.3)) for _ in range(5)], inner("bmm", us),
               *[inner("unsqueeze", 0.8, inner("as_strided", 0.3)) for _ in range(2)], *[inner("view", 0.5) for _ in range(4)]))


def item():
    return Op("item", 0.3, inner("_local_scalar_dense", 0.3), gap=2.5)


ACTIVE = [Op("relu", 1.2, inner("clamp_min", 14))] * 6
ACTIVE_ = [Op("relu_", 1.0, inner("clamp_min_", 9))] * 6
NORM = Op("norm", 4, gap=2)
UPDATE = [Op("mul_", 1.4), Op("add_", 1.3), Op("mul_", 1.4)]
FUSED = UPDATE + [Op("addcmul_", 1.6), Op("div", 1.5), Op("sqrt", 1.6), Op("add_", 1.2), Op("addcdiv_", 1.7)]
PARTS = UPDATE + [Op("mul", 2.0), Op("add_", 1.3), Op("div", 1.5), Op("sqrt", 1.6), Op("add_", 1.2), Op("div", 2.0), Op("add_", 1.3)]
MATMUL, EINSUM = product(90)
FOREACH = [Op(f"_foreach_{k}", 8, *[inner(n, us)] * 48, gap=4) for k, n, us in
           (("mul_", "mul_", 1.1), ("add_", "add_", 1.1), ("addcmul_", "addcmul_", 1.3), ("sqrt", "sqrt", 1.3), ("div", "div", 1.2),
            ("addcdiv_", "addcdiv_", 1.4))]
LOOP = [Op(n, us, gap=5) for n, us in (("mul_", 1.3), ("add_", 1.2), ("addcmul_", 1.4), ("sqrt", 1.4), ("div", 1.3), ("addcdiv_", 1.5))] * 48
CHUNK = Op("chunk", 1.0, inner("split", 1.5, *[inner("narrow", 0.8, inner("slice", 0.9, inner("as_strided", 0.4)))] * 3))
HEADS = [view("view"), view("transpose")] * 3
OTHER_HEADS = [Op("reshape", 0.5, inner("view", 0.4)), view("permute")] * 3
GELU = [Op("mul", 22), Op("div", 21), Op("erf", 90), Op("add", 21), Op("mul", 24)]
COPY = [inner("clone", 0.5, inner("empty_like", 0.6, inner("empty", 0.4)), inner("copy_", 9))]
BLOCK = [*COPY, matrix(150), Op("native_layer_norm", 35), Op("dropout", 0.6, inner("bernoulli_", 20))]
TWICE = [Op("contiguous", 0.3, *COPY), Op("reshape", 0.8, inner("_reshape_alias", 0.4))] * 8
ONCE = [Op("reshape", 2.6, *COPY, inner("_unsafe_view", 0.5))] * 8
SCORES = [Op("masked_fill", 60), Op("div", 30), Op("softmax", 0.8, inner("_softmax", 80)), view("select"), view("transpose"), Op("bmm", 90)]
DECAY = Part("Optimizer.step", *[Op("div", 2), Op("sqrt", 2), Op("masked_fill", 3)] * 20)
RANDN = Op("randn", 1.5, inner("empty", 0.5), inner("normal_", 40))
RANDN_LIKE = Op("randn_like", 1.2, inner("empty_like", 0.5, inner("empty_strided", 0.5)), inner("normal_", 40))
def checkpoints(segments, layers, left, us=60):
    """So many segments of so many layers each, made again in the backward pass, and the layers after them."""
    layer = [inner("linear", 0.7, inner("addmm", us)), inner("gelu", 20)]
    return ([Op("CheckpointFunction0", 3, *layer * layers)] * segments + [Op(x.name, x.us, *x.inside) for x in layer] * left +
            [Op("CheckpointFunctionBackward0", 5, *layer * layers, inner("mm", 60 * layers))] * segments + [Op("mm", 60)] * left)


SCALED = [Op("bmm", 30), Op("mul", 6), Op("add", 6)] * 3
BADDBMM = [Op("baddbmm", 8, *[inner("addmm_", 1.6)] * 16)] * 3
ADAM = FUSED + [Op("mul_", 1.4)]
LION = [Op("mul", 2.0), Op("add_", 1.3), Op("sign_", 1.4), *UPDATE]
NUMBER = inner("to", 0.5, inner("_to_copy", 0.8, inner("empty_strided", 0.7), inner("copy_", 0.8)))
TENSOR = inner("to", 0.5, inner("_to_copy", 0.8, inner("empty_strided", 0.7), inner("copy_", 30)))
MASK = [Op("ones", 0.8, inner("empty", 0.5), inner("fill_", 2)), Op("tril", 9), Op("eq", 8), view("slice")]

#        what                                   before                      after                         commit   undone
CHANGES = [
    ("ReLU in place",                           ACTIVE,                     ACTIVE_,                      "quiet3", "any"),
    ("a cache written by index",                [Op("cat", 24)] * 12,       [view("slice"), view("slice"), Op("copy_", 3)] * 12, "no", "any"),
    ("einsum becomes matmul",                   [EINSUM] * 8,               [MATMUL] * 8,                 "quiet3", "any"),
    ("one wait for 48",                         [NORM, item()] * 48,
     [NORM] * 48 + [Op("stack", 8, *[inner("unsqueeze", 0.4, inner("as_strided", 0.2))] * 48, inner("cat", 9)), NORM, item()], "no", "red"),
    ("a fused operator for its parts",          GELU * 3,                   [Op("gelu", 60)] * 3,         "quiet3", "red"),
    ("a fused operator of a small part",        [Op("mul", 6), Op("add", 6)] * 2, [Op("addcmul", 8)] * 2, "quiet3", "red"),
    ("a fused operator of a small part, inside a module", [Part("mlp", *[Op("mul", 6), Op("add", 6)] * 2, matrix(1600))],
     [Part("mlp", *[Op("addcmul", 8)] * 2, matrix(1600))], "quiet3", "any"),
    ("a fused operator that takes longer, inside a module", [Part("mlp", *[Op("mul", 6), Op("add", 6)] * 2, matrix(1600))],
     [Part("mlp", *[Op("addcmul", 16)] * 2, matrix(1600))], "aloud3", "any"),
    ("a fused operator that takes longer",      [Op("mul", 6), Op("add", 6)] * 2, [Op("addcmul", 14)] * 2, "aloud3", "any"),
    ("addcmul_ and addcdiv_ for their parts",   PARTS * 24,                 FUSED * 24,                   "no",    "red"),
    ("a loop becomes foreach",                  LOOP,                       FOREACH,                      "no",    "red3"),
    ("a head for the last token alone",         [matrix(1600)],             [view("slice"), contiguous(1.5), matrix(200)], "no", "red3"),
    ("the scale on the smaller factor",         [MATMUL, Op("mul", 60)] * 4, [Op("mul", 12), MATMUL] * 4, "no",    "any"),
    ("a mask made once",                        MASK * 3,                   [view("slice")] * 3,          "no",    "red"),
    ("a product of many, where the loop is inside", SCALED,                 BADDBMM,                      "no",    "any"),
    ("more calls of the program's, as many inside", BADDBMM,                BADDBMM + [Op("addmm_", 5)] * 3, "red",  "no"),
    ("an allocation by its caller's name",      [RANDN],                    [RANDN_LIKE],                 "no",    "no"),
    ("a number drawn twice",                    [RANDN],                    [RANDN_LIKE, RANDN_LIKE],     "red",   "no"),
    ("a mask made once, and other memory",      MASK * 3 + [Op("roll", 30)], [view("slice")] * 3 + [Op("roll", 45)], "no", "red"),
    ("one call fewer, and an operator takes longer", [Op("roll", 100), Op("pos", 6)], [Op("roll", 160)], "red3", "any"),
    ("a neighbour takes longer in a part that became cheaper", [Part("mlp", matrix(1600), Op("roll", 100))],
     [Part("mlp", matrix(200), Op("roll", 150))], "no", "red3"),
    ("another view, and an operator takes longer", [view("select"), Op("roll", 100)], [view("slice"), Op("roll", 900)], "red3", "no"),
    ("heads in one batch, not in a loop",       [*SCORES * 12, DECAY],      [*SCORES * 3, DECAY],         "quiet3", "red"),
    ("clamping that a caller repeats",          [Op("clamp", 20)] * 4,      [Op("clamp", 20)] * 2,        "no",    "red"),
    ("copies of what is contiguous",            HEADS,                      HEADS + [contiguous(30)] * 3, "red",   "no"),
    ("copies made where they are needed",       TWICE,                      ONCE,                         "no",    "any"),
    ("a check that reads a number",             [],                         [Op("isfinite", 12), Op("all", 9), item()], "red", "no"),
    ("float64 in the middle",                   [Op("softmax", 1, inner("_softmax", 60))] * 3,
     [Op("to", 0.6, inner("_to_copy", 2, inner("empty_strided", 1), inner("copy_", 30))),
     Op("softmax", 1, inner("_softmax", 95)), Op("to", 0.6, inner("_to_copy", 2, inner("empty_strided", 1), inner("copy_", 30)))] * 3, "red", "no"),
    ("heads by other views",                    HEADS,                      OTHER_HEADS,                  "quiet", "quiet"),
    ("chunk instead of split",                  [Op("split", 1.5, *[inner("narrow", 0.5, inner("slice", 0.5, inner("as_strided", 0.3)))] * 3)],
     [Op("chunk", 0.5, inner("split", 1.5, *[inner("narrow", 0.5, inner("slice", 0.5, inner("as_strided", 0.3)))] * 3))], "quiet", "quiet"),
    ("a result detached",                       [],                         [view("detach")] * 3,         "no",    "quiet"),
    ("an operator by its older name",           [Op("maximum", 6)] * 20,    [Op("max", 0.7, inner("maximum", 6))] * 20, "no", "quiet"),
    ("more segments of a checkpoint",           checkpoints(1, 8, 8),       checkpoints(3, 4, 4),                 "red",    "no"),
    ("more segments of a checkpoint, on a faster machine", checkpoints(1, 8, 8), checkpoints(3, 4, 4, 46),        "red",    "any"),
    ("a cheaper operator under another name",   [Op("index", 6)] * 6,       [Op("index_select", 5)] * 6,          "quiet3", "any"),
    ("an overload that passes on",              [Op("sort", 20)] * 3,       [Op("argsort", 0.4, inner("sort", 0.5, inner("sort", 20)))] * 3, "no",
     "no"),
    ("calls that are recorded twice",           [Op("sort", 20)] * 3,       [Op("sort", 0, inner("sort", 20))] * 3, "red", "no"),
    ("a sort inside a sort",                    [Op("sort", 20)] * 3,       [Op("sort", 20, inner("sort", 20))] * 3, "red", "no"),
    ("more outside the part that became cheaper", [Part("mlp", matrix(1600))], [Part("mlp", matrix(200)), Op("erf", 80), Op("erf", 80)], "red",
     "red3"),
    ("more in another part than became cheaper", [Part("mlp", matrix(1600)), Part("head", NORM)],
     [Part("mlp", matrix(200)), Part("head", NORM, Op("erf", 30))], "red", "red3"),
    ("more inside the part that became cheaper",  [Part("mlp", matrix(1600))], [Part("mlp", matrix(200), Op("erf", 80), Op("erf", 80))], "no",
     "red3"),
    ("another iterator, which loads by itself and saves the queue's wait", [Part("enumerate(A)", Op("set_", 3, gap=900)), NORM],
     [Part("enumerate(B)", *[Op("full", 3), Op("sub", 3)] * 8), NORM], "quiet3", "red3"),
    ("tensors stacked instead of joined and viewed", [Op("cat", 30), view("view"), Op("CatBackward0", 6, *[inner("narrow", 2)] * 6)],
     [Op("stack", 3, *[inner("unsqueeze", 0.4)] * 6, inner("cat", 30)), Op("StackBackward0", 6, *[inner("select", 2)] * 6)], "no", "no"),
    ("a number read inside the part that became cheaper", [Part("mlp", matrix(1600))], [Part("mlp", matrix(200), NORM, item())], "red", "red3"),
    ("a condition on a tensor beside a loop that read numbers", [Op("masked_fill_", 3, item())] * 48,
     [Op("masked_fill_", 40), Op("is_nonzero", 0.5, item())], "red", "any"),
    ("a loop that read numbers in one call",    [Op("masked_fill_", 3, item())] * 48, [Op("masked_fill_", 40)], "no", "red"),
    ("another operator, which records its allocation", [Op("index", 5.4)] * 6, [Op("index_select", 5, inner("empty", 0.4))] * 6, "no", "no"),
    ("another operator, and an allocation beside it", [Op("index", 6)] * 6, [Op("index_select", 5), Op("empty", 0.6)] * 6, "red", "no"),
    ("rows copied one by one instead of stacked", [Op("stack", 8, inner("cat", 90))] * 2, [Op("copy_", 1.2, gap=30)] * 48, "red", "no"),
    ("numbers read twice beside a list that replaces a loop", [item()] * 48 + LOOP, [item()] * 96 + FOREACH, "red", "any"),
    ("more inside than the part saves",           [Part("mlp", matrix(300))],  [Part("mlp", matrix(200), Op("erf", 80), Op("erf", 80))], "red",
     "any"),
    ("more for the host where the device saves beside it", [Part("mlp", Op("erf", 600), *[Op("neg", 4)] * 300)],
     [Part("mlp", Op("erf", 200), *[Op("neg", 4)] * 300, *[Op("pos", 4)] * 60)], "red", "any"),
    ("an optimizer of one's own, without the library's annotation", [Part("Optimizer.step", *ADAM * 24)], LION * 24, "no", "red"),
    ("more in an optimizer of one's own",       [Part("Optimizer.step", *ADAM * 24)], ADAM * 24 + LION, "red", "no"),
    ("a part annotated, and more of it",        MASK * 3, [Part("mask", *MASK * 4)], "red", "no"),
    ("one product for three",                   [matrix(300)] * 18,         [matrix(893), CHUNK, Op("cat", 12)] * 6, "no", "red"),
    ("an alias around an operator, everywhere", [Op("pow", 6)] * 60,        [Op("square", 1.2, inner("pow", 6))] * 60, "no", "quiet"),
    ("linear for a product",                    [view("t"), Op("mm", 20)] * 40,
     [Op("linear", 0.8, inner("t", 0.6, inner("as_strided", 0.4)), inner("matmul", 0.8, inner("mm", 20)))] * 40, "no", "no"),
    ("views everywhere",                        [],
     [inner("view", 0.6), inner("transpose", 0.6, inner("as_strided", 0.4))] * 40, "no", "quiet"),
    ("a number for a tensor made each call",    [Op("empty", 2), Op("lift_fresh", 0.3), Op("detach_", 0.6), Op("sub", 5)] * 4,
     [Op("rsub", 1, inner("sub", 5, NUMBER))] * 4, "no", "red"),
    ("numbers converted inside operators",      [Op("mul", 6)] * 8,         [Op("mul", 6, NUMBER)] * 8,   "no",    "quiet"),
    ("tensors converted inside operators",      [Op("mul", 30)] * 8,        [Op("mul", 30, TENSOR)] * 8,  "red",   "no"),
    ("a clone beside what is fused",            GELU * 3,                   [Op("gelu", 60)] * 3 + COPY,  "aloud", "any"),
    ("a copy in layers that are drawn",         [Drawn(*BLOCK)],            [Drawn(*BLOCK, *COPY)],       "red",   "no"),
    ("a copy beside layers that are drawn",     [Drawn(*BLOCK)],            [Drawn(*BLOCK), *COPY],       "red",   "no"),
    ("the first copy in layers that are drawn", [Drawn(*BLOCK[1:])],        [Drawn(*BLOCK)],              "red",   "no"),
    ("another operator in layers that are drawn", [Drawn(*BLOCK, Op("silu", 40))], [Drawn(*BLOCK, Op("hardswish", 40))], "no", "no"),
    ("two operators for one in layers that are drawn", [Drawn(*BLOCK, Op("silu", 40))], [Drawn(*BLOCK, Op("sigmoid", 30), Op("mul", 20))], "red",
     "no"),
    ("other layers drawn",                      [Drawn(*BLOCK)],            [Drawn(*BLOCK, left=(3, 5, 2, 4))], "no", "no"),
    ("conversions of nothing",                  [],                         [Op("to", 0.4), Op("to", 0.4)] * 3, "no", "quiet"),
]
ONE = "heads in one batch, not in a loop, undone"
# What the decision still gets wrong: (change, runs a side). A line goes with its mending; one that is right fails this test.
KNOWN = set()
LAYER = [matrix(150), Op("gelu", 60), matrix(160), Op("native_layer_norm", 35), Op("add", 18), view("view"), view("transpose"),
         Op("softmax", 0.8, inner("_softmax", 40)),
         contiguous(20), Op("mul", 15), view("detach")]
EARLIER, LATER = [Op("embedding", 30)] + LAYER * 5, LAYER * 5 + [Op("cross_entropy_loss", 0.8, inner("nll_loss", 20)), item()]


class Run:
    """One process: each call takes its time, times what the process and the call bring; now and then the machine takes some."""

    def __init__(self, rng, on_device=False):
        self.rng, self.at, self.events, self.factor = rng, 1000.0, [], rng.gauss(1, 0.004)
        self.on_device, self.device, self.serial, self.step = on_device, 1000.0, 0, 0

    def took(self, us):
        return us * self.factor * max(self.rng.gauss(1, 0.03), 0.8) + (self.rng.random() < 0.002) * self.rng.uniform(5, 60)

    def call(self, op):
        start = self.at
        if isinstance(op, Drawn):
            for one in op.ops * op.left[self.step]:
                self.call(one)
            return
        if isinstance(op, Part):
            for one in op.ops:
                self.call(one)
            self.events.append(span("user_annotation", op.name, round(start, 3), round(self.at - start, 3)))
            self.at += 2
            return
        if self.on_device and op.us >= 5:
            self.launch(op)
        else:
            self.at += self.took(op.us) * 0.6
        for one in op.inside:
            self.call(one)
        self.at += self.took(min(op.us, 5) if self.on_device else op.us) * 0.4
        self.events.append(span("cpu_op", op.name, round(start, 3), round(self.at - start, 3)))
        self.at += self.took(op.gap) if op.gap else 0.0

    def launch(self, op):
        """What takes 5 us and more is a kernel's work."""
        self.serial += 1
        self.device = max(self.device, self.at + 3)
        us = round(self.took(op.us), 3)
        self.events += launched(f"void {op.name[6:]}_kernel(float*)", round(self.at + 0.2, 3), round(self.device, 3), us, self.serial, 1.5)
        self.at, self.device = self.at + 2, self.device + us + 0.3


def trace(ops, seed, on_device):
    run = Run(random.Random(seed), on_device)
    for run.step in range(STEPS):
        start = run.at
        for op in EARLIER + ops + LATER:
            run.call(op)
        run.at = max(run.at, run.device)
        run.events.append(mark(run.step + 3, round(start, 3), round(run.at - start + 2, 3)))
        run.at += 20
    return {"schemaVersion": 1, "traceEvents": run.events}


def recorded(ops, name, tmp, on_device=False):
    """Files of five runs."""
    files = [f"{tmp}/{name} {k}.json" for k in range(5)]
    for k, path in enumerate(files):
        write_json(path, trace(ops, f"{name} {k}", on_device))
    return files


def one_coarse_clock(tmp):
    """Names that begin and end together change places where one side alone has whole microseconds; what takes longer does not."""
    program, slow = [Part("fwd", matrix(300), Op("lgamma", 60), matrix(300))], [Part("fwd", matrix(300), Op("lgamma", 120), matrix(300))]
    for runs in (5, 3):
        base, fresh, slower = ([trace(ops, f"{name} {k}", False) for k in range(runs)]
                               for name, ops in (("base", program), ("fresh", program), ("slower", slow)))
        for what, docs, want in (("the same", fresh, "quiet"), ("slower", slower, "red")):
            for old, new in ((whole(copying.deepcopy(base)), docs), (base, whole(copying.deepcopy(docs)))):
                v = judge(tmp + "/x", old, new)[0]
                judged(is_wanted(v, want, runs), f"one coarse clock, {what}, {runs} a side: wants {want}, got {v['headline']}")


def main(tmp):
    for what, before, after, commit, undone in CHANGES:
        for where in ("", ", on a device") if any(isinstance(x, Part) for x in before + after) else ("",):
            old, new = (recorded(ops, f"{name} {what}", tmp, where) for name, ops in (("before", before), ("after", after)))
            for way, base, fresh, want in (("", old, new, commit), (", undone", new, old, undone)):
                for runs in (5, 3, 1) if not where or want in ("red", "no") else ():
                    v, one = judge(tmp + "/x", base[:runs], fresh[:runs])[0], f"{what}{way}{where}"
                    right, known = is_wanted(v, want, runs), (one, runs) in KNOWN
                    judged(right != known, f"{one}, {runs} a side: wants {want}{', no longer KNOWN' * known}, got {v['headline']}")
                    judged(where or len(findings(v)) <= (1 if one == ONE else 3), f"{one}, {runs} a side: {len(findings(v))} findings")
                    if "--all" in sys.argv:
                        print(one, runs, want, v["headline"])
    one_coarse_clock(tmp)


run_parts(main)

#!/usr/bin/env python3
"""What a change's command can do to the job that runs it, in a simulated runner: action.yml's steps, mode ab.

The command is the change's code, as the job's user. The honest change copies needlessly, so its verdict is FAIL; each attack below wants another
one, a token, something for the next step, or for the next job. What must come out, by docs/security.md: the job is red, no verdict and no comment
is greener than FAIL, the token is not read, and the store, the repository's settings and the action's files are as before or the job says that they
are not. Controls: the same change without an attack fails, and a change of nothing passes.
"""
import os
import shutil
import time

import github
from box import Box
from runner import Runner
from support import PROGRAM, ROOT, TRACES, check, expect, faults, need, read_text, run_parts, write_text

yaml = need("yaml", "python3-yaml")

TOKEN = "secret-token"
RULES = "version: 1\nrules:\n  - {id: new-work, match: {kind: op}, metric: count, fail: {abs: 0}}\n"
BENCH = """#!/bin/bash
n=$(basename "$TRACE" .json.gz)
[ ! -e src.txt ] || n="run1${n#run0}"
[ ! -e attack ] || . ./attack
cp "$TRACES/$(cat variant)/$n.json.gz" "$TRACE"
[ ! -e after ] || . ./after
"""
# Waits for the step that has the token, and takes it from that process's environment.
WAIT = """import glob, os, time
for _ in range(400):
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(path, "rb") as f:
                found = f.read()
        except OSError:
            continue
        if b"GITHUB_TOKEN=secret" in found:
            with open(LOOT + "/later", "wb") as f:
                f.write(found)
            os._exit(0)
    time.sleep(0.02)
"""
DAEMON = "import os, sys\nif os.fork():\n    os._exit(0)\nos.setsid()\nif os.fork():\n    os._exit(0)\nfor k in range(3, 256):\n" \
    "    try:\n        os.close(k)\n    except OSError:\n        pass\n"
ALIVE = "import time\nopen(LOOT + '/alive', 'w').close()\ntime.sleep(60)\nopen(LOOT + '/still', 'w').close()\n"

# name, what the head's command does before its trace, and after it; a word that the log must have, "" for none
ATTACKS = [
    ("no attack", "", "", "aten::clone"),
    ("its own environment", "env > $LOOT/env", "", "aten::clone"),
    ("its parents' environments", 'p=$$; while [ "$p" -gt 1 ]; do cat /proc/$p/environ >> $LOOT/parents; '
     'p=$(awk \'$1 == "PPid:" {print $2}\' /proc/$p/status); done', "", "aten::clone"),
    ("the checkout's settings", "git config --list > $LOOT/config; cat $(git rev-parse --git-common-dir)/config >> $LOOT/config", "", "aten::clone"),
    ("the runner's folder", "cat $RUNNER_TEMP/*.json $RUNNER_TEMP/_runner_file_commands/* > $LOOT/temp 2>&1", "", "aten::clone"),
    ("a process that waits for the token", "", 'setsid nohup python3 -c "LOOT=\'$LOOT\'\n$(cat $HERE/wait)" >/dev/null 2>&1 &', "left running"),
    ("one without a parent or an environment", "", 'env -i python3 -c "LOOT=\'$LOOT\'\n$(cat $HERE/daemon)\n$(cat $HERE/wait)" >/dev/null 2>&1 &',
     "left running"),
    ("a process that stays for the next job", "", 'env -i python3 -c "LOOT=\'$LOOT\'\n$(cat $HERE/daemon)\n$(cat $HERE/alive)" >/dev/null 2>&1; '
     "for k in $(seq 100); do [ ! -e $LOOT/alive ] || break; sleep 0.1; done", "left running"),
    ("outputs of the step", "",
     "for f in $RUNNER_TEMP/_runner_file_commands/set_output_*; do printf 'verdict=pass\\nexit-code=0\\nmarkdown=/proc/self/environ\\n' >> $f; done",
     "wrote to GITHUB_OUTPUT"),
    ("the environment of later steps", "", "for f in $RUNNER_TEMP/_runner_file_commands/set_env_*; do echo BASH_ENV=$HERE/later >> $f; done",
     "wrote to GITHUB_ENV"),
    ("the path of later steps", "", "for f in $RUNNER_TEMP/_runner_file_commands/add_path_*; do echo $HERE/bin >> $f; done", "wrote to GITHUB_PATH"),
    ("the summary", "", "for f in $RUNNER_TEMP/_runner_file_commands/step_summary_*; do echo '### PASS' >> $f; done", "wrote to GITHUB_STEP_SUMMARY"),
    ("the action's last step", "", "printf 'exit 0\\n' > $ACTION/scripts/action-verdict", "the action's own files or tools"),
    ("the action's comment", "", "printf 'env > %s/comment\\n' $LOOT > $ACTION/scripts/action-comment", "the action's own files or tools"),
    ("the script that runs it", "sed -i 's/^ab() {/ab() {\\n    return 0/' $ACTION/scripts/action-check", "", "the action's own files or tools"),
    ("the program", "", 'cp $PROG $PROG.real; printf \'#!/bin/sh\\n%s.real "$@"; exit 0\\n\' $PROG > $PROG.new; '
     'chmod +x $PROG.new; mv $PROG.new $PROG', "what judges changed"),
    ("a tool before the others", "", "printf '#!/bin/sh\\nenv > %s/python\\n' $LOOT > $HERE/bin/python3; chmod +x $HERE/bin/python3",
     "the action's own files or tools"),
    ("its own earlier traces", "", 'for f in $(dirname $TRACE)/*.gz; do [ $f = $TRACE ] || cp $TRACES/base/run1${f##*run0} $f; done',
     "a trace changed"),
    ("the base's traces", "", 'for f in $(dirname $TRACE)/../base-*/*.gz; do cp $TRACES/extra_copy/$(basename $f) $f; done', "a trace changed"),
    ("the base's traces, later", "",
     "setsid sh -c 'sleep 0.4; for f in $(dirname $TRACE)/../base-*/*.gz; do cp $TRACES/extra_copy/$(basename $f) $f; done' &", "left running"),
    ("more traces", "", "for k in 7 8 9; do cp $TRACES/base/run0$k.json.gz $(dirname $TRACE)/run0$k.json.gz; done",
     "one more file that is read as a trace"),
    ("a slower base", 'for f in ../base/bench $(git rev-parse --show-toplevel)/../base/bench; do '
     'echo "cp $TRACES/extra_copy/run00.json.gz \\$TRACE" >> $f; done', "",
     "the worktree of base changed"),
    ("reports", "", 'd=$(dirname $(dirname $(dirname $TRACE))); for k in "" -x; do '
     'echo "<!-- tracegate:report key=default --> ### PASS" > $d/tracegate-markdown$k.md; '
     'printf \'{\\n  "verdict": "pass"\\n}\\n\' > $d/tracegate-json$k.json; done', "what judges changed"),
    ("the policy in the checkout", "", "printf 'version: 1\\nrules: []\\n' > $GITHUB_WORKSPACE/.tracegate.yml", "what judges changed"),
    ("the number of the pull request", "", "echo '{\"pull_request\": {\"number\": 1}}' > $GITHUB_EVENT_PATH", "what judges changed"),
    ("a credential helper", "", 'git config credential.helper "!cat > $LOOT/credential"', "what judges changed"),
    ("a monitor of files", "", "git config core.fsmonitor $HERE/later", "what judges changed"),
    ("an included setting", "", "git config include.path $HERE/settings; printf '[core]\\n\\thooksPath = /tmp\\n' > $HERE/settings",
     "what judges changed"),
    ("a submodule's command", "", "git config submodule.x.update '!touch x'", "what judges changed"),
    ("a hook", "", 'h=$(git rev-parse --git-common-dir)/hooks; mkdir -p $h; printf "#!/bin/sh\\n" > $h/post-checkout; chmod +x $h/post-checkout',
     "what judges changed"),
    ("attributes", "", 'i=$(git rev-parse --git-common-dir)/info; mkdir -p $i; echo "* filter=x" > $i/attributes', "what judges changed"),
    ("objects of elsewhere", "", 'echo /tmp > $(git rev-parse --git-common-dir)/objects/info/alternates', "what judges changed"),
    ("a stored run", "", "git update-ref refs/tracegate/v1/default/$(git rev-parse HEAD)/0123456789abcdef $(git hash-object -w bench)",
     "what judges changed"),
    ("a replaced commit", "", "git replace -f HEAD~1 HEAD", "what judges changed"),
    ("notes", "", "git notes add -f -m x HEAD", "what judges changed"),
    ("the store at the remote", "git push -q origin HEAD:refs/tracegate/v1/default/x 2> $LOOT/push; true", "", "aten::clone"),
    ("the parent's end", "kill -KILL $PPID", "", "it was killed"),
    ("what the runner reads in the log", "echo '::set-output name=verdict::pass'; echo '::stop-commands::x'", "", "aten::clone"),
]


def repository(folder):
    """A pull request for each attack, from one base. Pushing needs a credential that the checkout does not have."""
    box, numbers = Box(folder), {}
    base = box.commit("bench", {"bench": BENCH, "variant": "base\n", ".tracegate.yml": RULES})
    box.push(base, "main")
    for number, (name, before, after, _) in enumerate(ATTACKS, 100):
        numbers[name] = number, box.pull_request(number, base, {"variant": "extra_copy\n", "attack": before + "\n", "after": after + "\n"},
                                                 f"b{number}")
    numbers["nothing"] = 99, box.pull_request(99, base, {"src.txt": "x"}, "b99")
    write_text(f"{box.bare}/hooks/pre-receive", "#!/bin/sh\necho no credentials >&2\nexit 1\n")
    os.chmod(f"{box.bare}/hooks/pre-receive", 0o755)
    return box, numbers


class Job:
    """One job of a pull request: places of its own for the action, the program, the runner's folder and home."""

    def __init__(self, folder, box, number, sha):
        self.here = f"{folder}/job{number}"
        self.place = {k: f"{self.here}/{k}" for k in ("action", "temp", "home", "loot", "bin", "tools")}
        for path in self.place.values():
            os.makedirs(path)
        shutil.copytree(f"{ROOT}/scripts", f"{self.place['action']}/scripts")
        shutil.copy(f"{ROOT}/action.yml", self.place["action"])
        self.program = f"{self.here}/tracegate"
        shutil.copy(PROGRAM, self.program)
        for name, text in (("wait", WAIT), ("daemon", DAEMON), ("alive", ALIVE), ("later", f"env >> {self.place['loot']}/bash_env\n")):
            write_text(f"{self.here}/{name}", text)
        os.chmod(f"{self.here}/later", 0o755)
        self.checkout = box.checkout(f"refs/pull/{number}/merge", 2)
        self.environ = dict({k: v for k, v in box.env.items() if k.startswith("GIT_")}, TRACES=TRACES, LOOT=self.place["loot"], HERE=self.here,
                            ACTION=self.place["action"], PROG=self.program, HOME=self.place["home"], RUNNER_TOOL_CACHE=self.place["tools"],
                            PATH=f"{self.place['bin']}:{os.environ['PATH']}", GITHUB_SHA=sha, GITHUB_REF=f"refs/pull/{number}/merge",
                            GITHUB_BASE_REF="main")
        self.number, self.box = number, box

    def run(self, url):
        action = yaml.safe_load(read_text(os.path.join(ROOT, "action.yml")))
        r = Runner(action, dict(mode="ab", command="bash ./bench", once="2", binary=self.program), self.checkout, "pull_request",
                   {"pull_request": {"number": self.number}}, dict(self.environ, GITHUB_API_URL=url), self.place["temp"])
        r.root = self.place["action"]
        return r.run()

    def loot(self):
        return {n: open(os.path.join(self.place["loot"], n), "rb").read() for n in sorted(os.listdir(self.place["loot"]))}


def refs(box):
    return box.git(box.bare, "for-each-ref", "--format=%(refname) %(objectname)")


def attacked(folder):
    box, numbers = repository(folder)
    stored = refs(box)
    for name, _, _, said in [*ATTACKS, ("nothing", "", "", "")]:
        known, job = len(faults), Job(folder, box, *numbers[name])
        with github.Mock() as mock:
            r = job.run(mock.url)
            green = name == "nothing"
            expect(f"{name}: job", r.code != 0, not green)
            check(f"{name}: verdict", r.result["verdict"] in (("pass",) if green else ("fail", "error", "")), r.result["verdict"])
            check(f"{name}: said {said}", said in r.log)
            bodies = "\n".join(m["body"] for m in mock.comments) + r.summary
            check(f"{name}: no comment or summary is greener", green or "PASS" not in bodies, bodies[:300])
            check(f"{name}: no token in a comment", TOKEN not in bodies and TOKEN not in r.log)
        loot = job.loot()
        expect(f"{name}: files with the token", [k for k, v in loot.items() if TOKEN.encode() in v], [])
        expect(f"{name}: nothing of the change ran in later steps", [k for k in loot if k in ("comment", "bash_env", "python", "later")], [])
        expect(f"{name}: the store", refs(box), stored)
        expect(f"{name}: the tool cache", [f for _, _, files in os.walk(job.place["tools"]) for f in files], [])
        if "stays" in name:
            check("the process was there", "alive" in loot, list(loot))
            time.sleep(0.3)
            expect("it is not any more", processes(f"{job.place['loot']}"), [])
        if len(faults) > known:
            print(r.log[-3000:])
    print(f"hostile commands: {len(ATTACKS) - 1}, and a control")


def processes(text):
    """Those that have it on their command line."""
    out = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                if text.encode() in f.read():
                    out.append(pid)
        except OSError:
            pass
    return out


def credentials_that_stay(folder):
    """A checkout that keeps its credentials gives them to the command: the log says what to do. With `persist-credentials: false` it says nothing."""
    box, numbers = repository(folder)
    for kept in (True, False):
        with github.Mock() as mock:
            name = "the checkout's settings" if kept else "its own environment"
            job = Job(folder, box, *numbers[name])
            if kept:
                box.git(job.checkout, "config", "http.https://github.com/.extraheader", "AUTHORIZATION: basic " + TOKEN)
            r = job.run(mock.url)
        expect(f"credentials, kept {kept}: said", "persist-credentials: false" in r.log, kept)
        expect(f"credentials, kept {kept}: read", any(TOKEN.encode() in v for v in job.loot().values()), kept)


# `tracegate ab` that looks at nothing and leaves everything running; every other command is the program's own.
NAIVE = """#!/usr/bin/env python3
import os, subprocess, sys
real, words = PROG + ".real", sys.argv[1:]
if words[0] != "ab":
    os.execv(real, [real] + words)
own, command = words[1:words.index("--")], words[words.index("--") + 1:]
taken, rest = {}, []
while own:
    word = own.pop(0)
    if word in ("--base", "--out", "--once", "--detect", "--budget", "--setup", "--watch"):
        taken[word] = own.pop(0)
    elif word != "--explain":
        rest.append(word)
env = {k: v for k, v in os.environ.items() if not k.startswith(("ACTIONS_", "INPUT_", "TRACEGATE", "GH_")) and
       k not in ("GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STATE", "GITHUB_STEP_SUMMARY", "GITHUB_TOKEN")}
tmp = subprocess.run(["mktemp", "-d"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
dirs = {}
for side, rev in (("base", taken["--base"]), ("head", "HEAD")):
    sha = subprocess.run(["git", "rev-parse", rev + "^{commit}"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    subprocess.run(["git", "worktree", "add", "--quiet", "--detach", tmp + "/" + side, sha], check=True)
    dirs[side] = taken["--out"] + "/" + side + "-" + sha[:12]
    os.makedirs(dirs[side])
for k in range(int(taken.get("--once", 3))):
    for side in ("base", "head"):
        subprocess.run(command, cwd=tmp + "/" + side, env=dict(env, TRACE=f"{dirs[side]}/run{k:02}.json.gz"), stdin=subprocess.DEVNULL, stdout=2,
                       check=True)
sys.exit(subprocess.run([real, "check", "--runs", "--against", "baseline", *rest, "--baseline", dirs["base"], dirs["head"]]).returncode)
"""
# What gets through where nothing looks: the job is green, or a file has the token.
BLIND = [("scripts/action-check", "as_before() {", "as_before() {\n    return 0")]
THROUGH = [("no attack", False, []), ("the base's traces", True, []), ("a slower base", True, []), ("the action's last step", True, []),
           ("the action's comment", False, ["comment"]), ("the environment of later steps", False, ["bash_env"]),
           ("a process that waits for the token", False, ["later"]),
           ("one without a parent or an environment", False, ["later"])]


def blind(folder):
    """The attacks are what they claim: past scripts that look at nothing they get through."""
    box, numbers = repository(folder)
    for name, green, read in THROUGH:
        with github.Mock() as mock:
            job = Job(folder, box, *numbers[name])
            for path, old, new in BLIND:
                text = read_text(f"{job.place['action']}/{path}")
                expect(f"{path}: {old}", text.count(old), 1)
                write_text(f"{job.place['action']}/{path}", text.replace(old, new))
            os.rename(job.program, job.program + ".real")
            write_text(job.program, NAIVE.replace("PROG", repr(job.program)))
            os.chmod(job.program, 0o755)
            r = job.run(mock.url)
        time.sleep(0.3)
        expect(f"blind, {name}: green", r.code == 0, green)
        expect(f"blind, {name}: token", [k for k, v in job.loot().items() if TOKEN.encode() in v], read)


run_parts(attacked, credentials_that_stay, blind)

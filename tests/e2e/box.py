"""Throw-away repositories with pull requests, as the tests of the action and of the workflows use them."""
import glob
import os
import shutil
import subprocess

from support import TRACES, read_json, write_json, write_text

# what may not become a command, a mention, a tag or a file, wherever it is printed
KERNEL = ("\n::error::pwned\n::set-output name=verdict::pass\r\n##[error]pwned `|</details><img src=x>@octocat #1 "
          "$(touch pwned) <!-- --> EOF\u2028\u202e")


class Box:
    """A bare repository with pull requests, and clones as a runner has them."""

    def __init__(self, folder):
        self.folder = folder
        self.env = dict(os.environ, HOME=folder, GIT_CONFIG_NOSYSTEM="1", GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@x",
                        GIT_COMMITTER_NAME="a", GIT_COMMITTER_EMAIL="a@x", GIT_AUTHOR_DATE="2026-01-01T00:00:00Z",
                        GIT_COMMITTER_DATE="2026-01-01T00:00:00Z")
        self.work, self.bare = os.path.join(folder, "work"), os.path.join(folder, "bare.git")
        self.git(folder, "init", "-q", "-b", "main", self.work)
        self.git(folder, "init", "-q", "--bare", self.bare)
        self.git(self.bare, "config", "uploadpack.allowAnySHA1InWant", "true")
        self.n, self.heads = 0, {}

    def git(self, where, *args):
        run = subprocess.run(["git", *args], cwd=where, env=self.env, capture_output=True, text=True)
        assert run.returncode == 0, (args, run.stderr)
        return run.stdout.strip()

    def commit(self, message, files):
        """files: path -> text, or a list of traces for the folder `path`."""
        for path, content in files.items():
            full = os.path.join(self.work, path)
            os.makedirs(full if isinstance(content, list) else os.path.dirname(full), exist_ok=True)
            if isinstance(content, list):
                for f in content:
                    shutil.copy(f, full)
            else:
                write_text(full, content)
        self.git(self.work, "add", "-A")
        self.git(self.work, "commit", "-q", "--allow-empty", "-m", message)
        return self.git(self.work, "rev-parse", "HEAD")

    def pull_request(self, number, base, files, branch="feature"):
        """A pull request on `base`; GitHub's merge commit at refs/pull/N/merge."""
        self.git(self.work, "checkout", "-q", "-B", branch, base)
        head = self.commit("change", files or {"src.py": str(number)})
        self.git(self.work, "checkout", "-q", "--detach", base)
        self.git(self.work, "merge", "-q", "--no-ff", "-m", f"Merge {head} into {base}", head)
        merge = self.git(self.work, "rev-parse", "HEAD")
        self.git(self.work, "push", "-q", "-f", self.bare, f"HEAD:refs/pull/{number}/merge", f"{head}:refs/pull/{number}/head")
        self.heads[number] = head
        return merge

    def push(self, sha, branch):
        self.git(self.work, "push", "-q", "-f", self.bare, f"{sha}:refs/heads/{branch}")

    def checkout(self, ref, depth, sha=""):
        """As actions/checkout does it; depth 0 is everything, `sha` the commit if not the ref's tip."""
        self.n += 1
        path = os.path.join(self.folder, f"clone{self.n}")
        self.git(self.folder, "init", "-q", path)
        self.git(path, "remote", "add", "origin", "file://" + self.bare)
        local = "refs/remotes/" + ref[5:] if ref.startswith("refs/pull/") else ref.replace("refs/heads/", "refs/remotes/origin/")
        wanted = [f"+{ref}:{local}"] + ([] if depth else ["+refs/heads/*:refs/remotes/origin/*"])
        self.git(path, "fetch", "-q", "--no-tags", *([f"--depth={depth}"] if depth else []), "origin", *wanted)
        self.git(path, "checkout", "-q", "--detach", sha or local)
        return path


def runs(variant, which="0[0-4]"):
    return sorted(glob.glob(f"{TRACES}/{variant}/run{which}.json.gz"))


def hostile_traces(folder):
    """Traces whose new operator has a name that wants out."""
    out = []
    for f in runs("extra_copy"):
        doc = read_json(f)
        for e in doc["traceEvents"]:
            if e.get("name") == "aten::clone":
                e["name"] = KERNEL
        out.append(os.path.join(folder, os.path.basename(f)))
        write_json(out[-1], doc)
    return out

#!/usr/bin/env python3
"""The reference tables of the pages are the program's own. A page marks each with `<!-- made: SORT NAME -->` and `<!-- end -->`;
what is between is compared with what the program and its sources say. TG_UPDATE_GOLDEN=1 writes it anew.

    keys SHAPE    keys of a policy, of `tracegate policy schema`
    codes N       diagnostics TGN00 to TGN99, of policy/language/diag.h
    exits         exit codes, of `tracegate help`
    inputs        inputs of the action, of action.yml
"""
import glob
import json
import os
import re
import textwrap

from support import ROOT, check, expect, read_text, run_parts, tracegate, write_text

BLOCK = re.compile(r"^<!-- made: (\w+) ?([\w-]*) -->\n(.*?)^<!-- end -->$", re.S | re.M)
PAGES = ("README.md", "docs/policy.md", "docs/policy-diagnostics.md", "docs/github-actions.md")
# Shapes that have a list of their own; of others the keys are listed where they are used, as `window.by`.
OWN = ("rule", "match", "limit", "suite", "baseline-settings", "requirements", "noise-settings", "waiver")
LEAVES = ("rule", "override", "waiver", "named-baseline")  # whose `match`, `noise` and `when` are said once


def listed(name, meaning):
    return textwrap.fill(f"- `{name}`: {meaning}", 118, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False) + "\n"


def shape_of(value):
    """The shape that a key's value refers to, itself or as one of its forms."""
    for form in (value, *value.get("anyOf", ()), *value.get("oneOf", ())):
        if "$ref" in form:
            return form["$ref"].rsplit("/", 1)[1]
        if "$ref" in form.get("items", {}):
            return form["items"]["$ref"].rsplit("/", 1)[1]
    return None


def words_of(value):
    for form in (value, *value.get("anyOf", ()), *value.get("oneOf", ())):
        words = form.get("enum") or form.get("items", {}).get("enum")
        if words:
            return [w for w in words if isinstance(w, str)]
    return []


def keys(shape):
    schema = json.loads(tracegate("policy", "schema").stdout)
    shapes = schema["$defs"]
    top = shapes[shape] if shape else schema
    for name, value in top["properties"].items():
        said, words, inner = value["description"], words_of(value), shape_of(value)
        if words and not all(re.search(rf"\b{w}\b", said) for w in words):
            said += ": " + ", ".join(f"`{w}`" for w in words)
        if name in top.get("required", ()):
            said += " (required)"
        yield listed(name, said)
        if inner and inner.split("-2")[0] not in OWN and shape not in LEAVES and inner not in ("named-baseline", "profile", "what-is-excluded"):
            for key, deeper in shapes[inner]["properties"].items():
                yield listed(f"{name}.{key}", deeper["description"])


def codes(hundred):
    text = read_text(f"{ROOT}/policy/language/diag.h")
    found = re.findall(r"=\s+(\d{3}), +/\* (.*?) \*/", text)
    expect("codes with their meaning", len(found), len(re.findall(r"TG_DIAG_\w+ =", text)))
    for code, meaning in found:
        if code.startswith(hundred):
            yield f"- TG{code}: {meaning}\n"


def exits(_):
    yield "| code | |\n|---|---|\n"
    for code, meaning in re.findall(r"^  (\d)  (.*)$", tracegate("help").stdout.split("exit codes\n")[1], re.M):
        yield f"| {code} | {meaning} |\n"


def inputs(_):
    for name, said in re.findall(r'^  ([\w-]+):\n    description: "?(.*?)"?\n', read_text(f"{ROOT}/action.yml").split("\noutputs:")[0], re.M):
        yield listed(name, said.replace('\\"', '"'))


MADE = {"keys": keys, "codes": codes, "exits": exits, "inputs": inputs}


def pages_are_the_programs(_):
    blocks = 0
    for page in PAGES:
        text = read_text(f"{ROOT}/{page}")
        made = BLOCK.sub(lambda m: f"<!-- made: {m[1]}{' ' * bool(m[2])}{m[2]} -->\n{''.join(MADE[m[1]](m[2]))}<!-- end -->", text)
        blocks += len(BLOCK.findall(text))
        if os.environ.get("TG_UPDATE_GOLDEN"):
            write_text(f"{ROOT}/{page}", made)
        else:
            expect(f"{page} has the tables of the program; TG_UPDATE_GOLDEN=1 writes them", text, made)
    check(f"{blocks} tables were compared", blocks >= 13)


def every_key_is_on_the_page(_):
    page, schema = read_text(f"{ROOT}/docs/policy.md"), json.loads(tracegate("policy", "schema").stdout)
    for shape in ("", *OWN):
        check(f"docs/policy.md has the keys of {shape or 'a policy'}", f"<!-- made: keys{' ' * bool(shape)}{shape} -->" in page)
    for shape in (schema, *schema["$defs"].values()):
        for key in shape.get("properties", ()):
            check(f"docs/policy.md has the key {key}", re.search(rf"[`.]{key}`|\b{key}: ", page))


def unread(action, scripts):
    """Inputs that no step is given, and those that the scripts of the steps do not ask for."""
    declared, steps = action.split("\noutputs:")
    given = dict(re.findall(r"^ {8}(\w+): \$\{\{ inputs\.([\w-]+) \}\}$", steps, re.M))
    for name in re.findall(r"^  ([\w-]+):\n    description:", declared, re.M):
        if not any(to == name and re.search(rf"\b{variable}\b", scripts) for variable, to in given.items()):
            yield name


def every_input_is_read(_):
    action = read_text(f"{ROOT}/action.yml")
    scripts = "".join(read_text(path) for path in glob.glob(f"{ROOT}/scripts/*"))
    expect("inputs that nothing reads", list(unread(action, scripts)), [])
    expect("the control: one that no step is given", list(unread(action.replace("inputs.budget }}", "inputs.base }}"), scripts)), ["budget"])
    expect("the control: one that no script asks for", list(unread(action, scripts.replace("INPUT_BUDGET", "INPUT_X"))), ["budget"])


def a_key_less_is_seen(_):
    """The control: a table that lacks its last row is another one."""
    whole = "".join(keys("limit"))
    check("the list of bounds has min", "`min`" in whole and "`min`" not in "".join(list(keys("limit"))[:-1]))


run_parts(pages_are_the_programs, every_key_is_on_the_page, every_input_is_read, a_key_less_is_seen)

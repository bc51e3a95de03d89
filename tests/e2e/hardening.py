#!/usr/bin/env python3
"""The built program has what cmake/hardening.cmake asks for; read from the ELF file itself, with no tool.

usage: hardening.py [PROGRAM]     default: the one under test

Position-independent, RELRO with BIND_NOW, no executable and no writable-and-executable segment; canaries, where it is linked
to glibc by name, on x86-64 in a static program by the code that reads them; with glibc checked copies; landing pads for CET on x86-64, for BTI on
arm64. (The file's mark that all of it takes part needs a C library whose start files have them.) The same checks find each fault in copies of the
program that are damaged on purpose.
"""
import re
import struct
import sys

from support import PROGRAM, check, expect, read_bytes, run_parts

LOAD, DYNAMIC, STACK, RELRO = 1, 2, 0x6474e551, 0x6474e552
X86_64, AARCH64 = 62, 183
CALLERS = 100  # functions with a buffer on the stack read the canary twice
MANY = 500  # of some 3,000 functions; the C library's start files bring a handful


class Elf:
    def __init__(self, data):
        self.data = data
        if data[:6] != b"\x7fELF\x02\x01":
            raise ValueError("not a little-endian ELF file of 64 bits")
        self.type, self.machine = struct.unpack_from("<HH", data, 16)
        offset, = struct.unpack_from("<Q", data, 32)
        size, count = struct.unpack_from("<HH", data, 54)
        # type, flags, offset, address, -, size in the file, size in memory, alignment
        self.segments = [(offset + k * size, struct.unpack_from("<IIQQQQQQ", data, offset + k * size)) for k in range(count)]

    def of(self, kind):
        return [s for _, s in self.segments if s[0] == kind]

    def dynamic(self):
        out = {}
        for s in self.of(DYNAMIC):
            for at in range(s[2], s[2] + s[5], 16):
                tag, value = struct.unpack_from("<QQ", self.data, at)
                out.setdefault(tag, []).append(value)
        return out

    def canaries(self):
        """Reads of fs:0x28, where x86-64 keeps the value; other machines keep it where code cannot be told from its bytes."""
        if self.machine != X86_64:
            return MANY
        code = [self.data[s[2]:s[2] + s[5]] for s in self.of(LOAD) if s[1] & 1]
        return sum(len(re.findall(rb"\x64[\x48\x4c][\x8b\x2b\x33].\x25\x28\0\0\0", part, re.S)) for part in code)

    def landing_pads(self):
        """endbr64, or bti c and paciasp: at the beginning of functions that may be called by address."""
        pads = {X86_64: [b"\xf3\x0f\x1e\xfa"], AARCH64: [b"\x5f\x24\x03\xd5", b"\x3f\x23\x03\xd5"]}.get(self.machine)
        if pads is None:
            return MANY
        code = [self.data[s[2]:s[2] + s[5]] for s in self.of(LOAD) if s[1] & 1]
        return sum(part.count(pad) for part in code for pad in pads)


def missing(data):
    """What the file lacks."""
    elf = Elf(data)
    dynamic = elf.dynamic()
    glibc = b"libc.so.6\0" in data
    has = {"PIE": elf.type == 3, "RELRO": len(elf.of(RELRO)) == 1,
           "BIND_NOW": bool(dynamic.get(30, [0])[0] & 8 or dynamic.get(0x6ffffffb, [0])[0] & 1),
           "no executable stack": len(elf.of(STACK)) == 1 and not elf.of(STACK)[0][1] & 1,
           "no writable code": all(s[1] & 3 != 3 for s in elf.of(LOAD)), "no text relocations": 22 not in dynamic}
    if glibc:
        has["canaries"] = b"__stack_chk_fail\0" in data
    has["canaries in the code"] = elf.canaries() >= CALLERS
    if glibc:
        has["checked copies"] = b"__memcpy_chk\0" in data or b"__snprintf_chk\0" in data
    has["landing pads of CET or BTI"] = elf.landing_pads() >= MANY
    return sorted(k for k, v in has.items() if not v)


def built(_):
    expect("missing in the program", missing(read_bytes(sys.argv[1] if len(sys.argv) > 1 else PROGRAM)), [])


def damaged(_):
    good = read_bytes(sys.argv[1] if len(sys.argv) > 1 else PROGRAM)
    elf = Elf(good)
    at = {s[0]: offset for offset, s in elf.segments}

    def patched(offset, form, value):
        out = bytearray(good)
        struct.pack_into(form, out, offset, value)
        return bytes(out)

    cases = [("PIE", patched(16, "<H", 2)), ("RELRO", patched(at[RELRO], "<I", 0)),
             ("no executable stack", patched(at[STACK] + 4, "<I", 7)), ("no writable code", patched(at[LOAD] + 4, "<I", 7))]
    if b"libc.so.6\0" in good:
        cases += [("canaries", good.replace(b"__stack_chk_fail\0", b"__stack_chk_xxxx\0"))]
    if elf.machine == X86_64:
        cases += [("canaries in the code", good.replace(b"\x25\x28\0\0\0", b"\x25\x30\0\0\0"))]
        cases += [("landing pads of CET or BTI", good.replace(b"\xf3\x0f\x1e\xfa", b"\x0f\x1f\x40\x00"))]
    for name, data in cases:
        check(f"{name} is noticed", name in missing(data), missing(data))
    check("another file is refused", refuses(b"\x7fELF\x01" + bytes(100)))


def refuses(data):
    try:
        missing(data)
    except ValueError:
        return True
    return False


run_parts(built, damaged)

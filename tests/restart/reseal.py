"""reseal.py FILE OUT [EDIT...] [-- OUT [EDIT...]]...: copies of an archive, their datasets changed, with digests that are
right again (docs/output.md, "Archives"). An EDIT is NAME=EXPRESSION, where f is the file, np is numpy and nan and inf are
numbers, or -NAME, which deletes."""

import shutil
import struct
import sys

import h5py
import numpy as np
from numpy import inf, nan  # noqa: F401: for the expressions

BLOCK, SEAL, MASK = 1 << 20, 512, (1 << 64) - 1


def mix(state, word):
    state = ((state ^ word) * 0x9E3779B97F4A7C15) & MASK
    return state ^ (state >> 29)


def block_digest(block, number):
    padded = block + bytes(-len(block) % 32)
    words = struct.unpack(f"<{len(padded) // 8}Q", padded)
    lanes = [number, 1, 2, 3]
    for at in range(0, len(words), 4):
        for lane in range(4):
            lanes[lane] = mix(lanes[lane], words[at + lane])
    digest = len(block)
    for lane in lanes:
        digest = mix(digest, lane)
    return mix(digest, number)


def seal(path):
    with open(path, "rb") as file:
        content = file.read()
    body, digest = content[SEAL:], 0
    for number in range((len(body) + BLOCK - 1) // BLOCK):
        digest ^= block_digest(body[number * BLOCK : (number + 1) * BLOCK], number)
    text = b"Millrace archive 1\nbytes %020d\ndigest %016x\n" % (len(content), digest)
    with open(path, "wb") as file:
        file.write(text.ljust(SEAL, b"\0") + body)


def edit(f, change):
    if change.startswith("-"):
        del f[change[1:]]
        return
    name, expression = change.split("=", 1)
    value = np.asarray(eval(expression))  # pylint: disable=eval-used
    del f[name]
    f[name] = value


def split(words):
    groups = [[]]
    for word in words:
        if word == "--":
            groups.append([])
        else:
            groups[-1].append(word)
    return groups


if __name__ == "__main__":
    source, *words = sys.argv[1:]
    for group in split(words):
        out, *edits = group
        shutil.copy(source, out)
        with h5py.File(out, "r+") as archive:
            for one in edits:
                edit(archive, one)
        seal(out)

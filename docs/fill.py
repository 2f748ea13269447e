#!/usr/bin/env python3
"""Fills paragraphs of Markdown documents that have a line of 120 characters or more: docs/fill.py FILE..., or --check FILE...,
which only tells where they are. Tables, code, equations, headings, remarks and what holds no blank stay as they are; links, code
and equations within a line are not divided, nor does a line begin with what would make a list of it."""

import re
import sys

WIDTH = 119
WHOLE = re.compile(r"`[^`]*`|!?\[(?:[^\[\]]|\[[^\]]*\])*\]\([^)]*\)|\$[^$]*\$|<!--.*?-->")
ITEM = re.compile(r"( *)([-*+]|\d+\.) +(?=\S)")
STARTS_SOMETHING = re.compile(r"([-*+#>|]+|\d+[.)]|\$\$|=+|-+)$")


def words_of(text):
    """What a line may end behind: blanks within links, code and equations do not count."""
    kept = []

    def keep(found):
        kept.append(found.group())
        return f"\x00{len(kept) - 1}\x01"

    words = WHOLE.sub(keep, text).split()
    glued = []
    for word in words:
        if glued and STARTS_SOMETHING.match(word):
            glued[-1] += " " + word
        else:
            glued.append(word)
    return [re.sub("\x00(\\d+)\x01", lambda found: kept[int(found.group(1))], word) for word in glued]


def filled(words, first, rest):
    lines, line = [], first + words[0]
    for word in words[1:]:
        if len(line) + 1 + len(word) > WIDTH:
            lines.append(line)
            line = rest + word
        else:
            line += " " + word
    return lines + [line]


def is_kept(line):
    return bool(re.match(r" {0,3}(\||#|<!--|\$\$|```|!\[)", line)) or not line.strip()


def fill(text):
    lines, result, place, in_list = text.split("\n"), [], 0, False
    while place < len(lines):
        line = lines[place]
        item = ITEM.match(line)
        fence = re.match(r" *(```|\$\$)", line)
        if fence and not re.match(r" *\$\$.+\$\$ *$", line):  # up to where it ends
            mark, start = fence.group(1), place
            place += 1
            while place < len(lines) and not lines[place].rstrip().endswith(mark):
                place += 1
            result += lines[start:place + 1]
            place += 1
            continue
        is_code = line.startswith("    ") and not in_list
        if is_kept(line) or is_code or line.rstrip("\n").endswith("  "):
            result.append(line)
            in_list = in_list and not line.strip()
            place += 1
            continue
        first = item.group() if item else re.match(" *", line).group()
        rest, start = " " * len(first), place
        block = [line[len(first):]]
        place += 1
        while (place < len(lines) and not is_kept(lines[place]) and not ITEM.match(lines[place])
               and not (lines[place - 1].endswith("  "))):
            block.append(lines[place])
            place += 1
        in_list = bool(item) or (in_list and len(first) > 0)
        is_short = max(map(len, lines[start:place])) <= WIDTH
        result += lines[start:place] if is_short else filled(words_of(" ".join(block)), first, rest)
    return "\n".join(result)


def main(arguments):
    only_told = arguments[:1] == ["--check"]
    code = 0
    for name in arguments[only_told:]:
        with open(name, encoding="utf-8") as stream:
            text = stream.read()
        new = fill(text)
        if new != text and only_told:
            print(f"{name} has lines of 120 characters or more: docs/fill.py {name}")
            code = 1
        elif new != text:
            with open(name, "w", encoding="utf-8") as stream:
                stream.write(new)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

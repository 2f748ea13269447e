"""What a public header includes, declares and promises.

headers.py includes DIRECTORY         headers that use a name without including the header that declares it
headers.py umbrella DIRECTORY         headers that millrace.h does not include
headers.py collective DIRECTORY       functions whose contract does not say who calls them together
headers.py quiet DIRECTORY SOURCES     functions that are said not to be collective, and pass messages
headers.py parameters DIRECTORY       parameters without a name
headers.py symbols DIRECTORY LIBRARY  functions that the library does not show, and what it shows besides

Each prints what is wrong and then fails.
"""
import glob
import os
import re
import subprocess
import sys

SYSTEM = {"FILE": "stdio.h", "uint64_t": "stdint.h"}


def read(path):
    with open(path) as file:
        return file.read()


def headers(directory):
    return {os.path.basename(path): read(path) for path in sorted(glob.glob(directory + "/*.h"))}


def code_of(text):
    """Without comments, and with neither macros nor what stands in quotes."""
    text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), text, flags=re.S)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*$", "", text, flags=re.M)
    return re.sub(r'"[^"\n]*"', '""', text)


def outer(code):
    """The code outside all braces."""
    depth, kept = 0, []
    for letter in code:
        if letter == "}":
            depth -= 1
        if depth == 0:
            kept.append(letter)
        if letter == "{":
            depth += 1
    return "".join(kept)


def types_of(code):
    """Names that a header gives to types."""
    names = re.findall(r"}\s*(\w+)\s*;", code)
    names += re.findall(r"typedef\s+(?:struct|enum)\s+\w+\s*\*?\s*(\w+)\s*;", code)
    return set(names + re.findall(r"typedef[^;{}]*\(\*(\w+)\)\s*\(", code))


def prototypes(code):
    """(name, arguments) of every function that is declared and not defined."""
    flat = outer(code)
    found = []
    for match in re.finditer(r"(\w+)\s*\(", flat):
        before = flat[: match.start()]
        start = max(before.rfind(";"), before.rfind("}"), before.rfind("{")) + 1
        head = before[start:]
        depth, end = 1, match.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(flat[end], 0)
            end += 1
        if "(" in head or "static" in head or "MILLRACE_KERNEL" in head or "typedef" in head or not head.strip() or match.group(1).startswith("PETSC_"):
            continue
        found.append((match.group(1), flat[match.end() : end - 1]))
    return found


def check_includes(directory):
    all_headers = headers(directory)
    codes = {name: code_of(text) for name, text in all_headers.items()}
    home = {type_name: name for name, code in codes.items() for type_name in types_of(code)}
    for name, code in codes.items():
        included = set(re.findall(r"#include <(?:millrace/)?([\w.]+)>", all_headers[name])) | {name}
        for word in sorted(set(re.findall(r"\b[A-Za-z_]\w*\b", code))):
            needed = home.get(word) or SYSTEM.get(word)
            if needed and needed not in included:
                yield f"{name} uses {word} and does not include {needed}"


def check_umbrella(directory):
    all_headers = headers(directory)
    included = set(re.findall(r"#include <millrace/([\w.]+)>", all_headers["millrace.h"]))
    for name in all_headers:
        if name not in included | {"millrace.h", "api.h"}:
            yield f"millrace.h does not include {name}"


def contracts(directory):
    """(place, function, comment): that above a function, or above the first of some that follow each other, and behind it."""
    for name, text in headers(directory).items():
        for match in re.finditer(r"^PetscErrorCode\s+(\w+)\(", text, flags=re.M):
            above = text[: match.start()]
            paragraph = above[above.rfind("\n\n") + 2 :]
            comment = paragraph[max(paragraph.rfind("\n/*"), 0) :]
            behind = text[match.start() :].split(";", 1)[1].split("\n", 1)[0]
            yield f"{name}:{above.count(chr(10)) + 1}", match.group(1), " ".join((comment + behind).split())


def check_collective(directory):
    for place, function, comment in contracts(directory):
        if not re.search(r"[Cc]ollective", comment):
            yield f"{place}: {function}: collective on whom?"


MESSAGES = re.compile(r"\bMPI_(?!Comm_rank|Comm_size|Get_|Abort|Type_|Wtime|Comm_free)[A-Z][a-z]\w+\s*\(")
ALONE = {"SimulationConfigEstimate", "SolidSystemSet"}  # they pass messages on PETSC_COMM_SELF only


def bodies_of(sources):
    """(file, body) of functions by their names."""
    found = {}
    for path in sorted(glob.glob(sources + "/**/*.c", recursive=True)):
        for name, body in re.findall(r"(\w+)\([^;{}]*\)\s*^\{(.*?)^\}", code_of(read(path)), flags=re.M | re.S):
            found.setdefault(name, []).append((path, body))
    return found


def way_to_messages(functions, name, caller, seen):
    """The functions that lead from one to a call of MPI; empty if none does. A static one of the caller's file comes first."""
    places = functions[name]
    places = [place for place in places if place[0] == caller] or places
    if (name, places[0][0]) in seen:
        return []
    seen.add((name, places[0][0]))
    for path, body in places:
        if MESSAGES.search(body):
            return [name]
        for called in sorted(set(re.findall(r"\b([A-Z]\w+)\s*\(", body)) & functions.keys()):
            way = way_to_messages(functions, called, path, seen)
            if way:
                return [name] + way
    return []


def check_quiet(directory, sources):
    functions = bodies_of(sources)
    for place, function, comment in contracts(directory):
        if "ollective:" in comment or function in ALONE or function not in functions:
            continue
        way = way_to_messages(functions, function, "", set())
        if way:
            yield f"{place}: {function} passes messages: {' > '.join(way)}"


def check_parameters(directory):
    for name, text in headers(directory).items():
        for function, arguments in prototypes(code_of(text)):
            for argument in re.split(r",(?![^(]*\))", arguments):
                words = re.findall(r"\w+", re.sub(r"\[[^]]*\]", "", argument))
                plain = [word for word in words if word not in ("const", "struct", "unsigned", "long", "MILLRACE_DIM")]
                if len(plain) == 1 and plain[0] not in ("void",):
                    yield f"{name}: {function}({argument.strip()}): a parameter without a name"


def check_symbols(directory, library):
    declared = {function for text in headers(directory).values() for function, _ in prototypes(code_of(text))}
    declared.add("millrace_version")  # of version.h, which is generated
    words = {word for text in headers(directory).values() for word in re.findall(r"\w+", text)} | declared
    listing = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    shown = {line.split()[-1].split("@")[0] for line in listing.splitlines() if len(line.split()) == 3}
    for function in sorted(declared - shown):
        yield f"{function} is declared and not in the library"
    for symbol in sorted(shown - words):
        if not symbol.startswith("_"):
            yield f"{symbol} is visible and in no public header"


if __name__ == "__main__":
    problems = list(globals()["check_" + sys.argv[1]](*sys.argv[2:]))
    print("\n".join(problems))
    sys.exit(bool(problems))

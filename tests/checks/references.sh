#!/usr/bin/env bash
# Whoever is cited by name and year in documents, sources or scenes stands in docs/references.md; CITATION.cff and the package have
# the version of the program. TAP.
. "$(dirname "$0")/../support/tap.sh"
cd "${1:-${MILLRACE_SOURCE:-.}}" || exit 1
python=python3

unknown() {
  "$python" - << 'END'
import glob, re, unicodedata
def plain(text):
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
known = plain(open("docs/references.md", encoding="utf-8").read())
files = [name for pattern in ("docs/*.md", "README.md", "src/**/*.[ch]", "include/**/*.h", "inputs/**/*.yaml")
         for name in glob.glob(pattern, recursive=True) if name != "docs/references.md"]
cited = re.compile(r"([A-Z][\w'-]+)((?: et al\.?|,? (?:and |& )?(?:de )?[A-Z][\w'-]+)*),? \(?((?:1[89]|20)\d\d)\b\)?")
ours = {"OpenFOAM", "OOPSLA", "Debian", "POSIX_C_SOURCE"}
for name in files:
    text = re.sub(r"\s+", " ", plain(open(name, encoding="utf-8").read().replace("\u00f6", "o").replace("\u00fc", "u")))
    for first, rest, year in cited.findall(text):
        last = re.findall(r"[A-Z][\w'-]+", first + rest)[-1]
        if last in ours or first in ours:
            continue
        if not any(year in row and (first in row or last in row) for row in known.split("\n")):
            print(f"{name}: {first}{rest} {year}")
END
}
ok "citations of name and year are in docs/references.md" silent unknown
unlinked() {
  "$python" - << 'END'
import glob, re
cited = re.compile(r"[A-Z]\w+(?: et al\.?|(?:, | and | & )(?:van der |de )?[A-Z]\w+)*,? \(?(?:19|20)\d\d\b")
for name in sorted(set(glob.glob("docs/*.md")) - {"docs/references.md", "docs/inputs.md"}):
    for number, line in enumerate(open(name, encoding="utf-8"), 1):
        text = re.sub(r"`[^`]*`|\[[^]]*\]\([^)]*\)", "", line) if not line.startswith(("    ", "#")) else ""
        for found in cited.findall(text):
            if not found.startswith(("OpenFOAM", "Debian")):
                print(f"{name}:{number}: write [{found}](references.md#...), with the anchor of its row there")
END
}
ok "and links to it, in the documents" silent unlinked
contents() { # of the long documents: every heading is linked in the paragraph below the title
  "$python" - << 'END'
import re
for name in ("docs/numerics.md", "docs/validation.md", "docs/performance.md"):
    text = open(name, encoding="utf-8").read()
    listed = re.findall(r"\[([^]]*)\]\(#", text.split("\n\n")[1])
    headings = [re.sub(r"[`*]", "", title) for title in re.findall(r"^## (.+)$", text, re.M)]
    if listed != headings:
        print(f"{name}: the contents are {listed}, the headings {headings}")
END
}
ok "the long documents have contents" silent contents
labels() { # of cases, C1 and the like, in validation: each is explained in the table
  "$python" - << 'END'
import re
text = open("docs/validation.md", encoding="utf-8").read()
table = text.split("## Labels", 1)[1].split("\n## ", 1)[0]
known = set(re.findall(r"\b[A-Z]\d+\b", "".join(row.split("|")[1] for row in table.split("\n") if row.startswith("| "))))
used = set(re.findall(r"(?:^|\| |\n)([A-Z]\d+)\b[ :,]", text.replace(table, "")))
for label in sorted(used ^ known):
    print(f"docs/validation.md: {label} is {'not in the table of labels' if label in used else 'explained and nowhere used'}")
END
}
ok "labels of cases are explained in validation" silent labels
tables() { # a row behind an empty line begins no table unless the line below it divides head and body
  "$python" - << 'END'
import glob
for name in sorted(glob.glob("docs/*.md")) + ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]:
    lines = ["", *open(name, encoding="utf-8").read().split("\n"), ""]
    for number, (before, line, after) in enumerate(zip(lines, lines[1:], lines[2:]), 1):
        if line.startswith("|") and not before.startswith("|") and not after.startswith(("|-", "| -", "|:")):
            print(f"{name}:{number}: a row of a table without a head")
END
}
ok "tables are whole" silent tables
long_commands() { awk 'length > 120 && /^    / {print FILENAME ":" FNR ": " length " characters"}' README.md docs/gallery.md docs/tutorial.md docs/batch.md docs/python.md; }
ok "commands in the documents have at most 120 characters" silent long_commands
version=$(sed -n 's/^AC_INIT(\[millrace\], \[\(.*\)\])/\1/p' configure.ac)
ok "CITATION.cff has the version" grep -qx "version: \"$version\"" CITATION.cff
ok "the Python project has the version" grep -qx "version = \"$version\"" python/pyproject.toml
numbers() { # of the thesis's bibliography
  local number
  for number in $(grep -rhoP '(?<![\w\])])\[\d{1,3}\](?!\()' docs/numerics.md src/solid src/coupling | sort -u); do
    case $number in '[0]' | '[1]' | '[2]' | '[3]') continue ;; esac
    grep -qE "^\| (<a id=\"[a-z0-9-]*\"></a>)?${number/[/\\[} \|" docs/references.md || echo "$number is not in docs/references.md"
  done
}
ok "numbers of the thesis's bibliography are explained" silent numbers
plan

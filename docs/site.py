#!/usr/bin/env python3
"""The documents as a site: docs/site.py SOURCE OUTPUT. Needs Python alone, and no network to build or to read.

Reads the Markdown that these documents are written in: headings, paragraphs, indented code, lists, tables (a row whose cells begin
with "… " goes on with the one above), links, pictures, **bold**, *italic*, `code`, and equations in LaTeX between lines of $$ or
between single $ (docs/equations.py). Files that pages link to are copied beside them. Links that lead nowhere are told, and the
exit code is 1.
"""

import html
import json
import os
import re
import shutil
import sys
import unicodedata

sys.dont_write_bytecode = True  # beside the documents
from equations import mathml

STYLE = """
body{font:16px/1.55 system-ui,sans-serif;margin:0;color:#1c2733;background:#fff}
nav.top{background:#15324a;padding:.6em 1.2em;line-height:1.8}nav.top a{color:#fff;margin-right:.6em;text-decoration:none;white-space:nowrap}
nav.top a.here{font-weight:bold}nav.contents{background:#f2f5f8;padding:.5em 1.2em;border-radius:6px}
main{max-width:62em;margin:0 auto;padding:1em 1.2em 4em}a{color:#0b62a8}img{max-width:100%}
pre{background:#f2f5f8;padding:.8em 1em;overflow-x:auto;border-radius:6px}code{font:.92em ui-monospace,monospace}
p code,li code,td code{background:#f2f5f8;padding:0 .2em}div.table{overflow-x:auto}table{border-collapse:collapse}
td,th{border:1px solid #d5dde5;padding:.25em .6em;text-align:left;vertical-align:top}h2{margin-top:2em}
math[display=block]{margin:1em 0;font-size:1.08em;overflow:auto hidden}math .aligned mtd{text-align:left;padding:.2em .3em}
#query{font-size:1.1em;padding:.3em .5em;width:20em;max-width:90%}
"""
SEARCH = """
const field = document.getElementById("query"), list = document.getElementById("found");
function look() {
  const words = field.value.toLowerCase().split(/\\s+/).filter(w => w);
  list.replaceChildren();
  if (!words.length) return;
  const hits = SECTIONS.map(s => [s, words.every(w => (s.title + " " + s.text).toLowerCase().includes(w)) ?
    1 + words.filter(w => s.title.toLowerCase().includes(w)).length : 0]).filter(h => h[1]);
  hits.sort((a, b) => b[1] - a[1]);
  for (const [section] of hits.slice(0, 60)) {
    const item = document.createElement("li"), link = document.createElement("a"), said = document.createElement("p");
    const at = Math.max(0, section.text.toLowerCase().indexOf(words[0]) - 80);
    link.href = section.at; link.textContent = section.page + ": " + section.title;
    said.textContent = section.text.slice(at, at + 240);
    item.append(link, said); list.append(item);
  }
}
field.value = new URLSearchParams(location.search).get("q") || "";
field.addEventListener("input", look); look();
"""
ORDER = ["README", "tutorial", "concepts", "faq", "inputs", "output", "python", "gallery", "numerics", "validation", "performance",
         "scaling", "batch", "library", "architecture", "glossary", "references", "CONTRIBUTING", "CHANGELOG"]


# "Selle et al. 2008", "Smith, de Goes, Kim (2018)", "thesis 4.2"
CITED = re.compile(r"([A-Z][\w'-]+)((?: et al\.?|,? (?:and |& )?(?:de |van der )?[A-Z][\w'-]+)*),? \(?((?:1[89]|20)\d\d)\b\)?|"
                   r"\bthe thesis\b|\bthesis \d[\d.]*\d\b|\bthesis(?=,? \()")


def plain(text):
    """Without accents."""
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()


class References:
    """The rows of docs/references.md: who is meant by a name and a year, and the anchor of the row."""

    def __init__(self, source):
        self.rows = []
        path = os.path.join(source, "docs", "references.md")
        for line in open(path, encoding="utf-8").read().split("\n") if os.path.exists(path) else []:
            if line.startswith("| ") and re.search(r"\b(1[89]|20)\d\d\b", line):
                name = re.sub(r"<[^>]*>|[*]", "", line.split("|")[1]).strip()
                found = re.search(r'<a id="([\w-]+)">', line)
                self.rows.append((name, plain(line), found.group(1) if found else re.sub(r"\W+", "-", plain(name).lower()).strip("-")))

    def anchor(self, found):
        """Of a match of CITED; None if nobody is known by it."""
        if not found.group(1):
            return "thesis" if any(anchor == "thesis" for _, _, anchor in self.rows) else None
        names = re.findall(r"[A-Z][\w'-]+", plain(found.group(1) + found.group(2)))
        rows = [row for row in self.rows if found.group(3) in row[1] and (names[0] in row[1] or names[-1] in row[1])]
        exact = [row for row in rows if plain(row[0]).startswith(names[0])]
        return (exact or rows)[0][2] if rows else None


def slug(title, taken):
    """The anchor of a heading, as code hosts make it."""
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title)
    base = re.sub(r"[^\w\- ]", "", plain.lower()).strip().replace(" ", "-")
    name, number = base, 0
    while name in taken:
        number += 1
        name = f"{base}-{number}"
    taken.add(name)
    return name


class Page:
    """One document: its blocks as HTML, its sections for the search, its links."""

    def __init__(self, source, path, references):
        self.source, self.path, self.references = source, path, references  # of the tree; within it
        self.name = os.path.splitext(os.path.basename(path))[0]
        self.file = "index.html" if self.name == "README" else self.name + ".html"
        with open(os.path.join(source, path), encoding="utf-8") as stream:
            self.lines = stream.read().split("\n")
        self.title, self.headings, self.links, self.anchors, self.sections = self.name, [], [], set(), []
        self.body = "\n".join(self.blocks(self.lines))

    def target(self, address):
        """Where a link leads, from the page: another page, or a file of the tree that is copied."""
        if re.match(r"[a-z]+:", address):
            return address
        path, _, anchor = address.partition("#")
        where = os.path.normpath(os.path.join(os.path.dirname(self.path), path)) if path else self.path
        self.links.append((where, anchor))
        if where.endswith(".md"):
            name = os.path.splitext(os.path.basename(where))[0]
            found = "index.html" if name == "README" else name + ".html"
        else:
            found = "files/" + where
        return found + ("#" + anchor if anchor else "")

    def inline(self, text):
        kept = []

        def keep(markup):
            kept.append(markup)
            return f"\0{len(kept) - 1}\0"

        def picture(found):
            return keep(f'<img src="{html.escape(self.target(found.group(2)))}" alt="{html.escape(found.group(1))}">')

        def link(found):
            return keep(f'<a href="{html.escape(self.target(found.group(2)))}">{self.emphasised(found.group(1))}</a>')

        def citation(found):
            anchor = self.references.anchor(found)
            return keep(f'<a href="references.html#{anchor}">{html.escape(found.group())}</a>') if anchor else found.group()

        def anchor(found):
            self.anchors.add(found.group(1))
            return keep(f'<a id="{html.escape(found.group(1))}"></a>')

        text = re.sub(r"`([^`]+)`", lambda found: keep(f"<code>{html.escape(found.group(1))}</code>"), text)
        text = re.sub(r"(?<![\w$\\])\$(?=\S)([^$\0]*[^\s$\0\\])\$(?![\w$])", lambda found: keep(self.equation([found.group(1)], "inline")), text)
        text = re.sub(r'<a id="([\w-]+)"></a>', anchor, text)
        text = re.sub(r"!\[([^]]*)\]\(([^)\s]+)\)", picture, text)
        text = re.sub(r"\[([^]]*)\]\(([^)\s]+)\)", link, text)
        if self.name != "references":
            text = CITED.sub(citation, text)
        text = self.emphasised(text)
        while "\0" in text:
            text = re.sub("\0(\\d+)\0", lambda found: kept[int(found.group(1))], text)
        return text

    @staticmethod
    def emphasised(text):
        text = html.escape(text, quote=False)
        text = re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", text)
        return re.sub(r"(?<![\w*])\*([^*\s](?:[^*]*[^*\s])?)\*(?![\w*])", r"<i>\1</i>", text)

    def blocks(self, lines):
        n = 0
        while n < len(lines):
            line = lines[n]
            if not line.strip():
                n += 1
            elif line.startswith("<!--"):
                while "-->" not in lines[n]:
                    n += 1
                n += 1
            elif re.match(r"#{1,4} ", line):
                yield self.heading(line)
                n += 1
            elif line.startswith("$$"):
                end = n
                while not re.search(r"\$\$\s*$", lines[end] if end > n else line[2:]) and end + 1 < len(lines):
                    end += 1
                yield self.equation(["\n".join(lines[n:end + 1]).strip().removeprefix("$$").removesuffix("$$")])
                n = end + 1
            elif line.startswith("    "):
                end = self.end(lines, n, lambda other: other.startswith("    ") or not other.strip())
                yield "<pre>" + html.escape("\n".join(other[4:] for other in lines[n:end]).rstrip(), quote=False) + "</pre>"
                n = end
            elif line.startswith("|"):
                end = self.end(lines, n, lambda other: other.startswith("|"))
                yield self.table(lines[n:end])
                n = end
            elif self.marker(line):
                end = self.end(lines, n, lambda other: self.marker(other) or other.startswith("  ") or not other.strip())
                yield self.list(lines[n:end])
                n = end
            else:
                end = self.end(lines, n, lambda other: other.strip() and not other.startswith(("|", "#")) and not self.marker(other))
                yield "<p>" + self.inline(" ".join(lines[n:end])) + "</p>"
                self.said(" ".join(lines[n:end]))
                n = end

    def equation(self, lines, display="block"):
        try:
            return mathml("\n".join(lines), display)
        except ValueError as problem:
            sys.exit(f"{self.path}: {problem}")

    @staticmethod
    def end(lines, n, belongs):
        end = n + 1
        while end < len(lines) and belongs(lines[end]):
            end += 1
        while end > n + 1 and not lines[end - 1].strip():
            end -= 1
        return end

    @staticmethod
    def marker(line):
        return re.match(r"([-*]|\d+\.) +", line)

    def heading(self, line):
        marks, title = line.split(" ", 1)
        anchor, level = slug(title, self.anchors), len(marks)
        words = re.sub(r"[`*]", "", re.sub(r"\[([^]]+)\]\([^)]*\)", r"\1", title))
        if level == 1:
            self.title = words
        self.headings.append((level, anchor, words))
        self.sections.append([words, anchor, []])
        return f'<h{level} id="{html.escape(anchor)}">{self.inline(title)}</h{level}>'

    def said(self, text):
        if not self.sections:
            self.sections.append([self.title, "", []])
        self.sections[-1][2].append(re.sub(r"\s+", " ", re.sub(r"<[^>]*>|[`*]|\]\([^)]*\)|\[", "", text)))

    def table(self, lines):
        rows = [[cell.replace("\0", "|").strip() for cell in self.cells(line)] for line in lines]
        rows = self.joined(rows)
        ruled = len(rows) > 1 and all(re.fullmatch(r":?-+:?", cell) for cell in rows[1])
        out = ['<div class="table"><table>']
        for n, row in enumerate(rows):
            if ruled and n == 1:
                continue
            kind = "th" if ruled and n == 0 else "td"
            anchor = self.row_anchor(row[0]) if kind == "td" and self.name == "references" else None
            mark = f' id="{anchor}"' if anchor else ""
            out.append(f"<tr{mark}>" + "".join(f"<{kind}>{self.inline(cell)}</{kind}>" for cell in row) + "</tr>")
            self.said(" ".join(row))
        return "".join(out) + "</table></div>"

    @staticmethod
    def joined(rows):
        """A row whose cells begin with "… " goes on with the one above: a table has no other way to break a line."""
        out = []
        for row in rows:
            filled = [cell for cell in row if cell]
            if out and filled and all(cell.startswith("… ") for cell in filled):
                out[-1] = [f"{above} {cell[2:]}".strip() if cell else above for above, cell in zip(out[-1], row)]
            else:
                out.append(row)
        return out

    def row_anchor(self, cell):
        """Of a row of the references, unless it has one in its text."""
        if "<a id=" in cell:
            return None
        name = re.sub(r"<[^>]*>|[*]", "", cell).strip()
        anchor = next((anchor for other, _, anchor in self.references.rows if other == name), None)
        if anchor is None or anchor in self.anchors:
            return None
        self.anchors.add(anchor)
        return anchor

    @staticmethod
    def cells(line):
        """Bars in code belong to it."""
        hidden = re.sub(r"`[^`]*`", lambda found: found.group().replace("|", "\0"), line.strip().replace("\\|", "\0"))
        return hidden.strip("|").split("|")

    def list(self, lines):
        items, ordered = [], lines[0][0].isdigit()
        for line in lines:
            found = self.marker(line)
            if found:
                items.append([line[found.end():]])
            else:
                items[-1].append(line[2:] if line.startswith("  ") else line)
        kind = "ol" if ordered else "ul"
        return f"<{kind}>" + "".join(f"<li>{self.item(item)}</li>" for item in items) + f"</{kind}>"

    def item(self, lines):
        """Text, and what is indented below it."""
        end = self.end(lines, 0, lambda other: other.strip() and not self.marker(other.strip()) and not other.startswith("    "))
        self.said(" ".join(lines[:end]))
        rest = [line[1:] if re.match(r" (\S|   )", line) else line for line in lines[end:]]
        return self.inline(" ".join(line.strip() for line in lines[:end])) + "".join(self.blocks(rest))

    def contents(self):
        parts = [(anchor, title) for level, anchor, title in self.headings if level == 2]
        own = sum(where == self.path for where, _ in self.links)
        if len(parts) < 4 or own >= len(parts):  # it may have contents in its text
            return ""
        items = " · ".join(f'<a href="#{html.escape(anchor)}">{html.escape(title)}</a>' for anchor, title in parts)
        return f'<nav class="contents">{items}</nav>'


def whole(title, here, pages, body):
    top = " ".join(f'<a href="{page.file}"{" class=here" if page.file == here else ""}>'
                  f'{html.escape("Millrace" if page.name == "README" else page.name.lower())}</a>' for page in pages)
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
            f'<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="stylesheet" href="style.css"></head>'
            f'<body><nav class="top">{top} <a href="search.html">search</a></nav><main>{body}</main></body></html>\n')


def broken(source, pages):
    """Links to files or headings that are not there."""
    known = {page.path: page for page in pages}
    for page in pages:
        for where, anchor in page.links:
            if not os.path.exists(os.path.join(source, where)) or where.startswith(".."):
                yield f"{page.path}: {where} is not there"
            elif where in known and anchor and anchor not in known[where].anchors:
                yield f"{page.path}: {where} has no heading #{anchor}"
            elif where.endswith(".md") and where not in known:
                yield f"{page.path}: {where} is not a page of the site"


def copy_files(source, output, pages):
    for where in {where for page in pages for where, _ in page.links if not where.endswith(".md")}:
        found, place = os.path.join(source, where), os.path.join(output, "files", where)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if os.path.isdir(found):
            shutil.copytree(found, place, dirs_exist_ok=True)
            with open(os.path.join(place, "index.html"), "w", encoding="utf-8") as stream:
                stream.write("".join(f'<p><a href="{html.escape(name)}">{html.escape(name)}</a></p>\n' for name in sorted(os.listdir(found))))
        else:
            shutil.copy(found, place)


def write(output, name, text):
    with open(os.path.join(output, name), "w", encoding="utf-8") as stream:
        stream.write(text)


def main():
    if len(sys.argv) != 3:
        sys.exit(f"usage: {sys.argv[0]} SOURCE OUTPUT")
    source, output = sys.argv[1:]
    paths = [name for name in os.listdir(source) if name.endswith(".md")]
    paths += [os.path.join("docs", name) for name in os.listdir(os.path.join(source, "docs")) if name.endswith(".md")]
    references = References(source)
    pages = [Page(source, path, references) for path in paths]
    pages.sort(key=lambda page: (ORDER.index(page.name) if page.name in ORDER else len(ORDER), page.name))
    wrong = list(broken(source, pages))
    if wrong:
        sys.exit("\n".join(wrong))
    os.makedirs(output, exist_ok=True)
    for page in pages:
        write(output, page.file, whole(page.title, page.file, pages, page.contents() + page.body))
    sections = [{"page": page.title, "title": title, "at": page.file + ("#" + anchor if anchor else ""), "text": " ".join(said)}
                for page in pages for title, anchor, said in page.sections]
    write(output, "sections.js", "const SECTIONS = " + json.dumps(sections, ensure_ascii=False) + ";\n")
    write(output, "search.js", SEARCH)
    write(output, "style.css", STYLE)
    write(output, "search.html", whole("Search", "search.html", pages, '<h1>Search</h1><input id="query" type="search" autofocus>'
                                       '<ul id="found"></ul><script src="sections.js"></script><script src="search.js"></script>'))
    copy_files(source, output, pages)


main()

"""Reads a site of docs/site.py as a browser would: site.py DIRECTORY prints what is wrong with it."""

import html.parser
import json
import os
import re
import sys
import urllib.parse

CITATION = re.compile(r"[A-Z]\w+(?: et al\.?|(?:, | and | & )[A-Z]\w+)*,? \(?(?:19|20)\d\d\b")
ALONE = {"meta", "link", "img", "input"}


class Reader(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open, self.links, self.anchors, self.wrong, self.plain, self.unlinked = [], [], set(), [], [], []
        self.feed(text)
        self.close()
        self.wrong += [f"<{tag}> is not closed" for tag in self.open]

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if "id" in values:
            if values["id"] in self.anchors:
                self.wrong.append(f"two anchors #{values['id']}")
            self.anchors.add(values["id"])
        self.links += [values[key] for key in ("href", "src") if key in values]
        if tag == "img" and not values.get("alt"):
            self.wrong.append("a picture without words")
        if tag not in ALONE:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> closes nothing")

    def handle_data(self, data):
        if not {"code", "pre", "script"} & set(self.open):
            self.plain.append(data)
        if not {"a", "code", "pre", "script", "title"} & set(self.open):
            self.unlinked.append(data)


def check(directory):
    pages = {}
    for name in sorted(os.listdir(directory)):
        if name.endswith(".html"):
            with open(os.path.join(directory, name), encoding="utf-8") as stream:
                pages[name] = Reader(stream.read())
    for name, page in pages.items():
        for wrong in page.wrong:
            yield f"{name}: {wrong}"
        for text in page.plain:
            if any(mark in text for mark in ("](", "**", "`", "$$")) or text.startswith("| "):
                yield f"{name}: marks are left in {text[:90]!r}"
        for text in page.unlinked if name not in ("references.html", "CHANGELOG.html") else ():
            for found in CITATION.findall(text):
                if not found.startswith(("OpenFOAM", "Debian")):
                    yield f"{name}: {found} is no link to the references"
        for link in page.links:
            if urllib.parse.urlparse(link).scheme:
                continue
            path, _, anchor = link.partition("#")
            target = path or name
            if not os.path.exists(os.path.join(directory, target)):
                yield f"{name}: {link} is not there"
            elif target in pages and anchor and urllib.parse.unquote(anchor) not in pages[target].anchors:
                yield f"{name}: {link} has no such heading"
    with open(os.path.join(directory, "sections.js"), encoding="utf-8") as stream:
        sections = json.loads(stream.read().removeprefix("const SECTIONS = ").rstrip(";\n"))
    for section in sections:
        path, _, anchor = section["at"].partition("#")
        if path not in pages or (anchor and anchor not in pages[path].anchors):
            yield f"search: {section['at']} is not there"
    for words, page in {"keyframes interpolation": "inputs.html", "exit codes": "faq.html", "unsteadiness": "numerics.html"}.items():
        hits = {s["at"].partition("#")[0] for s in sections if all(w in (s["title"] + " " + s["text"]).lower() for w in words.split())}
        if page not in hits:
            yield f"search: {words} is not found on {page}, but on {sorted(hits)}"


for line in check(sys.argv[1]):
    print(line)

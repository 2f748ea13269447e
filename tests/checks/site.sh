#!/usr/bin/env bash
# The documents as a site: every page, link, anchor and picture is there, nothing is left of Markdown, the search finds words. TAP.
. "$MILLRACE_SOURCE/tests/support/tap.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=yes

build() { python3 "$MILLRACE_SOURCE/docs/site.py" "$1" "$2"; }
ok "the site is built" build "$MILLRACE_SOURCE" "$work/html"
pages() { for page in "$MILLRACE_SOURCE"/docs/*.md; do [ -e "$work/html/$(basename "$page" .md).html" ] || echo "$page"; done; }
ok "with a page for each document" silent pages
ok "and all that its pages refer to" silent python3 "$MILLRACE_SOURCE/tests/checks/site.py" "$work/html"

short() { python3 "$MILLRACE_SOURCE/docs/fill.py" --check "$MILLRACE_SOURCE"/docs/*.md "$MILLRACE_SOURCE"/{README,CONTRIBUTING}.md; }
ok "lines of the documents are below 120 characters" silent short
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -n "$browser" ]; then
  finds() {
    timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$work/profile" --dump-dom "file://$work/html/search.html?q=keyframes+splines" \
      2> /dev/null | grep -q '<li><a href="[a-z]*.html#motion'
  }
  ok "in a browser the search finds words" finds
else
  skip "in a browser the search finds words" "there is no Chromium"
fi

# What it is made of, in a tree of its own.
mkdir -p "$work/tree/docs"
printf '# Top\n\nSee [`a`](docs/a.md#two-of-them).\n' > "$work/tree/README.md"
printf '# A\n\n## Two of *them*\n\n- one `x|y`\n  more\n- two & <b>\n\n| a | b |\n|---|---|\n| `1 | 2` | ![p](p.svg) |\n| long | x |\n| … cell | |\n\n    code <i>\n\n$$\n\\frac{a}{b_1^2} \\le \\sum_f \\nabla p \\tag{1}\n$$\n\nWith $\\tilde{w} \\ne \\sqrt{h}$, not `$x$`, for $5 or $6.\n\n$$ p \\ge 0, $$\n\nand so on.\n' > "$work/tree/docs/a.md"
echo '<svg xmlns="http://www.w3.org/2000/svg"/>' > "$work/tree/docs/p.svg"
small() {
  build "$work/tree" "$work/small" || return 1
  for word in '<li>one <code>x|y</code> more</li>' '<li>two &amp; &lt;b&gt;</li>' '<td><code>1 | 2</code></td>' '<tr><td>long cell</td><td>x</td></tr></table>' 'src="files/docs/p.svg"' '<pre>code &lt;i&gt;</pre>' '<h2 id="two-of-them">Two of <i>them</i></h2>'; do
    grep -qF "$word" "$work/small/a.html" || { echo "not there: $word"; cat "$work/small/a.html"; return 1; }
  done
  grep -qF '<a href="a.html#two-of-them"><code>a</code></a>' "$work/small/index.html"
}
ok "lists, tables, code, pictures and links are what they should be" small
equation='<mfrac><mrow><mi>a</mi></mrow><mrow><msubsup><mi>b</mi><mn>1</mn><mn>2</mn></msubsup></mrow></mfrac><mo>≤</mo><munder><mo>∑</mo><mi>f</mi></munder><mi>∇</mi><mi>p</mi><mspace width="2em"/><mtext>(1)</mtext>'
ok "an equation is what a browser draws by itself" grep -qF "$equation" "$work/small/a.html"
inline='<p>With <math display="inline"><semantics><mrow><mover accent="true"><mrow><mi>w</mi></mrow><mo>~</mo></mover><mo>≠</mo><msqrt><mrow><mi>h</mi></mrow></msqrt></mrow>'
ok "so is one within a line" grep -qF "$inline" "$work/small/a.html"
displayed='<math display="block"><semantics><mrow><mi>p</mi><mo>≥</mo><mn>0</mn><mo>,</mo></mrow>'
ok "or one between dollars on its own line" grep -qF "$displayed" "$work/small/a.html"
ok "and what is none is left alone" grep -qF '</math>, not <code>$x$</code>, for $5 or $6.</p>' "$work/small/a.html"
ok "with its source" grep -qF '<annotation encoding="application/x-tex">\frac{a}{b_1^2} \le' "$work/small/a.html"
unknown() { cp -r "$work/tree" "$work/other" && printf '\n$$\n\\%s\n$$\n' "$1" >> "$work/other/docs/a.md" && ! build "$work/other" "$work/none" 2> "$work/said" && grep -qF "$2" "$work/said" && [ ! -e "$work/none" ]; }
ok "a command that is not known is told" unknown 'frob{x}' 'docs/a.md: the command \frob is not known'
rm -rf "$work/other"
ok "and an equation that is not ended" unknown 'frac{1}' 'ends too early'
told() { printf '# Top\n\n[a](%s)\n' "$1" > "$work/tree/README.md"; ! build "$work/tree" "$work/none" 2> "$work/said" && grep -q "$2" "$work/said" && [ ! -e "$work/none" ]; }
ok "a link to nothing is told, and nothing is written" told docs/b.md "README.md: docs/b.md is not there"
ok "so is an anchor that is not there" told docs/a.md#three "no heading #three"
ok "and a file outside the tree" told ../../etc/passwd "is not there"
plan

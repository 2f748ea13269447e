#!/usr/bin/env bash
# What `make install` puts where, what the library shows, programs built against it, and that nothing stays behind. TAP.
. "$MILLRACE_SOURCE/tests/support/tap.sh"

stage=$(mktemp -d)
in_build() { make -s --no-print-directory -C "$MILLRACE_BUILD" DESTDIR="$stage" "$@" > "$stage.log" 2>&1 || { tail -n 30 "$stage.log"; return 1; }; }
trap 'rm -rf "$stage" "$stage.log"' EXIT
prefix=$(sed -n 's/^prefix = //p' "$MILLRACE_BUILD/Makefile")
root=$stage$prefix

[ -e "$MILLRACE_BUILD/libmillrace.so" ] || { echo "1..0 # SKIP configured with --disable-shared"; exit 0; }

ok "make install" in_build install
for file in bin/millrace lib/libmillrace.so lib/pkgconfig/millrace.pc include/millrace/millrace.h include/millrace/version.h \
  share/man/man1/millrace.1 share/doc/millrace/README.md share/doc/millrace/docs/library.md share/millrace/inputs \
  share/doc/millrace/examples/vortex.c share/bash-completion/completions/millrace share/millrace/python/pyproject.toml share/doc/millrace/examples/python/frame.py; do
  ok "it installs $file" [ -e "$root/$file" ]
done

every_header_is_there() { diff <(cd "$MILLRACE_SOURCE/include/millrace" && ls ./*.h) <(cd "$root/include/millrace" && ls ./*.h | grep -v version.h); }
ok "all public headers are installed" every_header_is_there
ok "the library shows the functions of the headers and nothing else" \
  python3 "$MILLRACE_SOURCE/tests/checks/headers.py" symbols "$MILLRACE_SOURCE/include/millrace" "$root/lib/libmillrace.so"
ok "the version of the library, of its headers and of millrace.pc are the same" \
  [ "$(sed -n 's/^#define MILLRACE_VERSION "\(.*\)"/\1/p' "$root/include/millrace/version.h")" = "$(sed -n 's/^Version: //p' "$root/lib/pkgconfig/millrace.pc")" ]

ok "make installcheck: the examples build against it, outside the tree, and run" in_build installcheck

# The words that bash offers for a line that is being typed.
offers() { # WORD LINE...: the last word of the line is to be completed
  local wanted=$1
  shift
  . "$root/share/bash-completion/completions/millrace"
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
  _millrace
  [[ " ${COMPREPLY[*]} " == *" $wanted "* ]] || { echo "offered: ${COMPREPLY[*]}"; return 1; }
}
ok "bash completes a command" offers check millrace ch
ok "and an option" offers --restart millrace run --re
ok "and a key" offers grid.resolution= millrace run scene.yaml --set grid.res

the_manual_is_whole() {
  local page=$root/share/man/man1/millrace.1 key
  for key in $("$root/bin/millrace" keys | grep -v '^ ' | head -n 400); do
    grep -qxF ".B ${key//-/\\-}" "$page" || { echo "no $key"; return 1; }
  done
  if command -v groff > /dev/null; then
    [ -z "$(groff -ww -man -Tutf8 "$page" 2>&1 > /dev/null)" ] || { groff -ww -man -Tutf8 "$page" 2>&1 > /dev/null | head; return 1; }
  fi
}
ok "the manual page has every key, and groff nothing to object" the_manual_is_whole

# Python finds the package by the link, and what is installed is all of it.
python=$(sed -n 's/^PYTHON = //p' "$MILLRACE_BUILD/Makefile")
place=$(sed -n 's/^pythondir = //p' "$MILLRACE_BUILD/Makefile")
if [ -n "$python" ] && [ -n "$place" ]; then
  ok "Python imports the package from $place" env PYTHONPATH="$stage$place" PYTHONDONTWRITEBYTECODE=yes "$python" -c '
import millrace, os, sys
sys.exit(not os.path.realpath(millrace.__file__).startswith(os.path.realpath(sys.argv[1])))' "$root/share/millrace/python"
  ok "all of the package is installed" diff <(cd "$MILLRACE_SOURCE/python/millrace" && ls ./*.py) <(cd "$root/share/millrace/python/millrace" && ls ./*.py)
else
  skip "Python imports the package" "configure has found no Python with numpy and h5py"
fi

ok "make uninstall" in_build uninstall
nothing_is_left() { find "$stage" ! -type d | grep . && return 1 || return 0; }
ok "nothing is left behind" nothing_is_left
plan

#!/usr/bin/env bash
# Drawn figures are what their scripts draw. TAP.
. "$MILLRACE_SOURCE/tests/support/tap.sh"

drawn() { python3 "$MILLRACE_SOURCE/docs/figures/$1.py" "${@:3}" | cmp - "$MILLRACE_SOURCE/docs/images/$2.svg"; }

echo "1..3"
ok "coupled-step.svg is what coupled_step.py draws" drawn coupled_step coupled-step
ok "grid.svg is what grid.py draws" drawn grid grid grid
ok "cut-face.svg too" drawn grid cut-face cut-face

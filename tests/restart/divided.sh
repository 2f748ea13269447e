#!/usr/bin/env bash
# Fluid ranks have about as much to do: a box whose work lies in a corner is divided anew, which changes nothing
# beyond round-off and is taken up by a run that goes on. TAP.
. "$MILLRACE_SOURCE/tests/restart/support.sh"
need_h5py

run() { # RANKS DIR STEPS [ARGUMENT...]
  millrace "$1" run "$scenes/corner.yaml" -o "$2" --set run.step_limit="$3" "${@:4}" > "$2.log" 2>&1 || cat "$2.log"
}

run 2 even 12 --set parallel.fluid_parts=even
run 2 balanced 12
run 2 half 6
divided() {
  says balanced.log "divided anew 1 time" && says even.log "of the mean" && ! grep "divided anew" even.log
}
ok "a box with all its water in a corner is divided anew, unless the scene says otherwise" divided
evenly() { [ "$(sed -n 's/.*most to do has \([0-9.]*\) of.*/\1/p' balanced.log | tr -d .)" -lt 125 ] || { cat balanced.log && return 1; }; }
ok "then no rank has a quarter more to do than the mean" evenly
ok "with the same state and ledger, to 1e-10" same even balanced 1e-10
cp -r half other
run 2 half 12 --restart latest
ok "a run that goes on has the parts of the first, bit for bit" same balanced half
run 4 other 12 --restart latest
ok "on more ranks it has others, to 1e-10" same balanced other 1e-10

damaged() { # VALUES WORD: parts along x that begin there
  "$python" "$MILLRACE_SOURCE/tests/restart/reseal.py" "$(ls balanced/checkpoints/*.h5 | tail -n 1)" damaged.h5 \
    "parts/first_x=np.array($1)" || return 1
  refused 2 "$2" -- millrace 2 run -o balanced --restart damaged.h5 --set run.step_limit=20
}
ok "parts that no run has written are refused" damaged "[[0.], [7.]]" "do not begin at even cells"
ok "however far off they are" damaged "[[0.], [-1e300]]" "parts"
ok "or what stands in their place" damaged "[0., 8.]" "first cells"
plan

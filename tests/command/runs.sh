#!/usr/bin/env bash
# millrace info DIR and millrace compare A B. TAP.
. "$MILLRACE_SOURCE/tests/restart/support.sh"
"$python" -c 'import h5py' 2> /dev/null || skip_all "h5py is missing (Debian: python3-h5py)"
export MILLRACE_PYTHON=$python

cat > scene.yaml << 'END'
title: "a cavity\e[31m"
grid: {dimension: 2, size: [1, 1], resolution: 12}
run: {end_time: 0.4, frame_interval: 0.1, time_step: 0.05}
fluid:
  density: 1
  viscosity: 0.01
  sides: {y_high: {type: wall, velocity: [1, 0]}}
END
run() { millrace "$1" run scene.yaml -o "$2" "${@:3}" > "$2.log" 2>&1 || sed 's/^/# /' "$2.log"; }
run 1 a
run 1 b
run 2 c
run 1 thick --set fluid.viscosity=0.011
run 1 fine --set grid.resolution=16
run 1 half --set run.step_limit=4
tells() { refused "$@"; } # CODE WORD... -- COMMAND...

ok "a run and itself again are equal, bit for bit" tells 0 "agree within 0" -- millrace 1 compare a b
ok "on two ranks equal within a tolerance" tells 0 "agree within 1e-10" -- millrace 1 compare a c --tolerance 1e-10
ok "another viscosity is told, field by field" tells 1 "velocity" "ledger kinetic_energy" "differ by more than 1e-06" -- millrace 1 compare a thick --tolerance 1e-6
ok "and equal where the tolerance allows it" tells 0 "agree" -- millrace 1 compare a thick --tolerance 0.5
ok "another grid is told" tells 1 "has shapes (12, 12) and (16, 16)" -- millrace 1 compare a fine --tolerance 1
ok "frames that are missing are told" tells 1 "only in the first" -- millrace 1 compare a half
ok "with --all every column is shown" tells 0 "ledger mass" "ledger time" "frame 3 pressure" -- millrace 1 compare a b --all
ok "a directory that is not there is refused" tells 2 "nowhere: no such directory" -- millrace 1 compare a nowhere
ok "a directory without a run is refused" tells 2 "holds no run" -- millrace 1 compare . a
ok "one run is refused" tells 2 "B" -- millrace 1 compare a
ok "a tolerance below 0 is refused" tells 2 "--tolerance" "not -1" -- millrace 1 compare a b --tolerance=-1
ok "one that is no number is refused" tells 2 "not small" -- millrace 1 compare a b --tolerance small
ok "a Python that is not there is told" tells 2 "MILLRACE_PYTHON" -- env MILLRACE_PYTHON=/nowhere/python "$MILLRACE_BUILD/millrace" compare a b

find a -printf '%p %T@ %C@\n' | sort > before
ok "info tells what a run is" tells 0 '\x1b[31m' "2-D, 12 x 12 cells" "done" "t = 0.4 of 0.4 s (100 %), step 8, 5 frames" "checkpoint-00000008.h5" "mass" -- millrace 1 info a
ok "and obeys no character of its title" eval '! millrace 1 info a | grep -q "[[:cntrl:]]"'
ok "of one that was stopped, how far it is and how to go on" tells 0 "stopped before its end" "t = 0.2 of 0.4 s (50 %), step 4" "millrace run -o half --restart latest" -- millrace 1 info half
echo "process $$ on $(hostname)" > half/run.lock
ok "of one that goes on, who works on it" tells 0 "running: process $$ on" -- millrace 1 info half
echo "process 99999999 on $(hostname)" > half/run.lock
ok "a dead process does not count" tells 0 "stopped before its end" -- millrace 1 info half
rm half/run.lock
find a -printf '%p %T@ %C@\n' | sort > after
ok "looking changes nothing" diff before after
once() { [ "$(millrace 2 info a | grep -c progress)" = 1 ]; }
ok "under mpiexec it is said once" once
truncate -s 3000 a/checkpoints/checkpoint-00000008.h5
ok "a damaged checkpoint is told" tells 0 "cannot be read or not be trusted" -- millrace 1 info a
further() { eval "millrace 1 $(millrace 1 info half | sed -n 's/^  go on *millrace //p') --set run.step_limit=0" > log 2>&1 && millrace 1 info half | grep -q "state        done"; }
ok "its command goes on to the end" further
ok "as if it had not been stopped" tells 0 "agree within 0" -- millrace 1 compare b half
ok "info of a directory without a run is refused" tells 2 "ledger.csv" -- millrace 1 info .
plan

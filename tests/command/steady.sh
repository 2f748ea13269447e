#!/usr/bin/env bash
# run.steady: a run ends at the first frame at which its flow no longer changes, and says so. TAP.
. "$MILLRACE_SOURCE/tests/restart/support.sh"

# Taylor's vortices decay as exp(-2 nu k^2 t): the measure is 2 nu k^2 L / U, which is 0.2 / U with nu = 0.1 / k^2 and L = 1.
cat > decay.yaml << 'END'
grid: {dimension: 2, size: [1, 1], resolution: 32}
run: {end_time: 0.2, frame_interval: 0.1, time_step: 0.01, steady: 1e-9}
fluid:
  density: 1
  viscosity: 0.1/(4*pi^2)
  advection: central
  initial: {velocity: ["sin(2*pi*x)*cos(2*pi*y)", "-cos(2*pi*x)*sin(2*pi*y)"]}
  sides: {all: periodic}
END
column() { awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i } NR > 1 { print $c }' "$1/ledger.csv"; }
decays() {
  millrace 1 run decay.yaml -o decay > log 2>&1 || { cat log; return 1; }
  paste <(column decay time) <(column decay unsteadiness) <(column decay speed_max) |
    awk 'NR > 2 { expected = 0.2 / $3; if ($2 / expected < 0.98 || $2 / expected > 1.02) { print "at", $1, $2, "not", expected; bad = 1 } } END { exit bad }'
}
ok "the measure of a flow that decays is the exact one" decays
ok "which does not end the run" says log "done: results in decay"
ok "the start has none" [ "$(column decay unsteadiness | head -n 1)" = nan ]

cat > lid.yaml << 'END'
grid: {dimension: 2, size: [1, 1], resolution: 12}
run: {end_time: 100, frame_interval: 0.5, time_step: 0.05, steady: 1e-3}
fluid: {density: 1, viscosity: 0.1, sides: {y_high: {type: wall, velocity: [1, 0]}}}
END
lid() { millrace "$1" run lid.yaml -o "$2" "${@:3}" > "$2.log" 2>&1 || { cat "$2.log"; return 1; }; }
ok "a flow that becomes steady ends its run" lid 1 one
ok "as its last line says" says one.log "done: steady at t =" "of 100 s" "go on with:" "--set run.steady=..."
ended() { # at a frame, the first one whose step is below the limit
  paste <(column one time) <(column one unsteadiness) | awk -v rows="$(column one time | wc -l)" '
    NR > 1 { phase = $1 / 0.5; at = phase - int(phase + 1e-6); below = at < 1e-6 && $2 <= 1e-3
             if (below != (NR == rows)) { print "at", $1, $2; bad = 1 } } END { exit bad }'
}
ok "at the first frame at which it is" ended
ok "millrace info tells it" eval '"$MILLRACE_BUILD/millrace" info one > said && says said "done: steady" "--set run.steady=..."'
ok "on two ranks it ends at the same time" eval 'lid 2 two && [ "$(column one time | tail -n 1)" = "$(column two time | tail -n 1)" ]'
stopped() { lid 1 part --set run.step_limit=7 && millrace 1 run -o part --restart latest --set run.step_limit=0 > log 2>&1 && cmp <(column one unsteadiness) <(column part unsteadiness); }
ok "a run that was resumed has the same measures" stopped
ok "it goes on when asked for more" eval 'millrace 1 run -o two --restart latest --set run.steady=1e-15 --set run.step_limit=150 > log 2>&1 && [ "$(column two step | tail -n 1)" = 150 ] || { tail -n 3 log; false; }'
ok "but the ledger keeps its columns" refused 2 "other columns" -- millrace 1 run -o two --restart latest --set run.steady=0 --set run.step_limit=300

cat > solids.yaml << 'END'
run: {end_time: 1, frame_interval: 0.5, steady: 1e-3}
solids: {bodies: [{name: a, shape: {sphere: {center: [0, 0, 0], radius: 1}}}]}
END
ok "without a fluid it is refused" refused 2 "run.steady judges the velocity of a fluid" -- millrace 1 check solids.yaml
ok "so is a number below 0" refused 2 "steady" -- millrace 1 check lid.yaml --set run.steady=-1
plan

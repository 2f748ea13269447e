#!/usr/bin/env bash
# What ends a run early and what it goes on from: signals, the wall clock, kill -9, damaged checkpoints, failed
# solves, later ends. TAP.
. "$MILLRACE_SOURCE/tests/restart/support.sh"
need_h5py

scene=$scenes/flow.yaml
run() { millrace "$1" run "$scene" -o "$2" "${@:3}"; } # RANKS DIR [ARGUMENT...]

# The yardsticks.
for ranks in 1 2; do
  run $ranks whole-$ranks --set run.step_limit=120 > log 2>&1 || cat log
done

# resumed_whole RANKS DIR: what was stopped goes on to step 120 and equals what was not.
resumed_whole() {
  run "$1" "$2" --restart latest --set run.step_limit=120 --set run.wall_limit=0 &&
    same "whole-$1" "$2"
}

run 1 late --set run.step_limit=119 > log 2>&1
ok "what a step leaves outside the state does not show in the next" resumed_whole 1 late

# A shell lets what it starts in the background ignore SIGINT.
started_by=(env --default-signal=INT,HUP)
"${started_by[@]}" true 2> /dev/null || started_by=()

# signalled SIGNAL RANKS DIR: exit 85 and a checkpoint of where the ledger ends.
signalled() {
  run "$2" "$3" > log 2> errors &
  wait_for_rows "$3" 6 && kill -"$1" "$(process_of "$3")"
  exits 85 wait $! && [ "$(checkpoints "$3")" = "checkpoint-$(printf %08d $(($(rows "$3") - 1))).h5" ] &&
    [ ! -e "$3/run.lock" ] && ! grep PETSC errors && last_line log "stopped at t = " "(signal $1)" "$(checkpoints "$3")" \
    "millrace run -o $3 --restart latest"
}
for what in USR1.1 TERM.2 ${started_by:+INT.1} HUP.2; do # on several ranks all signals are one number to agree on
  signal=${what%.*} ranks=${what#*.}
  ok "SIG$signal on $ranks ranks: a checkpoint and exit code 85" signalled $signal $ranks $signal-$ranks
  ok "then it goes on as if nothing had been" resumed_whole $ranks $signal-$ranks
done

# ends_at_once DIR: at the second Ctrl-C, in the middle of a step.
ends_at_once() {
  local process
  run 1 "$1" --set grid.resolution=720 --set run.time_step=1e-4 > log 2>&1 &
  wait_for_rows "$1" 1 && process=$(process_of "$1")
  while kill -INT "$process"; do :; done 2> /dev/null # of two that wait to be delivered, one is lost
  exits 130 wait $! && [ ! -e "$1/checkpoints" ]
}
# unmoved SIGNAL DIR: what was started to ignore the signal, as by nohup, does.
unmoved() {
  (
    trap '' "$1"
    "$MILLRACE_BUILD/millrace" run "$scene" -o "$2" --set run.step_limit=120 > log 2>&1 &
    wait_for_rows "$2" 6 && kill -"$1" "$(process_of "$2")"
    exits 0 wait $!
  ) && last_line log "done" && same whole-1 "$2"
}
[ -z "$started_by" ] || ok "a second Ctrl-C ends a run at once" ends_at_once twice
ok "a run under nohup outlives its terminal" unmoved HUP nohup
started_by=()

# signalled_early DIR: as soon as the program, not the shell it begins as, has ears.
signalled_early() {
  local end=$((SECONDS + 60)) # a busy machine takes its time to load the libraries
  "$MILLRACE_BUILD/millrace" run "$scene" -o "$1" > log 2>&1 &
  until [ /proc/$!/exe -ef "$MILLRACE_BUILD/millrace" ] && (("0x$(sed -n 's/^SigCgt:[[:space:]]*//p' /proc/$!/status)" & 0x200)); do
    ((SECONDS < end)) || break
  done
  kill -USR1 $!
  exits 85 wait $!
}
if [ -r /proc/self/status ]; then
  ok "a signal while the program starts: a checkpoint and exit code 85" signalled_early early
  ok "then it goes on as if nothing had been" resumed_whole 1 early
else
  skip "a signal while the program starts: a checkpoint and exit code 85" "there is no /proc"
fi

stops_before() { # LIMIT DIR
  local began=$SECONDS
  exits 85 run 1 "$2" --set run.wall_limit="$1" --set run.time_step=1e-4 > log && [ $((SECONDS - began)) -le $(($1 + 5)) ]
}
ok "run.wall_limit: a checkpoint and exit code 85 in time" stops_before 4 limited
ok "the last line says so" last_line log "stopped at t = " "of " "(run.wall_limit)" checkpoint- "--restart latest"
ok "a later run goes on from there" run 1 limited --restart latest --set run.time_step=1e-4 \
  --set run.step_limit=$(($(rows limited) + 3))

# Killed while checkpoints are written at every step, until two kills have hit the middle of a write.
killed_in_a_write() { # RANKS DIR
  local resume= tries=0 hits=0 spins steps endless="--set run.end_time=1000" # it must not be done before the kill
  while [ $hits -lt 2 ] && [ $tries -lt 20 ]; do
    tries=$((tries + 1))
    run "$1" "$2" $resume $endless --set run.checkpoint_interval=1e-9 > log 2>&1 &
    until kill -0 "$(process_of "$2")"; do sleep 0.02; done 2> /dev/null # the lock may still name the one before
    wait_for_rows "$2" $((tries * 2))
    for ((spins = 0; spins < 5000; spins++)); do
      ! compgen -G "$2/checkpoints/*.tmp" > /dev/null || break
    done
    kill -9 "$(process_of "$2")"
    wait $! 2> /dev/null
    ! compgen -G "$2/checkpoints/*.tmp" > /dev/null || hits=$((hits + 1))
    resume="--restart latest"
  done
  steps=$(($(rows "$2") + 5))
  echo "$hits of $tries kills hit a write, up to step $steps"
  [ $hits -gt 0 ] && run "$1" "$2" --restart latest $endless --set run.step_limit=$steps &&
    run "$1" "$2-whole" $endless --set run.step_limit=$steps && same "$2-whole" "$2"
}
for ranks in 1 2; do
  ok "kill -9 in the middle of writes on $ranks ranks: the checkpoint before goes on" killed_in_a_write $ranks killed-$ranks
done
xdmf_lists_whole_frames() {
  "$python" - "$1" << 'END'
import os, sys, xml.etree.ElementTree as tree
import h5py
items = [item.text.strip() for item in tree.parse(sys.argv[1] + "/run.xmf").iter("DataItem") if ":" in (item.text or "")]
for item in items:
    name, path = item.split(":")
    with h5py.File(os.path.join(sys.argv[1], name)) as frame:
        frame[path][()]
sys.exit(0 if items else "no frame is listed")
END
}
run 1 cut --set run.frame_interval=0.011 > log 2>&1 &
wait_for_rows cut 5 && kill -9 "$(process_of cut)"
wait $! 2> /dev/null
ok "run.xmf of a killed run lists frames that are whole" xdmf_lists_whole_frames cut
ok "a killed run without a checkpoint cannot be restarted" refused 2 "no whole checkpoint" -- run 1 cut --restart latest
ok "it can be overwritten" run 1 cut --overwrite --set run.step_limit=1

# Two generations: steps 10 and 20.
run 1 two --set run.step_limit=10 > log 2>&1
run 1 two --set run.step_limit=20 --restart latest > log 2>&1
ok "two generations are kept" [ "$(checkpoints two)" = "checkpoint-00000010.h5 checkpoint-00000020.h5" ]
newest=checkpoints/checkpoint-00000020.h5
older=checkpoints/checkpoint-00000010.h5
for damage in flipped truncated; do
  cp -r two $damage
done
printf '\x55' | dd of=flipped/$newest bs=1 seek=20000 conv=notrunc 2> /dev/null
truncate -s -100 truncated/$newest
for damage in flipped truncated; do
  cp -r $damage copy
  ok "$damage: --restart FILE refuses the damaged checkpoint and offers the older one" \
    refused 2 "$damage/$newest" "$damage/$older" -- run 1 $damage --restart $damage/$newest
  ok "$damage: nothing has changed" diff -r $damage copy
  ok "$damage: info refuses it" refused 2 "$damage/$newest" -- millrace 1 info $damage/$newest
  ok "$damage: --restart latest takes the older one and says so" \
    refused 0 "$damage/$newest" "$damage/$older is whole" -- run 1 $damage --restart latest --set run.step_limit=120
  ok "$damage: and goes on as if nothing had been" same whole-1 $damage
  rm -r copy
done

# Solves that fail: code 3 and a checkpoint of the last good step, which goes on.
fails_after() { # RANKS DIR
  run "$1" "$2" --set run.step_limit=20 > log 2>&1 && cp -r "$2" "$2-good" &&
    refused 3 "Step 21" "pressure solve" DIVERGED_ITS -- run "$1" "$2" --restart latest -pressure_ksp_max_it 1 &&
    says said "failed at t = " "checkpoint-00000020.h5 is the last good step" && same "$2-good" "$2" 1e-13
}
for ranks in 1 2; do
  ok "a failed solve on $ranks ranks: code 3 and the last good step" fails_after $ranks failed-$ranks
  ok "with a better solver it goes on" run $ranks failed-$ranks --restart latest --set run.step_limit=120
  ok "as if nothing had been" same whole-$ranks failed-$ranks 1e-10
done
ok "a solve that fails at the start" refused 3 "initial state failed: the pressure solve" -- run 1 first -pressure_ksp_max_it 1
ok "leaves nothing" [ -z "$(ls first)" ]

# The same for bodies in a fluid: tried once more with half the step, and told where and what to change.
bodies() { millrace "$1" run "$scenes/collision.yaml" -o "$2" "${@:3}"; } # RANKS DIR [ARGUMENT...]
coupled_fails_after() { # RANKS DIR
  bodies "$1" "$2" --set run.step_limit=5 > log 2>&1 &&
    refused 3 "Step 6" "also with half its size (dt = 0.005 s)" 'beside body "' "the coupled solve (minres)" \
      "fluid component 0" "coupling.solver: schur" -- bodies "$1" "$2" --restart latest --set coupling.iterations=1 &&
    [ "$(checkpoints "$2")" = checkpoint-00000005.h5 ]
}
for ranks in 1 2; do
  ok "a failed coupled solve on $ranks ranks: code 3 and the last good step" coupled_fails_after $ranks sunk-$ranks
  ok "with more iterations it goes on" bodies $ranks sunk-$ranks --restart latest --set run.step_limit=8
  bodies $ranks afloat-$ranks --set run.step_limit=8 > log 2>&1
  ok "as if nothing had been" same afloat-$ranks sunk-$ranks 1e-10
done
ok "a coupled solve that fails at the start" refused 3 "initial state failed" "coupling.iterations" -- \
  bodies 1 never --set coupling.iterations=1
ok "leaves nothing" [ -z "$(ls never)" ]

# Results are deleted when the run that replaces them has begun, not before.
run 1 precious --set run.step_limit=2 > log 2>&1
ok "the last line of a run to its step limit" last_line log "done with run.step_limit at t = " "results in precious (" " MB)"
cp -r precious copy
for what in latest precious/checkpoints/checkpoint-00000002.h5 nowhere.h5; do
  ok "--restart $what --overwrite is refused" refused 2 "--restart" "--overwrite" -- run 1 precious --restart $what --overwrite
done
ok "a run that cannot begin overwrites nothing" refused 3 "initial state failed" "failed at the start" -- \
  run 1 precious --overwrite -pressure_ksp_max_it 1
ok "nothing has changed" diff -r precious copy
ok "one that can does" run 1 precious --overwrite --set run.step_limit=1
ok "and leaves nothing of what was there" [ "$(checkpoints precious)" = checkpoint-00000001.h5 ]
rm -r copy

# What does not fit is refused and changes nothing.
cp -r two copy
ok "another resolution is refused" refused 2 "36 x 18" "40 x 20" -- run 1 two --restart latest --set grid.resolution=40
ok "another box is refused" refused 2 "of 0.0555" "of 0.1111" -- run 1 two --restart latest --set grid.size=[4,2]
ok "another scalar is refused" refused 2 "with smoke, temperature" "with dye, temperature" -- run 1 two --restart latest --set fluid.scalars.smoke.name=dye
ok "a scalar more is refused" refused 2 "with smoke, temperature, dye" -- run 1 two --restart latest \
  --set 'fluid.scalars=[{name: smoke}, {name: temperature}, {name: dye}]' --set 'inflows=[]'
ok "a scalar less is refused" refused 2 "with smoke, temperature, but" -- run 1 two --restart latest \
  --set 'fluid.scalars=[{name: smoke}]' --set 'inflows=[]'
ok "three dimensions are refused" refused 2 "36 x 18" -- millrace 1 run "$scenes/space.yaml" -o two --restart latest
ok "a file that is no checkpoint is refused" refused 2 "log" -- run 1 two --restart log
ok "a frame is no checkpoint" refused 2 "no checkpoint" -- run 1 two --restart two/frames/frame-000000.h5
ok "a file that is not there is refused" refused 2 "nowhere.h5" -- run 1 two --restart nowhere.h5
ok "a directory without a run is refused" refused 2 "empty" -- run 1 empty --restart latest
ok "refusals change nothing" diff -r two copy
ok "nor make directories" [ ! -e empty ]

ok "a finished run goes on to a later end" run 1 two --restart latest --set run.step_limit=120
ok "as if that had always been its end" same whole-1 two
rm -r copy
# Frames keep to the clock when the end or the interval changes.
cat > clock.yaml << 'END'
grid: {dimension: 2, size: [1, 1], resolution: 8}
run: {end_time: 0.25, frame_interval: 0.1, time_step: 0.01}
fluid: {density: 1, sides: {y_high: {type: wall, velocity: [1, 0]}}}
END
frame_times() {
  "$python" -c 'import glob, h5py, sys
print(*["%g" % h5py.File(name)["time"][()] for name in sorted(glob.glob(sys.argv[1] + "/frames/*.h5"))])' "$1"
}
clock() { millrace 1 run clock.yaml -o clock "$@" > log 2>&1 || cat log; }
clock
clock --restart latest --set run.end_time=0.4
ok "a later end" [ "$(frame_times clock)" = "0 0.1 0.2 0.25 0.3 0.4" ]
clock --restart latest --set run.end_time=0.5 --set run.frame_interval=0.05
ok "a shorter interval" [ "$(frame_times clock)" = "0 0.1 0.2 0.25 0.3 0.4 0.45 0.5" ]
clock --restart latest --set run.end_time=1 --set run.frame_interval=0.4
ok "a longer interval" [ "$(frame_times clock)" = "0 0.1 0.2 0.25 0.3 0.4 0.45 0.5 0.8 1" ]
clock --restart latest --set run.end_time=0.7
ok "an end that has passed" [ "$(frame_times clock)" = "0 0.1 0.2 0.25 0.3 0.4 0.45 0.5 0.8 1" ]

ok "without a scene: with that of the checkpoint" millrace 1 run -o flipped --restart latest --set run.step_limit=122
ok "without a directory: in that of the checkpoint" \
  millrace 1 run --restart truncated/checkpoints/checkpoint-00000120.h5 --set run.step_limit=122
ok "both give the same" same flipped truncated
plan

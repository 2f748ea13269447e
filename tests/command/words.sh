#!/usr/bin/env bash
# What the commands print: check, info, keys, the log of a run and its progress line; overrides of every kind. TAP.
. "$MILLRACE_SOURCE/tests/restart/support.sh"

cat > scene.yaml << 'END'
title: words
grid: {dimension: 2, size: [2, 1], resolution: 16}
run: {end_time: 0.4, frame_interval: 0.1, time_step: 0.02}
fluid:
  density: 1
  sides: {y_high: {type: wall, velocity: [1, 0]}}
  scalars: [{name: smoke}, {name: heat}]
obstacles:
  - {name: ball, shape: {sphere: {center: [0.5, 0.5], radius: 0.2}}}
END

# A log has a line per frame and nothing else between the first line and the last three.
one_line_per_frame() {
  [ "$(wc -l < log)" = 8 ] &&
    [ "$(grep -c '^frame [1-4]/4  [0-9]* %  t 0\.[1-4] s  step [0-9]*  dt 0.02 s' log)" = 4 ] &&
    [ "$(sed -n 1p log)" = "words: 16 x 8 x 1 cells, from t = 0 s to 0.4 s" ] &&
    ! grep -q $'[\r\033]' log || { cat -v log && return 1; }
}
for ranks in 1 2; do
  millrace $ranks run scene.yaml -o log-$ranks > log 2> errors
  ok "a log on $ranks ranks has one line per frame" one_line_per_frame
  ok "and no errors" [ ! -s errors ]
  ok "and says at its end that it is done, and where the results are" \
    last_line log "done: results in log-$ranks (5 frames, 0." " MB)" log-$ranks/run.xmf
done
complete() { millrace 1 run -o log-1 --restart latest > log 2>&1 && last_line log "done: the run in log-1 was complete" run.end_time; }
ok "a run that has nothing left to do says so" complete
one() { millrace 1 run scene.yaml -o "a b" --set run.step_limit=1 > log 2>&1 && says log "1 step to t = 0.02 s" && last_line log "done with run.step_limit" "(1 frame" "millrace run -o 'a b' --restart latest"; }
ok "one step is no steps; a directory with a space is quoted" one

# On a terminal, a line that is written over at every step.
on_terminal() { # RANKS
  local command="'$MILLRACE_BUILD/millrace' run scene.yaml -o terminal-$1"
  [ "$1" = 1 ] || command="'$MPIEXEC' $MPIEXEC_FLAGS -n $1 $command"
  timeout 60 script -qec "$command" typescript < /dev/null > /dev/null || return 1
  [ "$(grep -o $'\r\033\\[Kframe' typescript | wc -l)" = 20 ] || { cat -v typescript && return 1; }
}
# fits WIDTH RANKS [ARGUMENT...]: no progress line is longer than the terminal is wide, and the best of it is there.
cat > terminal.py << 'END'
import fcntl, os, pty, struct, subprocess, sys, termios
width, command = int(sys.argv[1]), sys.argv[2:]
leader, follower = pty.openpty()
fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=follower, stderr=follower)
os.close(follower)
said = b""
try:
    while chunk := os.read(leader, 65536):
        said += chunk
except OSError:
    pass
lines = [line.split("\r")[0].split("\n")[0] for line in said.decode().split("\r\033[K")[1:]]
longest = max(lines, key=len, default="")
print(f"{len(lines)} lines, the longest has {len(longest)} characters:", longest)
sys.exit(child.wait() or not 10 <= len(lines) or len(longest) >= width or any("%" not in line for line in lines))
END
fits() {
  local command=("$MILLRACE_BUILD/millrace")
  rm -rf narrow
  [ "$2" = 1 ] || command=("$MPIEXEC" $MPIEXEC_FLAGS -n "$2" "$MILLRACE_BUILD/millrace")
  timeout 60 "$python" terminal.py "$1" "${command[@]}" run "${@:3}" -o narrow
}
for width in 80 40 9; do
  ok "a progress line fits $width columns" fits $width 1 scene.yaml
done
ok "also that of a run with bodies and water" fits 80 1 "$scenes/collision.yaml" --set run.step_limit=12
ok "also on 2 ranks" fits 80 2 scene.yaml

for ranks in 1 2; do
  if command -v script > /dev/null; then
    ok "on a terminal a progress line moves with each step, on $ranks ranks" on_terminal $ranks
  else
    skip "on a terminal a progress line moves with each step, on $ranks ranks" "there is no script (Debian: bsdutils)"
  fi
done

# check
said() { refused 0 "${@:2}" -- millrace 1 $1; }
ok "check counts cells, ranks, memory and steps" \
  said "check scene.yaml --ranks 2" "16 x 8 x 1 = 128" "2 fluid, 0 solid" "MB at the peak" "0.02 s" "20 steps"
ok "check refuses too many ranks" refused 2 "64 fluid ranks are too many" -- millrace 1 check scene.yaml --ranks 64
ok "check writes nothing" [ -z "$(find . -name 'scene-run*')" ]

# info
checkpoint=log-1/checkpoints/checkpoint-00000020.h5
ok "info tells what a checkpoint holds" said "info $checkpoint" velocity_x earlier_velocity_x pressure smoke step scene
ok "info tells what a frame holds" said "info log-1/frames/frame-000002.h5" velocity vorticity smoke spacing
ok "info tells what a ledger holds" said "info log-1/ledger.h5" kinetic_energy rows
ok "info refuses what is no archive" refused 2 scene.yaml -- millrace 1 info scene.yaml
ok "info refuses what is not there" refused 2 nothing.h5 -- millrace 1 info nothing.h5

# keys
keys() { millrace 1 keys "$@" > keys.txt; }
has_all_keys() { keys && says keys.txt grid.resolution fluid.viscosity run.wall_limit obstacles inflows petsc; }
has_some_keys() { keys grid. && says keys.txt grid.size && ! grep -q fluid.viscosity keys.txt; }
ok "keys lists every key" has_all_keys
ok "keys lists those with a pattern" has_some_keys
paths() { keys "$1" && [ "$(grep -v '^ ' keys.txt | sort | tr '\n' ' ')" = "$2 " ] || { cat keys.txt && return 1; }; }
ok "with spaces and large letters" paths "Time step" "run.largest_time_step run.time_step"
ok "if none has it, those whose meanings do" paths "Wall CLOCK:" "run.wall_limit"
ok "a pattern without keys is a mistake" refused 2 '"zzz"' -- millrace 1 keys zzz

# help of one command
about() { millrace 1 "${@:2}" > help.txt && says help.txt "millrace $1 " && ! grep -vE "^  millrace $1 |^ *-|Under MPI" help.txt | grep -q "^ *millrace "; }
ok "help tells of one command" about check help check
ok "with its options only" eval 'grep -q "^  --ranks" help.txt && ! grep -q -- --overwrite help.txt'
ok "so does --help behind it" about run run --help
ok "with the default directory, settings of lists, signals" says help.txt SCENE-run solids.bodies.ball.density Ctrl-C --overwrite
ok "no line is too long" eval '[ "$(wc -L < help.txt)" -le 120 ]'
ok "a command that is not there has no help" refused 2 'no command "walk"' -- millrace 1 help walk
ok "a misspelt command is told the right one" refused 2 'did you mean "check"' -- millrace 1 chekc scene.yaml
ok "a number of ranks that is none" refused 2 "--ranks wants a whole number" -- millrace 1 check scene.yaml --ranks 0
ok "nor is this one" refused 2 "--ranks wants a whole number" -- millrace 1 check scene.yaml --ranks 2x

# The scene that a run resolves to is in its files and gives the same run again.
resolved() { "$python" -c 'import h5py, sys; sys.stdout.write(h5py.File(sys.argv[1])["scene"][()].decode())' "$1"; }
runs_again() {
  resolved log-1/frames/frame-000004.h5 > again.yaml && millrace 1 run again.yaml -o again > /dev/null && same log-1 again
}
if "$python" -c 'import h5py' 2> /dev/null; then
  ok "the scene in a frame gives the same run again" runs_again
else
  skip "the scene in a frame gives the same run again" "h5py is missing (Debian: python3-h5py)"
fi

# Overrides reach everything: numbers, words, vectors, formulas, items by number and by name, blocks, options.
set_to() { # WORD OVERRIDE...: the resolved scene of a run of one step says WORD
  local word=$1 settings=()
  shift
  for setting in "$@"; do
    settings+=(--set "$setting")
  done
  rm -rf set
  millrace 1 run scene.yaml -o set --set run.step_limit=1 "${settings[@]}" > said 2>&1 || { cat said && return 1; }
  grep -aqF -e "$word" set/checkpoints/*.h5 || { echo "the scene does not say $word" && return 1; }
}
ok "a number" set_to "resolution: 32" grid.resolution=32
ok "a word" set_to "advection: weno5" fluid.advection=weno5
ok "a vector" set_to "gravity: [0, -9.81]" "fluid.gravity=[0, -9.81]"
ok "a formula" set_to '"sin(x)*t"' 'fluid.sides.y_high.velocity=["sin(x)*t", "0"]'
ok "an item by number" set_to "radius: 0.3" obstacles.0.shape.sphere.radius=0.3
ok "an item by name" set_to "diffusivity: 0.5" fluid.scalars.heat.diffusivity=0.5
ok "a new item" set_to "name: dye" "fluid.scalars.2={name: dye}"
ok "a whole list" set_to "obstacles: []" "obstacles=[]"
ok "a side by a bare word" set_to "type: open" fluid.sides.x_high=open
ok "an option of PETSc" set_to "pressure_ksp_rtol: 1e-6" petsc.pressure_ksp_rtol=1e-6
no_item() { refused 2 "has no such item" "$2" -- millrace 1 check scene.yaml --set "$1"; }
ok "an item that is not there is told the nearest" no_item fluid.scalars.heet.decay=1 'did you mean "heat"'
ok "or what there is" no_item fluid.scalars.7.decay=1 "it has smoke, heat"
ok "the title" set_to "other words" "title=other words"
plan

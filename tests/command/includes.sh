#!/usr/bin/env bash
# Scenes that include others: what is joined and what counts more, places in messages, circles, restarts. TAP.
. "$MILLRACE_SOURCE/tests/restart/support.sh"
mkdir -p parts/deep

cat > parts/box.yaml << 'END'
title: from the box
let: {height: 0.5, radius: 0.1}
grid: {dimension: 2, size: [1, height], resolution: 16}
run: {end_time: 0.1, frame_interval: 0.1, time_step: 0.02}
fluid:
  density: 1
  viscosity: 0.02
  sides: {x_low: periodic, x_high: periodic}
obstacles: [{name: low, shape: {sphere: {center: [0.3, 0.1], radius: radius}}}]
END
printf 'include: deep/walls.yaml\nobstacles: [{name: prism, shape: {surface: {file: prism.obj}}}]\n' > parts/prism.yaml
printf 'fluid: {viscosity: 0.05, gravity: [0, -1]}\nrun: {end_time: 7}\n' > parts/deep/walls.yaml
cat > parts/prism.obj << 'END'
v 0.7 0.2 -1
v 0.9 0.2 -1
v 0.8 0.4 -1
v 0.7 0.2 1
v 0.9 0.2 1
v 0.8 0.4 1
f 1 3 2
f 4 5 6
f 1 2 5
f 1 5 4
f 2 3 6
f 2 6 5
f 3 1 4
f 3 4 6
END
cat > scene.yaml << 'END'
include: [parts/prism.yaml, parts/box.yaml]
let: {radius: 0.05, reach: 2*radius}
title: all of it
fluid: {viscosity: 0.01, initial: {velocity: ["0.2*sin(2*pi*y/height)", 0]}}
obstacles: [{name: own, shape: {sphere: {center: [0.5, 0.4], radius: reach/2}}}]
END
cat > whole.yaml << 'END'
title: all of it
grid: {dimension: 2, size: [1, 0.5], resolution: 16}
run: {end_time: 0.1, frame_interval: 0.1, time_step: 0.02}
fluid:
  density: 1
  viscosity: 0.01
  gravity: [0, -1]
  sides: {x_low: periodic, x_high: periodic}
  initial: {velocity: ["0.2*sin(2*pi*y/0.5)", 0]}
obstacles:
  - {name: prism, shape: {surface: {file: parts/prism.obj}}}
  - {name: low, shape: {sphere: {center: [0.3, 0.1], radius: 0.05}}}
  - {name: own, shape: {sphere: {center: [0.5, 0.4], radius: 0.05}}}
END
run() { millrace "$1" run "$2" -o "$3" "${@:4}" > "$3.log" 2>&1 || { cat "$3.log"; return 1; }; }
numbers() { sed 's/[^,]*$//' "$1/ledger.csv" | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i !~ /^wall/) keep[i] = 1 } { line = ""; for (i in keep) line = line $i ","; print line }'; }
both() { run 1 scene.yaml joined && run 1 whole.yaml whole && cmp <(numbers joined) <(numbers whole); }
ok "a scene of four files is the one that has all of their keys" both
ok "files are found from the file that names them, wherever one stands" eval 'mkdir -p else && cd else && run 1 ../scene.yaml there && cmp <(numbers there) <(numbers ../whole)'
ok "by all ranks" millrace 2 check scene.yaml
printf 'include: parts/box.yaml\n' > plain.yaml
resolved() {
  ! grep -aq 'include:' joined/checkpoints/*.h5 && run 1 plain.yaml plain && mv parts gone || return 1
  millrace 1 run -o plain --restart latest --set run.end_time=0.12 > log 2>&1 || { cat log; mv gone parts; return 1; }
  mv gone parts
}
ok "a checkpoint holds the resolved scene and does not need them" resolved
ok "keys are overridden as in any scene" eval 'run 1 scene.yaml thick --set fluid.viscosity=0.5 --set let.radius=0.04 && grep -aq "viscosity: 0.5" thick/checkpoints/*.h5'

wrong() { # WORD: the included file with what is on standard input is refused
  cat > parts/wrong.yaml && printf 'include: [parts/box.yaml, parts/wrong.yaml]\n' > wrong.yaml
  refused 2 "$1" -- millrace 1 run wrong.yaml -o refused && [ ! -e refused ]
}
ok "a mistake is told in its file and line" eval 'printf "# one\nfluid:\n  viscosty: 3\n" | wrong "parts/wrong.yaml:3:3: error: fluid has no key \"viscosty\""'
ok "with its text" eval 'millrace 1 check wrong.yaml 2>&1 | grep -qx "    viscosty: 3"'
ok "bad YAML too" eval 'printf "fluid: {density: 1\n" | wrong "parts/wrong.yaml:"'
ok "and a file that is empty" eval 'printf "" | wrong "parts/wrong.yaml:1:1: error: the file is empty"'
ok "a file that is not there is told where it is included" eval 'echo "include: none.yaml" | wrong "parts/wrong.yaml:1:10: error: none.yaml cannot be included: there is no file"'
ok "so is a directory" eval 'echo "include: deep" | wrong "is not a file"'
ok "and a list in the place of a name" eval 'echo "include: [[a]]" | wrong "the name of a file"'
ok "a file cannot include itself" eval 'echo "include: wrong.yaml" | wrong "parts/wrong.yaml:1:10: error: parts/wrong.yaml includes itself"'
ok "nor by way of another, whatever it is called" eval 'ln -sf ../wrong.yaml parts/other.yaml && echo "include: other.yaml" | wrong "wrong.yaml includes itself by way of this file"'
ok "on two ranks it is told once" eval '[ "$(millrace 2 check wrong.yaml 2>&1 | grep -c "includes itself")" = 1 ]'
many() { for n in $(seq 70); do printf 'include: %s.yaml\n' $((n + 1)) > "parts/$n.yaml"; done; echo 'include: 1.yaml' | wrong "at most 64 files"; }
ok "nor are there more than 64 files" many
ok "what is missing is told in the scene" eval 'printf "include: parts/deep/walls.yaml\ngrid: {dimension: 2, size: [1, 1], resolution: 8}\nfluid: {gravity: [0, 0]}\nrun: {frame_interval: 1}\n" > lacks.yaml && refused 2 "lacks.yaml:3:1: error: fluid.density is missing" -- millrace 1 check lacks.yaml'
ok "include is no key to set" refused 2 "override its keys one by one" -- millrace 1 check whole.yaml --set include=parts/box.yaml
plan

#!/usr/bin/env bash
# Groups of `output`: what they record, when, and that a resumed run records the same. TAP.
. "$MILLRACE_SOURCE/tests/restart/support.sh"
need_h5py
export PYTHONPATH=$MILLRACE_SOURCE/python PYTHONDONTWRITEBYTECODE=yes

# Water at rest, 0.45 m deep: pressure and height are known in closed form, also between the cells.
cat > tank.yaml << 'END'
title: tank
grid: {dimension: 2, size: [1, 0.75], resolution: 16}
run: {end_time: 0.4, frame_interval: 0.2, time_step: 0.05}
fluid:
  gravity: [0, -9.81]
  pressure_tolerance: 1e-12
  sides: {all: slip}
  scalars: [{name: dye, initial: "x + 2*y"}]
regions:
  - {name: water, density: 1000, shape: {box: {low: [-1, -1], high: [2, 0.45]}}}
  - {name: air, type: empty}
output:
  - name: deep
    interval: 0.1
    probes: [{name: a, point: [0.23, 0.111]}, {name: corner, point: [1, 0.2]}]
    lines: [{name: up, from: [0.5, 0.1], to: [0.5, 0.3], points: 3}]
    averages: [{name: block, shape: {box: {low: [0.25, 0.125], high: [0.75, 0.25]}}}, {name: wet, region: water, shape: {box: {low: [0, 0], high: [1, 1]}}}]
  - name: surface
    gauges: [{name: left, at: [0.1, 0], region: water}, {name: right, at: [0.93, 0.7], region: water}]
END
# Flow past an obstacle and a kinematic body.
cat > wake.yaml << 'END'
title: wake
grid: {dimension: 2, size: [2, 1], resolution: 32}
run: {end_time: 0.5, frame_interval: 0.25, time_step: 0.025}
fluid:
  density: 2
  viscosity: 0.02
  initial: {velocity: [1.5, 0]}
  sides: {x_low: {type: inflow, velocity: [1.5, 0]}, x_high: open}
obstacles:
  - {name: ball, shape: {sphere: {center: [0.5, 0.5], radius: 0.15}}}
output:
  - name: forces
    coefficients: [{name: ball, density: 2, speed: 1.5, area: 0.3}]
    probes: [{name: centre, point: [1.53125, 0.53125]}]
    lines: [{name: across, from: [1, 0.05], to: [1, 0.95], points: 7}]
END
# A surface that rises, with steps that are no whole number of cells.
cat > rising.yaml << 'END'
title: rising
grid: {dimension: 2, size: [0.5, 1], resolution: 8}
run: {end_time: 0.23, frame_interval: 0.07}
fluid:
  gravity: [0, -1]
  sides: {all: slip, y_low: {type: inflow, velocity: [0, 1]}, y_high: open}
  initial: {velocity: [0, 1]}
  pressure_tolerance: 1e-10
regions:
  - {name: pushing, density: 1, shape: {box: {low: [-1, -1], high: [2, 0.5]}}}
  - {name: leaving, density: 1}
output:
  - name: surface
    gauges: [{name: middle, at: [0.2, 0], region: pushing}]
    averages: [{name: all, region: pushing, shape: {box: {low: [0, 0], high: [1, 1]}}}]
END
# A sheared flow in space: the fields on planes, and the flow through them, are known at the start.
cat > shear.yaml << 'END'
title: shear
grid: {size: [1, 1, 1], resolution: 8}
run: {end_time: 0.04, frame_interval: 0.04, time_step: 0.02}
fluid:
  density: 1
  pressure_tolerance: 1e-12
  initial: {velocity: ["1 + 0.5*sin(2*pi*y)", 0.25, 0]}
  sides: {all: periodic}
output:
  - name: sections
    planes:
      - {name: out, origin: [0.5, 0, 0], along: [0, 1, 0], across: [0, 0, 1], across_points: 2}
      - {name: back, origin: [0.5, 0, 0], along: [0, 0, 1], across: [0, 1, 0], along_points: 1, across_points: 8}
      - {name: up, origin: [0, 0.3, 0], along: [0, 0, 0.5], across: [0.5, 0.1, 0], along_points: 1, across_points: 16}
END
# Two liquids that slide past each other, each with a velocity of its own.
cat > streams.yaml << 'END'
title: streams
grid: {dimension: 2, size: [1, 0.5], resolution: 16}
run: {end_time: 0.02, frame_interval: 0.02, time_step: 0.02}
fluid: {initial: {velocity: [9, 0]}, sides: {x_low: periodic, x_high: periodic, y_low: slip, y_high: slip}}
regions:
  - {name: lower, density: 1000, velocity: [1, 0], shape: {box: {low: [-1, -1], high: [2, 0.125]}}}
  - {name: upper, density: 800, velocity: ["-0.5 - y", 0]}
  - {name: middle, density: 900, shape: {box: {low: [-1, 0.125], high: [2, 0.25]}}}
output:
  - name: means
    averages:
      - {name: lower, region: lower, shape: {box: {low: [0, 0], high: [1, 1]}}}
      - {name: middle, region: middle, shape: {box: {low: [0, 0], high: [1, 1]}}}
      - {name: upper, region: upper, shape: {box: {low: [0, 0], high: [1, 1]}}}
END
# Bodies alone: one flies and turns, one turns about a hinge, one slides; and a shaft in another frame.
cat > bodies.yaml << 'END'
title: bodies
run: {end_time: 0.5, frame_interval: 0.5, largest_time_step: 0.02}
solids:
  gravity: [0, 0, 0]
  bodies:
    - {name: flyer, shape: {sphere: {center: [0, 0, 5], radius: 0.5}}, velocity: [1, 2, 3], spin: [0, 0, 4]}
    - {name: tumbler, shape: {sphere: {center: [0, 0, 15], radius: 0.5}}, spin: [3, -2, 1.5]}
    - {name: rotor, shape: {box: {low: [4, 4, 4], high: [6, 5, 5]}}, spin: [0, 0, 2]}
    - {name: slider, shape: {box: {low: [9, 0, 0], high: [10, 1, 1]}}, velocity: [0.5, 0, 0]}
    - {name: dot, shape: {sphere: {center: [0, 20, 0], radius: 0.1}}, copies: {count: [20, 1, 1], step: [1, 0, 0]}, velocity: [0, 1, 0]}
  joints:
    - {name: hinge, type: hinge, child: rotor, anchor: [5, 4.5, 4.5], axis: [0, 0, 3]}
    - {name: rail, type: prismatic, child: slider, anchor: [9.5, 0.5, 0.5], axis: [1, 0, 0]}
output:
  - {name: chosen, bodies: [{name: flyer}, {name: dot.7}, {name: tumbler}], joints: [{name: hinge}, {name: rail}]}
END
# What joints bear: a weight on an arm, two in a row, one that swings, one on a shaft that is driven, one on its stop.
cat > loads.yaml << 'END'
title: loads
run: {end_time: 0.5, frame_interval: 0.5, time_step: 0.005}
solids:
  gravity: [0, 0, -10]
  bodies:
    - {name: sign, mass: 3, shape: {box: {low: [1, 0, 0], high: [2, 0.5, 0.2]}}}
    - {name: upper, mass: 2, shape: {box: {low: [4.8, 0, 1], high: [5, 0.2, 2]}}}
    - {name: lower, mass: 5, shape: {box: {low: [4.8, 0, 0], high: [5, 0.2, 0.9]}}}
    - {name: bob, mass: 4, shape: {box: {low: [8, -0.1, -0.1], high: [8.2, 0.1, 0.1]}}}
    - {name: rotor, mass: 6, shape: {box: {low: [11, -1, -0.1], high: [12, 1, 0.1]}}, spin: [0, 0, 3.141592653589793]}
    - {name: slider, mass: 7, shape: {box: {low: [14, 0, 0], high: [15, 1, 1]}}}
  joints:
    - {name: bracket, type: rigid, child: sign, anchor: [0, 0, 0]}
    - {name: hook, type: point, child: upper, anchor: [4.9, 0.1, 2.1]}
    - {name: link, type: hinge, parent: upper, child: lower, anchor: [4.9, 0.1, 0.95], axis: [0, 1, 0]}
    - {name: pivot, type: hinge, child: bob, anchor: [7.6, 0, 0], axis: [0, 1, 0]}
    - {name: shaft, type: hinge, child: rotor, anchor: [11.5, 0, 0], axis: [0, 0, 1], target: "0.5*sin(2*pi*t)", stiffness: 100, damping: 20}
    - {name: stop, type: prismatic, child: slider, anchor: [14.5, 0.5, 0], axis: [0, 0, 2], lower: 0}
output:
  - name: chosen
    joints: [{name: bracket}, {name: hook}, {name: link}, {name: pivot}, {name: shaft}, {name: stop}]
    bodies: [{name: bob}]
END
# The same in a fluid: a ball on an arm in water that is at rest, and one that swings.
sed -e '/^output/,$d' -e 's/^title.*/title: arms/' tank.yaml > arms.yaml
cat >> arms.yaml << 'END'
coupling: {tolerance: 1e-10}
solids:
  bodies:
    - {name: still, shape: {sphere: {center: [0.3, 0.2], radius: 0.1}}, density: 500}
    - {name: loose, shape: {sphere: {center: [0.7, 0.2], radius: 0.1}}, density: 3000}
  joints:
    - {name: arm, type: rigid, child: still, anchor: [0.5, 0.2]}
    - {name: pivot, type: hinge, child: loose, anchor: [0.55, 0.3], axis: [0, 0, 1]}
output:
  - {name: loads, bodies: [{name: still}, {name: loose}], joints: [{name: arm}, {name: pivot}]}
END
# A ball in water, coupled.
sed -e '/^output/,$d' -e 's/^title.*/title: ball/' tank.yaml > ball.yaml
cat >> ball.yaml << 'END'
coupling: {tolerance: 1e-10}
solids:
  bodies: [{name: ball, shape: {sphere: {center: [0.5, 0.2], radius: 0.1}}, density: 500}]
output:
  - {name: lift, bodies: [{name: ball}], coefficients: [{name: ball, density: 1000, speed: 2, area: 0.2, flow: [0, -3]}]}
END

go() { millrace "$1" run "$2.yaml" -o "$3" "${@:4}" > "$3.log" 2>&1 || sed 's/^/# /' "$3.log"; }
for ranks in 1 2 4; do
  go $ranks tank tank-$ranks
  go $ranks wake wake-$ranks
  go $ranks shear shear-$ranks
done
go 1 bodies bodies-1
go 1 streams streams-1
go 2 streams streams-2
for ranks in 1 2; do
  go $ranks ball ball-$ranks
  go $ranks arms arms-$ranks
  go $ranks rising rising-$ranks
done
go 1 loads loads-1
go 1 arms calm --set solids.bodies.loose.density=1000
"$python" "$MILLRACE_SOURCE/tests/support/tap.py" "$MILLRACE_SOURCE/tests/command/output.py" > checks 2>&1
cat checks
tap_number=$(grep -cE '^(not )?ok ' checks)

if "$python" -c 'import matplotlib' 2> /dev/null; then
  ok "plot draws a column of a group" eval 'MPLCONFIGDIR=$work "$MILLRACE_SOURCE/postproc/plot" tank-1 --group surface height_left -o height.png --data height.csv && grep -q ",0.4500000000000" height.csv'
  ok "and refuses a group that is not there" refused 2 "did you mean surface" -- env MPLCONFIGDIR="$work" "$MILLRACE_SOURCE/postproc/plot" tank-1 --group surfac -o none.png
fi
ok "compare sees the tables" refused 0 "output deep pressure_a" "agree" -- env MILLRACE_PYTHON="$python" "$MILLRACE_BUILD/millrace" compare tank-1 tank-2 --tolerance 1e-6 --all

# A run that is stopped and resumed has the same tables, bit for bit; rows behind the checkpoint go.
same_tables() { for table in "$1"/output/*.csv; do cmp "$table" "$2/output/$(basename "$table")" || return 1; done; }
resumes() { # SCENE RANKS
  go "$2" "$1" "$1-half" --set run.step_limit=5 && millrace "$2" run -o "$1-half" --restart latest --set run.step_limit=0 > log 2>&1 && same_tables "$1-$2" "$1-half"
}
for scene in tank wake ball shear loads arms; do
  ok "the tables of $scene are the same after a restart" resumes $scene 1
  rm -rf $scene-half
done
ok "and on two ranks" resumes ball 2
again() { go 1 tank tank-1 --overwrite --set "output=[]" && [ -z "$(ls tank-1/output)" ] && touch tank-1/output/my.notes.csv; }
ok "overwriting deletes the tables of before" again
keeps() { go 1 tank tank-1 --overwrite && [ -e tank-1/output/my.notes.csv ] && [ -e tank-1/output/deep.h5 ]; }
ok "and keeps what is not one" keeps
changed() { refused 2 "output/deep.csv" "other columns" -- millrace 1 run -o tank-1 --restart latest --set run.end_time=0.6 --set output.deep.probes=[]; }
ok "a group with other columns does not go on in its table" changed
fresh() { millrace 1 run -o tank-1 --restart latest --set run.end_time=0.5 --set 'output.2={name: new, probes: [{name: a, point: [0.5, 0.1]}]}' > log 2>&1 && [ "$(wc -l < tank-1/output/new.csv)" = 3 ]; }
ok "a new group begins with the next step" fresh

wrong() { # WORD SETTING...
  local word=$1 settings=()
  shift
  for setting in "$@"; do settings+=(--set "$setting"); done
  refused 2 "$word" -- millrace 1 run $scene.yaml -o refused "${settings[@]}" && [ ! -e refused ]
}
scene=tank
ok "a probe outside the box is refused" wrong "outside the box, which goes from 0 to 1 along x" output.deep.probes.a.point=[1.2,0.1]
ok "a region that is not there is refused" wrong 'there is no region "watr"; did you mean "water"?' output.surface.gauges.left.region=watr
ok "a gauge without gravity is refused" wrong "heights against gravity" fluid.gravity=[0,0]
ok "two columns of one name are refused" wrong "two columns velocity_a_x" "output.deep.averages.0={name: a, shape: {box: {low: [0, 0], high: [1, 1]}}}"
ok "too many columns are refused" wrong "more than 1023 columns" output.deep.lines.0.points=250 "output.deep.lines.1={name: b, points: 200, from: [0, 0], to: [1, 0.1]}"
ok "two groups of one name are refused" wrong "names must differ" output.surface.name=deep
ok "a name that is no file's is refused" wrong "letters, digits" output.surface.name=../x
ok "an unknown key is refused" wrong 'did you mean "interval"' output.deep.intervall=3
ok "a group that records nothing is refused" wrong "output more records nothing" "output.2={name: more}"
ok "a mean over what is outside of the box is refused" wrong "averages[0] lies outside the box" "output.2={name: more, averages: [{name: a, shape: {sphere: {center: [3, 3], radius: 0.1}}}]}"
ok "a line without a length is refused" wrong "a line ends where it begins" "output.2={name: more, lines: [{name: a, from: [0.5, 0.1], to: [0.5, 0.1]}]}"
scene=bodies
ok "a body that is not there is refused" wrong 'did you mean "flyer"?' output.chosen.bodies.0.name=flier
ok "all copies at once are refused" wrong "a copy is NAME.0" output.chosen.bodies.0.name=dot
ok "a copy beyond the last is refused" wrong '"dot.20"' output.chosen.bodies.0.name=dot.20
ok "a joint that is not there is refused" wrong 'there is no joint "hing"' output.chosen.joints.0.name=hing
ok "probes without a fluid are refused" wrong "probes need a fluid, and the scene has none" "output.chosen.probes=[{name: a, point: [0, 0, 0]}]"
scene=streams
ok "nothing in an empty region moves" wrong "is empty: nothing in it could have a velocity" regions.lower.type=empty regions.lower.density=0
scene=shear
ok "a plane that leaves the box is refused" wrong "across is outside the box, which goes from 0 to 1 along z" output.sections.planes.out.across=[0,0,1.5]
ok "a plane without an area is refused" wrong "on one line" output.sections.planes.out.across=[0,0.5,0]
scene=wake
ok "a plane in two dimensions is refused" wrong "record it under lines" "output.forces.planes=[{name: a, origin: [0, 0], along: [1, 0], across: [0, 1]}]"
ok "coefficients of nothing are refused" wrong 'no obstacle or body "bal"' output.forces.coefficients.0.name=bal
ok "a reference speed of 0 is refused" wrong "speed" output.forces.coefficients.0.speed=0
ok "a flow without a direction is refused" wrong "flow is no direction" output.forces.coefficients.0.flow=[0,0]
plan

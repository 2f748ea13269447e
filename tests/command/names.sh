#!/usr/bin/env bash
# Shorter scenes: named values, merge keys, blocks that are not read, motions as formulas. TAP.
. "$MILLRACE_SOURCE/tests/restart/support.sh"

cat > long.yaml << 'END'
title: drops
grid: {dimension: 2, size: [1, 0.5], resolution: 16}
run: {end_time: 0.2, frame_interval: 0.2, time_step: 0.02}
fluid:
  density: 1
  viscosity: 0.01
  initial: {velocity: ["0.3*sin(2*pi*y/0.5)", 0]}
  sides: {x_low: periodic, x_high: periodic}
  scalars: [{name: smoke, initial: "(x-0.25)^2+(y-0.25)^2 < 0.1^2", diffusivity: 0.002}, {name: heat, initial: "x", diffusivity: 0.002}]
obstacles:
  - {name: post, shape: {sphere: {center: [0.75, 0.25], radius: 0.1}}}
END
cat > short.yaml << 'END'
title: drops
x-shared:
  - &scalar {name: none, diffusivity: slow/5, initial: "x"}
  - &ends {x_low: periodic, x_high: periodic}
let: {radius: 0.1, height: 0.5, slow: 0.01, cells: 2^4, speed: "0.3*sin(2*pi*y/height)", e1: 0.25, where: .25}
grid: {dimension: 2, size: [1, height], resolution: cells}
run: {end_time: 2*radius, frame_interval: 2*radius, time_step: 2e-2}
fluid:
  density: 1
  viscosity: slow
  initial: {velocity: [speed, 0]}
  sides:
    <<: *ends
  scalars:
    - {<<: *scalar, name: smoke, initial: "(x-e1)^2+(y-e1)^2 < radius^2"}
    - <<: [*scalar, *ends]
      name: heat
obstacles:
  - {name: post, shape: {sphere: {center: [0.75, where], radius: radius}}}
END
sed -i 's/<<: \[\*scalar, \*ends\]/<<: [*scalar, {name: other}]/' short.yaml
run() { millrace 1 run "$1" -o "$2" "${@:3}" > "$2.log" 2>&1 || { cat "$2.log"; return 1; }; }
both() { run long.yaml long && run short.yaml short && cmp <(cut -d, -f1-20 long/ledger.csv) <(cut -d, -f1-20 short/ledger.csv); }
ok "a scene with names and merge keys is the one with its values" both
resolved() { "$MILLRACE_BUILD/millrace" info short/frames/frame-000000.h5 > said && ! grep -aqE 'let:|x-shared|<<: ?[*[]' short/checkpoints/*.h5; }
ok "which is what its files hold" resolved
again() { millrace 1 run -o short --restart latest --set run.end_time=0.24 > log 2>&1; }
ok "and what a restart takes" again
ok "a value is changed in all places at once" eval 'run short.yaml other --set let.radius=0.12 && grep -aq "radius: (0.12)" other/checkpoints/*.h5 && grep -aq "end_time: 2\*(0.12)" other/checkpoints/*.h5'

wrong() { # WORD LINE...: the scene with these lines more is refused
  { cat long.yaml && printf '%s\n' "${@:2}"; } > wrong.yaml
  refused 2 "$1" -- millrace 1 run wrong.yaml -o refused && [ ! -e refused ]
}
ok "a name that formulas have is refused" wrong '"sin" has a meaning in formulas' "let: {sin: 2}"
ok "so is the time" wrong '"t" has a meaning in formulas' "let: {t: 2}"
ok "a name that is no word is refused" wrong "letters, digits and _" "let: {a-b: 2}"
ok "a value that is no formula is refused" wrong "let.a is not a formula" "let: {a: 2*}"
ok "a name before its value is refused" wrong '"b" is not known' "let: {a: 2*b, b: 1}"
ok "a list is refused" wrong "let must be a block of names" "let: [1, 2]"
ok "names that grow without end are refused" wrong "longer than 8192 characters" \
  "let: {a: 1+1, b: a+a+a+a+a+a+a+a, c: b+b+b+b+b+b+b+b, d: c+c+c+c+c+c+c+c, e: d+d+d+d+d+d+d+d}"
ok "a name that depends on time is no number" eval 'sed "s/viscosity: 0.01/viscosity: a/" long.yaml > wrong.yaml && echo "let: {a: 2*t}" >> wrong.yaml && refused 2 "cannot depend on x, y, z or t" -- millrace 1 check wrong.yaml'
ok "a merge of a number is refused" wrong "takes the keys of a block" "x-one: {<<: 3}"
ok "an unknown block is still refused" wrong 'no key "common"' "common: {a: 1}"

# Motions as formulas of time: a kinematic body is where they say.
cat > motion.yaml << 'END'
title: motion
let: {size: 0.05, rate: 2*pi}
run: {end_time: 0.5, frame_interval: 0.5, time_step: 0.02}
solids:
  gravity: [0, 0, 0]
  bodies:
    - {name: free, shape: {sphere: {center: [9, 9, 9], radius: 0.1}}}
    - name: flap
      type: kinematic
      shape: {box: {low: [-1, -1, -1], high: [1, 1, 1]}}
      motion: {translation: ["0", "size*sin(rate*t)", "t^2"], rotation: [0, 0, "0.3*t"]}
output:
  - {name: flap, bodies: [{name: flap}]}
END
moves() {
  run motion.yaml motion && PYTHONPATH=$MILLRACE_SOURCE/python PYTHONDONTWRITEBYTECODE=yes "$python" -c '
import millrace, numpy as np
flap = millrace.open("motion").outputs["flap"]
t = flap["time"]
errors = [abs(flap["position_flap_y"] - 0.05 * np.sin(2 * np.pi * t)).max(), abs(flap["position_flap_z"] - t**2).max(),
          abs(flap["rotation_flap_z"] - 0.3 * t).max(), abs(flap["spin_flap_z"] - 0.3).max(),
          abs(flap["velocity_flap_y"] - 0.1 * np.pi * np.cos(2 * np.pi * t)).max()]
print(errors)
assert max(errors) < 1e-12'
}
if "$python" -c 'import h5py' 2> /dev/null; then
  ok "a body follows the formulas of its motion, and has their derivatives" moves
else
  skip "a body follows the formulas of its motion" "h5py is missing (Debian: python3-h5py)"
fi
bad() { refused 2 "$1" -- millrace 1 run motion.yaml -o refused --set "solids.bodies.flap.motion=$2" && [ ! -e refused ]; }
ok "a motion that depends on the place is refused" bad "depends on x; a rigid motion is a formula of t alone" '{translation: ["x", "0", "0"]}'
ok "one that is nowhere is refused" bad "no finite place or velocity at t = 0" '{translation: ["log(t)", "0", "0"]}'
ok "one without a velocity is refused" bad "no finite place or velocity at t = 0" '{translation: ["sqrt(t)", "0", "0"]}'
ok "two kinds of motion are refused" bad "as well as velocity" '{velocity: [1, 0, 0], translation: ["t", "0", "0"]}'
plan

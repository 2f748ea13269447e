#!/usr/bin/env bash
# solids.joints.NAME.copies: a row of joints along copies of bodies is the same as those joints one by one. TAP.
. "$MILLRACE_SOURCE/tests/restart/support.sh"

cat > chain.yaml << 'END'
title: chain
run: {end_time: 0.2, frame_interval: 0.2, time_step: 0.01}
solids:
  gravity: [0, 0, -9.81]
  bodies:
    - {name: rack, type: static, shape: {box: {low: [-1, -1, 1], high: [3, 1, 1.2]}}}
    - {name: link, density: 1000, shape: {capsule: {from: [0.05, 0, 0], to: [0.15, 0, 0], radius: 0.03}}, copies: {count: [5, 1, 1], step: [0.2, 0, 0]}}
    - {name: bob, density: 1000, shape: {sphere: {center: [0, 0.5, 0.5], radius: 0.05}}, copies: {count: [3, 1, 1], step: [0.3, 0, 0]}}
  joints:
    - {name: hook, child: link.0, anchor: [0, 0, 0]}
END
cp chain.yaml single.yaml
cat >> chain.yaml << 'END'
    - {name: pin, type: hinge, axis: [0, 1, 0], parent: link.0, child: link.1, anchor: [0.2, 0, 0], copies: {count: 4, step: [0.2, 0, 0]}}
    - {name: arm, type: hinge, axis: [0, 1, 0], parent: rack, child: bob.0, anchor: [-0.1, 0.5, 0.9], copies: {count: 3, step: [0.3, 0, 0]}}
output: [{name: joints, joints: [{name: hook}, {name: pin.0}, {name: pin.3}, {name: arm.2}]}]
END
for n in 0 1 2 3; do
  echo "    - {name: pin-$n, type: hinge, axis: [0, 1, 0], parent: link.$n, child: link.$((n + 1)), anchor: [$n*0.2 + 0.2, 0, 0]}"
done >> single.yaml
for n in 0 1 2; do
  echo "    - {name: arm-$n, type: hinge, axis: [0, 1, 0], parent: rack, child: bob.$n, anchor: [$n*0.3 - 0.1, 0.5, 0.9]}"
done >> single.yaml
echo 'output: [{name: joints, joints: [{name: hook}, {name: pin-0}, {name: pin-3}, {name: arm-2}]}]' >> single.yaml
for scene in chain single; do millrace 1 run $scene.yaml -o $scene > $scene.log 2>&1 || sed 's/^/# /' $scene.log; done
millrace 2 run chain.yaml -o two > two.log 2>&1 || sed 's/^/# /' two.log
same_table() { cmp <(sed 1d "$1/output/joints.csv") <(sed 1d "$2/output/joints.csv"); }
ok "a row of joints is those joints" same_table chain single
ok "on two ranks as well" same_table chain two
columns() { head -n 1 chain/output/joints.csv | grep -q 'angle_pin.3,.*joint_force_pin.3_z,.*drive_arm.2'; }
ok "copies are recorded by their numbers" columns
turns() { tail -n 1 chain/output/joints.csv | awk -F, 'NR == 1 { exit !($0 !~ /nan/) }'; }
ok "with numbers" turns

wrong() { refused 2 "$1" -- millrace 1 run chain.yaml -o refused "${@:2}" && [ ! -e refused ]; }
ok "a row that is too long is refused" wrong '5 copies of joint "pin" lead to "link.5", and "link" has copies 0 to 4' --set solids.joints.pin.copies.count=5
ok "a row along nothing is refused" wrong 'would all join the same bodies: say which copy' --set solids.joints.hook.copies.count=2 --set solids.joints.hook.child=rack
ok "a row of none is refused" wrong "count" --set solids.joints.pin.copies.count=0
ok "which copy is recorded must be said" wrong 'there are 4 of "pin"; say which, such as "pin.0"' --set output.joints.joints.1.name=pin
ok "and be there" wrong '"pin" has copies 0 to 3, not 4' --set output.joints.joints.1.name=pin.4
ok "a number is a number" wrong 'there is no joint "pin.x"' --set output.joints.joints.1.name=pin.x
plan

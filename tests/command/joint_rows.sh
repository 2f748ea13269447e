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
same_table() { [ -s "$1/output/joints.csv" ] && cmp <(sed 1d "$1/output/joints.csv") <(sed 1d "$2/output/joints.csv"); }
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

# Arms of an assembly: those one by one, and turned ones, each about and along an axis of its own.
assembly() { # TITLE COPIES
  cat << END
title: $1
run: {end_time: 0.2, frame_interval: 0.2, time_step: 0.01}
solids:
  gravity: [0, 0, 0]
  assemblies: [{name: machine, pivot: [0, 0, 0], copies: {$2}}]
  bodies:
    - {name: base, assembly: machine, type: static, shape: {box: {low: [-0.2, -0.2, -0.2], high: [0.2, 0.2, 0]}}}
    - {name: arm, assembly: machine, density: 1000, shape: {box: {low: [0, -0.05, 0.05], high: [0.6, 0.05, 0.15]}}}
    - {name: slide, assembly: machine, density: 1000, shape: {box: {low: [0.7, -0.05, 0.05], high: [0.9, 0.05, 0.15]}}}
  joints:
    - {name: elbow, type: hinge, parent: base, child: arm, axis: [0, 0, 1], anchor: [0, 0, 0.1], target: "2*t", stiffness: 1e5, damping: 600}
    - {name: rail, type: prismatic, parent: arm, child: slide, axis: [1, 0, 0], anchor: [0.7, 0, 0.1], target: "0.5*t", stiffness: 1e5, damping: 600}
output: [{name: joints, joints: [{name: elbow.0}, {name: elbow.2}, {name: rail.1}, {name: rail.2}]}]
END
}
assembly straight "count: [3, 1, 1], step: [2, 0.5, 0]" > straight.yaml
assembly turned "count: [3, 1, 1], step: [3, 0, 0], turn: 2.5" > turned.yaml
"$python" - << 'END'
# the same machines, each written out where it stands
import re
text = open("straight.yaml", encoding="utf-8").read()
head, rest = text.split("  assemblies", 1)
bodies, rest = rest.split("  bodies:\n")[1].split("  joints:\n")
joints, output = rest.split("output:")
def there(block, n):
    block = block.replace("assembly: machine, ", "")
    block = re.sub(r"(name|parent|child): (base|arm|slide|elbow|rail)", lambda found: f"{found[1]}: {found[2]}-{n}", block)
    return re.sub(r"(low|high|anchor): \[([-\d.]+), ([-\d.]+), ", lambda found: f"{found[1]}: [{2 * n} + ({found[2]}), {n / 2} + ({found[3]}), ", block)
with open("written.yaml", "w", encoding="utf-8") as stream:
    stream.write(head + "  bodies:\n" + "".join(there(bodies, n) for n in range(3)) + "  joints:\n" + "".join(there(joints, n) for n in range(3)))
    stream.write("output:" + re.sub(r"name: (elbow|rail)\.", r"name: \1-", output))
END
for scene in straight written turned; do millrace 1 run $scene.yaml -o $scene > $scene.log 2>&1 || sed 's/^/# /' $scene.log; done
millrace 2 run turned.yaml -o turned-two > turned-two.log 2>&1 || sed 's/^/# /' turned-two.log
near_table() { # A B: to round-off
  paste -d, <(sed 1d "$1/output/joints.csv") <(sed 1d "$2/output/joints.csv") | awk -F, '{ for (n = 1; n <= NF / 2; n++) { d = $n - $(n + NF / 2); if (d * d > 1e-16 * (1 + $n * $n)) { print NR, n, $n, $(n + NF / 2); bad = 1 } } } END { exit bad || NR != 21 }'
}
ok "joints of copies of an assembly are recorded as those written out" near_table straight written
follows() {
  awk -F, 'NR == 1 { for (n = 1; n <= NF; n++) c[$n] = n; next }
    { t = $c["time"]; split("angle_elbow.0 angle_elbow.2", a, " "); split("distance_rail.1 distance_rail.2", d, " ")
      for (n = 1; n <= 2; n++) { e = $c[a[n]] - 2 * t; f = $c[d[n]] - 0.5 * t; if (e * e > 1e-4 || f * f > 1e-5) { print t, e, f; bad = 1 } } }
    END { e = $c["rate_elbow.2"] - 2; f = $c["rate_rail.2"] - 0.5; exit bad || e * e > 1e-4 || f * f > 1e-4 || NR != 22 }' turned/output/joints.csv
}
ok "about and along the axes of turned ones" follows
ok "on two ranks as well" same_table turned turned-two
resumed() { millrace 1 run turned.yaml -o half --set run.step_limit=9 > log 2>&1 && millrace 1 run -o half --restart latest --set run.step_limit=0 > log 2>&1 && same_table turned half; }
ok "and after a restart" resumed
few() { refused 2 "$1" -- millrace 1 run turned.yaml -o refused --set "output.joints.joints.0.name=$2" && [ ! -e refused ]; }
ok "which copy of an assembly's joint must be said" few 'there are 3 of "elbow"; say which, such as "elbow.0"' elbow
ok "and be there" few '"elbow" has copies 0 to 2, not 3' elbow.3
plan

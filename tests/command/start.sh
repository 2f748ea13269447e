#!/usr/bin/env bash
# fluid.initial.frame: a run begins with velocity and scalars of another run's frame, on a grid of its own. TAP.
. "$MILLRACE_SOURCE/tests/restart/support.sh"
need_h5py
export PYTHONPATH=$MILLRACE_SOURCE/python PYTHONDONTWRITEBYTECODE=yes

# Vortices that are known everywhere, and a dye that is linear.
cat > vortices.yaml << 'END'
title: vortices
grid: {dimension: 2, size: [1, 1], resolution: 32}
run: {end_time: 0.02, frame_interval: 0.01, time_step: 0.01, step_limit: 1}
fluid:
  density: 1
  pressure_tolerance: 1e-12
  initial: {velocity: ["sin(2*pi*x)*cos(2*pi*y)", "-cos(2*pi*x)*sin(2*pi*y)"]}
  sides: {all: slip}
  scalars: [{name: dye, initial: "1 + x + 2*y"}, {name: own}]
END
sed -e 's/^title.*/title: later/' -e 's/velocity: .*}/frame: coarse\/frames\/frame-00000.h5}/' -e 's/"1 + x + 2\*y"/7/' -e 's/name: own/name: other, initial: y/' vortices.yaml > later.yaml
go() { millrace "$1" run "$2.yaml" -o "$3" "${@:4}" > "$3.log" 2>&1 || sed 's/^/# /' "$3.log"; }
go 1 vortices coarse --set grid.resolution=16
go 2 vortices fine
frame=$(ls coarse/frames/*.h5 | head -n 1)
for ranks in 1 2 4; do
  go $ranks later later-$ranks --set fluid.initial.frame="$frame"
done
go 1 later later-fine --set fluid.initial.frame="$(ls fine/frames/*.h5 | head -n 1)" --set grid.resolution=64
go 1 later inner --set fluid.initial.frame="$frame" --set grid.origin=[0.25,0.125] --set grid.size=[0.5,0.25] --set grid.resolution=20
cat > checks.py << 'END'
import numpy
import millrace


def first(run):
    return millrace.open(run)[0]


def error(run):
    frame = first(run)
    n = frame["velocity"].shape[0]
    y, x = ((index + 0.5) / n for index in numpy.indices((n, n)))
    exact = numpy.sin(2 * numpy.pi * x) * numpy.cos(2 * numpy.pi * y)
    return abs(frame["velocity"][..., 0] - exact).max()


def the_velocity_is_that_of_the_frame_to_second_order():
    coarse, fine = error("later-1"), error("later-fine")
    assert 1e-3 < coarse < 0.05, coarse
    assert numpy.log2(coarse / fine) > 1.9, (coarse, fine)


def scalars_of_the_same_name_come_along():
    for run in ("later-1", "later-fine"):
        frame = first(run)
        n = frame["dye"].shape[0]
        y, x = ((index + 0.5) / n for index in numpy.indices((n, n)))
        assert abs(frame["dye"] - (1 + x + 2 * y)).max() < 1e-6, "linear: exact but for single precision"
        assert abs(frame["other"] - y).max() < 1e-6, "a scalar that the frame has not begins with its own formula"


def a_part_of_the_box_will_do():
    dye = first("inner")["dye"]
    y, x = ((index + 0.5) / 40 for index in numpy.indices(dye.shape))
    assert dye.shape == (10, 20) and abs(dye - (1 + 0.25 + x + 2 * (0.125 + y))).max() < 1e-6


def it_does_not_depend_on_the_ranks():
    one = first("later-1")
    for ranks in (2, 4):
        other = first(f"later-{ranks}")
        for name in ("velocity", "dye", "other"):
            assert abs(one[name] - other[name]).max() < 1e-6, (ranks, name)
END
"$python" "$MILLRACE_SOURCE/tests/support/tap.py" "$PWD/checks.py" > checks 2>&1
cat checks
tap_number=$(grep -cE '^(not )?ok ' checks)

# A region with a velocity of its own keeps it.
cat > regions.yaml << 'END'
title: regions
grid: {dimension: 2, size: [1, 1], resolution: 16}
run: {end_time: 0.01, frame_interval: 0.01, time_step: 0.01}
fluid: {initial: {frame: FRAME}, sides: {all: slip}}
regions:
  - {name: lower, density: 1000, velocity: [0, 0], shape: {box: {low: [-1, -1], high: [2, 0.5]}}}
  - {name: upper, density: 800}
output: [{name: means, averages: [{name: lower, shape: {box: {low: [0, 0], high: [0.5, 0.25]}}}, {name: upper, shape: {box: {low: [0, 0.75], high: [0.5, 1]}}}]}]
END
sed -i "s|FRAME|$frame|" regions.yaml
go 1 regions regions
keeps() { awk -F, 'NR == 1 { for (n = 1; n <= NF; n++) c[$n] = n } NR == 2 { l = $c["velocity_lower_x"]; u = $c["velocity_upper_x"]; print l, u; exit !(l * l < 0.04 && u > 0.3) }' regions/output/means.csv; }
ok "a region with a velocity of its own keeps it" keeps

# Going on needs the checkpoint only.
go 1 later half --set fluid.initial.frame="$frame"
cp -r half whole
millrace 1 run -o whole --restart latest --set run.step_limit=0 > whole.log 2>&1
mv coarse gone
goes_on() { millrace 1 run -o half --restart latest --set run.step_limit=0 > half.log 2>&1 && same half whole; }
ok "a run that goes on does not look for the frame" goes_on
mv gone coarse

wrong() { refused 2 "$1" -- millrace "${ranks:-1}" run "${scene:-later}.yaml" -o refused "${@:2}" && [ ! -e refused ]; }
ok "a frame that is not there is refused" wrong "fluid.initial.frame cannot be used" --set fluid.initial.frame=none.h5
ok "on several ranks too" eval 'ranks=4; wrong "fluid.initial.frame cannot be used" --set fluid.initial.frame=none.h5'
ranks=1
sed 's|coarse/|nowhere/|' later.yaml > lost.yaml
ok "in its place" refused 2 "lost.yaml:7:" "nowhere/frames/frame-00000.h5" -- millrace 1 check lost.yaml
ok "what is no frame is refused" wrong "fluid.initial.frame cannot be used" --set fluid.initial.frame="$(ls "$PWD"/half/checkpoints/*.h5 | head -n 1)"
ok "a box that it does not cover is refused" wrong "does not cover the box" --set fluid.initial.frame="$PWD/$frame" --set grid.size=[2,1]
ok "another dimension is refused" wrong "2 dimensions and the scene 3" --set fluid.initial.frame="$PWD/$frame" --set grid.dimension=3 --set grid.size=[1,1,1] --set grid.resolution=8
ok "a velocity beside it is refused" wrong "leave one of them out" --set fluid.initial.frame="$PWD/$frame" --set fluid.initial.velocity=[1,0]
plan

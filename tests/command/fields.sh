#!/usr/bin/env bash
# run.fields and output.NAME.fields: which fields frames hold, and frames of a group at its own interval. TAP.
. "$MILLRACE_SOURCE/tests/restart/support.sh"
need_h5py
export PYTHONPATH=$MILLRACE_SOURCE/python PYTHONDONTWRITEBYTECODE=yes

cat > tank.yaml << 'END'
title: tank
grid: {dimension: 2, size: [1, 0.75], resolution: 16}
run: {end_time: 0.2, frame_interval: 0.2, time_step: 0.02, fields: [{name: pressure}, {name: region}]}
fluid: {gravity: [1, -9.81], sides: {all: slip}, scalars: [{name: dye, initial: "x + 2*y"}]}
regions:
  - {name: water, density: 1000, shape: {box: {low: [-1, -1], high: [2, 0.45]}}}
  - {name: air, type: empty}
output:
  - {name: flow, interval: 0.05, fields: [{name: velocity}, {name: dye}]}
  - {name: surface, interval: 0.1, fields: [{name: distance_water}]}
END
sed -e 's/, fields: \[{name: pressure}, {name: region}\]//' tank.yaml > whole.yaml
go() { millrace "$1" run "$2.yaml" -o "$3" "${@:4}" > "$3.log" 2>&1 || sed 's/^/# /' "$3.log"; }
go 1 tank one
go 2 tank two
go 1 whole whole
cat > checks.py << 'END'
import glob
import os
import xml.etree.ElementTree

import numpy
import millrace


def frames_hold_the_fields_that_are_chosen():
    for run in ("one", "two"):
        assert sorted(millrace.open(run)[0].fields()) == ["pressure", "region"]
        assert sorted(millrace.open(f"{run}/output/flow")[0].fields()) == ["dye", "velocity"]
        assert millrace.open(f"{run}/output/surface")[-1].fields() == ["distance_water"]


def groups_have_frames_at_their_own_interval():
    for run in ("one", "two"):
        assert [round(frame.time, 9) for frame in millrace.open(run)] == [0, 0.2]
        for group, interval in (("flow", 0.05), ("surface", 0.1)):
            times = numpy.array([frame.time for frame in millrace.open(f"{run}/output/{group}")])
            table = millrace.open(run).outputs[group]["time"]
            assert (times == table).all() and len(times) == 1 + round(0.2 / interval), times
            assert (times[1:] % interval < 0.02 + 1e-9).all(), times


def what_they_hold_is_what_frames_of_all_fields_hold():
    whole = millrace.open("whole")
    for run in ("one", "two"):
        for last, name in ((millrace.open(run)[-1], "pressure"), (millrace.open(f"{run}/output/flow")[-1], "velocity"), (millrace.open(f"{run}/output/surface")[-1], "distance_water")):
            assert last.time == whole[-1].time
            assert abs(last[name] - whole[-1][name]).max() < 1e-6 * (1 + abs(whole[-1][name]).max()), (run, name)


def lists_for_paraview_name_what_is_there():
    for folder in ("one", "one/output/flow", "one/output/surface"):
        tree = xml.etree.ElementTree.parse(f"{folder}/run.xmf")
        items = [item.text.strip() for item in tree.iter("DataItem") if item.get("Format") == "HDF"]
        assert items and all(os.path.exists(f"{folder}/{item.split(':')[0]}") for item in items), items
        names = {attribute.get("Name") for attribute in tree.iter("Attribute")}
        assert names == {name for frame in millrace.open(folder) for name in frame.fields()}, names


def they_are_smaller():
    assert os.path.getsize(glob.glob("one/frames/*.h5")[-1]) < os.path.getsize(glob.glob("whole/frames/*.h5")[-1])
END
"$python" "$MILLRACE_SOURCE/tests/support/tap.py" "$PWD/checks.py" > checks 2>&1
cat checks
tap_number=$(grep -cE '^(not )?ok ' checks)

# A run that is stopped and resumed has the same frames; those behind the checkpoint go.
go 1 tank half --set run.step_limit=6
touch half/output/flow/notes.txt
cp half/output/flow/frames/frame-000002.h5 half/output/flow/frames/frame-000009.h5
resumes() {
  millrace 1 run -o half --restart latest --set run.step_limit=0 > half.log 2>&1 || { cat half.log; return 1; }
  diff <(cd one/output && find . -name '*.h5' -o -name '*.xmf' | sort) <(cd half/output && find . -name '*.h5' -o -name '*.xmf' | sort) && cmp one/output/flow/run.xmf half/output/flow/run.xmf
}
ok "a resumed run has the same frames" resumes
equal() { "$python" -c 'import numpy, millrace
a, b = (millrace.open(run + "/output/flow") for run in ("one", "half"))
assert all(numpy.array_equal(x["velocity"], y["velocity"]) for x, y in zip(a, b)) and len(a) == len(b)'; }
ok "with the same values" equal
again() { go 1 tank half --overwrite --set "output=[]" --set run.step_limit=1 && [ "$(find half/output -type f)" = half/output/flow/notes.txt ]; }
ok "overwriting deletes them and leaves what is not theirs" again

wrong() { refused 2 "$1" "${@:2:1}" -- millrace 1 run "${scene:-tank}.yaml" -o refused "${@:3}" && [ ! -e refused ]; }
ok "a field that is not there is refused" wrong 'there is no field "presure"; did you mean "pressure"?' "" --set run.fields.pressure.name=presure
ok "and one of a group" wrong 'there is no field "distance_watr"; did you mean "distance_water"?' "" --set output.surface.fields.0.name=distance_watr
ok "a group without an interval is refused" wrong "needs an interval" "" --set output.flow.interval=0
sed -e '/^grid/,/^  - {name: air/d' -e 's/, fields.*}]/, fields: [{name: velocity}]/' tank.yaml > none.yaml
printf 'run: {end_time: 1, frame_interval: 1}\nsolids: {bodies: [{name: ball, shape: {sphere: {center: [0, 0, 0], radius: 1}}}]}\n' >> none.yaml
ok "fields without a fluid are refused" eval 'scene=none; wrong "fields need a fluid, and the scene has none" ""'
plan

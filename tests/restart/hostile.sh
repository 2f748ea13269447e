#!/usr/bin/env bash
# Checkpoints with a right digest and wrong contents, as no run has written them: each is refused with one line that
# names the file and the dataset, exit code 2, and nothing on the disk has changed. TAP.
. "$MILLRACE_SOURCE/tests/restart/support.sh"
need_h5py

reseal() { "$python" "$MILLRACE_SOURCE/tests/restart/reseal.py" "$@"; }
millrace 1 run "$scenes/collision.yaml" -o base --set run.step_limit=14 --set run.frame_interval=0.02 > log 2>&1 || cat log
checkpoint=base/checkpoints/checkpoint-00000014.h5
cp -r base copy

# hostile DATASET EDIT...: one of the files that are made below, and what its refusal names; on RANKS.
names=() ranks=() words=() edits=()
hostile() {
  edits+=(${edits:+--} "evil-${#names[@]}.h5" "${@:2}")
  names+=("$1")
  ranks+=("${RANKS:-1}")
  words+=("${*:2}")
}
evil() { # NUMBER
  local file=evil-$1.h5
  refused 2 "$file: \"${names[$1]}\" " -- millrace "${ranks[$1]}" run -o base --restart "$file" --set run.step_limit=16 &&
    [ "$(grep -c '^millrace' said)" = 1 ] && ! grep -q PETSC said && diff -rq base copy && return
  cat said
  rm -r base
  cp -r copy base
  return 1
}

hostile step step=-1
hostile step step=2**31-1
hostile step step=np.zeros\(3,int\)
hostile time time=inf
hostile time time=-1.0
hostile fluid/time time=100.0
hostile dt dt=nan
hostile dt dt=1e9
hostile ledger_rows ledger_rows=-5
hostile ledger_rows ledger_rows=2**40
hostile frames frames=-1
hostile frames frames=2**32+1
hostile scene scene=1.0
hostile layout layout=3
hostile solids -solids
hostile solids/edge_count solids/edge_count=1000 "solids/edges=np.ones((1000,2))"
hostile solids/edges solids/edge_count=1 "solids/edges=np.array([[0,1e9]])"
hostile solids/contact_count solids/contact_count=-1
hostile solids/places solids/place_count=1
hostile solids/contacts "solids/contacts=f['solids/contacts'][()]+0.5"
hostile solids/contacts "solids/contacts=f['solids/contacts'][()][::-1]"
hostile solids/placements "solids/placements=f['solids/placements'][()]*2"
hostile solids/twists "solids/twists=f['solids/twists'][()]*nan"
hostile solids/placements "solids/placements=f['solids/placements'][()]+np.eye(1,7)*1e9"
hostile solids/twists "solids/twists=f['solids/twists'][()]+1e9"
hostile fluid/acceleration_y "fluid/acceleration_y=f['fluid/acceleration_y'][()]+1e20"
hostile solids/reaches "solids/reaches=f['solids/reaches'][()]-1e9"
hostile solids/report "solids/report=f['solids/report'][()]+1e30"
hostile body_accelerations "body_accelerations=f['body_accelerations'][()].T"
hostile regions/distance_0 "regions/distance_0=f['regions/distance_0'][()]*nan"
hostile regions/distance_0 "regions/distance_0=f['regions/distance_0'][()]*1e9"
hostile regions/markers_0/values "regions/markers_0/values=np.zeros(5)"
hostile regions/markers_0/numbers "regions/markers_0/numbers=f['regions/markers_0/numbers'][()][1:]"
hostile regions/steps regions/steps=-1
hostile regions/seedings regions/seedings=2**52
hostile fluid/velocity_x -fluid/velocity_x
hostile fluid/velocity_x fluid/velocity_x=np.zeros\(3\)
hostile fluid/velocity_y "fluid/velocity_y=f['fluid/velocity_y'][()]+1e302"
hostile fluid/pressure "fluid/pressure=f['fluid/pressure'][()].astype(int)"
RANKS=2 hostile fluid/pressure "fluid/pressure=np.where(np.arange(576).reshape(1,24,24)==0,nan,f['fluid/pressure'][()])"
RANKS=3 hostile solids/edges solids/edge_count=1 "solids/edges=np.array([[0,-1.0]])"

reseal $checkpoint good.h5 -- forgetful.h5 frames=2 -- "${edits[@]}"
for ((number = 0; number < ${#names[@]}; number++)); do
  ok "refused: ${words[number]}" evil $number
done
# frames that a checkpoint of their own time denies are not later ones
ok "no frame is dropped that is not later" \
  refused 2 "base/frames/frame-000002.h5, of t = 0.04 s, is not later" -- millrace 1 run -o base --restart forgetful.h5
ok "and nothing has changed" diff -rq base copy
ok "the same file without a change goes on" millrace 1 run -o base --restart good.h5 --set run.step_limit=15
plan

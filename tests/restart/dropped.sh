#!/usr/bin/env bash
# A restart from an older checkpoint drops a future, also when it is killed; and what else may lie in a run's directory:
# pipes and links in place of files, a lost index, copies that somebody keeps. TAP.
. "$MILLRACE_SOURCE/tests/restart/support.sh"
need_h5py

run() { millrace 1 run "$scenes/plane.yaml" -o "$@"; } # DIR [ARGUMENT...]
older=checkpoints/checkpoint-00000010.h5
run whole --set run.step_limit=25 --set run.frame_interval=0.02 > log 2>&1 || cat log
run two --set run.step_limit=10 --set run.frame_interval=0.02 > log 2>&1 || cat log
run two --restart latest --set run.step_limit=20 --set run.frame_interval=0.02 > log 2>&1 || cat log

same_frames() { # A B: what both list, and that it is all there
  diff "$1/run.xmf" "$2/run.xmf" && diff <(ls "$1/frames") <(ls "$2/frames")
}
# killed DIR STEPS ARGUMENT...: killed after so many steps from checkpoint 10, in another future.
killed() {
  local tries=0
  run "$1" --restart "$1/$older" --set run.time_step=0.001 --set run.end_time=1000 "${@:3}" > log 2>&1 &
  until [ ! -e "$1/checkpoints/checkpoint-00000020.h5" ] && [ "$(rows "$1")" -ge $((11 + $2)) ] &&
    grep -q '^11,.*,0.001' "$1/ledger.csv"; do
    tries=$((tries + 1))
    [ $tries -lt 1200 ] || return 1
    sleep 0.05
  done
  kill -9 "$(process_of "$1")"
  wait $! 2> /dev/null
  [ "$(checkpoints "$1")" = checkpoint-00000010.h5 ]
}
goes_on() { # DIR: as if there had been no such future
  run "$1" --restart latest --set run.step_limit=25 --set run.frame_interval=0.02 && same whole "$1" && same_frames whole "$1"
}
for case in "before:1000" "after:0.002"; do
  name=killed-${case%:*}-a-frame
  cp -r two $name
  ok "restarted from an older checkpoint and killed ${case%:*} a frame: the later one is gone" \
    killed $name 5 --set run.frame_interval=${case#*:}
  ok "then latest goes on from the older one" goes_on $name
done

# From a checkpoint that lies elsewhere: it becomes the newest of the directory before a later one goes.
cp -r two elsewhere && mv elsewhere/$older kept.h5
ok "restarted from a file elsewhere" run elsewhere --restart kept.h5 --set run.step_limit=11 --set run.frame_interval=0.02
ok "which is a checkpoint of the directory now" cmp kept.h5 elsewhere/$older
ok "then latest goes on" goes_on elsewhere

# Files that are not what their names say.
cp -r two odd && mkfifo odd/checkpoints/checkpoint-00000099.h5 && cp odd/$older odd/checkpoints/checkpoint-00000006-keep.h5 &&
  cp odd/frames/frame-000001.h5 odd/frames/frame-000099-keep.h5 && rm odd/run.xmf && mkfifo odd/run.xmf
ok "pipes in place of a checkpoint and of run.xmf: told, and no hindrance" \
  refused 0 "checkpoint-00000099.h5 cannot be read: it is not a file" -- env LIMIT=60 "$BASH" -c \
  "$(declare -f millrace run); scenes=$scenes; run odd --restart latest --set run.step_limit=25 --set run.frame_interval=0.02"
ok "as if nothing had been" same whole odd
ok "copies of somebody's own stay" [ -e odd/checkpoints/checkpoint-00000006-keep.h5 -a -e odd/frames/frame-000099-keep.h5 ]
rm odd/frames/frame-000099-keep.h5
ok "a lost run.xmf lists all frames again" same_frames whole odd
ok "copies stay when the run is overwritten" run odd --overwrite --set run.step_limit=1
ok "and are there" [ "$(checkpoints odd)" = "checkpoint-00000001.h5 checkpoint-00000006-keep.h5" ]
cp -r two torn && truncate -s 3000 torn/run.xmf
ok "a torn run.xmf lists all frames again" goes_on torn
ln -s "$PWD/victim" torn/run.lock
ok "a link in place of run.lock is refused" refused 2 "run.lock cannot be opened" -- run torn --restart latest
ok "and not followed" [ ! -e victim ]
plan

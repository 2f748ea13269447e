#!/usr/bin/env bash
# A disk that fills up while a run writes: exit code 1 with the reason, no part of a file left, and the last good
# checkpoint goes on when there is room again. On a small file system of its own. TAP.
if [ -z "$OWN_MOUNTS" ]; then
  OWN_MOUNTS=no
  for flags in -m -rm; do
    if [ $OWN_MOUNTS = no ] && unshare $flags sh -c 'mount -t tmpfs -o size=64k tmpfs /mnt' 2> /dev/null; then
      OWN_MOUNTS=$flags
    fi
  done
  if [ $OWN_MOUNTS = no ]; then
    echo "1..0 # SKIP a small file system cannot be mounted here"
    exit 0
  fi
  export OWN_MOUNTS OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  exec unshare "$OWN_MOUNTS" "$BASH" "$0"
fi
. "$MILLRACE_SOURCE/tests/restart/support.sh"
need_h5py

scene=$scenes/plane.yaml
run() { millrace "$1" run "$scene" -o "$2" "${@:3}"; } # RANKS DIR [ARGUMENT...]
whole() { run "$1" "whole-$1" --set run.step_limit="$2" > log 2>&1; }

# smaller SIZE COMMAND...: in kB, the room that there is from now on in small/.
mkdir small
smaller() {
  mountpoint -q small || mount -t tmpfs tmpfs small || return 1
  mount -o remount,size="$1k" small && "${@:2}"
}
no_parts() { [ -z "$(find small -name '*.tmp' -o -name run.lock)" ] || { find small && return 1; }; }

# The first checkpoint needs about 70 kB, a frame 20 kB.
for ranks in 1 2; do
  whole $ranks 40
  smaller 4000 run $ranks small/run --set run.step_limit=4 > log 2>&1 || cat log
  kept=$(checkpoints small/run)
  room=$(($(du -sk small | cut -f1) + 50))
  ok "a full disk ends a run on $ranks ranks with code 1 and says so" \
    refused 1 "cannot be written" -- smaller $room run $ranks small/run --restart latest --set run.step_limit=40
  ok "no part of a file is left" no_parts
  ok "the checkpoint before is still there" [ "$(checkpoints small/run)" = "$kept" ]
  ok "with more room it goes on" smaller 4000 run $ranks small/run --restart latest --set run.step_limit=40
  ok "as if nothing had been" same whole-$ranks small/run
  rm -r small/run
done
# Bodies in a fluid: a ledger of many columns, a checkpoint after every step. At every size of the disk one line says
# why, and nothing is left but what is whole; with more room the run goes on, if it had come to a checkpoint.
bodies() { millrace 1 run "$scenes/collision.yaml" -o "$@" --set run.checkpoint_interval=1e-9 --set run.frame_interval=0.02; }
bodies whole --set run.step_limit=12 > log 2>&1 || cat log
ends_well() { # ROOM
  local code
  smaller "$1" bodies small/run --set run.step_limit=12 > said 2>&1
  code=$?
  { [ $code = 0 ] || [ $code = 1 ]; } && [ "$(grep -c '^millrace: error' said)" = $code ] && ! grep -q PETSC said && no_parts &&
    { [ $code = 0 ] || grep -q 'No space left on device' said; } || { echo "exit code $code" && cat said && return 1; }
  [ -e small/run/checkpoints ] && [ -n "$(ls small/run/checkpoints)" ] || return 0
  smaller 8000 bodies small/run --restart latest --set run.step_limit=12 > said 2>&1 || { cat said && return 1; }
  same whole small/run
}
for room in 30 200 500 1040 1060 1100 1200 1300 1400 1600 2000; do
  ok "bodies in a fluid on a disk of $room kB" ends_well $room
  rm -rf small/run
done
ok "a disk without room for the first frame ends a run with code 1" \
  refused 1 "cannot be written" -- smaller 8 run 1 small/run
ok "a rank of its own for solids learns of it" \
  refused 1 "cannot be written" -- smaller 100 run 3 small/team --set parallel.solid_ranks=1 --set run.frame_interval=0.02
mountpoint -q small && umount small
plan

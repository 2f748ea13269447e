#!/usr/bin/env bash
# The frames that frames_example writes, read by h5py and by the readers of ParaView. TAP.
. "$MILLRACE_SOURCE/tests/support/tap.sh"

here=$MILLRACE_SOURCE/tests/unit
python=$(for p in /usr/bin/python3 python3; do "$p" -c 'import h5py, numpy' 2> /dev/null && echo "$p" && break; done)
[ "$HAVE_CMOCKA" != no ] || skip_all "the programs of the tests are not built without cmocka"
[ -n "$python" ] || skip_all "no python3 with h5py (Debian: python3-h5py)"
runs=$(mktemp -d)
trap 'rm -rf "$runs"' EXIT

# example RANKS NAME DIMENSION PRECISION FIRST
example() {
  timeout 60 "$MPIEXEC" $MPIEXEC_FLAGS -n "$1" "$MILLRACE_BUILD/tests/unit/frames_example" "$runs/$2" "${@:3}"
}

# A series of which the last frame was cut off by a kill and is written again from frame 1 on.
resume() {
  example 2 resumed 3 double 0 && rm "$runs/resumed/frames/frame-000002.h5" &&
    : > "$runs/resumed/frames/frame-000007.h5" && example 2 resumed 3 double 1 &&
    example 2 whole 3 double 0 && cmp "$runs/whole/run.xmf" "$runs/resumed/run.xmf"
}

paraview() { # READER DIMENSION
  timeout 100 pvbatch "$here/xdmf_paraview.py" "$1" "$runs/run$2/run.xmf" "$2" 2 | grep -q 'as written'
}

if command -v pvbatch > /dev/null; then
  readers="Xdmf3ReaderT XDMFReader"
  echo 1..13
else
  readers=
  echo 1..9
fi
ok "frames in 3-D are written" example 2 run3 3 single 0
ok "frames in 2-D are written" example 2 run2 2 double 0
ok "run.xmf and the frames in 3-D agree" "$python" "$here/xdmf_plain.py" "$runs/run3" 3
ok "run.xmf and the frames in 2-D agree" "$python" "$here/xdmf_plain.py" "$runs/run2" 3
for ranks in 1 4; do
  example $ranks "on$ranks" 3 single 0
  ok "what $ranks ranks write agrees" "$python" "$here/xdmf_plain.py" "$runs/on$ranks" 3
done
mv "$runs/run3" "$runs/moved" && cp -r "$runs/moved" "$runs/run3"
ok "a run that was moved can be read" "$python" "$here/xdmf_plain.py" "$runs/moved" 3
ok "a resumed series lists what an uninterrupted one lists" resume
ok "a resumed series holds what it lists" "$python" "$here/xdmf_plain.py" "$runs/resumed" 3
for reader in $readers; do
  for dimension in 3 2; do
    ok "$reader gives the values in $dimension-D" paraview "$reader" "$dimension"
  done
done

#!/usr/bin/env bash
# The Python package millrace on runs of every kind, and the scripts that show how it is used. TAP.
. "$MILLRACE_SOURCE/tests/restart/support.sh"
"$python" -c 'import h5py' 2> /dev/null || skip_all "h5py is missing (Debian: python3-h5py)"
export PYTHONPATH=$MILLRACE_SOURCE/python PYTHONDONTWRITEBYTECODE=yes MPLCONFIGDIR=$work

inputs=$MILLRACE_SOURCE/inputs
few() { # NAME SCENE SETTING...: a run of a few small steps
  local name=$1 scene=$2 settings=()
  shift 2
  for setting in "$@"; do
    settings+=(--set "$setting")
  done
  millrace 1 run "$scene" -o "$name" --set run.step_limit=2 "${settings[@]}" > "$name.log" 2>&1 || sed 's/^/# /' "$name.log"
}
few flow "$inputs/flow/cavity.yaml" grid.resolution=16 run.frame_interval=0.01
few space "$inputs/flow/smoke-plume.yaml" grid.resolution=8 run.frame_interval=0.01
few liquids "$inputs/liquids/rising-bubble.yaml" grid.resolution=16 run.frame_interval=0.01 interfaces.markers=written
few bodies "$inputs/solids/stack.yaml" run.frame_interval=0.002
few coupled "$inputs/coupling/buoyancy.yaml" grid.resolution=16 run.frame_interval=0.01
few shells "$inputs/coupling/sealed-shell.yaml" grid.resolution=20 run.frame_interval=0.01
few splash "$inputs/splash/dam-obstacle.yaml" grid.resolution=16 run.frame_interval=0.01
few ropes "$MILLRACE_SOURCE/tests/restart/scenes/deformable.yaml" run.frame_interval=0.01
few soaked "$MILLRACE_SOURCE/tests/restart/scenes/soft.yaml" grid.resolution=8 run.frame_interval=0.002
few gas "$inputs/liquids/air-coupling.yaml" grid.resolution=32 run.frame_interval=0.001
few obstacles "$inputs/flow/channel-cylinder.yaml" grid.resolution=110 grid.fit=grow run.frame_interval=0.001
few deformables "$inputs/solids/deformable-bar.yaml" solids.meshes.bar.edge=0.05 run.frame_interval=0.004

# One interpreter: a test in Python is a function of runs.py and prints a line of TAP.
"$python" "$MILLRACE_SOURCE/tests/support/tap.py" "$MILLRACE_SOURCE/tests/python/runs.py" > said 2>&1
cat said
tap_number=$(grep -cE '^(not )?ok ' said)

ok "importing the package does not need xarray, pandas or matplotlib" "$python" -c '
import sys, millrace
sys.exit(bool({"xarray", "pandas", "matplotlib"} & set(sys.modules)))'
ok "its version is that of the program" [ "millrace $("$python" -c 'import millrace; print(millrace.__version__)')" = "$(millrace 1 version | head -n 1)" ]
if "$python" -c 'import matplotlib' 2> /dev/null; then
  for script in "$MILLRACE_SOURCE"/examples/python/*.py; do
    ok "$(basename "$script") runs" "$python" "$script" liquids coupled
  done
else
  skip "the scripts of examples/python run" "matplotlib is missing (Debian: python3-matplotlib)"
fi
plan

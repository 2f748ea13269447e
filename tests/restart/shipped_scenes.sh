#!/usr/bin/env bash
# Some of the scenes in inputs/ for a few steps: the same on one and on several ranks, and after being stopped. All of
# them, longer: tests/validation/shipped_scenes.sh. TAP.
. "$MILLRACE_SOURCE/tests/restart/shipped.sh"
need_h5py
LIMIT=${LIMIT:-300}

same_bits_on_ranks coupling/buoyancy 24 12 2
same_bits_on_ranks coupling/fountain 12 12 3
same_bits_on_ranks liquids/drops 15 12 3
same_bits_on_ranks liquids/air-coupling 20 25 4 # its pool ends at the centres of cells
same_on_ranks solids/stack "" 60 2

echo "# SEED=$SEED draws these stops again"
RANDOM=$SEED
same_if_stopped coupling/paddle-wheel 16 10 1
same_if_stopped coupling/buoyancy 24 60 1
same_if_stopped liquids/dam-break 24 20 2
plan

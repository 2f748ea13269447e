#!/usr/bin/env bash
# Every scene in inputs/, small and at an odd size, for 60 steps: on 1, 2, 3 and 4 ranks to 1e-10 in every field of the
# checkpoint, in the bodies and in the ledger; stopped at three random steps and resumed, bit for bit. SEED=N draws the
# same steps again; SCENES="coupling/boat ..." chooses. TAP.
. "$MILLRACE_SOURCE/tests/restart/shipped.sh"
need_h5py
LIMIT=${LIMIT:-1200}
REPORT=yes

read -ra chosen <<< "${SCENES:-$(shipped | tr '\n' ' ')}"
for scene in "${chosen[@]}"; do
  ! grep -q '^grid:' "$inputs/$scene.yaml" || ok "$scene has a size in shipped.sh" [ -n "${sizes[$scene]}" ]
  read -ra both <<< "${sizes[$scene]}"
  for size in "${both[@]:-}"; do
    same_on_ranks "$scene" "$size" 60 2 3 4
  done
done

echo "# SEED=$SEED draws these stops again"
RANDOM=$SEED
for scene in "${chosen[@]}"; do
  for ranks in 1 2; do
    same_if_stopped "$scene" "${sizes[$scene]##* }" 60 $ranks
  done
done
plan

# Sourced by tests of the scenes in inputs/: small, with tight tolerances, on several ranks, stopped and resumed.
. "$MILLRACE_SOURCE/tests/restart/support.sh"

inputs=$MILLRACE_SOURCE/inputs

# Sizes that the boxes of the scenes permit: a small one, and one with an odd number of cells along some direction.
declare -A sizes=(
  [coupling/boat]="16 20" [coupling/buoyancy]="24 40" [coupling/fountain]="12 14" [coupling/light-ball]="10 13"
  [coupling/cloth-pull]="16 18" [coupling/bag-fill]="12 16" [coupling/bag-pull]="12 16"
  [coupling/balloon]="12 16" [coupling/flag]="250" [coupling/soft-torus]="12 15" [coupling/swimming-fish]="16 24"
  [coupling/many-spheres]="12 15" [coupling/paddle-wheel]="16 20" [coupling/sealed-shell]="16 20"
  [examples/floating-box]="16 20" [examples/oscillating-cylinder]="55 110" [examples/three-liquids]="10 15"
  [examples/submarine]="16 20"
  [flow/cavity]="16 21" [flow/channel-cylinder]="220" [flow/smoke-plume]="12 15" [flow/taylor-green]="16 21"
  [liquids/air-coupling]="16 20" [liquids/capillary-wave]="12 15" [liquids/dam-break]="24 32"
  [liquids/drops]="12 15" [liquids/incline-viscosities]="20 30" [liquids/layered-splash]="12 15" [liquids/oil-fire]="16 21"
  [liquids/letters]="21 28" [liquids/reacting-liquids]="16 20"
  [liquids/rayleigh-taylor]="12 15" [liquids/rising-bubble]="16 21" [liquids/standing-wave]="16 20"
  [liquids/viscoelastic-figure]="10 20"
  [splash/colliding-streams]="24 30" [splash/dam-obstacle]="16 20" [splash/fountain]="10 15" [splash/quadruple-dam]="16 21"
  [splash/underwater-explosions]="16 21" [splash/city-flood]="25 50" [splash/falling-objects]="15 20" [splash/dam-terrain]="13 26"
)

# Names of all scenes, as in sizes.
shipped() { (cd "$inputs" && printf '%s\n' */*.yaml | sed 's/\.yaml$//'); }

# What a solve leaves is not to be told from round-off, and all ranks share the fluid.
tighten() { # SCENE [SIZE]
  tight=()
  [ -z "$2" ] || tight+=("grid.resolution=$2" fluid.pressure_tolerance=1e-12 fluid.viscosity_tolerance=1e-12)
  ! grep -q '^splash:' "$inputs/$1.yaml" || tight=("grid.resolution=$2" splash.tolerance=1e-12)
  ! grep -q '^coupling:' "$inputs/$1.yaml" || tight+=(coupling.tolerance=1e-12 parallel.solid_ranks=0)
  ! grep -q '^solids:' "$inputs/$1.yaml" || tight+=(solids.tolerance=1e-8)
  [ "$1" != hybrid/t-junction-sheet ] || tight+=(run.time_step=0.015) # its clamp goes on after 1 s
  [ "$1" != hybrid/cube-cut ] || tight+=(let.sticks=5) # the 289 of the file take seconds for a step in contact
}

run() { # RANKS SCENE DIR STEPS [ARGUMENT...]
  local setting
  for setting in "${tight[@]}" run.end_time=1000 "run.step_limit=$4"; do
    set -- "$@" --set "$setting"
  done
  millrace "$1" run "$inputs/$2.yaml" -o "$3" "${@:5}" > log 2>&1 || {
    cat log
    return 1
  }
}

# A run on one rank, and the same on others.
same_on_ranks() { # SCENE SIZE STEPS RANKS...
  local scene=$1 size=$2 steps=$3 ranks
  tighten "$scene" "$size"
  ok "$scene${size:+ at $size}: $steps steps" run 1 "$scene" one "$steps"
  for ranks in "${@:4}"; do
    run "$ranks" "$scene" several "$steps" || true
    ok "$scene${size:+ at $size}: $ranks ranks as one, to 1e-10" same one several 1e-10
    [ -z "$REPORT" ] || echo "# $scene $size $ranks: $(same one several 1e-10 | tail -1)"
    rm -rf several
  done
  rm -rf one
}

# The same, bit for bit; the ledger's sums depend on their order.
same_bits_on_ranks() { # SCENE SIZE STEPS RANKS...
  local scene=$1 size=$2 steps=$3 ranks
  tighten "$scene" "$size"
  ok "$scene${size:+ at $size}: $steps steps" run 1 "$scene" one "$steps"
  for ranks in "${@:4}"; do
    run "$ranks" "$scene" several "$steps" || true
    ok "$scene${size:+ at $size}: $ranks ranks as one, bit for bit" same one several state
    rm -rf several
  done
  rm -rf one
}

# A run that is stopped at random in each third of its steps, and one that is not.
same_if_stopped() { # SCENE SIZE STEPS RANKS
  local third=$((($3 - 1) / 3)) step again=()
  local stops=($((1 + RANDOM % third)) $((1 + third + RANDOM % third)) $((1 + 2 * third + RANDOM % third)))
  tighten "$1" "$2"
  ok "$1${2:+ at $2}: $3 steps on $4 ranks" run "$4" "$1" whole "$3"
  for step in "${stops[@]}" "$3"; do
    run "$4" "$1" stopped "$step" "${again[@]}" || true
    again=(--restart latest)
  done
  ok "$1${2:+ at $2}: stopped at ${stops[*]}, resumed on $4 ranks, bit for bit" same whole stopped
  rm -rf whole stopped
}

SEED=${SEED:-$(date +%N | sed 's/^0*//')}
SEED=$((SEED % 32768))

#!/usr/bin/env bash
# Peak memory: what `check` predicts and what runs need, in total and beyond what a process needs without cells;
# at most 500 bytes per cell for a plain flow in three dimensions. TAP.
. "$MILLRACE_SOURCE/tests/restart/support.sh"
[ "$SANITIZERS" != yes ] || skip_all "sanitizers need memory of their own"

cat > box.yaml << 'END'
grid: {size: [1, 1, 1], resolution: 8}
run: {end_time: 100, frame_interval: 50, step_limit: 3}
fluid:
  density: 1
  sides: {y_high: {type: wall, velocity: [1, 0, 0]}}
END
everything=(--set fluid.viscosity=0.01 --set 'fluid.scalars=[{name: smoke}, {name: heat, diffusivity: 1}]'
  --set 'obstacles=[{name: ball, shape: {sphere: {center: [0.5, 0.5, 0.5], radius: 0.2}}, motion: {velocity: [0.1, 0, 0]}}]'
  --set 'inflows=[{name: fan, shape: {sphere: {center: [0.2, 0.2, 0.2], radius: 0.1}}, velocity: [1, 0, 0]}]')
plane=(--set grid.dimension=2 --set 'grid.size=[1, 1]' --set 'fluid.sides.y_high.velocity=[1, 0]')

predicted() { millrace 1 check box.yaml --ranks "$@" | sed -n 's/^memory *\([0-9]*\) MB.*/\1/p'; }
measured() {
  rm -rf run
  millrace "$1" run box.yaml -o run "${@:2}" | sed -n 's/^peak memory \([0-9]*\) MB.*/\1/p'
}

# within A B: |A - B| is at most 25 % of B, and 1 MB for what is printed in whole ones.
within() {
  awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(a > 0 && b > 0 && d <= 0.25 * b + 1) }' ||
    { echo "predicted $1 MB, measured $2 MB" && return 1; }
}

declare -A foot # of a process without cells, predicted and measured
for ranks in 1 2; do
  foot[$ranks]="$(predicted $ranks) $(measured $ranks)"
  ok "a process without cells on $ranks ranks" within ${foot[$ranks]}
done

compare() { # NAME RANKS ARGUMENT...
  local p m base
  p=$(predicted "${@:2}")
  m=$(measured "${@:2}")
  read -ra base <<< "${foot[$2]}"
  echo "# $1 on $2 ranks: predicted $p MB, measured $m MB"
  ok "$1 on $2 ranks" within "$p" "$m"
  ok "$1 on $2 ranks, beyond the process" within $((p - base[0])) $((m - base[1]))
}
compare "512 x 512 cells" 1 "${plane[@]}" --set grid.resolution=512
compare "48^3 cells with everything" 1 "${everything[@]}" --set grid.resolution=48
compare "48^3 cells with everything" 2 "${everything[@]}" --set grid.resolution=48
compare "64^3 cells" 1 --set grid.resolution=64

# Bodies in a fluid, with regions and without.
coupled() { # NAME RANKS SCENE ARGUMENT...
  local p m scene=$MILLRACE_SOURCE/inputs/coupling/$3.yaml
  p=$(millrace 1 check "$scene" --ranks "$2" "${@:4}" | sed -n 's/^memory *\([0-9]*\) MB.*/\1/p')
  rm -rf run
  m=$(millrace "$2" run "$scene" -o run --set run.step_limit=2 "${@:4}" | sed -n 's/^peak memory \([0-9]*\) MB.*/\1/p')
  echo "# $1 on $2 ranks: predicted $p MB, measured $m MB"
  ok "$1 on $2 ranks" within "$p" "$m"
}
coupled "a paddle wheel in smoke" 1 paddle-wheel --set grid.resolution=32
coupled "spheres in a pool" 1 buoyancy --set grid.resolution=64
coupled "spheres in a pool" 3 buoyancy --set grid.resolution=48
coupled "spheres in a pool, with MINRES" 1 buoyancy --set grid.resolution=48 --set coupling.solver=minres

# A pool whose walls hold bodies back, by the triangles of a lattice of whole cells: those of half cells take 200 MB more.
for ranks in 1 2; do
  pool=("$MILLRACE_SOURCE/inputs/splash/falling-objects.yaml" --set grid.resolution=25)
  p=$(millrace 1 check "${pool[@]}" --ranks $ranks | sed -n 's/^memory *\([0-9]*\) MB.*/\1/p')
  rm -rf run
  m=$(millrace $ranks run "${pool[@]}" -o run --set run.step_limit=2 | sed -n 's/^peak memory \([0-9]*\) MB.*/\1/p')
  echo "# bodies in a splash on $ranks ranks: predicted $p MB, measured $m MB"
  ok "bodies in a splash on $ranks ranks, within a factor of 1.5" [ $((2 * p)) -le $((3 * m)) -a $((2 * m)) -le $((3 * p)) ]
  ok "at most 160 MB per rank" [ "$m" -le $((160 * ranks)) ]
done

# Particles with their gradients: a checkpoint has three copies of them, and not one more.
for ranks in 1 2; do
  crowd=("$MILLRACE_SOURCE/inputs/splash/underwater-explosions.yaml" --set splash.particles=3 --set splash.transfer=apic --set grid.resolution=48)
  p=$(millrace 1 check "${crowd[@]}" --ranks $ranks | sed -n 's/^memory *\([0-9]*\) MB.*/\1/p')
  rm -rf run
  m=$(millrace $ranks run "${crowd[@]}" -o run --set run.step_limit=1 | sed -n 's/^peak memory \([0-9]*\) MB.*/\1/p')
  echo "# 750 000 particles on $ranks ranks: predicted $p MB, measured $m MB"
  ok "750 000 particles on $ranks ranks" within "$p" "$m"
done

read -ra base <<< "${foot[1]}"
bytes=$((($(measured 1 --set grid.resolution=64) - base[1]) * 1000000 / 64 ** 3))
echo "# $bytes bytes per cell at 64^3"
ok "at most 500 bytes per cell" [ $bytes -le 500 ]
plan

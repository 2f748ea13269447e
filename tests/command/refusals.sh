#!/usr/bin/env bash
# Every kind of bad input: a clear message, exit code 2, nothing written. TAP.
. "$MILLRACE_SOURCE/tests/restart/support.sh"

cat > good.yaml << 'END'
title: a small box
grid: {dimension: 2, size: [1, 1], resolution: 12}
run: {end_time: 1, frame_interval: 0.5, step_limit: 2}
fluid:
  density: 1
  viscosity: 0.01
  sides: {y_high: {type: wall, velocity: [1, 0]}}
obstacles:
  - {name: ball, shape: {sphere: {center: [0.5, 0.5], radius: 0.2}}}
END

# The command line.
usage() { refused "$1" "millrace run SCENE" -- millrace 1 "${@:2}"; }
ok "help explains the command" usage 0 help
ok "so does --help, wherever it stands" usage 0 run good.yaml --help
ok "so does -h" usage 0 -h
ok "version names what it is built on" refused 0 "millrace 0" "Petsc" -- millrace 1 --version
ok "no command is a mistake" usage 2
ok "an unknown command is a mistake" refused 2 '"walk"' run -- millrace 1 walk
ok "an unknown option is a mistake" bad '"--fast"' -- good.yaml --fast
ok "an option without its value is a mistake" bad '"--set"' -- good.yaml --set
ok "two scenes are a mistake" bad '"other.yaml"' -- good.yaml other.yaml
ok "a run without a scene is a mistake" bad "needs a scene" --
ok "check without a scene is a mistake" usage 2 check
ok "info without a file is a mistake" usage 2 info

# The scene.
ok "a scene that is not there" bad "nowhere.yaml: error: the file cannot be opened" -- nowhere.yaml
ok "a directory is no scene" bad "error" -- .
printf 'grid: {size: [1\n' > broken.yaml
ok "a scene that is no YAML" bad "broken.yaml:" ": error: " -- broken.yaml
sed -e 's/density: 1/density: -1/' -e 's/resolution/resolutoin/' -e 's/end_time: 1/end_time: soon/' good.yaml > bad.yaml
all_at_once() {
  bad "bad.yaml:2:" '"resolutoin"' 'did you mean "resolution"' "bad.yaml:3:" "bad.yaml:5:12: error:" "  density: -1" "^" -- bad.yaml
}
ok "all mistakes at once, with place, line and what would be right" all_at_once
ok "check finds the same" refused 2 "bad.yaml:5:12: error:" -- millrace 1 check bad.yaml
sed 's/^fluid:/fluid:\n  colour: red/' good.yaml > unknown.yaml
ok "an unknown key" bad "unknown.yaml:5:3: error:" colour -- unknown.yaml
ok "a value out of range" bad fluid.cfl 0.01 2, -- good.yaml --set fluid.cfl=99
ok "an override of an unknown key" bad "--set grid.resolutoin=3" -- good.yaml --set grid.resolutoin=3
ok "an override that is no assignment" bad "grid.resolution" -- good.yaml --set grid.resolution
RANKS=2 ok "several ranks say it once" bad "fluid.cfl" -- good.yaml --set fluid.cfl=99
once() { [ "$(grep -c 'error:' said)" = 1 ] || { cat said && return 1; }; }
ok "and only once" once
ok "a warning beside a mistake that shows later" bad "is not a finite number" -- good.yaml --set run.frame_interval=3 \
  --set "fluid.initial.velocity=[0/0*x, 0]"
ok "is told once" [ "$(grep -c 'warning: run.frame_interval is longer' said)" = 1 ]
ok "more cells than there are numbers" bad "4.29e+09 cells" "64-bit indices" -- good.yaml --set grid.resolution=65536
ok "a box so far away that places are rounded" bad "grid.origin along x is 1e+300" -- good.yaml --set "grid.origin=[1e300, 0]"

# Surfaces.
surface() { sed "s/sphere: .*/surface: {file: $1}}}/" good.yaml; }
surface tetrahedron.obj > surface.yaml
ok "a surface that is not there" bad "surface.yaml:9:" "tetrahedron.obj" "No such file" -- surface.yaml
cp "$scenes/tetrahedron.obj" .
printf 'v 0 0\nf 1 2 3\n' > broken.obj
grep -v '^f 2 3 4' tetrahedron.obj > open.obj
{ cat tetrahedron.obj && echo 'v 1 1 1' && echo 'f 2 3 5'; } > fin.obj
for kind in broken open fin; do
  surface $kind.obj > $kind.yaml
done
ok "a surface that cannot be read" bad "broken.yaml:9:" "broken.obj:1: a vertex needs three numbers" -- broken.yaml
ok "a surface that is not closed" bad "open.yaml:9:" "open.obj" "edge" -- open.yaml
ok "a surface with three triangles at an edge" bad "fin.yaml:9:" "fin.obj" "edge" -- fin.yaml

# Solvers and ranks.
ok "an unknown PETSc option on the command line" bad "-pressure_ksp_tpye" -- good.yaml -pressure_ksp_tpye cg
ok "an unknown PETSc option in the scene" bad "--set petsc.presure_pc_type=gamg" presure -- good.yaml --set petsc.presure_pc_type=gamg
printf 'petsc:\n  presure_pc_type: gamg\n' | cat good.yaml - > option.yaml
ok "with its place" bad "option.yaml:11:3: error:" "presure_pc_type" -- option.yaml
{ sed '/^obstacles/,$d' good.yaml && printf 'solids:\n  bodies:\n    - {name: ball, density: 2, shape: {sphere: {center: [0.5, 0.5], radius: 0.2}}}\n'; } > coupled.yaml
fluid_block=-coupled_blocks_fieldsplit_fluid_pc_type
ok "another preconditioner of a block of the coupled system" millrace 1 run coupled.yaml -o blocks $fluid_block jacobi
ok "its solver by its name" millrace 1 run coupled.yaml -o named -coupled_blocks_ksp_type blockminres
ok "but not of a block that is not there" bad "-coupled_blocks_fieldsplit_water_pc_type" -- coupled.yaml ${fluid_block/fluid/water} jacobi
ok "a lumped mass of fluid that slips" bad "coupling.mass: diagonal" "tied or thesis" -- coupled.yaml --set coupling.mass=diagonal
ok "nor if no block matrix is solved" bad "-coupled_blocks_fieldsplit_fluid_pc_type" -- coupled.yaml $fluid_block jacobi --set coupling.solver=schur
ok "options of a pressure that is not solved for alone" bad "-pressure_pc_type has no effect" "-coupled_" -- coupled.yaml -pressure_pc_type gamg
printf 'petsc:\n  pressure_ksp_rtol: 1.0e-9\n' | cat coupled.yaml - > alone.yaml
ok "with their place" bad "alone.yaml:$(grep -n pressure_ksp alone.yaml | cut -d: -f1):3: error:" "no effect" -- alone.yaml
# Values of all solvers are looked at, also those of inner ones that are made later, and of scenes without.
wrong=(-pressure_pc_type gmg -pressure_sub_pc_type lux -coupled_schur_ksp_type none_such -a_ksp_rtol abc -b_ksp_view nonsense)
RANKS=2 ok "values that PETSc does not understand" bad -pressure_... "PC type gmg" -pressure_sub_... lux -coupled_schur_... none_such \
  -a_... abc -b_... nonsense -- good.yaml "${wrong[@]}"
ok "one of the scene" bad "--set petsc.pressure_pc_type=nonsense: error:" -- good.yaml --set petsc.pressure_pc_type=nonsense
PETSC_OPTIONS="-pressure_pc_type gmg" ok "one of the environment" bad "PC type gmg" environment -- good.yaml
ok "a table for nobody" bad "-log_view cannot write /nowhere/table" -- good.yaml -log_view :/nowhere/table:ascii_info_detail
ok "a table of no kind" bad "-log_view must be" nonsense -- good.yaml -log_view nonsense
unfit() { # RANKS TYPE
  refused 2 "a solver cannot work with its PETSc options" -- millrace "$1" run good.yaml -o unfit -pressure_pc_type "$2" &&
    ! grep "PETSC ERROR" said && [ -z "$(ls unfit)" ]
}
ok "a preconditioner that does not fit the matrix" unfit 1 bddc
ok "one that works on one rank only" unfit 2 ilu
ok "good values are left alone" millrace 1 run good.yaml -o values -pressure_pc_type jacobi -pressure_ksp_rtol 1e-9
{ cat good.yaml && echo petsc: && seq -f '  pressure_a%g: 1' 45000; } > many.yaml
ok "more options than anybody needs" bad "many.yaml:1011:" "more than 1000 keys" -- many.yaml

# Options that write files or run programs: only if the command line says so, not a scene that somebody sent.
reaching=(a_ksp_view=ascii:FILE b_ksp_view=:FILE c_ksp_view=binary d_ksp_view=xhdf5 e_ksp_view=FILE f_ksp_view_solution=binary:FILE
  a_ksp_monitor=ascii:FILE b_ksp_monitor=draw a_ksp_converged_reason=:FILE a_mat_view=:FILE a_pc_python_type=os.FILE
  g_ksp_view=ascii:FILE:ascii_info:append a_any_name=/FILE log_view=:FILE history=FILE info=:FILE memory_view=:FILE
  options_view=:FILE malloc_dump=FILE log_trace=FILE)
{ cat good.yaml && echo petsc: && printf '  %s\n' "${reaching[@]/=/: }"; } > reaching.yaml
all_refused() { bad "command line" -- reaching.yaml && [ "$(grep -c '^reaching.yaml:.*command line' said)" = ${#reaching[@]} ] || { cat said && return 1; }; }
ok "all ${#reaching[@]} of them are refused, each at its place" all_refused
ok "check refuses them too" refused 2 --allow-files -- millrace 1 check good.yaml --set petsc.pressure_ksp_view=:FILE
RANKS=2 ok "several ranks do" bad --allow-files -- good.yaml --set petsc.pressure_ksp_view=:FILE
ok "nothing is written" [ ! -e FILE ]
ok "what the screen shows is no file" refused 0 "PC Object" -- millrace 1 run good.yaml -o screen --set petsc.pressure_ksp_view=ascii::ascii_info
allowed() { millrace 1 run good.yaml -o "$1" "${@:2}" && [ -s FILE ] && rm FILE; }
ok "--allow-files allows them" allowed allowed --set petsc.pressure_ksp_view=:FILE --allow-files
ok "the scene of a checkpoint is no better than others" refused 2 allowed/checkpoints/ --allow-files -- \
  millrace 1 run --restart allowed/checkpoints/checkpoint-00000002.h5 --set run.step_limit=3
ok "which nothing has changed" [ "$(rows allowed)" = 3 ]
ok "the command line needs no permission" allowed plain -pressure_ksp_view :FILE
ok "and wins over a scene that has none" allowed wins --set petsc.pressure_ksp_view=:other -pressure_ksp_view :FILE
ok "which is not even opened" [ ! -e other ]

# Deformable solids.
cat > soft.yaml << 'END'
run: {end_time: 0.05, time_step: 0.001, frame_interval: 0.05}
solids:
  materials:
    - {name: rubber, young: 1e4, poisson: 0.3, density: 1000, damping: 0.001}
  meshes:
    - {name: lump, shape: {box: {low: [0, 0, 0.01], high: [0.2, 0.2, 0.21]}}, edge: 0.1, material: rubber, velocity: [0, 0, -10]}
    - {name: other, shape: {box: {low: [0.15, 0, 0.01], high: [0.4, 0.2, 0.21]}}, edge: 0.1, material: rubber, velocity: [0, 0, -10]}
  bindings:
    - {name: seam, type: hard, from: lump, inside: {box: {low: [0.19, -1, -1], high: [1, 1, 1]}}, to: other}
  bodies:
    - {name: floor, type: static, shape: {plane: {point: [0, 0, 0], normal: [0, 0, 1]}}}
END
soft() { bad "$1" "$2" -- soft.yaml --set "$3"; } # WORDS REMEDY OVERRIDE
ok "a material that cannot be squeezed" soft "solids.materials[0].poisson" "between 0 and 0.499" solids.materials.rubber.poisson=0.5
ok "one without stiffness" soft "solids.materials[0].young" "must be positive" solids.materials.rubber.young=0
ok "a mesh that no machine holds" soft "soft.yaml:6:7:" "make its edge of 0.0001 m longer" solids.meshes.lump.edge=1e-4
finer_than_memory() { (ulimit -v 4000000 && soft "memory here" "make its edge of 0.0014 m longer" solids.meshes.lump.edge=0.0014); }
ok "a mesh that this process has no memory for" finer_than_memory
ok "a target outside" soft "outside of mesh \"other\"" "make \"inside\" smaller" 'solids.bindings.seam.inside={box: {low: [-1, -1, -1], high: [1, 1, 1]}}'
ok "a mesh that is bound to itself" soft '"seam" binds "lump" to itself' "name another" solids.bindings.seam.to=lump
sed 's/^  bindings:/&\n    - {name: back, type: hard, from: other, inside: {box: {low: [0.1, -1, -1], high: [0.17, 1, 1]}}, to: lump}/' soft.yaml > circle.yaml
ok "meshes that are bound in a circle" bad "circle.yaml:9:7:" "make one of them soft" -- circle.yaml
ok "a cut that leaves nothing" soft "soft.yaml:6:7:" "change which side" 'solids.meshes.lump.cuts=[{point: [-0.1, 0, 0], normal: [1, 0, 0], keep: back}]'
ok "a joint of a body that is not there" soft 'no body is called "shin"' "solids.joints[0].child" 'solids.joints=[{name: knee, type: hinge, child: shin, anchor: [0, 0, 0], target: "t"}]'
# shellcheck disable=SC2016 # words of Gmsh
printf '%s\n' '$MeshFormat' '2.2 0 8' '$EndMeshFormat' '$Nodes' 4 '1 0 0 0' '2 1 0 0' '3 0 1 0' '4 0 0 -1' '$EndNodes' \
  '$Elements' 1 '1 4 2 0 1 1 2 3 4' '$EndElements' > inverted.msh
printf 'run: {end_time: 1, frame_interval: 1}\nsolids:\n  meshes: [{name: bar, file: inverted.msh, material: rubber}]\n' > inverted.yaml
ok "a file with an element turned inside out" bad "inverted.yaml:3:12:" "(0.25, 0.25, -0.25) is inverted: swap two" -- inverted.yaml
thrown() { refused "$1" "${@:3}" -- millrace 1 run soft.yaml -o "thrown-$2" --set solids.materials.rubber.model="$2" --set solids.bindings=[]; }
ok "elements turned inside out on the way come back" thrown 0 neo-hookean
ok "or the run ends with the name of one" thrown 3 st-venant-kirchhoff 'element 1 of mesh "lump"' "does not survive (neo-hookean"
ok "and a checkpoint of the last good step" ls thrown-st-venant-kirchhoff/checkpoints/checkpoint-00000011.h5

# Numbers that are none.
endless() { bad "$1" "not a finite number at t = $2 s" -- coupled.yaml --set "$3" && [ ! -e out ]; } # what is given over time
pinned() { endless "$1" "$2" "solids.joints=[{name: pin, type: hinge, child: ball, anchor: [0.5, 0.5], $3}]"; }
ok "a force that is none" endless "solids.bodies[0].force[1]" 0 'solids.bodies.0.force=["0", "log(-1-t)"]'
ok "a force that is none where the body begins" endless "solids.bodies[0].force[0]" 0 'solids.bodies.0.force=["1/(x-0.5)", "0"]'
ok "a torque that is none later" endless "solids.bodies[0].torque[2]" 0.53125 'solids.bodies.0.torque=["0", "0", "sqrt(0.5-t)"]'
ok "a motor that is none at the start" pinned "solids.joints[0].motor" 0 'motor: "1/x"'
ok "the target of a joint that is none later" pinned "solids.joints[0].target" 0.5 'target: "log(0.5-t)-log(0.5)"'
ok "the speed of a wall that is none" endless "fluid.sides.y_high.velocity[0]" 0.5 'fluid.sides.y_high={type: wall, velocity: ["1/(t-0.5)", 0]}'
ok "an initial velocity that is no number at a face" bad "fluid.initial.velocity along x" finite -- good.yaml --set 'fluid.initial.velocity=["1/x", 0]'
RANKS=2 ok "on one of two ranks" bad "fluid.initial.velocity along y" -- good.yaml --set 'fluid.initial.velocity=[0, "sqrt(0.9-x)"]'
ok "a scalar that is none" bad '"smoke"' finite -- good.yaml --set 'fluid.scalars=[{name: smoke, initial: "log(x-0.5)"}]'
ok "a shape that is nowhere a number" bad "obstacles[0].shape" "number nowhere" -- good.yaml --set 'obstacles.ball.shape={formula: {value: "sqrt(-1-x^2)"}}'
ok "a step that is too small" bad run.time_step 1e-09 -- good.yaml --set run.time_step=1e-300
ok "a bound of it likewise" bad run.largest_time_step -- good.yaml --set run.largest_time_step=1e-300

RANKS=4 ok "too many ranks for the grid" bad "4 fluid ranks are too many for 4 x 4" -- good.yaml --set grid.resolution=4
RANKS=2 ok "no rank left for the fluid" bad "parallel.solid_ranks" -- good.yaml --set parallel.solid_ranks=2
SLURM_NTASKS=3 ok "another number of ranks than SLURM_NTASKS" bad "SLURM_NTASKS" "3 tasks" -- good.yaml
SLURM_NTASKS=1 ok "the number of SLURM_NTASKS will do" millrace 1 run good.yaml -o slurm

# A closed box.
ok "an inflow without an outlet" bad "cannot leave" -- good.yaml --set 'fluid.sides.x_low={type: inflow, velocity: [1, 0]}'
two=(--set 'fluid.sides.x_low={type: inflow, velocity: ["6*y*(1-y)", 0]}')
ok "an inflow of which half leaves" bad "no side is open" "open" -- good.yaml "${two[@]}" \
  --set 'fluid.sides.x_high={type: inflow, velocity: [0.5, 0]}'
ok "an inflow that begins later" bad "no side is open" "t = " -- good.yaml \
  --set 'fluid.sides.x_low={type: inflow, velocity: [t, 0]}' --set 'fluid.sides.x_high={type: inflow, velocity: [2*t, 0]}'
sed -e 's/^obstacles:/solids: {bodies:/' -e '$s/$/]}/' -e 's/^  - /  [/' -e 's/\[0.5, 0.5\]/[0.1, 0.5]/' good.yaml > inlet.yaml
ok "a body in an inflow side" bad 'the body "ball" covers a part of the inflow side x_low' "make it static" -- inlet.yaml \
  --set fluid.sides.x_low.type=inflow --set fluid.sides.x_low.velocity='[1, 0]' --set fluid.sides.x_high.type=open
ok "a source on the floor of a closed box" bad "no side is open" -- good.yaml \
  --set 'inflows=[{name: vent, shape: {box: {low: [0.4, -1], high: [0.6, 0.2]}}, velocity: [0, 1]}]'
ok "a source within a closed box is a stirrer" millrace 1 run good.yaml -o stirrer \
  --set 'inflows=[{name: fan, shape: {box: {low: [0.1, 0.1], high: [0.2, 0.2]}}, velocity: [0, 1]}]'
ok "as much out as in will do" millrace 1 run good.yaml -o through "${two[@]}" \
  --set 'fluid.sides.x_high={type: inflow, velocity: [1, 0]}'

ok "a side through which as much leaves as enters will do" millrace 1 run good.yaml -o exchange \
  --set 'fluid.sides.x_low={type: inflow, velocity: ["sin(2*pi*y)", 0]}'

# The directory.
long=$(printf '%05000d' 0)
ok "a path that is too long" refused 2 "path" -- millrace 1 run good.yaml -o "$long"
ok "that of a scene likewise" bad "path" -- "$long"
ok "nor is there such a checkpoint" refused 2 "path" -- millrace 1 run --restart "$long" -o out
ok "nor such a file" refused 2 "path" -- millrace 1 info "$long"
touch file
ok "a directory below a file" refused 2 file -- millrace 1 run good.yaml -o file/out
ok "a file for a directory" refused 2 "not a directory" -- millrace 1 run good.yaml -o file
ok "a directory that cannot be made" refused 2 "cannot be made" -- millrace 1 run good.yaml -o /proc/millrace/out
millrace 1 run good.yaml -o held > log 2>&1
cp -r held copy
ok "a directory that holds results" refused 2 "held holds the results" -- millrace 1 run good.yaml -o held
ok "is left alone" diff -r held copy
ok "unless told otherwise" millrace 1 run good.yaml -o held --overwrite

# Two runs that start in the same directory at the same moment: one of them works there.
for n in 1 2; do
  { millrace 1 run good.yaml -o race --set run.step_limit=20 --set run.time_step=0.01 > race-$n.log 2>&1; echo $? > race-$n.code; } &
done
wait
ok "of two runs at once one is refused" [ "$(cat race-?.code | sort | tr '\n' ' ')" = "0 2 " ]
ok "the other is whole" [ "$(rows race)" = 21 ]

endless=(--set run.end_time=1000 --set run.step_limit=0 --set run.checkpoint_interval=1e-9)
millrace 1 run good.yaml -o busy "${endless[@]}" > log 2>&1 &
wait_for_rows busy 4
for how in "" --overwrite "--restart latest"; do
  ok "a directory in which a run works${how:+, with $how}" refused 2 "busy is in use" -- millrace 1 run good.yaml -o busy $how
done
kill -TERM "$(process_of busy)"
wait $!
ok "that run is not disturbed" [ $? = 85 ]
ok "and goes on later" millrace 1 run good.yaml -o busy --restart latest --set run.step_limit=$(($(rows busy) + 2))
plan

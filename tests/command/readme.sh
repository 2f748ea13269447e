#!/usr/bin/env bash
# The command lines of README.md do what they say: each is run as it stands there, on small grids and for a few steps.
# TAP.
. "$MILLRACE_SOURCE/tests/restart/support.sh"
readme=$MILLRACE_SOURCE/README.md

# block TITLE: the command lines of the section, without their remarks.
block() { sed -n "/^## $1/,/^## /s/^    //p" "$readme" | sed 's/ *#.*//'; }

# Everything has its name of README; `build/millrace` and `mpiexec` make the runs small, `sbatch` only looks.
mkdir build bin
ln -s "$MILLRACE_SOURCE"/{inputs,postproc,jobs,python,examples} .
cat > build/millrace << 'END'
#!/usr/bin/env bash
small=()
case "$*" in
*restart*) ;;
"run "*smoke-plume*) small=(--set grid.resolution=8 --set run.end_time=0.2 --set run.wall_limit=0.001) ;;
"run "*rising-bubble*) small=(--set grid.resolution=16 --set run.step_limit=2) ;;
"run "*fountain*) small=(--set grid.resolution=16 --set run.step_limit=1) ;;
"run "*) small=(--set run.step_limit=2) ;;
esac
exec "$MILLRACE_BUILD/millrace" "$@" "${small[@]}"
END
cat > bin/mpiexec << 'END'
#!/usr/bin/env bash
exec $README_MPIEXEC $MPIEXEC_FLAGS "$@"
END
cat > bin/sbatch << 'END'
#!/usr/bin/env bash
[ "$1 $3" = "-n -t" ] && bash -n "$5" && [ -e "$6" ] && [ $# = 7 ]
END
cat > bin/python3 << END
#!/usr/bin/env bash
exec $(command -v "$python") "\$@"
END
chmod +x build/millrace bin/*
README_MPIEXEC=$(command -v "$MPIEXEC")
export README_MPIEXEC
PATH=$work/bin:$PATH
export MPLCONFIGDIR=$work

# does CODE WORD... -- LINE: what README's line does.
does() { refused "${@:1:$#-1}" timeout -k 5 120 bash -c "${@: -1}"; }
has_modules() { "$python" -c 'import h5py, matplotlib' 2> /dev/null; }

mapfile -t lines < <(block Running)
for line in "${lines[@]}"; do
  case $line in
  *wall_limit=20*) ok "$line" does 85 "stopped at t = " "(run.wall_limit)" "run -o plume --restart latest" -- "$line" ;;
  *restart*) ok "$line" does 0 "done: results in plume (3 frames" -- "$line" ;;
  *" check "*) ok "$line" does 0 "memory" "steps to t" -- "$line" ;;
  *" info plume") if has_modules; then ok "$line" does 0 "progress" "state        done" -- "$line"; else skip "$line" "no h5py"; fi ;;
  *" info "*) ok "$line" does 0 velocity scene -- "$line" ;;
  *" keys "*) ok "$line" does 0 grid.resolution -- "$line" ;;
  *" run "*) ok "$line" does 0 "done with run.step_limit" -- "$line" ;;
  *render*) if command -v pvbatch > /dev/null; then ok "$line" does 0 -- "$line" && ok "a picture by ParaView" [ -s plume.png ]; else skip "$line" "no ParaView"; fi ;;
  postproc* | *python3*) if has_modules; then ok "$line" does 0 -- "$line"; else skip "$line" "no matplotlib or h5py"; fi ;;
  *) ok "$line" does 0 -- "$line" ;;
  esac
done
ok "each has been tried" [ "${#lines[@]}" -ge 13 ]
ok "pictures have been made" eval '! has_modules || [ -s pile.png -a -s energy.png ]'
sets_resolution() { tail -n 2 fine/ledger.csv | grep -q . && "$MILLRACE_BUILD/millrace" info fine/checkpoints/*.h5 | grep -q "128"; }
ok "--set has been heeded" sets_resolution

# Without building anew: the names of what README builds, configures and makes.
mapfile -t lines < <(block Installing)
ok "the plain way" [ "${lines[*]}" = "autoreconf -fi mkdir build && cd build ../configure PETSC_DIR=... PETSC_ARCH=... --prefix=\$HOME/millrace make make check make install" ]
configure=$MILLRACE_SOURCE/configure
if [ -x "$configure" ]; then
  "$configure" --help > help
  ok "configure knows what README names" says help PETSC_DIR PETSC_ARCH MPIEXEC MPIEXEC_FLAGS --enable-native --enable-sanitizers
else
  skip "configure knows what README names" "there is no configure"
fi
targets() {
  local target
  for target in all check install check-validation bench; do
    grep -q "^$target:" "$MILLRACE_BUILD/Makefile" || { echo "no target $target" && return 1; }
  done
}
ok "make knows its targets" targets
ok "the program is where README has it" [ -x "$MILLRACE_BUILD/millrace" ]
for command in demo check build; do
  ok "bootstrap knows $command" grep -q "^$command)" "$MILLRACE_SOURCE/bootstrap"
done
plan

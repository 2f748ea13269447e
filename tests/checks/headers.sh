#!/usr/bin/env bash
# Public headers are contracts: each compiles alone, includes what it uses, names its parameters, and says who calls. TAP.
. "$MILLRACE_SOURCE/tests/support/tap.sh"

include=$MILLRACE_SOURCE/include
# clang objects to the libraries that mpicc names
warnings="-Wall -Wextra -Wshadow -Werror -fsyntax-only -Wno-unused-command-line-argument"
# names that belong to the programs that include us
poison="#pragma GCC poison X Y Z DIM KERNEL VECTOR_CLONES GrowList AppendItem"

# PETSc and MPI come first: they use such names themselves.
compile() { # LANGUAGE COMPILER HEADER
  printf '#include <petscksp.h>\n#include <petscdmda.h>\n%s\n#include <millrace/%s>\n' "$poison" "$3" |
    $2 $warnings $HEADER_CPPFLAGS -I"$include" -I"$MILLRACE_BUILD/include" -x "$1" -
}
alone() { # HEADER: without the others before it
  echo "#include <millrace/$1>" | $CC $warnings -Wstrict-prototypes $HEADER_CPPFLAGS -I"$include" -I"$MILLRACE_BUILD/include" -x c -
}

for header in "$include"/millrace/*.h; do
  ok "${header##*/} compiles alone" alone "${header##*/}"
done
ok "no header uses a name that it does not own" compile c "$CC" millrace.h
if echo '#include <cstddef>' | $CC -fsyntax-only -x c++ - 2> /dev/null; then # mpicxx may be that of another MPI
  ok "all headers compile as C++" compile c++ "$CC" millrace.h
else
  skip "all headers compile as C++" "there is no C++ compiler beside $CC"
fi
judge() { python3 "$MILLRACE_SOURCE/tests/checks/headers.py" "$1" "$include/millrace"; }
ok "a header includes the headers of the types that it uses" judge includes
ok "millrace.h includes all of them" judge umbrella
ok "every parameter has a name" judge parameters
ok "every function that can fail says who calls it together" judge collective
ok "a function that is not collective passes no messages" python3 "$MILLRACE_SOURCE/tests/checks/headers.py" quiet "$include/millrace" "$MILLRACE_SOURCE/src"

# The judge itself: each rule is broken once.
planted=$(mktemp -d)
trap 'rm -rf "$planted"' EXIT
cp "$include"/millrace/*.h "$planted"
printf '#include <millrace/api.h>\nPetscErrorCode PlantedNothing(Vector3 point, Formula);\n' > "$planted/planted.h"
catches() { # RULE TEXT
  python3 "$MILLRACE_SOURCE/tests/checks/headers.py" "$1" "$planted" > "$planted/said" && { echo "nothing was found"; return 1; }
  grep -q "$2" "$planted/said" || { cat "$planted/said"; return 1; }
}
ok "a missing include is seen" catches includes "planted.h uses Vector3 and does not include base.h"
ok "a header missing from millrace.h is seen" catches umbrella "does not include planted.h"
ok "a parameter without a name is seen" catches parameters "PlantedNothing(Formula)"
ok "a function without a contract is seen" catches collective "PlantedNothing: collective"
quiet() { python3 "$MILLRACE_SOURCE/tests/checks/headers.py" quiet "$planted" "$planted/src"; }
mkdir "$planted/src"
printf '/* Not collective. */\nPetscErrorCode PlantedTalk(int n);\n' > "$planted/planted.h"
printf 'static PetscErrorCode Tell(int n)\n{\n  MPI_Bcast(&n, 1, MPI_INT, 0, comm);\n}\nPetscErrorCode PlantedTalk(int n)\n{\n  Tell(n);\n}\n' > "$planted/src/planted.c"
ok "a function that passes messages and does not say so is seen" eval 'quiet | grep -q "PlantedTalk > Tell"'
plan

#!/usr/bin/env bash
# What others build and load Millrace by says the same as the tree: Spack recipe, Apptainer definition, module file, CI. TAP.
. "$MILLRACE_SOURCE/tests/support/tap.sh"
cd "$MILLRACE_SOURCE" || exit 1
version=$(sed -n 's/^AC_INIT(\[millrace\], \[\(.*\)\])/\1/p' configure.ac)

recipe() { # what the recipe says when Spack is not there
  python3 - "$version" << 'END'
import ast, sys
tree = ast.parse(open("packaging/spack/packages/millrace/package.py", encoding="utf-8").read())
calls = [node.value for cls in tree.body if isinstance(cls, ast.ClassDef) for node in cls.body
         if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
said = {name: [call.args[0].value for call in calls if call.func.id == name] for name in ("version", "depends_on")}
needed = {"mpi", "petsc", "hdf5", "libfyaml", "autoconf", "automake", "pkgconfig", "cmocka", "py-h5py", "py-numpy"}
import re
names = {re.match(r"[\w-]+", spec).group() for spec in said["depends_on"]}
assert said["version"] == [sys.argv[1]], said["version"]
assert needed <= names, needed - names
END
}
ok "the Spack recipe has the version and what configure needs" recipe
arguments() { # what the recipe gives to configure, with a stand-in for Spack's interface: before 1.0, and since
  [ ! -x configure ] || ./configure --help > "$help" || return 1
  python3 - "$1" "$help" "$version" << 'END'
import os, re, sys, types

class Package:
    def enable_or_disable(self, name):
        return [f"--enable-{name}" if f"+{name}" in self.spec else f"--disable-{name}"]

class Spec(dict):
    def __contains__(self, word):
        return word in ("+python", "+native") or dict.__contains__(self, word)

said = []
api = {name: lambda *a, name=name, **k: said.append(name) for name in ("license", "version", "variant", "depends_on")}
spack, package = types.ModuleType("spack"), types.ModuleType("spack.package")
package.__dict__.update(api)
sys.modules.update({"spack": spack, "spack.package": package})
if sys.argv[1] == "old":
    package.AutotoolsPackage = Package
else:
    for name in ("spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems", "spack_repo.builtin.build_systems.autotools"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules["spack_repo.builtin.build_systems.autotools"].AutotoolsPackage = Package
scope = {}
exec(open("packaging/spack/packages/millrace/package.py", encoding="utf-8").read(), scope)
recipe = scope["Millrace"]()
place = types.SimpleNamespace(prefix="/opt/petsc", mpicc="/opt/mpi/bin/mpicc", command=types.SimpleNamespace(path="/opt/python"))
recipe.spec = Spec(mpi=place, petsc=place, python=place)
given = recipe.configure_args()
assert given == ["CC=/opt/mpi/bin/mpicc", "PETSC_DIR=/opt/petsc", "--enable-native", "PYTHON=/opt/python"], given
assert recipe.url.endswith(f"/millrace-{sys.argv[3]}.tar.xz") and {"license", "version", "variant", "depends_on"} == set(said)
if os.path.exists(sys.argv[2]):
    known = open(sys.argv[2], encoding="utf-8").read()
    for word in given:
        assert re.search(rf"^ +{re.escape(word.split('=')[0])}\b", known, re.M), word
END
}
help=$(mktemp -u)
ok "it gives configure what that knows" arguments old
ok "also with the interface of Spack 1.0" arguments new
rm -f "$help"
least() { # configure's least versions are the recipe's
  local petsc fyaml recipe=packaging/spack/packages/millrace/package.py
  petsc=$(sed -n 's/^MILLRACE_CHECK_PETSC(\[\(.*\)\])/\1/p' configure.ac)
  fyaml=$(sed -n 's/.*\[libfyaml >= \(.*\)\])/\1/p' configure.ac)
  grep -q "petsc@$petsc:" $recipe && grep -q "libfyaml@$fyaml:" $recipe
}
ok "and its least versions" least
image() { for word in Bootstrap: %files %post %runscript %test './bootstrap deps' './bootstrap build'; do grep -qF -- "$word" packaging/apptainer.def || echo "$word"; done; }
ok "the Apptainer definition builds with bootstrap" silent image
scripts() { sed -n '/^%post/,/^%environment/p' packaging/apptainer.def | sed '1d;$d' | bash -n; }
ok "in shell that is well formed" scripts
commands() { for command in deps build check; do grep -q "^$command)" bootstrap || echo "bootstrap has no $command"; done; }
ok "with commands that bootstrap has" silent commands
sections() { grep -oE '^%[a-z]+' packaging/apptainer.def | grep -vxE '%(pre|setup|files|app[a-z]+|post|test|environment|startscript|runscript|labels|help|arguments)'; }
ok "and sections that Apptainer has" eval '! sections'
if command -v shellcheck > /dev/null; then
  checked() {
    shellcheck -S error -s bash jobs/*.sbatch jobs/chain bootstrap tests/portability/try.sh &&
      sed -n '/^%post/,/^%environment/p' packaging/apptainer.def | sed '1d;$d' | shellcheck -S error -s sh -
  }
  ok "shellcheck finds no error in what others run" checked
else
  skip "shellcheck finds no error in what others run" "there is no shellcheck"
fi
module=$MILLRACE_BUILD/jobs/modulefile
ok "the module file is that of the prefix" eval 'grep -qx "set prefix $(sed -n "s/^prefix = //p" "$MILLRACE_BUILD/Makefile")" "$module" && grep -q "MODULEPATH/millrace/$version" "$module"'
if command -v tclsh > /dev/null; then
  loads() {
    { printf '%s\n' 'proc module-whatis {args} {}' 'proc conflict {args} {}' 'proc prepend-path {name path} {puts "$name $path"}' \
      'proc setenv {name value} {puts "$name $value"}' && cat "$module"; } | tclsh | grep -q '^PATH .*/bin$'
  }
  ok "and Tcl" loads
else
  skip "and Tcl" "there is no tclsh"
fi
jobs() {
  python3 -c 'import yaml' 2> /dev/null || { echo "PyYAML is missing"; return 0; }
  python3 - << 'END'
import yaml
flow = yaml.safe_load(open(".github/workflows/check.yml", encoding="utf-8"))
for job in flow["jobs"].values():
    assert any(step.get("run") == "./bootstrap check" for step in job["steps"]), job
END
}
ok "the CI file runs bootstrap check" jobs
ok "the portability script is well formed" bash -n tests/portability/try.sh
ok "and refuses what it does not know" exits 2 bash tests/portability/try.sh windows
# Its steps, with a make and an autoreconf that only say what they were asked.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '#!/bin/sh\necho "make $*" >> "%s/log"\nexit ${FAKE:-0}\n' "$work" > "$work/make"
printf '#!/bin/sh\nprintf "#!/bin/sh\\necho \\"configure \\$OMPI_CC\\" >> %s/log\\n" > configure\nchmod +x configure\n' "$work" > "$work/autoreconf"
printf '#!/bin/sh\n' > "$work/clang"
chmod +x "$work"/*
steps() { PATH=$work:$PATH TESTS=tests/unit/test_grid.2.np bash tests/portability/try.sh clang && grep -qx "configure clang" "$work/log" && grep -q "make .*check TESTS=tests/unit/test_grid.2.np check_PROGRAMS=tests/unit/test_grid" "$work/log"; }
if [ "$(git rev-parse --show-toplevel 2> /dev/null)" -ef . ]; then # not a copy within one
  ok "it configures, builds and tests" steps
  ok "and tells a failure" eval '! FAKE=2 PATH=$work:$PATH bash tests/portability/try.sh clang'
else
  skip "it configures, builds and tests" "this is no git checkout"
fi
plan

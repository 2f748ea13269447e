# Spack recipe, for a checkout of the source (it is in no public repository of packages):
#
#   spack repo add packaging/spack
#   spack dev-build millrace@0.1          # in the source tree; or: spack develop --path . millrace@0.1 in an environment
#   make dist && spack install --no-checksum millrace          # from the archive in the present directory
import os

from spack.package import *

try:  # from Spack 1.0 on it is not in spack.package
    from spack_repo.builtin.build_systems.autotools import AutotoolsPackage
except ImportError:
    pass


class Millrace(AutotoolsPackage):
    """Solids and fluids that act on each other, on clusters: rigid bodies, thin shells and any number of liquids and gases."""

    manual_download = True
    url = f"file://{os.getcwd()}/millrace-0.1.tar.xz"

    license("BSD-3-Clause")

    version("0.1")

    variant("native", default=False, description="-O3 -march=native")
    variant("python", default=True, description="the package `millrace`, pictures and the commands that read runs")

    depends_on("c", type="build")
    depends_on("autoconf", type="build")
    depends_on("automake@1.16:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi")
    depends_on("petsc@3.18:+mpi~complex+double")
    depends_on("hdf5@1.10:+mpi")
    depends_on("libfyaml@0.7:")
    depends_on("cmocka@1.1:", type=("build", "test"))
    depends_on("python@3.9:", type=("build", "run"), when="+python")
    depends_on("py-numpy", type=("build", "run"), when="+python")
    depends_on("py-h5py", type=("build", "run"), when="+python")
    depends_on("py-matplotlib", type="run", when="+python")

    def autoreconf(self, spec, prefix):
        autoreconf("-fi")

    def configure_args(self):
        spec = self.spec
        arguments = [f"CC={spec['mpi'].mpicc}", f"PETSC_DIR={spec['petsc'].prefix}"]
        arguments += self.enable_or_disable("native")
        if "+python" in spec:
            arguments.append(f"PYTHON={spec['python'].command.path}")
        return arguments

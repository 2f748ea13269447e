# Sourced before each test, by `make check` and by scripts that start MPI programs themselves.

# Open MPI refuses to run as root or on more ranks than cores unless told so; other MPIs ignore these.
if [ "$(id -u)" = 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
# It also binds the first rank of every job to the first core, where tests that run side by side would meet.
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_hwloc_base_binding_policy=none
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe PRTE_MCA_hwloc_default_binding_policy=none # Open MPI 5
# All ranks of a test are on this machine: without a search for networks a program starts in half of the time.
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader
export OMP_NUM_THREADS=1
# hwloc asks every X server for graphics cards, and a process whose server ends meanwhile ends with it.
export HWLOC_COMPONENTS=-gl

# For a build with --enable-sanitizers. Debian's libraries have no frame pointers: without the slow unwinder
# the suppressions do not match.
export ASAN_OPTIONS="detect_leaks=1:fast_unwind_on_malloc=0"
export LSAN_OPTIONS="suppressions=$MILLRACE_SOURCE/tests/support/leaks.supp:print_suppressions=0"
export UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1"

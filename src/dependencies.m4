# Where configure looks for MPI, PETSc, HDF5 and ParMETIS.

# MPI_FLAVOUR: openmpi or mpich, as Debian names the builds of HDF5.
AC_DEFUN([MILLRACE_CHECK_MPI], [
  AC_CHECK_HEADER([mpi.h], [], [AC_MSG_ERROR([mpi.h not found by $CC: give CC=mpicc])])
  MPI_FLAVOUR=unknown
  AC_CHECK_DECL([OPEN_MPI], [MPI_FLAVOUR=openmpi], [], [[#include <mpi.h>]])
  AC_CHECK_DECL([MPICH_VERSION], [MPI_FLAVOUR=mpich], [], [[#include <mpi.h>]])
])

# MILLRACE_CHECK_FLAGS(VARIABLE, FLAGS): VARIABLE becomes those of the FLAGS that the compiler takes.
AC_DEFUN([MILLRACE_CHECK_FLAGS], [
  $1=
  flags_saved_CFLAGS=$CFLAGS
  for flag in $2; do
    AC_MSG_CHECKING([whether $CC takes $flag])
    CFLAGS="$flags_saved_CFLAGS -Werror $flag"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])], [AC_MSG_RESULT([yes]); $1="$$1 $flag"], [AC_MSG_RESULT([no])])
  done
  CFLAGS=$flags_saved_CFLAGS
  AC_SUBST([$1])
])

# PETSc through its pkg-config file, below PETSC_DIR/PETSC_ARCH where that is given. $1: least version.
AC_DEFUN([MILLRACE_CHECK_PETSC], [
  AS_IF([test -n "$PETSC_DIR"],
    [PKG_CONFIG_PATH="$PETSC_DIR/$PETSC_ARCH/lib/pkgconfig:$PKG_CONFIG_PATH"
     export PKG_CONFIG_PATH
     AS_IF([test ! -f "$PETSC_DIR/$PETSC_ARCH/lib/pkgconfig/PETSc.pc" &&
            test ! -f "$PETSC_DIR/$PETSC_ARCH/lib/pkgconfig/petsc.pc"],
       [AC_MSG_ERROR([no PETSc in PETSC_DIR=$PETSC_DIR, PETSC_ARCH=$PETSC_ARCH])])])
  PKG_CHECK_MODULES([PETSC], [PETSc >= $1], [petsc_module=PETSc],
    [PKG_CHECK_MODULES([PETSC], [petsc >= $1], [petsc_module=petsc])])
  AC_SUBST([petsc_module])
  PETSC_VERSION=`$PKG_CONFIG --modversion $petsc_module`
  AS_IF([test -n "$PETSC_DIR"],
    [PETSC_LIBS="$PETSC_LIBS -Wl,-rpath,`$PKG_CONFIG --variable=libdir $petsc_module`"])

  petsc_saved_CPPFLAGS=$CPPFLAGS
  petsc_saved_LIBS=$LIBS
  CPPFLAGS="$CPPFLAGS $PETSC_CFLAGS"
  LIBS="$PETSC_LIBS $LIBS"
  AC_MSG_CHECKING([whether PETSc links with this MPI])
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <petscdmda.h>]], [[return PetscInitialize(0, 0, 0, 0);]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([PETSc was built with another MPI than $CC; see config.log])])
  CPPFLAGS=$petsc_saved_CPPFLAGS
  LIBS=$petsc_saved_LIBS
])

# BLAS_FOUND: the file of the library that the program has BLAS from, through PETSc.
AC_DEFUN([MILLRACE_CHECK_BLAS], [
  AC_MSG_CHECKING([which BLAS is used])
  blas_saved_CPPFLAGS=$CPPFLAGS
  blas_saved_LIBS=$LIBS
  CPPFLAGS="$CPPFLAGS $PETSC_CFLAGS"
  LIBS="$PETSC_LIBS $LIBS"
  BLAS_FOUND=unknown
  AC_RUN_IFELSE([AC_LANG_PROGRAM([[
      #define _GNU_SOURCE
      #include <petscsys.h>
      #include <dlfcn.h>
      #include <stdio.h>
      #include <stdlib.h>]], [[
      Dl_info   where;
      PetscBool begun;
      char     *file;
      FILE     *found = fopen("conftest.blas", "w");

      if (!found || PetscInitialized(&begun) || !dladdr(dlsym(RTLD_DEFAULT, "dgemm_"), &where))
        return 1;
      if (!(file = realpath(where.dli_fname, NULL)))
        return 1;
      fprintf(found, "%s\n", file);
      fclose(found);
      free(file);
    ]])], [BLAS_FOUND=`cat conftest.blas`], [], [BLAS_FOUND="unknown (cross-compiling)"])
  rm -f conftest.blas
  AS_CASE([$BLAS_FOUND],
    [*openblas*], [BLAS_FOUND="OpenBLAS ($BLAS_FOUND)"],
    [*blis*], [BLAS_FOUND="BLIS ($BLAS_FOUND)"],
    [*mkl*], [BLAS_FOUND="MKL ($BLAS_FOUND)"],
    [*/blas/libblas*], [BLAS_FOUND="the reference one, slow ($BLAS_FOUND): install libopenblas0-serial"])
  AC_MSG_RESULT([$BLAS_FOUND])
  CPPFLAGS=$blas_saved_CPPFLAGS
  LIBS=$blas_saved_LIBS
])

# An HDF5 outside Debian's naming: a parallel one that pkg-config or the compiler finds.
AC_DEFUN([MILLRACE_CHECK_PLAIN_HDF5], [
  PKG_CHECK_MODULES([HDF5], [hdf5], [],
    [AC_CHECK_LIB([hdf5], [H5Pset_fapl_mpio], [HDF5_LIBS=-lhdf5],
      [AC_MSG_ERROR([no parallel HDF5: install libhdf5-$MPI_FLAVOUR-dev or load the module])])])
])

# ParMETIS is optional. PT-Scotch imitates part of it, so the check is for a function that only the real one has,
# and the library is linked before PETSc's. One of another MPI (Debian's is of Open MPI) links, and crashes.
AC_DEFUN([MILLRACE_CHECK_PARMETIS], [
  have_parmetis="no (PT-Scotch or slices divide meshes among ranks)"
  AC_ARG_WITH([parmetis], [AS_HELP_STRING([--without-parmetis], [do not link ParMETIS])])
  parmetis_saved_LIBS=$LIBS
  LIBS="-lparmetis -lmetis -lm $LIBS"
  AC_MSG_CHECKING([whether ParMETIS links with this MPI])
  AS_VAR_IF([with_parmetis], [no], [],
    [AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <parmetis.h>]],
        [[int (*volatile called)() = (int (*)())ParMETIS_V3_AdaptiveRepart;
          return MPI_Init(0, 0) || !called;]])],
      [AS_IF([test "$(ldd conftest$EXEEXT 2> /dev/null | grep -cE 'libmpi(ch)?\.so')" -gt 1],
        [have_parmetis="no (there is one of another MPI; PT-Scotch or slices divide meshes among ranks)"],
        [have_parmetis=yes])])])
  AC_MSG_RESULT([$have_parmetis])
  LIBS=$parmetis_saved_LIBS
  AS_VAR_IF([have_parmetis], [yes],
    [PARMETIS_LIBS="-lparmetis -lmetis"
     PARMETIS_CFLAGS=-DMILLRACE_HAVE_PARMETIS])
  AC_SUBST([PARMETIS_LIBS])
  AC_SUBST([PARMETIS_CFLAGS])
])

# Bullet is optional, and so is the C++ compiler that it needs.
AC_DEFUN([MILLRACE_CHECK_BULLET], [
  PKG_CHECK_MODULES([BULLET], [bullet], [have_bullet=yes], [have_bullet=no])
  AS_VAR_IF([have_bullet], [yes],
    [AC_LANG_PUSH([C++])
     bullet_saved_CPPFLAGS=$CPPFLAGS
     bullet_saved_LIBS=$LIBS
     CPPFLAGS="$CPPFLAGS $BULLET_CFLAGS"
     LIBS="$BULLET_LIBS $LIBS"
     AC_MSG_CHECKING([whether Bullet links with $CXX])
     AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <btBulletDynamicsCommon.h>]], [[btSphereShape ball(1);]])],
       [], [have_bullet=no])
     AC_MSG_RESULT([$have_bullet])
     CPPFLAGS=$bullet_saved_CPPFLAGS
     LIBS=$bullet_saved_LIBS
     AC_LANG_POP([C++])])
  AM_CONDITIONAL([HAVE_BULLET], [test "$have_bullet" = yes])
])

# Python is optional: the first that has what the package millrace needs, and where below the prefix it looks for packages.
AC_DEFUN([MILLRACE_CHECK_PYTHON], [
  AC_ARG_VAR([PYTHON], [Python with numpy and h5py, for pictures and the commands that read runs])
  AC_ARG_WITH([python-dir], [AS_HELP_STRING([--with-python-dir=DIR], [where import looks for packages; no: nowhere])])
  AC_MSG_CHECKING([for a Python with numpy and h5py])
  AS_VAR_IF([PYTHON], [], [for python in python3 /usr/bin/python3; do
    AS_IF([$python -c 'import numpy, h5py' 2> /dev/null], [PYTHON=$(command -v $python); break])
  done])
  AC_MSG_RESULT([${PYTHON:-no}])
  pythondir=$with_python_dir
  AS_VAR_IF([pythondir], [no], [pythondir=])
  AS_IF([test -n "$PYTHON" && test -z "$with_python_dir"], [pythondir=$($PYTHON -c '
import site, sys
prefix, below = sys.argv[[1]].rstrip("/"), "lib/python%d.%d/" % sys.version_info[[:2]]
known = [[path for path in sys.path + [site.getusersitepackages()] if path.startswith(prefix + "/" + below)
         and path.endswith("-packages")]]
print(known[[0]] if known else prefix + "/" + below + "site-packages")' "$(AS_VAR_IF([prefix], [NONE], [echo $ac_default_prefix], [echo "$prefix"]))")])
  AC_SUBST([pythondir])
])

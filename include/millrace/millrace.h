/* Everything that Millrace offers to C and C++ programs. docs/library.md shows how to use it. */
#ifndef MILLRACE_MILLRACE_H
#define MILLRACE_MILLRACE_H

#include <millrace/version.h>

#include <millrace/base.h>
#include <millrace/dense.h>
#include <millrace/schema.h>
#include <millrace/solid_row.h>
#include <millrace/tensor.h>
#include <millrace/parallel.h>
#include <millrace/partition.h>
#include <millrace/periodic.h>
#include <millrace/sums.h>
#include <millrace/io.h>
#include <millrace/geometry.h>
#include <millrace/motion.h>
#include <millrace/moving_triangles.h>
#include <millrace/lattice.h>
#include <millrace/source.h>
#include <millrace/mesh.h>
#include <millrace/mesh_config.h>
#include <millrace/grid.h>
#include <millrace/grid_box.h>
#include <millrace/mixture.h>
#include <millrace/cell_map.h>
#include <millrace/sampling.h>
#include <millrace/point_run.h>
#include <millrace/trajectory.h>
#include <millrace/poisson.h>
#include <millrace/bounded.h>
#include <millrace/visible_stencil.h>
#include <millrace/visibility_map.h>
#include <millrace/visibility.h>
#include <millrace/particles.h>
#include <millrace/halo.h>
#include <millrace/levelset.h>
#include <millrace/fluid.h>
#include <millrace/fluid_step.h>
#include <millrace/constrained_faces.h>
#include <millrace/solid.h>
#include <millrace/solid_step.h>
#include <millrace/solid_patch.h>
#include <millrace/solid_system.h>
#include <millrace/phase.h>
#include <millrace/elastic.h>
#include <millrace/reaction.h>
#include <millrace/coupling.h>
#include <millrace/splash.h>
#include <millrace/simulation.h>
#include <millrace/scene.h>

#endif

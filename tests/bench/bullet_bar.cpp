/* A bar of tetrahedra under Bullet, for comparison: bullet_bar BAR

   BAR is what bench_deformable writes: on the first line the numbers of points and tetrahedra, shear modulus
   and Lame's other one of stable neo-Hookean elasticity, damping (viscous moduli over elastic ones), time
   step and number of steps; then mass, position and velocity of each point, and four points of each
   tetrahedron. To the output: the median processor time of a step, in seconds, and the kinetic energy at the
   end. Elasticity is explicit and damping implicit on both sides; there is nothing to collide with; all else
   is Bullet's default. */
#include <BulletSoftBody/btDeformableBodySolver.h>
#include <BulletSoftBody/btDeformableMultiBodyConstraintSolver.h>
#include <BulletSoftBody/btDeformableMultiBodyDynamicsWorld.h>
#include <BulletSoftBody/btDeformableNeoHookeanForce.h>
#include <BulletSoftBody/btSoftBodyHelpers.h>
#include <BulletSoftBody/btSoftBodyRigidBodyCollisionConfiguration.h>
#include <btBulletDynamicsCommon.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <vector>

namespace
{

struct Bar {
  int    points, tetrahedra, steps;
  double shear, other, damping, step;
};

struct World {
  btSoftBodyRigidBodyCollisionConfiguration configuration;
  btCollisionDispatcher                     dispatcher{&configuration};
  btDbvtBroadphase                          broadphase;
  btDeformableBodySolver                    bodies;
  btDeformableMultiBodyConstraintSolver     contacts;
  btDeformableMultiBodyDynamicsWorld dynamics{&dispatcher, &broadphase, &contacts, &configuration, &bodies};

  World()
  {
    contacts.setDeformableSolver(&bodies);
    dynamics.setGravity(btVector3(0, 0, 0));
    dynamics.getWorldInfo().m_gravity.setValue(0, 0, 0);
  }
};

std::unique_ptr<btSoftBody> read_body(std::FILE *file, const Bar &bar, btSoftBodyWorldInfo &info)
{
  std::vector<double>    masses(bar.points);
  std::vector<btVector3> places(bar.points), velocities(bar.points);

  for (int p = 0; p < bar.points; p++) {
    double number[7];

    for (double &one : number)
      if (std::fscanf(file, "%lf", &one) != 1)
        return nullptr;
    masses[p] = number[0];
    places[p] = btVector3(number[1], number[2], number[3]);
    velocities[p] = btVector3(number[4], number[5], number[6]);
  }
  auto body = std::make_unique<btSoftBody>(&info, bar.points, places.data(), nullptr);

  for (int t = 0; t < bar.tetrahedra; t++) {
    int corner[4];

    for (int &one : corner)
      if (std::fscanf(file, "%d", &one) != 1)
        return nullptr;
    body->appendTetra(corner[0], corner[1], corner[2], corner[3]);
  }
  btSoftBodyHelpers::generateBoundaryFaces(body.get());
  body->initializeDmInverse();
  body->m_tetraScratches.resize(body->m_tetras.size());
  body->m_tetraScratchesTn.resize(body->m_tetras.size());
  for (int p = 0; p < bar.points; p++) {
    body->setMass(p, masses[p]);
    body->m_nodes[p].m_v = velocities[p];
  }
  body->m_cfg.collisions = 0;
  body->setActivationState(DISABLE_DEACTIVATION);
  return body;
}

double processor_time()
{
  timespec now;

  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}

double median_step(const Bar &bar, World &world)
{
  std::vector<double> times;

  for (int n = 0; n < bar.steps; n++) {
    const double began = processor_time();

    world.dynamics.stepSimulation(bar.step, 0); /* 0: one step, however long */
    times.push_back(processor_time() - began);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

} // namespace

int main(int argc, char **argv)
{
  Bar        bar;
  World      world;
  std::FILE *file = argc == 2 ? std::fopen(argv[1], "r") : nullptr;
  double     energy = 0;

  if (!file || std::fscanf(file, "%d %d %lf %lf %lf %lf %d", &bar.points, &bar.tetrahedra, &bar.shear,
                           &bar.other, &bar.damping, &bar.step, &bar.steps) != 7) {
    std::fprintf(stderr, "use: bullet_bar BAR\n");
    return 2;
  }
  const auto                  body = read_body(file, bar, world.dynamics.getWorldInfo());
  btDeformableNeoHookeanForce force(bar.shear, bar.other, bar.damping);

  std::fclose(file);
  if (!body)
    return 2;
  world.dynamics.addSoftBody(body.get());
  world.dynamics.addForce(body.get(), &force);
  const double seconds = median_step(bar, world);

  for (int p = 0; p < body->m_nodes.size(); p++)
    energy += 0.5 * body->getMass(p) * body->m_nodes[p].m_v.length2();
  std::printf("%.9g %.9g\n", seconds, energy);
  world.dynamics.removeSoftBody(body.get());
  return 0;
}

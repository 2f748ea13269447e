/* Boxes under Bullet, for comparison: bullet_pile BODIES POSES

   BODIES is what bench_pile writes: on the first line gravity along z, friction of a pair, time step, number
   of steps and the first one that counts; then, one body a line, half extents, mass (0: static), position,
   rotation (scalar part first). The poses after every step that counts go to POSES; the median processor time
   of such a step, in seconds, to the output. Bodies may not fall asleep; all else is Bullet's default:
   sequential impulses, 10 iterations. */
#include <btBulletDynamicsCommon.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <deque>
#include <vector>

namespace
{

struct Run {
  double gravity, friction, step;
  int    steps, first;
};

struct World {
  btDefaultCollisionConfiguration     configuration;
  btCollisionDispatcher               dispatcher{&configuration};
  btDbvtBroadphase                    broadphase;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld             dynamics{&dispatcher, &broadphase, &solver, &configuration};
  std::deque<btBoxShape>              shapes;
  std::deque<btRigidBody>             bodies;

  ~World()
  {
    for (btRigidBody &body : bodies)
      dynamics.removeRigidBody(&body);
  }
};

bool read_body(std::FILE *file, const Run &run, World &world)
{
  double half[3], mass, position[3], rotation[4];

  if (std::fscanf(file, "%lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf", &half[0], &half[1], &half[2], &mass,
                  &position[0], &position[1], &position[2], &rotation[0], &rotation[1], &rotation[2],
                  &rotation[3]) != 11)
    return false;
  const btVector3 extents(half[0], half[1], half[2]);
  btVector3       inertia(0, 0, 0);

  /* copies share their shape, as they do on the other side */
  if (world.shapes.empty() || (world.shapes.back().getHalfExtentsWithMargin() - extents).length2() > 1e-12)
    world.shapes.emplace_back(extents);
  if (mass > 0)
    world.shapes.back().calculateLocalInertia(mass, inertia);
  world.bodies.emplace_back(
      btRigidBody::btRigidBodyConstructionInfo(mass, nullptr, &world.shapes.back(), inertia));
  btRigidBody &body = world.bodies.back();

  body.setCenterOfMassTransform(btTransform(btQuaternion(rotation[1], rotation[2], rotation[3], rotation[0]),
                                            btVector3(position[0], position[1], position[2])));
  body.setFriction(std::sqrt(run.friction)); /* Bullet multiplies those of a pair */
  body.setRestitution(0);
  if (mass > 0)
    body.setActivationState(DISABLE_DEACTIVATION);
  world.dynamics.addRigidBody(&body);
  return true;
}

void write_poses(std::FILE *file, const World &world)
{
  for (const btRigidBody &body : world.bodies) {
    const btVector3    at = body.getCenterOfMassPosition();
    const btQuaternion turn = body.getOrientation();

    std::fprintf(file, "%.9g %.9g %.9g %.9g %.9g %.9g %.9g\n", at.x(), at.y(), at.z(), turn.w(), turn.x(),
                 turn.y(), turn.z());
  }
}

double processor_time()
{
  timespec now;

  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}

double median_step(const Run &run, World &world, std::FILE *poses)
{
  std::vector<double> times;

  for (int n = 1; n <= run.steps; n++) {
    const double began = processor_time();

    world.dynamics.stepSimulation(run.step, 0); /* 0: one step, however long */
    if (n < run.first)
      continue;
    times.push_back(processor_time() - began);
    write_poses(poses, world);
  }
  std::sort(times.begin(), times.end());
  return times.empty() ? 0. : times[times.size() / 2];
}

} // namespace

int main(int argc, char **argv)
{
  Run        run;
  World      world;
  std::FILE *bodies = argc == 3 ? std::fopen(argv[1], "r") : nullptr;
  std::FILE *poses = bodies ? std::fopen(argv[2], "w") : nullptr;

  if (!poses || std::fscanf(bodies, "%lf %lf %lf %d %d", &run.gravity, &run.friction, &run.step, &run.steps,
                            &run.first) != 5) {
    std::fprintf(stderr, "use: bullet_pile BODIES POSES\n");
    return 2;
  }
  world.dynamics.setGravity(btVector3(0, 0, run.gravity));
  while (read_body(bodies, run, world)) {
  }
  std::fclose(bodies);
  std::printf("%.9g\n", median_step(run, world, poses));
  return std::fclose(poses) == 0 ? 0 : 1;
}

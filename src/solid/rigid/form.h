/* What a body looks like in its own frame: origin at the centre of mass, axes principal. Shared by copies. On
   ranks outside the solid team only its measures, and the surface of some (shared_forms.c). */
#ifndef MILLRACE_SOLID_FORM_H
#define MILLRACE_SOLID_FORM_H

#include <millrace/geometry.h>

/* Round things first: contact of the first four is analytic. */
typedef enum {
  FORM_SPHERE,   /* radius */
  FORM_CAPSULE,  /* radius; half[Z]: half the distance of the two centres, along z */
  FORM_BOX,      /* half */
  FORM_PLANE,    /* the half-space z < 0; static or kinematic only */
  FORM_CYLINDER, /* radius; half[Z]: half the length along z */
  FORM_CONE,     /* radius of its base at z = base; tip at z = tip */
  FORM_TORUS,    /* radius of the tube, major radius about z */
  FORM_HULL,     /* a convex surface */
  FORM_SURFACE,  /* any other closed surface, by its vertices and a grid of distances */
  FORM_SHELL     /* a surface with a thickness, likewise; the distance is unsigned less half the thickness */
} FormKind;

typedef struct _p_Hull         *Hull;
typedef struct _p_DistanceGrid *DistanceGrid;
typedef struct _p_Samples      *Samples;

typedef struct {
  FormKind     kind;
  PetscReal    radius, major, base, tip, thickness;
  Vector3      half;
  PetscReal    reach; /* of the farthest point from the origin; infinite for a plane */
  PetscReal    size;  /* smallest side of the bounds; thickness of a shell: what penetration is measured by */
  Vector3      low, high; /* bounds in the body's frame */
  PetscReal    volume;    /* of a shell: area times thickness; zero for a plane, as is the inertia */
  Vector3      inertia;   /* principal moments at density one */
  PetscInt     vertex_count, triangle_count; /* of its surface; zero for a plane */
  Surface      surface;   /* in the body's frame, for pictures and as sample points; null for a plane */
  Hull         hull;      /* of a box or a hull */
  DistanceGrid distances; /* of a surface or a shell */
  Samples      samples;   /* null for a plane; contact/narrow/samples.h */
} Form;

/* The form of a shape and where it stands in the world; with a thickness it is a shell. On a mistake of the
   user `*form` is null and `message` says what is wrong, as "its surface is open: ...". */
PetscErrorCode FormCreate(Shape shape, PetscReal thickness, Form **form, RigidTransform *rest, char message[],
                          size_t message_size);
PetscErrorCode FormDestroy(Form **form);

/* Signed distance from a point in the body's frame, and its gradient (unit). */
PetscReal form_distance(const Form *form, Vector3 point, Vector3 *gradient);

#endif

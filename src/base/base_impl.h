/* The stack machine behind formulas. */
#ifndef MILLRACE_BASE_IMPL_H
#define MILLRACE_BASE_IMPL_H

#include <millrace/base.h>

enum { STACK_DEPTH = 64 };

typedef enum {
  OP_VALUE,
  OP_X,
  OP_Y,
  OP_Z,
  OP_T,
  OP_ADD,
  OP_SUBTRACT,
  OP_MULTIPLY,
  OP_DIVIDE,
  OP_POWER,
  OP_SQUARE,
  OP_NEGATE,
  OP_LESS,
  OP_LESS_EQUAL,
  OP_GREATER,
  OP_GREATER_EQUAL,
  OP_EQUAL,
  OP_UNEQUAL,
  OP_SIN,
  OP_COS,
  OP_TAN,
  OP_EXP,
  OP_LOG,
  OP_SQRT,
  OP_ABS,
  OP_FLOOR,
  OP_TANH,
  OP_SINH,
  OP_COSH,
  OP_SIGN,
  OP_STEP,
  OP_ATAN2,
  OP_MIN,
  OP_MAX,
  OP_IF
} Operation;

typedef struct {
  Operation operation;
  PetscReal value; /* of an OP_VALUE */
} Instruction;

PetscInt operation_operands(Operation operation);

/* The value that a program leaves on its stack, which the caller keeps below STACK_DEPTH. */
PetscReal program_run(const Instruction program[], PetscInt length, Vector3 point, PetscReal time);

/* The derivative of that value in time. */
PetscReal program_slope(const Instruction program[], PetscInt length, Vector3 point, PetscReal time);

#endif

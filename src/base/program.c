/* Runs the program of a formula. The stack lies on the C stack, so threads may share a formula. */
#include "base_impl.h"

#include <math.h>

static inline void apply_two(Operation operation, PetscReal *a, PetscReal b)
{
  switch (operation) {
  case OP_ADD:
    *a += b;
    break;
  case OP_SUBTRACT:
    *a -= b;
    break;
  case OP_MULTIPLY:
    *a *= b;
    break;
  case OP_DIVIDE:
    *a /= b;
    break;
  case OP_POWER:
    *a = pow(*a, b);
    break;
  case OP_LESS:
    *a = *a < b;
    break;
  case OP_LESS_EQUAL:
    *a = *a <= b;
    break;
  case OP_GREATER:
    *a = *a > b;
    break;
  case OP_GREATER_EQUAL:
    *a = *a >= b;
    break;
  case OP_EQUAL:
    *a = *a == b;
    break;
  case OP_UNEQUAL:
    *a = *a != b;
    break;
  case OP_ATAN2:
    *a = atan2(*a, b);
    break;
  case OP_MIN:
    *a = b < *a ? b : *a;
    break;
  default: /* OP_MAX */
    *a = b > *a ? b : *a;
    break;
  }
}

static inline PetscReal apply_one(Operation operation, PetscReal a)
{
  switch (operation) {
  case OP_SQUARE:
    return a * a;
  case OP_NEGATE:
    return -a;
  case OP_SIN:
    return sin(a);
  case OP_COS:
    return cos(a);
  case OP_TAN:
    return tan(a);
  case OP_EXP:
    return exp(a);
  case OP_LOG:
    return log(a);
  case OP_SQRT:
    return sqrt(a);
  case OP_ABS:
    return fabs(a);
  case OP_FLOOR:
    return floor(a);
  case OP_TANH:
    return tanh(a);
  case OP_SINH:
    return sinh(a);
  case OP_COSH:
    return cosh(a);
  case OP_SIGN:
    return (a > 0) - (a < 0);
  default: /* OP_STEP */
    return a >= 0;
  }
}

PetscInt operation_operands(Operation operation)
{
  if (operation <= OP_T)
    return 0;
  if (operation == OP_IF)
    return 3;
  if (operation == OP_SQUARE || operation == OP_NEGATE)
    return 1;
  return operation >= OP_SIN && operation <= OP_STEP ? 1 : 2;
}

PetscReal program_run(const Instruction program[], PetscInt length, Vector3 point, PetscReal time)
{
  PetscReal stack[STACK_DEPTH];
  PetscInt  top = -1;

  for (PetscInt i = 0; i < length; i++) {
    const Operation operation = program[i].operation;

    switch (operation) {
    case OP_VALUE:
      stack[++top] = program[i].value;
      break;
    case OP_X:
    case OP_Y:
    case OP_Z:
      stack[++top] = point.at[operation - OP_X];
      break;
    case OP_T:
      stack[++top] = time;
      break;
    case OP_IF:
      top -= 2;
      stack[top] = stack[top] != 0 ? stack[top + 1] : stack[top + 2];
      break;
    default:
      if (operation_operands(operation) == 2) {
        top--;
        apply_two(operation, &stack[top], stack[top + 1]);
      } else
        stack[top] = apply_one(operation, stack[top]);
    }
  }
  return stack[0];
}

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

/* A value and its derivative in time: forward differentiation, rule by rule. */
typedef struct {
  PetscReal value, slope;
} Dual;

static PetscReal slope_of_one(Operation operation, PetscReal a)
{
  switch (operation) {
  case OP_SQUARE:
    return 2. * a;
  case OP_NEGATE:
    return -1.;
  case OP_SIN:
    return cos(a);
  case OP_COS:
    return -sin(a);
  case OP_TAN:
    return 1. + tan(a) * tan(a);
  case OP_EXP:
    return exp(a);
  case OP_LOG:
    return 1. / a;
  case OP_SQRT:
    return 0.5 / sqrt(a);
  case OP_ABS:
    return a < 0. ? -1. : 1.;
  case OP_TANH:
    return 1. - tanh(a) * tanh(a);
  case OP_SINH:
    return cosh(a);
  case OP_COSH:
    return sinh(a);
  default: /* OP_FLOOR, OP_SIGN, OP_STEP */
    return 0.;
  }
}

/* (a^b)' = b a^(b-1) a' + a^b log(a) b', each term where there is one. */
static PetscReal slope_of_power(Dual a, Dual b)
{
  PetscReal slope = 0.;

  if (a.slope != 0. && b.value != 0.)
    slope += b.value * pow(a.value, b.value - 1.) * a.slope;
  if (b.slope != 0.)
    slope += pow(a.value, b.value) * log(a.value) * b.slope;
  return slope;
}

static PetscReal slope_of_two(Operation operation, Dual a, Dual b)
{
  switch (operation) {
  case OP_ADD:
    return a.slope + b.slope;
  case OP_SUBTRACT:
    return a.slope - b.slope;
  case OP_MULTIPLY:
    return a.slope * b.value + a.value * b.slope;
  case OP_DIVIDE:
    return (a.slope - a.value / b.value * b.slope) / b.value;
  case OP_POWER:
    return slope_of_power(a, b);
  case OP_ATAN2:
    return (a.slope * b.value - a.value * b.slope) / (a.value * a.value + b.value * b.value);
  case OP_MIN:
    return b.value < a.value ? b.slope : a.slope;
  case OP_MAX:
    return b.value > a.value ? b.slope : a.slope;
  default: /* comparisons */
    return 0.;
  }
}

static Dual dual_operation(Operation operation, const Dual operands[])
{
  Dual result = operands[0];

  if (operation == OP_IF)
    return operands[0].value != 0 ? operands[1] : operands[2];
  if (operation_operands(operation) == 2) {
    result.slope = slope_of_two(operation, operands[0], operands[1]);
    apply_two(operation, &result.value, operands[1].value);
  } else {
    /* what stands still has no slope, also at the foot of a root */
    result.slope = result.slope == 0. ? 0. : slope_of_one(operation, operands[0].value) * operands[0].slope;
    result.value = apply_one(operation, operands[0].value);
  }
  return result;
}

PetscReal program_slope(const Instruction program[], PetscInt length, Vector3 point, PetscReal time)
{
  Dual     stack[STACK_DEPTH];
  PetscInt top = -1;

  for (PetscInt i = 0; i < length; i++) {
    const Operation operation = program[i].operation;

    if (operation == OP_VALUE)
      stack[++top] = (Dual){program[i].value, 0.};
    else if (operation == OP_T)
      stack[++top] = (Dual){time, 1.};
    else if (operation <= OP_Z)
      stack[++top] = (Dual){point.at[operation - OP_X], 0.};
    else {
      top -= operation_operands(operation) - 1;
      stack[top] = dual_operation(operation, &stack[top]);
    }
  }
  return stack[0].slope;
}

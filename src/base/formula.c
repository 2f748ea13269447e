/* Formulas of space and time.

   A recursive-descent parser turns the text into a program for the stack machine of program.c; constant
   parts are folded while it is written.

     comparison := sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
     sum        := product { ("+" | "-") product }
     product    := unary { ("*" | "/") unary }
     unary      := ("-" | "+") unary | power
     power      := primary [ "^" unary ]
     primary    := number | name | function "(" comparison { "," comparison } ")" | "(" comparison ")" */
#include "base_impl.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { NESTING_LIMIT = 100, NAME_LENGTH = 32 };

struct _p_Formula {
  char        *text;
  Instruction *program;
  PetscInt     length;
  unsigned     variables; /* bit d: direction d; bit DIM: time */
};

typedef struct {
  const char *name;
  Operation   operation;
  PetscInt    arguments; /* of min and max: at least */
} Function;

static const Function    functions[] = {{"sin", OP_SIN, 1},   {"cos", OP_COS, 1},     {"tan", OP_TAN, 1},
                                        {"exp", OP_EXP, 1},   {"log", OP_LOG, 1},     {"sqrt", OP_SQRT, 1},
                                        {"abs", OP_ABS, 1},   {"floor", OP_FLOOR, 1}, {"tanh", OP_TANH, 1},
                                        {"sinh", OP_SINH, 1}, {"cosh", OP_COSH, 1},   {"sign", OP_SIGN, 1},
                                        {"step", OP_STEP, 1}, {"atan2", OP_ATAN2, 2}, {"min", OP_MIN, 2},
                                        {"max", OP_MAX, 2},   {"pow", OP_POWER, 2},   {"if", OP_IF, 3}};
static const char *const words[] = {"sin",  "cos",  "tan",  "exp",  "log",  "sqrt",  "abs", "floor",
                                    "tanh", "sinh", "cosh", "sign", "step", "atan2", "min", "max",
                                    "pow",  "if",   "pi",   "x",    "y",    "z",     "t",   NULL};

typedef struct {
  const char *text;
  const char *at;
  Formula     formula;
  PetscInt    depth; /* of the stack at this point of the program */
  PetscInt    nesting;
  PetscBool   failed;
  char       *message;
  size_t      message_size;
} Parser;

static void parse_comparison(Parser *parser);
static void parse_unary(Parser *parser);

/* Only the first mistake counts: what follows it is guesswork. */
static void fail(Parser *parser, const char *at, const char format[], ...) PETSC_ATTRIBUTE_FORMAT(3, 4);
static void fail(Parser *parser, const char *at, const char format[], ...)
{
  size_t  used;
  va_list arguments;

  if (parser->failed)
    return;
  parser->failed = PETSC_TRUE;
  if (!parser->message || !parser->message_size)
    return;
  snprintf(parser->message, parser->message_size, "column %d: ", (int)(at - parser->text) + 1);
  used = strlen(parser->message);
  va_start(arguments, format);
  vsnprintf(parser->message + used, parser->message_size - used, format, arguments);
  va_end(arguments);
}

/* Appends an instruction, or its result where all operands are known. Every instruction answers to at least
   one character of the text, which bounds the program. */
static void emit(Parser *parser, Operation operation, PetscReal value)
{
  const Formula  formula = parser->formula;
  const PetscInt count = operation_operands(operation);
  const PetscInt first = formula->length - count;
  PetscBool      known = count ? PETSC_TRUE : PETSC_FALSE;

  if (parser->failed)
    return;
  formula->program[formula->length++] = (Instruction){operation, value};
  parser->depth += 1 - count;
  if (parser->depth > STACK_DEPTH - 1)
    fail(parser, parser->at, "the formula is too deep; split it");
  if (operation >= OP_X && operation <= OP_T)
    formula->variables |= 1u << (operation - OP_X);
  for (PetscInt i = first; i < first + count; i++)
    if (formula->program[i].operation != OP_VALUE)
      known = PETSC_FALSE;
  if (known) {
    value = program_run(&formula->program[first], count + 1, vector3(0, 0, 0), 0);
    formula->program[first] = (Instruction){OP_VALUE, value};
    formula->length = first + 1;
  } else if (operation == OP_POWER && formula->program[formula->length - 2].operation == OP_VALUE &&
             formula->program[formula->length - 2].value == 2) {
    formula->program[formula->length - 2].operation = OP_SQUARE;
    formula->length--;
  }
}

static void skip_spaces(Parser *parser)
{
  while (isspace((unsigned char)*parser->at))
    parser->at++;
}

static PetscBool accept(Parser *parser, const char token[])
{
  skip_spaces(parser);
  if (parser->failed || strncmp(parser->at, token, strlen(token)))
    return PETSC_FALSE;
  parser->at += strlen(token);
  return PETSC_TRUE;
}

static void expect_closing(Parser *parser, const char *opening)
{
  if (accept(parser, ")"))
    return;
  if (*parser->at)
    fail(parser, parser->at, "expected \")\" before \"%.12s\"", parser->at);
  else
    fail(parser, parser->at, "the \"(\" of column %d is not closed; add \")\"",
         (int)(opening - parser->text) + 1);
}

/* Digits with at most one point and an exponent; strtod alone would take hexadecimal, inf and nan. */
static const char *number_end(const char *at)
{
  const char *exponent;

  while (isdigit((unsigned char)*at))
    at++;
  if (*at == '.')
    at++;
  while (isdigit((unsigned char)*at))
    at++;
  if (*at != 'e' && *at != 'E')
    return at;
  exponent = at + 1 + (at[1] == '-' || at[1] == '+');
  if (!isdigit((unsigned char)*exponent))
    return at;
  while (isdigit((unsigned char)*exponent))
    exponent++;
  return exponent;
}

static void parse_number(Parser *parser)
{
  const char *const start = parser->at;
  const PetscReal   value = strtod(start, NULL);

  parser->at = number_end(start);
  if (parser->at == start + 1 && *start == '.')
    fail(parser, start, "expected a digit beside \".\"");
  else if (isalpha((unsigned char)*parser->at) || *parser->at == '_' || *parser->at == '.')
    fail(parser, parser->at, "unexpected \"%.12s\" after a number; write products with \"*\"", parser->at);
  else if (!isfinite(value))
    fail(parser, start, "the number is too large");
  emit(parser, OP_VALUE, value);
}

static void parse_call(Parser *parser, const Function *function, const char *start)
{
  const char *opening;
  PetscInt    count = 0;
  PetscBool   any_number = function->operation == OP_MIN || function->operation == OP_MAX;

  skip_spaces(parser);
  opening = parser->at;
  if (!accept(parser, "(")) {
    fail(parser, opening, "%s is a function: write %s(...)", function->name, function->name);
    return;
  }
  do {
    parse_comparison(parser);
    count++;
    if (any_number && count >= 2)
      emit(parser, function->operation, 0);
  } while (accept(parser, ","));
  expect_closing(parser, opening);
  if (count < function->arguments || (!any_number && count > function->arguments))
    fail(parser, start, "%s takes %s%d argument%s, not %d", function->name, any_number ? "at least " : "",
         (int)function->arguments, function->arguments > 1 ? "s" : "", (int)count);
  if (!any_number)
    emit(parser, function->operation, 0);
}

static void parse_name(Parser *parser)
{
  const char *const start = parser->at;
  char              name[NAME_LENGTH];
  size_t            length = 0;
  const char       *near;

  while (isalnum((unsigned char)start[length]) || start[length] == '_')
    length++;
  parser->at += length;
  snprintf(name, sizeof(name), "%.*s", (int)PetscMin(length, sizeof(name) - 1), start);
  if (length == 1 && strchr("xyzt", *name)) {
    emit(parser, *name == 't' ? OP_T : (Operation)(OP_X + (*name - 'x')), 0);
    return;
  }
  if (!strcmp(name, "pi")) {
    emit(parser, OP_VALUE, PETSC_PI);
    return;
  }
  for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
    if (!strcmp(name, functions[i].name)) {
      parse_call(parser, &functions[i], start);
      return;
    }
  near = closest_word(name, words);
  if (near)
    fail(parser, start, "\"%s\" is not known; did you mean \"%s\"?", name, near);
  else
    fail(parser, start, "\"%s\" is not known; there are x, y, z, t, pi and functions such as sin and sqrt",
         name);
}

static void parse_primary(Parser *parser)
{
  const char *opening;

  skip_spaces(parser);
  opening = parser->at;
  if (accept(parser, "(")) {
    parse_comparison(parser);
    expect_closing(parser, opening);
  } else if (isdigit((unsigned char)*parser->at) || *parser->at == '.')
    parse_number(parser);
  else if (isalpha((unsigned char)*parser->at))
    parse_name(parser);
  else if (!*parser->at)
    fail(parser, parser->at, "the formula ends where a value is expected");
  else
    fail(parser, parser->at, "expected a number, a name or \"(\", not \"%.12s\"", parser->at);
}

static void parse_power(Parser *parser)
{
  parse_primary(parser);
  if (accept(parser, "^")) {
    parse_unary(parser);
    emit(parser, OP_POWER, 0);
  }
}

static void parse_unary(Parser *parser)
{
  if (++parser->nesting > NESTING_LIMIT)
    fail(parser, parser->at, "the formula is nested too deeply; split it");
  if (parser->failed)
    return;
  if (accept(parser, "-")) {
    parse_unary(parser);
    emit(parser, OP_NEGATE, 0);
  } else if (accept(parser, "+"))
    parse_unary(parser);
  else
    parse_power(parser);
  parser->nesting--;
}

static void parse_product(Parser *parser)
{
  parse_unary(parser);
  while (!parser->failed) {
    const Operation operation = accept(parser, "*")   ? OP_MULTIPLY
                                : accept(parser, "/") ? OP_DIVIDE
                                                      : OP_VALUE;

    if (operation == OP_VALUE)
      break;
    parse_unary(parser);
    emit(parser, operation, 0);
  }
}

static void parse_sum(Parser *parser)
{
  parse_product(parser);
  while (!parser->failed) {
    const Operation operation = accept(parser, "+") ? OP_ADD : accept(parser, "-") ? OP_SUBTRACT : OP_VALUE;

    if (operation == OP_VALUE)
      break;
    parse_product(parser);
    emit(parser, operation, 0);
  }
}

static void parse_comparison(Parser *parser)
{
  static const struct {
    const char *token;
    Operation   operation;
  } comparisons[] = {{"<=", OP_LESS_EQUAL}, {">=", OP_GREATER_EQUAL}, {"==", OP_EQUAL},
                     {"!=", OP_UNEQUAL},    {"<", OP_LESS},           {">", OP_GREATER}};

  parse_sum(parser);
  for (size_t i = 0; i < sizeof(comparisons) / sizeof(comparisons[0]); i++)
    if (accept(parser, comparisons[i].token)) {
      parse_sum(parser);
      emit(parser, comparisons[i].operation, 0);
      return;
    }
}

PetscErrorCode FormulaCreate(const char text[], Formula *formula, char message[], size_t message_size)
{
  Parser parser = {.text = text, .at = text, .message = message, .message_size = message_size};

  PetscFunctionBegin;
  if (message && message_size)
    *message = '\0';
  PetscCall(PetscNew(formula));
  PetscCall(PetscStrallocpy(text, &(*formula)->text));
  PetscCall(PetscMalloc1(strlen(text) + 1, &(*formula)->program));
  parser.formula = *formula;
  parse_comparison(&parser);
  skip_spaces(&parser);
  if (*parser.at)
    fail(&parser, parser.at, "unexpected \"%.12s\"", parser.at);
  if (!parser.failed && formula_is_constant(*formula) && !isfinite((*formula)->program[0].value))
    fail(&parser, text, "the value is not a finite number");
  if (parser.failed)
    PetscCall(FormulaDestroy(formula));
  PetscFunctionReturn(0);
}

PetscErrorCode FormulaDestroy(Formula *formula)
{
  PetscFunctionBegin;
  if (!*formula)
    PetscFunctionReturn(0);
  PetscCall(PetscFree((*formula)->text));
  PetscCall(PetscFree((*formula)->program));
  PetscCall(PetscFree(*formula));
  PetscFunctionReturn(0);
}

PetscReal formula_value(Formula formula, Vector3 point, PetscReal time)
{
  if (!formula)
    return 0;
  if (formula->length == 1 && formula->program[0].operation == OP_VALUE)
    return formula->program[0].value;
  return program_run(formula->program, formula->length, point, time);
}

PetscReal formula_slope(Formula formula, Vector3 point, PetscReal time)
{
  return formula_uses_time(formula) ? program_slope(formula->program, formula->length, point, time) : 0.;
}

PetscBool formula_word_is_taken(const char word[])
{
  PetscInt n = 0;

  while (words[n] && strcmp(words[n], word))
    n++;
  return words[n] ? PETSC_TRUE : PETSC_FALSE;
}

PetscBool formula_uses_time(Formula formula)
{
  return formula && formula->variables & 1u << DIM ? PETSC_TRUE : PETSC_FALSE;
}

PetscBool formula_uses_direction(Formula formula, PetscInt direction)
{
  return formula && formula->variables & 1u << direction ? PETSC_TRUE : PETSC_FALSE;
}

PetscBool formula_is_constant(Formula formula)
{
  return !formula || (formula->length == 1 && formula->program[0].operation == OP_VALUE) ? PETSC_TRUE
                                                                                         : PETSC_FALSE;
}

const char *formula_text(Formula formula)
{
  return formula ? formula->text : "0";
}

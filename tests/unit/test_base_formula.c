#include "harness.h"

#include <millrace/base.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const Vector3   here = {{0.3, -1.7, 2.5}};
static const PetscReal now = 0.75;

static PetscReal value_of(const char text[])
{
  Formula   formula;
  char      message[256];
  PetscReal value;

  assert_success(FormulaCreate(text, &formula, message, sizeof(message)));
  if (!formula)
    fail_msg("%s: %s", text, message);
  assert_string_equal(formula_text(formula), text);
  value = formula_value(formula, here, now);
  assert_success(FormulaDestroy(&formula));
  assert_null(formula);
  return value;
}

static void arithmetic_binds_as_in_mathematics(void **state)
{
  (void)state;
  assert_near(value_of("1+2*3"), 7, 0);
  assert_near(value_of("2-3-4"), -5, 0);
  assert_near(value_of("8/4/2"), 1, 0);
  assert_near(value_of("2^3^2"), 512, 0);
  assert_near(value_of("-2^2"), -4, 0);
  assert_near(value_of("2^-1"), 0.5, 0);
  assert_near(value_of("(1+2)*3"), 9, 0);
  assert_near(value_of("--3"), 3, 0);
  assert_near(value_of(" 1.5e-3 * +2E2 "), 0.3, 1e-16);
  assert_near(value_of("2*-x"), -0.6, 1e-16);
}

static void variables_are_the_point_and_the_time(void **state)
{
  const PetscReal x = here.at[X], y = here.at[Y], z = here.at[Z];

  (void)state;
  assert_near(value_of("x"), x, 0);
  assert_near(value_of("y"), y, 0);
  assert_near(value_of("z"), z, 0);
  assert_near(value_of("t"), now, 0);
  assert_near(value_of("4*0.3*y*(0.41-y)/0.41^2"), 4 * 0.3 * y * (0.41 - y) / (0.41 * 0.41), 1e-13);
  assert_near(value_of("sin(x)*cos(y)*exp(-2*0.1*t)"), sin(x) * cos(y) * exp(-0.2 * now), 1e-15);
  assert_near(value_of("x^2+y^3-z"), x * x + y * y * y - z, 1e-14);
}

static void functions_are_those_of_c(void **state)
{
  const PetscReal x = here.at[X], y = here.at[Y];

  (void)state;
  assert_near(value_of("tan(x)+log(x)+sqrt(x)"), tan(x) + log(x) + sqrt(x), 1e-15);
  assert_near(value_of("abs(y)+floor(y)"), -0.3, 1e-15);
  assert_near(value_of("tanh(x)+sinh(x)+cosh(x)"), tanh(x) + sinh(x) + cosh(x), 1e-15);
  assert_near(value_of("atan2(x,y)"), atan2(x, y), 0);
  assert_near(value_of("pow(x,3)"), pow(x, 3), 0);
  assert_near(value_of("min(x,y)+10*max(x, y, 5)"), y + 50, 1e-14);
  assert_near(value_of("sign(y)+sign(x)+sign(0)"), 0, 0);
  assert_near(value_of("step(y)+2*step(x)+4*step(0)"), 6, 0);
  assert_near(value_of("cos(pi)"), -1, 0);
}

static void a_condition_chooses_and_hides_the_other_branch(void **state)
{
  (void)state;
  assert_near(value_of("if(x<1, 2, 3)"), 2, 0);
  assert_near(value_of("if(x>=1, 2, 3)"), 3, 0);
  assert_near(value_of("if(y<0, 7, sqrt(y))"), 7, 0);
  assert_near(value_of("(x<=0.3)+(x==0.3)+(x!=0.3)+(x>0.3)"), 2, 0);
}

/* The mistake must be reported at this column and with this word. */
static void refused(const char text[], int column, const char word[])
{
  Formula formula;
  char    message[256];

  assert_success(FormulaCreate(text, &formula, message, sizeof(message)));
  if (formula)
    fail_msg("%s was accepted", text);
  if (strncmp(message, "column ", 7) || atoi(message + 7) != column || !strstr(message, word))
    fail_msg("%s: expected column %d and \"%s\" in: %s", text, column, word, message);
}

static void mistakes_are_found_where_they_are(void **state)
{
  (void)state;
  refused("", 1, "ends");
  refused("1+", 3, "ends");
  refused("1e-3s", 5, "after a number");
  refused("2x", 2, "*");
  refused("2*(x+1", 7, "not closed");
  refused("x)", 2, "unexpected");
  refused("sen(x)", 1, "sin");
  refused("1+foobarbaz", 3, "x, y, z, t, pi");
  refused("sin x", 5, "sin(...)");
  refused("sin(x,y)", 1, "1 argument");
  refused("min(x)", 1, "at least 2");
  refused("if(x,1)", 1, "3 arguments");
  refused("1/0", 1, "finite");
  refused("nan", 1, "not known");
  refused("0x10", 2, "after a number");
  refused("x $ y", 3, "$");
  refused("1e999", 1, "large");
}

static void depth_is_bounded(void **state)
{
  char text[2001];

  (void)state;
  memset(text, '(', sizeof(text) - 1);
  text[sizeof(text) - 1] = '\0';
  refused(text, 101, "deep");
  for (int i = 0; i < 500; i++)
    memcpy(&text[4 * i], "x +(", 4);
  refused(text, 4 * 63 + 2, "deep");
  memset(text, '-', sizeof(text) - 1);
  refused(text, 101, "deep");
}

static void what_a_formula_uses_is_known(void **state)
{
  Formula formula;

  (void)state;
  assert_success(FormulaCreate("x*sin(t)", &formula, NULL, 0));
  assert_true(formula_uses_time(formula));
  assert_true(formula_uses_direction(formula, X));
  assert_false(formula_uses_direction(formula, Z));
  assert_false(formula_is_constant(formula));
  assert_success(FormulaDestroy(&formula));
  assert_success(FormulaCreate("2*sin(pi/2)^2", &formula, NULL, 0));
  assert_false(formula_uses_time(formula));
  assert_true(formula_is_constant(formula));
  assert_success(FormulaDestroy(&formula));
}

static void no_formula_is_zero(void **state)
{
  (void)state;
  assert_near(formula_value(NULL, here, now), 0, 0);
  assert_false(formula_uses_time(NULL));
  assert_true(formula_is_constant(NULL));
  assert_string_equal(formula_text(NULL), "0");
}

/* Every rule of differentiation against its result, written as a formula itself. */
static void slopes_are_derivatives_in_time(void **state)
{
  static const char *const pairs[][2] = {
      {"3*t^2 - x*t + 7", "6*t - x"},
      {"0.05*sin(2*pi*t)", "0.1*pi*cos(2*pi*t)"},
      {"t*exp(-t)*cos(3*t)", "exp(-t)*((1 - t)*cos(3*t) - 3*t*sin(3*t))"},
      {"log(1 + t)/sqrt(t)", "1/((1 + t)*sqrt(t)) - log(1 + t)/(2*t*sqrt(t))"},
      {"t^t", "t^t*(log(t) + 1)"},
      {"pow(2, t)", "pow(2, t)*log(2)"},
      {"tanh(t) + sinh(t) - cosh(2*t)", "1 - tanh(t)^2 + cosh(t) - 2*sinh(2*t)"},
      {"tan(t)", "1 + tan(t)^2"},
      {"atan2(t, 1)", "1/(1 + t^2)"},
      {"atan2(1, t)", "-1/(1 + t^2)"},
      {"abs(1 - t)", "if(t < 1, -1, 1)"},
      {"min(t, 1)", "t < 1"},
      {"max(t^2, 1)", "if(t > 1, 2*t, 0)"},
      {"if(t < 1, t^2, 2*t - 1)", "if(t < 1, 2*t, 2)"},
      {"floor(3*t) + sign(t) + step(t - 1) + (t > 1)", "0"},
      {"sqrt(0*t)", "0"},
      {"x + y*z", "0"}};
  static const PetscReal times[] = {0.2, 0.7, 1.4, 3.1};

  (void)state;
  for (size_t p = 0; p < sizeof(pairs) / sizeof(pairs[0]); p++) {
    Formula formula, slope;

    assert_success(FormulaCreate(pairs[p][0], &formula, NULL, 0));
    assert_success(FormulaCreate(pairs[p][1], &slope, NULL, 0));
    for (size_t n = 0; n < sizeof(times) / sizeof(times[0]); n++) {
      const PetscReal wanted = formula_value(slope, here, times[n]);

      assert_near(formula_slope(formula, here, times[n]), wanted, 1e-13 * (1 + PetscAbsReal(wanted)));
    }
    assert_success(FormulaDestroy(&formula));
    assert_success(FormulaDestroy(&slope));
  }
  assert_near(formula_slope(NULL, here, now), 0, 0);
}

static void words_of_formulas_are_taken(void **state)
{
  (void)state;
  assert_true(formula_word_is_taken("t") && formula_word_is_taken("pi") && formula_word_is_taken("sqrt"));
  assert_false(formula_word_is_taken("radius") || formula_word_is_taken(""));
}

static void the_closest_word_is_found_or_none(void **state)
{
  static const char *const words[] = {"resolution", "origin", "size", "dimension", NULL};

  (void)state;
  assert_string_equal(closest_word("resolutoin", words), "resolution");
  assert_string_equal(closest_word("Size", words), "size");
  assert_string_equal(closest_word("orgin", words), "origin");
  assert_null(closest_word("viscosity", words));
  assert_null(closest_word("", words));
}

TEST_MAIN(cmocka_unit_test(arithmetic_binds_as_in_mathematics),
          cmocka_unit_test(variables_are_the_point_and_the_time), cmocka_unit_test(functions_are_those_of_c),
          cmocka_unit_test(a_condition_chooses_and_hides_the_other_branch),
          cmocka_unit_test(mistakes_are_found_where_they_are), cmocka_unit_test(depth_is_bounded),
          cmocka_unit_test(what_a_formula_uses_is_known), cmocka_unit_test(no_formula_is_zero),
          cmocka_unit_test(slopes_are_derivatives_in_time), cmocka_unit_test(words_of_formulas_are_taken),
          cmocka_unit_test(the_closest_word_is_found_or_none))

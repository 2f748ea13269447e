/* What fluids and bodies are made of, by name: `material: water@20C` gives density and viscosity where the
   scene has none, at the pressure of one atmosphere.

   Water: linear in density and in the logarithm of viscosity between the values of a table, every 10 degrees;
   the densities are those of Kell 1975 to 0.01 kg/m^3, the viscosities those of Patek et al. 2009 to 0.11 %.
   Air (US Standard Atmosphere 1976): the density of an ideal gas of 28.9644 kg/kmol, 352.98 / T kg/m^3, and
   Sutherland's viscosity 1.458e-6 T^1.5 / (T + 110.4) Pa s with T in kelvin. Seawater: of salinity 35, by
   Fofonoff and Millard 1983 and the table of Dorsey 1940. All others have one temperature. */
#include "scene_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  PetscReal density;   /* kg/m^3 */
  PetscReal viscosity; /* Pa s; 0: a solid */
} Properties;

typedef struct {
  const char *name;
  Properties  usual;                         /* without a temperature */
  PetscReal   coldest, warmest, temperature; /* degrees Celsius; the last is that of `usual` */
  Properties (*at)(PetscReal temperature);   /* null: there is only the usual one */
} Substance;

static Properties water_at(PetscReal temperature)
{
  static const Properties table[] = {{999.84, 1.792e-3},  {999.70, 1.306e-3},  {998.21, 1.002e-3},
                                     {995.65, 0.7975e-3}, {992.22, 0.6532e-3}, {988.03, 0.5470e-3},
                                     {983.20, 0.4665e-3}, {977.76, 0.4040e-3}, {971.79, 0.3544e-3},
                                     {965.31, 0.3145e-3}, {958.35, 0.2818e-3}};
  const PetscInt          n = (PetscInt)PetscMin(9., PetscFloorReal(temperature / 10.));
  const PetscReal         f = temperature / 10. - n;

  return (Properties){(1. - f) * table[n].density + f * table[n + 1].density,
                      PetscPowReal(table[n].viscosity, 1. - f) * PetscPowReal(table[n + 1].viscosity, f)};
}

static Properties air_at(PetscReal temperature)
{
  const PetscReal kelvin = temperature + 273.15;

  return (Properties){352.98 / kelvin, 1.458e-6 * PetscPowReal(kelvin, 1.5) / (kelvin + 110.4)};
}

static const Substance substances[] = {{"water", {998.21, 1.002e-3}, 0, 100, 20, water_at},
                                       {"air", {1.2041, 1.8134e-5}, -50, 500, 20, air_at},
                                       {"seawater", {1024.8, 1.084e-3}, 20, 20, 20, NULL},
                                       {"glycerol", {1261, 1.41}, 20, 20, 20, NULL},
                                       {"ethanol", {789, 1.2e-3}, 20, 20, 20, NULL},
                                       {"olive-oil", {911, 0.084}, 20, 20, 20, NULL},
                                       {"mercury", {13546, 1.55e-3}, 20, 20, 20, NULL},
                                       {"ice", {917, 0}, 0, 0, 0, NULL},
                                       {"cork", {240, 0}, 20, 20, 20, NULL},
                                       {"pine", {500, 0}, 20, 20, 20, NULL},
                                       {"oak", {750, 0}, 20, 20, 20, NULL},
                                       {"rubber", {1100, 0}, 20, 20, 20, NULL},
                                       {"acrylic", {1180, 0}, 20, 20, 20, NULL},
                                       {"concrete", {2400, 0}, 20, 20, 20, NULL},
                                       {"glass", {2500, 0}, 20, 20, 20, NULL},
                                       {"aluminium", {2700, 0}, 20, 20, 20, NULL},
                                       {"steel", {7850, 0}, 20, 20, 20, NULL},
                                       {"copper", {8960, 0}, 20, 20, 20, NULL},
                                       {"lead", {11340, 0}, 20, 20, 20, NULL},
                                       {NULL, {0, 0}, 0, 0, 0, NULL}};
enum { SUBSTANCES = sizeof(substances) / sizeof(substances[0]) - 1 };

typedef enum { MADE_FLUID, MADE_SOLID } MadeKind;

static const Substance *substance_called(const char text[], size_t length)
{
  for (const Substance *one = substances; one->name; one++)
    if (strlen(one->name) == length && !strncmp(one->name, text, length))
      return one;
  return NULL;
}

static PetscErrorCode ReportUnknown(Scene scene, const Node *node, size_t length, MadeKind kind)
{
  const char *names[SUBSTANCES + 1] = {NULL}, *near;
  char        word[64], list[MESSAGE_LENGTH] = "";
  PetscInt    count = 0;

  PetscFunctionBegin;
  snprintf(word, sizeof(word), "%.*s", (int)length, node->text);
  for (const Substance *one = substances; one->name; one++)
    if ((one->usual.viscosity > 0.) == (kind == MADE_FLUID)) {
      names[count++] = one->name;
      snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", list[0] ? ", " : "", one->name);
    }
  near = closest_word(word, names);
  PetscCall(ProblemAdd(scene, node, PROBLEM_ERROR, "there is no %s \"%s\"%s%s%s; there are %s",
                       kind == MADE_FLUID ? "fluid" : "solid", word, near ? "; did you mean \"" : "",
                       near ? near : "", near ? "\"?" : "", list));
  PetscFunctionReturn(0);
}

/* Of "water", "water@20C" or "water@20.5"; a problem otherwise. */
static PetscErrorCode FindProperties(Scene scene, Node *node, MadeKind kind, Properties *found,
                                     PetscBool *good)
{
  const size_t     length = strcspn(node->text, "@");
  const Substance *one = substance_called(node->text, length);
  char            *end = NULL;
  PetscReal        temperature;

  PetscFunctionBegin;
  *good = PETSC_FALSE;
  if (!one || (one->usual.viscosity > 0.) != (kind == MADE_FLUID)) {
    PetscCall(ReportUnknown(scene, node, length, kind));
    PetscFunctionReturn(0);
  }
  *found = one->usual;
  *good = PETSC_TRUE;
  if (!node->text[length])
    PetscFunctionReturn(0);
  temperature = strtod(node->text + length + 1, &end);
  if (end == node->text + length + 1 || (end[0] && strcmp(end, "C"))) {
    PetscCall(ProblemAdd(scene, node, PROBLEM_ERROR, "a temperature is degrees Celsius, such as %s@20C",
                         one->name));
    *good = PETSC_FALSE;
  } else if (!(temperature >= one->coldest && temperature <= one->warmest)) {
    PetscCall(
        ProblemAdd(scene, node, PROBLEM_ERROR,
                   "the properties of %s are known from %g to %g degrees Celsius; give density and viscosity",
                   one->name, (double)one->coldest, (double)one->warmest));
    *good = PETSC_FALSE;
  } else if (one->at)
    *found = one->at(temperature);
  PetscFunctionReturn(0);
}

/* A number that the scene does not have, or that came before the material was overridden. */
static PetscErrorCode Give(Node *map, const Node *material, const char key[], PetscReal value)
{
  Node *node = node_find(map, key);
  char  text[32];

  PetscFunctionBegin;
  if (node && node->override >= material->override)
    PetscFunctionReturn(0);
  if (node) {
    node_detach(node);
    PetscCall(NodeDestroy(&node));
  }
  PetscCall(NodeCopy(material, &node));
  PetscCall(NodeSetKey(node, key));
  snprintf(text, sizeof(text), "%.10g", (double)value);
  PetscCall(NodeSetText(node, text, strlen(text)));
  node_append(map, node);
  PetscFunctionReturn(0);
}

static PetscErrorCode ExpandMaterial(Scene scene, Node *map, MadeKind kind)
{
  Node      *material = map && map->kind == NODE_MAP ? node_find(map, "material") : NULL;
  Properties found = {0, 0};
  PetscBool  good;

  PetscFunctionBegin;
  if (!material)
    PetscFunctionReturn(0);
  PetscCall(ExpectKind(scene, material, NODE_VALUE, "a name, such as water@20C", &good));
  if (good)
    PetscCall(FindProperties(scene, material, kind, &found, &good));
  /* a mistake is told once: what it would have given is not missing as well */
  if (!good)
    found = (Properties){1., 1.};
  if (kind == MADE_FLUID || !node_find(map, "mass"))
    PetscCall(Give(map, material, "density", found.density));
  if (kind == MADE_FLUID)
    PetscCall(Give(map, material, "viscosity", found.viscosity));
  node_detach(material);
  PetscCall(NodeDestroy(&material));
  PetscFunctionReturn(0);
}

static PetscErrorCode ExpandList(Scene scene, Node *list, MadeKind kind)
{
  PetscFunctionBegin;
  for (Node *item = list && list->kind == NODE_LIST ? list->first : NULL; item; item = item->next)
    PetscCall(ExpandMaterial(scene, item, kind));
  PetscFunctionReturn(0);
}

/* Told as what was written, not as the density that would come of it. */
static PetscErrorCode RefuseBesideRegions(Scene scene)
{
  Node *material = node_find(node_find(scene->root, "fluid"), "material");

  PetscFunctionBegin;
  if (!material || !node_find(scene->root, "regions"))
    PetscFunctionReturn(0);
  PetscCall(ProblemAddAtKey(scene, material, PROBLEM_ERROR,
                            "fluid.material has no meaning beside regions: give each of them its own"));
  node_detach(material);
  PetscCall(NodeDestroy(&material));
  PetscFunctionReturn(0);
}

PetscErrorCode SceneExpandMaterials(Scene scene)
{
  PetscFunctionBegin;
  PetscCall(RefuseBesideRegions(scene));
  PetscCall(ExpandMaterial(scene, node_find(scene->root, "fluid"), MADE_FLUID));
  PetscCall(ExpandList(scene, node_find(scene->root, "regions"), MADE_FLUID));
  PetscCall(ExpandList(scene, node_find(node_find(scene->root, "solids"), "bodies"), MADE_SOLID));
  PetscFunctionReturn(0);
}

void print_substances(FILE *file)
{
  fputs("## Materials\n\n", file);
  print_paragraph(
      "`material: water@20C` gives a fluid or region its density and viscosity, `material: steel` a "
      "body its density, where the scene gives none; the resolved scene has the numbers. "
      "Temperatures are degrees Celsius, the pressure is one atmosphere; water is known from 0 to "
      "100, air from -50 to 500 degrees. Water follows [Kell 1975](references.md#kell-1975) and "
      "[Pátek et al. 2009](references.md#patek-et-al-2009), air the "
      "[standard atmosphere](references.md#us-standard-atmosphere-1976), seawater, of salinity 35, "
      "[Fofonoff and Millard 1983](references.md#fofonoff-and-millard-1983) and "
      "[Dorsey 1940](references.md#dorsey-1940), glycerol "
      "[Segur and Oberstar 1951](references.md#segur-and-oberstar-1951). The others are usual values of "
      "[handbooks](references.md#crc-handbook); oils, woods, cork, rubber and concrete differ by a tenth or "
      "more from one piece to the next.",
      file);
  fputs("| name | at | density (kg/m^3) | viscosity (Pa s) |\n|---|---|---|---|\n", file);
  for (const Substance *one = substances; one->name; one++) {
    fprintf(file, "| `%s` | %g | %g | ", one->name, (double)one->temperature, (double)one->usual.density);
    if (one->usual.viscosity > 0.)
      fprintf(file, "%g |\n", (double)one->usual.viscosity);
    else
      fputs("|\n", file);
  }
  fputs("\n", file);
}

/* PLY, as text or binary of either byte order: `x y z` of the element vertex, the list vertex_indices (or
   vertex_index) of the element face; all else is passed over. Polygons become fans of triangles. */
#include <string.h>
#include "geometry_impl.h"

enum { MAX_ELEMENTS = 16, MAX_PROPERTIES = 64 };

typedef enum { FORMAT_TEXT, FORMAT_LITTLE_ENDIAN, FORMAT_BIG_ENDIAN } Format;

typedef struct {
  const char *name, *other_name;
  size_t      size;
  enum { NUMBER_SIGNED, NUMBER_UNSIGNED, NUMBER_FLOAT } kind;
} NumberType;

static const NumberType number_types[] = {
    {"char", "int8", 1, NUMBER_SIGNED},    {"uchar", "uint8", 1, NUMBER_UNSIGNED},
    {"short", "int16", 2, NUMBER_SIGNED},  {"ushort", "uint16", 2, NUMBER_UNSIGNED},
    {"int", "int32", 4, NUMBER_SIGNED},    {"uint", "uint32", 4, NUMBER_UNSIGNED},
    {"float", "float32", 4, NUMBER_FLOAT}, {"double", "float64", 8, NUMBER_FLOAT},
};

/* What a property is to us. */
typedef enum { ROLE_X, ROLE_Y, ROLE_Z, ROLE_CORNERS, ROLE_NONE } Role;

typedef struct {
  Role              role;
  const NumberType *type;
  const NumberType *count_type; /* of a list; otherwise null */
} Property;

typedef enum { ELEMENT_VERTEX, ELEMENT_FACE, ELEMENT_OTHER } ElementKind;

typedef struct {
  ElementKind kind;
  PetscInt    count, property_count;
  Property    properties[MAX_PROPERTIES];
} Element;

typedef struct {
  Format   format;
  PetscInt element_count;
  Element  elements[MAX_ELEMENTS];
} Header;

static const NumberType *find_type(Source *source)
{
  Word word;

  if (source_word(source, &word)) {
    for (size_t n = 0; n < sizeof number_types / sizeof *number_types; n++) {
      if (word_is(&word, number_types[n].name) || word_is(&word, number_types[n].other_name))
        return &number_types[n];
    }
  }
  source_fail(source, source->line, "expected a type such as float, double, int, uchar");
  return NULL;
}

static Role find_role(ElementKind kind, const Word *name, PetscBool is_list)
{
  if (kind == ELEMENT_VERTEX && !is_list) {
    if (word_is(name, "x"))
      return ROLE_X;
    if (word_is(name, "y"))
      return ROLE_Y;
    if (word_is(name, "z"))
      return ROLE_Z;
  }
  if (kind == ELEMENT_FACE && is_list && (word_is(name, "vertex_indices") || word_is(name, "vertex_index"))) {
    return ROLE_CORNERS;
  }
  return ROLE_NONE;
}

/* After the word "property". */
static void read_property(Source *source, Header *header)
{
  Element  *element = header->element_count > 0 ? &header->elements[header->element_count - 1] : NULL;
  Property *property;
  size_t    start;
  Word      word;

  if (!element || element->property_count == MAX_PROPERTIES) {
    source_fail(source, source->line, "a property must follow an element, at most %d for each",
                MAX_PROPERTIES);
    return;
  }
  property = &element->properties[element->property_count++];
  start = source->at;
  if (source_word(source, &word) && word_is(&word, "list")) {
    property->count_type = find_type(source);
    if (property->count_type && property->count_type->kind == NUMBER_FLOAT) {
      source_fail(source, source->line, "the length of a list must be an integer type");
    }
  } else {
    source->at = start;
  }
  property->type = find_type(source);
  if (!source_word(source, &word))
    source_fail(source, source->line, "a property needs a name");
  property->role = find_role(element->kind, &word, property->count_type ? PETSC_TRUE : PETSC_FALSE);
}

/* After the word "element". */
static void read_element(Source *source, Header *header)
{
  Element *element = &header->elements[header->element_count];
  Word     name, count;

  if (header->element_count == MAX_ELEMENTS || !source_word(source, &name) || !source_word(source, &count)) {
    source_fail(source, source->line, "an element needs a name and a count; at most %d elements",
                MAX_ELEMENTS);
    return;
  }
  header->element_count++;
  element->kind = word_is(&name, "vertex") ? ELEMENT_VERTEX
                  : word_is(&name, "face") ? ELEMENT_FACE
                                           : ELEMENT_OTHER;
  if (source_integer(source, &count, &element->count) && element->count < 0) {
    source_fail(source, source->line, "the count of an element must not be negative");
  }
}

static void read_format(Source *source, Header *header)
{
  Word word;

  (void)source_word(source, &word); /* an empty word is none of these */
  if (word_is(&word, "ascii"))
    header->format = FORMAT_TEXT;
  else if (word_is(&word, "binary_little_endian"))
    header->format = FORMAT_LITTLE_ENDIAN;
  else if (word_is(&word, "binary_big_endian"))
    header->format = FORMAT_BIG_ENDIAN;
  else
    source_fail(source, source->line, "expected the format ascii, binary_little_endian or binary_big_endian");
}

static PetscBool has_role(const Header *header, ElementKind kind, Role role)
{
  for (PetscInt n = 0; n < header->element_count; n++) {
    for (PetscInt p = 0; p < header->elements[n].property_count && header->elements[n].kind == kind; p++) {
      if (header->elements[n].properties[p].role == role)
        return PETSC_TRUE;
    }
  }
  return PETSC_FALSE;
}

static void check_header(Source *source, const Header *header)
{
  for (int role = ROLE_X; role <= ROLE_Z; role++) {
    if (!has_role(header, ELEMENT_VERTEX, (Role)role)) {
      source_fail(source, source->line, "the element vertex needs the properties x, y and z");
    }
  }
  if (!has_role(header, ELEMENT_FACE, ROLE_CORNERS)) {
    source_fail(source, source->line,
                "no element face with a list vertex_indices: export the surface as triangles or polygons");
  }
  for (PetscInt n = 0; n < header->element_count; n++) {
    if (header->elements[n].property_count == 0)
      source_fail(source, source->line, "an element has no property");
  }
}

static void read_header(Source *source, Header *header)
{
  PetscBool has_format = PETSC_FALSE;
  Word      word;

  if (!source_word(source, &word) || !word_is(&word, "ply")) {
    source_fail(source, 1, "a PLY file must start with the line \"ply\"");
  }
  source_skip_line(source);
  while (!source->failed) {
    if (!source_word_any_line(source, &word)) {
      source_fail(source, source->line, "the file ends before \"end_header\"");
      return;
    }
    if (word_is(&word, "end_header"))
      break;
    if (word_is(&word, "format")) {
      read_format(source, header);
      has_format = PETSC_TRUE;
    } else if (word_is(&word, "element")) {
      read_element(source, header);
    } else if (word_is(&word, "property")) {
      read_property(source, header);
    } else if (!word_is(&word, "comment") && !word_is(&word, "obj_info")) {
      source_fail(source, source->line, "expected \"element\", \"property\", \"comment\" or \"end_header\"");
    }
    source_skip_line(source);
  }
  if (!has_format)
    source_fail(source, source->line, "the header has no line \"format\"");
  check_header(source, header);
  source_skip_line(source);
}

static PetscReal decode(const unsigned char bytes[], const NumberType *type, Format format)
{
  uint64_t bits = 0;
  float    single;
  double   real;

  for (size_t n = 0; n < type->size; n++) {
    bits = bits << 8 | bytes[format == FORMAT_BIG_ENDIAN ? n : type->size - 1 - n];
  }
  if (type->kind == NUMBER_UNSIGNED)
    return (PetscReal)bits;
  if (type->kind == NUMBER_SIGNED) {
    const uint64_t top = (uint64_t)1 << (8 * type->size - 1);

    return bits & top ? -(PetscReal)((top << 1) - bits) : (PetscReal)bits;
  }
  if (type->size == sizeof real) {
    memcpy(&real, &bits, sizeof real);
    return real;
  }
  memcpy(&single, &(uint32_t){(uint32_t)bits}, sizeof single);
  return (PetscReal)single;
}

static PetscReal read_number(Source *source, Format format, const NumberType *type)
{
  PetscReal value = 0;
  Word      word;

  if (source->failed)
    return 0;
  if (format == FORMAT_TEXT) {
    if (!source_word_any_line(source, &word)) {
      source_fail(source, source->line, "the file ends too early: it seems to be cut short");
    } else if (!word_is_real(&word, &value)) {
      source_fail(source, source->line, "expected a number");
    }
    return value;
  }
  if (source->size - source->at < type->size) {
    source_fail(source, 0, "the file ends too early, at byte %zu: it seems to be cut short; export it again",
                source->size);
    return 0;
  }
  value = decode((const unsigned char *)source->bytes + source->at, type, format);
  source->at += type->size;
  return value;
}

static PetscBool is_index(PetscReal value)
{
  return value >= 0 && value < (PetscReal)PETSC_MAX_INT && value == floor(value) ? PETSC_TRUE : PETSC_FALSE;
}

static PetscErrorCode ReadList(Source *source, Format format, const Property *property, PetscInt origin,
                               TriangleList *mesh)
{
  const PetscReal count = read_number(source, format, property->count_type);
  PetscInt        first = 0, last = 0;

  PetscFunctionBegin;
  if (!is_index(count))
    source_fail(source, origin, "the length of a list must be a whole number, not %g", (double)count);
  for (PetscInt n = 0; !source->failed && n < (PetscInt)count; n++) {
    const PetscReal value = read_number(source, format, property->type);

    if (source->failed || property->role != ROLE_CORNERS)
      continue;
    if (!is_index(value)) {
      source_fail(source, origin, "a face names vertex %g: they count from 0", (double)value);
      break;
    }
    if (n == 0)
      first = (PetscInt)value;
    if (n >= 2)
      PetscCall(TriangleListAddTriangle(mesh, first, last, (PetscInt)value, origin));
    last = (PetscInt)value;
  }
  if (!source->failed && property->role == ROLE_CORNERS && count < 3) {
    source_fail(source, origin, "a face needs at least three vertices, not %g", (double)count);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadRecord(Source *source, Format format, const Element *element, PetscInt number,
                                 TriangleList *mesh)
{
  Vector3  vertex = {{0}};
  PetscInt origin;

  PetscFunctionBegin;
  source->part = format == FORMAT_TEXT ? NULL : element->kind == ELEMENT_VERTEX ? "vertex" : "face";
  if (format == FORMAT_TEXT)
    source_settle(source);
  origin = format == FORMAT_TEXT ? source->line : number + 1;
  for (PetscInt p = 0; p < element->property_count && !source->failed; p++) {
    const Property *property = &element->properties[p];

    if (property->count_type) {
      PetscCall(ReadList(source, format, property, origin, mesh));
    } else {
      const PetscReal value = read_number(source, format, property->type);

      if (property->role <= ROLE_Z)
        vertex.at[property->role] = value;
    }
  }
  if (element->kind != ELEMENT_VERTEX || source->failed)
    PetscFunctionReturn(0);
  if (!vertex_is_usable(vertex))
    source_fail(source, origin, "a coordinate is not a finite number, or beyond %g", MILLRACE_MAX_COORDINATE);
  PetscCall(TriangleListAddVertex(mesh, vertex));
  PetscFunctionReturn(0);
}

PetscErrorCode ReadPly(Source *source, TriangleList *mesh)
{
  Header *header;

  PetscFunctionBegin;
  PetscCall(PetscNew(&header));
  read_header(source, header);
  for (PetscInt n = 0; n < header->element_count; n++) {
    for (PetscInt k = 0; k < header->elements[n].count && !source->failed; k++) {
      PetscCall(ReadRecord(source, header->format, &header->elements[n], k, mesh));
    }
  }
  if (header->format != FORMAT_TEXT)
    source->part = "face";
  PetscCall(PetscFree(header));
  PetscFunctionReturn(0);
}

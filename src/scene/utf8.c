/* What may stand in a scene at all. libfyaml 0.7.12 does not end on some texts that are not UTF-8 or that
   hold YAML's own directives, so those never reach it. */
#include "scene_impl.h"

#include <string.h>

/* The length of the character at `at` and its code point; 0 where the bytes are no UTF-8. */
static int decode(const unsigned char *at, unsigned *code)
{
  static const struct {
    unsigned char mask, lead;
    unsigned      least; /* smaller ones have a shorter form */
  } forms[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};

  for (int extra = 0; extra < 4; extra++) {
    if ((at[0] & forms[extra].mask) != forms[extra].lead)
      continue;
    *code = at[0] & ~(unsigned)forms[extra].mask & 0xff;
    for (int i = 1; i <= extra; i++) {
      if ((at[i] & 0xc0) != 0x80)
        return 0;
      *code = *code << 6 | (at[i] & 0x3f);
    }
    return *code >= forms[extra].least && *code <= 0x10ffff ? extra + 1 : 0;
  }
  return 0;
}

static PetscBool is_allowed(unsigned code)
{
  if (code < 0xa0)
    return (code >= ' ' && code < 0x7f) || code == '\t' || code == '\n' || code == '\r' ? PETSC_TRUE
                                                                                        : PETSC_FALSE;
  if (code == 0x2028 || code == 0x2029 || code == 0xfeff || (code >= 0xd800 && code < 0xe000))
    return PETSC_FALSE;
  return code != 0xfffe && code != 0xffff ? PETSC_TRUE : PETSC_FALSE;
}

PetscErrorCode CheckText(Scene scene, const char text[], PetscInt override, PetscBool *good)
{
  PetscInt line = 1, column = 1;

  PetscFunctionBegin;
  *good = PETSC_FALSE;
  for (const unsigned char *at = (const unsigned char *)text; *at; column++) {
    unsigned  code = 0;
    const int length = decode(at, &code);

    if (!length || !is_allowed(code)) {
      PetscCall(ProblemAddAt(scene, override, line, column,
                             length ? "this character may not stand in a scene" : "this is not UTF-8 text"));
      PetscFunctionReturn(0);
    }
    if (code == '%' && column == 1) {
      PetscCall(
          ProblemAddAt(scene, override, line, column, "a scene has no YAML directives; remove the line"));
      PetscFunctionReturn(0);
    }
    if (code == '\n') {
      line++;
      column = 0;
    }
    at += length;
  }
  *good = PETSC_TRUE;
  PetscFunctionReturn(0);
}

/* Guessing which word was meant. */
#include <millrace/base.h>

#include <ctype.h>
#include <string.h>

enum { LONGEST_WORD = 48 };

/* Levenshtein's distance without regard to case, with swapped neighbours counted once. */
static PetscInt edit_distance(const char a[], const char b[])
{
  const PetscInt length_a = (PetscInt)strlen(a), length_b = (PetscInt)strlen(b);
  PetscInt       row[3][LONGEST_WORD + 1];

  for (PetscInt j = 0; j <= length_b; j++)
    row[0][j] = j;
  for (PetscInt i = 1; i <= length_a; i++) {
    PetscInt *const       now = row[i % 3];
    const PetscInt *const last = row[(i + 2) % 3], *const before = row[(i + 1) % 3];

    now[0] = i;
    for (PetscInt j = 1; j <= length_b; j++) {
      const PetscBool same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);

      now[j] = PetscMin(PetscMin(last[j], now[j - 1]) + 1, last[j - 1] + !same);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = PetscMin(now[j], before[j - 2] + 1);
    }
  }
  return row[length_a % 3][length_b];
}

const char *closest_word(const char word[], const char *const words[])
{
  const PetscInt length = (PetscInt)strlen(word);
  PetscInt nearest = PetscMin(3, 1 + length / 4) + 1; /* one mistake in a short word, three in a long one */
  const char *found = NULL;

  if (length > LONGEST_WORD)
    return NULL;
  for (PetscInt i = 0; words[i]; i++) {
    PetscInt distance;

    if (strlen(words[i]) > LONGEST_WORD)
      continue;
    distance = edit_distance(word, words[i]);
    if (distance >= nearest || distance >= PetscMax(length, (PetscInt)strlen(words[i])))
      continue;
    nearest = distance;
    found = words[i];
  }
  return found;
}

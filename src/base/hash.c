/* Random numbers from keys: the finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) over a Weyl
   sequence. */
#include <millrace/base.h>

static const uint64_t golden = 0x9e3779b97f4a7c15u; /* 2^64 over the golden ratio, odd */

static uint64_t mix(uint64_t x)
{
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

uint64_t hash_key(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
  return mix(mix(mix(mix(a + golden) + b + golden) + c + golden) + d + golden);
}

PetscReal hash_real(uint64_t key, PetscInt index)
{
  return (PetscReal)(mix(key + golden * ((uint64_t)index + 1)) >> 11) * 0x1p-53;
}

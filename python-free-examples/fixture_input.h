// The inputs of the model folders in test/models: splitmix64 on the FNV-1a hash of the input's name (docs/model-fixtures.md).
#ifndef FIXTURE_INPUT_H
#define FIXTURE_INPUT_H

#include <stdint.h>

static inline float fixture_uniform(const char *name, int64_t i) {
  uint64_t h = 0xcbf29ce484222325u;
  for (; *name; name++)
    h = (h ^ (unsigned char)*name) * 0x100000001b3u;
  uint64_t z = h + ((uint64_t)i + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return (float)(z >> 40) * 0x1p-23f - 1.0f;
}

#endif // FIXTURE_INPUT_H

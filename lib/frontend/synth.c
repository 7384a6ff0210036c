// Weights and inputs without a file: the rule of docs/model-fixtures.md.
#include "frontend/model.h"

#include <math.h>

static float uniform(uint64_t hash, uint64_t i) {
  uint64_t z = hash + (i + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return (float)(z >> 40) * 0x1p-23f - 1.0f;
}

float tc__synth_uniform(const char *name, int64_t i) { return uniform(tc__fnv1a(name, strlen(name)), (uint64_t)i); }

static bool ends_in(const char *name, const char *suffix) {
  size_t n = strlen(name), s = strlen(suffix);
  return n >= s && strcmp(name + n - s, suffix) == 0;
}

static void store(tc__buffer *out, int64_t i, float value) {
  switch (out->type.dtype) {
  case TC_F16:
    ((uint16_t *)out->data)[i] = tc__f32_to_f16(value);
    break;
  case TC_BF16:
    ((uint16_t *)out->data)[i] = tc__f32_to_bf16(value);
    break;
  case TC_F64:
    ((double *)out->data)[i] = (double)value;
    break;
  default:
    ((float *)out->data)[i] = value;
    break;
  }
}

void tc__synth_weight(const char *name, tc__buffer *out) {
  uint64_t hash = tc__fnv1a(name, strlen(name));
  int64_t n = tc__type_elements(&out->type), fan_in = 1;
  for (int d = 1; d < out->type.rank; ++d)
    fan_in *= out->type.shape[d];
  // All of it in float, as the rule says: the last bit of a weight depends on it.
  float scale = sqrtf(3.0f / (float)(fan_in > 0 ? fan_in : 1));
  bool variance = ends_in(name, "running_var"), weight = ends_in(name, "weight");
  for (int64_t i = 0; i < n; ++i) {
    float u = uniform(hash, (uint64_t)i);
    if (out->type.rank >= 2)
      u *= scale;
    else if (variance)
      u = 1.0f + fabsf(u) / 10.0f;
    else if (weight)
      u = 1.0f + u / 10.0f;
    else
      u = u / 10.0f;
    store(out, i, u);
  }
}

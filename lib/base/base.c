// Errors, memory, element types, attributes.
#include "base.h"

#include <stdio.h>

// ---- status and diagnostics -----------------------------------------------------------------------------------------------------------

const char *tc_status_name(tc_status status) {
  switch (status) {
#define NAME(name, text)                                                                                                         \
  case TC_##name:                                                                                                                \
    return text;
    TC_STATUS_TABLE(NAME)
#undef NAME
  }
  return "unknown status";
}

static _Thread_local char last_error[4096];
static tc_diagnostic_fn handler;
static void *handler_user;

const char *tc_last_error(void) { return last_error; }

void tc_set_diagnostic_handler(tc_diagnostic_fn fn, void *user) {
  handler = fn;
  handler_user = user;
}

static void emit(tc_severity severity, const char *location, const char *fmt, va_list args) {
  tc__str text = {0};
  tc__str_vprintf(&text, fmt, args);
  const char *message = text.data ? text.data : "out of memory while reporting an error";
  if (severity == TC_SEVERITY_ERROR)
    snprintf(last_error, sizeof last_error, "%s%s%s", location ? location : "", location && *location ? ": " : "", message);
  if (handler)
    handler(severity, location ? location : "", message, handler_user);
  tc__str_free(&text);
}

tc_status tc__error(tc_status status, const char *location, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  emit(TC_SEVERITY_ERROR, location, fmt, args);
  va_end(args);
  return status;
}

void tc__report(tc_severity severity, const char *location, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  if (severity == TC_SEVERITY_ERROR)
    severity = TC_SEVERITY_WARNING; // errors go through tc__error
  emit(severity, location, fmt, args);
  va_end(args);
}

tc_status tc__oom(void) { return tc__error(TC_ERR_OUT_OF_MEMORY, NULL, "out of memory"); }

// ---- memory ---------------------------------------------------------------------------------------------------------------------------

void *tc__alloc(size_t bytes) { return malloc(bytes ? bytes : 1); }
void *tc__calloc(size_t count, size_t bytes) { return calloc(count ? count : 1, bytes ? bytes : 1); }
void *tc__realloc(void *p, size_t bytes) { return realloc(p, bytes ? bytes : 1); }
void tc__free(void *p) { free(p); }

void *tc__aligned_alloc(size_t bytes) {
  if (bytes > SIZE_MAX - 63)
    return NULL;
  return aligned_alloc(64, bytes ? (bytes + 63) / 64 * 64 : 64);
}
void tc__aligned_free(void *p) { free(p); }

// ---- element types and tensor types -----------------------------------------------------------------------------------------------------

const char *tc_dtype_name(tc_dtype dtype) {
  static const char *const names[] = {
#define NAME(name, text, size) text,
      TC_DTYPE_TABLE(NAME)
#undef NAME
  };
  return (unsigned)dtype < TC_DTYPE_COUNT ? names[dtype] : "?";
}

size_t tc_dtype_size(tc_dtype dtype) {
  static const size_t sizes[] = {
#define SIZE(name, text, size) size,
      TC_DTYPE_TABLE(SIZE)
#undef SIZE
  };
  return (unsigned)dtype < TC_DTYPE_COUNT ? sizes[dtype] : 0;
}

bool tc_dtype_is_float(tc_dtype dtype) { return dtype == TC_F16 || dtype == TC_BF16 || dtype == TC_F32 || dtype == TC_F64; }

bool tc__type_equal(const tc__type *a, const tc__type *b) {
  if (a->dtype != b->dtype || a->rank != b->rank)
    return false;
  for (int i = 0; i < a->rank; i++)
    if (a->shape[i] != b->shape[i])
      return false;
  return true;
}

bool tc__type_is_static(const tc__type *t) {
  for (int i = 0; i < t->rank; i++)
    if (t->shape[i] < 0)
      return false;
  return true;
}

int64_t tc__type_elements(const tc__type *t) {
  int64_t n = 1;
  bool zero = false;
  for (int i = 0; i < t->rank; i++) {
    if (t->shape[i] < 0)
      return -1;
    zero |= t->shape[i] == 0;
  }
  for (int i = 0; i < t->rank && !zero; i++)
    if (__builtin_mul_overflow(n, t->shape[i], &n))
      return -1;
  return zero ? 0 : n;
}

int64_t tc__type_bytes(const tc__type *t) {
  int64_t n = tc__type_elements(t), bytes;
  return n < 0 || __builtin_mul_overflow(n, (int64_t)tc_dtype_size(t->dtype), &bytes) ? -1 : bytes;
}

const char *tc__type_format(const tc__type *t, char *buf, size_t size) {
  size_t at = (size_t)snprintf(buf, size, "%s[", tc_dtype_name(t->dtype));
  for (int i = 0; i < t->rank && at < size; i++) {
    if (t->shape[i] < 0)
      at += (size_t)snprintf(buf + at, size - at, "%s?", i ? "," : "");
    else
      at += (size_t)snprintf(buf + at, size - at, "%s%lld", i ? "," : "", (long long)t->shape[i]);
  }
  if (at < size)
    snprintf(buf + at, size - at, "]");
  return buf;
}

// ---- attributes ---------------------------------------------------------------------------------------------------------------------------

const tc__attr *tc__attrs_find(const tc__attrs *attrs, const char *name) {
  for (size_t i = 0; attrs && i < attrs->count; i++)
    if (strcmp(attrs->items[i].name, name) == 0)
      return &attrs->items[i];
  return NULL;
}

int64_t tc__attrs_int(const tc__attrs *attrs, const char *name, int64_t otherwise) {
  const tc__attr *a = tc__attrs_find(attrs, name);
  if (!a)
    return otherwise;
  if (a->kind == TC__ATTR_FLOAT) // out of range is undefined in C
    return a->f >= 9223372036854775807.0 ? INT64_MAX : a->f <= -9223372036854775808.0 ? INT64_MIN : a->f != a->f ? 0 : (int64_t)a->f;
  return a->i;
}

double tc__attrs_float(const tc__attrs *attrs, const char *name, double otherwise) {
  const tc__attr *a = tc__attrs_find(attrs, name);
  return !a ? otherwise : a->kind == TC__ATTR_FLOAT ? a->f : (double)a->i;
}

bool tc__attrs_bool(const tc__attrs *attrs, const char *name, bool otherwise) { return tc__attrs_int(attrs, name, otherwise) != 0; }

const char *tc__attrs_str(const tc__attrs *attrs, const char *name, const char *otherwise) {
  const tc__attr *a = tc__attrs_find(attrs, name);
  return a && a->s ? a->s : otherwise;
}

const int64_t *tc__attrs_ints(const tc__attrs *attrs, const char *name, size_t *out_count) {
  const tc__attr *a = tc__attrs_find(attrs, name);
  bool found = a && a->kind == TC__ATTR_INTS;
  *out_count = found ? a->count : 0;
  return found ? a->ints : NULL;
}

const double *tc__attrs_floats(const tc__attrs *attrs, const char *name, size_t *out_count) {
  const tc__attr *a = tc__attrs_find(attrs, name);
  bool found = a && a->kind == TC__ATTR_FLOATS;
  *out_count = found ? a->count : 0;
  return found ? a->floats : NULL;
}

// ---- 16-bit floats --------------------------------------------------------------------------------------------------------------------------

static float float_of(uint32_t u) {
  float f;
  memcpy(&f, &u, sizeof f);
  return f;
}

static uint32_t bits_of(float f) {
  uint32_t u;
  memcpy(&u, &f, sizeof u);
  return u;
}

float tc__f16_to_f32(uint16_t h) {
  uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, mantissa = h & 1023;
  if (exponent == 31)
    return float_of(sign | 0x7f800000u | mantissa << 13);
  if (exponent == 0) { // zero or denormal: mantissa * 2^-24, exact in f32
    float f = (float)mantissa * 0x1p-24f;
    return sign ? -f : f;
  }
  return float_of(sign | (exponent + 112) << 23 | mantissa << 13);
}

uint16_t tc__f32_to_f16(float f) {
  uint32_t u = bits_of(f), sign = u >> 16 & 0x8000, magnitude = u & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return (uint16_t)(sign | 0x7e00 | (magnitude >> 13 & 0x3ff));
  if (magnitude >= 0x477ff000u) // rounds to 65520 or more
    return (uint16_t)(sign | 0x7c00);
  if (magnitude < 0x38800000u) { // below 2^-14: adding 0.5 leaves the rounded multiple of 2^-24 in the low bits
    uint32_t r = bits_of(float_of(magnitude) + 0.5f) - 0x3f000000u;
    return (uint16_t)(sign | r);
  }
  magnitude += 0xfffu + (magnitude >> 13 & 1) - (112u << 23);
  return (uint16_t)(sign | magnitude >> 13);
}

float tc__bf16_to_f32(uint16_t h) { return float_of((uint32_t)h << 16); }

uint16_t tc__f32_to_bf16(float f) {
  uint32_t u = bits_of(f);
  if ((u & 0x7fffffffu) > 0x7f800000u)
    return (uint16_t)(u >> 16 | 0x40);
  return (uint16_t)((u + 0x7fffu + (u >> 16 & 1)) >> 16);
}

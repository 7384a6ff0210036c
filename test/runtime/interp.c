// RUN: test-runtime-interp %source/test/runtime/interp_vectors.bin | FileCheck %s --check-prefix=OK
// OK: ok {{[0-9]+}} checks
// Replays interp_vectors.bin (PyTorch's results, see make_interp_vectors.py) through the interpreter, and checks its errors by
// hand.
#include "runtime/interp/interp.h"
#include "base/base.h"

#include <math.h>
#include <stdio.h>

static int checks, failures;

typedef struct reader {
  const unsigned char *at, *end;
} reader;

static const void *take(reader *r, size_t n) {
  if ((size_t)(r->end - r->at) < n) {
    fprintf(stderr, "the vectors end early\n");
    exit(1);
  }
  r->at += n;
  return r->at - n;
}
static unsigned byte(reader *r) { return *(const unsigned char *)take(r, 1); }
static int64_t word(reader *r) {
  int64_t v;
  memcpy(&v, take(r, 8), 8);
  return v;
}
static double number(reader *r) {
  double v;
  memcpy(&v, take(r, 8), 8);
  return v;
}
static char *name(reader *r) {
  unsigned n = byte(r);
  return tc__strndup(take(r, n), n);
}
static tc__buffer tensor(reader *r) {
  tc__buffer b = {{.dtype = (tc_dtype)byte(r)}, NULL};
  b.type.rank = (int)byte(r);
  for (int d = 0; d < b.type.rank; d++) {
    uint32_t v;
    memcpy(&v, take(r, 4), 4);
    b.type.shape[d] = v;
  }
  size_t bytes = (size_t)tc__type_bytes(&b.type);
  b.data = tc__aligned_alloc(bytes ? bytes : 1);
  if (bytes)
    memcpy(b.data, take(r, bytes), bytes);
  return b;
}
static tc__attr attribute(reader *r) {
  tc__attr a = {.name = name(r)};
  a.kind = (tc__attr_kind)byte(r);
  switch (a.kind) {
  case TC__ATTR_FLOAT:
    a.f = number(r);
    break;
  case TC__ATTR_STR:
    a.s = name(r);
    break;
  case TC__ATTR_INTS: {
    a.count = byte(r);
    int64_t *v = tc__alloc(8 * a.count + 1);
    for (size_t i = 0; i < a.count; i++)
      v[i] = word(r);
    a.ints = v;
    break;
  }
  case TC__ATTR_FLOATS: {
    a.count = byte(r);
    double *v = tc__alloc(8 * a.count + 1);
    for (size_t i = 0; i < a.count; i++)
      v[i] = number(r);
    a.floats = v;
    break;
  }
  case TC__ATTR_TENSOR:
    a.tensor = tensor(r);
    break;
  default:
    a.i = word(r);
  }
  return a;
}

static double as_float(const tc__buffer *b, int64_t i) {
  switch (b->type.dtype) {
  case TC_F16:
    return tc__f16_to_f32(((uint16_t *)b->data)[i]);
  case TC_BF16:
    return tc__bf16_to_f32(((uint16_t *)b->data)[i]);
  case TC_F32:
    return ((float *)b->data)[i];
  default:
    return ((double *)b->data)[i];
  }
}

// Integers must be equal; floats within a few units of their last place (PyTorch computes f32 in f32, the interpreter in f64).
static bool same(const tc__buffer *got, const tc__buffer *want, int64_t *at) {
  static const double relative[] = {2e-3, 1.6e-2, 1e-5, 1e-12}, absolute[] = {1e-3, 8e-3, 2e-6, 1e-13};
  int64_t n = tc__type_elements(&want->type);
  size_t size = tc_dtype_size(want->type.dtype);
  for (*at = 0; *at < n; ++*at) {
    if (!tc_dtype_is_float(want->type.dtype)) {
      if (memcmp((char *)got->data + *at * (int64_t)size, (char *)want->data + *at * (int64_t)size, size) != 0)
        return false;
      continue;
    }
    double g = as_float(got, *at), w = as_float(want, *at);
    if (isnan(g) != isnan(w))
      return false;
    if (!isnan(w) && g != w && !(fabs(g - w) <= absolute[want->type.dtype] + relative[want->type.dtype] * fabs(w)))
      return false;
  }
  return true;
}

static void replay(reader *r, int index) {
  char *op = name(r);
  size_t n_in = byte(r), n_out = byte(r), n_attrs = byte(r);
  tc__buffer in[16], want[2], got[2];
  tc__attr attrs[16];
  for (size_t i = 0; i < n_in; i++)
    in[i] = tensor(r);
  for (size_t i = 0; i < n_out; i++) {
    want[i] = got[i] = tensor(r);
    size_t bytes = (size_t)tc__type_bytes(&want[i].type);
    got[i].data = tc__aligned_alloc(bytes ? bytes : 1);
    memset(got[i].data, 0xa5, bytes); // an element left unwritten shows
  }
  for (size_t i = 0; i < n_attrs; i++)
    attrs[i] = attribute(r);
  tc__attrs list = {attrs, n_attrs};
  tc_status status = tc__interp_run(tc__op_kind_from_name(op, strlen(op)), in, n_in, got, n_out, &list);
  checks++;
  char text[200];
  if (status != TC_OK) {
    fprintf(stderr, "case %d, %s: %s\n", index, op, tc_last_error());
    failures++;
  }
  for (size_t i = 0; i < n_out && status == TC_OK; i++) {
    int64_t at;
    if (same(&got[i], &want[i], &at))
      continue;
    fprintf(stderr, "case %d, %s (of %s): result %zu differs at %lld of %s", index, op,
            n_in ? tc_dtype_name(in[0].type.dtype) : "nothing", i, (long long)at,
            tc__type_format(&want[i].type, text, sizeof text));
    if (tc_dtype_is_float(want[i].type.dtype))
      fprintf(stderr, ": expected %.9g, found %.9g", as_float(&want[i], at), as_float(&got[i], at));
    fprintf(stderr, "\n");
    failures++;
  }
  for (size_t i = 0; i < n_in; i++)
    tc__aligned_free(in[i].data);
  for (size_t i = 0; i < n_out; i++) {
    tc__aligned_free(want[i].data);
    tc__aligned_free(got[i].data);
  }
  for (size_t i = 0; i < n_attrs; i++) {
    tc__free((void *)(uintptr_t)attrs[i].name);
    tc__free((void *)(uintptr_t)attrs[i].s);
    tc__free((void *)(uintptr_t)attrs[i].ints);
    tc__free((void *)(uintptr_t)attrs[i].floats);
    tc__aligned_free(attrs[i].tensor.data);
  }
  tc__free(op);
}

static void check(bool ok, const char *what) {
  checks++;
  if (!ok) {
    fprintf(stderr, "failed: %s (last error: %s)\n", what, tc_last_error());
    failures++;
  }
}

static void errors(void) {
  float x[6] = {1, 2, 3, 4, 5, 6}, y[8];
  int64_t index[4] = {0, 1, 3, -1};
  tc__attr dim = {.name = "dim", .kind = TC__ATTR_INT, .i = 1}, dims = {.name = "dims", .kind = TC__ATTR_INTS, .count = 1};
  dims.ints = &dim.i;
  tc__attrs with_dim = {&dim, 1}, with_dims = {&dims, 1};
  tc__buffer ins[2] = {{{TC_F32, 2, {2, 3}}, x}, {{TC_I64, 2, {2, 2}}, index}}, out = {{TC_F32, 2, {2, 2}}, y};
  check(tc__interp_run(TC_OP_gather, ins, 2, &out, 1, &with_dim) == TC_ERR_INVALID_ARGUMENT, "gather out of range");
  check(strstr(tc_last_error(), "tc.gather: index 3 at position [1, 0]") && strstr(tc_last_error(), "dim 1 of size 3"),
        "the index, its position and the size are named");
  ins[1] = (tc__buffer){{TC_I64, 1, {2}}, index + 2};
  check(tc__interp_run(TC_OP_index, ins, 2, &out, 1, &with_dims) == TC_ERR_INVALID_ARGUMENT, "index out of range");
  check(strstr(tc_last_error(), "index 3 at position [0]") != NULL, "the index is named");
  index[2] = -3; // both count from the end
  check(tc__interp_run(TC_OP_index, ins, 2, &out, 1, &with_dims) == TC_OK && y[0] == 1 && y[1] == 3 && y[2] == 4 && y[3] == 6,
        "negative indices count from the end");
  ins[1].type.shape[0] = 1;
  check(tc__interp_run(TC_OP_index, ins, 2, &out, 1, &with_dims) == TC_ERR_SHAPE_MISMATCH, "a result buffer of a wrong shape");
  check(tc__interp_run(TC_OP_gather, ins, 1, &out, 1, &with_dim) == TC_ERR_INVALID_ARGUMENT, "too few operands");
  uint8_t mask[6] = {1, 1, 1, 0, 0, 0};
  tc__buffer masked[3] = {ins[0], {{TC_BOOL, 2, {2, 3}}, mask}, {{TC_F32, 1, {2}}, x}}, whole = {{TC_F32, 2, {2, 3}}, y};
  check(tc__interp_run(TC_OP_masked_scatter, masked, 3, &whole, 1, NULL) == TC_ERR_INVALID_ARGUMENT, "too short a src");
}

int main(int argc, char **argv) {
  char path[4096];
  const char *slash = strrchr(__FILE__, '/');
  snprintf(path, sizeof path, "%.*sinterp_vectors.bin", slash ? (int)(slash - __FILE__ + 1) : 0, __FILE__);
  char *data;
  size_t size;
  if (tc__read_file(argc > 1 ? argv[1] : path, &data, &size) != TC_OK) {
    fprintf(stderr, "%s\n", tc_last_error());
    return 1;
  }
  reader r = {(unsigned char *)data, (unsigned char *)data + size};
  uint32_t count;
  if (memcmp(take(&r, 4), "TCIV", 4) != 0)
    return fprintf(stderr, "%s: no interpreter vectors\n", path), 1;
  memcpy(&count, take(&r, 4), 4);
  for (uint32_t i = 0; i < count; i++)
    replay(&r, (int)i);
  check(r.at == r.end && count > 1000, "all cases were read");
  tc__free(data);
  errors();
  if (failures) {
    fprintf(stderr, "%d of %d checks failed\n", failures, checks);
    return 1;
  }
  printf("ok %d checks\n", checks);
  return 0;
}

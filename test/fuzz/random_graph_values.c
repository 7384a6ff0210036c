// Values of random graphs: arguments and their data, evaluation of ops, comparison.
#include "random_graph.h"

#include <math.h>
#include <stdio.h>

uint64_t gen_next(gen *g) { // splitmix64
  uint64_t z = g->state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}
int64_t gen_int(gen *g, int64_t low, int64_t high) { return low + (int64_t)(gen_next(g) % ((uint64_t)high - (uint64_t)low + 1)); }
double gen_real(gen *g, double low, double high) { return low + (high - low) * (double)(gen_next(g) >> 11) * 0x1p-53; }
bool gen_chance(gen *g, int percent) { return gen_int(g, 0, 99) < percent; }

// ---- elements
// -----------------------------------------------------------------------------------------------------------------------

double gen_element(const tc__buffer *b, int64_t i) {
  switch (b->type.dtype) {
  case TC_F16:
    return tc__f16_to_f32(((const uint16_t *)b->data)[i]);
  case TC_BF16:
    return tc__bf16_to_f32(((const uint16_t *)b->data)[i]);
  case TC_F32:
    return ((const float *)b->data)[i];
  case TC_F64:
    return ((const double *)b->data)[i];
  case TC_I8:
    return ((const int8_t *)b->data)[i];
  case TC_I16:
    return ((const int16_t *)b->data)[i];
  case TC_I32:
    return ((const int32_t *)b->data)[i];
  case TC_I64:
    return (double)((const int64_t *)b->data)[i];
  default:
    return ((const uint8_t *)b->data)[i];
  }
}

void gen_set_element(const tc__buffer *b, int64_t i, double value) {
  switch (b->type.dtype) {
  case TC_F16:
    ((uint16_t *)b->data)[i] = tc__f32_to_f16((float)value);
    break;
  case TC_BF16:
    ((uint16_t *)b->data)[i] = tc__f32_to_bf16((float)value);
    break;
  case TC_F32:
    ((float *)b->data)[i] = (float)value;
    break;
  case TC_F64:
    ((double *)b->data)[i] = value;
    break;
  case TC_I8:
    ((int8_t *)b->data)[i] = (int8_t)value;
    break;
  case TC_I16:
    ((int16_t *)b->data)[i] = (int16_t)value;
    break;
  case TC_I32:
    ((int32_t *)b->data)[i] = (int32_t)value;
    break;
  case TC_I64:
    ((int64_t *)b->data)[i] = (int64_t)value;
    break;
  case TC_U8:
    ((uint8_t *)b->data)[i] = (uint8_t)(int64_t)value;
    break;
  default:
    ((uint8_t *)b->data)[i] = value != 0;
    break;
  }
}

double gen_tolerance(tc_dtype dtype) {
  switch (dtype) {
  case TC_F16:
    return 2e-2;
  case TC_BF16:
    return 1.5e-1;
  case TC_F32:
    return 1e-4;
  case TC_F64:
    return 1e-9;
  default:
    return 0;
  }
}

// A few ulp: what correct implementations may differ by.
static double noise_of(tc_dtype dtype) {
  switch (dtype) {
  case TC_F16:
    return 1e-3;
  case TC_BF16:
    return 8e-3;
  case TC_F32:
    return 4e-7;
  default:
    return 4e-15;
  }
}

double gen_difference(const tc__buffer *a, const tc__buffer *b) {
  int64_t n = tc__type_elements(&a->type);
  if (!tc_dtype_is_float(a->type.dtype))
    return n == 0 || memcmp(a->data, b->data, (size_t)n * tc_dtype_size(a->type.dtype)) == 0 ? 0 : INFINITY;
  double sum = 0, norm = 0;
  for (int64_t i = 0; i < n; i++) {
    double x = gen_element(a, i), y = gen_element(b, i);
    if (isnan(x) != isnan(y) || isinf(x) != isinf(y) || (isinf(x) && x != y))
      return INFINITY;
    if (!isfinite(x))
      continue;
    sum += (x - y) * (x - y);
    norm += y * y;
  }
  // Beside the relative part, the absolute one that PyTorch's own comparisons allow: 1e-5 an element at a tolerance of 1e-4.
  return sum == 0 ? 0 : sqrt(sum) / (sqrt(norm) + (tc_dtype_size(a->type.dtype) == 8 ? 1e-12 : 0.1) * sqrt((double)n));
}

// ---- arguments
// ------------------------------------------------------------------------------------------------------------------------

static gen_value *append(gen *g, const tc__type *type) {
  if (g->n_values == g->capacity) {
    size_t capacity = g->capacity ? 2 * g->capacity : 64;
    gen_value *values = tc__realloc(g->values, capacity * sizeof *values);
    if (!values)
      abort();
    g->values = values;
    g->capacity = capacity;
  }
  gen_value *v = &g->values[g->n_values];
  *v = (gen_value){.argument = -1};
  v->real.type = v->rough.type = *type;
  v->real.data = tc__aligned_alloc((size_t)tc__type_bytes(type) + 1);
  if (!v->real.data)
    abort();
  g->n_values++;
  return v;
}

static int compare_doubles(const void *a, const void *b) {
  return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static void sort_rows(const tc__buffer *b) {
  int64_t n = b->type.rank ? b->type.shape[b->type.rank - 1] : 1, rows = n ? tc__type_elements(&b->type) / n : 0;
  double *row = malloc(sizeof *row * (size_t)(n + 1));
  for (int64_t r = 0; r < rows; r++) {
    for (int64_t i = 0; i < n; i++)
      row[i] = gen_element(b, r * n + i);
    qsort(row, (size_t)n, sizeof *row, compare_doubles);
    for (int64_t i = 0; i < n; i++)
      gen_set_element(b, r * n + i, row[i]);
  }
  free(row);
}

gen_value *gen_fresh(gen *g, const tc__type *type, gen_fill fill, int64_t low, int64_t high) {
  gen_value *v = append(g, type);
  bool is_float = tc_dtype_is_float(type->dtype);
  double scale = gen_chance(g, 70) ? 2 : gen_chance(g, 50) ? 0.25 : 12;
  bool special = g->specials && fill == GEN_ANY && gen_chance(g, 25), wide = gen_chance(g, 5);
  int64_t n = tc__type_elements(type);
  for (int64_t i = 0; i < n; i++) {
    double x;
    if (fill == GEN_INDEX)
      x = (double)gen_int(g, low, high);
    else if (type->dtype == TC_BOOL)
      x = (double)gen_int(g, 0, 1);
    else if (!is_float)
      x = wide ? (double)gen_int(g, -(INT64_C(1) << 40), INT64_C(1) << 40) : (double)gen_int(g, type->dtype == TC_U8 ? 0 : -6, 9);
    else if (fill == GEN_POSITIVE)
      x = gen_real(g, 0.25, 2);
    else
      x = gen_chance(g, 3) ? (double)gen_int(g, -2, 2) : gen_real(g, -scale, scale);
    if (!is_float && type->dtype != TC_BOOL) { // wrap, since a conversion out of range is undefined
      int64_t bits = (int64_t)x;
      x = type->dtype == TC_I8    ? (int8_t)bits
          : type->dtype == TC_I16 ? (int16_t)bits
          : type->dtype == TC_I32 ? (int32_t)bits
          : type->dtype == TC_U8  ? (uint8_t)bits
                                  : (double)bits;
    }
    if (special && gen_chance(g, 4)) {
      static const double odd[] = {INFINITY, -INFINITY, NAN, -0.0};
      x = odd[gen_int(g, 0, 3)];
    }
    gen_set_element(&v->real, i, x);
  }
  if (fill == GEN_SORTED)
    sort_rows(&v->real);
  v->rough = v->real;
  v->exact = true;
  v->argument = g->n_arguments++;
  v->kind = gen_chance(g, 80) ? "input" : gen_chance(g, 80) ? "parameter" : "buffer";
  v->v = mlirBlockAddArgument(g->block, tc__type_to_mlir(g->ctx, type), g->loc);
  return v;
}

size_t gen_index_of(const gen *g, const gen_value *v) { return (size_t)(v - g->values); }

static bool class_fits(tc_dtype d, const char *cls) {
  bool f = tc_dtype_is_float(d), b = d == TC_BOOL, i = !f && !b;
  return strcmp(cls, "any") == 0 || (strcmp(cls, "float") == 0 && f) || (strcmp(cls, "int") == 0 && i) ||
         (strcmp(cls, "bool") == 0 && b) || (strcmp(cls, "num") == 0 && !b) ||
         (strcmp(cls, "index") == 0 && (d == TC_I32 || d == TC_I64)) || (strcmp(cls, "intbool") == 0 && !f);
}

tc__type gen_random_type(gen *g, const char *cls, int min_rank, int max_rank) {
  static const tc_dtype floats[] = {TC_F32, TC_F32, TC_F32, TC_F32, TC_F64, TC_F16, TC_BF16};
  static const int64_t sizes[] = {1, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33, 64};
  tc__type t = {0};
  do
    t.dtype = gen_chance(g, 75) ? floats[gen_int(g, 0, 6)] : (tc_dtype)gen_int(g, 0, TC_DTYPE_COUNT - 1);
  while (!class_fits(t.dtype, cls));
  t.rank = (int)gen_int(g, min_rank, max_rank < 5 ? max_rank : 5);
  int64_t left = gen_chance(g, 5) ? g->max_elements * 8 : g->max_elements;
  for (int i = 0; i < t.rank; i++) {
    int64_t s = sizes[gen_int(g, 0, 12)];
    t.shape[i] = s <= left ? s : 1;
    left /= t.shape[i];
  }
  if (t.rank && gen_chance(g, 1))
    t.shape[gen_int(g, 0, t.rank - 1)] = 0;
  return t;
}

size_t gen_pick(gen *g, const char *cls, int min_rank, int max_rank) {
  for (int tries = 0; tries < 12 && g->n_values && !gen_chance(g, 8); tries++) {
    // Later values are likelier, so that graphs grow deep.
    size_t at = (size_t)gen_int(g, 0, (int64_t)g->n_values - 1);
    if (gen_chance(g, 50))
      at = g->n_values - 1 - at / 3;
    const tc__type *t = &g->values[at].real.type;
    if (class_fits(t->dtype, cls) && t->rank >= min_rank && t->rank <= max_rank)
      return at;
  }
  tc__type t = gen_random_type(g, cls, min_rank, max_rank);
  return gen_index_of(g, gen_fresh(g, &t, GEN_ANY, 0, 0));
}

// ---- ops
// --------------------------------------------------------------------------------------------------------------------------------

// Ops on floats whose result jumps, or is of another kind: they take exact operands only.
static bool is_discontinuous(tc_op_kind kind) {
  switch (kind) {
  case TC_OP_sign:
  case TC_OP_ceil:
  case TC_OP_floor:
  case TC_OP_round:
  case TC_OP_trunc:
  case TC_OP_frac:
  case TC_OP_div_floor:
  case TC_OP_div_trunc:
  case TC_OP_remainder:
  case TC_OP_fmod:
  case TC_OP_copysign:
  case TC_OP_histc:
  case TC_OP_norm: // p = 0
  case TC_OP_atan2:
    return true;
  default:
    return false;
  }
}

// Ops whose result holds elements of the operands, or depends on them without rounding.
static bool keeps_exact(const tc__op_info *info, const tc__type *result) {
  if (!tc_dtype_is_float(result->dtype))
    return true;
  switch (info->kind) {
  case TC_OP_abs:
  case TC_OP_neg:
  case TC_OP_sign:
  case TC_OP_ceil:
  case TC_OP_floor:
  case TC_OP_round:
  case TC_OP_trunc:
  case TC_OP_relu:
  case TC_OP_clamp:
  case TC_OP_maximum:
  case TC_OP_minimum:
  case TC_OP_fmax:
  case TC_OP_fmin:
  case TC_OP_copysign:
  case TC_OP_amax:
  case TC_OP_amin:
  case TC_OP_cummax:
  case TC_OP_cummin:
  case TC_OP_max_pool:
  case TC_OP_max_pool_with_indices:
  case TC_OP_adaptive_max_pool:
  case TC_OP_full:
  case TC_OP_constant:
  case TC_OP_embedding:
  case TC_OP_gather:
  case TC_OP_index:
  case TC_OP_index_select:
  case TC_OP_masked_scatter:
  case TC_OP_im2col:
    return true;
  default:
    return info->family == TC_FAMILY_SHAPE || info->family == TC_FAMILY_SELECT || info->family == TC_FAMILY_CAST ||
           info->family == TC_FAMILY_SORT;
  }
}

static bool all_finite(const tc__buffer *b) {
  if (!tc_dtype_is_float(b->type.dtype))
    return true;
  int64_t n = tc__type_elements(&b->type);
  for (int64_t i = 0; i < n; i++)
    if (!isfinite(gen_element(b, i)))
      return false;
  return true;
}

static double largest(const tc__buffer *b) {
  double most = 0;
  int64_t n = tc__type_elements(&b->type);
  for (int64_t i = 0; i < n; i++) {
    double x = fabs(gen_element(b, i));
    most = x > most || isnan(x) ? x : most;
  }
  return most;
}

// Runs the op on the real or the rough operands; the outputs are allocated. NULL data on failure.
static bool evaluate(tc_op_kind kind, const tc__buffer *ins, size_t n, const tc__attrs *attrs, const tc__type *types,
                     size_t n_results, tc__buffer *outs) {
  for (size_t i = 0; i < n_results; i++) {
    outs[i] = (tc__buffer){types[i], tc__aligned_alloc((size_t)tc__type_bytes(&types[i]) + 1)};
    if (!outs[i].data)
      abort();
  }
  if (tc__interp_run(kind, ins, n, outs, n_results, attrs) == TC_OK)
    return true;
  fprintf(stderr, "the interpreter cannot run %s: %s\n", tc__op_info_get(kind)->name, tc_last_error());
  return false;
}

bool gen_op(gen *g, tc_op_kind kind, const size_t *operands, size_t n, const MlirNamedAttribute *attrs, size_t n_attrs) {
  const tc__op_info *info = tc__op_info_get(kind);
  MlirValue values[8];
  tc__buffer ins[8], rough_ins[8], outs[2] = {{{0}, NULL}, {{0}, NULL}}, rough_outs[2] = {{{0}, NULL}, {{0}, NULL}};
  bool exact = true, float_operand = false, finite = true;
  for (size_t i = 0; i < n; i++) {
    const gen_value *v = &g->values[operands[i]];
    values[i] = v->v;
    ins[i] = v->real;
    rough_ins[i] = v->rough;
    exact &= v->exact;
    float_operand |= tc_dtype_is_float(v->real.type.dtype);
    finite &= all_finite(&v->real);
  }
  tc__builder b = tc__builder_at_end(g->block, g->loc);
  MlirOperation op = tc__build_tc(&b, kind, values, n, attrs, n_attrs);
  if (mlirOperationIsNull(op)) {
    fprintf(stderr, "the generator made an invalid %s: %s\n", info->name, tc_last_error());
    g->failed = true;
    return false;
  }
  size_t n_results = (size_t)info->n_results;
  tc__type types[2];
  int64_t elements = 0;
  bool changes_kind = false;
  for (size_t i = 0; i < n_results; i++) {
    tc__type_from_mlir(mlirValueGetType(mlirOperationGetResult(op, (intptr_t)i)), &types[i]);
    // (Operands of concat are cast to dynamic sizes; the generator's values are static, so the result is too once inferred from
    // them.)
    elements += tc__type_elements(&types[i]) < 0 ? INT64_MAX / 4 : tc__type_elements(&types[i]);
    changes_kind |= float_operand && !tc_dtype_is_float(types[i].dtype);
  }
  // A long product may overflow or not by the order of its factors.
  if (kind == TC_OP_prod && float_operand) {
    double magnitude = 0;
    int64_t count = tc__type_elements(&ins[0].type);
    for (int64_t i = 0; i < count; i++) {
      double x = fabs(gen_element(&ins[0], i));
      magnitude += x > 0 && isfinite(x) ? fabs(log2(x)) : 200;
    }
    if (magnitude > 60) {
      mlirOperationDestroy(op);
      return false;
    }
  }
  bool take = elements <= g->max_elements * 16 && !((changes_kind || is_discontinuous(kind)) && !exact);
  if (kind == TC_OP_cast && changes_kind && types[0].dtype != TC_BOOL) // out of range is undefined
    take &= finite && largest(&ins[0]) < 100 && types[0].dtype != TC_U8;
  tc__op_attrs read = {{NULL, 0}, NULL};
  bool result_exact = exact && keeps_exact(info, &types[0]);
  if (take) {
    if (tc__op_attrs_read(op, &read) != TC_OK || !evaluate(kind, ins, n, &read.attrs, types, n_results, outs)) {
      g->failed = true;
      take = false;
    } else if (!result_exact && !(take = evaluate(kind, rough_ins, n, &read.attrs, types, n_results, rough_outs))) {
      g->failed = true;
    }
  }
  for (size_t i = 0; take && i < n_results && !result_exact; i++) {
    double noise = noise_of(types[i].dtype);
    int64_t count = tc_dtype_is_float(types[i].dtype) ? tc__type_elements(&types[i]) : 0;
    for (int64_t k = 0; k < count; k++)
      gen_set_element(&rough_outs[i], k, gen_element(&rough_outs[i], k) * (1 + noise * gen_real(g, -1, 1)));
    // Formulas such as x (1 + erf(x)) / 2 lose what is small beside x.
    bool formula = info->family == TC_FAMILY_UNARY && (info->traits & TC_TRAIT_COMPOSITE);
    for (int64_t k = 0; k < count && formula; k++)
      if (isfinite(gen_element(&rough_outs[i], k)) && isfinite(gen_element(&ins[0], k)))
        gen_set_element(&rough_outs[i], k, gen_element(&rough_outs[i], k) + noise * gen_real(g, -1, 1) * gen_element(&ins[0], k));
    // So does log(sum(exp(x))), by itself or taken from x, beside the largest x.
    bool logarithm = kind == TC_OP_log_softmax || kind == TC_OP_logsumexp;
    double scale = logarithm ? 1 + largest(&ins[0]) : 0;
    for (int64_t k = 0; k < count && logarithm && isfinite(scale); k++)
      if (isfinite(gen_element(&rough_outs[i], k)))
        gen_set_element(&rough_outs[i], k, gen_element(&rough_outs[i], k) + noise * gen_real(g, -1, 1) * scale);
    take &= gen_difference(&rough_outs[i], &outs[i]) <= gen_tolerance(types[i].dtype) / 6;
    // Overflow of a 16-bit float depends on where a fused kernel rounds.
    if (tc_dtype_size(types[i].dtype) == 2 && count && finite)
      take &= all_finite(&outs[i]);
  }
  if (!take) {
    for (size_t i = 0; i < 2; i++) {
      tc__aligned_free(outs[i].data);
      tc__aligned_free(rough_outs[i].data);
    }
    mlirOperationDestroy(op);
  } else {
    for (size_t i = 0; i < n; i++)
      g->values[operands[i]].used = true;
    for (size_t i = 0; i < n_results; i++) {
      gen_value *v = append(g, &types[i]);
      tc__aligned_free(v->real.data);
      v->real = outs[i];
      v->exact = result_exact || (!tc_dtype_is_float(types[i].dtype) && exact);
      v->rough = result_exact ? outs[i] : rough_outs[i];
      v->v = mlirOperationGetResult(op, (intptr_t)i);
    }
    g->n_ops++;
  }
  tc__op_attrs_free(&read);
  return take;
}

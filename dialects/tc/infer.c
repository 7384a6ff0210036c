// Checks that every op shares, and the dispatch to the rule of its row.
#include "infer.h"

#include <stdio.h>

tc_status tc__infer_fail(tc__infer *c, tc_status status, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  if (c->err_size)
    vsnprintf(c->err, c->err_size, fmt, args);
  va_end(args);
  return status;
}

const char *tc__infer_operand(const tc__infer *c, size_t i) {
  static _Thread_local char buffers[2][64];
  static _Thread_local int turn;
  char *buf = buffers[turn ^= 1];
  int last = c->info->n_operands - 1;
  const char *name = (int)i <= last ? c->info->operands[i].name : last >= 0 ? c->info->operands[last].name : "?";
  snprintf(buf, sizeof buffers[0], "operand %zu (%s)", i, name);
  return buf;
}

bool tc__infer_unify(int64_t *a, int64_t b) {
  if (*a == TC__DYNAMIC)
    *a = b;
  return b == TC__DYNAMIC || *a == b;
}

tc_status tc__infer_broadcast_into(tc__infer *c, tc__type *a, const tc__type *b, size_t which) {
  tc__type result = {.dtype = a->dtype, .rank = a->rank > b->rank ? a->rank : b->rank};
  for (int i = 0; i < result.rank; i++) {
    int ai = i - (result.rank - a->rank), bi = i - (result.rank - b->rank);
    int64_t x = ai < 0 ? 1 : a->shape[ai], y = bi < 0 ? 1 : b->shape[bi];
    if (x == 1)
      x = y;
    else if (y != 1 && !tc__infer_unify(&x, y)) {
      char got[160], other[160];
      return tc__infer_fail(c, TC_ERR_SHAPE_MISMATCH, "%s: shape %s does not broadcast with %s at dim %d",
                            tc__infer_operand(c, which), tc__type_format(b, got, sizeof got),
                            tc__type_format(a, other, sizeof other), i);
    }
    result.shape[i] = x;
  }
  *a = result;
  return TC_OK;
}

tc_status tc__infer_same_dtype(tc__infer *c, size_t first) {
  for (size_t i = first + 1; i < c->n; i++)
    if (c->in[i].dtype != c->in[first].dtype)
      return tc__infer_fail(c, TC_ERR_DTYPE_MISMATCH, "%s: expected %s, found %s", tc__infer_operand(c, i),
                            tc_dtype_name(c->in[first].dtype), tc_dtype_name(c->in[i].dtype));
  return TC_OK;
}

tc_status tc__infer_dim(tc__infer *c, const char *name, int64_t rank, int64_t *out) {
  *out = tc__attrs_int(c->attrs, name, 0);
  if (*out < 0 || *out >= rank)
    return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute '%s': expected 0 <= %s < %lld, found %lld", name, name,
                          (long long)rank, (long long)*out);
  return TC_OK;
}

tc_status tc__infer_ints(tc__infer *c, const char *name, int64_t count, int64_t low, size_t max, const int64_t **out,
                         size_t *out_n) {
  *out = tc__attrs_ints(c->attrs, name, out_n);
  if (count >= 0 && *out_n != (size_t)count)
    return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute '%s': expected %lld entries, found %zu", name, (long long)count,
                          *out_n);
  if (*out_n > max)
    return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute '%s': expected at most %zu entries, found %zu", name, max,
                          *out_n);
  for (size_t i = 0; i < *out_n; i++)
    if ((*out)[i] < low)
      return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute '%s': expected entries >= %lld, found %lld at %zu", name,
                            (long long)low, (long long)(*out)[i], i);
  return TC_OK;
}

tc_status tc__infer_rank_at_least(tc__infer *c, size_t operand, int rank) {
  if (c->in[operand].rank >= rank)
    return TC_OK;
  return tc__infer_fail(c, TC_ERR_SHAPE_MISMATCH, "%s: expected rank >= %d, found %d", tc__infer_operand(c, operand), rank,
                        c->in[operand].rank);
}

tc_status tc__infer_rank_is(tc__infer *c, size_t operand, int rank) {
  if (c->in[operand].rank == rank)
    return TC_OK;
  return tc__infer_fail(c, TC_ERR_SHAPE_MISMATCH, "%s: expected rank %d, found %d", tc__infer_operand(c, operand), rank,
                        c->in[operand].rank);
}

// ---- checks of the table's own columns
// ------------------------------------------------------------------------------------------------------

static bool in_class(tc_dtype d, const char *cls) {
  bool f = tc_dtype_is_float(d), b = d == TC_BOOL, i = !f && !b;
  if (strcmp(cls, "any") == 0)
    return true;
  if (strcmp(cls, "float") == 0)
    return f;
  if (strcmp(cls, "int") == 0)
    return i;
  if (strcmp(cls, "bool") == 0)
    return b;
  if (strcmp(cls, "num") == 0)
    return f || i;
  if (strcmp(cls, "index") == 0)
    return d == TC_I32 || d == TC_I64;
  return strcmp(cls, "intbool") == 0 && (i || b);
}

static const char *class_text(const char *cls) {
  if (strcmp(cls, "float") == 0)
    return "a float type";
  if (strcmp(cls, "int") == 0)
    return "an integer type";
  if (strcmp(cls, "bool") == 0)
    return "i1";
  if (strcmp(cls, "num") == 0)
    return "a float or integer type";
  if (strcmp(cls, "index") == 0)
    return "i32 or i64";
  return "an integer type or i1";
}

static tc_status check_operands(tc__infer *c) {
  const tc__op_info *info = c->info;
  size_t least = 0, most = (size_t)info->n_operands;
  for (int i = 0; i < info->n_operands; i++) {
    least += !info->operands[i].optional && !info->operands[i].variadic;
    if (info->operands[i].variadic)
      most = SIZE_MAX;
  }
  if (c->n < least || c->n > most) {
    if (least == most)
      return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "expected %zu operands, found %zu", least, c->n);
    return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "expected %s %zu operands, found %zu",
                          c->n < least ? "at least" : "at most", c->n < least ? least : most, c->n);
  }
  for (size_t i = 0; i < c->n; i++) {
    const tc__op_field *field = &info->operands[(int)i < info->n_operands ? (int)i : info->n_operands - 1];
    if (c->in[i].rank < 0 || c->in[i].rank > TC_MAX_RANK)
      return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "%s: rank %d is over %d", tc__infer_operand(c, i), c->in[i].rank,
                            TC_MAX_RANK);
    if (!in_class(c->in[i].dtype, field->cls))
      return tc__infer_fail(c, TC_ERR_DTYPE_MISMATCH, "%s: expected %s, found %s", tc__infer_operand(c, i),
                            class_text(field->cls), tc_dtype_name(c->in[i].dtype));
  }
  return TC_OK;
}

static bool kind_fits(tc__attr_kind kind, const char *cls) {
  switch (kind) {
  case TC__ATTR_INT:
    return strcmp(cls, "i64") == 0 || strcmp(cls, "num") == 0;
  case TC__ATTR_BOOL:
    return strcmp(cls, "bool") == 0;
  case TC__ATTR_FLOAT:
    return strcmp(cls, "f64") == 0 || strcmp(cls, "num") == 0;
  case TC__ATTR_STR:
    return strcmp(cls, "str") == 0;
  case TC__ATTR_INTS:
    return strcmp(cls, "i64[]") == 0;
  case TC__ATTR_FLOATS:
    return strcmp(cls, "f64[]") == 0;
  case TC__ATTR_DTYPE:
    return strcmp(cls, "type") == 0;
  case TC__ATTR_TENSOR:
    return strcmp(cls, "elements") == 0;
  }
  return false;
}

static tc_status check_attrs(tc__infer *c) {
  static const char *const kind_text[] = {[TC__ATTR_INT] = "an integer",          [TC__ATTR_BOOL] = "a bool",
                                          [TC__ATTR_FLOAT] = "a float",           [TC__ATTR_STR] = "a string",
                                          [TC__ATTR_INTS] = "a list of integers", [TC__ATTR_FLOATS] = "a list of floats",
                                          [TC__ATTR_DTYPE] = "an element type",   [TC__ATTR_TENSOR] = "a tensor"};
  for (int i = 0; i < c->info->n_attrs; i++) {
    const tc__op_field *field = &c->info->attrs[i];
    const tc__attr *attr = tc__attrs_find(c->attrs, field->name);
    // An absent list is an empty one: dims = [] and no dims are the same.
    if (!attr && !*field->fallback && !strstr(field->cls, "[]"))
      return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute '%s' (%s) is missing", field->name, field->cls);
    if (attr && !kind_fits(attr->kind, field->cls))
      return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute '%s': expected %s, found %s", field->name, field->cls,
                            kind_text[attr->kind]);
  }
  return TC_OK;
}

tc_status tc__op_infer(tc_op_kind kind, const tc__type *operands, size_t n_operands, const tc__attrs *attrs,
                       tc__type *out_results, size_t *out_n_results, char *err, size_t err_size) {
  static const tc__infer_rule rules[] = {
#define TC_OP(name, family, traits, operands, results, attributes, rule, doc) tc__infer_##rule,
#include "tc_ops.def"
#undef TC_OP
  };
  static const tc__attrs none = {NULL, 0};
  const tc__op_info *info = tc__op_info_get(kind);
  tc__type out[2] = {{0}, {0}};
  tc__infer c = {info, operands, n_operands, attrs ? attrs : &none, out, err, err_size};
  if (err_size)
    err[0] = 0;
  *out_n_results = (size_t)info->n_results;
  TC_TRY(check_operands(&c));
  TC_TRY(check_attrs(&c));
  TC_TRY(rules[kind](&c));
  for (int i = 0; i < info->n_results; i++) {
    if (out[i].rank > TC_MAX_RANK)
      return tc__infer_fail(&c, TC_ERR_UNSUPPORTED, "the result would have rank %d: at most %d", out[i].rank, TC_MAX_RANK);
    if (tc__type_is_static(&out[i]) && tc__type_bytes(&out[i]) < 0)
      return tc__infer_fail(&c, TC_ERR_INVALID_ARGUMENT, "the result would have more than 2^63 bytes");
    out_results[i] = out[i];
  }
  return TC_OK;
}

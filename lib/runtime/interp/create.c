// Tensors from attributes alone.
#include "internal.h"

tc_status tc__interp_create(const tc__call *c) {
  const tc__buffer *out = &c->out[0];
  size_t size = tc_dtype_size(out->type.dtype);
  int64_t n = tc__type_elements(&out->type);
  if (c->kind == TC_OP_constant) {
    const tc__attr *value = tc__attrs_find(c->attrs, "value");
    if (n)
      memcpy(out->data, value->tensor.data, size * (size_t)n);
    return TC_OK;
  }
  if (c->kind == TC_OP_full) {
    uint64_t element = 0;
    tc__encode(tc__attrs_find(c->attrs, "value"), out->type.dtype, &element);
    tc__fill_row(out->data, &element, size, n);
    return TC_OK;
  }
  // iota
  const tc__attr *start = tc__attrs_find(c->attrs, "start"), *step = tc__attrs_find(c->attrs, "step");
  bool in_f64 = (start && start->kind == TC__ATTR_FLOAT) || (step && step->kind == TC__ATTR_FLOAT);
  double start_f = tc__attrs_float(c->attrs, "start", 0), step_f = tc__attrs_float(c->attrs, "step", 1);
  uint64_t start_i = (uint64_t)tc__attrs_int(c->attrs, "start", 0), step_i = (uint64_t)tc__attrs_int(c->attrs, "step", 1);
  tc__lines l = tc__lines_of(&out->type, tc__attrs_int(c->attrs, "dim", 0));
  int64_t at = 0;
  for (int64_t o = 0; o < l.outer; o++)
    for (int64_t k = 0; k < l.size; k++, at += l.inner) {
      if (!l.inner)
        continue;
      if (in_f64) {
        double v = start_f + step_f * (double)k;
        tc__store_f64(out, at, 1, &v, 1);
      } else {
        int64_t v = (int64_t)(start_i + step_i * (uint64_t)k);
        tc__store_i64(out, at, 1, &v, 1);
      }
      tc__fill_row(tc__at(out, at), tc__at(out, at), size, l.inner);
    }
  return TC_OK;
}

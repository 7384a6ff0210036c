// Running sums, products, maxima and minima along a dim.
#include "internal.h"

#include <math.h>

static void scan_f(tc_op_kind kind, double *x, int64_t *index, int64_t n) {
  double run = kind == TC_OP_cumprod ? 1 : 0;
  int64_t at = 0;
  for (int64_t i = 0; i < n; i++) {
    if (kind == TC_OP_cumsum)
      run += x[i];
    else if (kind == TC_OP_cumprod)
      run *= x[i];
    else if (i == 0 || isnan(x[i]) || (!isnan(run) && (kind == TC_OP_cummax ? x[i] >= run : x[i] <= run))) {
      run = x[i];
      at = i;
    }
    x[i] = run;
    index[i] = at;
  }
}

static void scan_i(tc_op_kind kind, int64_t *x, int64_t *index, int64_t n) {
  int64_t run = kind == TC_OP_cumprod ? 1 : 0, at = 0;
  for (int64_t i = 0; i < n; i++) {
    if (kind == TC_OP_cumsum)
      run = (int64_t)((uint64_t)run + (uint64_t)x[i]);
    else if (kind == TC_OP_cumprod)
      run = (int64_t)((uint64_t)run * (uint64_t)x[i]);
    else if (i == 0 || (kind == TC_OP_cummax ? x[i] >= run : x[i] <= run)) {
      run = x[i];
      at = i;
    }
    x[i] = run;
    index[i] = at;
  }
}

tc_status tc__interp_scan(const tc__call *c) {
  const tc__buffer *x = &c->in[0];
  tc__lines l = tc__lines_of(&x->type, tc__attrs_int(c->attrs, "dim", 0));
  bool is_float = tc__is_float(x), has_index = c->kind == TC_OP_cummax || c->kind == TC_OP_cummin;
  void *line = tc__scratch(l.size, 8);
  int64_t *index = tc__scratch(l.size, 8);
  if (!line || !index) {
    tc__free(line);
    tc__free(index);
    return tc__oom();
  }
  for (int64_t o = 0; o < l.outer; o++)
    for (int64_t i = 0; i < l.inner; i++) {
      int64_t base = o * l.size * l.inner + i;
      if (is_float) {
        tc__load_f64(line, x, base, l.inner, l.size);
        scan_f(c->kind, line, index, l.size);
        tc__store_f64(&c->out[0], base, l.inner, line, l.size);
      } else {
        tc__load_i64(line, x, base, l.inner, l.size);
        scan_i(c->kind, line, index, l.size);
        tc__store_i64(&c->out[0], base, l.inner, line, l.size);
      }
      if (has_index)
        tc__store_i64(&c->out[1], base, l.inner, index, l.size);
    }
  tc__free(line);
  tc__free(index);
  return TC_OK;
}

// sort and topk: a stable merge sort of the positions of each line, NaN the largest.
#include "internal.h"

#include <math.h>

typedef struct item {
  double f;  ///< the key of floats
  int64_t i; ///< the key of integers
  int64_t at;
} item;

static int compare_f(const item *a, const item *b) {
  if (isnan(a->f) || isnan(b->f))
    return (isnan(a->f) != 0) - (isnan(b->f) != 0);
  return (a->f > b->f) - (a->f < b->f);
}
static int compare_i(const item *a, const item *b) { return (a->i > b->i) - (a->i < b->i); }

static void merge_sort(item *x, item *spare, int64_t n, bool is_float, int sign) {
  for (int64_t width = 1; width < n; width *= 2) {
    for (int64_t low = 0; low < n; low += 2 * width) {
      int64_t mid = low + width < n ? low + width : n, high = low + 2 * width < n ? low + 2 * width : n;
      int64_t a = low, b = mid;
      for (int64_t k = low; k < high; k++) {
        bool left = a < mid && (b >= high || sign * (is_float ? compare_f(&x[a], &x[b]) : compare_i(&x[a], &x[b])) <= 0);
        spare[k] = left ? x[a++] : x[b++];
      }
    }
    memcpy(x, spare, sizeof *x * (size_t)n);
  }
}

tc_status tc__interp_sort(const tc__call *c) {
  const tc__buffer *x = &c->in[0], *values = &c->out[0];
  int64_t dim = tc__attrs_int(c->attrs, "dim", 0);
  tc__lines l = tc__lines_of(&x->type, dim);
  bool topk = c->kind == TC_OP_topk, is_float = tc__is_float(x);
  int sign = (topk ? tc__attrs_bool(c->attrs, "largest", true) : tc__attrs_bool(c->attrs, "descending", false)) ? -1 : 1;
  int64_t take = topk ? tc__attrs_int(c->attrs, "k", 0) : l.size, *out = c->out[1].data;
  size_t size = tc_dtype_size(x->type.dtype);
  item *items = tc__scratch(l.size, 2 * sizeof *items);
  double *keys = tc__scratch(l.size, 8);
  if (!items || !keys) {
    tc__free(items);
    tc__free(keys);
    return tc__oom();
  }
  for (int64_t o = 0; o < l.outer; o++)
    for (int64_t i = 0; i < l.inner && l.size; i++) {
      int64_t base = o * l.size * l.inner + i;
      if (is_float)
        tc__load_f64(keys, x, base, l.inner, l.size);
      else
        tc__load_i64((int64_t *)keys, x, base, l.inner, l.size);
      for (int64_t k = 0; k < l.size; k++)
        items[k] = (item){is_float ? keys[k] : 0, is_float ? 0 : ((int64_t *)keys)[k], k};
      merge_sort(items, items + l.size, l.size, is_float, sign);
      for (int64_t k = 0; k < take; k++) {
        int64_t to = (o * take + k) * l.inner + i;
        memcpy(tc__at(values, to), tc__at(x, base + items[k].at * l.inner), size);
        out[to] = items[k].at;
      }
    }
  tc__free(items);
  tc__free(keys);
  return TC_OK;
}

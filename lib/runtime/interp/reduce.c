// Reductions. The elements behind one result are gathered into a row of f64 or i64, then folded.
#include "internal.h"

#include <math.h>

static double fold_f(const tc__call *c, const double *x, int64_t n) {
  double r = 0, most;
  switch (c->kind) {
  case TC_OP_sum:
  case TC_OP_mean:
    for (int64_t i = 0; i < n; i++)
      r += x[i];
    return c->kind == TC_OP_mean ? r / (double)n : r;
  case TC_OP_prod:
    r = 1;
    for (int64_t i = 0; i < n; i++)
      r *= x[i];
    return r;
  case TC_OP_amax:
  case TC_OP_amin:
    r = x[0];
    for (int64_t i = 1; i < n && !isnan(r); i++)
      if (isnan(x[i]) || (c->kind == TC_OP_amax ? x[i] > r : x[i] < r))
        r = x[i];
    return r;
  case TC_OP_var: {
    double mean = 0, divisor = (double)n - tc__attrs_float(c->attrs, "correction", 1);
    for (int64_t i = 0; i < n; i++)
      mean += x[i];
    mean /= (double)n;
    for (int64_t i = 0; i < n; i++)
      r += (x[i] - mean) * (x[i] - mean);
    return r / (divisor > 0 ? divisor : 0);
  }
  case TC_OP_norm: {
    double p = tc__attrs_float(c->attrs, "p", 2);
    if (isinf(p)) {
      r = p > 0 || n == 0 ? 0 : INFINITY;
      for (int64_t i = 0; i < n && !isnan(r); i++) {
        double a = fabs(x[i]);
        if (isnan(a) || (p > 0 ? a > r : a < r))
          r = a;
      }
      return r;
    }
    for (int64_t i = 0; i < n; i++)
      r += p == 0 ? x[i] != 0 : p == 1 ? fabs(x[i]) : p == 2 ? x[i] * x[i] : pow(fabs(x[i]), p);
    return p == 0 || p == 1 ? r : p == 2 ? sqrt(r) : pow(r, 1 / p);
  }
  case TC_OP_logsumexp:
    most = -INFINITY;
    for (int64_t i = 0; i < n; i++)
      if (isnan(x[i]) || x[i] > most)
        most = x[i];
    if (isinf(most)) // all -inf, or some +inf
      most = 0;
    for (int64_t i = 0; i < n; i++)
      r += exp(x[i] - most);
    return log(r) + most;
  case TC_OP_any:
    for (int64_t i = 0; i < n; i++)
      r = r != 0 || x[i] != 0;
    return r;
  case TC_OP_all:
    r = 1;
    for (int64_t i = 0; i < n; i++)
      r = r != 0 && x[i] != 0;
    return r;
  default: // argmax, argmin
    most = x[0];
    for (int64_t i = 1; i < n && !isnan(most); i++)
      if (isnan(x[i]) || (c->kind == TC_OP_argmax ? x[i] > most : x[i] < most)) {
        most = x[i];
        r = (double)i;
      }
    return r;
  }
}

static int64_t fold_i(const tc__call *c, const int64_t *x, int64_t n) {
  uint64_t r = c->kind == TC_OP_prod || c->kind == TC_OP_all;
  int64_t most = n ? x[0] : 0, at = 0;
  for (int64_t i = 0; i < n; i++)
    switch (c->kind) {
    case TC_OP_sum:
      r += (uint64_t)x[i];
      break;
    case TC_OP_prod:
      r *= (uint64_t)x[i];
      break;
    case TC_OP_any:
      r |= x[i] != 0;
      break;
    case TC_OP_all:
      r &= x[i] != 0;
      break;
    default:
      if (c->kind == TC_OP_amax || c->kind == TC_OP_argmax ? x[i] > most : x[i] < most) {
        most = x[i];
        at = i;
      }
    }
  if (c->kind == TC_OP_amax || c->kind == TC_OP_amin)
    return most;
  return c->kind == TC_OP_argmax || c->kind == TC_OP_argmin ? at : (int64_t)r;
}

tc_status tc__interp_reduce(const tc__call *c) {
  const tc__buffer *x = &c->in[0], *out = &c->out[0];
  const tc__type *t = &x->type;
  size_t n_dims;
  const int64_t *dims = tc__attrs_ints(c->attrs, "dims", &n_dims);
  int64_t dim = tc__attrs_int(c->attrs, "dim", 0);
  if (c->kind == TC_OP_argmax || c->kind == TC_OP_argmin) {
    dims = &dim;
    n_dims = t->rank > 0;
  }
  bool gone[TC_MAX_RANK] = {false};
  for (size_t i = 0; i < n_dims; i++)
    gone[dims[i]] = true;
  tc__strides all, kept, folded;
  int64_t kept_shape[TC_MAX_RANK], folded_shape[TC_MAX_RANK], n = 1;
  int n_kept = 0, n_folded = 0;
  tc__strides_of(t, &all);
  for (int d = 0; d < t->rank; d++) {
    if (n_dims == 0 || gone[d]) {
      folded_shape[n_folded] = t->shape[d];
      folded.s[n_folded++] = all.s[d];
      n *= t->shape[d];
    } else {
      kept_shape[n_kept] = t->shape[d];
      kept.s[n_kept++] = all.s[d];
    }
  }
  void *row = tc__scratch(n, 8);
  if (!row)
    return tc__oom();
  bool is_float = tc__is_float(x);
  tc__walk results;
  tc__walk_init(&results, n_kept, kept_shape, 1, &kept);
  int64_t at = 0;
  for (int64_t r = 0; r < results.rows; r++, tc__walk_next(&results))
    for (int64_t i = 0; i < results.inner; i++, at++) {
      int64_t base = results.at[0] + i * results.step[0], filled = 0;
      tc__walk w;
      tc__walk_init(&w, n_folded, folded_shape, 1, &folded);
      for (int64_t k = 0; k < w.rows; k++, tc__walk_next(&w), filled += w.inner) {
        if (is_float)
          tc__load_f64((double *)row + filled, x, base + w.at[0], w.step[0], w.inner);
        else
          tc__load_i64((int64_t *)row + filled, x, base + w.at[0], w.step[0], w.inner);
      }
      if (is_float) {
        double y = fold_f(c, row, n);
        tc__store_f64(out, at, 1, &y, 1);
      } else {
        int64_t y = fold_i(c, row, n);
        tc__store_i64(out, at, 1, &y, 1);
      }
    }
  tc__free(row);
  return TC_OK;
}

// Scaled dot-product attention, in f64.
#include "internal.h"

#include <math.h>

// Strides of the leading dims of t (all but the last two) seen through `rank` batch dims; `groups`: dim -3 advances once in so
// many steps.
typedef struct batch {
  int64_t shape[TC_MAX_RANK], stride[TC_MAX_RANK], repeat;
} batch;

static batch batch_of(const tc__type *t, int rank, const int64_t *result) {
  batch b = {.repeat = 1};
  tc__strides all;
  tc__strides_of(t, &all);
  for (int d = 0; d < rank; d++) {
    int f = d - (rank - (t->rank - 2));
    b.shape[d] = f < 0 ? 1 : t->shape[f];
    b.stride[d] = f < 0 || t->shape[f] == 1 ? 0 : all.s[f];
  }
  if (rank > 0 && b.stride[rank - 1] && b.shape[rank - 1] < result[rank - 1])
    b.repeat = result[rank - 1] / b.shape[rank - 1];
  return b;
}

static int64_t batch_offset(const batch *b, int rank, const int64_t *index) {
  int64_t at = 0;
  for (int d = 0; d < rank; d++)
    at += (d == rank - 1 ? index[d] / b->repeat : index[d]) * b->stride[d];
  return at;
}

tc_status tc__interp_attention(const tc__call *c) {
  const tc__buffer *q = &c->in[0], *k = &c->in[1], *v = &c->in[2], *mask = c->n_in > 3 ? &c->in[3] : NULL, *out = &c->out[0];
  int rank = out->type.rank - 2;
  const int64_t *shape = out->type.shape;
  int64_t length = q->type.shape[q->type.rank - 2], depth = q->type.shape[q->type.rank - 1],
          keys = k->type.shape[k->type.rank - 2], width = v->type.shape[v->type.rank - 1];
  bool causal = tc__attrs_bool(c->attrs, "is_causal", false);
  double scale = tc__attrs_float(c->attrs, "scale", 1 / sqrt((double)depth));
  batch qb = batch_of(&q->type, rank, shape), kb = batch_of(&k->type, rank, shape), vb = batch_of(&v->type, rank, shape);
  tc__strides mask_strides = {{0}};
  if (mask)
    tc__strides_broadcast(&mask->type, rank + 2, &mask_strides);
  int64_t batches = 1, index[TC_MAX_RANK] = {0}, k_n, v_n;
  for (int d = 0; d < rank; d++)
    batches *= shape[d];
  double *kf = __builtin_mul_overflow(keys, depth, &k_n) ? NULL : tc__scratch(k_n, 8);
  double *vf = __builtin_mul_overflow(keys, width, &v_n) ? NULL : tc__scratch(v_n, 8);
  double *qf = tc__scratch(depth, 8), *p = tc__scratch(keys, 8), *y = tc__scratch(width, 8), *extra = tc__scratch(keys, 8);
  bool oom = !kf || !vf || !qf || !p || !y || !extra;
  for (int64_t b = 0; b < batches && !oom; b++) {
    tc__load_f64(kf, k, batch_offset(&kb, rank, index), 1, k_n);
    tc__load_f64(vf, v, batch_offset(&vb, rank, index), 1, v_n);
    int64_t q0 = batch_offset(&qb, rank, index), mask0 = 0;
    for (int d = 0; d < rank; d++)
      mask0 += index[d] * mask_strides.s[d];
    for (int64_t l = 0; l < length; l++) {
      double most = -INFINITY, sum = 0;
      tc__load_f64(qf, q, q0 + l * depth, 1, depth);
      if (mask)
        tc__load_f64(extra, mask, mask0 + l * mask_strides.s[rank], mask_strides.s[rank + 1], keys);
      for (int64_t s = 0; s < keys; s++) {
        double dot = 0;
        for (int64_t d = 0; d < depth; d++)
          dot += qf[d] * kf[s * depth + d];
        dot *= scale;
        if (mask && mask->type.dtype == TC_BOOL)
          dot = extra[s] != 0 ? dot : -INFINITY;
        else if (mask)
          dot += extra[s];
        if (causal && s > l)
          dot = -INFINITY;
        p[s] = dot;
        most = dot > most || isnan(dot) ? dot : most;
      }
      for (int64_t d = 0; d < width; d++)
        y[d] = 0;
      // A row that is masked as a whole has weights of 0, not NaN.
      bool empty = (mask || causal) && most == -INFINITY;
      for (int64_t s = 0; s < keys; s++)
        sum += p[s] = empty ? 0 : exp(p[s] - most);
      for (int64_t s = 0; s < keys; s++)
        for (int64_t d = 0; d < width; d++)
          y[d] += (empty ? 0 : p[s] / sum) * vf[s * width + d];
      tc__store_f64(out, (b * length + l) * width, 1, y, width);
    }
    for (int d = rank - 1; d >= 0; d--) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
  tc__free(kf);
  tc__free(vf);
  tc__free(qf);
  tc__free(p);
  tc__free(y);
  tc__free(extra);
  return oom ? tc__oom() : TC_OK;
}

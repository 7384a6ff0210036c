// Normalisations, in f64.
#include "internal.h"

#include <math.h>

// y = (x - mean) * scale * weight + bias over n elements; weight[i / per] and bias[i / per].
static void affine(double *x, int64_t n, double mean, double scale, const double *weight, const double *bias, int64_t per) {
  for (int64_t i = 0; i < n; i++) {
    x[i] = (x[i] - mean) * scale;
    if (weight)
      x[i] *= weight[i / per];
    if (bias)
      x[i] += bias[i / per];
  }
}

static void moments(const double *x, int64_t n, double *mean, double *var) {
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < n; i++)
    sum += x[i];
  *mean = sum / (double)n;
  for (int64_t i = 0; i < n; i++)
    squares += (x[i] - *mean) * (x[i] - *mean);
  *var = squares / (double)n;
}

tc_status tc__interp_norm(const tc__call *c) {
  const tc__buffer *x = &c->in[0];
  const tc__type *t = &x->type;
  double eps = tc__attrs_float(c->attrs, "eps", 1e-5);
  int64_t total = tc__type_elements(t), block = 1, blocks, params[4] = {0};
  double *extra[4] = {NULL}; // the operands after x
  for (size_t i = 1; i < c->n_in && i <= 4; i++) {
    params[i - 1] = tc__type_elements(&c->in[i].type);
    extra[i - 1] = tc__scratch(params[i - 1], sizeof(double));
  }
  int64_t groups = tc__attrs_int(c->attrs, "groups", 1), plane = 1; // plane: elements of one channel
  if (c->kind == TC_OP_layer_norm || c->kind == TC_OP_rms_norm) {
    for (int d = t->rank - (int)tc__attrs_int(c->attrs, "axes", 1); d < t->rank; d++)
      block *= t->shape[d];
  } else {
    for (int d = 2; d < t->rank; d++)
      plane *= t->shape[d];
    block = c->kind == TC_OP_batch_norm ? plane : plane * (t->shape[1] / groups);
  }
  double *row = tc__scratch(block, sizeof *row);
  bool oom = !row;
  for (size_t i = 1; i < c->n_in && i <= 4; i++) {
    if (extra[i - 1])
      tc__load_f64(extra[i - 1], &c->in[i], 0, 1, params[i - 1]);
    else
      oom = true;
  }
  blocks = total && !oom ? total / block : 0;
  for (int64_t b = 0; b < blocks; b++) {
    double mean, var;
    tc__load_f64(row, x, b * block, 1, block);
    switch (c->kind) {
    case TC_OP_batch_norm: {
      int64_t ch = b % t->shape[1];
      // As PyTorch: one scale and one shift a channel, which tells infinite statistics apart.
      double scale = (extra[2] ? extra[2][ch] : 1) / sqrt(extra[1][ch] + eps);
      double shift = (extra[3] ? extra[3][ch] : 0) - extra[0][ch] * scale;
      for (int64_t i = 0; i < block; i++)
        row[i] = row[i] * scale + shift;
      break;
    }
    case TC_OP_group_norm: {
      int64_t ch = b % groups * (t->shape[1] / groups);
      moments(row, block, &mean, &var);
      affine(row, block, mean, 1 / sqrt(var + eps), extra[0] ? extra[0] + ch : NULL, extra[1] ? extra[1] + ch : NULL, plane);
      break;
    }
    case TC_OP_layer_norm:
      moments(row, block, &mean, &var);
      affine(row, block, mean, 1 / sqrt(var + eps), extra[0], extra[1], 1);
      break;
    default: // rms_norm
      var = 0;
      for (int64_t i = 0; i < block; i++)
        var += row[i] * row[i];
      affine(row, block, 0, 1 / sqrt(var / (double)block + eps), extra[0], NULL, 1);
    }
    tc__store_f64(&c->out[0], b * block, 1, row, block);
  }
  tc__free(row);
  for (int i = 0; i < 4; i++)
    tc__free(extra[i]);
  return oom ? tc__oom() : TC_OK;
}

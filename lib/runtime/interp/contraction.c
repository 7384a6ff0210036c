// matmul, linear, convolution. All three are one kernel: rows of A times a panel of B, 64 columns wide, that was gathered into
// f64 (floats) or u64 (integers, which wrap); for a convolution the panel holds the windows of 64 output positions.
#include "internal.h"

enum { PANEL = 64 };

static void load_any(void *dst, const tc__buffer *src, int64_t offset, int64_t stride, int64_t n) {
  if (tc__is_float(src))
    tc__load_f64(dst, src, offset, stride, n);
  else
    tc__load_i64(dst, src, offset, stride, n);
}

static void store_any(const tc__buffer *dst, int64_t offset, int64_t stride, const void *src, int64_t n) {
  if (tc__is_float(dst))
    tc__store_f64(dst, offset, stride, src, n);
  else
    tc__store_i64(dst, offset, stride, src, n);
}

// acc[j] = init + sum over p of a[p] * panel[p][j]
#define MULTIPLY(name, T)                                                                                                        \
  static void name(T *restrict acc, const T *restrict a, const T *restrict panel, int64_t k, T init) {                           \
    for (int j = 0; j < PANEL; j++)                                                                                              \
      acc[j] = init;                                                                                                             \
    for (int64_t p = 0; p < k; p++) {                                                                                            \
      T x = a[p];                                                                                                                \
      const T *row = panel + p * PANEL;                                                                                          \
      for (int j = 0; j < PANEL; j++)                                                                                            \
        acc[j] += x * row[j];                                                                                                    \
    }                                                                                                                            \
  }
MULTIPLY(multiply_f, double)
MULTIPLY(multiply_i, uint64_t)

static void multiply(bool is_float, void *acc, const void *a, const void *panel, int64_t k, const tc__buffer *bias, int64_t at) {
  double init = 0;
  int64_t init_i = 0;
  if (bias && is_float)
    tc__load_f64(&init, bias, at, 1, 1);
  else if (bias)
    tc__load_i64(&init_i, bias, at, 1, 1);
  if (is_float)
    multiply_f(acc, a, panel, k, init);
  else
    multiply_i(acc, a, panel, k, (uint64_t)init_i);
}

typedef struct matrices {
  tc__buffer a, b, out;
  const tc__buffer *bias; ///< per column
  int64_t m, n, k;
  int64_t a_row, a_col, b_row, b_col; ///< strides
} matrices;

static void multiply_matrices(const matrices *g, int64_t a0, int64_t b0, int64_t out0, char *a_row, char *panel) {
  bool is_float = tc__is_float(&g->a);
  union {
    double f[PANEL];
    int64_t i[PANEL];
  } acc, bias;
  for (int64_t j = 0; j < g->n; j += PANEL) {
    int64_t cols = g->n - j < PANEL ? g->n - j : PANEL;
    memset(panel, 0, (size_t)g->k * PANEL * 8);
    if (g->b_col == 1) {
      for (int64_t p = 0; p < g->k; p++)
        load_any(panel + p * PANEL * 8, &g->b, b0 + p * g->b_row + j, 1, cols);
    } else { // columns are contiguous: read along them
      for (int64_t q = 0; q < cols; q++) {
        load_any(a_row, &g->b, b0 + (j + q) * g->b_col, g->b_row, g->k);
        for (int64_t p = 0; p < g->k; p++)
          memcpy(panel + (p * PANEL + q) * 8, a_row + p * 8, 8);
      }
    }
    if (g->bias)
      load_any(&bias, g->bias, j, 1, cols);
    for (int64_t i = 0; i < g->m; i++) {
      load_any(a_row, &g->a, a0 + i * g->a_row, g->a_col, g->k);
      multiply(is_float, &acc, a_row, panel, g->k, NULL, 0);
      for (int64_t q = 0; q < cols && g->bias; q++) {
        if (is_float)
          acc.f[q] += bias.f[q];
        else
          acc.i[q] = (int64_t)((uint64_t)acc.i[q] + (uint64_t)bias.i[q]);
      }
      store_any(&g->out, out0 + i * g->n + j, 1, &acc, cols);
    }
  }
}

static tc_status matmul(const tc__call *c) {
  const tc__type *a = &c->in[0].type, *b = &c->in[1].type, *out = &c->out[0].type;
  matrices g = {.a = c->in[0], .b = c->in[1], .out = c->out[0], .bias = c->n_in > 2 ? &c->in[2] : NULL};
  tc__strides batch[2] = {{{0}}, {{0}}};
  int batch_rank = 0;
  if (c->kind == TC_OP_linear) {
    g.k = b->shape[1];
    g.n = b->shape[0];
    g.m = 1;
    for (int d = 0; d < a->rank - 1; d++)
      g.m *= a->shape[d];
    g.a_row = g.k;
    g.a_col = 1;
    g.b_row = 1;
    g.b_col = g.k;
  } else {
    bool ta = tc__attrs_bool(c->attrs, "transpose_a", false), tb = tc__attrs_bool(c->attrs, "transpose_b", false);
    g.m = out->shape[out->rank - 2];
    g.n = out->shape[out->rank - 1];
    g.k = a->shape[a->rank - (ta ? 2 : 1)];
    g.a_row = ta ? 1 : g.k;
    g.a_col = ta ? g.m : 1;
    g.b_row = tb ? 1 : g.n;
    g.b_col = tb ? g.k : 1;
    batch_rank = out->rank - 2;
    tc__strides full[2];
    tc__strides_broadcast(a, out->rank, &full[0]);
    tc__strides_broadcast(b, out->rank, &full[1]);
    memcpy(batch[0].s, full[0].s, sizeof(int64_t) * (size_t)batch_rank);
    memcpy(batch[1].s, full[1].s, sizeof(int64_t) * (size_t)batch_rank);
  }
  int64_t padded;
  char *row = tc__scratch(g.k, 8), *panel = __builtin_mul_overflow(g.k, PANEL, &padded) ? NULL : tc__scratch(padded, 8);
  if (!row || !panel) {
    tc__free(row);
    tc__free(panel);
    return tc__oom();
  }
  tc__walk w;
  tc__walk_init(&w, batch_rank, out->shape, 2, batch);
  int64_t at = 0;
  for (int64_t r = 0; r < w.rows; r++, tc__walk_next(&w))
    for (int64_t i = 0; i < w.inner; i++, at += g.m * g.n)
      multiply_matrices(&g, w.at[0] + i * w.step[0], w.at[1] + i * w.step[1], at, row, panel);
  tc__free(row);
  tc__free(panel);
  return TC_OK;
}

// ---- convolution
// ------------------------------------------------------------------------------------------------------------------

// Always three spatial dims: missing leading ones have size 1.
typedef struct geometry {
  int64_t batch, groups, in_c, out_c; ///< channels of one group
  int64_t in[3], out[3], kernel[3], stride[3], low[3], dilation[3];
  int64_t in_plane, out_plane, taps;
} geometry;

static geometry read_geometry(const tc__call *c) {
  const tc__type *x = &c->in[0].type, *w = &c->in[1].type, *y = &c->out[0].type;
  geometry g = {.batch = x->shape[0],
                .groups = tc__attrs_int(c->attrs, "groups", 1),
                .in = {1, 1, 1},
                .out = {1, 1, 1},
                .kernel = {1, 1, 1},
                .stride = {1, 1, 1},
                .dilation = {1, 1, 1}};
  size_t n;
  const int64_t *stride = tc__attrs_ints(c->attrs, "stride", &n), *padding = tc__attrs_ints(c->attrs, "padding", &n),
                *dilation = tc__attrs_ints(c->attrs, "dilation", &n);
  int spatial = x->rank - 2;
  for (int d = 0; d < spatial; d++) {
    int to = 3 - spatial + d;
    g.in[to] = x->shape[2 + d];
    g.out[to] = y->shape[2 + d];
    g.kernel[to] = w->shape[2 + d];
    g.stride[to] = stride[d];
    g.low[to] = padding[d];
    g.dilation[to] = dilation[d];
  }
  g.in_c = x->shape[1] / g.groups;
  g.out_c = y->shape[1] / g.groups;
  g.in_plane = g.in[0] * g.in[1] * g.in[2];
  g.out_plane = g.out[0] * g.out[1] * g.out[2];
  g.taps = g.kernel[0] * g.kernel[1] * g.kernel[2];
  return g;
}

// The windows of output positions [first, first + cols): panel[channel and tap][position]. x: the planes of this group as 8-byte
// elements.
static void gather_windows(const geometry *g, const uint64_t *x, int64_t first, int64_t cols, uint64_t *panel) {
  int64_t origin[PANEL][3];
  for (int64_t q = 0; q < cols; q++) {
    int64_t p = first + q;
    origin[q][2] = p % g->out[2] * g->stride[2] - g->low[2];
    origin[q][1] = p / g->out[2] % g->out[1] * g->stride[1] - g->low[1];
    origin[q][0] = p / g->out[2] / g->out[1] * g->stride[0] - g->low[0];
  }
  uint64_t *to = panel;
  for (int64_t ch = 0; ch < g->in_c; ch++, x += g->in_plane)
    for (int64_t a = 0; a < g->kernel[0]; a++)
      for (int64_t b = 0; b < g->kernel[1]; b++)
        for (int64_t e = 0; e < g->kernel[2]; e++, to += PANEL)
          for (int64_t q = 0; q < cols; q++) {
            int64_t i = origin[q][0] + a * g->dilation[0], j = origin[q][1] + b * g->dilation[1],
                    k = origin[q][2] + e * g->dilation[2];
            bool inside = i >= 0 && i < g->in[0] && j >= 0 && j < g->in[1] && k >= 0 && k < g->in[2];
            to[q] = inside ? x[(i * g->in[1] + j) * g->in[2] + k] : 0; // the bits of 0 are 0 for f64 as well
          }
}

static tc_status convolve(const tc__call *c) {
  geometry g = read_geometry(c);
  const tc__buffer *out = &c->out[0], *bias = c->n_in > 2 ? &c->in[2] : NULL;
  bool is_float = tc__is_float(out);
  int64_t k = g.in_c * g.taps, padded, planes;
  uint64_t *panel = __builtin_mul_overflow(k, PANEL, &padded) ? NULL : tc__scratch(padded, 8);
  uint64_t *weight = tc__scratch(tc__type_elements(&c->in[1].type), 8);
  uint64_t *x = __builtin_mul_overflow(g.in_c, g.in_plane, &planes) ? NULL : tc__scratch(planes, 8), acc[PANEL];
  bool oom = !panel || !weight || !x;
  if (!oom) {
    memset(panel, 0, (size_t)padded * 8);
    load_any(weight, &c->in[1], 0, 1, tc__type_elements(&c->in[1].type));
  }
  for (int64_t i = 0; i < g.batch * g.groups && !oom; i++) {
    int64_t first_out = i % g.groups * g.out_c; // the group's first channel
    load_any(x, &c->in[0], i * planes, 1, planes);
    for (int64_t p = 0; p < g.out_plane; p += PANEL) {
      int64_t cols = g.out_plane - p < PANEL ? g.out_plane - p : PANEL;
      gather_windows(&g, x, p, cols, panel);
      for (int64_t o = 0; o < g.out_c; o++) {
        multiply(is_float, acc, weight + (first_out + o) * k, panel, k, bias, first_out + o);
        store_any(out, (i * g.out_c + o) * g.out_plane + p, 1, acc, cols);
      }
    }
  }
  tc__free(panel);
  tc__free(weight);
  tc__free(x);
  return oom ? tc__oom() : TC_OK;
}

// Transposed: each input element adds its weighted kernel to the output plane.
#define SPREAD(name, T)                                                                                                          \
  static void name(const geometry *g, T *y, const T *x, const T *w) {                                                            \
    for (int64_t a = 0; a < g->kernel[0]; a++)                                                                                   \
      for (int64_t b = 0; b < g->kernel[1]; b++)                                                                                 \
        for (int64_t e = 0; e < g->kernel[2]; e++) {                                                                             \
          T v = *w++;                                                                                                            \
          for (int64_t i = 0; i < g->in[0]; i++)                                                                                 \
            for (int64_t j = 0; j < g->in[1]; j++) {                                                                             \
              int64_t oi = i * g->stride[0] - g->low[0] + a * g->dilation[0];                                                    \
              int64_t oj = j * g->stride[1] - g->low[1] + b * g->dilation[1];                                                    \
              if (oi < 0 || oi >= g->out[0] || oj < 0 || oj >= g->out[1])                                                        \
                continue;                                                                                                        \
              T *to = y + (oi * g->out[1] + oj) * g->out[2];                                                                     \
              const T *from = x + (i * g->in[1] + j) * g->in[2];                                                                 \
              for (int64_t k = 0; k < g->in[2]; k++) {                                                                           \
                int64_t ok = k * g->stride[2] - g->low[2] + e * g->dilation[2];                                                  \
                if (ok >= 0 && ok < g->out[2])                                                                                   \
                  to[ok] += v * from[k];                                                                                         \
              }                                                                                                                  \
            }                                                                                                                    \
        }                                                                                                                        \
  }
SPREAD(spread_f, double)
SPREAD(spread_i, uint64_t)

static tc_status convolve_transposed(const tc__call *c) {
  geometry g = read_geometry(c);
  const tc__buffer *out = &c->out[0];
  bool is_float = tc__is_float(out);
  int64_t planes;
  uint64_t *y = tc__scratch(g.out_plane, 8), *weight = tc__scratch(tc__type_elements(&c->in[1].type), 8);
  uint64_t *x = __builtin_mul_overflow(g.in_c, g.in_plane, &planes) ? NULL : tc__scratch(planes, 8);
  bool oom = !y || !weight || !x;
  if (!oom)
    load_any(weight, &c->in[1], 0, 1, tc__type_elements(&c->in[1].type));
  for (int64_t i = 0; i < g.batch * g.groups && !oom; i++) {
    int64_t group = i % g.groups;
    load_any(x, &c->in[0], i * planes, 1, planes);
    for (int64_t o = 0; o < g.out_c; o++) {
      uint64_t init = 0;
      if (c->n_in > 2)
        load_any(&init, &c->in[2], group * g.out_c + o, 1, 1);
      for (int64_t p = 0; p < g.out_plane; p++)
        y[p] = init;
      for (int64_t ch = 0; ch < g.in_c; ch++) {
        const uint64_t *w = weight + ((group * g.in_c + ch) * g.out_c + o) * g.taps;
        if (is_float)
          spread_f(&g, (double *)y, (const double *)(x + ch * g.in_plane), (const double *)w);
        else
          spread_i(&g, y, x + ch * g.in_plane, w);
      }
      store_any(out, (i * g.out_c + o) * g.out_plane, 1, y, g.out_plane);
    }
  }
  tc__free(y);
  tc__free(weight);
  tc__free(x);
  return oom ? tc__oom() : TC_OK;
}

tc_status tc__interp_contract(const tc__call *c) {
  if (c->kind == TC_OP_convolution)
    return tc__attrs_bool(c->attrs, "transposed", false) ? convolve_transposed(c) : convolve(c);
  return matmul(c);
}

// Pooling, and its relatives im2col and col2im. Spatial dims are always three here: missing leading ones have size 1.
#include "internal.h"

#include <math.h>

typedef struct windows {
  int64_t planes, in[3], out[3], kernel[3], stride[3], pad[3], dilation[3];
  int64_t in_plane, out_plane;
} windows;

static windows read_windows(const tc__call *c, const char *size_name) {
  const tc__type *x = &c->in[0].type, *y = &c->out[0].type;
  size_t n = 0, m;
  tc__attrs_ints(c->attrs, size_name, &n);
  const int64_t *kernel = tc__attrs_ints(c->attrs, "kernel", &m), *stride = tc__attrs_ints(c->attrs, "stride", &m),
                *pad = tc__attrs_ints(c->attrs, "padding", &m), *dilation = tc__attrs_ints(c->attrs, "dilation", &m);
  windows w = {.planes = 1, .in = {1, 1, 1}, .out = {1, 1, 1}, .kernel = {1, 1, 1}, .stride = {1, 1, 1}, .dilation = {1, 1, 1}};
  int first = x->rank - (int)n;
  for (int d = 0; d < first; d++)
    w.planes *= x->shape[d];
  for (int d = 0; d < (int)n; d++) {
    int to = 3 - (int)n + d;
    w.in[to] = x->shape[first + d];
    w.out[to] = y->shape[first + d];
    w.kernel[to] = kernel ? kernel[d] : 1;
    w.stride[to] = stride ? stride[d] : 1;
    w.pad[to] = pad ? pad[d] : 0;
    w.dilation[to] = dilation ? dilation[d] : 1;
  }
  w.in_plane = w.in[0] * w.in[1] * w.in[2];
  w.out_plane = w.out[0] * w.out[1] * w.out[2];
  return w;
}

// One window: positions begin, begin + step, .. below end, a dim.
typedef struct range {
  int64_t begin[3], end[3], step[3];
  int64_t padded; ///< positions, with those in the padding counted (avg_pool)
} range;

static range window_at(const windows *w, const tc__call *c, const int64_t *o) {
  range r = {.step = {1, 1, 1}, .padded = 1};
  bool adaptive = c->kind == TC_OP_adaptive_avg_pool || c->kind == TC_OP_adaptive_max_pool;
  for (int d = 0; d < 3; d++) {
    if (adaptive) {
      r.begin[d] = o[d] * w->in[d] / w->out[d];
      r.end[d] = ((o[d] + 1) * w->in[d] + w->out[d] - 1) / w->out[d];
      continue;
    }
    int64_t step = w->dilation[d], begin = o[d] * w->stride[d] - w->pad[d], end = begin + (w->kernel[d] - 1) * step + 1;
    int64_t padded_end = end < w->in[d] + w->pad[d] ? end : w->in[d] + w->pad[d];
    r.padded *= padded_end - begin;
    r.step[d] = step;
    r.begin[d] = begin < 0 ? begin + (-begin + step - 1) / step * step : begin;
    r.end[d] = end < w->in[d] ? end : w->in[d];
  }
  return r;
}

#define EACH_IN_WINDOW(r, w, at)                                                                                                 \
  for (int64_t i_ = (r).begin[0]; i_ < (r).end[0]; i_ += (r).step[0])                                                            \
    for (int64_t j_ = (r).begin[1]; j_ < (r).end[1]; j_ += (r).step[1])                                                          \
      for (int64_t k_ = (r).begin[2], at; k_ < (r).end[2] && (at = (i_ * (w)->in[1] + j_) * (w)->in[2] + k_, true);              \
           k_ += (r).step[2])

static double average(const tc__call *c, const windows *w, const range *r, const double *x) {
  double sum = 0;
  int64_t count = 0;
  EACH_IN_WINDOW(*r, w, at) {
    sum += x[at];
    count++;
  }
  if (count == 0)
    return 0;
  if (c->kind == TC_OP_avg_pool) {
    int64_t divisor = tc__attrs_int(c->attrs, "divisor_override", 0);
    if (divisor)
      count = divisor;
    else if (tc__attrs_bool(c->attrs, "count_include_pad", true))
      count = r->padded;
  }
  return sum / (double)count;
}

static int64_t max_at_f(const windows *w, const range *r, const double *x) {
  int64_t best = -1;
  EACH_IN_WINDOW(*r, w, at)
  if (best < 0 || x[at] > x[best] || isnan(x[at]))
    best = at;
  return best;
}

static int64_t max_at_i(const windows *w, const range *r, const int64_t *x) {
  int64_t best = -1;
  EACH_IN_WINDOW(*r, w, at)
  if (best < 0 || x[at] > x[best])
    best = at;
  return best;
}

static tc_status pool(const tc__call *c) {
  bool adaptive = c->kind == TC_OP_adaptive_avg_pool || c->kind == TC_OP_adaptive_max_pool;
  bool mean = c->kind == TC_OP_avg_pool || c->kind == TC_OP_adaptive_avg_pool;
  bool has_index = c->kind == TC_OP_max_pool_with_indices || c->kind == TC_OP_adaptive_max_pool;
  windows w = read_windows(c, adaptive ? "output_size" : "kernel");
  const tc__buffer *x = &c->in[0], *out = &c->out[0];
  bool is_float = tc__is_float(x);
  size_t size = tc_dtype_size(x->type.dtype);
  void *plane = tc__scratch(w.in_plane, 8);
  if (!plane)
    return tc__oom();
  for (int64_t p = 0; p < w.planes; p++) {
    if (is_float)
      tc__load_f64(plane, x, p * w.in_plane, 1, w.in_plane);
    else
      tc__load_i64(plane, x, p * w.in_plane, 1, w.in_plane);
    int64_t o[3], at = p * w.out_plane;
    for (o[0] = 0; o[0] < w.out[0]; o[0]++)
      for (o[1] = 0; o[1] < w.out[1]; o[1]++)
        for (o[2] = 0; o[2] < w.out[2]; o[2]++, at++) {
          range r = window_at(&w, c, o);
          if (mean) {
            double y = average(c, &w, &r, plane);
            tc__store_f64(out, at, 1, &y, 1);
            continue;
          }
          int64_t from = is_float ? max_at_f(&w, &r, plane) : max_at_i(&w, &r, plane);
          if (from >= 0) {
            memcpy(tc__at(out, at), tc__at(x, p * w.in_plane + from), size);
          } else { // the window lies in the padding alone
            double lowest = -INFINITY;
            int64_t least = x->type.dtype == TC_U8 ? 0 : INT64_MIN >> (64 - 8 * size);
            if (is_float)
              tc__store_f64(out, at, 1, &lowest, 1);
            else
              tc__store_i64(out, at, 1, &least, 1);
          }
          if (has_index)
            ((int64_t *)c->out[1].data)[at] = from < 0 ? 0 : from;
        }
  }
  tc__free(plane);
  return TC_OK;
}

// Visits (column row, patch, pixel): the pixel of [H, W] behind each element of a [kh*kw, L] plane, or -1 in the padding.
typedef struct patches {
  int64_t size[2], kernel[2], dilation[2], pad[2], stride[2], count[2];
} patches;

static patches read_patches(const tc__call *c, const int64_t *size) {
  patches p;
  size_t n;
  const int64_t *kernel = tc__attrs_ints(c->attrs, "kernel", &n), *dilation = tc__attrs_ints(c->attrs, "dilation", &n),
                *pad = tc__attrs_ints(c->attrs, "padding", &n), *stride = tc__attrs_ints(c->attrs, "stride", &n);
  for (int d = 0; d < 2; d++) {
    p.size[d] = size[d];
    p.kernel[d] = kernel[d];
    p.dilation[d] = dilation[d];
    p.pad[d] = pad[d];
    p.stride[d] = stride[d];
    p.count[d] = (size[d] + 2 * pad[d] - dilation[d] * (kernel[d] - 1) - 1) / stride[d] + 1;
  }
  return p;
}

static int64_t pixel(const patches *p, int64_t tap, int64_t patch) {
  int64_t y = patch / p->count[1] * p->stride[0] - p->pad[0] + tap / p->kernel[1] * p->dilation[0];
  int64_t x = patch % p->count[1] * p->stride[1] - p->pad[1] + tap % p->kernel[1] * p->dilation[1];
  return y < 0 || y >= p->size[0] || x < 0 || x >= p->size[1] ? -1 : y * p->size[1] + x;
}

static tc_status im2col(const tc__call *c) {
  const tc__buffer *x = &c->in[0], *out = &c->out[0];
  patches p = read_patches(c, &x->type.shape[2]);
  int64_t planes = x->type.shape[0] * x->type.shape[1], taps = p.kernel[0] * p.kernel[1], count = p.count[0] * p.count[1];
  size_t size = tc_dtype_size(x->type.dtype);
  char *to = out->data;
  for (int64_t n = 0; n < planes; n++)
    for (int64_t tap = 0; tap < taps; tap++)
      for (int64_t patch = 0; patch < count; patch++, to += size) {
        int64_t from = pixel(&p, tap, patch);
        if (from < 0)
          memset(to, 0, size);
        else
          memcpy(to, tc__at(x, n * p.size[0] * p.size[1] + from), size);
      }
  return TC_OK;
}

static tc_status col2im(const tc__call *c) {
  const tc__buffer *x = &c->in[0], *out = &c->out[0];
  patches p = read_patches(c, &out->type.shape[2]);
  int64_t planes = out->type.shape[0] * out->type.shape[1], taps = p.kernel[0] * p.kernel[1], count = p.count[0] * p.count[1];
  int64_t area = p.size[0] * p.size[1];
  bool is_float = tc__is_float(x);
  double *sum = tc__scratch(area, 8), *row = tc__scratch(count, 8);
  if (!sum || !row) {
    tc__free(sum);
    tc__free(row);
    return tc__oom();
  }
  for (int64_t n = 0; n < planes; n++) {
    memset(sum, 0, (size_t)area * 8);
    for (int64_t tap = 0; tap < taps; tap++) {
      if (is_float)
        tc__load_f64(row, x, (n * taps + tap) * count, 1, count);
      else
        tc__load_i64((int64_t *)row, x, (n * taps + tap) * count, 1, count);
      for (int64_t patch = 0; patch < count; patch++) {
        int64_t to = pixel(&p, tap, patch);
        if (to < 0)
          continue;
        if (is_float)
          sum[to] += row[patch];
        else
          ((uint64_t *)sum)[to] += ((uint64_t *)row)[patch];
      }
    }
    if (is_float)
      tc__store_f64(out, n * area, 1, sum, area);
    else
      tc__store_i64(out, n * area, 1, (int64_t *)sum, area);
  }
  tc__free(sum);
  tc__free(row);
  return TC_OK;
}

tc_status tc__interp_pool(const tc__call *c) {
  switch (c->kind) {
  case TC_OP_im2col:
    return im2col(c);
  case TC_OP_col2im:
    return col2im(c);
  default:
    return pool(c);
  }
}

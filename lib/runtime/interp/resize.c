// Interpolation. Each resized dim becomes a table of taps (source positions and weights an output position), computed in the type
// that ATen computes it in (f32, or f64 for f64), since that decides which neighbour a position on the edge belongs to. The dims
// are then applied one by one.
#include "internal.h"

#include <math.h>

typedef enum mode { NEAREST, NEAREST_EXACT, LINEAR, CUBIC } mode;

typedef struct taps {
  int n; ///< an output position
  int64_t *index;
  double *weight;
} taps;

// Every step rounded to f32 unless the element type is f64.
static double rounded(double x, bool single) { return single ? (double)(float)x : x; }

static double scale_of(int64_t in, int64_t out, bool align_corners, double given, bool single) {
  if (align_corners)
    return out > 1 ? rounded((double)(in - 1) / (double)(out - 1), single) : 0;
  return rounded(given > 0 ? 1 / given : (double)in / (double)out, single);
}

static double source_of(double scale, int64_t i, bool align_corners, bool cubic, bool single) {
  if (align_corners)
    return rounded(scale * (double)i, single);
  double x = rounded(rounded(scale * ((double)i + 0.5), single) - 0.5, single);
  return x < 0 && !cubic ? 0 : x;
}

static double cubic_near(double x, double a) { return ((a + 2) * x - (a + 3)) * x * x + 1; }
static double cubic_far(double x, double a) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; }

static double filter(mode m, double x) {
  x = fabs(x);
  if (m == LINEAR)
    return x < 1 ? 1 - x : 0;
  return x < 1 ? cubic_near(x, -0.5) : x < 2 ? cubic_far(x, -0.5) : 0;
}

static int64_t clamp_index(int64_t i, int64_t n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }

static void antialias_taps(taps *t, mode m, int64_t in, int64_t out, double scale) {
  double support = (m == CUBIC ? 2 : 1) * (scale >= 1 ? scale : 1), inverse = scale >= 1 ? 1 / scale : 1;
  for (int64_t i = 0; i < out; i++) {
    double center = scale * ((double)i + 0.5), total = 0;
    int64_t low = (int64_t)(center - support + 0.5), high = (int64_t)(center + support + 0.5);
    low = low < 0 ? 0 : low;
    high = high > in ? in : high;
    for (int k = 0; k < t->n; k++) {
      int64_t from = low + k;
      double w = from < high ? filter(m, ((double)from - center + 0.5) * inverse) : 0;
      t->index[i * t->n + k] = clamp_index(from, in);
      t->weight[i * t->n + k] = w;
      total += w;
    }
    for (int k = 0; k < t->n && total != 0; k++)
      t->weight[i * t->n + k] /= total;
  }
}

static void plain_taps(taps *t, mode m, int64_t in, int64_t out, double scale, bool align_corners, bool single) {
  for (int64_t i = 0; i < out; i++) {
    int64_t *index = t->index + i * t->n;
    double *weight = t->weight + i * t->n;
    if (m == NEAREST || m == NEAREST_EXACT) {
      double x = m == NEAREST ? rounded(scale * (double)i, single) : source_of(scale, i, false, false, single);
      index[0] = clamp_index((int64_t)floorf((float)(m == NEAREST ? x : rounded(x + 0.5, single))), in);
      weight[0] = 1;
      continue;
    }
    double x = source_of(scale, i, align_corners, m == CUBIC, single);
    int64_t at = (int64_t)floor(x);
    at = at > in - 1 ? in - 1 : at;
    double f = rounded(x - (double)at, single);
    f = f < 0 ? 0 : f > 1 ? 1 : f;
    if (m == LINEAR) {
      if (in == out) { // ATen copies
        at = i;
        f = 0;
      }
      index[0] = at;
      index[1] = at + 1 < in ? at + 1 : at;
      weight[0] = 1 - f;
      weight[1] = f;
      continue;
    }
    for (int k = 0; k < 4; k++)
      index[k] = clamp_index(at - 1 + k, in);
    weight[0] = cubic_far(f + 1, -0.75);
    weight[1] = cubic_near(f, -0.75);
    weight[2] = cubic_near(1 - f, -0.75);
    weight[3] = cubic_far(2 - f, -0.75);
  }
}

// x as [outer, in, inner] becomes y as [outer, out, inner].
static void apply(const taps *t, double *y, const double *x, int64_t outer, int64_t in, int64_t out, int64_t inner) {
  for (int64_t o = 0; o < outer; o++, x += in * inner)
    for (int64_t i = 0; i < out; i++, y += inner)
      for (int64_t j = 0; j < inner; j++) {
        double sum = 0;
        for (int k = 0; k < t->n; k++)
          if (t->weight[i * t->n + k] != 0)
            sum += t->weight[i * t->n + k] * x[t->index[i * t->n + k] * inner + j];
        y[j] = sum;
      }
}

tc_status tc__interp_resize(const tc__call *c) {
  const tc__buffer *x = &c->in[0];
  const tc__type *to = &c->out[0].type;
  const char *name = tc__attrs_str(c->attrs, "mode", "nearest");
  mode m = strcmp(name, "linear") == 0    ? LINEAR
           : strcmp(name, "bicubic") == 0 ? CUBIC
           : strcmp(name, "nearest") == 0 ? NEAREST
                                          : NEAREST_EXACT;
  bool align = tc__attrs_bool(c->attrs, "align_corners", false) && m >= LINEAR, single = x->type.dtype != TC_F64;
  bool antialias = tc__attrs_bool(c->attrs, "antialias", false) && m >= LINEAR;
  size_t n, n_scales;
  tc__attrs_ints(c->attrs, "size", &n);
  const double *scales = tc__attrs_floats(c->attrs, "scales", &n_scales);
  tc__type shape = x->type;
  int64_t total = tc__type_elements(&shape);
  double *now = tc__scratch(total, sizeof *now);
  if (!now)
    return tc__oom();
  tc__load_f64(now, x, 0, 1, total);
  // From the last dim to the first; the result of each pass is the source of the next.
  for (int d = (int)n - 1; d >= 0; d--) {
    int dim = shape.rank - (int)n + d;
    int64_t in = shape.shape[dim], out = to->shape[dim], count;
    double scale = scale_of(in, out, align, n_scales ? scales[d] : 0, single);
    taps t = {.n = m == CUBIC ? 4 : m == LINEAR ? 2 : 1};
    double reach = 2 * ceil((m == CUBIC ? 2 : 1) * (scale >= 1 ? scale : 1)) + 1;
    if (antialias)
      t.n = reach < (double)in ? (int)reach : (int)in;
    tc__lines l = tc__lines_of(&shape, dim);
    shape.shape[dim] = out;
    bool fits = !__builtin_mul_overflow(out, t.n, &count);
    t.index = fits ? tc__scratch(count, sizeof *t.index) : NULL;
    t.weight = fits ? tc__scratch(count, sizeof *t.weight) : NULL;
    double *next = tc__scratch(tc__type_elements(&shape), sizeof *next);
    bool oom = !t.index || !t.weight || !next;
    if (!oom) {
      if (antialias)
        antialias_taps(&t, m, in, out, scale);
      else
        plain_taps(&t, m, in, out, scale, align, single);
      apply(&t, next, now, l.outer, in, out, l.inner);
    }
    tc__free(t.index);
    tc__free(t.weight);
    tc__free(now);
    now = next;
    if (oom) {
      tc__free(now);
      return tc__oom();
    }
  }
  tc__store_f64(&c->out[0], 0, 1, now, tc__type_elements(to));
  tc__free(now);
  return TC_OK;
}

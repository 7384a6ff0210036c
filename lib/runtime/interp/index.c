// Indexing. Reads and plain writes move raw bytes; writes that combine go through an f64 or i64 copy of the result and round
// once. Every index value is checked.
#include "internal.h"

#include <math.h>
#include <stdio.h>

static int64_t index_at(const tc__buffer *b, int64_t i) {
  return b->type.dtype == TC_I32 ? ((const int32_t *)b->data)[i] : ((const int64_t *)b->data)[i];
}

// Names the index, its place in its tensor and what it indexes.
static tc_status out_of_range(const tc__call *c, const tc__buffer *indices, int64_t at, int64_t dim, int64_t size,
                              bool negative_too) {
  char place[TC_MAX_RANK * 24 + 3] = "[";
  int64_t rest = at, sizes[TC_MAX_RANK] = {0};
  for (int d = indices->type.rank - 1; d >= 0; d--) {
    sizes[d] = rest % indices->type.shape[d];
    rest /= indices->type.shape[d];
  }
  size_t used = 1;
  for (int d = 0; d < indices->type.rank; d++)
    used += (size_t)snprintf(place + used, sizeof place - used, d ? ", %lld" : "%lld", (long long)sizes[d]);
  snprintf(place + used, sizeof place - used, "]");
  return tc__interp_fail(c, TC_ERR_INVALID_ARGUMENT,
                         "index %lld at position %s is out of range for dim %lld of size %lld (expected %lld to %lld)",
                         (long long)index_at(indices, at), place, (long long)dim, (long long)size,
                         (long long)(negative_too ? -size : 0), (long long)(size - 1));
}

static tc_status check_all(const tc__call *c, const tc__buffer *indices, int64_t dim, int64_t size) {
  int64_t n = tc__type_elements(&indices->type);
  for (int64_t i = 0; i < n; i++) {
    int64_t v = index_at(indices, i);
    if (v < 0 || v >= size)
      return out_of_range(c, indices, i, dim, size, false);
  }
  return TC_OK;
}

static void copy_whole(const tc__buffer *to, const tc__buffer *from) {
  size_t bytes = (size_t)tc__type_bytes(&from->type);
  if (bytes)
    memcpy(to->data, from->data, bytes);
}

static tc_status one_hot(const tc__call *c) {
  int64_t classes = tc__attrs_int(c->attrs, "classes", 1), n = tc__type_elements(&c->in[0].type);
  int64_t *out = c->out[0].data;
  TC_TRY(check_all(c, &c->in[0], c->out[0].type.rank - 1, classes));
  if (n)
    memset(out, 0, sizeof *out * (size_t)(n * classes));
  for (int64_t i = 0; i < n; i++)
    out[i * classes + index_at(&c->in[0], i)] = 1;
  return TC_OK;
}

// embedding and index_select: whole rows along a dim.
static tc_status take_rows(const tc__call *c) {
  const tc__buffer *x = &c->in[0], *index = &c->in[1], *out = &c->out[0];
  int64_t dim = c->kind == TC_OP_embedding ? 0 : tc__attrs_int(c->attrs, "dim", 0), n = tc__type_elements(&index->type);
  tc__lines l = tc__lines_of(&x->type, dim);
  size_t bytes = tc_dtype_size(x->type.dtype) * (size_t)l.inner;
  TC_TRY(check_all(c, index, dim, l.size));
  char *to = out->data;
  for (int64_t o = 0; o < l.outer && bytes; o++)
    for (int64_t i = 0; i < n; i++, to += bytes)
      memcpy(to, tc__at(x, (o * l.size + index_at(index, i)) * l.inner), bytes);
  return TC_OK;
}

static tc_status gather(const tc__call *c) {
  const tc__buffer *x = &c->in[0], *index = &c->in[1], *out = &c->out[0];
  int64_t dim = tc__attrs_int(c->attrs, "dim", 0), size = x->type.rank ? x->type.shape[dim] : 1;
  size_t bytes = tc_dtype_size(x->type.dtype);
  TC_TRY(check_all(c, index, dim, size));
  tc__strides s[2];
  tc__strides_of(&index->type, &s[0]);
  tc__strides_of(&x->type, &s[1]);
  int64_t along = x->type.rank ? s[1].s[dim] : 0;
  if (x->type.rank)
    s[1].s[dim] = 0;
  tc__walk w;
  tc__walk_init(&w, index->type.rank, index->type.shape, 2, s);
  char *to = out->data;
  for (int64_t r = 0; r < w.rows; r++, tc__walk_next(&w))
    for (int64_t i = 0; i < w.inner; i++, to += bytes) {
      int64_t k = index_at(index, w.at[0] + i * w.step[0]);
      memcpy(to, tc__at(x, w.at[1] + i * w.step[1] + k * along), bytes);
    }
  return TC_OK;
}

// ---- index, index_put
// -----------------------------------------------------------------------------------------------------------

// The elements of x that the index tensors name: result row-major order is [before.., positions.., after..].
typedef struct places {
  int64_t *lin, n;               ///< element offset into x of each broadcast index position
  int64_t before_n, before_step; ///< dims of x before the indexed ones, when those are adjacent
  int after_rank;                ///< the other dims of x that are not indexed
  int64_t after_shape[TC_MAX_RANK], after_n;
  tc__strides after;
} places;

static tc_status find_places(const tc__call *c, size_t first, places *p) {
  const tc__type *x = &c->in[0].type;
  size_t n_dims;
  const int64_t *dims = tc__attrs_ints(c->attrs, "dims", &n_dims);
  tc__strides all;
  tc__strides_of(x, &all);
  bool adjacent = true, indexed[TC_MAX_RANK] = {false};
  tc__type common = {.rank = 0};
  for (size_t k = 0; k < n_dims; k++) {
    const tc__type *t = &c->in[first + k].type;
    adjacent &= k == 0 || dims[k] == dims[k - 1] + 1;
    indexed[dims[k]] = true;
    tc__type wide = {.rank = t->rank > common.rank ? t->rank : common.rank};
    for (int d = 0; d < wide.rank; d++) {
      int a = d - (wide.rank - t->rank), b = d - (wide.rank - common.rank);
      int64_t sa = a < 0 ? 1 : t->shape[a], sb = b < 0 ? 1 : common.shape[b];
      wide.shape[d] = sa == 1 ? sb : sa;
    }
    common = wide;
  }
  p->n = 1;
  for (int d = 0; d < common.rank; d++)
    p->n *= common.shape[d];
  p->lin = tc__scratch(p->n, sizeof *p->lin);
  if (!p->lin)
    return tc__oom();
  memset(p->lin, 0, sizeof *p->lin * (size_t)p->n);
  for (size_t k = 0; k < n_dims; k++) {
    const tc__buffer *index = &c->in[first + k];
    int64_t size = x->shape[dims[k]], stride = all.s[dims[k]], at = 0;
    tc__strides s;
    tc__strides_broadcast(&index->type, common.rank, &s);
    tc__walk w;
    tc__walk_init(&w, common.rank, common.shape, 1, &s);
    for (int64_t r = 0; r < w.rows; r++, tc__walk_next(&w))
      for (int64_t i = 0; i < w.inner; i++, at++) {
        int64_t from = w.at[0] + i * w.step[0], v = index_at(index, from);
        if (v < -size || v >= size) {
          tc__free(p->lin);
          return out_of_range(c, index, from, dims[k], size, true);
        }
        p->lin[at] += (v < 0 ? v + size : v) * stride;
      }
  }
  p->before_n = 1;
  p->before_step = 0;
  p->after_rank = 0;
  p->after_n = 1;
  for (int d = 0; d < x->rank; d++) {
    if (indexed[d])
      continue;
    if (adjacent && d < dims[0]) {
      p->before_n *= x->shape[d];
      p->before_step = all.s[d]; // those dims are one contiguous block of rows
    } else {
      p->after_shape[p->after_rank] = x->shape[d];
      p->after.s[p->after_rank++] = all.s[d];
      p->after_n *= x->shape[d];
    }
  }
  return TC_OK;
}

// Copies between x-like storage at the places and a contiguous tensor of the result's shape.
static void move_places(const places *p, const tc__buffer *at_places, const tc__buffer *flat, bool write) {
  size_t size = tc_dtype_size(flat->type.dtype);
  tc__walk start;
  tc__walk_init(&start, p->after_rank, p->after_shape, 1, &p->after);
  char *f = flat->data;
  for (int64_t b = 0; b < p->before_n; b++)
    for (int64_t i = 0; i < p->n; i++) {
      tc__walk w = start;
      for (int64_t r = 0; r < w.rows; r++, tc__walk_next(&w), f += size * (size_t)w.inner) {
        char *x = tc__at(at_places, b * p->before_step + p->lin[i] + w.at[0]);
        if (write)
          tc__copy_row(x, w.step[0], f, 1, size, w.inner);
        else
          tc__copy_row(f, 1, x, w.step[0], size, w.inner);
      }
    }
}

static tc_status read_index(const tc__call *c) {
  places p;
  TC_TRY(find_places(c, 1, &p));
  move_places(&p, &c->in[0], &c->out[0], false);
  tc__free(p.lin);
  return TC_OK;
}

// A copy of b as f64 or i64, to combine into.
static void *widened(const tc__buffer *b) {
  int64_t n = tc__type_elements(&b->type);
  void *wide = tc__scratch(n, 8);
  if (wide && tc__is_float(b))
    tc__load_f64(wide, b, 0, 1, n);
  else if (wide)
    tc__load_i64(wide, b, 0, 1, n);
  return wide;
}

static void narrowed(const tc__buffer *b, const void *wide) {
  int64_t n = tc__type_elements(&b->type);
  if (tc__is_float(b))
    tc__store_f64(b, 0, 1, wide, n);
  else
    tc__store_i64(b, 0, 1, wide, n);
}

static tc_status accumulate_places(const tc__call *c, const places *p, const tc__buffer *values) {
  void *wide = widened(&c->in[0]);
  if (!wide)
    return tc__oom();
  bool is_float = tc__is_float(values), is_bool = values->type.dtype == TC_BOOL;
  tc__walk start;
  tc__walk_init(&start, p->after_rank, p->after_shape, 1, &p->after);
  int64_t f = 0;
  for (int64_t b = 0; b < p->before_n; b++)
    for (int64_t i = 0; i < p->n; i++) {
      tc__walk w = start;
      for (int64_t r = 0; r < w.rows; r++, tc__walk_next(&w))
        for (int64_t k = 0; k < w.inner; k++, f++) {
          int64_t to = b * p->before_step + p->lin[i] + w.at[0] + k * w.step[0], vi;
          double vf;
          if (is_float) {
            tc__load_f64(&vf, values, f, 1, 1);
            ((double *)wide)[to] += vf;
          } else {
            tc__load_i64(&vi, values, f, 1, 1);
            uint64_t *y = (uint64_t *)wide + to;
            *y = is_bool ? *y | (uint64_t)vi : *y + (uint64_t)vi;
          }
        }
    }
  narrowed(&c->out[0], wide);
  tc__free(wide);
  return TC_OK;
}

static tc_status index_put(const tc__call *c) {
  const tc__buffer *out = &c->out[0];
  places p;
  TC_TRY(find_places(c, 2, &p));
  // The shape that tc.index reads; values broadcast to it.
  tc__type read = {0};
  size_t n_read;
  char err[256];
  tc__type types[TC_MAX_RANK + 1];
  types[0] = c->in[0].type;
  for (size_t i = 2; i < c->n_in; i++)
    types[i - 1] = c->in[i].type;
  tc_status status = tc__op_infer(TC_OP_index, types, c->n_in - 1, c->attrs, &read, &n_read, err, sizeof err);
  tc__buffer values = c->in[1];
  void *expanded = NULL;
  if (status != TC_OK) {
    status = tc__interp_fail(c, status, "%s", err);
  } else if (tc__type_elements(&read) != tc__type_elements(&values.type)) {
    expanded = tc__scratch(tc__type_elements(&read), tc_dtype_size(read.dtype));
    if (!expanded) {
      status = tc__oom();
    } else {
      tc__strides s;
      tc__strides_broadcast(&values.type, read.rank, &s);
      values = (tc__buffer){read, expanded};
      tc__copy_strided(&values, &c->in[1], 0, read.rank, read.shape, &s);
    }
  }
  if (status == TC_OK && tc__attrs_bool(c->attrs, "accumulate", false)) {
    status = accumulate_places(c, &p, &values);
  } else if (status == TC_OK) {
    copy_whole(out, &c->in[0]);
    move_places(&p, out, &values, true);
  }
  tc__free(expanded);
  tc__free(p.lin);
  return status;
}

// ---- scatter, index_add
// -----------------------------------------------------------------------------------------------------------

typedef enum combine { SET, ADD, MUL, AMIN, AMAX, MEAN } combine;

static combine parse_combine(const char *mode) {
  static const char *const names[] = {"none", "add", "mul", "amin", "amax", "mean"};
  for (int i = 0; i < 6; i++)
    if (strcmp(mode, names[i]) == 0)
      return (combine)i;
  return SET;
}

static double combine_f(combine how, double a, double b) {
  switch (how) {
  case MUL:
    return a * b;
  case AMIN:
    return isnan(a) ? a : isnan(b) || b < a ? b : a;
  case AMAX:
    return isnan(a) ? a : isnan(b) || b > a ? b : a;
  default:
    return a + b;
  }
}

static int64_t combine_i(combine how, int64_t a, int64_t b) {
  switch (how) {
  case MUL:
    return (int64_t)((uint64_t)a * (uint64_t)b);
  case AMIN:
    return b < a ? b : a;
  case AMAX:
    return b > a ? b : a;
  default:
    return (int64_t)((uint64_t)a + (uint64_t)b);
  }
}

// Combines src into the wide copy; counts[i] is how many elements y[i] holds so far (0: the next one replaces it).
static void combine_one(combine how, void *wide, int64_t *counts, int64_t to, const tc__buffer *src, int64_t from) {
  bool replace = counts[to]++ == 0;
  if (tc__is_float(src)) {
    double v, *y = (double *)wide + to;
    tc__load_f64(&v, src, from, 1, 1);
    *y = replace ? v : combine_f(how, *y, v);
  } else {
    int64_t v, *y = (int64_t *)wide + to;
    tc__load_i64(&v, src, from, 1, 1);
    *y = replace ? v : combine_i(how, *y, v);
  }
}

static tc_status scatter(const tc__call *c) {
  const tc__buffer *x = &c->in[0], *index = &c->in[1], *src = &c->in[2], *out = &c->out[0];
  int64_t dim = tc__attrs_int(c->attrs, "dim", 0), size = x->type.rank ? x->type.shape[dim] : 1;
  combine how = parse_combine(tc__attrs_str(c->attrs, "reduce", "none"));
  size_t bytes = tc_dtype_size(x->type.dtype);
  int64_t n = tc__type_elements(&x->type);
  TC_TRY(check_all(c, index, dim, size));
  void *wide = NULL;
  int64_t *counts = NULL;
  copy_whole(out, x);
  if (how != SET) {
    wide = widened(x);
    counts = tc__scratch(n, sizeof *counts);
    if (!wide || !counts) {
      tc__free(wide);
      tc__free(counts);
      return tc__oom();
    }
    int64_t held = tc__attrs_bool(c->attrs, "include_self", true);
    for (int64_t i = 0; i < n; i++)
      counts[i] = held;
  }
  tc__strides s[3];
  tc__strides_of(&index->type, &s[0]);
  tc__strides_of(&x->type, &s[1]);
  if (src->type.rank)
    tc__strides_of(&src->type, &s[2]); // src may be larger than index
  else
    s[2] = (tc__strides){{0}};
  int64_t along = x->type.rank ? s[1].s[dim] : 0;
  if (x->type.rank)
    s[1].s[dim] = 0;
  tc__walk w;
  tc__walk_init(&w, index->type.rank, index->type.shape, 3, s);
  for (int64_t r = 0; r < w.rows; r++, tc__walk_next(&w))
    for (int64_t i = 0; i < w.inner; i++) {
      int64_t to = w.at[1] + i * w.step[1] + index_at(index, w.at[0] + i * w.step[0]) * along;
      int64_t from = src->type.rank ? w.at[2] + i * w.step[2] : 0;
      if (how == SET)
        memcpy(tc__at(out, to), tc__at(src, from), bytes);
      else
        combine_one(how, wide, counts, to, src, from);
    }
  if (how == MEAN)
    for (int64_t i = 0; i < n; i++) {
      if (counts[i] <= 1)
        continue;
      if (tc__is_float(x)) {
        ((double *)wide)[i] /= (double)counts[i];
      } else { // rounded to -inf, as ATen
        int64_t *y = (int64_t *)wide + i, q = *y / counts[i];
        *y = q - (*y % counts[i] < 0);
      }
    }
  if (how != SET)
    narrowed(out, wide);
  tc__free(wide);
  tc__free(counts);
  return TC_OK;
}

static tc_status index_add(const tc__call *c) {
  const tc__buffer *x = &c->in[0], *index = &c->in[1], *src = &c->in[2];
  int64_t dim = tc__attrs_int(c->attrs, "dim", 0), n = index->type.shape[0];
  double alpha_f = tc__attrs_float(c->attrs, "alpha", 1);
  uint64_t alpha_i = (uint64_t)tc__attrs_int(c->attrs, "alpha", 1);
  tc__lines l = tc__lines_of(&x->type, dim);
  TC_TRY(check_all(c, index, dim, l.size));
  void *wide = widened(x), *row = tc__scratch(l.inner, 8);
  if (!wide || !row) {
    tc__free(wide);
    tc__free(row);
    return tc__oom();
  }
  for (int64_t o = 0; o < l.outer; o++)
    for (int64_t k = 0; k < n; k++) {
      int64_t from = (o * n + k) * l.inner, to = (o * l.size + index_at(index, k)) * l.inner;
      if (tc__is_float(x)) {
        double *y = (double *)wide + to, *v = row;
        tc__load_f64(v, src, from, 1, l.inner);
        for (int64_t i = 0; i < l.inner; i++)
          y[i] += alpha_f * v[i];
      } else {
        uint64_t *y = (uint64_t *)wide + to;
        int64_t *v = row;
        tc__load_i64(v, src, from, 1, l.inner);
        for (int64_t i = 0; i < l.inner; i++)
          y[i] += alpha_i * (uint64_t)v[i];
      }
    }
  narrowed(&c->out[0], wide);
  tc__free(wide);
  tc__free(row);
  return TC_OK;
}

static tc_status masked_scatter(const tc__call *c) {
  const tc__buffer *src = &c->in[2], *out = &c->out[0];
  int64_t have = tc__type_elements(&src->type), used = 0;
  size_t size = tc_dtype_size(out->type.dtype);
  tc__strides s[2];
  for (int k = 0; k < 2; k++)
    tc__strides_broadcast(&c->in[k].type, out->type.rank, &s[k]);
  tc__walk w;
  tc__walk_init(&w, out->type.rank, out->type.shape, 2, s);
  char *to = out->data;
  for (int64_t r = 0; r < w.rows; r++, tc__walk_next(&w))
    for (int64_t i = 0; i < w.inner; i++, to += size) {
      bool take = ((const uint8_t *)c->in[1].data)[w.at[1] + i * w.step[1]];
      if (take && used == have)
        return tc__interp_fail(c, TC_ERR_INVALID_ARGUMENT, "src has %lld elements, fewer than the mask's true ones",
                               (long long)have);
      memcpy(to, take ? tc__at(src, used++) : tc__at(&c->in[0], w.at[0] + i * w.step[0]), size);
    }
  return TC_OK;
}

// ---- search
// -----------------------------------------------------------------------------------------------------------------------

static tc_status searchsorted(const tc__call *c) {
  const tc__buffer *sorted = &c->in[0], *x = &c->in[1];
  bool right = tc__attrs_bool(c->attrs, "right", false), is_float = tc__is_float(x);
  int64_t n = sorted->type.shape[sorted->type.rank - 1], total = tc__type_elements(&x->type);
  int64_t per_line = sorted->type.rank == 1 ? total : x->type.shape[x->type.rank - 1];
  int64_t *out = c->out[0].data;
  for (int64_t i = 0; i < total; i++) {
    int64_t base = i / per_line * n, low = 0, high = n;
    while (low < high) {
      int64_t mid = low + (high - low) / 2;
      bool go_right;
      if (is_float) {
        double v, m;
        tc__load_f64(&v, x, i, 1, 1);
        tc__load_f64(&m, sorted, base + mid, 1, 1);
        go_right = right ? !(m > v) : !(m >= v);
      } else {
        int64_t v, m;
        tc__load_i64(&v, x, i, 1, 1);
        tc__load_i64(&m, sorted, base + mid, 1, 1);
        go_right = right ? m <= v : m < v;
      }
      if (go_right)
        low = mid + 1;
      else
        high = mid;
    }
    out[i] = low;
  }
  return TC_OK;
}

static tc_status histc(const tc__call *c) {
  const tc__buffer *x = &c->in[0];
  int64_t bins = tc__attrs_int(c->attrs, "bins", 100), n = tc__type_elements(&x->type);
  double low = tc__attrs_float(c->attrs, "min", 0), high = tc__attrs_float(c->attrs, "max", 0);
  double *v = tc__scratch(n, sizeof *v), *count = tc__calloc((size_t)bins, sizeof *count);
  if (!v || !count) {
    tc__free(v);
    tc__free(count);
    return tc__oom();
  }
  tc__load_f64(v, x, 0, 1, n);
  if (low == high && n) {
    low = high = v[0];
    for (int64_t i = 0; i < n; i++) {
      low = v[i] < low || isnan(v[i]) ? v[i] : low;
      high = v[i] > high || isnan(v[i]) ? v[i] : high;
    }
  }
  if (low == high) {
    low -= 1;
    high += 1;
  }
  tc_status status = TC_OK;
  if (!isfinite(low) || !isfinite(high) || low > high)
    status = tc__interp_fail(c, TC_ERR_INVALID_ARGUMENT, "the range [%g, %g] is not finite and rising", low, high);
  for (int64_t i = 0; i < n && status == TC_OK; i++) {
    if (!(v[i] >= low && v[i] <= high))
      continue;
    int64_t at; // in the type that ATen computes it in: it decides the bin at an edge
    if (x->type.dtype == TC_F64)
      at = (int64_t)((v[i] - low) * (double)bins / (high - low));
    else
      at = (int64_t)(((float)v[i] - (float)low) * (float)bins / ((float)high - (float)low));
    count[at >= bins ? bins - 1 : at < 0 ? 0 : at]++;
  }
  if (status == TC_OK)
    tc__store_f64(&c->out[0], 0, 1, count, bins);
  tc__free(v);
  tc__free(count);
  return status;
}

tc_status tc__interp_index(const tc__call *c) {
  switch (c->kind) {
  case TC_OP_one_hot:
    return one_hot(c);
  case TC_OP_embedding:
  case TC_OP_index_select:
    return take_rows(c);
  case TC_OP_gather:
    return gather(c);
  case TC_OP_index:
    return read_index(c);
  case TC_OP_index_put:
    return index_put(c);
  case TC_OP_scatter:
    return scatter(c);
  case TC_OP_index_add:
    return index_add(c);
  case TC_OP_masked_scatter:
    return masked_scatter(c);
  case TC_OP_searchsorted:
    return searchsorted(c);
  case TC_OP_histc:
    return histc(c);
  default:
    return tc__interp_fail(c, TC_ERR_INTERNAL, "the interpreter has no such indexing op");
  }
}

// Moving elements about, as raw bytes. Most of these are one strided copy; pad and roll go by a table of source positions a dim.
#include "internal.h"

static tc_status concat(const tc__call *c) {
  const tc__buffer *out = &c->out[0];
  int64_t dim = tc__attrs_int(c->attrs, "dim", 0);
  size_t size = tc_dtype_size(out->type.dtype);
  tc__lines l = tc__lines_of(&out->type, dim);
  int64_t at = 0;
  for (size_t k = 0; k < c->n_in; k++) {
    int64_t run = c->in[k].type.shape[dim] * l.inner;
    for (int64_t o = 0; o < l.outer && run; o++)
      memcpy(tc__at(out, o * l.size * l.inner + at), tc__at(&c->in[k], o * run), size * (size_t)run);
    at += run;
  }
  return TC_OK;
}

static tc_status triangle(const tc__call *c) {
  const tc__buffer *x = &c->in[0], *out = &c->out[0];
  int64_t rows = x->type.shape[x->type.rank - 2], cols = x->type.shape[x->type.rank - 1], matrices = 1;
  int64_t diagonal = tc__attrs_int(c->attrs, "diagonal", 0);
  size_t size = tc_dtype_size(x->type.dtype);
  for (int d = 0; d < x->type.rank - 2; d++)
    matrices *= x->type.shape[d];
  for (int64_t m = 0; m < matrices && cols; m++)
    for (int64_t r = 0; r < rows; r++) {
      int64_t at = (m * rows + r) * cols, cut; // tril keeps columns <= r + diagonal, triu >= r + diagonal
      if (__builtin_add_overflow(r, diagonal, &cut))
        cut = INT64_MAX - 1;
      if (c->kind == TC_OP_tril && cut < INT64_MAX)
        cut++;
      cut = cut < 0 ? 0 : cut > cols ? cols : cut;
      int64_t from = c->kind == TC_OP_tril ? 0 : cut, to = c->kind == TC_OP_tril ? cut : cols;
      memset(tc__at(out, at), 0, size * (size_t)cols);
      memcpy(tc__at(out, at + from), tc__at(x, at + from), size * (size_t)(to - from));
    }
  return TC_OK;
}

// out = x at maps[d][i_d], or the fill where a map says -1.
static void copy_mapped(const tc__call *c, int64_t *const *maps, const void *fill) {
  const tc__buffer *x = &c->in[0], *out = &c->out[0];
  int rank = out->type.rank;
  size_t size = tc_dtype_size(out->type.dtype);
  int64_t inner = rank ? out->type.shape[rank - 1] : 1, index[TC_MAX_RANK] = {0};
  int64_t rows = 1;
  for (int d = 0; d < rank - 1; d++)
    rows *= out->type.shape[d];
  if (inner == 0)
    return;
  tc__strides strides;
  tc__strides_of(&x->type, &strides);
  for (int64_t r = 0; r < rows; r++) {
    int64_t base = 0;
    bool outside = false;
    for (int d = 0; d < rank - 1; d++) {
      outside |= maps[d][index[d]] < 0;
      base += maps[d][index[d]] * strides.s[d];
    }
    char *to = tc__at(out, r * inner);
    if (outside)
      tc__fill_row(to, fill, size, inner);
    for (int64_t i = 0; i < inner && !outside;) {
      int64_t from = rank ? maps[rank - 1][i] : 0, run = 1;
      while (rank && i + run < inner && maps[rank - 1][i + run] == (from < 0 ? from : from + run))
        run++;
      if (from < 0)
        tc__fill_row(to + size * (size_t)i, fill, size, run);
      else
        memcpy(to + size * (size_t)i, tc__at(x, base + from), size * (size_t)run);
      i += run;
    }
    for (int d = rank - 2; d >= 0; d--) {
      if (++index[d] < out->type.shape[d])
        break;
      index[d] = 0;
    }
  }
}

static int64_t pad_source(const char *mode, int64_t i, int64_t n) {
  if (i >= 0 && i < n)
    return i;
  switch (mode[2]) {
  case 'f':
    return i < 0 ? -i : 2 * (n - 1) - i; // reflect
  case 'p':
    return i < 0 ? 0 : n - 1; // replicate
  case 'r':
    return i < 0 ? i + n : i - n; // circular
  }
  return -1;
}

static tc_status pad_or_roll(const tc__call *c) {
  const tc__type *in = &c->in[0].type, *out = &c->out[0].type;
  size_t n_low = 0, n_dims = 0;
  const int64_t *low = tc__attrs_ints(c->attrs, "low", &n_low), *dims = tc__attrs_ints(c->attrs, "dims", &n_dims);
  const int64_t *shifts = tc__attrs_ints(c->attrs, "shifts", &n_dims);
  const char *mode = tc__attrs_str(c->attrs, "mode", "constant");
  int64_t total = 0, *maps[TC_MAX_RANK];
  for (int d = 0; d < out->rank; d++)
    total += out->shape[d];
  int64_t *table = tc__scratch(total, sizeof *table);
  if (!table)
    return tc__oom();
  for (int d = 0; d < out->rank; d++) {
    int64_t n = in->shape[d], shift = 0;
    maps[d] = d ? maps[d - 1] + out->shape[d - 1] : table;
    for (size_t k = 0; k < n_dims && c->kind == TC_OP_roll && n; k++)
      if (dims[k] == d)
        shift = (shift + shifts[k] % n + n) % n;
    for (int64_t i = 0; i < out->shape[d]; i++)
      maps[d][i] = c->kind == TC_OP_pad ? pad_source(mode, i - low[d], n) : (i - shift + n) % n;
  }
  uint64_t fill = 0;
  tc__encode(tc__attrs_find(c->attrs, "value"), out->dtype, &fill);
  copy_mapped(c, maps, &fill);
  tc__free(table);
  return TC_OK;
}

// The strides (and first element) of x by which it looks like the result.
static tc_status strided(const tc__call *c) {
  const tc__buffer *x = &c->in[0], *out = &c->out[0];
  const tc__type *in = &x->type;
  tc__strides all, s;
  int64_t shape[TC__WALK_RANK], offset = 0, dim = tc__attrs_int(c->attrs, "dim", 0);
  int rank = out->type.rank;
  size_t n_dims = 0;
  const int64_t *dims = tc__attrs_ints(c->attrs, "dims", &n_dims);
  tc__strides_of(in, &all);
  memcpy(shape, out->type.shape, sizeof out->type.shape);
  s = all;
  switch (c->kind) {
  case TC_OP_permute:
    for (int d = 0; d < rank; d++)
      s.s[d] = all.s[dims[d]];
    break;
  case TC_OP_broadcast:
    tc__strides_broadcast(in, rank, &s);
    break;
  case TC_OP_slice: {
    int64_t start = tc__attrs_int(c->attrs, "start", 0), n = in->shape[dim];
    start = start < 0 ? start + n : start;
    start = start < 0 ? 0 : start > n ? n : start;
    offset = start * all.s[dim];
    // A step over the size takes one element; the product must not overflow.
    s.s[dim] = shape[dim] > 1 ? all.s[dim] * tc__attrs_int(c->attrs, "step", 1) : all.s[dim];
    break;
  }
  case TC_OP_select: {
    int64_t index = tc__attrs_int(c->attrs, "index", 0);
    offset = (index < 0 ? index + in->shape[dim] : index) * all.s[dim];
    for (int d = 0; d < rank; d++)
      s.s[d] = all.s[d < dim ? d : d + 1];
    break;
  }
  case TC_OP_flip:
    for (size_t k = 0; k < n_dims; k++)
      if (s.s[dims[k]] >= 0 && in->shape[dims[k]] > 0) {
        offset += (in->shape[dims[k]] - 1) * all.s[dims[k]];
        s.s[dims[k]] = -all.s[dims[k]];
      }
    break;
  case TC_OP_unfold:
    s.s[dim] = shape[dim] > 1 ? all.s[dim] * tc__attrs_int(c->attrs, "step", 1) : 0;
    s.s[rank - 1] = all.s[dim];
    break;
  case TC_OP_diagonal: {
    int64_t d1 = tc__attrs_int(c->attrs, "dim1", 0), d2 = tc__attrs_int(c->attrs, "dim2", 1),
            k = tc__attrs_int(c->attrs, "offset", 0);
    int at = 0;
    for (int d = 0; d < in->rank; d++)
      if (d != d1 && d != d2)
        s.s[at++] = all.s[d];
    s.s[at] = all.s[d1] + all.s[d2];
    if (shape[at] > 0)
      offset = k >= 0 ? k * all.s[d2] : -k * all.s[d1];
    break;
  }
  case TC_OP_repeat: {
    const int64_t *repeats = tc__attrs_ints(c->attrs, "repeats", &n_dims);
    for (int d = 0; d < rank; d++) {
      int f = d - (rank - in->rank);
      shape[2 * d] = repeats[d];
      s.s[2 * d] = 0;
      shape[2 * d + 1] = f < 0 ? 1 : in->shape[f];
      s.s[2 * d + 1] = f < 0 ? 0 : all.s[f];
    }
    rank *= 2;
    break;
  }
  default:
    break;
  }
  tc__copy_strided(out, x, offset, rank, shape, &s);
  return TC_OK;
}

tc_status tc__interp_shape(const tc__call *c) {
  switch (c->kind) {
  case TC_OP_reshape:
  case TC_OP_unsqueeze:
  case TC_OP_squeeze: {
    size_t bytes = (size_t)tc__type_bytes(&c->in[0].type);
    if (bytes)
      memcpy(c->out[0].data, c->in[0].data, bytes);
    return TC_OK;
  }
  case TC_OP_concat:
    return concat(c);
  case TC_OP_tril:
  case TC_OP_triu:
    return triangle(c);
  case TC_OP_pad:
  case TC_OP_roll:
    return pad_or_roll(c);
  default:
    return strided(c);
  }
}

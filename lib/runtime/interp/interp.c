// Dispatch, and what the op families share.
#include "internal.h"

#include <stdio.h>

tc_status tc__interp_fail(const tc__call *c, tc_status status, const char *fmt, ...) {
  char text[512];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  return tc__error(status, NULL, "tc.%s: %s", tc__op_info_get(c->kind)->name, text);
}

void *tc__scratch(int64_t count, size_t bytes) {
  size_t total;
  if (count < 0 || __builtin_mul_overflow((size_t)count, bytes, &total))
    return NULL;
  return tc__alloc(total ? total : 1);
}

// ---- rows
// -----------------------------------------------------------------------------------------------------------------------

#define LOAD(T, convert)                                                                                                         \
  {                                                                                                                              \
    const T *p = (const T *)src->data + offset;                                                                                  \
    for (int64_t i = 0; i < n; i++, p += stride)                                                                                 \
      dst[i] = convert(*p);                                                                                                      \
    break;                                                                                                                       \
  }
#define AS_IS(x) (x)
#define F16_OUT(x) tc__f16_to_f32(x)
#define BF16_OUT(x) tc__bf16_to_f32(x)

void tc__load_f64(double *dst, const tc__buffer *src, int64_t offset, int64_t stride, int64_t n) {
  switch (src->type.dtype) {
  case TC_F16:
    LOAD(uint16_t, F16_OUT)
  case TC_BF16:
    LOAD(uint16_t, BF16_OUT)
  case TC_F32:
    LOAD(float, AS_IS)
  case TC_F64:
    LOAD(double, AS_IS)
  case TC_I8:
    LOAD(int8_t, AS_IS)
  case TC_I16:
    LOAD(int16_t, AS_IS)
  case TC_I32:
    LOAD(int32_t, AS_IS)
  case TC_I64:
    LOAD(int64_t, (double))
  case TC_U8:
  case TC_BOOL:
    LOAD(uint8_t, AS_IS)
  case TC_DTYPE_COUNT:
    break;
  }
}

#define F16_INT(x) tc__f64_to_i64(tc__f16_to_f32(x))
#define BF16_INT(x) tc__f64_to_i64(tc__bf16_to_f32(x))
#define FLOAT_INT(x) tc__f64_to_i64(x)

void tc__load_i64(int64_t *dst, const tc__buffer *src, int64_t offset, int64_t stride, int64_t n) {
  switch (src->type.dtype) {
  case TC_F16:
    LOAD(uint16_t, F16_INT)
  case TC_BF16:
    LOAD(uint16_t, BF16_INT)
  case TC_F32:
    LOAD(float, FLOAT_INT)
  case TC_F64:
    LOAD(double, FLOAT_INT)
  case TC_I8:
    LOAD(int8_t, AS_IS)
  case TC_I16:
    LOAD(int16_t, AS_IS)
  case TC_I32:
    LOAD(int32_t, AS_IS)
  case TC_I64:
    LOAD(int64_t, AS_IS)
  case TC_U8:
  case TC_BOOL:
    LOAD(uint8_t, AS_IS)
  case TC_DTYPE_COUNT:
    break;
  }
}

#define STORE(T, convert)                                                                                                        \
  {                                                                                                                              \
    T *p = (T *)dst->data + offset;                                                                                              \
    for (int64_t i = 0; i < n; i++, p += stride)                                                                                 \
      *p = (T)convert(src[i]);                                                                                                   \
    break;                                                                                                                       \
  }
#define F16_IN(x) tc__f32_to_f16((float)(x))
#define BF16_IN(x) tc__f32_to_bf16((float)(x))
#define NOT_ZERO(x) ((x) != 0)

void tc__store_f64(const tc__buffer *dst, int64_t offset, int64_t stride, const double *src, int64_t n) {
  switch (dst->type.dtype) {
  case TC_F16:
    STORE(uint16_t, F16_IN)
  case TC_BF16:
    STORE(uint16_t, BF16_IN)
  case TC_F32:
    STORE(float, AS_IS)
  case TC_F64:
    STORE(double, AS_IS)
  case TC_I8:
    STORE(int8_t, FLOAT_INT)
  case TC_I16:
    STORE(int16_t, FLOAT_INT)
  case TC_I32:
    STORE(int32_t, FLOAT_INT)
  case TC_I64:
    STORE(int64_t, FLOAT_INT)
  case TC_U8:
    STORE(uint8_t, FLOAT_INT)
  case TC_BOOL:
    STORE(uint8_t, NOT_ZERO)
  case TC_DTYPE_COUNT:
    break;
  }
}

void tc__store_i64(const tc__buffer *dst, int64_t offset, int64_t stride, const int64_t *src, int64_t n) {
  switch (dst->type.dtype) {
  case TC_F16:
    STORE(uint16_t, F16_IN)
  case TC_BF16:
    STORE(uint16_t, BF16_IN)
  case TC_F32:
    STORE(float, AS_IS)
  case TC_F64:
    STORE(double, AS_IS)
  case TC_I8:
    STORE(int8_t, AS_IS)
  case TC_I16:
    STORE(int16_t, AS_IS)
  case TC_I32:
    STORE(int32_t, AS_IS)
  case TC_I64:
    STORE(int64_t, AS_IS)
  case TC_U8:
    STORE(uint8_t, AS_IS)
  case TC_BOOL:
    STORE(uint8_t, NOT_ZERO)
  case TC_DTYPE_COUNT:
    break;
  }
}

void tc__encode(const tc__attr *attr, tc_dtype dtype, void *out) {
  tc__buffer one = {{.dtype = dtype}, out};
  if (attr && attr->kind == TC__ATTR_FLOAT) {
    tc__store_f64(&one, 0, 1, &attr->f, 1);
  } else {
    int64_t i = attr ? attr->i : 0;
    tc__store_i64(&one, 0, 1, &i, 1);
  }
}

void tc__fill_row(void *dst, const void *element, size_t size, int64_t n) {
  if (n <= 0)
    return;
  size_t total = size * (size_t)n, done = size;
  memmove(dst, element, size);
  while (done < total) { // doubling
    size_t more = done < total - done ? done : total - done;
    memcpy((char *)dst + done, dst, more);
    done += more;
  }
}

#define COPY_ROW(T)                                                                                                              \
  {                                                                                                                              \
    T *d = dst;                                                                                                                  \
    const T *s = src;                                                                                                            \
    for (int64_t i = 0; i < n; i++)                                                                                              \
      d[i * dst_stride] = s[i * src_stride];                                                                                     \
    break;                                                                                                                       \
  }

void tc__copy_row(void *dst, int64_t dst_stride, const void *src, int64_t src_stride, size_t size, int64_t n) {
  if (n <= 0)
    return;
  if (src_stride == 1 && dst_stride == 1) {
    memcpy(dst, src, size * (size_t)n);
    return;
  }
  if (src_stride == 0 && dst_stride == 1) {
    tc__fill_row(dst, src, size, n);
    return;
  }
  switch (size) {
  case 1:
    COPY_ROW(uint8_t)
  case 2:
    COPY_ROW(uint16_t)
  case 4:
    COPY_ROW(uint32_t)
  case 8:
    COPY_ROW(uint64_t)
  }
}

// ---- walking
// --------------------------------------------------------------------------------------------------------------------

void tc__walk_init(tc__walk *w, int rank, const int64_t *shape, int n, const tc__strides *strides) {
  *w = (tc__walk){.n = n, .rows = 1, .inner = 1};
  int merged = 0; // dims kept so far, the last of them the innermost
  for (int d = 0; d < rank; d++) {
    if (shape[d] == 0)
      w->rows = 0;
    if (shape[d] == 1)
      continue;
    bool merge = merged > 0;
    for (int a = 0; a < n && merge; a++)
      merge = w->stride[a][merged - 1] == strides[a].s[d] * shape[d];
    if (!merge) {
      w->shape[merged] = 1;
      merged++;
    }
    w->shape[merged - 1] *= shape[d];
    for (int a = 0; a < n; a++)
      w->stride[a][merged - 1] = strides[a].s[d];
  }
  if (merged > 0) {
    w->rank = merged - 1;
    w->inner = w->shape[merged - 1];
    for (int a = 0; a < n; a++)
      w->step[a] = w->stride[a][merged - 1];
  } else {
    for (int a = 0; a < n; a++)
      w->step[a] = 1;
  }
  for (int d = 0; d < w->rank && w->rows; d++)
    w->rows *= w->shape[d];
}

void tc__walk_next(tc__walk *w) {
  for (int d = w->rank - 1; d >= 0; d--) {
    for (int a = 0; a < w->n; a++)
      w->at[a] += w->stride[a][d];
    if (++w->index[d] < w->shape[d])
      return;
    for (int a = 0; a < w->n; a++)
      w->at[a] -= w->stride[a][d] * w->shape[d];
    w->index[d] = 0;
  }
}

void tc__strides_of(const tc__type *t, tc__strides *out) {
  int64_t s = 1;
  for (int d = t->rank - 1; d >= 0; d--) {
    out->s[d] = s;
    s *= t->shape[d];
  }
}

void tc__strides_broadcast(const tc__type *from, int rank, tc__strides *out) {
  int64_t s = 1;
  for (int d = rank - 1; d >= 0; d--) {
    int f = d - (rank - from->rank);
    out->s[d] = f < 0 || from->shape[f] == 1 ? 0 : s;
    if (f >= 0)
      s *= from->shape[f];
  }
}

void tc__copy_strided(const tc__buffer *dst, const tc__buffer *src, int64_t offset, int rank, const int64_t *shape,
                      const tc__strides *src_strides) {
  size_t size = tc_dtype_size(dst->type.dtype);
  tc__walk w;
  tc__walk_init(&w, rank, shape, 1, src_strides);
  char *to = dst->data;
  for (int64_t r = 0; r < w.rows; r++, tc__walk_next(&w), to += size * (size_t)w.inner)
    tc__copy_row(to, 1, tc__at(src, offset + w.at[0]), w.step[0], size, w.inner);
}

tc__lines tc__lines_of(const tc__type *t, int64_t dim) {
  tc__lines l = {1, 1, 1};
  for (int d = 0; d < t->rank; d++)
    *(d < dim ? &l.outer : d == dim ? &l.size : &l.inner) *= t->shape[d];
  return l;
}

// ---- dispatch
// -------------------------------------------------------------------------------------------------------------------

// The buffers are read and written by their types, so those must be what the shape rule says.
static tc_status check_types(const tc__call *c, size_t n_outs) {
  enum { FEW = 16 };
  tc__type few[FEW] = {{0}}, *types = few, results[2];
  size_t n_results;
  char err[512] = "";
  if (c->n_in > FEW && !(types = tc__scratch((int64_t)c->n_in, sizeof *types)))
    return tc__oom();
  for (size_t i = 0; i < c->n_in; i++)
    types[i] = c->in[i].type;
  tc_status status = tc__op_infer(c->kind, types, c->n_in, c->attrs, results, &n_results, err, sizeof err);
  if (types != few)
    tc__free(types);
  if (status != TC_OK)
    return tc__interp_fail(c, status, "%s", err);
  if (n_outs != n_results)
    return tc__interp_fail(c, TC_ERR_INVALID_ARGUMENT, "expected %zu results, found %zu", n_results, n_outs);
  for (size_t i = 0; i < n_outs; i++)
    if (!tc__type_equal(&results[i], &c->out[i].type)) {
      char want[200], got[200];
      return tc__interp_fail(c, TC_ERR_SHAPE_MISMATCH, "result %zu: expected a buffer of %s, found %s", i,
                             tc__type_format(&results[i], want, sizeof want), tc__type_format(&c->out[i].type, got, sizeof got));
    }
  return TC_OK;
}

tc_status tc__interp_run(tc_op_kind kind, const tc__buffer *ins, size_t n_ins, tc__buffer *outs, size_t n_outs,
                         const tc__attrs *attrs) {
  static const tc__attrs none = {NULL, 0};
  tc__call c = {kind, ins, n_ins, outs, attrs ? attrs : &none};
  if ((unsigned)kind >= TC_OP_COUNT)
    return tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "no tc op has the number %d", (int)kind);
  TC_TRY(check_types(&c, n_outs));
  switch (tc__op_info_get(kind)->family) {
  case TC_FAMILY_UNARY:
  case TC_FAMILY_BINARY:
  case TC_FAMILY_COMPARE:
  case TC_FAMILY_LOGICAL:
  case TC_FAMILY_BITWISE:
  case TC_FAMILY_SELECT:
  case TC_FAMILY_CAST:
    return tc__interp_pointwise(&c);
  case TC_FAMILY_REDUCE:
    return tc__interp_reduce(&c);
  case TC_FAMILY_SCAN:
    return tc__interp_scan(&c);
  case TC_FAMILY_SHAPE:
    return tc__interp_shape(&c);
  case TC_FAMILY_CREATE:
    return tc__interp_create(&c);
  case TC_FAMILY_INDEX:
    return tc__interp_index(&c);
  case TC_FAMILY_CONTRACT:
    return tc__interp_contract(&c);
  case TC_FAMILY_POOL:
    return tc__interp_pool(&c);
  case TC_FAMILY_RESIZE:
    return tc__interp_resize(&c);
  case TC_FAMILY_NORM:
    return tc__interp_norm(&c);
  case TC_FAMILY_SOFTMAX:
    return tc__interp_softmax(&c);
  case TC_FAMILY_ATTENTION:
    return tc__interp_attention(&c);
  case TC_FAMILY_SORT:
    return tc__interp_sort(&c);
  }
  return tc__interp_fail(&c, TC_ERR_INTERNAL, "the interpreter has no such family");
}

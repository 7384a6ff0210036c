// What the interpreter's files share: the call, typed rows, walking several strided arrays at once.
#ifndef TC_LIB_RUNTIME_INTERP_INTERNAL_H
#define TC_LIB_RUNTIME_INTERP_INTERNAL_H

#include "interp.h"

typedef struct tc__call {
  tc_op_kind kind;
  const tc__buffer *in;
  size_t n_in;
  tc__buffer *out;
  const tc__attrs *attrs;
} tc__call;

// One function a family of the op table.
tc_status tc__interp_pointwise(const tc__call *c);
tc_status tc__interp_reduce(const tc__call *c);
tc_status tc__interp_scan(const tc__call *c);
tc_status tc__interp_shape(const tc__call *c);
tc_status tc__interp_create(const tc__call *c);
tc_status tc__interp_index(const tc__call *c);
tc_status tc__interp_contract(const tc__call *c);
tc_status tc__interp_pool(const tc__call *c);
tc_status tc__interp_resize(const tc__call *c);
tc_status tc__interp_norm(const tc__call *c);
tc_status tc__interp_softmax(const tc__call *c);
tc_status tc__interp_attention(const tc__call *c);
tc_status tc__interp_sort(const tc__call *c);

/// tc__error with the op's name before the text.
tc_status tc__interp_fail(const tc__call *c, tc_status status, const char *fmt, ...) TC_PRINTF(3, 4);

/// count elements of `bytes` each, NULL after an overflow too; never NULL for 0. Released with tc__free.
void *tc__scratch(int64_t count, size_t bytes);

// ---- rows of elements: offset and stride count elements ----
void tc__load_f64(double *dst, const tc__buffer *src, int64_t offset, int64_t stride, int64_t n);
void tc__load_i64(int64_t *dst, const tc__buffer *src, int64_t offset, int64_t stride, int64_t n);
/// Rounds once: f16 and bf16 by way of f32, as ATen does. To an integer: truncates, then wraps.
void tc__store_f64(const tc__buffer *dst, int64_t offset, int64_t stride, const double *src, int64_t n);
/// To a narrower integer: wraps; to i1: is not 0.
void tc__store_i64(const tc__buffer *dst, int64_t offset, int64_t stride, const int64_t *src, int64_t n);

static inline bool tc__is_float(const tc__buffer *b) { return tc_dtype_is_float(b->type.dtype); }
static inline char *tc__at(const tc__buffer *b, int64_t element) {
  return (char *)b->data + (size_t)element * tc_dtype_size(b->type.dtype);
}
/// Truncation as x86 does it: INT64_MIN for NaN and what i64 cannot hold.
static inline int64_t tc__f64_to_i64(double x) { return x >= -0x1p63 && x < 0x1p63 ? (int64_t)x : INT64_MIN; }
/// Encodes a scalar attribute (INT, BOOL or FLOAT; absent = 0) as one element.
void tc__encode(const tc__attr *attr, tc_dtype dtype, void *out);
/// n copies of one element.
void tc__fill_row(void *dst, const void *element, size_t size, int64_t n);
/// Copies n elements between strided rows of `size`-byte elements; strides count elements.
void tc__copy_row(void *dst, int64_t dst_stride, const void *src, int64_t src_stride, size_t size, int64_t n);

// ---- walking ----
#define TC__WALK_RANK (2 * TC_MAX_RANK)
#define TC__WALK_ARRAYS 4

typedef struct tc__strides {
  int64_t s[TC__WALK_RANK];
} tc__strides;

/// Visits an index space row by row in row-major order, with an element offset into each of up to 4 strided arrays. Adjacent dims
/// that every array holds as one are merged, so rows are as long as they can be.
typedef struct tc__walk {
  int rank, n; ///< rank: of the dims above the row
  int64_t rows, inner;
  int64_t shape[TC__WALK_RANK], index[TC__WALK_RANK];
  int64_t stride[TC__WALK_ARRAYS][TC__WALK_RANK];
  int64_t step[TC__WALK_ARRAYS]; ///< stride inside the row
  int64_t at[TC__WALK_ARRAYS];   ///< offset of the row's first element
} tc__walk;

void tc__walk_init(tc__walk *w, int rank, const int64_t *shape, int n, const tc__strides *strides);
void tc__walk_next(tc__walk *w);

void tc__strides_of(const tc__type *t, tc__strides *out);
/// Strides of `from` seen through a result of `rank` dims (right-aligned; 0 where from has size 1 or no dim).
void tc__strides_broadcast(const tc__type *from, int rank, tc__strides *out);
/// dst (contiguous, of the walk's row-major order) = src through strides from element `offset` on.
void tc__copy_strided(const tc__buffer *dst, const tc__buffer *src, int64_t offset, int rank, const int64_t *shape,
                      const tc__strides *src_strides);

/// A tensor as [outer, size, inner] around one dim; a scalar is [1, 1, 1].
typedef struct tc__lines {
  int64_t outer, size, inner;
} tc__lines;
tc__lines tc__lines_of(const tc__type *t, int64_t dim);

#endif // TC_LIB_RUNTIME_INTERP_INTERNAL_H

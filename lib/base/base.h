// Internal basics shared by every part: errors, buffers of text, plain tensor types and attributes, did-you-mean.
// No MLIR, no LLVM, no operating-system headers.
#ifndef TC_LIB_BASE_BASE_H
#define TC_LIB_BASE_BASE_H

#include "tc/base.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

// ---- errors -------------------------------------------------------------------------------------------------------------------

/// Records and reports an error and returns `status`, so that `return tc__error(TC_ERR_IO, path, "...")` reads well.
/// `location` may be NULL.
tc_status tc__error(tc_status status, const char *location, const char *fmt, ...) TC_PRINTF(3, 4);
/// Reports a warning, note or remark; does not touch tc_last_error().
void tc__report(tc_severity severity, const char *location, const char *fmt, ...) TC_PRINTF(3, 4);
/// malloc/calloc/realloc that the failing-allocator tests can make fail. NULL on failure (the caller returns TC_ERR_OUT_OF_MEMORY).
void *tc__alloc(size_t bytes);
void *tc__calloc(size_t count, size_t bytes);
void *tc__realloc(void *p, size_t bytes);
void tc__free(void *p);
/// 64-byte aligned; released with tc__aligned_free. Size is rounded up to 64.
void *tc__aligned_alloc(size_t bytes);
void tc__aligned_free(void *p);
tc_status tc__oom(void); ///< Reports "out of memory" and returns TC_ERR_OUT_OF_MEMORY.

#define TC_TRY(expr)                                                                                                             \
  do {                                                                                                                           \
    tc_status tc__try_status = (expr);                                                                                           \
    if (tc__try_status != TC_OK)                                                                                                 \
      return tc__try_status;                                                                                                     \
  } while (0)
#define TC_COUNTOF(a) (sizeof(a) / sizeof((a)[0]))

// ---- text -----------------------------------------------------------------------------------------------------------------------

/// A growing text buffer; zero-initialise, free with tc__str_free. After an allocation failure `oom` is set and appends do nothing.
typedef struct tc__str {
  char *data; ///< NUL-terminated once anything was appended; NULL before.
  size_t size, capacity;
  bool oom;
} tc__str;
void tc__str_append(tc__str *s, const char *text);
void tc__str_append_n(tc__str *s, const char *text, size_t n);
void tc__str_printf(tc__str *s, const char *fmt, ...) TC_PRINTF(2, 3);
void tc__str_vprintf(tc__str *s, const char *fmt, va_list args);
void tc__str_free(tc__str *s);
char *tc__strdup(const char *text);
char *tc__strndup(const char *text, size_t n);

/// The entry of names[0..count) nearest to `name`, or NULL when none is near enough (the cut-off of Python's difflib, 0.6).
const char *tc__did_you_mean(const char *name, const char *const *names, size_t count);

/// 64-bit FNV-1a.
uint64_t tc__fnv1a(const void *data, size_t size);

/// Reads a whole file (NUL appended, not counted in *out_size); free with tc__free.
tc_status tc__read_file(const char *path, char **out_data, size_t *out_size);
/// Writes a whole file by way of a temporary in the same folder and rename, so that nothing half-written is left. "-" is stdout.
tc_status tc__write_file(const char *path, const void *data, size_t size);

// ---- tensor types and attributes, as plain data ---------------------------------------------------------------------------------

#define TC__DYNAMIC (-1) ///< A dynamic dim in tc__type.shape.

typedef struct tc__type {
  tc_dtype dtype;
  int rank;
  int64_t shape[TC_MAX_RANK];
} tc__type;

bool tc__type_equal(const tc__type *a, const tc__type *b);
bool tc__type_is_static(const tc__type *t);
int64_t tc__type_elements(const tc__type *t); ///< Product of the dims; -1 when dynamic or over INT64_MAX.
int64_t tc__type_bytes(const tc__type *t);    ///< -1 likewise.
/// Writes "f32[1,3,64,64]" ('?' for dynamic) into buf and returns buf.
const char *tc__type_format(const tc__type *t, char *buf, size_t size);

/// A contiguous row-major tensor in host memory. Borrowed data.
typedef struct tc__buffer {
  tc__type type;
  void *data;
} tc__buffer;

typedef enum tc__attr_kind {
  TC__ATTR_INT,    ///< i: i64
  TC__ATTR_BOOL,   ///< i: 0 or 1
  TC__ATTR_FLOAT,  ///< f
  TC__ATTR_STR,    ///< s
  TC__ATTR_INTS,   ///< ints, count
  TC__ATTR_FLOATS, ///< floats, count
  TC__ATTR_DTYPE,  ///< i: a tc_dtype
  TC__ATTR_TENSOR, ///< tensor: raw elements of tc.constant
} tc__attr_kind;

typedef struct tc__attr {
  const char *name;
  tc__attr_kind kind;
  int64_t i;
  double f;
  const char *s;
  const int64_t *ints;
  const double *floats;
  size_t count;
  tc__buffer tensor;
} tc__attr;

typedef struct tc__attrs {
  const tc__attr *items;
  size_t count;
} tc__attrs;

const tc__attr *tc__attrs_find(const tc__attrs *attrs, const char *name);
int64_t tc__attrs_int(const tc__attrs *attrs, const char *name, int64_t otherwise);    ///< INT, BOOL, DTYPE; FLOAT is truncated
double tc__attrs_float(const tc__attrs *attrs, const char *name, double otherwise);    ///< FLOAT or INT
bool tc__attrs_bool(const tc__attrs *attrs, const char *name, bool otherwise);
const char *tc__attrs_str(const tc__attrs *attrs, const char *name, const char *otherwise);
/// NULL and *out_count = 0 when absent.
const int64_t *tc__attrs_ints(const tc__attrs *attrs, const char *name, size_t *out_count);
const double *tc__attrs_floats(const tc__attrs *attrs, const char *name, size_t *out_count);

// ---- 16-bit floats ----------------------------------------------------------------------------------------------------------------

float tc__f16_to_f32(uint16_t h);
uint16_t tc__f32_to_f16(float f); ///< Round to nearest even.
float tc__bf16_to_f32(uint16_t h);
uint16_t tc__f32_to_bf16(float f); ///< Round to nearest even; NaN stays NaN.

#endif // TC_LIB_BASE_BASE_H

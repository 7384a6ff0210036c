// Inside the shape rules: what every rule is given, and the checks they share.
#ifndef TC_DIALECTS_TC_INFER_H
#define TC_DIALECTS_TC_INFER_H

#include "tc_op.h"

typedef struct tc__infer {
  const tc__op_info *info;
  const tc__type *in;
  size_t n;
  const tc__attrs *attrs;
  tc__type *out; ///< two
  char *err;
  size_t err_size;
} tc__infer;

typedef tc_status (*tc__infer_rule)(tc__infer *c);

#define TC_OP(name, family, traits, operands, results, attributes, rule, doc) tc_status tc__infer_##rule(tc__infer *c);
#include "tc_ops.def"
#undef TC_OP

/// Writes the message and returns status.
tc_status tc__infer_fail(tc__infer *c, tc_status status, const char *fmt, ...) TC_PRINTF(3, 4);
/// Operand i as "operand 1 (b)"; static buffers, two alive at once.
const char *tc__infer_operand(const tc__infer *c, size_t i);

/// NumPy broadcast of b into *a (shapes only). which names operand b in the message.
tc_status tc__infer_broadcast_into(tc__infer *c, tc__type *a, const tc__type *b, size_t which);
/// All operands from first on have operand first's dtype.
tc_status tc__infer_same_dtype(tc__infer *c, size_t first);
/// An i64 attribute as a dim in [0, rank).
tc_status tc__infer_dim(tc__infer *c, const char *name, int64_t rank, int64_t *out);
/// An i64[] attribute of exactly `count` entries (any number up to max when count < 0), each in [low, INT64_MAX].
tc_status tc__infer_ints(tc__infer *c, const char *name, int64_t count, int64_t low, size_t max, const int64_t **out, size_t *out_n);
tc_status tc__infer_rank_at_least(tc__infer *c, size_t operand, int rank);
tc_status tc__infer_rank_is(tc__infer *c, size_t operand, int rank);
/// Sizes agree unless one is dynamic; *a becomes the known one.
bool tc__infer_unify(int64_t *a, int64_t b);

#endif // TC_DIALECTS_TC_INFER_H

// A plan as text: its kernels, the memory they move, and what fusion saved.
#ifndef TC_LIB_RUNTIME_EXPLAIN_H
#define TC_LIB_RUNTIME_EXPLAIN_H

#include "plan.h"

/// Appends one line a step (unless summary_only) and the totals.
void tc__plan_explain(const tc__plan *plan, bool summary_only, tc__str *out);

typedef struct tc__plan_totals {
  int kernels, op_steps, copies;
  int64_t bytes_read, bytes_written, unfused_read, unfused_written;
} tc__plan_totals;
/// Sums over the steps of one run (prepare steps are not in it).
tc__plan_totals tc__plan_sum(const tc__plan *plan);

#endif // TC_LIB_RUNTIME_EXPLAIN_H

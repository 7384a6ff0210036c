#include "explain.h"

#include <stdio.h>

tc__plan_totals tc__plan_sum(const tc__plan *plan) {
  tc__plan_totals t = {0};
  for (int i = 0; i < plan->n_steps; i++) {
    const tc__plan_step *s = &plan->steps[i];
    t.kernels += s->kind == TC__STEP_KERNEL;
    t.op_steps += s->kind == TC__STEP_OP;
    t.copies += s->kind == TC__STEP_COPY;
    t.bytes_read += s->bytes_read;
    t.bytes_written += s->bytes_written;
    t.unfused_read += s->unfused_read;
    t.unfused_written += s->unfused_written;
  }
  return t;
}

// Exact below a megabyte, so that "40000 B" can be compared by eye.
static const char *bytes(int64_t n, char *buf, size_t size) {
  if (n < 1000000)
    snprintf(buf, size, "%lld B", (long long)n);
  else if (n < 1000000000)
    snprintf(buf, size, "%.1f MB", (double)n * 1e-6);
  else
    snprintf(buf, size, "%.2f GB", (double)n * 1e-9);
  return buf;
}

static void explain_steps(const tc__plan *plan, const tc__plan_step *steps, int n, tc__str *out) {
  for (int i = 0; i < n; i++) {
    const tc__plan_step *s = &steps[i];
    const char *kind = s->kind == TC__STEP_KERNEL ? "kernel" : s->kind == TC__STEP_OP ? "op" : "copy";
    char read[32], written[32], type[128];
    const char *name = s->kind == TC__STEP_KERNEL ? plan->kernels[s->kernel].name : s->summary;
    int last = s->n_in + s->n_out - 1;
    tc__str_printf(out, "  %-6s %-36s %-24s read %-10s written %-10s", kind, name,
                   tc__type_format(&plan->values[s->args[last]].type, type, sizeof type), bytes(s->bytes_read, read, sizeof read),
                   bytes(s->bytes_written, written, sizeof written));
    if (*s->location)
      tc__str_printf(out, "  # %s", s->location);
    tc__str_append(out, "\n");
  }
}

void tc__plan_explain(const tc__plan *plan, bool summary_only, tc__str *out) {
  char a[32], b[32], c[32], d[32];
  if (!summary_only) {
    if (plan->n_prepare) {
      tc__str_printf(out, "at load, once (%d steps):\n", plan->n_prepare);
      explain_steps(plan, plan->prepare, plan->n_prepare, out);
    }
    tc__str_printf(out, "each run (%d steps):\n", plan->n_steps);
    explain_steps(plan, plan->steps, plan->n_steps, out);
  }
  tc__plan_totals t = tc__plan_sum(plan);
  tc__str_printf(out, "kernels: %d (%d distinct), interpreter ops: %d, copies: %d\n", t.kernels, plan->n_kernels, t.op_steps, t.copies);
  tc__str_printf(out, "fused:   read %s, written %s\n", bytes(t.bytes_read, a, sizeof a), bytes(t.bytes_written, b, sizeof b));
  tc__str_printf(out, "unfused: read %s, written %s\n", bytes(t.unfused_read, c, sizeof c), bytes(t.unfused_written, d, sizeof d));
  tc__str_printf(out, "arena: %s, prepared constants: %s\n", bytes(plan->arena_bytes, a, sizeof a), bytes(plan->prepared_bytes, b, sizeof b));
}

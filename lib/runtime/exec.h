// Running a plan: bound parameters, prepared values, an arena, threads.
#ifndef TC_LIB_RUNTIME_EXEC_H
#define TC_LIB_RUNTIME_EXEC_H

#include "plan.h"

typedef struct tc__executable tc__executable;

/// Takes over the plan (destroyed with the executable, also on failure). params[i] belongs to plan->params[i]; the data is borrowed and must outlive the executable. Runs the prepare steps.
tc_status tc__executable_create(tc__plan *plan, const tc__buffer *params, tc__executable **out);
void tc__executable_destroy(tc__executable *exe);
const tc__plan *tc__executable_plan(const tc__executable *exe);
/// Runs once. inputs and outputs are checked against the plan (the error names the argument, what was expected and what was found). Output data is the
/// caller's memory. Outputs that mutate an input or buffer are written there too.
tc_status tc__executable_run(tc__executable *exe, const tc__buffer *inputs, size_t n_inputs, tc__buffer *outputs, size_t n_outputs);

/// From now on each run adds the nanoseconds of step i to ns[i] (plan->n_steps entries, the caller's). NULL ends it. Not while a run is under way.
void tc__executable_profile(tc__executable *exe, int64_t *ns);

// ---- threads (threads.c): one pool a process, made at the first use; workers spin ~50 us, then sleep ----
void tc__threads_set(int n); ///< 0 = all cores
int tc__threads_get(void);
/// Calls fn(user, begin, end, worker) for ranges that cover [0, n_tasks) with at most `threads` workers; returns when all are done. Re-entrant: a call from inside or beside another runs alone on its thread.
void tc__parallel_for(int64_t n_tasks, int threads, void (*fn)(void *user, int64_t begin, int64_t end, int worker), void *user);
#endif

// The host functions of a module as a plan.
#ifndef TC_LIB_COMPILER_PLAN_BUILDER_H
#define TC_LIB_COMPILER_PLAN_BUILDER_H

#include "runtime/plan.h"
#include "tc/tc_ir.h"

/// Reads the entry function and its .prepare (level 3 of docs/kernels.md: kernel calls, op steps, free casts; for the interpreter only op
/// steps) into a plan without code, and erases both functions from the module.
tc_status tc__plan_build(MlirModule module, tc__plan **out_plan);

/// Takes tc.tasks, tc.task_cost and tc.scratch of the lowered kernel i into the plan.
tc_status tc__plan_read_kernel(MlirOperation module, tc__plan *plan, int kernel);

#endif // TC_LIB_COMPILER_PLAN_BUILDER_H

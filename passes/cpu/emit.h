// Emitting loops over pointers: what the lowerings of kernel functions share. Loop variables and offsets are i64.
#ifndef TC_PASSES_CPU_EMIT_H
#define TC_PASSES_CPU_EMIT_H

#include "support/generic.h"

MlirValue tc__i64(tc__builder *b, int64_t v);
MlirValue tc__addi(tc__builder *b, MlirValue x, MlirValue y);
MlirValue tc__muli(tc__builder *b, MlirValue x, int64_t c); ///< x * c, folded for 0 (null value) and 1
MlirValue tc__mini(tc__builder *b, MlirValue x, MlirValue y);

/// scf.for from low to high by step with n carried values. Returns a builder inside its body; *iv and carried[] (in: initial values, out: the
/// values inside). Close with tc__for_end, which yields `next` and returns the op (results = final values).
typedef struct tc__for {
  MlirBlock block;
  MlirValue operands[3 + 64];
  size_t n;
} tc__for;
tc__builder tc__for_begin(tc__builder *b, MlirValue low, MlirValue high, MlirValue step, MlirValue *carried, size_t n, MlirValue *iv, tc__for *f);
MlirOperation tc__for_end(tc__builder *b, tc__builder *inside, tc__for *f, const MlirValue *next);
/// scf.if without results: returns a builder inside; nothing to close.
tc__builder tc__if_begin(tc__builder *b, MlirValue cond);

MlirType tc__ptr_type(MlirContext ctx, unsigned space);
/// The type an element has in memory: i1 is i8.
MlirType tc__memory_element(MlirType element);
/// ptr + offset elements (offset may be null: ptr itself).
MlirValue tc__gep(tc__builder *b, MlirValue ptr, MlirType element, MlirValue offset);
/// Loads or stores an element (or a vector type, alignment in bytes, 0 = natural). An i1 is a byte.
MlirValue tc__load(tc__builder *b, MlirValue ptr, MlirType type, int64_t alignment);
void tc__store(tc__builder *b, MlirValue ptr, MlirValue value, int64_t alignment);

/// Where a tensor value of a kernel lives.
typedef enum tc__place {
  TC__PLACE_MEMORY,  ///< all of it at ptr, row-major
  TC__PLACE_ROW,     ///< in scratch: dims from `first` on; the chunked dim (if any) relative to chunk_low
  TC__PLACE_FILL,    ///< every element is `scalar`
  TC__PLACE_EMPTY,   ///< not read
  TC__PLACE_PAD,     ///< `source` shifted by low, `scalar` outside
  TC__PLACE_EXPAND,  ///< `source` with its dims split (op: the tensor.expand_shape)
} tc__place;

typedef struct tc__access {
  tc__place place;
  MlirValue value; ///< the tensor in the kernel function
  tc__type type;   ///< ui8 does not appear here
  MlirType element;
  MlirValue ptr, scalar;
  int64_t strides[TC_MAX_RANK];
  int first;
  const struct tc__access *source;
  int64_t low[TC_MAX_RANK];
  MlirOperation op;
} tc__access;

/// The element at `index` (one i64 a dim).
MlirValue tc__access_load(tc__builder *b, const tc__access *a, const MlirValue *index);
/// The address of that element; MEMORY and ROW only.
MlirValue tc__access_address(tc__builder *b, const tc__access *a, const MlirValue *index);

/// The tensors of a kernel function under lowering.
typedef struct tc__accesses {
  tc__access items[160];
  size_t n;
} tc__accesses;
tc__access *tc__access_find(tc__accesses *all, MlirValue v);
/// Adds v as MEMORY at ptr.
tc__access *tc__access_add(tc__accesses *all, MlirValue v, MlirValue ptr);
/// Adds what a fill, empty, pad, expand_shape or constant op makes; scalars come from `scalars` (cloned arith.constant). false: another op.
bool tc__access_add_internal(tc__accesses *all, tc__builder *b, MlirOperation op, tc__value_pairs *scalars);

/// The results of a generic's body at one point: args are the block arguments' values; ivs the loops (for linalg.index); tensors read by
/// tensor.extract are found in `all`. false when the body is too large.
bool tc__emit_body(tc__builder *b, const tc__generic_view *g, const MlirValue *args, const MlirValue *ivs, tc__accesses *all,
                   const tc__value_pairs *scalars, MlirValue *yields);

/// Replaces the kernel func.func by a dispatcher @name(args, dims, begin, end, scratch) and @name.body(pointers.., dims, begin, end, scratch), and gives a
/// builder at the end of the body's block (whose arguments are in that order). The old function stays in place, detached, until tc__kernel_finish.
typedef enum tc__kernel_target { TC__TARGET_CPU, TC__TARGET_NVPTX, TC__TARGET_SPIRV } tc__kernel_target;

typedef struct tc__kernel {
  tc__kernel_target target;
  MlirOperation old; ///< the function with the linalg ops
  MlirBlock old_block, block;
  size_t n_ins, n_outs;
  MlirValue pointers[128], dims, begin, end, scratch;
  tc__builder b;
  MlirOperation dispatcher;
} tc__kernel;
/// GPU targets: one function @name(pointers in address space 1..) without the trailing arguments, marked tc.gpu_kernel.
tc_status tc__kernel_begin(MlirOperation func, tc__kernel_target target, tc__kernel *out);
/// The i64 index of this thread among all of the launch (GPU targets).
MlirValue tc__thread_id(tc__kernel *k, tc__builder *b);
/// Ends the body and destroys the old function. tasks, cost (ns a task) and scratch bytes become attributes.
void tc__kernel_finish(tc__kernel *k, int64_t tasks, int64_t cost, int64_t scratch);

/// Lowers a contraction kernel to packed, register-blocked code (lower_contraction.c). TC_OK and *out_done = false: not one of its forms, take the loops.
tc_status tc__lower_contraction_kernel(MlirOperation func, int vector_bits, bool *out_done);
/// Lowers any kernel to loops (lower_loops.c). On a GPU each thread does one step of the shared outer space, or four neighbours of a contiguous
/// pointwise kernel by 16-byte loads and stores.
tc_status tc__lower_loop_kernel(MlirOperation func, tc__kernel_target target);

#endif // TC_PASSES_CPU_EMIT_H

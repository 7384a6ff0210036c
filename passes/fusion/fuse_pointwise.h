// What fuse-pointwise and form-kernels share: reading linalg.generic, the graph of a block with groups of its ops, and the engine
// that builds one linalg.generic from several.
#ifndef TC_PASSES_FUSION_FUSE_POINTWISE_H
#define TC_PASSES_FUSION_FUSE_POINTWISE_H

#include "pass.h"

// ---- memory and maps of one pass run (fuse_pointwise_generic.c)
// -----------------------------------------------------------------------

/// Pointer -> pointer, by address. Zero-initialise; free with tc__ptrmap_free.
typedef struct tc__ptrmap {
  const void **keys;
  void **values;
  size_t size, capacity;
} tc__ptrmap;
bool tc__ptrmap_set(tc__ptrmap *m, const void *key, void *value); ///< false when out of memory
void *tc__ptrmap_get(const tc__ptrmap *m, const void *key);       ///< NULL when absent
void tc__ptrmap_free(tc__ptrmap *m);

// ---- reading linalg.generic (fuse_pointwise_generic.c)
// --------------------------------------------------------------------------------

static inline bool tc__gen_is(MlirOperation op) { return tc__op_is(op, "linalg.generic"); }
/// Inputs of a generic on tensors (it has one out a result).
static inline intptr_t tc__gen_inputs(MlirOperation op) {
  return mlirOperationGetNumOperands(op) - mlirOperationGetNumResults(op);
}
MlirAffineMap tc__gen_map(MlirOperation op, intptr_t operand); ///< outs follow the inputs
intptr_t tc__gen_loops(MlirOperation op);
bool tc__gen_is_parallel(MlirOperation op, intptr_t loop);
bool tc__gen_all_parallel(MlirOperation op);
MlirBlock tc__gen_body(MlirOperation op);
/// All-parallel with the identity map for every result: its iteration space is the results' shape.
bool tc__gen_is_pointwise(MlirOperation op);
/// A generic with `tc.contraction`.
bool tc__gen_is_contraction(MlirOperation op);
/// Size of a loop, -1 when it is dynamic or no operand shows it by a plain dim.
int64_t tc__gen_loop_size(MlirOperation op, intptr_t loop);
/// Nothing but arithmetic that costs about as much as a load.
bool tc__gen_is_cheap(MlirOperation op);
/// The body goes on from what the outs hold.
bool tc__gen_reads_outs(MlirOperation op);
/// Yields its arguments and constants only: a permute, broadcast, slice, or fill.
bool tc__gen_only_moves(MlirOperation op);
/// expand_shape, collapse_shape, bitcast and cast: the same bytes under another type.
bool tc__is_free_cast(MlirOperation op);
MlirAffineMap tc__map_compose(MlirAffineMap outer, MlirAffineMap inner); ///< outer(inner(d)), simplified
int64_t tc__mlir_type_elements(MlirType t);                              ///< -1 when dynamic
int64_t tc__mlir_type_bytes(MlirType t);                                 ///< 0 when dynamic or no tensor
int64_t tc__gen_bytes_read(MlirOperation op);                            ///< tc.bytes_read, or what its operands hold
int64_t tc__gen_bytes_written(MlirOperation op);                         ///< tc.bytes_written, or what its results hold
/// The source ops of an op for listings: `tc.op`, or a name made from the op.
void tc__op_label(MlirOperation op, tc__str *out);

// ---- building linalg.generic
// ----------------------------------------------------------------------------------------------------------

typedef struct tc__gen_spec {
  const MlirValue *inputs, *outs;
  const MlirAffineMap *maps; ///< n_inputs + n_outs
  size_t n_inputs, n_outs;
  intptr_t n_loops;
  uint64_t reduction_loops; ///< bit l: loop l is a reduction
  const int64_t *sizes;     ///< of the loops, -1 = not known; null: what the results say
} tc__gen_spec;
/// linalg takes a plain dim for the operand's whole size: the head of a larger dim is read at `d mod size` instead (sizes of the
/// loops, -1 = not known), and a mod that is not needed goes.
MlirAffineMap tc__map_fit(MlirAffineMap map, MlirType type, const int64_t *sizes);
/// A generic with the given body (taken over).
MlirOperation tc__gen_build(tc__builder *b, const tc__gen_spec *spec, MlirRegion body);
/// The generic with other loops: `loops` gives its old loops in terms of the new ones; maps and operands (inputs, then outs) are
/// for the new.
MlirOperation tc__gen_remapped(tc__builder *b, MlirOperation op, MlirAffineMap loops, const MlirAffineMap *maps,
                               const MlirValue *operands, uint64_t reductions);
/// The generic with its loops in another order: new loop i is old loop perm[i]. Built at b from the given operands (inputs, then
/// outs).
MlirOperation tc__gen_interchanged(tc__builder *b, MlirOperation op, const intptr_t *perm, const MlirValue *operands);
/// A constant with one value everywhere, or a fill with a constant: a scalar in the body costs less than an operand.
bool tc__value_is_splat(MlirValue v);
/// Copies the attributes that are not the op's own.
void tc__copy_discardable(MlirOperation from, MlirOperation to);

/// Which producers are computed inside the consumer that reads them.
typedef bool (*tc__inside_fn)(void *user, MlirOperation producer, MlirOperation consumer);
/// Builds one generic that computes `values` before the op `before`, with every producer for which `inside` says so computed in
/// the body. The values are results of pointwise generics over one space, or all those of one reduction. Returns the op; null
/// when out of memory.
MlirOperation tc__gen_fuse(MlirOperation before, const MlirValue *values, size_t n_values, tc__inside_fn inside, void *user);

// ---- the graph of a block (fuse_pointwise_graph.c)
// ------------------------------------------------------------------------------------

typedef struct tc__graph {
  MlirBlock block;
  int n;
  MlirOperation *ops;
  tc__ptrmap index;       ///< op -> position + 1
  int *succ_begin, *succ; ///< edges of node i: succ[succ_begin[i]] .. succ[succ_begin[i + 1]]
  int *pred_begin, *pred;
  int *parent, *next, *tail; ///< groups: union-find, and the members of a root as a list
  int *stamp, *stack, round; ///< for walks
} tc__graph;

tc_status tc__graph_create(MlirBlock block, tc__graph *out);
void tc__graph_destroy(tc__graph *g);
int tc__graph_node(const tc__graph *g, MlirOperation op); ///< -1 when it is not in the block
int tc__graph_group(tc__graph *g, int node);
/// A path between two groups, or from one back to itself, through a third one: merging them would make a cycle.
bool tc__graph_would_cycle(tc__graph *g, int a, int b);
/// c depends on contraction a otherwise than by reading it, or what is anchored to it, directly: c can't be a's epilogue.
bool tc__graph_escapes(tc__graph *g, int c, int a, const int *anchor);
void tc__graph_merge(tc__graph *g, int a, int b); ///< group ids; the result is the group of either
/// Reorders a block so that definitions come before uses, otherwise as it was.
tc_status tc__block_sort(MlirBlock block);
/// Erases ops without uses that only compute (linalg, tensor, arith), in one backward walk.
void tc__block_dce(MlirBlock block);

// ---- clean-up before fusion (fuse_pointwise_reshape.c)
// ----------------------------------------------------------------------------------

/// Named elementwise and contraction ops to generics, scalar constants into bodies, unit-dim reshapes and slices into maps.
tc_status tc__fuse_normalize(MlirBlock block);
/// Rewrites a generic without its loops of size 1 (the op may be replaced).
tc_status tc__fuse_drop_unit_loops(MlirOperation op);
/// Moves reshapes out of the way of pointwise fusion. *changed is set when anything moved.
tc_status tc__fuse_move_reshapes(MlirBlock block, bool *changed);

#endif // TC_PASSES_FUSION_FUSE_POINTWISE_H

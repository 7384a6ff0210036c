// Random well-typed tc graphs for differential tests. While a graph grows, each op is run on its real operands by the
// interpreter, and once more on operands that carry a rounding error of a few ulp: an op that would amplify such errors beyond
// what the comparison allows is not taken, so that a difference in the end is a bug and not bad conditioning.
#ifndef TC_TEST_FUZZ_RANDOM_GRAPH_H
#define TC_TEST_FUZZ_RANDOM_GRAPH_H

#include "runtime/interp/interp.h"
#include "tc/tc_ir.h"

typedef struct gen_value {
  MlirValue v;
  tc__buffer real, rough; ///< rough.data == real.data when exact
  bool exact;             ///< every correct implementation computes the very same bits
  bool used;
  int argument;     ///< index among the function's arguments, -1 = computed
  const char *kind; ///< of an argument: "input", "parameter", "buffer"
} gen_value;

typedef struct gen {
  uint64_t state;
  MlirContext ctx;
  MlirLocation loc;
  MlirBlock block;
  gen_value *values;
  size_t n_values, capacity;
  int n_arguments;
  int64_t max_elements;
  bool specials; ///< fresh floats may hold inf, nan and -0
  int n_ops, n_tried;
  bool failed; ///< out of memory, or the generator made an op that is not valid
} gen;

// ---- random choices ----
uint64_t gen_next(gen *g);
int64_t gen_int(gen *g, int64_t low, int64_t high); ///< [low, high]
double gen_real(gen *g, double low, double high);
bool gen_chance(gen *g, int percent);

// ---- values ----
typedef enum gen_fill { GEN_ANY, GEN_POSITIVE, GEN_INDEX, GEN_SORTED } gen_fill;
/// A new argument; GEN_INDEX: integers in [low, high].
gen_value *gen_fresh(gen *g, const tc__type *type, gen_fill fill, int64_t low, int64_t high);
double gen_element(const tc__buffer *b, int64_t i);
void gen_set_element(const tc__buffer *b, int64_t i, double value);
tc__type gen_random_type(gen *g, const char *cls, int min_rank, int max_rank);
/// An existing value (or a new argument) of operand class cls and a rank in the range.
size_t gen_pick(gen *g, const char *cls, int min_rank, int max_rank);
size_t gen_index_of(const gen *g, const gen_value *v);

/// Relative L2 difference of finite elements; INFINITY when a NaN, an infinity or (for ints and bools) any element differs.
double gen_difference(const tc__buffer *a, const tc__buffer *b);
/// What the comparison in the end allows for a float type; 0 for integers and i1.
double gen_tolerance(tc_dtype dtype);

/// Builds and evaluates one op on values (by index); false when it is not taken. Attributes as MLIR ones.
bool gen_op(gen *g, tc_op_kind kind, const size_t *operands, size_t n, const MlirNamedAttribute *attrs, size_t n_attrs);
/// One try at adding a random op (random_graph_ops.c).
bool gen_random_op(gen *g);

#endif // TC_TEST_FUZZ_RANDOM_GRAPH_H

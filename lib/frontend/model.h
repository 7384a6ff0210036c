// A model as read from a file: IR plus the values of its parameters.
#ifndef TC_LIB_FRONTEND_MODEL_H
#define TC_LIB_FRONTEND_MODEL_H

#include "tc/tc_ir.h"

typedef struct tc__model_param {
  char *name;       ///< matches tc.name of an argument of kind parameter, buffer or constant
  char *rule_name;  ///< the name whose values by rule these are; NULL = name (a weight tied to another)
  tc__buffer value; ///< data NULL when the file has no value for it (a bare model.json): see tc__model_synthesize
} tc__model_param;

typedef struct tc__model {
  MlirContext ctx;
  MlirModule module;
  char *name;
  tc__model_param *params;
  size_t n_params;
  void *storage; ///< what owns the params' data (mapped file, arena)
  void (*destroy_storage)(void *storage);
} tc__model;

/// Reads a model: a .pt2 archive, a model.json, a folder that holds either (as in test/models), or an .mlir file at any level.
/// Errors name the file and the place in it; unknown ops are all listed at once with their source lines.
tc_status tc__model_load(const char *path, tc__model **out_model);
/// As tc__model_load for a torch.export model with symbolic sizes: binds each symbol from the shapes of the user inputs (in their order),
/// checks them against the model's range constraints, and imports the graph with these sizes. n_inputs 0 = the sizes it was exported with.
/// Other kinds of file take only inputs of the very shapes they declare.
tc_status tc__model_load_with_shapes(const char *path, const tc__type *inputs, size_t n_inputs, tc__model **out_model);
/// Takes NULL. Destroys the module and the context too, unless they are null (set them so to keep them).
void tc__model_destroy(tc__model *model);

/// Fills the parameters that have no value by the rule of docs/model-fixtures.md (FNV-1a + splitmix64), integer and bool ones from
/// `constants_dir` as reference.json says (may be NULL).
tc_status tc__model_synthesize(tc__model *model, const char *fixture_dir);

/// A float tensor by the rule: u(name, i) scaled by rank and name. out is f32/f64/f16/bf16 (rounded).
void tc__synth_weight(const char *name, tc__buffer *out);
/// The raw rule, in [-1, 1].
float tc__synth_uniform(const char *name, int64_t i);

// ---- .npy (npy.c) ----
/// Reads a .npy (v1..v3, little-endian, C or Fortran order, every tc dtype incl. bool; f16 as <f2, bf16 as <V2 or ml_dtypes' 'bfloat16').
/// *out owns its data: free with tc__aligned_free(out->data).
tc_status tc__npy_read(const char *path, tc__buffer *out);
tc_status tc__npy_write(const char *path, const tc__buffer *buffer);
#endif

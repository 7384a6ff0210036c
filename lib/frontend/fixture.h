// A folder with a model and PyTorch's answers (docs/model-fixtures.md): the inputs to run it with and what to compare the outputs to.
#ifndef TC_LIB_FRONTEND_FIXTURE_H
#define TC_LIB_FRONTEND_FIXTURE_H

#include "base/base.h"

typedef struct tc__fixture tc__fixture;

/// Reads `dir`/reference.json and makes the inputs: from input<i>.npy where there is one, else by the rule that the file names. A training
/// fixture (a loss in place of outputs) counts as one with a single f32 scalar output. The caller owns *out.
tc_status tc__fixture_open(const char *dir, tc__fixture **out);
/// Takes NULL.
void tc__fixture_close(tc__fixture *fixture);

/// The user inputs in the order of the model's user inputs; valid as long as the fixture.
const tc__buffer *tc__fixture_inputs(const tc__fixture *fixture);
size_t tc__fixture_n_inputs(const tc__fixture *fixture);
size_t tc__fixture_n_outputs(const tc__fixture *fixture);
/// The type of output `i`, as PyTorch gave it.
const tc__type *tc__fixture_output_type(const tc__fixture *fixture, size_t i);
/// The relative error that the reference allows.
double tc__fixture_rtol(const tc__fixture *fixture);

/// Compares the user outputs of a run (`outputs` without those that carry tc.mutates; entries past the reference's are ignored) with the
/// reference. Floats: the relative L2 error over the values that the reference holds, then the error that its L2 norm and mean imply for the
/// rest, are at most `rtol_override` (<= 0: the reference's own). Integers and booleans match exactly.
/// out_rel_err (may be NULL) gets the largest error of all outputs, message (may be NULL) a line for each output that differs.
/// TC_ERR_MISMATCH (not reported, the message says it) when they differ; TC_ERR_SHAPE_MISMATCH or TC_ERR_DTYPE_MISMATCH likewise.
tc_status tc__fixture_compare(const tc__fixture *fixture, const tc__buffer *outputs, size_t n, double rtol_override, double *out_rel_err,
                              tc__str *message);

#endif // TC_LIB_FRONTEND_FIXTURE_H

// The importer of torch.export programs, inside: import.c walks the graph, import_ops.c turns nodes into tc ops, import_model.c reads files.
//
// Errors are sticky: the first is reported and kept, and from then on every function here does nothing and gives null values.
#ifndef TC_LIB_FRONTEND_IMPORT_H
#define TC_LIB_FRONTEND_IMPORT_H

#include "json.h"
#include "model.h"

typedef struct tc__import_name {
  const char *name; ///< borrowed from the JSON
  MlirValue value;  ///< null: a number
  size_t alias;     ///< names that share storage share this number: a write to one is a write to all
  bool whole;       ///< sees all of its storage, as it lies (not a slice, a transpose, ...)
  double number;
} tc__import_name;

typedef struct tc__import {
  const char *file;
  json_t *graph, *node;
  size_t index;
  tc__builder b;
  tc__import_name *names;
  size_t n_names, capacity, n_aliases;
  tc_status status;
  char op[96], overload[32], place[192];
  bool in_place;
} tc__import;

void tc__import_fail(tc__import *p, tc_status status, const char *fmt, ...) TC_PRINTF(3, 4);

// Arguments of the node at hand by name.
const json_t *tc__import_arg(tc__import *p, const char *name); ///< the value object, NULL when absent or None
MlirValue tc__import_tensor(tc__import *p, const char *name);  ///< required
MlirValue tc__import_tensor_or(tc__import *p, const char *name);
size_t tc__import_tensors(tc__import *p, const char *name, MlirValue *out, size_t max); ///< None entries are null
int64_t tc__import_int(tc__import *p, const char *name, int64_t otherwise);
double tc__import_float(tc__import *p, const char *name, double otherwise);
bool tc__import_bool(tc__import *p, const char *name, bool otherwise);
const char *tc__import_str(tc__import *p, const char *name, const char *otherwise);
size_t tc__import_ints(tc__import *p, const char *name, int64_t *out, size_t max); ///< a lone int counts as one
bool tc__import_dtype_code(int64_t code, tc_dtype *out);
/// The type the file gives the i-th output of the node (or the i-th tensor of its one list).
bool tc__import_meta(tc__import *p, size_t i, tc__type *out);

// Building.
MlirValue tc__import_op(tc__import *p, tc_op_kind kind, const MlirValue *operands, size_t n, const MlirNamedAttribute *attrs, size_t n_attrs);
MlirValue tc__import_cast(tc__import *p, MlirValue v, tc_dtype dtype);
MlirValue tc__import_scalar(tc__import *p, double v, tc_dtype dtype);
MlirValue tc__import_reshape(tc__import *p, MlirValue v, const int64_t *shape, size_t n);
tc__type tc__import_type(MlirValue v);

/// What a handler does with its node: sets results by tc__import_out.
typedef void (*tc__import_fn)(tc__import *p, int kind);
void tc__import_out(tc__import *p, size_t i, MlirValue v);
void tc__import_out_number(tc__import *p, size_t i, double v);
/// Result i is (a view of) argument `base`; whole: all of its storage in order.
void tc__import_out_view(tc__import *p, size_t i, MlirValue v, const char *base, bool whole);

/// The handler of an ATen op (name without overload and trailing _), or NULL.
tc__import_fn tc__import_find(const char *name, int *out_kind);
const char *tc__import_suggest(const char *name);

/// The program -> model->module (and the names of its parameters).
tc_status tc__import_program(const char *file, json_t *program, tc__model *model);

#endif // TC_LIB_FRONTEND_IMPORT_H

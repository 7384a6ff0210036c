// What a pass is. One row in passes.def, one function in one file; the harness (passes/pass.c) turns rows into MLIR external passes, so
// that ours and upstream's mix in one pipeline, and runs the tc verifier after each of ours.
#ifndef TC_PASSES_PASS_H
#define TC_PASSES_PASS_H

#include "mlir-c/Pass.h"
#include "tc/tc_ir.h"

/// The options text of one pass use, as in "name{key=value other=1}" without the braces; "" when none.
typedef struct tc__pass_options {
  const char *text;
} tc__pass_options;

/// All our passes run on builtin.module. They report their own diagnostics; a status other than TC_OK fails the pipeline.
typedef tc_status (*tc__pass_fn)(MlirOperation module, const tc__pass_options *options);

typedef struct tc__pass_info {
  const char *name;    ///< the argument, "fuse-pointwise"
  tc__pass_fn run;
  const char *summary;
  const char *options; ///< "key:int=4:help;other:bool=false:help", "" when none
} tc__pass_info;

#define TC_PASS(name, function, summary, options) tc_status function(MlirOperation module, const tc__pass_options *options_);
#include "passes.def"
#undef TC_PASS

const tc__pass_info *tc__pass_table(size_t *out_count);
const tc__pass_info *tc__pass_find(const char *name);
/// An owned external pass for a row (added to a pass manager, which takes it over).
MlirPass tc__pass_create(MlirContext ctx, const tc__pass_info *info, const char *options);

/// Option values with the row's default; the harness has already checked names and kinds.
int64_t tc__pass_option_int(const tc__pass_options *o, const char *key, int64_t otherwise);
bool tc__pass_option_bool(const tc__pass_options *o, const char *key, bool otherwise);
/// Copies into buf (always NUL-terminated) and returns buf.
const char *tc__pass_option_str(const tc__pass_options *o, const char *key, const char *otherwise, char *buf, size_t size);

/// The i-th upstream pass or pipeline; false past the end.
bool tc__upstream_pass(size_t i, const char **out_name, const char **out_summary);

/// The text of a named pipeline of ours, and the i-th name (NULL when there is none); the table is pipelines.c.
const char *tc__pipeline_text(const char *name);
const char *tc__pipeline_name(size_t i);
const char *tc__pipeline_summary(size_t i);

/// Appends a pipeline text that may mix our passes, our pipelines (passes/pipelines.c) and upstream ones, such as
/// "builtin.module(tc-decompose,fuse-pointwise,func.func(canonicalize))" or the same without the anchor. Did-you-mean on unknown names.
tc_status tc__pipeline_parse(MlirPassManager pm, const char *text);
/// The pipeline with the names of our pipelines replaced by what they stand for; its elements are split by tc__pipeline_element_length.
tc_status tc__pipeline_flatten(const char *text, tc__str *out);
/// The length of the first element: up to a comma outside of brackets; 0 when brackets do not match or it is empty.
size_t tc__pipeline_element_length(const char *text);
/// Runs a pipeline text on a module, with diagnostics reported.
tc_status tc__pipeline_run(MlirOperation module, const char *text);

#endif // TC_PASSES_PASS_H

// tc-opt: run passes on a file, ours and upstream's.
#include "tc/tools.h"
#include "tool.h"

#include <stdio.h>

enum option_id {
  OPT_PIPELINE, OPT_OUTPUT, OPT_SPLIT, OPT_VERIFY_DIAGNOSTICS, OPT_VERIFY_EACH, OPT_BEFORE_ALL, OPT_AFTER_ALL, OPT_BEFORE, OPT_AFTER, OPT_MODULE_SCOPE,
  OPT_TIMING, OPT_SHOW_DIALECTS, OPT_GENERIC, OPT_DEBUGINFO, OPT_UNREGISTERED, OPT_NO_IMPLICIT, OPT_BYTECODE, OPT_LIST, OPT_HELP, OPT_VERSION,
};

static const tc__tool_option table[] = {
    {"--pass-pipeline", OPT_PIPELINE, TC__TOOL_VALUE, "run a pipeline: 'builtin.module(fuse-pointwise,func.func(canonicalize))'"},
    {"-o", OPT_OUTPUT, TC__TOOL_VALUE, "output file (default: standard output)"},
    {"--split-input-file", OPT_SPLIT, TC__TOOL_FLAG, "treat the parts between '// -----' lines one by one"},
    {"--verify-diagnostics", OPT_VERIFY_DIAGNOSTICS, TC__TOOL_FLAG, "check diagnostics against 'expected-error {{...}}' comments"},
    {"--verify-each", OPT_VERIFY_EACH, TC__TOOL_OPTIONAL_VALUE, "verify after each pass (default: 1)"},
    {"--mlir-print-ir-before", OPT_BEFORE, TC__TOOL_VALUE, "print the IR before the named passes (comma list) to standard error"},
    {"--mlir-print-ir-after", OPT_AFTER, TC__TOOL_VALUE, "print the IR after the named passes (comma list) to standard error"},
    {"--mlir-print-ir-before-all", OPT_BEFORE_ALL, TC__TOOL_FLAG, "print the IR before each pass"},
    {"--mlir-print-ir-after-all", OPT_AFTER_ALL, TC__TOOL_FLAG, "print the IR after each pass"},
    {"--mlir-print-ir-module-scope", OPT_MODULE_SCOPE, TC__TOOL_FLAG, "print the whole module there"},
    {"--mlir-timing", OPT_TIMING, TC__TOOL_FLAG, "print the time each pass took to standard error"},
    {"--mlir-print-op-generic", OPT_GENERIC, TC__TOOL_FLAG, "print ops in generic form"},
    {"--mlir-print-debuginfo", OPT_DEBUGINFO, TC__TOOL_FLAG, "print locations"},
    {"--allow-unregistered-dialect", OPT_UNREGISTERED, TC__TOOL_FLAG, "accept ops of unknown dialects"},
    {"--no-implicit-module", OPT_NO_IMPLICIT, TC__TOOL_FLAG, "the input must hold its own module"},
    {"--emit-bytecode", OPT_BYTECODE, TC__TOOL_FLAG, "write MLIR bytecode"},
    {"--show-dialects", OPT_SHOW_DIALECTS, TC__TOOL_FLAG, "list the dialects"},
    {"--list-passes", OPT_LIST, TC__TOOL_FLAG, "list the names of passes and pipelines"},
    {"--help", OPT_HELP, TC__TOOL_FLAG, "print this"},
    {"--version", OPT_VERSION, TC__TOOL_FLAG, "print the version"},
};

typedef struct driver {
  const char *input, *output;
  tc__str pipeline;
  const char *before, *after;
  bool split, verify_diagnostics, no_verify, before_all, after_all, module_scope, timing, show_dialects, generic, debuginfo, unregistered,
      no_implicit, bytecode, list, help, version;
  const char *source;
  tc__str out;
  tc__tool_diagnostics diagnostics;
  int parts;
} driver;

static void print_help(void) {
  printf("usage: tc-opt [options] [passes] [FILE | -]\n\nRuns passes, in the order given, on MLIR. A pass or pipeline is a flag (--fuse-pointwise, --canonicalize) or\n"
         "part of --pass-pipeline; its options follow in braces or after '=' (--plan-memory=\"alignment=128\").\n\noptions:\n");
  tc__tool_print_options(table, TC_COUNTOF(table));
  size_t n;
  const tc__pass_info *info = tc__pass_table(&n);
  printf("\npasses of tc:\n");
  for (size_t i = 0; i < n; i++) {
    printf("  --%-34s %s\n", info[i].name, info[i].summary);
    for (const char *at = info[i].options; *at;) {
      size_t length = strcspn(at, ";");
      printf("      %.*s\n", (int)length, at);
      at += length + (at[length] == ';');
    }
  }
  printf("\npipelines of tc:\n");
  for (size_t i = 0; tc__pipeline_name(i); i++)
    printf("  --%-34s %s\n", tc__pipeline_name(i), tc__pipeline_summary(i));
  printf("\npasses and pipelines of MLIR:\n");
  const char *name, *summary;
  for (size_t i = 0; tc__upstream_pass(i, &name, &summary); i++)
    printf("  --%-34s %s\n", name, summary);
}

static bool is_pass(const char *name) {
  if (tc__pass_find(name) || tc__pipeline_text(name))
    return true;
  const char *other, *summary;
  for (size_t i = 0; tc__upstream_pass(i, &other, &summary); i++)
    if (strcmp(other, name) == 0)
      return true;
  return false;
}

// "--name" or "--name=options": appended to the pipeline.
static bool add_pass(driver *d, const char *arg) {
  const char *name = arg + (arg[0] == '-') + (arg[0] == '-' && arg[1] == '-');
  char bare[128];
  size_t n = strcspn(name, "={");
  snprintf(bare, sizeof bare, "%.*s", (int)n, name);
  if (!is_pass(bare))
    return false;
  if (d->pipeline.size)
    tc__str_append(&d->pipeline, ",");
  tc__str_append(&d->pipeline, bare);
  if (name[n] == '=')
    tc__str_printf(&d->pipeline, "{%s}", name + n + 1);
  else
    tc__str_append(&d->pipeline, name + n);
  return true;
}

static bool parse(int argc, char **argv, driver *d) {
  for (int i = 1; i < argc; i++) {
    if (argv[i][0] != '-' || !argv[i][1]) {
      if (d->input) {
        fprintf(stderr, "tc-opt: error: more than one input: '%s' and '%s'\n", d->input, argv[i]);
        return false;
      }
      d->input = argv[i];
      continue;
    }
    const char *value;
    switch (tc__tool_option_match("tc-opt", table, TC_COUNTOF(table), argc, argv, &i, &value)) {
    case -1:
      return false;
    case -2:
      if (!add_pass(d, argv[i])) {
        tc__tool_unknown_option("tc-opt", argv[i], table, TC_COUNTOF(table), true);
        return false;
      }
      break;
    case OPT_PIPELINE:
      if (d->pipeline.size)
        tc__str_append(&d->pipeline, ",");
      tc__str_append(&d->pipeline, value);
      break;
    case OPT_OUTPUT:
      d->output = value;
      break;
    case OPT_SPLIT:
      d->split = true;
      break;
    case OPT_VERIFY_DIAGNOSTICS:
      d->verify_diagnostics = true;
      break;
    case OPT_VERIFY_EACH:
      d->no_verify = value && (strcmp(value, "0") == 0 || strcmp(value, "false") == 0);
      break;
    case OPT_BEFORE:
      d->before = value;
      break;
    case OPT_AFTER:
      d->after = value;
      break;
    case OPT_BEFORE_ALL:
      d->before_all = true;
      break;
    case OPT_AFTER_ALL:
      d->after_all = true;
      break;
    case OPT_MODULE_SCOPE:
      d->module_scope = true;
      break;
    case OPT_TIMING:
      d->timing = true;
      break;
    case OPT_SHOW_DIALECTS:
      d->show_dialects = true;
      break;
    case OPT_GENERIC:
      d->generic = true;
      break;
    case OPT_DEBUGINFO:
      d->debuginfo = true;
      break;
    case OPT_UNREGISTERED:
      d->unregistered = true;
      break;
    case OPT_NO_IMPLICIT:
      d->no_implicit = true;
      break;
    case OPT_BYTECODE:
      d->bytecode = true;
      break;
    case OPT_LIST:
      d->list = true;
      break;
    case OPT_HELP:
      d->help = true;
      break;
    case OPT_VERSION:
      d->version = true;
      break;
    }
  }
  return true;
}

static void list_passes(void) {
  size_t n;
  const tc__pass_info *info = tc__pass_table(&n);
  for (size_t i = 0; i < n; i++)
    printf("%s\n", info[i].name);
  for (size_t i = 0; tc__pipeline_name(i); i++)
    printf("%s\n", tc__pipeline_name(i));
  const char *name, *summary;
  for (size_t i = 0; tc__upstream_pass(i, &name, &summary); i++)
    printf("%s\n", name);
}

// Whether a comma list holds name.
static bool in_list(const char *list, const char *name) {
  size_t n = strlen(name);
  for (const char *at = list; at && *at;) {
    size_t length = strcspn(at, ",");
    if (length == n && strncmp(at, name, n) == 0)
      return true;
    at += length + (at[length] == ',');
  }
  return false;
}

static void dump(MlirOperation op, const char *when, const char *name) {
  tc__str text = {0};
  mlirOperationPrint(op, tc__print_to_str, &text);
  fprintf(stderr, "// -----// IR Dump %s %s //----- //\n%s\n", when, name, text.data ? text.data : "");
  tc__str_free(&text);
}

// Printing around single passes is not in the C API: each element of the pipeline then runs in a manager of its own.
static tc_status run_stepwise(const driver *d, MlirOperation op) {
  tc__str flat = {0};
  tc_status status = tc__pipeline_flatten(d->pipeline.data, &flat);
  for (char *at = flat.data; status == TC_OK && at && *at;) {
    size_t n = tc__pipeline_element_length(at);
    char saved = at[n], name[128];
    at[n] = 0;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "{("), at);
    if (strchr(at, '(')) { // func.func(canonicalize): the name inside
      const char *inner = strchr(at, '(') + 1;
      snprintf(name, sizeof name, "%.*s", (int)strcspn(inner, "{(),"), inner);
    }
    if (in_list(d->before, name))
      dump(op, "Before", name);
    status = tc__pipeline_run(op, at);
    if (status == TC_OK && in_list(d->after, name))
      dump(op, "After", name);
    at += n;
    if (saved)
      at++;
  }
  tc__str_free(&flat);
  return status;
}

static tc_status run_pipeline(const driver *d, MlirContext ctx, MlirOperation op) {
  if (!d->pipeline.size)
    return TC_OK;
  if (d->before || d->after)
    return run_stepwise(d, op);
  MlirPassManager pm = mlirPassManagerCreate(ctx);
  mlirPassManagerEnableVerifier(pm, !d->no_verify);
  if (d->timing)
    mlirPassManagerEnableTiming(pm);
  tc_status status = tc__pipeline_parse(pm, d->pipeline.data);
  if (status == TC_OK && (d->before_all || d->after_all)) {
    MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
    mlirPassManagerEnableIRPrinting(pm, d->before_all, d->after_all, d->module_scope, false, false, flags, (MlirStringRef){NULL, 0});
    mlirOpPrintingFlagsDestroy(flags);
  }
  if (status == TC_OK && mlirLogicalResultIsFailure(mlirPassManagerRunOnOp(pm, op)))
    status = TC_ERR_COMPILE;
  mlirPassManagerDestroy(pm);
  return status;
}

static void print_result(driver *d, MlirOperation op) {
  if (d->bytecode) {
    mlirOperationWriteBytecode(op, tc__print_to_str, &d->out);
    return;
  }
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  if (d->generic)
    mlirOpPrintingFlagsPrintGenericOpForm(flags);
  if (d->debuginfo)
    mlirOpPrintingFlagsEnableDebugInfo(flags, true, false);
  mlirOperationPrintWithFlags(op, flags, tc__print_to_str, &d->out);
  mlirOpPrintingFlagsDestroy(flags);
  if (!d->out.size || d->out.data[d->out.size - 1] != '\n')
    tc__str_append(&d->out, "\n");
}

static tc_status run_part(const char *text, size_t size, int first_line, void *user) {
  driver *d = user;
  // Lines before the part stay as blank ones, so that locations are those of the file.
  tc__str padded = {0};
  for (int i = 0; i < first_line; i++)
    tc__str_append(&padded, "\n");
  tc__str_append_n(&padded, text, size);
  const char *name = strcmp(d->input, "-") == 0 ? "<stdin>" : d->input;
  tc__expectations *expected = NULL;
  if (d->verify_diagnostics) {
    expected = tc__expectations_create(padded.data ? padded.data : "", 0, name);
    tc_set_diagnostic_handler(tc__expectations_handler, expected);
  }
  MlirContext ctx = tc__context_create();
  tc_status status = mlirContextIsNull(ctx) || padded.oom || (d->verify_diagnostics && !expected) ? TC_ERR_OUT_OF_MEMORY : TC_OK;
  MlirOperation op = {NULL};
  if (status == TC_OK) {
    mlirContextSetAllowUnregisteredDialects(ctx, d->unregistered);
    MlirStringRef source = mlirStringRefCreate(padded.data ? padded.data : "", padded.size);
    MlirModule module = {NULL};
    if (d->no_implicit) {
      op = mlirOperationCreateParse(ctx, source, tc__sref(name));
    } else {
      // Only the file variant names the source in locations.
      bool whole = strcmp(d->input, "-") != 0 && !d->split;
      module = whole ? mlirModuleCreateParseFromFile(ctx, tc__sref(d->input)) : mlirModuleCreateParse(ctx, source);
      op = mlirModuleIsNull(module) ? op : mlirModuleGetOperation(module);
    }
    status = mlirOperationIsNull(op) ? TC_ERR_PARSE : tc__verify(op);
  }
  if (status == TC_OK)
    status = run_pipeline(d, ctx, op);
  if (status == TC_OK && !d->verify_diagnostics) {
    if (d->parts++)
      tc__str_append(&d->out, "// -----\n");
    print_result(d, op);
  }
  if (!mlirOperationIsNull(op))
    mlirOperationDestroy(op);
  if (!mlirContextIsNull(ctx))
    mlirContextDestroy(ctx);
  tc__str_free(&padded);
  if (expected) {
    status = tc__expectations_finish(expected) ? TC_OK : TC_ERR_MISMATCH;
    tc_set_diagnostic_handler(tc__tool_print_diagnostic, &d->diagnostics);
  }
  return status;
}

static tc_status show_dialects(void) {
  MlirContext ctx = tc__context_create();
  if (mlirContextIsNull(ctx))
    return TC_ERR_INTERNAL;
  mlirContextLoadAllAvailableDialects(ctx);
  printf("%td dialects loaded, tc among them; the others are those of MLIR\n", mlirContextGetNumLoadedDialects(ctx));
  static const char *const names[] = {"acc", "affine", "amdgpu", "amx", "arith", "arm_neon", "arm_sme", "arm_sve", "async", "bufferization", "builtin",
                                      "cf", "complex", "dlti", "emitc", "func", "gpu", "index", "irdl", "linalg", "llvm", "math", "memref",
                                      "ml_program", "mpi", "nvgpu", "nvvm", "omp", "pdl", "pdl_interp", "ptr", "quant", "rocdl", "scf", "shape",
                                      "shard", "smt", "sparse_tensor", "spirv", "tc", "tensor", "tosa", "transform", "ub", "vcix", "vector",
                                      "wasmssa", "x86vector", "xegpu", "xevm"};
  for (size_t i = 0; i < TC_COUNTOF(names); i++)
    if (!mlirDialectIsNull(mlirContextGetOrLoadDialect(ctx, tc__sref(names[i]))))
      printf("  %s\n", names[i]);
  mlirContextDestroy(ctx);
  return TC_OK;
}

int tc_opt_main(int argc, char **argv) {
  driver d = {.diagnostics = {.tool = "tc-opt"}};
  tc_set_diagnostic_handler(tc__tool_print_diagnostic, &d.diagnostics);
  if (!parse(argc, argv, &d)) {
    tc__str_free(&d.pipeline);
    return 1;
  }
  tc_status status = TC_OK;
  char *text = NULL;
  size_t size;
  if (d.help) {
    print_help();
  } else if (d.version) {
    printf("tc-opt 0.1.0 (MLIR 22)\n");
  } else if (d.list) {
    list_passes();
  } else if (d.show_dialects) {
    status = show_dialects();
  } else {
    if (!d.input)
      d.input = "-";
    status = tc__read_file(d.input, &text, &size);
    if (status == TC_OK) {
      d.diagnostics.source = text;
      d.diagnostics.source_name = strcmp(d.input, "-") == 0 ? "<stdin>" : d.input;
      status = strlen(text) != size && memcmp(text, "ML\xefR", 4) != 0 ? tc__error(TC_ERR_PARSE, d.input, "the file holds a NUL byte") : TC_OK;
    }
    if (status == TC_OK)
      status = tc__tool_split(text, d.split, run_part, &d);
    if (status == TC_OK && !d.verify_diagnostics)
      status = d.out.oom ? tc__oom() : tc__write_file(d.output ? d.output : "-", d.out.data ? d.out.data : "", d.out.size);
  }
  tc__free(text);
  tc__str_free(&d.pipeline);
  tc__str_free(&d.out);
  return status == TC_OK ? 0 : 1;
}

// tc-translate: IR at any level to code, a model to IR, IR to a listing.
#include "compile.h"
#include "frontend/model.h"
#include "pass.h"
#include "tc/tools.h"
#include "tool.h"

#include <stdio.h>

enum option_id { OPT_LLVMIR, OPT_ASM, OPT_OBJ, OPT_PTX, OPT_SPIRV, OPT_IMPORT, OPT_READABLE, OPT_OUTPUT, OPT_CHIP, OPT_FEATURES, OPT_CPU, OPT_SPIRV_VERSION,
                 OPT_LEVEL0, OPT_LEVEL1, OPT_LEVEL2, OPT_LEVEL3, OPT_HELP, OPT_VERSION, OPT_DEBUGINFO };

static const tc__tool_option table[] = {
    {"--to-llvmir", OPT_LLVMIR, TC__TOOL_FLAG, "optimised LLVM IR of the CPU kernels"},
    {"--to-asm", OPT_ASM, TC__TOOL_FLAG, "assembly of the CPU kernels"},
    {"--to-obj", OPT_OBJ, TC__TOOL_FLAG, "an object file of the CPU kernels"},
    {"--to-ptx", OPT_PTX, TC__TOOL_FLAG, "PTX for NVIDIA GPUs"},
    {"--to-spirv", OPT_SPIRV, TC__TOOL_FLAG, "a SPIR-V binary (OpenCL kernels)"},
    {"--import-pt2", OPT_IMPORT, TC__TOOL_FLAG, "read a torch.export archive, its model.json or a folder with one; print tc IR"},
    {"--export-readable", OPT_READABLE, TC__TOOL_FLAG, "a compact listing: %1: f32[10000] = cos(%x)  # model.py:65"},
    {"-o", OPT_OUTPUT, TC__TOOL_VALUE, "output file (default: standard output)"},
    {"--chip", OPT_CHIP, TC__TOOL_VALUE, "PTX: the GPU, sm_90 by default"},
    {"--features", OPT_FEATURES, TC__TOOL_VALUE, "target features, such as +ptx80 or +avx2"},
    {"--mcpu", OPT_CPU, TC__TOOL_VALUE, "CPU targets: an LLVM CPU name (default: this machine's)"},
    {"--spirv-version", OPT_SPIRV_VERSION, TC__TOOL_VALUE, "1.0 to 1.6 (default 1.4)"},
    {"--mlir-print-debuginfo", OPT_DEBUGINFO, TC__TOOL_FLAG, "with --import-pt2: print locations"},
    {"-O0", OPT_LEVEL0, TC__TOOL_FLAG, NULL},
    {"-O1", OPT_LEVEL1, TC__TOOL_FLAG, NULL},
    {"-O2", OPT_LEVEL2, TC__TOOL_FLAG, NULL},
    {"-O3", OPT_LEVEL3, TC__TOOL_FLAG, "optimisation level (-O0 to -O3; default -O3)"},
    {"--help", OPT_HELP, TC__TOOL_FLAG, "print this"},
    {"--version", OPT_VERSION, TC__TOOL_FLAG, "print the version"},
};

typedef struct translator {
  int action, level;
  const char *action_name, *input, *output, *chip, *features, *cpu, *spirv_version;
  bool help, version, debuginfo;
} translator;

static bool parse(int argc, char **argv, translator *t) {
  for (int i = 1; i < argc; i++) {
    if (argv[i][0] != '-' || !argv[i][1]) {
      if (t->input) {
        fprintf(stderr, "tc-translate: error: more than one input: '%s' and '%s'\n", t->input, argv[i]);
        return false;
      }
      t->input = argv[i];
      continue;
    }
    const char *value, *arg = argv[i];
    int id = strncmp(arg, "-O", 2) == 0 && strlen(arg) == 3 ? OPT_LEVEL0 + (arg[2] - '0') : -3;
    if (id < OPT_LEVEL0 || id > OPT_LEVEL3)
      id = tc__tool_option_match("tc-translate", table, TC_COUNTOF(table), argc, argv, &i, &value);
    switch (id) {
    case -1:
      return false;
    case -2:
      tc__tool_unknown_option("tc-translate", arg, table, TC_COUNTOF(table), false);
      return false;
    case OPT_OUTPUT:
      t->output = value;
      break;
    case OPT_CHIP:
      t->chip = value;
      break;
    case OPT_FEATURES:
      t->features = value;
      break;
    case OPT_CPU:
      t->cpu = value;
      break;
    case OPT_SPIRV_VERSION:
      t->spirv_version = value;
      break;
    case OPT_DEBUGINFO:
      t->debuginfo = true;
      break;
    case OPT_LEVEL0:
    case OPT_LEVEL1:
    case OPT_LEVEL2:
    case OPT_LEVEL3:
      t->level = id - OPT_LEVEL0;
      break;
    case OPT_HELP:
      t->help = true;
      break;
    case OPT_VERSION:
      t->version = true;
      break;
    default:
      if (t->action >= 0 && t->action != id) {
        fprintf(stderr, "tc-translate: error: both %s and %s\n", t->action_name, arg);
        return false;
      }
      t->action = id;
      t->action_name = arg;
    }
  }
  if (t->action < 0 && !t->help && !t->version) {
    fprintf(stderr, "tc-translate: error: no translation given: --to-llvmir, --to-asm, --to-obj, --to-ptx, --to-spirv, --import-pt2 or --export-readable\n");
    return false;
  }
  return true;
}

static tc_status has_llvm(MlirOperation op, void *user) {
  bool *levels = user; // [0]: an LLVM function with a body, [1]: any other function
  if (tc__op_is(op, "llvm.func"))
    levels[0] |= !mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)));
  levels[1] |= tc__op_is(op, "func.func");
  return TC_OK;
}

static tc_status to_code(const translator *t, MlirModule module, tc__str *out) {
  MlirOperation root = mlirModuleGetOperation(module);
  bool levels[2] = {false, false};
  TC_TRY(tc__walk(root, has_llvm, levels));
  const char *pipeline = t->action == OPT_PTX ? "tc-to-nvptx" : t->action == OPT_SPIRV ? "tc-to-spirv" : "tc-to-cpu";
  if (!levels[0] || levels[1])
    TC_TRY(tc__pipeline_run(root, pipeline));
  static const struct {
    int action;
    tc__emit_kind kind;
  } kinds[] = {{OPT_LLVMIR, TC__EMIT_LLVMIR}, {OPT_ASM, TC__EMIT_ASM}, {OPT_OBJ, TC__EMIT_OBJECT}, {OPT_PTX, TC__EMIT_PTX}, {OPT_SPIRV, TC__EMIT_SPIRV}};
  tc__emit_options options = {.cpu = t->action == OPT_PTX ? t->chip : t->cpu, .features = t->features, .opt_level = t->level};
  char triple[64];
  for (size_t i = 0; i < TC_COUNTOF(kinds); i++)
    if (kinds[i].action == t->action)
      options.kind = kinds[i].kind;
  if (t->action == OPT_SPIRV) { // the version is part of the triple
    const char *version = t->spirv_version ? t->spirv_version : "1.4";
    if (strlen(version) != 3 || version[0] != '1' || version[1] != '.' || version[2] < '0' || version[2] > '6')
      return tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "--spirv-version: expected 1.0 to 1.6, found '%s'", version);
    snprintf(triple, sizeof triple, "spirv64v%s-unknown-unknown", version);
    options.cpu = triple;
  }
  return tc__emit(module, &options, out);
}

static tc_status print_module(const translator *t, MlirOperation op, tc__str *out) {
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  if (t->debuginfo)
    mlirOpPrintingFlagsEnableDebugInfo(flags, true, false);
  mlirOperationPrintWithFlags(op, flags, tc__print_to_str, out);
  mlirOpPrintingFlagsDestroy(flags);
  tc__str_append(out, "\n");
  return out->oom ? tc__oom() : TC_OK;
}

static bool is_mlir(const char *path) {
  size_t n = strlen(path);
  return strcmp(path, "-") == 0 || (n > 5 && strcmp(path + n - 5, ".mlir") == 0);
}

static tc_status run(translator *t, tc__tool_diagnostics *d, tc__str *out) {
  if (!t->input)
    t->input = "-";
  if (t->action == OPT_IMPORT || !is_mlir(t->input)) {
    tc__model *model;
    TC_TRY(tc__model_load(t->input, &model));
    MlirOperation op = mlirModuleGetOperation(model->module);
    tc_status status = t->action == OPT_IMPORT     ? print_module(t, op, out)
                       : t->action == OPT_READABLE ? tc__print_readable(op, out)
                                                   : to_code(t, model->module, out);
    tc__model_destroy(model);
    return status;
  }
  char *text;
  size_t size;
  TC_TRY(tc__read_file(t->input, &text, &size));
  d->source = text;
  d->source_name = strcmp(t->input, "-") == 0 ? "<stdin>" : t->input;
  MlirContext ctx = tc__context_create();
  tc_status status = mlirContextIsNull(ctx) ? TC_ERR_INTERNAL : TC_OK;
  MlirModule module = {NULL};
  if (status == TC_OK) {
    module = strcmp(t->input, "-") == 0 ? mlirModuleCreateParse(ctx, mlirStringRefCreate(text, size))
                                        : mlirModuleCreateParseFromFile(ctx, tc__sref(t->input));
    status = mlirModuleIsNull(module) ? TC_ERR_PARSE : tc__verify(mlirModuleGetOperation(module));
  }
  if (status == TC_OK)
    status = t->action == OPT_READABLE ? tc__print_readable(mlirModuleGetOperation(module), out) : to_code(t, module, out);
  if (!mlirModuleIsNull(module))
    mlirModuleDestroy(module);
  if (!mlirContextIsNull(ctx))
    mlirContextDestroy(ctx);
  d->source = NULL;
  tc__free(text);
  return status;
}

int tc_translate_main(int argc, char **argv) {
  translator t = {.action = -1, .level = 3};
  tc__tool_diagnostics diagnostics = {.tool = "tc-translate"};
  tc_set_diagnostic_handler(tc__tool_print_diagnostic, &diagnostics);
  if (!parse(argc, argv, &t))
    return 1;
  if (t.help) {
    printf("usage: tc-translate TRANSLATION [options] [FILE | -]\n\nTakes IR at any level (tc, linalg, kernels, LLVM) and runs what is left of the target's pipeline.\n\n");
    tc__tool_print_options(table, TC_COUNTOF(table));
    return 0;
  }
  if (t.version) {
    printf("tc-translate 0.1.0 (MLIR 22)\n");
    return 0;
  }
  tc__str out = {0};
  tc_status status = run(&t, &diagnostics, &out);
  if (status == TC_OK)
    status = tc__write_file(t.output ? t.output : "-", out.data ? out.data : "", out.size);
  tc__str_free(&out);
  return status == TC_OK ? 0 : 1;
}

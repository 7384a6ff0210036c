// Contexts with the tc dialect in them.
#include "mlir-c/Dialect/IRDL.h"
#include "mlir-c/Pass.h"
#include "mlir-c/RegisterEverything.h"
#include "tc_ir.h"

#include <pthread.h>
#include <stdio.h>

static tc__str irdl;
static pthread_once_t irdl_once = PTHREAD_ONCE_INIT, passes_once = PTHREAD_ONCE_INIT;

static void make_irdl(void) { tc__op_table_irdl(&irdl); }

const char *tc__dialect_irdl(void) {
  pthread_once(&irdl_once, make_irdl);
  return irdl.data ? irdl.data : "";
}

// MLIR's parser reports a tc op that does not exist: add which one may be meant.
static void add_suggestion(tc__str *message) {
  static const char marker[] = "unregistered operation 'tc.";
  const char *at = message->data ? strstr(message->data, marker) : NULL;
  char name[64];
  if (!at)
    return;
  at += sizeof marker - 1;
  snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "'"), at);
  const char *near = tc__op_suggest(name);
  if (near)
    tc__str_printf(message, ", did you mean 'tc.%s'?", near);
}

static MlirLogicalResult on_diagnostic(MlirDiagnostic diagnostic, void *user) {
  (void)user;
  tc__str location = {0}, message = {0};
  tc__loc_format(mlirDiagnosticGetLocation(diagnostic), &location);
  mlirDiagnosticPrint(diagnostic, tc__print_to_str, &message);
  add_suggestion(&message);
  const char *text = message.data ? message.data : "";
  switch (mlirDiagnosticGetSeverity(diagnostic)) {
  case MlirDiagnosticError:
    tc__error(TC_ERR_VERIFY, location.data, "%s", text);
    break;
  case MlirDiagnosticWarning:
    tc__report(TC_SEVERITY_WARNING, location.data, "%s", text);
    break;
  case MlirDiagnosticNote:
    tc__report(TC_SEVERITY_NOTE, location.data, "%s", text);
    break;
  default:
    tc__report(TC_SEVERITY_REMARK, location.data, "%s", text);
    break;
  }
  intptr_t notes = mlirDiagnosticGetNumNotes(diagnostic);
  for (intptr_t i = 0; i < notes; i++)
    on_diagnostic(mlirDiagnosticGetNote(diagnostic, i), NULL);
  tc__str_free(&location);
  tc__str_free(&message);
  return mlirLogicalResultSuccess();
}

MlirContext tc__context_create(void) {
  pthread_once(&passes_once, mlirRegisterAllPasses);
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mlirRegisterAllDialects(registry);
  MlirContext ctx = mlirContextCreateWithRegistry(registry, false);
  mlirDialectRegistryDestroy(registry);
  mlirContextAttachDiagnosticHandler(ctx, on_diagnostic, NULL, NULL);
  mlirRegisterAllLLVMTranslations(ctx);
  // Ops of a dialect that is not loaded verify with misleading errors.
  static const char *const loaded[] = {"func",   "arith", "math", "linalg", "tensor", "scf",
                                       "vector", "llvm",  "cf",   "affine", "memref"};
  for (size_t i = 0; i < TC_COUNTOF(loaded); i++)
    mlirContextGetOrLoadDialect(ctx, tc__sref(loaded[i]));
  MlirModule definition = mlirModuleCreateParse(ctx, tc__sref(tc__dialect_irdl()));
  bool ok = !mlirModuleIsNull(definition) && mlirLogicalResultIsSuccess(mlirLoadIRDLDialects(definition));
  if (!mlirModuleIsNull(definition))
    mlirModuleDestroy(definition);
  if (!ok) {
    tc__error(TC_ERR_INTERNAL, NULL, "the tc dialect could not be loaded");
    mlirContextDestroy(ctx);
    return (MlirContext){NULL};
  }
  return ctx;
}

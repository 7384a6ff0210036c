// libFuzzer: tc ops in MLIR: parsed by MLIR, verified and listed by us.
#include "tc/tc_ir.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = tc__strndup((const char *)data, size);
  MlirContext ctx = tc__context_create();
  if (text && !mlirContextIsNull(ctx)) {
    MlirModule module = mlirModuleCreateParse(ctx, mlirStringRefCreate(text, strlen(text)));
    if (!mlirModuleIsNull(module)) {
      tc__str listing = {0};
      if (tc__verify(mlirModuleGetOperation(module)) == TC_OK && tc__print_readable(mlirModuleGetOperation(module), &listing) != TC_OK)
        listing.oom = true;
      tc__str_free(&listing);
      mlirModuleDestroy(module);
    }
  }
  if (!mlirContextIsNull(ctx))
    mlirContextDestroy(ctx);
  tc__free(text);
  return 0;
}

// libFuzzer: the JSON of an exported program.
#include "frontend/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  json_t *program;
  if (tc__json_parse("fuzz", (const char *)data, size, &program) != TC_OK)
    return 0;
  tc__model *model = tc__calloc(1, sizeof *model);
  if (model) {
    model->ctx = tc__context_create();
    if (!mlirContextIsNull(model->ctx) && tc__import_program("fuzz", program, model) == TC_OK)
      tc__verify(mlirModuleGetOperation(model->module));
    tc__model_destroy(model);
  }
  json_decref(program);
  return 0;
}

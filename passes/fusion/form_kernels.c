#include "pass.h"

tc_status tc__pass_form_kernels(MlirOperation module, const tc__pass_options *options) {
  (void)options;
  return tc__error_at(mlirOperationGetLocation(module), TC_ERR_UNSUPPORTED, "tc__pass_form_kernels is not there yet");
}

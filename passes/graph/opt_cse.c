#include "pass.h"

tc_status tc__pass_cse(MlirOperation module, const tc__pass_options *options) {
  (void)options;
  (void)module;
  return TC_OK;
}

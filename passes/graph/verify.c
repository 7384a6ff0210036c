// tc-verify: reports every tc op that does not fit the op table. The IR stays as it is.
#include "pass.h"

tc_status tc__pass_verify(MlirOperation module, const tc__pass_options *options) {
  (void)options;
  return tc__verify(module);
}

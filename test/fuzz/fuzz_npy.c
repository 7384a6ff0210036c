// libFuzzer: .npy files.
#include "frontend/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tc__buffer buffer;
  if (tc__npy_parse("fuzz", data, size, &buffer) == TC_OK)
    tc__aligned_free(buffer.data);
  return 0;
}

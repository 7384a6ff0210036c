// libFuzzer: .pt2 archives, by way of a file in memory.
#define _GNU_SOURCE
#include "frontend/model.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int fd = memfd_create("archive", 0);
  if (fd < 0 || write(fd, data, size) != (ssize_t)size)
    return 0;
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  tc__model *model;
  if (tc__model_load(path, &model) == TC_OK)
    tc__model_destroy(model);
  close(fd);
  return 0;
}

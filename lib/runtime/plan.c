#include "plan.h"

void tc__plan_destroy(tc__plan *plan) {
  if (!plan)
    return;
  if (plan->destroy_code)
    plan->destroy_code(plan->code);
  // Everything else hangs off a chain of blocks (tc__plan_alloc).
  void *block = plan->storage;
  while (block) {
    void *next = *(void **)block;
    tc__aligned_free(block);
    block = next;
  }
}

void *tc__plan_alloc(void **storage, size_t bytes) {
  // The header keeps 64-byte alignment of what follows: constants are read by vector loads.
  if (bytes > SIZE_MAX - 128)
    return NULL;
  char *block = tc__aligned_alloc(bytes + 64);
  if (!block)
    return NULL;
  memset(block, 0, bytes + 64);
  *(void **)block = *storage;
  *storage = block;
  return block + 64;
}

char *tc__plan_strdup(void **storage, const char *text) {
  size_t n = strlen(text) + 1;
  char *copy = tc__plan_alloc(storage, n);
  if (copy)
    memcpy(copy, text, n);
  return copy;
}

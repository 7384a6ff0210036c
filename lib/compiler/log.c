#include "log.h"

#include "base/base.h"

#include <time.h>

void tc__log_phase(const char *name) {
  static _Thread_local double last;
  const char *logs = getenv("TC_LOGS");
  if (!logs || !strstr(logs, "timing"))
    return;
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  double now = (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
  if (name)
    tc__report(TC_SEVERITY_REMARK, "", "timing: %s: %.1f ms", name, now - last);
  last = now;
}

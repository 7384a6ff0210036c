// What other files of the runtime are to define; weak, so that libtcrt and the tests link until they do.
#include "exec.h"
#include "interp/interp.h"

#define WEAK __attribute__((weak))
#define MISSING return tc__error(TC_ERR_UNSUPPORTED, NULL, "%s is not there yet", __func__)

WEAK tc_status tc__interp_run(tc_op_kind k, const tc__buffer *i, size_t n, tc__buffer *o, size_t m, const tc__attrs *a) {
  (void)k, (void)i, (void)n, (void)o, (void)m, (void)a;
  MISSING;
}
WEAK void tc__parallel_for(int64_t n, int t, void (*fn)(void *, int64_t, int64_t, int), void *user) {
  (void)t;
  fn(user, 0, n, 0);
}
WEAK int tc__threads_get(void) { return 1; }
WEAK void tc__threads_set(int n) { (void)n; }

// What other files are to define; weak, so that the tree links until they do.
#include "compile.h"
#include "frontend/fixture.h"
#include "frontend/model.h"

#define WEAK __attribute__((weak))
#define MISSING return tc__error(TC_ERR_UNSUPPORTED, NULL, "%s is not there yet", __func__)

WEAK void tc__fixture_close(tc__fixture *f) { (void)f; }
WEAK tc_status tc__fixture_compare(const tc__fixture *f, const tc__buffer *o, size_t n, double r, double *e, tc__str *m) {
  (void)f, (void)o, (void)n, (void)r, (void)e, (void)m;
  MISSING;
}
WEAK const tc__buffer *tc__fixture_inputs(const tc__fixture *f) { return (void)f, NULL; }
WEAK size_t tc__fixture_n_inputs(const tc__fixture *f) { return (void)f, (size_t)0; }
WEAK tc_status tc__fixture_open(const char *dir, tc__fixture **out) {
  (void)dir, (void)out;
  MISSING;
}
WEAK tc_status tc__jit_create(MlirModule m, const char *c, int t, const char *const *n, size_t nn, void **f, void **o) {
  (void)m, (void)c, (void)t, (void)n, (void)nn, (void)f, (void)o;
  MISSING;
}
WEAK void tc__jit_destroy(void *code) { (void)code; }
WEAK tc_status tc__emit(MlirModule m, const tc__emit_options *o, tc__str *out) {
  (void)m, (void)o, (void)out;
  MISSING;
}
WEAK void tc__model_destroy(tc__model *m) { (void)m; }
WEAK tc_status tc__model_load(const char *p, tc__model **o) {
  (void)p, (void)o;
  MISSING;
}
WEAK tc_status tc__model_load_with_shapes(const char *p, const tc__type *i, size_t n, tc__model **o) {
  (void)p, (void)i, (void)n, (void)o;
  MISSING;
}
WEAK tc_status tc__model_synthesize(tc__model *m, const char *d) {
  (void)m, (void)d;
  MISSING;
}
WEAK tc_status tc__npy_read(const char *p, tc__buffer *o) {
  (void)p, (void)o;
  MISSING;
}
WEAK tc_status tc__npy_write(const char *p, const tc__buffer *o) {
  (void)p, (void)o;
  MISSING;
}
WEAK float tc__synth_uniform(const char *n, int64_t i) { return (void)n, (void)i, 0.0f; }

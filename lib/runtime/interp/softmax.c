// softmax and log_softmax along a dim, in f64.
#include "internal.h"

#include <math.h>

tc_status tc__interp_softmax(const tc__call *c) {
  const tc__buffer *x = &c->in[0];
  tc__lines l = tc__lines_of(&x->type, tc__attrs_int(c->attrs, "dim", 0));
  double *line = tc__scratch(l.size, sizeof *line);
  if (!line)
    return tc__oom();
  for (int64_t o = 0; o < l.outer; o++)
    for (int64_t i = 0; i < l.inner && l.size; i++) {
      int64_t base = o * l.size * l.inner + i;
      double most = -INFINITY, sum = 0;
      tc__load_f64(line, x, base, l.inner, l.size);
      for (int64_t k = 0; k < l.size; k++)
        most = line[k] > most ? line[k] : most;
      for (int64_t k = 0; k < l.size; k++)
        sum += exp(line[k] - most);
      double log_sum = log(sum);
      for (int64_t k = 0; k < l.size; k++)
        line[k] = c->kind == TC_OP_softmax ? exp(line[k] - most) / sum : line[k] - most - log_sum;
      tc__store_f64(&c->out[0], base, l.inner, line, l.size);
    }
  tc__free(line);
  return TC_OK;
}

#include "compile.h"
#include "frontend/model.h"

tc_status tc__model_bind(const tc__model *model, const tc__plan *plan, tc__buffer **out_params) {
  *out_params = tc__calloc((size_t)plan->n_params + 1, sizeof **out_params);
  if (!*out_params)
    return tc__oom();
  for (int i = 0; i < plan->n_params; i++) {
    const tc__buffer *found = NULL;
    for (size_t k = 0; k < model->n_params && !found; k++)
      if (strcmp(model->params[k].name, plan->params[i].name) == 0)
        found = &model->params[k].value;
    if (!found || (!found->data && tc__type_bytes(&found->type) != 0))
      return tc__error(TC_ERR_NOT_FOUND, model->name,
                       "no value for parameter '%s': the file has none (a model.json holds no weights; load the .pt2 archive)",
                       plan->params[i].name);
    (*out_params)[i] = *found;
  }
  return TC_OK;
}

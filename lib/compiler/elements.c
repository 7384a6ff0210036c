#include "plan_builder.h"

tc_status tc__elements_read(MlirAttribute attr, const tc__buffer *out, MlirLocation loc) {
  int64_t n = tc__type_elements(&out->type);
  if (mlirAttributeIsNull(attr) || !mlirAttributeIsADenseElements(attr) || mlirElementsAttrGetNumElements(attr) != n)
    return tc__error_at(loc, TC_ERR_UNSUPPORTED, "a constant whose value is no dense elements attribute of its type");
  if (out->type.dtype == TC_BOOL) { // i1 is packed in the attribute
    for (int64_t i = 0; i < n; i++)
      ((uint8_t *)out->data)[i] = mlirDenseElementsAttrIsSplat(attr) ? mlirDenseElementsAttrGetBoolSplatValue(attr) != 0
                                                                     : mlirDenseElementsAttrGetBoolValue(attr, i);
    return TC_OK;
  }
  size_t size = tc_dtype_size(out->type.dtype);
  const char *raw = mlirDenseElementsAttrGetRawData(attr);
  if (!mlirDenseElementsAttrIsSplat(attr)) {
    memcpy(out->data, raw, size * (size_t)n);
    return TC_OK;
  }
  for (int64_t i = 0; i < n; i++)
    memcpy((char *)out->data + (size_t)i * size, raw, size);
  return TC_OK;
}

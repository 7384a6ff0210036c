// The verifier: every tc op against the op table.
#include "tc_ir.h"

#include <stdio.h>

static bool known_attr(const tc__op_info *info, MlirStringRef name) {
  if (memchr(name.data, '.', name.length)) // a dotted name belongs to some pass, not to the op
    return true;
  for (int i = 0; i < info->n_attrs; i++)
    if (strlen(info->attrs[i].name) == name.length && memcmp(info->attrs[i].name, name.data, name.length) == 0)
      return true;
  return false;
}

static tc_status check_names(MlirOperation op, const tc__op_info *info) {
  tc_status status = TC_OK;
  intptr_t n = mlirOperationGetNumAttributes(op);
  for (intptr_t i = 0; i < n; i++) {
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetAttribute(op, i).name);
    if (known_attr(info, name))
      continue;
    const char *names[TC__MAX_FIELDS], *near;
    for (int k = 0; k < info->n_attrs; k++)
      names[k] = info->attrs[k].name;
    char text[64];
    snprintf(text, sizeof text, "%.*s", (int)name.length, name.data);
    near = tc__did_you_mean(text, names, (size_t)info->n_attrs);
    status =
        near ? tc__error_at(mlirOperationGetLocation(op), TC_ERR_VERIFY, "'tc.%s' op has no attribute '%s', did you mean '%s'?",
                            info->name, text, near)
             : tc__error_at(mlirOperationGetLocation(op), TC_ERR_VERIFY, "'tc.%s' op has no attribute '%s'", info->name, text);
  }
  return status;
}

static bool compatible(const tc__type *a, const tc__type *b) {
  if (a->dtype != b->dtype || a->rank != b->rank)
    return false;
  for (int i = 0; i < a->rank; i++)
    if (a->shape[i] != b->shape[i] && a->shape[i] != TC__DYNAMIC && b->shape[i] != TC__DYNAMIC)
      return false;
  return true;
}

static const char *operand_name(const tc__op_info *info, size_t i) {
  return info->n_operands == 0 ? "?" : info->operands[(int)i < info->n_operands ? (int)i : info->n_operands - 1].name;
}

static tc_status no_tensor(MlirOperation op, const tc__op_info *info, const char *what, size_t i, const char *name,
                           MlirType type) {
  tc__str found = {0};
  mlirTypePrint(type, tc__print_to_str, &found);
  tc_status status =
      tc__error_at(mlirOperationGetLocation(op), TC_ERR_VERIFY,
                   "'tc.%s' op %s %zu (%s): expected a ranked tensor (rank <= %d) of " TC__DTYPES_TEXT ", found '%s'", info->name,
                   what, i, name, TC_MAX_RANK, found.data ? found.data : "?");
  tc__str_free(&found);
  return status;
}

static tc_status check_types(MlirOperation op, const tc__op_info *info) {
  MlirLocation loc = mlirOperationGetLocation(op);
  size_t n = (size_t)mlirOperationGetNumOperands(op), n_results;
  tc__type *types = tc__alloc(sizeof *types * (n + 1)), inferred[2], written;
  if (!types)
    return tc__oom();
  tc_status status = TC_OK;
  for (size_t i = 0; i < n && status == TC_OK; i++)
    if (!tc__value_type(mlirOperationGetOperand(op, (intptr_t)i), &types[i]))
      status =
          no_tensor(op, info, "operand", i, operand_name(info, i), mlirValueGetType(mlirOperationGetOperand(op, (intptr_t)i)));
  tc__op_attrs attrs = {{NULL, 0}, NULL};
  char err[512], want[200], got[200];
  if (status == TC_OK)
    status = tc__op_attrs_read(op, &attrs);
  if (status == TC_OK && tc__op_infer(info->kind, types, n, &attrs.attrs, inferred, &n_results, err, sizeof err) != TC_OK)
    status = tc__error_at(loc, TC_ERR_VERIFY, "'tc.%s' op %s", info->name, err);
  else if (status == TC_OK && (size_t)mlirOperationGetNumResults(op) != n_results)
    status = tc__error_at(loc, TC_ERR_VERIFY, "'tc.%s' op expected %zu results, found %d", info->name, n_results,
                          (int)mlirOperationGetNumResults(op));
  for (size_t i = 0; status == TC_OK && i < n_results; i++) {
    if (!tc__type_from_mlir(mlirValueGetType(mlirOperationGetResult(op, (intptr_t)i)), &written))
      status =
          tc__error_at(loc, TC_ERR_VERIFY, "'tc.%s' op result %zu: expected a ranked tensor of a tc element type", info->name, i);
    else if (!compatible(&inferred[i], &written))
      status = tc__error_at(loc, TC_ERR_VERIFY, "'tc.%s' op result %zu (%s): expected %s, found %s", info->name, i,
                            info->results[i].name, tc__type_format(&inferred[i], want, sizeof want),
                            tc__type_format(&written, got, sizeof got));
  }
  tc__op_attrs_free(&attrs);
  tc__free(types);
  return status;
}

static tc_status check_op(MlirOperation op, void *user) {
  tc_status *all = user;
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  if (name.length < 3 || memcmp(name.data, "tc.", 3) != 0)
    return TC_OK;
  tc_op_kind kind = tc__op_kind(op);
  tc_status status = TC_OK;
  if (kind == TC_OP_COUNT) {
    char text[64];
    snprintf(text, sizeof text, "%.*s", (int)name.length - 3, name.data + 3);
    const char *near = tc__op_suggest(text);
    status =
        near ? tc__error_at(mlirOperationGetLocation(op), TC_ERR_VERIFY, "unknown op 'tc.%s', did you mean 'tc.%s'?", text, near)
             : tc__error_at(mlirOperationGetLocation(op), TC_ERR_VERIFY, "unknown op 'tc.%s'", text);
  } else {
    const tc__op_info *info = tc__op_info_get(kind);
    status = check_names(op, info);
    tc_status types = check_types(op, info);
    if (status == TC_OK)
      status = types;
  }
  if (status == TC_ERR_OUT_OF_MEMORY)
    return status;
  if (status != TC_OK)
    *all = TC_ERR_VERIFY;
  return TC_OK; // go on: every error is reported
}

tc_status tc__verify(MlirOperation root) {
  tc_status all = TC_OK;
  check_op(root, &all);
  TC_TRY(tc__walk(root, check_op, &all));
  return all;
}

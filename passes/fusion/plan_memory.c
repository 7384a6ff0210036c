// plan-memory: every intermediate buffer of a host function gets an offset in one arena.
//
//   %0 = call @a(%x)  %1 = call @b(%0)  return %1
// becomes
//   %0 = call @a(%x) {tc.offsets = array<i64: 0>}  %1 = call @b(%0) {tc.offsets = array<i64: -1>}     func attribute tc.arena = <bytes>
//
// -1: the value is returned and written where the caller wants it. Buffers are placed largest first at the lowest offset that no buffer alive at the same
// time covers. An operand and a result of one step are alive together: kernels take their pointers not to alias.
#include "pass.h"

typedef struct buffer {
  MlirValue value;
  int64_t size, offset;
  int first, last; // steps
  bool returned;
} buffer;

typedef struct planner {
  buffer *buffers;
  size_t n, capacity;
  tc_status status;
} planner;

static bool is_alias(MlirOperation op) {
  static const char *const names[] = {"tensor.expand_shape", "tensor.collapse_shape", "tensor.bitcast", "tensor.cast", "tc.reshape", "tc.unsqueeze",
                                      "tc.squeeze"};
  for (size_t i = 0; i < TC_COUNTOF(names); i++)
    if (tc__op_is(op, names[i]))
      return true;
  return false;
}

static bool is_step(MlirOperation op) {
  return tc__op_is(op, "func.call") || (tc__op_kind(op) != TC_OP_COUNT && !is_alias(op) && !tc__op_is(op, "tc.constant"));
}

static MlirValue root(MlirValue v) {
  for (MlirOperation op = tc__def_op(v); !mlirOperationIsNull(op) && is_alias(op); op = tc__def_op(v))
    v = mlirOperationGetOperand(op, 0);
  return v;
}

static buffer *find(planner *p, MlirValue v) {
  MlirOperation def = tc__def_op(v);
  if (mlirOperationIsNull(def))
    return NULL;
  // Buffers of one op are neighbours, and the op remembers the first of them.
  int64_t first = tc__get_int(def, "tc.buffer", -1);
  return first < 0 ? NULL : &p->buffers[first + mlirOpResultGetResultNumber(v)];
}

static int by_size(const void *a, const void *b) {
  const buffer *x = *(buffer *const *)a, *y = *(buffer *const *)b;
  return x->size != y->size ? (x->size < y->size) - (x->size > y->size) : (x->first > y->first) - (x->first < y->first);
}

static int by_offset(const void *a, const void *b) {
  const buffer *x = *(buffer *const *)a, *y = *(buffer *const *)b;
  return (x->offset > y->offset) - (x->offset < y->offset);
}

static int64_t place(buffer **order, size_t n, buffer **near, int64_t alignment) {
  int64_t arena = 0;
  for (size_t i = 0; i < n; i++) {
    size_t m = 0;
    for (size_t k = 0; k < i; k++)
      if (order[k]->first <= order[i]->last && order[i]->first <= order[k]->last)
        near[m++] = order[k];
    qsort(near, m, sizeof *near, by_offset);
    int64_t at = 0;
    for (size_t k = 0; k < m; k++) {
      if (at + order[i]->size <= near[k]->offset)
        break;
      int64_t end = (near[k]->offset + near[k]->size + alignment - 1) / alignment * alignment;
      at = end > at ? end : at;
    }
    order[i]->offset = at;
    if (at + order[i]->size > arena)
      arena = at + order[i]->size;
  }
  return arena;
}

static tc_status add_buffers(planner *p, MlirOperation op, int step) {
  MlirContext ctx = mlirOperationGetContext(op);
  mlirOperationSetAttributeByName(op, tc__sref("tc.buffer"), tc__attr_i64(ctx, (int64_t)p->n));
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    MlirValue v = mlirOperationGetResult(op, i);
    tc__type t;
    if (!tc__type_from_mlir(mlirValueGetType(v), &t))
      return tc__error_at(mlirOperationGetLocation(op), TC_ERR_UNSUPPORTED, "a step's result is no tensor of a tc element type");
    if (p->n == p->capacity) {
      size_t capacity = p->capacity ? p->capacity * 2 : 256;
      buffer *items = tc__realloc(p->buffers, capacity * sizeof *items);
      if (!items)
        return tc__oom();
      p->buffers = items;
      p->capacity = capacity;
    }
    int64_t bytes = tc__type_bytes(&t);
    p->buffers[p->n++] = (buffer){.value = v, .size = bytes > 0 ? bytes : 1, .first = step, .last = step};
  }
  return TC_OK;
}

static tc_status plan(planner *p, MlirOperation func, int64_t alignment) {
  MlirContext ctx = mlirOperationGetContext(func);
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  int step = 0;
  MlirOperation op;
  for (op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op), step++) {
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
      buffer *b = find(p, root(mlirOperationGetOperand(op, i)));
      if (!b)
        continue;
      b->last = step;
      b->returned |= tc__op_is(op, "func.return");
    }
    if (is_step(op))
      TC_TRY(add_buffers(p, op, step));
  }
  buffer **order = tc__calloc(p->n + 1, sizeof *order), **near = tc__calloc(p->n + 1, sizeof *near);
  size_t n = 0;
  tc_status status = order && near ? TC_OK : tc__oom();
  for (size_t i = 0; i < p->n && status == TC_OK; i++) {
    p->buffers[i].offset = -1;
    if (!p->buffers[i].returned)
      order[n++] = &p->buffers[i];
  }
  if (status == TC_OK) {
    qsort(order, n, sizeof *order, by_size);
    mlirOperationSetAttributeByName(func, tc__sref("tc.arena"), tc__attr_i64(ctx, place(order, n, near, alignment)));
  }
  tc__free(order);
  tc__free(near);
  TC_TRY(status);
  size_t at = 0;
  for (op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    if (!is_step(op))
      continue;
    int64_t offsets[80];
    intptr_t results = mlirOperationGetNumResults(op);
    for (intptr_t i = 0; i < results && i < 80; i++)
      offsets[i] = p->buffers[at++].offset;
    mlirOperationRemoveAttributeByName(op, tc__sref("tc.buffer"));
    mlirOperationSetAttributeByName(op, tc__sref("tc.offsets"), tc__attr_ints(ctx, offsets, (size_t)results));
  }
  return TC_OK;
}

tc_status tc__pass_plan_memory(MlirOperation module, const tc__pass_options *options) {
  int64_t alignment = tc__pass_option_int(options, "alignment", 64);
  if (alignment < 1 || (alignment & (alignment - 1)))
    return tc__error_at(mlirOperationGetLocation(module), TC_ERR_INVALID_ARGUMENT, "plan-memory: alignment %lld is no power of two",
                        (long long)alignment);
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    if (!tc__op_is(op, "func.func") || mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0))) ||
        !mlirAttributeIsNull(mlirOperationGetAttributeByName(op, tc__sref("tc.kernel"))))
      continue;
    planner p = {0};
    tc_status status = plan(&p, op, alignment);
    tc__free(p.buffers);
    TC_TRY(status);
  }
  return TC_OK;
}

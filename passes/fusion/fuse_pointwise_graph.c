// The graph of a straight-line block, with groups of ops that may be merged without making a cycle.
#include "fuse_pointwise.h"

typedef struct edges {
  tc__graph *g;
  int node;
  int *from, *to;
  size_t count, capacity;
  bool oom;
} edges;

static void add_edge(edges *e, int from, int to) {
  if (e->count == e->capacity) {
    size_t capacity = e->capacity ? e->capacity * 2 : 256;
    int *f = tc__realloc(e->from, capacity * sizeof *f);
    if (f)
      e->from = f;
    int *t = tc__realloc(e->to, capacity * sizeof *t);
    if (t)
      e->to = t;
    if (!f || !t) {
      e->oom = true;
      return;
    }
    e->capacity = capacity;
  }
  e->from[e->count] = from;
  e->to[e->count++] = to;
}

static void add_operand_edges(edges *e, MlirOperation op) {
  intptr_t n = mlirOperationGetNumOperands(op);
  for (intptr_t i = 0; i < n; i++) {
    MlirOperation def = tc__def_op(mlirOperationGetOperand(op, i));
    int from = mlirOperationIsNull(def) ? -1 : tc__graph_node(e->g, def);
    if (from >= 0 && from != e->node)
      add_edge(e, from, e->node);
  }
}

static MlirWalkResult nested_edges(MlirOperation op, void *user) {
  add_operand_edges(user, op);
  return MlirWalkResultAdvance;
}

static bool csr(int n, const int *key, const int *other, size_t count, int **out_begin, int **out_list) {
  int *begin = tc__calloc((size_t)n + 2, sizeof *begin), *list = tc__alloc((count + 1) * sizeof *list);
  *out_begin = begin, *out_list = list;
  if (!begin || !list)
    return false;
  for (size_t i = 0; i < count; i++)
    begin[key[i] + 2]++;
  for (int i = 0; i < n; i++)
    begin[i + 2] += begin[i + 1];
  for (size_t i = 0; i < count; i++)
    list[begin[key[i] + 1]++] = other[i];
  return true;
}

tc_status tc__graph_create(MlirBlock block, tc__graph *out) {
  memset(out, 0, sizeof *out);
  out->block = block;
  int n = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    n++;
  size_t size = (size_t)n + 1;
  out->ops = tc__alloc(size * sizeof *out->ops);
  out->parent = tc__alloc(size * sizeof(int));
  out->next = tc__alloc(size * sizeof(int));
  out->tail = tc__alloc(size * sizeof(int));
  out->stamp = tc__calloc(size, sizeof(int));
  out->stack = tc__alloc(size * sizeof(int));
  bool ok = out->ops && out->parent && out->next && out->tail && out->stamp && out->stack;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); ok && !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    int i = out->n++;
    out->ops[i] = op;
    out->parent[i] = out->tail[i] = i;
    out->next[i] = -1;
    ok = tc__ptrmap_set(&out->index, op.ptr, (void *)(intptr_t)(i + 1));
  }
  edges e = {.g = out};
  for (int i = 0; ok && i < out->n; i++) {
    e.node = i;
    if (mlirOperationGetNumRegions(out->ops[i]))
      mlirOperationWalk(out->ops[i], nested_edges, &e, MlirWalkPreOrder);
    else
      add_operand_edges(&e, out->ops[i]);
  }
  ok = ok && !e.oom && csr(out->n, e.from, e.to, e.count, &out->succ_begin, &out->succ) &&
       csr(out->n, e.to, e.from, e.count, &out->pred_begin, &out->pred);
  tc__free(e.from);
  tc__free(e.to);
  if (!ok) {
    tc__graph_destroy(out);
    return tc__oom();
  }
  return TC_OK;
}

void tc__graph_destroy(tc__graph *g) {
  tc__free(g->ops);
  tc__free(g->succ_begin);
  tc__free(g->succ);
  tc__free(g->pred_begin);
  tc__free(g->pred);
  tc__free(g->parent);
  tc__free(g->next);
  tc__free(g->tail);
  tc__free(g->stamp);
  tc__free(g->stack);
  tc__ptrmap_free(&g->index);
  memset(g, 0, sizeof *g);
}

int tc__graph_node(const tc__graph *g, MlirOperation op) { return (int)(intptr_t)tc__ptrmap_get(&g->index, op.ptr) - 1; }

int tc__graph_group(tc__graph *g, int node) {
  while (g->parent[node] != node) {
    g->parent[node] = g->parent[g->parent[node]];
    node = g->parent[node];
  }
  return node;
}

bool tc__graph_would_cycle(tc__graph *g, int a, int b) {
  a = tc__graph_group(g, a), b = tc__graph_group(g, b);
  g->round++;
  int depth = 0;
  // Start from what a and b feed directly, themselves left out; coming back to either is a cycle.
  for (int side = 0; side < 2; side++)
    for (int m = side ? b : a; m >= 0; m = g->next[m])
      for (int k = g->succ_begin[m]; k < g->succ_begin[m + 1]; k++) {
        int s = tc__graph_group(g, g->succ[k]);
        if (s != a && s != b && g->stamp[s] != g->round)
          g->stamp[s] = g->round, g->stack[depth++] = s;
      }
  while (depth) {
    int x = g->stack[--depth];
    for (int m = x; m >= 0; m = g->next[m])
      for (int k = g->succ_begin[m]; k < g->succ_begin[m + 1]; k++) {
        int s = tc__graph_group(g, g->succ[k]);
        if (s == a || s == b)
          return true;
        if (g->stamp[s] != g->round)
          g->stamp[s] = g->round, g->stack[depth++] = s;
      }
  }
  return false;
}

bool tc__graph_escapes(tc__graph *g, int c, int a, const int *anchor) {
  // First what c reads itself, through free casts; then, deeper, anything that comes from a is an escape. Nodes before a can't
  // come from it.
  g->round++;
  int depth = 0, deep = 0;
  g->stack[depth++] = c;
  while (depth) {
    int x = g->stack[--depth];
    for (int k = g->pred_begin[x]; k < g->pred_begin[x + 1]; k++) {
      int p = g->pred[k];
      if (p < a || p == a || anchor[p] == a || g->stamp[p] == g->round)
        continue;
      g->stamp[p] = g->round;
      if (tc__is_free_cast(g->ops[p]))
        g->stack[depth++] = p;
      else
        g->stamp[p] = -g->round; // where the deep walk starts
    }
  }
  for (int p = a + 1; p < c; p++)
    if (g->stamp[p] == -g->round)
      g->stack[deep++] = p;
  while (deep) {
    int x = g->stack[--deep];
    for (int k = g->pred_begin[x]; k < g->pred_begin[x + 1]; k++) {
      int p = g->pred[k];
      if (p == a)
        return true;
      if (p > a && g->stamp[p] != -g->round) {
        g->stamp[p] = -g->round;
        g->stack[deep++] = p;
      }
    }
  }
  return false;
}

void tc__graph_merge(tc__graph *g, int a, int b) {
  a = tc__graph_group(g, a), b = tc__graph_group(g, b);
  if (a == b)
    return;
  g->parent[b] = a;
  g->next[g->tail[a]] = b;
  g->tail[a] = g->tail[b];
}

tc_status tc__block_sort(MlirBlock block) {
  tc__graph g;
  TC_TRY(tc__graph_create(block, &g));
  int *state = tc__calloc((size_t)g.n + 1, sizeof *state), *order = tc__alloc(((size_t)g.n + 1) * sizeof *order);
  tc_status status = state && order ? TC_OK : tc__oom();
  int n = 0;
  bool moved = false;
  for (int root = 0; status == TC_OK && root < g.n; root++) {
    // Depth first: a node is placed when all it reads is. state counts the predecessors already looked at, -1 = placed.
    int depth = 0;
    if (state[root] >= 0)
      g.stack[depth++] = root;
    while (depth) {
      int x = g.stack[depth - 1];
      if (state[x] < 0) {
        depth--;
      } else if (state[x] == g.pred_begin[x + 1] - g.pred_begin[x]) {
        moved |= x != n;
        order[n++] = x, state[x] = -1, depth--;
      } else {
        int p = g.pred[g.pred_begin[x] + state[x]++];
        if (state[p] >= 0 && depth >= g.n) {
          status = tc__error_at(mlirOperationGetLocation(g.ops[p]), TC_ERR_INTERNAL, "a fused group depends on itself");
          break;
        }
        if (state[p] >= 0)
          g.stack[depth++] = p;
      }
    }
  }
  MlirOperation last =
      g.n ? g.ops[g.n - 1] : (MlirOperation){NULL}; // the terminator: nothing reads it and it is a root after all others
  for (int i = 0; status == TC_OK && moved && i + 1 < n; i++)
    mlirOperationMoveBefore(g.ops[order[i]], last);
  tc__free(state);
  tc__free(order);
  tc__graph_destroy(&g);
  return status;
}

void tc__block_dce(MlirBlock block) {
  // The C API has no previous-in-block: gather, then walk backwards.
  size_t n = 0, i = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    n++;
  MlirOperation *ops = tc__alloc((n + 1) * sizeof *ops);
  if (!ops)
    return; // dead ops are harmless
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    ops[i++] = op;
  while (i--) {
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(ops[i]));
    bool pure = (name.length > 7 && (!memcmp(name.data, "linalg.", 7) || !memcmp(name.data, "tensor.", 7))) ||
                (name.length > 6 && !memcmp(name.data, "arith.", 6));
    intptr_t results = mlirOperationGetNumResults(ops[i]);
    bool used = results == 0;
    for (intptr_t r = 0; r < results && !used; r++)
      used = !mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(ops[i], r)));
    if (pure && !used)
      mlirOperationDestroy(ops[i]);
  }
  tc__free(ops);
}

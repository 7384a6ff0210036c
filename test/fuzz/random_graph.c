// tc-fuzz-graphs: compiles random graphs and compares what they compute with the interpreter.
//
//   tc-fuzz-graphs --count=1000 --seed=1        graphs of the seeds 1 .. 1000
//   tc-fuzz-graphs --count=1 --seed=77 --print  that one again
//
// A graph that fails is written to <save-dir>/graph-<seed>.mlir. The last line is a summary; exit status 1 when any graph failed.
#include "random_graph.h"

#include "compiler/compile.h"
#include "runtime/exec.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct options {
  uint64_t seed;
  int64_t count, max_ops, max_elements, threads;
  const char *backend, *save_dir;
  bool print, verbose, specials;
} options;

// The graphs run in a child process, so that a crash costs one graph and not the run. What child and parent share:
typedef struct progress {
  int64_t next; ///< the graph to do, counted from 0
  int64_t n_ops, failures;
  bool done;
} progress;

// What the crash handler needs.
static char crash_path[512];
static tc__str text;

static void write_graph(void) {
  int fd = open(crash_path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  for (size_t done = 0; fd >= 0 && done < text.size;) {
    ssize_t n = write(fd, text.data + done, text.size - done);
    if (n <= 0)
      break;
    done += (size_t)n;
  }
  if (fd >= 0)
    close(fd);
}

static void on_crash(int signal_number) {
  write_graph();
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

static void print_diagnostic(tc_severity severity, const char *location, const char *message, void *user) {
  const options *o = user;
  if (o->verbose || severity == TC_SEVERITY_ERROR)
    fprintf(stderr, "%s: %s\n", *location ? location : "-", message);
}

// ---- one graph
// ----------------------------------------------------------------------------------------------------------------------------

typedef struct outputs {
  size_t values[256]; // indices of generator values
  size_t n;
} outputs;

// The function around the block; takes over region.
static MlirModule finish(gen *g, MlirRegion region, outputs *outs) {
  MlirModule module = mlirModuleCreateEmpty(g->loc);
  MlirValue results[256];
  MlirType result_types[256], *inputs = calloc((size_t)g->n_arguments + 1, sizeof *inputs);
  MlirAttribute *dicts = calloc((size_t)g->n_arguments + 1, sizeof *dicts);
  if (!inputs || !dicts)
    abort();
  for (size_t i = 0; i < g->n_values; i++) {
    const gen_value *v = &g->values[i];
    if (v->argument >= 0) {
      char name[24];
      snprintf(name, sizeof name, "a%d", v->argument);
      MlirNamedAttribute attrs[] = {tc__named(g->ctx, "tc.kind", tc__attr_str(g->ctx, v->kind)),
                                    tc__named(g->ctx, "tc.name", tc__attr_str(g->ctx, name))};
      inputs[v->argument] = mlirValueGetType(v->v);
      dicts[v->argument] = mlirDictionaryAttrGet(g->ctx, 2, attrs);
    } else if ((!v->used || gen_chance(g, 8)) && outs->n < 256) {
      results[outs->n] = v->v;
      result_types[outs->n] = mlirValueGetType(v->v);
      outs->values[outs->n++] = i;
    }
  }
  tc__builder b = tc__builder_at_end(g->block, g->loc);
  tc__build(&b, "func.return", results, outs->n, NULL, 0, NULL, 0, NULL, 0);
  MlirType type = mlirFunctionTypeGet(g->ctx, g->n_arguments, inputs, (intptr_t)outs->n, result_types);
  MlirNamedAttribute attrs[] = {tc__named(g->ctx, "sym_name", tc__attr_str(g->ctx, "main")),
                                tc__named(g->ctx, "function_type", mlirTypeAttrGet(type)),
                                tc__named(g->ctx, "arg_attrs", mlirArrayAttrGet(g->ctx, g->n_arguments, dicts))};
  b = tc__builder_at_end(mlirModuleGetBody(module), g->loc);
  tc__build(&b, "func.func", NULL, 0, NULL, 0, attrs, 3, &region, 1);
  free(inputs);
  free(dicts);
  return module;
}

static const gen_value *argument_named(const gen *g, const char *name) {
  for (size_t i = 0; i < g->n_values; i++)
    if (g->values[i].argument >= 0 && g->values[i].argument == atoi(name + 1))
      return &g->values[i];
  return NULL;
}

// Compiles a clone for the backend, runs it and compares; false with the reason in message.
static bool run_backend(const gen *g, MlirModule module, const outputs *outs, const char *backend, const options *o,
                        char *message, size_t size) {
  MlirModule clone = mlirModuleFromOperation(mlirOperationClone(mlirModuleGetOperation(module)));
  tc__compile_options compile = {.backend = backend, .threads = (int)o->threads};
  tc__plan *plan = NULL;
  tc__executable *exe = NULL;
  tc_status status = tc__compile(clone, &compile, &plan);
  mlirModuleDestroy(clone);
  const char *stage = "compile";
  tc__buffer inputs[512], params[512], results[256];
  size_t n_inputs = 0;
  bool ok = false;
  memset(results, 0, sizeof results);
  if (status == TC_OK) {
    for (int i = 0; i < plan->n_inputs; i++)
      inputs[n_inputs++] = argument_named(g, plan->inputs[i].name)->real;
    for (int i = 0; i < plan->n_params; i++)
      params[i] = argument_named(g, plan->params[i].name)->real;
    stage = "load";
    status = tc__executable_create(plan, params, &exe);
  }
  for (size_t i = 0; i < outs->n; i++) {
    results[i].type = g->values[outs->values[i]].real.type;
    results[i].data = tc__aligned_alloc((size_t)tc__type_bytes(&results[i].type) + 1);
    memset(results[i].data, 0x5a, (size_t)tc__type_bytes(&results[i].type));
  }
  if (status == TC_OK) {
    stage = "run";
    // Twice: the second run must not depend on what the first left behind.
    status = tc__executable_run(exe, inputs, n_inputs, results, outs->n);
    if (status == TC_OK)
      status = tc__executable_run(exe, inputs, n_inputs, results, outs->n);
  }
  if (status != TC_OK) {
    snprintf(message, size, "%s, %s: %s", backend, stage, tc_last_error());
  } else {
    ok = true;
    for (size_t i = 0; i < outs->n && ok; i++) {
      const tc__buffer *want = &g->values[outs->values[i]].real;
      double found = gen_difference(&results[i], want),
             allowed = strcmp(backend, "interp") == 0 ? 0 : gen_tolerance(want->type.dtype);
      char type[128];
      if (!(found <= allowed)) {
        ok = false;
        snprintf(message, size, "%s: output %zu of type %s differs by %g, allowed is %g", backend, i,
                 tc__type_format(&want->type, type, sizeof type), found, allowed);
      }
    }
  }
  for (size_t i = 0; i < outs->n; i++)
    tc__aligned_free(results[i].data);
  tc__executable_destroy(exe);
  return ok;
}

// Adds to the counters; false when the graph failed.
static bool one_graph(MlirContext ctx, uint64_t seed, const options *o, int64_t *n_ops) {
  gen g = {.state = seed * UINT64_C(0x2545f4914f6cdd1d) + 1,
           .ctx = ctx,
           .loc = mlirLocationUnknownGet(ctx),
           .max_elements = o->max_elements};
  MlirRegion region = mlirRegionCreate();
  outputs outs = {.n = 0};
  char message[1024] = "the graph could not be made";
  bool ok = false;
  g.block = mlirBlockCreate(0, NULL, NULL);
  mlirRegionAppendOwnedBlock(region, g.block);
  g.specials = o->specials && gen_chance(&g, 30);
  int64_t wanted = gen_int(&g, 1, o->max_ops);
  while (!g.failed && (g.n_ops < wanted || g.n_ops == 0) && g.n_tried < 50 * wanted + 200)
    gen_random_op(&g);
  *n_ops += g.n_ops;
  MlirModule module = finish(&g, region, &outs);
  text.size = 0;
  mlirOperationPrint(mlirModuleGetOperation(module), tc__print_to_str, &text);
  snprintf(crash_path, sizeof crash_path, "%s/graph-%llu.mlir", o->save_dir, (unsigned long long)seed);
  if (o->print) {
    tc__str listing = {0};
    if (tc__print_readable(mlirModuleGetOperation(module), &listing) == TC_OK)
      printf("%s\n", listing.data);
    tc__str_free(&listing);
  }
  if (!g.failed)
    ok = run_backend(&g, module, &outs, "interp", o, message, sizeof message) &&
         (strcmp(o->backend, "interp") == 0 || run_backend(&g, module, &outs, o->backend, o, message, sizeof message));
  if (!ok) {
    write_graph();
    printf("FAIL seed=%llu: %s; graph saved as %s\n", (unsigned long long)seed, message, crash_path);
    fflush(stdout);
  }
  mlirModuleDestroy(module);
  for (size_t i = 0; i < g.n_values; i++) {
    if (g.values[i].rough.data != g.values[i].real.data)
      tc__aligned_free(g.values[i].rough.data);
    tc__aligned_free(g.values[i].real.data);
  }
  tc__free(g.values);
  return ok;
}

static bool number_option(const char *arg, const char *name, int64_t *out) {
  size_t n = strlen(name);
  if (strncmp(arg, name, n) != 0 || arg[n] != '=')
    return false;
  char *end;
  *out = strtoll(arg + n + 1, &end, 10);
  return *end == 0;
}

static int run_graphs(options *o, progress *shared) {
  tc_set_diagnostic_handler(print_diagnostic, o);
  static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
  for (size_t i = 0; i < TC_COUNTOF(signals); i++)
    signal(signals[i], on_crash);
  MlirContext ctx = {NULL};
  for (int64_t i = 0; shared->next < o->count; i++) {
    if (i % 100 == 0) { // types and attributes are never freed before their context
      if (!mlirContextIsNull(ctx))
        mlirContextDestroy(ctx);
      ctx = tc__context_create();
      if (mlirContextIsNull(ctx))
        return 2;
    }
    shared->failures += !one_graph(ctx, o->seed + (uint64_t)shared->next, o, &shared->n_ops);
    shared->next++;
  }
  mlirContextDestroy(ctx);
  tc__str_free(&text);
  shared->done = true;
  return 0;
}

int main(int argc, char **argv) {
  options o = {
      .count = 100, .max_ops = 16, .max_elements = 2048, .threads = 1, .backend = "default", .save_dir = ".", .specials = true};
  int64_t seed = 1;
  for (int i = 1; i < argc; i++) {
    if (number_option(argv[i], "--count", &o.count) || number_option(argv[i], "--seed", &seed) ||
        number_option(argv[i], "--max-ops", &o.max_ops) || number_option(argv[i], "--max-elements", &o.max_elements) ||
        number_option(argv[i], "--threads", &o.threads))
      continue;
    if (strncmp(argv[i], "--backend=", 10) == 0)
      o.backend = argv[i] + 10;
    else if (strncmp(argv[i], "--save-dir=", 11) == 0)
      o.save_dir = argv[i] + 11;
    else if (strcmp(argv[i], "--print") == 0)
      o.print = true;
    else if (strcmp(argv[i], "--verbose") == 0)
      o.verbose = true;
    else if (strcmp(argv[i], "--no-specials") == 0)
      o.specials = false;
    else {
      fprintf(stderr, "usage: tc-fuzz-graphs [--count=N] [--seed=S] [--max-ops=N] [--max-elements=N] [--threads=N] "
                      "[--backend=default|eager|interp]\n"
                      "                      [--save-dir=D] [--no-specials] [--print] [--verbose]\n");
      return 2;
    }
  }
  if (o.count < 1 || o.max_ops < 1 || o.max_elements < 1) {
    fprintf(stderr, "tc-fuzz-graphs: --count, --max-ops and --max-elements must be at least 1\n");
    return 2;
  }
  o.seed = (uint64_t)seed;
  progress *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED)
    return 2;
  while (!shared->done && shared->next < o.count) {
    fflush(stdout);
    pid_t child = fork();
    if (child < 0)
      return 2;
    if (child == 0)
      return run_graphs(&o, shared);
    int status = 0;
    if (waitpid(child, &status, 0) < 0)
      return 2;
    if (!WIFSIGNALED(status)) {
      if (shared->next < o.count) // it gave up: no context, or a sanitizer ended it
        shared->failures++;
      break;
    }
    uint64_t at = o.seed + (uint64_t)shared->next++;
    shared->failures++;
    printf("FAIL seed=%llu: signal %d; graph saved as %s/graph-%llu.mlir\n", (unsigned long long)at, WTERMSIG(status), o.save_dir,
           (unsigned long long)at);
  }
  int64_t failures = shared->failures;
  printf("%lld graphs, %lld ops, %lld failures (seed %llu, backend %s)\n", (long long)shared->next, (long long)shared->n_ops,
         (long long)failures, (unsigned long long)o.seed, o.backend);
  return failures != 0;
}

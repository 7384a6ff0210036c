// tc-run: run, check, explain and time a saved model.
#include "compiler/compile.h"
#include "frontend/fixture.h"
#include "frontend/model.h"
#include "runtime/exec.h"
#include "runtime/explain.h"
#include "tc/tools.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MAX_NPY_INPUTS = 64 };

typedef struct options {
  const char *model, *output_dir, *device, *backend, *cpu, *filter, *json;
  const char *inputs[MAX_NPY_INPUTS];
  size_t n_inputs;
  int threads, benchmark;
  double rtol;
  bool check, check_all, explain, print, profile, help, version;
} options;

static const char usage[] =
    "usage: tc-run MODEL [options]          run a model once and print its outputs' shapes\n"
    "       tc-run --check DIR [options]    run a model folder and compare with its reference.json\n"
    "       tc-run --check-all DIR          the same for every model folder in DIR\n"
    "\n"
    "MODEL is a torch.export archive (.pt2), its model.json, an .mlir file, or a folder that holds one of them.\n"
    "\n"
    "  --input=FILE.npy   the next input (one each, in order); without any, inputs are synthesised\n"
    "  --output-dir=DIR   write the outputs as DIR/output<i>.npy\n"
    "  --print            print the values of the outputs (the first 8 of each)\n"
    "  --explain          list the kernels, the bytes they read and write, fused and unfused\n"
    "  --benchmark[=N]    time N runs (default 20) after a warm-up; prints the median and the fastest\n"
    "  --profile          with --benchmark: the time of each step, most first, with its rates\n"
    "  --threads=N        threads for kernels and compiling (default: all cores, or TC_NUM_THREADS)\n"
    "  --device=cpu       where to run\n"
    "  --backend=NAME     default, eager (one kernel an op) or interp (the reference interpreter)\n"
    "  --mcpu=NAME        LLVM CPU to generate code for (default: this machine's)\n"
    "  --rtol=X           with --check: the relative error allowed (default: the reference's own)\n"
    "  --filter=REGEX     with --check-all: only the models whose name matches\n"
    "  --json=FILE        with --check-all: also write the results as JSON\n"
    "  --help, --version\n";

static const char *const option_names[] = {"--profile", "--input",  "--output-dir", "--print", "--explain", "--benchmark",
                                           "--threads", "--device", "--backend",    "--mcpu",  "--rtol",    "--filter",
                                           "--json",    "--check",  "--check-all",  "--help",  "--version"};

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static bool parse_int(const char *text, int low, int *out) {
  char *end;
  errno = 0;
  long v = strtol(text, &end, 10);
  if (errno || end == text || *end || v < low || v > 1000000000)
    return false;
  *out = (int)v;
  return true;
}

static int usage_error(const char *fmt, const char *what) {
  fprintf(stderr, "tc-run: error: ");
  fprintf(stderr, fmt, what);
  fprintf(stderr, " (see tc-run --help)\n");
  return 1;
}

static int parse(int argc, char **argv, options *o) {
  for (int i = 1; i < argc; i++) {
    const char *arg = argv[i];
    if (arg[0] != '-' || !arg[1]) {
      if (o->model)
        return usage_error("more than one model: '%s'", arg);
      o->model = arg;
      continue;
    }
    char name[32];
    const char *value = strchr(arg, '=');
    snprintf(name, sizeof name, "%.*s", value ? (int)(value - arg) : (int)strlen(arg), arg);
    value = value ? value + 1 : NULL;
#define FLAG(text, field)                                                                                                        \
  if (strcmp(name, text) == 0) {                                                                                                 \
    if (value)                                                                                                                   \
      return usage_error("option '%s' takes no value", name);                                                                    \
    o->field = true;                                                                                                             \
    continue;                                                                                                                    \
  }
    FLAG("--print", print)
    FLAG("--profile", profile)
    FLAG("--explain", explain)
    FLAG("--check", check)
    FLAG("--check-all", check_all)
    FLAG("--help", help)
    FLAG("--version", version)
#undef FLAG
    if (strcmp(name, "--benchmark") == 0) {
      o->benchmark = 20;
      if (value && !parse_int(value, 1, &o->benchmark))
        return usage_error("--benchmark: '%s' is no number of runs", value);
      continue;
    }
    bool known = false;
    for (size_t k = 0; k < TC_COUNTOF(option_names); k++)
      known |= strcmp(name, option_names[k]) == 0;
    if (!known) {
      const char *near = tc__did_you_mean(name, option_names, TC_COUNTOF(option_names));
      fprintf(stderr,
              near ? "tc-run: error: unknown option '%s', did you mean '%s'?\n"
                   : "tc-run: error: unknown option '%s' (see tc-run --help)\n",
              name, near);
      return 1;
    }
    if (!value && i + 1 < argc)
      value = argv[++i];
    if (!value || !*value)
      return usage_error("option '%s' needs a value", name);
    char *end = NULL;
    if (strcmp(name, "--input") == 0) {
      if (o->n_inputs == MAX_NPY_INPUTS)
        return usage_error("too many inputs at '%s'", value);
      o->inputs[o->n_inputs++] = value;
    } else if (strcmp(name, "--threads") == 0) {
      if (!parse_int(value, 1, &o->threads))
        return usage_error("--threads: '%s' is no number of threads", value);
    } else if (strcmp(name, "--rtol") == 0) {
      o->rtol = strtod(value, &end);
      if (*end || !(o->rtol > 0))
        return usage_error("--rtol: '%s' is no positive number", value);
    } else if (strcmp(name, "--output-dir") == 0) {
      o->output_dir = value;
    } else if (strcmp(name, "--device") == 0) {
      o->device = value;
    } else if (strcmp(name, "--backend") == 0) {
      o->backend = value;
    } else if (strcmp(name, "--mcpu") == 0) {
      o->cpu = value;
    } else if (strcmp(name, "--filter") == 0) {
      o->filter = value;
    } else if (strcmp(name, "--json") == 0) {
      o->json = value;
    }
  }
  if (o->help || o->version)
    return 0;
  if (!o->model)
    return usage_error("no model given%s", "");
  if (o->device && strcmp(o->device, "cpu") != 0)
    return usage_error("device '%s' is not supported: this build runs on \"cpu\"", o->device);
  // An option that would do nothing is a mistake in the command.
  bool checks = o->check || o->check_all;
  if (o->profile && !o->benchmark)
    return usage_error("%s goes with --benchmark", "--profile");
  if (o->rtol > 0 && !checks)
    return usage_error("%s goes with --check or --check-all", "--rtol");
  if ((o->filter || o->json) && !o->check_all)
    return usage_error("%s goes with --check-all", o->filter ? "--filter" : "--json");
  if (checks && (o->n_inputs || o->output_dir || o->print))
    return usage_error("%s does not go with --check: the reference brings its inputs and outputs", o->n_inputs ? "--input"
                                                                                                   : o->output_dir
                                                                                                       ? "--output-dir"
                                                                                                       : "--print");
  return 0;
}

// ---- one model
// -----------------------------------------------------------------------------------------------------------------------------

typedef struct session {
  tc__model *model;
  tc__executable *exe;
  const tc__plan *plan;
  tc__buffer *outputs; // of the user
  size_t n_outputs;
  double compile_ms;
} session;

static void session_close(session *s) {
  for (size_t i = 0; i < s->n_outputs; i++)
    tc__aligned_free(s->outputs[i].data);
  tc__free(s->outputs);
  tc__executable_destroy(s->exe);
  tc__model_destroy(s->model);
}

static void progress(const char *path, bool begin) {
  if (!isatty(STDERR_FILENO))
    return;
  if (begin)
    fprintf(stderr, "compiling %s ...", path);
  else
    fprintf(stderr, "\r\033[K");
  fflush(stderr);
}

// An archive is saved after its reference run, which has already changed the buffers that the model mutates: what they held
// before follows the rule.
static tc_status reset_mutated(tc__model *model, const tc__plan *plan) {
  for (int i = 0; i < plan->n_outputs; i++)
    for (size_t k = 0; plan->outputs[i].mutates && k < model->n_params; k++) {
      tc__buffer *value = &model->params[k].value;
      if (strcmp(model->params[k].name, plan->outputs[i].mutates) != 0 || !tc_dtype_is_float(value->type.dtype))
        continue;
      value->data = NULL;
      TC_TRY(tc__model_synthesize(model, NULL));
    }
  return TC_OK;
}

// Loads, compiles and binds; with a fixture, its inputs' shapes choose the sizes of symbolic dims.
static tc_status session_open(session *s, const char *path, const options *o, const tc__buffer *inputs, size_t n_inputs) {
  double start = now_ms();
  if (inputs) {
    tc__type types[MAX_NPY_INPUTS];
    if (n_inputs > MAX_NPY_INPUTS)
      return tc__error(TC_ERR_UNSUPPORTED, path, "more than %d inputs", MAX_NPY_INPUTS);
    for (size_t i = 0; i < n_inputs; i++)
      types[i] = inputs[i].type;
    TC_TRY(tc__model_load_with_shapes(path, types, n_inputs, &s->model));
  } else {
    TC_TRY(tc__model_load(path, &s->model));
  }
  TC_TRY(tc__model_synthesize(s->model, path));
  tc__compile_options compile = {o->backend, o->cpu, o->threads};
  tc__plan *plan;
  tc__buffer *params = NULL;
  double compile_start = now_ms();
  (void)start;
  progress(path, true);
  tc_status status = tc__compile(s->model->module, &compile, &plan);
  progress(path, false);
  TC_TRY(status);
  s->compile_ms = now_ms() - compile_start;
  if (o->check || o->check_all)
    status = reset_mutated(s->model, plan);
  if (status == TC_OK)
    status = tc__model_bind(s->model, plan, &params);
  if (status == TC_OK)
    status = tc__executable_create(plan, params, &s->exe);
  else
    tc__plan_destroy(plan);
  tc__free(params);
  TC_TRY(status);
  s->plan = tc__executable_plan(s->exe);
  if (!(s->outputs = tc__calloc((size_t)s->plan->n_outputs + 1, sizeof *s->outputs)))
    return tc__oom();
  for (int i = 0; i < s->plan->n_outputs; i++) {
    if (s->plan->outputs[i].mutates)
      continue;
    tc__buffer *out = &s->outputs[s->n_outputs];
    out->type = s->plan->values[s->plan->outputs[i].value].type;
    if (!(out->data = tc__aligned_alloc((size_t)tc__type_bytes(&out->type) + 1)))
      return tc__oom();
    s->n_outputs++;
  }
  return TC_OK;
}

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

typedef struct step_time {
  int step;
  int64_t ns;
} step_time;

static int compare_steps(const void *a, const void *b) {
  int64_t x = ((const step_time *)a)->ns, y = ((const step_time *)b)->ns;
  return (x < y) - (x > y);
}

static void print_profile(const tc__plan *plan, const int64_t *ns, int runs) {
  step_time *order = tc__calloc((size_t)plan->n_steps + 1, sizeof *order);
  int64_t total = 0;
  for (int i = 0; order && i < plan->n_steps; i++) {
    order[i] = (step_time){i, ns[i] / runs};
    total += order[i].ns;
  }
  if (order)
    qsort(order, (size_t)plan->n_steps, sizeof *order, compare_steps);
  printf("%10s %6s %9s %8s %6s  step\n", "us", "share", "GFLOP/s", "GB/s", "tasks");
  for (int i = 0; order && i < plan->n_steps && i < 40; i++) {
    const tc__plan_step *step = &plan->steps[order[i].step];
    double us = (double)order[i].ns * 1e-3;
    char type[160];
    printf("%10.1f %5.1f%% %9.1f %8.1f %6lld  %s %s\n", us, 100.0 * (double)order[i].ns / (double)(total ? total : 1),
           (double)step->flops * 1e-3 / us, (double)(step->bytes_read + step->bytes_written) * 1e-3 / us,
           (long long)step->n_tasks, step->kind == TC__STEP_KERNEL ? plan->kernels[step->kernel].name : step->summary,
           tc__type_format(&plan->values[step->args[step->n_in + step->n_out - 1]].type, type, sizeof type));
  }
  tc__free(order);
}

static tc_status benchmark(session *s, const tc__buffer *inputs, size_t n_inputs, int runs, bool profile) {
  double *times = tc__alloc(sizeof *times * (size_t)runs);
  int64_t *steps = tc__calloc((size_t)s->plan->n_steps + 1, sizeof *steps);
  if (!times || !steps) {
    tc__free(times);
    tc__free(steps);
    return tc__oom();
  }
  tc_status status = tc__executable_run(s->exe, inputs, n_inputs, s->outputs, s->n_outputs);
  if (profile)
    tc__executable_profile(s->exe, steps);
  for (int i = 0; i < runs && status == TC_OK; i++) {
    double start = now_ms();
    status = tc__executable_run(s->exe, inputs, n_inputs, s->outputs, s->n_outputs);
    times[i] = now_ms() - start;
  }
  if (status == TC_OK) {
    qsort(times, (size_t)runs, sizeof *times, compare_doubles);
    printf("benchmark: %d runs, %d threads, median %.3f ms, fastest %.3f ms\n", runs, tc__threads_get(), times[runs / 2],
           times[0]);
    if (profile)
      print_profile(s->plan, steps, runs);
  }
  tc__executable_profile(s->exe, NULL);
  tc__free(steps);
  tc__free(times);
  return status;
}

static double element(const tc__buffer *b, int64_t i) {
  switch (b->type.dtype) {
  case TC_F16:
    return tc__f16_to_f32(((const uint16_t *)b->data)[i]);
  case TC_BF16:
    return tc__bf16_to_f32(((const uint16_t *)b->data)[i]);
  case TC_F32:
    return ((const float *)b->data)[i];
  case TC_F64:
    return ((const double *)b->data)[i];
  case TC_I8:
    return ((const int8_t *)b->data)[i];
  case TC_I16:
    return ((const int16_t *)b->data)[i];
  case TC_I32:
    return ((const int32_t *)b->data)[i];
  case TC_I64:
    return (double)((const int64_t *)b->data)[i];
  default:
    return ((const uint8_t *)b->data)[i];
  }
}

static tc_status print_outputs(const session *s, const options *o) {
  for (size_t i = 0; i < s->n_outputs; i++) {
    char type[160];
    printf("output%zu: %s", i, tc__type_format(&s->outputs[i].type, type, sizeof type));
    int64_t n = tc__type_elements(&s->outputs[i].type);
    if (o->print) {
      printf(" =");
      for (int64_t k = 0; k < n && k < 8; k++)
        printf(" %.7g", element(&s->outputs[i], k));
      if (n > 8)
        printf(" ...");
    }
    printf("\n");
    if (o->output_dir) {
      char path[4096];
      snprintf(path, sizeof path, "%s/output%zu.npy", o->output_dir, i);
      TC_TRY(tc__npy_write(path, &s->outputs[i]));
    }
  }
  return TC_OK;
}

// Inputs from files, or by the rule of docs/model-fixtures.md under the names input0, input1, ...
static tc_status make_inputs(const session *s, tc__buffer *inputs) {
  for (int i = 0; i < s->plan->n_inputs; i++) {
    inputs[i].type = s->plan->values[s->plan->inputs[i].value].type;
    if (!(inputs[i].data = tc__aligned_alloc((size_t)tc__type_bytes(&inputs[i].type) + 1)))
      return tc__oom();
    memset(inputs[i].data, 0, (size_t)tc__type_bytes(&inputs[i].type));
    char name[32];
    snprintf(name, sizeof name, "input%d", i);
    int64_t n = tc__type_elements(&inputs[i].type);
    for (int64_t k = 0; k < n; k++) {
      float u = tc__synth_uniform(name, k);
      switch (inputs[i].type.dtype) {
      case TC_F32:
        ((float *)inputs[i].data)[k] = u;
        break;
      case TC_F64:
        ((double *)inputs[i].data)[k] = u;
        break;
      case TC_F16:
        ((uint16_t *)inputs[i].data)[k] = tc__f32_to_f16(u);
        break;
      case TC_BF16:
        ((uint16_t *)inputs[i].data)[k] = tc__f32_to_bf16(u);
        break;
      default:
        break; // integers and bools: zeros, which are valid indices
      }
    }
  }
  return TC_OK;
}

static tc_status run_model(const options *o) {
  tc__buffer inputs[MAX_NPY_INPUTS] = {0};
  session s = {0};
  tc_status status = TC_OK;
  size_t n_inputs = 0;
  for (; n_inputs < o->n_inputs && status == TC_OK; n_inputs++)
    status = tc__npy_read(o->inputs[n_inputs], &inputs[n_inputs]);
  if (status == TC_OK)
    status = session_open(&s, o->model, o, o->n_inputs ? inputs : NULL, o->n_inputs);
  if (status == TC_OK && !o->n_inputs) {
    if (s.plan->n_inputs > MAX_NPY_INPUTS)
      status = tc__error(TC_ERR_UNSUPPORTED, o->model, "more than %d inputs", MAX_NPY_INPUTS);
    else
      status = make_inputs(&s, inputs);
    n_inputs = (size_t)s.plan->n_inputs;
  }
  if (status == TC_OK && o->output_dir && mkdir(o->output_dir, 0777) != 0 && errno != EEXIST)
    status = tc__error(TC_ERR_IO, o->output_dir, "cannot make the folder: %s", strerror(errno));
  if (status == TC_OK)
    status = tc__executable_run(s.exe, inputs, n_inputs, s.outputs, s.n_outputs);
  if (status == TC_OK && o->explain) {
    tc__str text = {0};
    tc__plan_explain(s.plan, false, &text);
    fputs(text.data ? text.data : "", stdout);
    tc__str_free(&text);
  }
  if (status == TC_OK)
    status = print_outputs(&s, o);
  if (status == TC_OK && o->benchmark)
    status = benchmark(&s, inputs, n_inputs, o->benchmark, o->profile);
  session_close(&s);
  for (size_t i = 0; i < MAX_NPY_INPUTS; i++)
    tc__aligned_free(inputs[i].data);
  return status;
}

// ---- checking against references
// ----------------------------------------------------------------------------------------------------------

typedef struct check_result {
  tc_status status;
  double rel_err, compile_ms, run_ms;
  tc__str message;
} check_result;

static void check_model(const char *dir, const options *o, check_result *r) {
  tc__fixture *fixture = NULL;
  session s = {0};
  tc_status status = tc__fixture_open(dir, &fixture);
  if (status == TC_OK)
    status = session_open(&s, dir, o, tc__fixture_inputs(fixture), tc__fixture_n_inputs(fixture));
  r->compile_ms = s.compile_ms;
  double start = now_ms();
  if (status == TC_OK)
    status = tc__executable_run(s.exe, tc__fixture_inputs(fixture), tc__fixture_n_inputs(fixture), s.outputs, s.n_outputs);
  r->run_ms = now_ms() - start;
  if (status != TC_OK)
    tc__str_append(&r->message, tc_last_error());
  else
    status = tc__fixture_compare(fixture, s.outputs, s.n_outputs, o->rtol, &r->rel_err, &r->message);
  if (status == TC_OK && o->explain) {
    tc__str text = {0};
    tc__plan_explain(s.plan, false, &text);
    fputs(text.data ? text.data : "", stdout);
    tc__str_free(&text);
  }
  if (status == TC_OK && o->benchmark)
    status = benchmark(&s, tc__fixture_inputs(fixture), tc__fixture_n_inputs(fixture), o->benchmark, o->profile);
  session_close(&s);
  tc__fixture_close(fixture);
  r->status = status;
}

static const char *base_name(const char *path, char *buf, size_t size) {
  snprintf(buf, size, "%s", path);
  size_t n = strlen(buf);
  while (n > 1 && buf[n - 1] == '/')
    buf[--n] = 0;
  char *slash = strrchr(buf, '/');
  return slash ? slash + 1 : buf;
}

static void print_result(const char *name, const check_result *r) {
  if (r->status == TC_OK)
    printf("ok %s rel_err=%.2e compile_ms=%.0f run_ms=%.1f\n", name, r->rel_err, r->compile_ms, r->run_ms);
  else if (r->status == TC_ERR_MISMATCH)
    printf("FAIL %s rel_err=%.2e: %s\n", name, r->rel_err, r->message.data ? r->message.data : "");
  else
    printf("FAIL %s: %s: %s\n", name, tc_status_name(r->status), r->message.data ? r->message.data : "");
  fflush(stdout);
}

static int compare_names(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void json_escape(tc__str *out, const char *text) {
  tc__str_append(out, "\"");
  for (; *text; text++) {
    if (*text == '"' || *text == '\\')
      tc__str_printf(out, "\\%c", *text);
    else if ((unsigned char)*text < 0x20)
      tc__str_printf(out, "\\u%04x", *text);
    else
      tc__str_append_n(out, text, 1);
  }
  tc__str_append(out, "\"");
}

static tc_status list_models(const char *dir, const char *filter, char ***out_names, size_t *out_count) {
  regex_t re;
  if (filter && regcomp(&re, filter, REG_EXTENDED | REG_NOSUB) != 0)
    return tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "--filter: '%s' is no regular expression", filter);
  DIR *d = opendir(dir);
  tc_status status = d ? TC_OK : tc__error(TC_ERR_IO, dir, "cannot open the folder: %s", strerror(errno));
  for (struct dirent *e; d && (e = readdir(d));) {
    char path[4096];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s/reference.json", dir, e->d_name);
    if (e->d_name[0] == '.' || stat(path, &st) != 0 || (filter && regexec(&re, e->d_name, 0, NULL, 0) != 0))
      continue;
    char **names = tc__realloc(*out_names, sizeof *names * (*out_count + 1));
    if (names)
      *out_names = names;
    if (!names || !(names[*out_count] = tc__strdup(e->d_name))) {
      status = tc__oom();
      break;
    }
    ++*out_count;
  }
  if (d)
    closedir(d);
  if (filter)
    regfree(&re);
  if (status == TC_OK && *out_count)
    qsort(*out_names, *out_count, sizeof **out_names, compare_names);
  return status;
}

static tc_status check_folder(const options *o) {
  char **names = NULL;
  size_t n = 0, failed = 0;
  tc__str json = {0}, failures = {0};
  tc_status status = list_models(o->model, o->filter, &names, &n);
  for (size_t i = 0; i < n && status == TC_OK; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", o->model, names[i]);
    check_result r = {0};
    check_model(path, o, &r);
    printf("[%zu/%zu] ", i + 1, n);
    print_result(names[i], &r);
    tc__str_append(&json, i ? ",\n  {\"name\": " : "[\n  {\"name\": ");
    json_escape(&json, names[i]);
    tc__str_printf(&json, ", \"status\": \"%s\", \"rel_err\": %.6e, \"compile_ms\": %.1f, \"run_ms\": %.2f, \"message\": ",
                   tc_status_name(r.status), isfinite(r.rel_err) ? r.rel_err : 1e300, r.compile_ms, r.run_ms);
    json_escape(&json, r.message.data ? r.message.data : "");
    tc__str_append(&json, "}");
    if (r.status != TC_OK) {
      failed++;
      tc__str_printf(&failures, "  %-24s %-40s %.*s\n", tc_status_name(r.status), names[i],
                     (int)strcspn(r.message.data ? r.message.data : "", "\n"), r.message.data ? r.message.data : "");
    }
    tc__str_free(&r.message);
  }
  if (status == TC_OK && failed)
    printf("\nfailures:\n%s", failures.data);
  if (status == TC_OK) {
    printf("%zu passed, %zu failed\n", n - failed, failed);
    if (o->json) {
      tc__str_append(&json, n ? "\n]\n" : "[]\n");
      status = json.oom ? tc__oom() : tc__write_file(o->json, json.data, json.size);
    }
    if (status == TC_OK && (failed || n == 0))
      status = n == 0 ? tc__error(TC_ERR_NOT_FOUND, o->model, "no model folder (one that holds a reference.json) %s",
                                  o->filter ? "whose name matches" : "in it")
                      : TC_ERR_MISMATCH;
  }
  for (size_t i = 0; i < n; i++)
    tc__free(names[i]);
  tc__free(names);
  tc__str_free(&json);
  tc__str_free(&failures);
  return status;
}

static void print_diagnostic(tc_severity severity, const char *location, const char *message, void *user) {
  (void)user;
  static const char *const names[] = {"error", "warning", "note", "remark"};
  fprintf(stderr, "%s%s%s: %s\n", location, *location ? ": " : "", names[severity], message);
}

int tc_run_main(int argc, char **argv) {
  options o = {0};
  if (parse(argc, argv, &o) != 0)
    return 1;
  if (o.help) {
    fputs(usage, stdout);
    return 0;
  }
  if (o.version) {
    printf("tc-run 0.1.0\n");
    return 0;
  }
  if (o.threads)
    tc__threads_set(o.threads);
  tc_set_diagnostic_handler(print_diagnostic, NULL);
  tc_status status;
  if (o.check_all) {
    status = check_folder(&o);
  } else if (o.check) {
    check_result r = {0};
    char name[4096];
    check_model(o.model, &o, &r);
    print_result(base_name(o.model, name, sizeof name), &r);
    status = r.status;
    tc__str_free(&r.message);
  } else {
    status = run_model(&o);
  }
  return status == TC_OK ? 0 : 1;
}

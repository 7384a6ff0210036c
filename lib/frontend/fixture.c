#include "fixture.h"

#include "json.h"
#include "model.h"

#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

enum { MAX_FIXTURE_IO = 64 };

typedef struct reference {
  tc__type type;
  double l2, mean;
  float *first; ///< the first values
  size_t n_first;
  tc__buffer whole; ///< from output<i>.npy; data NULL when there is none
} reference;

struct tc__fixture {
  char *dir;
  tc__buffer *inputs;
  size_t n_inputs;
  reference *outputs;
  size_t n_outputs;
  double rtol;
};

static bool dtype_from_torch(const char *name, tc_dtype *out) {
  static const struct {
    const char *name;
    tc_dtype dtype;
  } names[] = {{"torch.float16", TC_F16}, {"torch.bfloat16", TC_BF16}, {"torch.float32", TC_F32}, {"torch.float64", TC_F64}, {"torch.int8", TC_I8},
               {"torch.int16", TC_I16},   {"torch.int32", TC_I32},     {"torch.int64", TC_I64},   {"torch.uint8", TC_U8},   {"torch.bool", TC_BOOL}};
  for (size_t i = 0; i < TC_COUNTOF(names); i++)
    if (strcmp(names[i].name, name) == 0) {
      *out = names[i].dtype;
      return true;
    }
  return false;
}

static tc_status read_type(const char *file, const json_t *entry, tc__type *out) {
  const json_t *shape = json_object_get(entry, "shape");
  const char *dtype = json_string_value(json_object_get(entry, "dtype"));
  if (!json_is_array(shape) || json_array_size(shape) > TC_MAX_RANK || !dtype || !dtype_from_torch(dtype, &out->dtype))
    return tc__error(TC_ERR_PARSE, file, "an input or output without a usable 'shape' and 'dtype'");
  out->rank = (int)json_array_size(shape);
  for (int i = 0; i < out->rank; i++)
    if (!tc__json_int(json_array_get(shape, (size_t)i), &out->shape[i]) || out->shape[i] < 0)
      return tc__error(TC_ERR_PARSE, file, "a shape holds no size at %d", i);
  int64_t bytes = tc__type_bytes(out);
  return bytes < 0 || bytes > (int64_t)1 << 36 ? tc__error(TC_ERR_PARSE, file, "a tensor of more than 64 GiB") : TC_OK;
}

static void store(tc__buffer *b, int64_t i, double v) {
  switch (b->type.dtype) {
  case TC_F16:
    ((uint16_t *)b->data)[i] = tc__f32_to_f16((float)v);
    break;
  case TC_BF16:
    ((uint16_t *)b->data)[i] = tc__f32_to_bf16((float)v);
    break;
  case TC_F32:
    ((float *)b->data)[i] = (float)v;
    break;
  case TC_F64:
    ((double *)b->data)[i] = v;
    break;
  case TC_I8:
    ((int8_t *)b->data)[i] = (int8_t)v;
    break;
  case TC_I16:
    ((int16_t *)b->data)[i] = (int16_t)v;
    break;
  case TC_I32:
    ((int32_t *)b->data)[i] = (int32_t)v;
    break;
  case TC_I64:
    ((int64_t *)b->data)[i] = (int64_t)v;
    break;
  default:
    ((uint8_t *)b->data)[i] = (uint8_t)v;
    break;
  }
}

static double load(const tc__buffer *b, int64_t i) {
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

static tc_status make_input(const char *file, const json_t *entry, size_t i, tc__buffer *out) {
  TC_TRY(read_type(file, entry, &out->type));
  const char *rule = json_string_value(json_object_get(entry, "rule"));
  if (!rule)
    return tc__error(TC_ERR_PARSE, file, "input %zu has no 'rule'", i);
  if (!(out->data = tc__aligned_alloc((size_t)tc__type_bytes(&out->type) + 1)))
    return tc__oom();
  char name[32];
  snprintf(name, sizeof name, "input%zu", i);
  double high = strncmp(rule, "int<", 4) == 0 ? strtod(rule + 4, NULL) : 0;
  int64_t n = tc__type_elements(&out->type);
  for (int64_t k = 0; k < n; k++) {
    float u = tc__synth_uniform(name, k);
    double v;
    if (strcmp(rule, "uniform") == 0)
      v = u;
    else if (strcmp(rule, "ones") == 0)
      v = 1;
    else if (strcmp(rule, "zeros") == 0)
      v = 0;
    else if (high >= 1) { // computed in f32, as the reference was
      float scaled = (u + 1) * 0.5f * (float)high;
      v = floor((double)scaled);
      v = v > high - 1 ? high - 1 : v;
    } else
      return tc__error(TC_ERR_UNSUPPORTED, file, "input %zu: unknown rule '%s'", i, rule);
    store(out, k, v);
  }
  return TC_OK;
}

static int base64_digit(char c) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const char *at = c ? strchr(digits, c) : NULL;
  return at ? (int)(at - digits) : -1;
}

static tc_status decode_first(const char *file, const char *text, reference *r) {
  size_t n = strlen(text), bytes = n / 4 * 3, at = 0;
  unsigned char *data = tc__alloc(bytes + 4);
  if (!data)
    return tc__oom();
  for (size_t i = 0; i + 3 < n; i += 4) {
    int d[4];
    for (int k = 0; k < 4; k++)
      d[k] = base64_digit(text[i + (size_t)k]);
    if (d[0] < 0 || d[1] < 0) {
      tc__free(data);
      return tc__error(TC_ERR_PARSE, file, "'first' is no base64 text");
    }
    data[at++] = (unsigned char)(d[0] << 2 | d[1] >> 4);
    if (d[2] >= 0)
      data[at++] = (unsigned char)(d[1] << 4 | d[2] >> 2);
    if (d[3] >= 0)
      data[at++] = (unsigned char)(d[2] << 6 | d[3]);
  }
  r->n_first = at / sizeof(float);
  if (!(r->first = tc__alloc(r->n_first * sizeof(float) + 1))) {
    tc__free(data);
    return tc__oom();
  }
  memcpy(r->first, data, r->n_first * sizeof(float));
  tc__free(data);
  return TC_OK;
}

static bool exists(const char *path) {
  struct stat st;
  return stat(path, &st) == 0;
}

static tc_status read_output(const tc__fixture *f, const char *file, const json_t *entry, size_t i, reference *r) {
  TC_TRY(read_type(file, entry, &r->type));
  r->l2 = json_number_value(json_object_get(entry, "l2"));
  r->mean = json_number_value(json_object_get(entry, "mean"));
  const char *first = json_string_value(json_object_get(entry, "first"));
  if (first)
    TC_TRY(decode_first(file, first, r));
  char path[4096];
  snprintf(path, sizeof path, "%s/output%zu.npy", f->dir, i);
  return exists(path) ? tc__npy_read(path, &r->whole) : TC_OK;
}

static tc_status read_fixture(tc__fixture *f, const char *file, const json_t *root) {
  const json_t *inputs = json_object_get(root, "inputs"), *outputs = json_object_get(root, "outputs");
  if (!json_is_array(inputs) || json_array_size(inputs) > MAX_FIXTURE_IO)
    return tc__error(TC_ERR_PARSE, file, "'inputs' is no list of at most %d", MAX_FIXTURE_IO);
  if (!json_is_array(outputs) || json_array_size(outputs) > MAX_FIXTURE_IO)
    return tc__error(TC_ERR_UNSUPPORTED, file, "'outputs' is no list of at most %d (a training fixture?)", MAX_FIXTURE_IO);
  const json_t *rtol = json_object_get(root, "rtol");
  f->rtol = json_is_number(rtol) ? json_number_value(rtol) : 1e-5;
  f->inputs = tc__calloc(json_array_size(inputs) + 1, sizeof *f->inputs);
  f->outputs = tc__calloc(json_array_size(outputs) + 1, sizeof *f->outputs);
  if (!f->inputs || !f->outputs)
    return tc__oom();
  for (; f->n_inputs < json_array_size(inputs); f->n_inputs++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/input%zu.npy", f->dir, f->n_inputs);
    tc__buffer *in = &f->inputs[f->n_inputs];
    // By the rule where there is one: the .npy of an input that the model mutates was written after the reference run.
    const json_t *entry = json_array_get(inputs, f->n_inputs);
    bool ruled = json_is_string(json_object_get(entry, "rule"));
    tc_status status = ruled || !exists(path) ? make_input(file, entry, f->n_inputs, in) : tc__npy_read(path, in);
    if (status != TC_OK) {
      f->n_inputs++; // what it allocated is freed
      return status;
    }
  }
  for (; f->n_outputs < json_array_size(outputs); f->n_outputs++) {
    tc_status status = read_output(f, file, json_array_get(outputs, f->n_outputs), f->n_outputs, &f->outputs[f->n_outputs]);
    if (status != TC_OK) {
      f->n_outputs++;
      return status;
    }
  }
  return TC_OK;
}

tc_status tc__fixture_open(const char *dir, tc__fixture **out) {
  *out = NULL;
  char file[4096];
  snprintf(file, sizeof file, "%s/reference.json", dir);
  json_t *root;
  TC_TRY(tc__json_read(file, &root));
  tc__fixture *f = tc__calloc(1, sizeof *f);
  tc_status status = f && (f->dir = tc__strdup(dir)) ? TC_OK : tc__oom();
  if (status == TC_OK)
    status = read_fixture(f, file, root);
  json_decref(root);
  if (status != TC_OK) {
    tc__fixture_close(f);
    return status;
  }
  *out = f;
  return TC_OK;
}

void tc__fixture_close(tc__fixture *f) {
  if (!f)
    return;
  for (size_t i = 0; i < f->n_inputs; i++)
    tc__aligned_free(f->inputs[i].data);
  for (size_t i = 0; i < f->n_outputs; i++) {
    tc__free(f->outputs[i].first);
    tc__aligned_free(f->outputs[i].whole.data);
  }
  tc__free(f->inputs);
  tc__free(f->outputs);
  tc__free(f->dir);
  tc__free(f);
}

const tc__buffer *tc__fixture_inputs(const tc__fixture *f) { return f->inputs; }
size_t tc__fixture_n_inputs(const tc__fixture *f) { return f->n_inputs; }
size_t tc__fixture_n_outputs(const tc__fixture *f) { return f->n_outputs; }
const tc__type *tc__fixture_output_type(const tc__fixture *f, size_t i) { return &f->outputs[i].type; }
double tc__fixture_rtol(const tc__fixture *f) { return f->rtol; }

// The relative error of one output, infinite where values that must be equal are not.
static double compare_output(const reference *r, const tc__buffer *got) {
  int64_t n = tc__type_elements(&got->type);
  bool exact = !tc_dtype_is_float(got->type.dtype);
  double difference = 0, norm = 0, l2 = 0, sum = 0;
  size_t known = r->whole.data ? (size_t)n : r->n_first < (size_t)n ? r->n_first : (size_t)n;
  for (int64_t i = 0; i < n; i++) {
    double x = load(got, i);
    l2 += x * x;
    sum += x;
    if ((size_t)i >= known)
      continue;
    double want = r->whole.data ? load(&r->whole, i) : r->first[i];
    if (x == want || (isnan(x) && isnan(want)))
      x = want = isfinite(want) ? want : 0; // equal infinities and NaNs count as no difference
    if (exact && x != want)
      return INFINITY;
    difference += (x - want) * (x - want);
    norm += want * want;
  }
  double error = norm > 0 ? sqrt(difference / norm) : difference > 0 ? INFINITY : 0;
  if (exact || !isfinite(r->l2) || n == 0 || known == (size_t)n)
    return error;
  // What lies past the known values, by the norm of the whole.
  double by_norm = r->l2 > 0 ? fabs(sqrt(l2) - r->l2) / r->l2 : sqrt(l2);
  double by_mean = r->l2 > 0 ? fabs(sum / (double)n - r->mean) * sqrt((double)n) / r->l2 : 0;
  error = by_norm > error ? by_norm : error;
  return by_mean > error ? by_mean : error;
}

tc_status tc__fixture_compare(const tc__fixture *f, const tc__buffer *outputs, size_t n, double rtol_override, double *out_rel_err,
                              tc__str *message) {
  double rtol = rtol_override > 0 ? rtol_override : f->rtol, worst = 0;
  tc_status status = TC_OK;
  tc__str ignored = {0};
  tc__str *text = message ? message : &ignored;
  if (n < f->n_outputs) {
    tc__str_printf(text, "expected %zu outputs, found %zu", f->n_outputs, n);
    status = TC_ERR_SHAPE_MISMATCH;
  }
  for (size_t i = 0; i < f->n_outputs && i < n; i++) {
    char want[160], got[160];
    if (!tc__type_equal(&f->outputs[i].type, &outputs[i].type)) {
      tc__str_printf(text, "%soutput %zu: expected %s, found %s", text->size ? "; " : "", i,
                     tc__type_format(&f->outputs[i].type, want, sizeof want), tc__type_format(&outputs[i].type, got, sizeof got));
      status = f->outputs[i].type.dtype != outputs[i].type.dtype ? TC_ERR_DTYPE_MISMATCH : TC_ERR_SHAPE_MISMATCH;
      continue;
    }
    double error = compare_output(&f->outputs[i], &outputs[i]);
    worst = error > worst || isnan(error) ? error : worst;
    if (error <= rtol)
      continue;
    tc__str_printf(text, "%soutput %zu: relative error %.2e, allowed %.1e", text->size ? "; " : "", i, error, rtol);
    if (status == TC_OK)
      status = TC_ERR_MISMATCH;
  }
  if (out_rel_err)
    *out_rel_err = worst;
  tc__str_free(&ignored);
  return status;
}

// The pass table as MLIR external passes, and pipelines that mix ours with upstream's.
#include "pass.h"

#include <ctype.h>
#include <stdio.h>

static const tc__pass_info table[] = {
#define TC_PASS(name, function, summary, options) {name, function, summary, options},
#include "passes.def"
#undef TC_PASS
};

typedef struct upstream_pass {
  const char *name, *anchor;
  bool pipeline;
  const char *summary;
} upstream_pass;

static const upstream_pass upstream[] = {
#define UPSTREAM_PASS(name, anchor, pipeline, summary) {name, anchor, pipeline, summary},
#include "upstream_passes.inc"
#undef UPSTREAM_PASS
};

const tc__pass_info *tc__pass_table(size_t *out_count) {
  *out_count = TC_COUNTOF(table);
  return table;
}

const tc__pass_info *tc__pass_find(const char *name) {
  for (size_t i = 0; i < TC_COUNTOF(table); i++)
    if (strcmp(table[i].name, name) == 0)
      return &table[i];
  return NULL;
}

bool tc__upstream_pass(size_t i, const char **out_name, const char **out_summary) {
  if (i >= TC_COUNTOF(upstream))
    return false;
  *out_name = upstream[i].name;
  *out_summary = upstream[i].summary;
  return true;
}

static const upstream_pass *find_upstream(const char *name) {
  for (size_t i = 0; i < TC_COUNTOF(upstream); i++)
    if (strcmp(upstream[i].name, name) == 0)
      return &upstream[i];
  return NULL;
}

// ---- options: "key=value key=value"
// -----------------------------------------------------------------------------------------------------------

// The value of key in text; false when it is not there.
static bool find_option(const char *text, const char *key, char *buf, size_t size) {
  size_t n = strlen(key);
  for (const char *at = text; at && *at;) {
    while (*at == ' ')
      at++;
    size_t token = strcspn(at, " ");
    if (token >= n && strncmp(at, key, n) == 0 && (token == n || at[n] == '=')) {
      size_t value = token > n ? token - n - 1 : 0;
      snprintf(buf, size, "%.*s", (int)value, at + n + 1 - (token == n));
      return true;
    }
    at += token;
  }
  return false;
}

int64_t tc__pass_option_int(const tc__pass_options *o, const char *key, int64_t otherwise) {
  char value[32];
  return find_option(o->text, key, value, sizeof value) ? strtoll(value, NULL, 10) : otherwise;
}

bool tc__pass_option_bool(const tc__pass_options *o, const char *key, bool otherwise) {
  char value[32];
  if (!find_option(o->text, key, value, sizeof value))
    return otherwise;
  return !*value || strcmp(value, "true") == 0 || strcmp(value, "1") == 0;
}

const char *tc__pass_option_str(const tc__pass_options *o, const char *key, const char *otherwise, char *buf, size_t size) {
  if (!find_option(o->text, key, buf, size))
    snprintf(buf, size, "%s", otherwise);
  return buf;
}

// The row's options as "key:kind=default:help;...": names and kinds of what was given are checked against it.
static tc_status check_options(const tc__pass_info *info, const char *text) {
  char keys[8][32], kinds[8][8];
  const char *names[8];
  size_t n = 0;
  for (const char *at = info->options; *at && n < 8;) {
    size_t key = strcspn(at, ":");
    snprintf(keys[n], sizeof keys[n], "%.*s", (int)key, at);
    names[n] = keys[n];
    at += key + 1;
    snprintf(kinds[n], sizeof kinds[n], "%.*s", (int)strcspn(at, "="), at);
    n++;
    at += strcspn(at, ";");
    at += *at == ';';
  }
  for (const char *at = text; *at;) {
    while (*at == ' ')
      at++;
    if (!*at)
      break;
    size_t token = strcspn(at, " "), key = strcspn(at, "= ");
    char name[64], value[128];
    snprintf(name, sizeof name, "%.*s", (int)key, at);
    snprintf(value, sizeof value, "%.*s", token > key ? (int)(token - key - 1) : 0, at + key + (token > key));
    size_t found = n;
    for (size_t i = 0; i < n; i++)
      if (strcmp(keys[i], name) == 0)
        found = i;
    if (found == n) {
      const char *near = tc__did_you_mean(name, names, n);
      return near ? tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "pass '%s' has no option '%s', did you mean '%s'?", info->name, name,
                              near)
                  : tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "pass '%s' has no option '%s'", info->name, name);
    }
    char *end = value;
    if (strcmp(kinds[found], "int") == 0 && (strtoll(value, &end, 10), *end || end == value))
      return tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "option '%s' of pass '%s': '%s' is no integer", name, info->name, value);
    if (strcmp(kinds[found], "bool") == 0 && *value && strcmp(value, "true") && strcmp(value, "false") && strcmp(value, "0") &&
        strcmp(value, "1"))
      return tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "option '%s' of pass '%s': '%s' is neither true nor false", name,
                       info->name, value);
    at += token;
  }
  return TC_OK;
}

// ---- external passes
// ----------------------------------------------------------------------------------------------------------------------------

typedef struct pass_use {
  const tc__pass_info *info;
  char *options;
} pass_use;

static void nothing(void *user) { (void)user; }

static void destroy_use(void *user) {
  pass_use *use = user;
  tc__free(use->options);
  tc__free(use);
}

static pass_use *create_use(const tc__pass_info *info, const char *options) {
  pass_use *use = tc__calloc(1, sizeof *use);
  if (!use)
    return NULL;
  use->info = info;
  if (!(use->options = tc__strdup(options))) {
    tc__free(use);
    return NULL;
  }
  return use;
}

static void *clone_use(void *user) { return create_use(((pass_use *)user)->info, ((pass_use *)user)->options); }

static void run_use(MlirOperation op, MlirExternalPass pass, void *user) {
  const pass_use *use = user;
  tc__pass_options options = {use->options};
  if (use->info->run(op, &options) != TC_OK || tc__verify(op) != TC_OK)
    mlirExternalPassSignalFailure(pass);
}

MlirPass tc__pass_create(MlirContext ctx, const tc__pass_info *info, const char *options) {
  (void)ctx;
  static _Alignas(16) char ids[TC_COUNTOF(table)][16]; // a TypeID is an address
  pass_use *use = create_use(info, options ? options : "");
  if (!use)
    return (MlirPass){NULL};
  MlirExternalPassCallbacks callbacks = {.construct = nothing, .destruct = destroy_use, .clone = clone_use, .run = run_use};
  return mlirCreateExternalPass(mlirTypeIDCreate(ids[info - table]), tc__sref(info->name), tc__sref(info->name),
                                tc__sref(info->summary), tc__sref("builtin.module"), 0, NULL, callbacks, use);
}

// ---- pipelines
// ------------------------------------------------------------------------------------------------------------------------------------

static void append_error(MlirStringRef text, void *user) { tc__str_append_n(user, text.data, text.length); }

static tc_status add_upstream(MlirOpPassManager pm, const char *text) {
  tc__str error = {0};
  tc_status status = TC_OK;
  if (mlirLogicalResultIsFailure(mlirOpPassManagerAddPipeline(pm, tc__sref(text), append_error, &error))) {
    while (error.size && isspace((unsigned char)error.data[error.size - 1]))
      error.data[--error.size] = 0;
    status = tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "pipeline '%s': %s", text, error.size ? error.data : "not accepted");
  }
  tc__str_free(&error);
  return status;
}

static tc_status unknown_pass(const char *name) {
  const char *names[TC_COUNTOF(table) + TC_COUNTOF(upstream) + 32];
  size_t n = 0;
  for (size_t i = 0; i < TC_COUNTOF(table); i++)
    names[n++] = table[i].name;
  for (size_t i = 0; tc__pipeline_name(i) && i < 32; i++)
    names[n++] = tc__pipeline_name(i);
  for (size_t i = 0; i < TC_COUNTOF(upstream); i++)
    names[n++] = upstream[i].name;
  const char *near = tc__did_you_mean(name, names, n);
  return near ? tc__error(TC_ERR_NOT_FOUND, NULL, "unknown pass or pipeline '%s', did you mean '%s'?", name, near)
              : tc__error(TC_ERR_NOT_FOUND, NULL, "unknown pass or pipeline '%s'", name);
}

// The length of one element: up to a comma outside of braces and parentheses; 0 when they do not match.
size_t tc__pipeline_element_length(const char *text) {
  int depth = 0;
  size_t i = 0;
  for (; text[i]; i++) {
    if (text[i] == '(' || text[i] == '{' || text[i] == '[')
      depth++;
    else if ((text[i] == ')' || text[i] == '}' || text[i] == ']') && --depth < 0)
      return 0;
    else if (text[i] == ',' && depth == 0)
      break;
  }
  return depth ? 0 : i;
}

// Copies the name in front of an element's "(" or "{" and returns its length in the element.
static size_t element_name(const char *element, char *buf, size_t size) {
  size_t n = strcspn(element, "({,)}"), begin = strspn(element, " \t\n"), end = n;
  while (end > begin && isspace((unsigned char)element[end - 1]))
    end--;
  snprintf(buf, size, "%.*s", end > begin ? (int)(end - begin) : 0, element + begin);
  return n;
}

// The names of the passes inside "func.func(...)" (text is what is between the brackets, anchor what is before them), so that a
// mistyped one gets the same help as at the top; what else may be wrong is MLIR's parser's to say.
static tc_status check_nested(const char *anchor, const char *text, int depth) {
  enum { MAX_DEPTH = 64 };
  if (depth == MAX_DEPTH)
    return tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "the pipeline is nested more than %d deep", (int)MAX_DEPTH);
  while (*text && *text != ')') {
    char name[128];
    size_t n = element_name(text, name, sizeof name), length = 0;
    for (int open = 0; text[length] && (open || (text[length] != ',' && text[length] != ')')); length++)
      open += (text[length] == '(' || text[length] == '{') - (text[length] == ')' || text[length] == '}');
    if (text[n] == '(')
      TC_TRY(check_nested(name, text + n + 1, depth + 1));
    else if (tc__pass_find(name) || tc__pipeline_text(name))
      return tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "'%s' runs on builtin.module and cannot be nested in '%s'", name, anchor);
    else if (*name && !find_upstream(name))
      return unknown_pass(name);
    text += length;
    text += *text == ',';
  }
  return TC_OK;
}

static tc_status parse_elements(MlirPassManager pm, const char *text, int depth);

static tc_status parse_element(MlirPassManager pm, const char *element, int depth) {
  MlirOpPassManager root = mlirPassManagerGetAsOpPassManager(pm);
  char name[128];
  size_t n = element_name(element, name, sizeof name);
  if (!*name)
    return tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "pipeline '%s': a pass name or an op name was expected", element);
  size_t end = strlen(element);
  while (end && isspace((unsigned char)element[end - 1]))
    end--;
  if (element[n] == '(') {
    bool module = strcmp(name, "builtin.module") == 0 && depth == 0 && element[end - 1] == ')';
    if (!module) {
      TC_TRY(check_nested(name, element + n + 1, 0));
      return add_upstream(root, element);
    }
    char *inner = tc__strndup(element + n + 1, end > n + 2 ? end - n - 2 : 0);
    if (!inner)
      return tc__oom();
    tc_status status = parse_elements(pm, inner, depth + 1);
    tc__free(inner);
    return status;
  }
  if (element[n] == '{' && element[end - 1] != '}')
    return tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "pipeline '%s': text after the options", element);
  char *options = tc__strdup("");
  if (element[n] == '{' && end > n + 1) {
    tc__free(options);
    options = tc__strndup(element + n + 1, end - n - 2);
  }
  if (!options)
    return tc__oom();
  const tc__pass_info *info = tc__pass_find(name);
  const char *pipeline = tc__pipeline_text(name);
  const upstream_pass *other = find_upstream(name);
  tc_status status;
  if (info) {
    status = check_options(info, options);
    if (status == TC_OK) {
      MlirPass pass = tc__pass_create((MlirContext){NULL}, info, options);
      if (pass.ptr)
        mlirPassManagerAddOwnedPass(pm, pass);
      else
        status = tc__oom();
    }
  } else if (pipeline && depth < 8) {
    status = *options ? tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "pipeline '%s' takes no options", name)
                      : parse_elements(pm, pipeline, depth + 1);
  } else if (other) {
    tc__str wrapped = {0};
    if (*other->anchor)
      tc__str_printf(&wrapped, "%s(%s)", other->anchor, element);
    else
      tc__str_append(&wrapped, element);
    status = wrapped.oom ? tc__oom() : add_upstream(root, wrapped.data);
    tc__str_free(&wrapped);
  } else {
    status = unknown_pass(name);
  }
  tc__free(options);
  return status;
}

static tc_status parse_elements(MlirPassManager pm, const char *text, int depth) {
  while (isspace((unsigned char)*text))
    text++;
  while (*text) {
    size_t n = tc__pipeline_element_length(text);
    if (n == 0)
      return tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "pipeline '%s': an empty element or unmatched brackets", text);
    char *element = tc__strndup(text, n);
    if (!element)
      return tc__oom();
    tc_status status = parse_element(pm, element, depth);
    tc__free(element);
    TC_TRY(status);
    text += n;
    if (*text == ',' && !*++text)
      return tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "the pipeline ends in a comma");
    while (isspace((unsigned char)*text))
      text++;
  }
  return TC_OK;
}

// Our pipelines' names replaced by their texts, builtin.module( ) stripped, spaces around elements too.
static tc_status flatten(const char *text, int depth, tc__str *out) {
  text += strspn(text, " \t\n");
  while (*text) {
    size_t n = tc__pipeline_element_length(text), end = n;
    if (n == 0)
      return tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "pipeline '%s': an empty element or unmatched brackets", text);
    while (end && isspace((unsigned char)text[end - 1]))
      end--;
    char *element = tc__strndup(text, end);
    if (!element)
      return tc__oom();
    tc_status status = TC_OK;
    const char *named = tc__pipeline_text(element), *module = "builtin.module(";
    if (strncmp(element, module, strlen(module)) == 0 && depth == 0 && element[end - 1] == ')') {
      element[end - 1] = 0;
      status = flatten(element + strlen(module), depth + 1, out);
    } else if (named && depth < 8) {
      status = flatten(named, depth + 1, out);
    } else {
      if (out->size)
        tc__str_append(out, ",");
      tc__str_append(out, element);
    }
    tc__free(element);
    TC_TRY(status);
    text += n;
    if (*text == ',' && !*++text)
      return tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "the pipeline ends in a comma");
    text += strspn(text, " \t\n");
  }
  return out->oom ? tc__oom() : TC_OK;
}

tc_status tc__pipeline_flatten(const char *text, tc__str *out) { return flatten(text, 0, out); }

tc_status tc__pipeline_parse(MlirPassManager pm, const char *text) { return parse_elements(pm, text, 0); }

tc_status tc__pipeline_run(MlirOperation module, const char *text) {
  MlirPassManager pm = mlirPassManagerCreate(mlirOperationGetContext(module));
  tc_status status = tc__pipeline_parse(pm, text);
  if (status == TC_OK && mlirLogicalResultIsFailure(mlirPassManagerRunOnOp(pm, module)))
    status = TC_ERR_COMPILE; // the pass reported why
  mlirPassManagerDestroy(pm);
  return status;
}

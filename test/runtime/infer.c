// The shape rules against what PyTorch 2 gives for the same call, and the messages of what does not fit.
// RUN: test-runtime-infer | FileCheck %s
// CHECK-NOT: FAIL
// CHECK: ok
#include "tc/tc_op.h"

#include <stdio.h>

typedef struct test_case {
  tc_op_kind kind;
  const char *operands; ///< "f32[2,3] i64[?]"
  const char *attrs;    ///< "dim=1 dims=[0,2] keepdim=true eps=0.5 mode=linear dtype=i64"
  const char *expected; ///< result types, or "! " and a part of the message
} test_case;

#define OK(op, operands, attrs, results) {TC_OP_##op, operands, attrs, results},
#define BAD(op, operands, attrs, message) {TC_OP_##op, operands, attrs, "! " message},
static const test_case cases[] = {
#include "infer_cases.def"
};

static bool parse_type(const char **at, tc__type *out) {
  *out = (tc__type){0};
  int dtype = 0;
  size_t n = strcspn(*at, "[");
  while (dtype < TC_DTYPE_COUNT &&
         (strlen(tc_dtype_name((tc_dtype)dtype)) != n || memcmp(tc_dtype_name((tc_dtype)dtype), *at, n) != 0))
    dtype++;
  if (dtype == TC_DTYPE_COUNT)
    return false;
  out->dtype = (tc_dtype)dtype;
  for (*at += n + 1; **at != ']'; *at += **at == ',') {
    char *end = (char *)*at + 1;
    out->shape[out->rank++] = **at == '?' ? TC__DYNAMIC : strtoll(*at, &end, 10);
    *at = end;
  }
  ++*at;
  *at += strspn(*at, " ");
  return true;
}

typedef struct parsed_attrs {
  tc__attr items[16];
  char text[16][32];
  int64_t ints[16][16];
  double floats[16][16];
  tc__attrs attrs;
} parsed_attrs;

static const char *class_of(const tc__op_info *info, const char *name) {
  for (int i = 0; i < info->n_attrs; i++)
    if (strcmp(info->attrs[i].name, name) == 0)
      return info->attrs[i].cls;
  return "?";
}

static bool parse_attrs(const tc__op_info *info, const char *at, parsed_attrs *out) {
  static char names[16][24];
  size_t n = 0;
  for (; *at; at += strspn(at, " "), n++) {
    size_t length = strcspn(at, "=");
    snprintf(names[n], sizeof names[n], "%.*s", (int)length, at);
    at += length + 1;
    size_t size = strcspn(at, " ");
    snprintf(out->text[n], sizeof out->text[n], "%.*s", (int)size, at);
    const char *cls = class_of(info, names[n]), *text = out->text[n];
    tc__attr *a = &out->items[n];
    *a = (tc__attr){.name = names[n]};
    if (*text == '[') {
      bool floats = cls[0] == 'f';
      for (const char *p = text + 1; *p != ']'; p += *p == ',') {
        char *end;
        out->ints[n][a->count] = strtoll(p, &end, 10);
        if (floats)
          out->floats[n][a->count] = strtod(p, &end);
        a->count++;
        p = end;
      }
      a->kind = floats ? TC__ATTR_FLOATS : TC__ATTR_INTS;
      a->ints = out->ints[n];
      a->floats = out->floats[n];
    } else if (strcmp(cls, "bool") == 0) {
      a->kind = TC__ATTR_BOOL;
      a->i = strcmp(text, "true") == 0;
    } else if (strcmp(cls, "str") == 0) {
      a->kind = TC__ATTR_STR;
      a->s = text;
    } else if (strcmp(cls, "type") == 0) {
      a->kind = TC__ATTR_DTYPE;
      for (a->i = 0; a->i < TC_DTYPE_COUNT && strcmp(tc_dtype_name((tc_dtype)a->i), text) != 0; a->i++)
        ;
    } else if (strcmp(cls, "elements") == 0) {
      char wide[40];
      snprintf(wide, sizeof wide, "%s", text);
      for (char *p = wide; *p; p++) // f32(2,3): brackets mean a list here
        *p = *p == '(' ? '[' : *p == ')' ? ']' : *p;
      const char *p = wide;
      a->kind = TC__ATTR_TENSOR;
      if (!parse_type(&p, &a->tensor.type))
        return false;
    } else if (strcmp(cls, "i64") == 0 || (strcmp(cls, "num") == 0 && !strpbrk(text, ".e"))) {
      a->kind = TC__ATTR_INT;
      a->i = strtoll(text, NULL, 10);
    } else if (strcmp(cls, "f64") == 0 || strcmp(cls, "num") == 0) {
      a->kind = TC__ATTR_FLOAT;
      a->f = strtod(text, NULL);
    } else {
      return false;
    }
    at += size;
  }
  out->attrs = (tc__attrs){out->items, n};
  return true;
}

static int run(const test_case *t) {
  tc__type operands[8], results[2], want;
  size_t n = 0, n_results;
  parsed_attrs attrs;
  char err[512], got[320];
  const tc__op_info *info = tc__op_info_get(t->kind);
  for (const char *at = t->operands; *at; n++)
    if (!parse_type(&at, &operands[n]))
      return printf("FAIL %s: cannot read operands '%s'\n", info->name, at), 1;
  if (!parse_attrs(info, t->attrs, &attrs))
    return printf("FAIL %s: cannot read attributes '%s'\n", info->name, t->attrs), 1;
  tc_status status = tc__op_infer(t->kind, operands, n, &attrs.attrs, results, &n_results, err, sizeof err);
  if (t->expected[0] == '!') {
    if (status == TC_OK || !strstr(err, t->expected + 2))
      return printf("FAIL %s(%s) {%s}: expected the error '%s', found '%s'\n", info->name, t->operands, t->attrs, t->expected + 2,
                    status == TC_OK ? "no error" : err),
             1;
    return 0;
  }
  if (status != TC_OK)
    return printf("FAIL %s(%s) {%s}: %s\n", info->name, t->operands, t->attrs, err), 1;
  const char *at = t->expected;
  for (size_t i = 0; i < n_results; i++)
    if (!parse_type(&at, &want) || !tc__type_equal(&want, &results[i]))
      return printf("FAIL %s(%s) {%s}: expected %s, result %zu is %s\n", info->name, t->operands, t->attrs, t->expected, i,
                    tc__type_format(&results[i], got, sizeof got)),
             1;
  return *at ? printf("FAIL %s: only %zu results\n", info->name, n_results), 1 : 0;
}

int main(void) {
  int failures = 0;
  bool covered[TC_OP_COUNT] = {false};
  for (size_t i = 0; i < TC_COUNTOF(cases); i++) {
    failures += run(&cases[i]);
    covered[cases[i].kind] |= cases[i].expected[0] != '!';
  }
  for (int i = 0; i < TC_OP_COUNT; i++)
    if (!covered[i] && !(tc__op_info_get((tc_op_kind)i)->traits & TC_TRAIT_POINTWISE)) {
      printf("FAIL no case for %s\n", tc__op_info_get((tc_op_kind)i)->name);
      failures++;
    }
  // Pointwise rows: every one on its broadcast operands.
  for (int i = 0; i < TC_OP_COUNT; i++) {
    const tc__op_info *info = tc__op_info_get((tc_op_kind)i);
    tc__type operands[3] = {{TC_F32, 3, {2, 1, 4}}, {TC_F32, 2, {3, 1}}, {TC_F32, 0, {0}}}, results[2];
    size_t n;
    char err[512] = "";
    if (!(info->traits & TC_TRAIT_POINTWISE) || info->n_attrs)
      continue;
    const char *cls = info->operands[info->n_operands - 1].cls;
    for (int k = 0; k < 3; k++)
      operands[k].dtype = strstr(cls, "int") ? TC_I32 : TC_F32;
    if (info->family == TC_FAMILY_SELECT)
      operands[0].dtype = TC_BOOL;
    bool boolean = info->family == TC_FAMILY_COMPARE || info->family == TC_FAMILY_LOGICAL;
    tc__type want = {boolean ? TC_BOOL : operands[1].dtype, 3, {2, info->n_operands > 1 ? 3 : 1, 4}};
    if (tc__op_infer(info->kind, operands, (size_t)info->n_operands, NULL, results, &n, err, sizeof err) != TC_OK ||
        !tc__type_equal(&results[0], &want)) {
      printf("FAIL %s: %s\n", info->name, err);
      failures++;
    }
  }
  printf(failures ? "%d of %zu shape rule cases failed\n" : "ok: %2$zu shape rule cases\n", failures, TC_COUNTOF(cases));
  return failures != 0;
}

// The op table, parsed once from the specs of tc_ops.def.
#include "tc_op.h"

#include <pthread.h>
#include <stdio.h>

typedef struct row {
  const char *name, *operands, *results, *attributes, *doc;
  tc_op_family family;
  unsigned traits;
} row;

enum { P = TC_TRAIT_POINTWISE, C = TC_TRAIT_COMMUTATIVE, D = TC_TRAIT_COMPOSITE };

static const row rows[] = {
#define TC_OP(name, family, traits, operands, results, attributes, rule, doc)                                                    \
  {#name, operands, results, attributes, doc, TC_FAMILY_##family, traits},
#include "tc_ops.def"
#undef TC_OP
};

static tc__op_info infos[TC_OP_COUNT];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void copy(char *to, size_t size, const char *from, size_t n) {
  if (n >= size)
    n = size - 1;
  memcpy(to, from, n);
  to[n] = 0;
}

// "name", "name:class", "name:class=default", with ? or * after the name or the class.
static void parse_field(const char *text, size_t n, const char *otherwise, tc__op_field *out) {
  memset(out, 0, sizeof *out);
  const char *end = text + n, *equals = memchr(text, '=', n), *spec_end = equals ? equals : end;
  const char *colon = memchr(text, ':', (size_t)(spec_end - text)), *name_end = colon ? colon : spec_end;
  if (equals)
    copy(out->fallback, sizeof out->fallback, equals + 1, (size_t)(end - equals - 1));
  copy(out->name, sizeof out->name, text, (size_t)(name_end - text));
  copy(out->cls, sizeof out->cls, colon ? colon + 1 : otherwise, colon ? (size_t)(spec_end - colon - 1) : strlen(otherwise));
  char *parts[] = {out->name, out->cls};
  for (int i = 0; i < 2; i++) {
    size_t last = strlen(parts[i]);
    if (last && (parts[i][last - 1] == '?' || parts[i][last - 1] == '*')) {
      out->optional |= parts[i][last - 1] == '?';
      out->variadic |= parts[i][last - 1] == '*';
      parts[i][last - 1] = 0;
    }
  }
}

static int parse_fields(const char *spec, const char *otherwise, tc__op_field *out, int max) {
  int count = 0;
  while (*spec && count < max) {
    while (*spec == ' ' || *spec == ',')
      spec++;
    size_t n = strcspn(spec, ",");
    if (n)
      parse_field(spec, n, otherwise, &out[count++]);
    spec += n;
  }
  return count;
}

static void parse_table(void) {
  for (int i = 0; i < TC_OP_COUNT; i++) {
    tc__op_info *info = &infos[i];
    info->kind = (tc_op_kind)i;
    info->name = rows[i].name;
    info->family = rows[i].family;
    info->traits = rows[i].traits;
    info->doc = rows[i].doc;
    info->n_operands = parse_fields(rows[i].operands, "any", info->operands, TC__MAX_FIELDS);
    info->n_results = parse_fields(rows[i].results, "any", info->results, 2);
    info->n_attrs = parse_fields(rows[i].attributes, "any", info->attrs, TC__MAX_FIELDS);
  }
}

const tc__op_info *tc__op_info_get(tc_op_kind kind) {
  pthread_once(&once, parse_table);
  return &infos[kind];
}

tc_op_kind tc__op_kind_from_name(const char *name, size_t size) {
  for (int i = 0; i < TC_OP_COUNT; i++)
    if (strlen(rows[i].name) == size && memcmp(rows[i].name, name, size) == 0)
      return (tc_op_kind)i;
  return TC_OP_COUNT;
}

const char *tc__op_suggest(const char *name) {
  const char *names[TC_OP_COUNT];
  for (int i = 0; i < TC_OP_COUNT; i++)
    names[i] = rows[i].name;
  return tc__did_you_mean(name, names, TC_OP_COUNT);
}

// Attributes are not declared: IRDL knows only required ones, and the verifier of tc_verify.c says more. Only one operand group
// may vary in length without a segment attribute, so all optional operands form one trailing variadic. A constraint binds to the
// first type it meets, so each operand has one of its own, and the operands of a variadic group share one type: tc__build_tc sees
// to it (tensor.cast, tc.broadcast).
void tc__op_table_irdl(tc__str *out) {
  tc__str_append(out, "irdl.dialect @tc {\n");
  for (int i = 0; i < TC_OP_COUNT; i++) {
    const tc__op_info *info = tc__op_info_get((tc_op_kind)i);
    tc__str_printf(out, "  irdl.operation @%s {\n", info->name);
    int groups = 0;
    while (groups < info->n_operands && !info->operands[groups].optional && !info->operands[groups].variadic)
      groups++;
    groups += groups < info->n_operands;
    for (int k = 0; k < groups + info->n_results; k++)
      tc__str_printf(out, "    %%%d = irdl.any\n", k);
    if (groups) {
      tc__str_append(out, "    irdl.operands(");
      for (int k = 0; k < groups; k++) {
        bool rest = info->operands[k].optional || info->operands[k].variadic;
        tc__str_printf(out, "%s%s: %s%%%d", k ? ", " : "", info->operands[k].name, rest ? "variadic " : "", k);
      }
      tc__str_append(out, ")\n");
    }
    tc__str_append(out, "    irdl.results(");
    for (int k = 0; k < info->n_results; k++)
      tc__str_printf(out, "%s%s: %%%d", k ? ", " : "", info->results[k].name, groups + k);
    tc__str_append(out, ")\n  }\n");
  }
  tc__str_append(out, "}\n");
}

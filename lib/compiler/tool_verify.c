// --verify-diagnostics, as upstream's: a comment "expected-error @+1 {{text}}" names a diagnostic that must come, on a line relative to the
// comment (@+N, @-N, @above, @below, or an absolute @N), whose message contains text; {{...{{regex}}...}} parts are POSIX extended regular expressions.
#include "tool.h"

#include <regex.h>
#include <stdio.h>

typedef struct expectation {
  tc_severity severity;
  int line, at_line; // where the diagnostic is to be, and where the comment stands
  char *pattern;     // a POSIX regular expression
  bool regex, matched, any_line;
} expectation;

struct tc__expectations {
  expectation *items;
  size_t count;
  char *file;
  bool failed;
};

static void escape_append(tc__str *out, const char *text, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (strchr(".[]{}()\\*+?|^$", text[i]))
      tc__str_append(out, "\\");
    tc__str_append_n(out, &text[i], 1);
  }
}

// The text between the outer {{ }} (for -re: with inner {{regex}} parts) as one regular expression.
static char *make_pattern(const char *text, size_t n, bool regex) {
  tc__str out = {0};
  tc__str_append(&out, "");
  for (size_t i = 0; i < n;) {
    const char *open = regex ? strstr(text + i, "{{") : NULL;
    if (!open || open >= text + n) {
      escape_append(&out, text + i, n - i);
      break;
    }
    escape_append(&out, text + i, (size_t)(open - text) - i);
    const char *close = strstr(open + 2, "}}");
    if (!close || close > text + n)
      break;
    tc__str_append(&out, "(");
    tc__str_append_n(&out, open + 2, (size_t)(close - open - 2));
    tc__str_append(&out, ")");
    i = (size_t)(close - text) + 2;
  }
  return out.data;
}

static bool parse_comment(const char *at, int line, expectation *e) {
  static const char *const names[] = {"error", "warning", "note", "remark"};
  at += strlen("expected-");
  for (int i = 0; i < 4; i++) {
    size_t n = strlen(names[i]);
    if (strncmp(at, names[i], n) != 0)
      continue;
    e->severity = (tc_severity)i;
    at += n;
    if (strncmp(at, "-re", 3) == 0) {
      e->regex = true;
      at += 3;
    }
    while (*at == ' ')
      at++;
    e->line = e->at_line = line;
    if (*at == '@') {
      at++;
      if (strncmp(at, "above", 5) == 0)
        e->line--;
      else if (strncmp(at, "below", 5) == 0)
        e->line++;
      else if (strncmp(at, "unknown", 7) == 0)
        e->any_line = true;
      else if (*at == '+' || *at == '-')
        e->line += atoi(at);
      else
        e->line = atoi(at);
    }
    const char *open = strstr(at, "{{");
    const char *end_of_line = at + strcspn(at, "\n");
    if (!open || open >= end_of_line)
      return false;
    // The closing braces: with inner {{ }} pairs counted.
    int depth = 1;
    const char *p = open + 2;
    for (; p + 1 < end_of_line && depth; p++) {
      if (p[0] == '{' && p[1] == '{') {
        depth++;
        p++;
      } else if (p[0] == '}' && p[1] == '}') {
        depth--;
        p++;
      }
    }
    if (depth)
      return false;
    e->pattern = make_pattern(open + 2, (size_t)(p - open) - 4, e->regex);
    return e->pattern != NULL;
  }
  return false;
}

tc__expectations *tc__expectations_create(const char *text, int first_line, const char *file) {
  tc__expectations *e = tc__calloc(1, sizeof *e);
  if (!e || !(e->file = tc__strdup(file))) {
    tc__free(e);
    return NULL;
  }
  int line = first_line + 1;
  for (const char *at = text; *at; line++) {
    size_t n = strcspn(at, "\n");
    for (const char *found = at; (found = strstr(found, "expected-")) && found < at + n; found += 9) {
      expectation one = {0};
      if (!parse_comment(found, line, &one))
        continue;
      expectation *items = tc__realloc(e->items, sizeof *items * (e->count + 1));
      if (!items) {
        tc__free(one.pattern);
        break;
      }
      e->items = items;
      e->items[e->count++] = one;
    }
    at += n + (at[n] == '\n');
  }
  return e;
}

static bool matches(const expectation *e, const char *message) {
  regex_t re;
  if (regcomp(&re, e->pattern, REG_EXTENDED | REG_NOSUB) != 0)
    return false;
  bool found = regexec(&re, message, 0, NULL, 0) == 0;
  regfree(&re);
  return found;
}

static int line_of(const char *location) {
  const char *colon = strchr(location, ':');
  while (colon && !(colon[1] >= '0' && colon[1] <= '9'))
    colon = strchr(colon + 1, ':');
  return colon ? atoi(colon + 1) : 0;
}

void tc__expectations_handler(tc_severity severity, const char *location, const char *message, void *user) {
  tc__expectations *e = user;
  int line = line_of(location);
  for (size_t i = 0; i < e->count; i++) {
    expectation *x = &e->items[i];
    if (!x->matched && x->severity == severity && (x->any_line || x->line == line) && matches(x, message)) {
      x->matched = true;
      return;
    }
  }
  // Upstream's tool turns this note off here; the C API has no switch for it.
  if (severity == TC_SEVERITY_NOTE && strncmp(message, "see current operation", 21) == 0)
    return;
  static const char *const names[] = {"error", "warning", "note", "remark"};
  bool unnamed = strncmp(location, "-:", 2) == 0; // text that was not read from a file has "-" for its name
  fprintf(stderr, "%s%s: error: unexpected %s: %s\n", unnamed || !*location ? e->file : "", location + unnamed, names[severity], message);
  e->failed = true;
}

bool tc__expectations_finish(tc__expectations *e) {
  static const char *const names[] = {"error", "warning", "note", "remark"};
  bool ok = !e->failed;
  for (size_t i = 0; i < e->count; i++) {
    if (!e->items[i].matched) {
      fprintf(stderr, "%s:%d: error: expected %s \"%s\" was not produced\n", e->file, e->items[i].at_line, names[e->items[i].severity],
              e->items[i].pattern);
      ok = false;
    }
    tc__free(e->items[i].pattern);
  }
  tc__free(e->items);
  tc__free(e->file);
  tc__free(e);
  return ok;
}

#include "tool.h"

#include <stdio.h>

// ---- diagnostics ------------------------------------------------------------------------------------------------------------------------------

static const char *const severity_names[] = {"error", "warning", "note", "remark"};

// "file:12:3" -> the length of the file's name, the line and the column (0 when there is none).
static size_t split_location(const char *location, int *line, int *column) {
  size_t n = strlen(location);
  *line = *column = 0;
  int *numbers[2] = {column, line};
  size_t end = n;
  for (int i = 0; i < 2; i++) {
    size_t at = end;
    while (at && location[at - 1] >= '0' && location[at - 1] <= '9')
      at--;
    if (at == end || at == 0 || location[at - 1] != ':')
      break;
    *numbers[i] = atoi(location + at);
    end = at - 1;
  }
  if (*column && !*line) { // one number is a line
    *line = *column;
    *column = 0;
  }
  return end;
}

void tc__tool_print_diagnostic(tc_severity severity, const char *location, const char *message, void *user) {
  const tc__tool_diagnostics *d = user;
  char named[1024]; // text that was not read from a file has "-" for its name
  if (d->source_name && strncmp(location, "-:", 2) == 0) {
    snprintf(named, sizeof named, "%s%s", d->source_name, location + 1);
    location = named;
  }
  if (*location)
    fprintf(stderr, "%s: %s: %s\n", location, severity_names[severity], message);
  else
    fprintf(stderr, "%s: %s: %s\n", d->tool, severity_names[severity], message);
  int line, column;
  size_t n = split_location(location, &line, &column);
  if (!line || !d->source || !d->source_name || strlen(d->source_name) != n || strncmp(d->source_name, location, n) != 0)
    return;
  const char *at = d->source;
  for (int i = 1; i < line && at; i++) {
    at = strchr(at, '\n');
    at = at ? at + 1 : NULL;
  }
  if (!at)
    return;
  int length = (int)strcspn(at, "\n");
  fprintf(stderr, "%.*s\n", length, at);
  if (column > 0 && column <= length + 1)
    fprintf(stderr, "%*s^\n", column - 1, "");
}

// ---- options ------------------------------------------------------------------------------------------------------------------------------------

int tc__tool_option_match(const char *tool, const tc__tool_option *table, size_t count, int argc, char **argv, int *index, const char **out_value) {
  const char *arg = argv[*index], *equals = strchr(arg, '=');
  size_t n = equals ? (size_t)(equals - arg) : strlen(arg);
  char single[128]; // -name is taken as --name
  if (n > 2 && arg[0] == '-' && arg[1] != '-' && n + 2 < sizeof single) {
    snprintf(single, sizeof single, "-%.*s", (int)n, arg);
    n++;
  } else {
    snprintf(single, sizeof single, "%.*s", (int)n, arg);
  }
  for (size_t i = 0; i < count; i++) {
    if (strcmp(table[i].name, single) != 0)
      continue;
    *out_value = equals ? equals + 1 : NULL;
    if (table[i].kind == TC__TOOL_FLAG && equals) {
      fprintf(stderr, "%s: error: option '%s' takes no value\n", tool, table[i].name);
      return -1;
    }
    if (table[i].kind == TC__TOOL_VALUE && !equals) {
      if (*index + 1 >= argc) {
        fprintf(stderr, "%s: error: option '%s' needs a value\n", tool, table[i].name);
        return -1;
      }
      *out_value = argv[++*index];
    }
    return table[i].id;
  }
  return -2;
}

void tc__tool_unknown_option(const char *tool, const char *arg, const tc__tool_option *table, size_t count, bool with_passes) {
  enum { MAX = 1024 };
  const char *names[MAX], *near;
  size_t n = 0;
  char name[160];
  const char *bare = arg;
  while (*bare == '-')
    bare++;
  snprintf(name, sizeof name, "%.*s", (int)strcspn(bare, "="), bare);
  for (size_t i = 0; i < count && n < MAX; i++)
    if (strncmp(table[i].name, "--", 2) == 0)
      names[n++] = table[i].name + 2;
  if (with_passes) {
    size_t passes;
    const tc__pass_info *info = tc__pass_table(&passes);
    for (size_t i = 0; i < passes && n < MAX; i++)
      names[n++] = info[i].name;
    for (size_t i = 0; tc__pipeline_name(i) && n < MAX; i++)
      names[n++] = tc__pipeline_name(i);
    const char *summary;
    for (size_t i = 0; n < MAX && tc__upstream_pass(i, &names[n], &summary); i++)
      n++;
  }
  near = tc__did_you_mean(name, names, n);
  if (near)
    fprintf(stderr, "%s: error: unknown %s '%s', did you mean '--%s'?\n", tool, with_passes ? "pass or option" : "option", arg, near);
  else
    fprintf(stderr, "%s: error: unknown %s '%s' (see %s --help)\n", tool, with_passes ? "pass or option" : "option", arg, tool);
}

void tc__tool_print_options(const tc__tool_option *table, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (table[i].help)
      printf("  %-36s %s\n", table[i].name, table[i].help);
}

// ---- split input --------------------------------------------------------------------------------------------------------------------------------

tc_status tc__tool_split(const char *text, bool split, tc__tool_part_fn fn, void *user) {
  tc_status first = TC_OK;
  int line = 0, part_line = 0;
  const char *part = text;
  for (const char *at = text;;) {
    size_t n = strcspn(at, "\n");
    bool last = !at[n], marker = split && n >= 8 && strncmp(at, "// -----", 8) == 0;
    if (marker || last) {
      const char *end = marker ? at : at + n;
      tc_status status = fn(part, (size_t)(end - part), part_line, user);
      if (first == TC_OK)
        first = status;
      part = at + n + !last;
      part_line = line + 1;
    }
    if (last)
      return first;
    line++;
    at += n + 1;
  }
}

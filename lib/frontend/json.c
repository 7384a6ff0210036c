#include "frontend/json.h"

#include <math.h>

// Python's json module writes NaN, Infinity and -Infinity bare, which JSON does not have. Quotes them, outside strings only.
// Returns NULL with *out_size unchanged when there is nothing to do.
static char *quote_specials(const char *text, size_t size, size_t *out_size, bool *out_oom) {
  static const char *const words[] = {"-Infinity", "Infinity", "NaN"};
  size_t count = 0;
  char *copy = NULL;
  *out_oom = false;
  for (int round = 0; round < 2; ++round) {
    size_t at = 0;
    bool in_string = false;
    for (size_t i = 0; i < size;) {
      char c = text[i];
      size_t word = 0;
      if (in_string) {
        if (c == '\\' && i + 1 < size) {
          if (copy) {
            copy[at++] = c;
            copy[at++] = text[i + 1];
          }
          i += 2;
          continue;
        }
        in_string = c != '"';
      } else if (c == '"') {
        in_string = true;
      } else if (c == '-' || c == 'I' || c == 'N') {
        for (size_t w = 0; w < TC_COUNTOF(words) && !word; ++w) {
          size_t length = strlen(words[w]);
          if (size - i >= length && memcmp(text + i, words[w], length) == 0)
            word = length;
        }
      }
      if (!word) {
        if (copy)
          copy[at++] = c;
        ++i;
        continue;
      }
      if (copy) {
        copy[at++] = '"';
        memcpy(copy + at, text + i, word);
        at += word;
        copy[at++] = '"';
      } else {
        ++count;
      }
      i += word;
    }
    if (round == 0) {
      if (!count || count > (SIZE_MAX - size) / 2 - 1)
        return NULL;
      copy = tc__alloc(size + 2 * count + 1);
      if (!copy) {
        *out_oom = true;
        return NULL;
      }
    } else {
      copy[at] = 0;
      *out_size = at;
    }
  }
  return copy;
}

tc_status tc__json_parse(const char *name, const char *text, size_t size, json_t **out) {
  *out = NULL;
  bool oom = false;
  char *quoted = quote_specials(text, size, &size, &oom);
  if (oom)
    return tc__oom();
  json_error_t error;
  json_t *value = json_loadb(quoted ? quoted : text, size, JSON_REJECT_DUPLICATES, &error);
  tc__free(quoted);
  if (!value)
    return tc__error(TC_ERR_PARSE, name, "line %d, column %d: not valid JSON: %s", error.line, error.column, error.text);
  *out = value;
  return TC_OK;
}

tc_status tc__json_read(const char *path, json_t **out) {
  *out = NULL;
  char *text = NULL;
  size_t size = 0;
  TC_TRY(tc__read_file(path, &text, &size));
  tc_status status = tc__json_parse(path, text, size, out);
  tc__free(text);
  return status;
}

bool tc__json_number(const json_t *value, double *out) {
  if (json_is_number(value)) {
    *out = json_number_value(value);
    return true;
  }
  const char *text = json_string_value(value);
  if (!text)
    return false;
  if (strcmp(text, "NaN") == 0)
    *out = (double)NAN;
  else if (strcmp(text, "Infinity") == 0)
    *out = (double)INFINITY;
  else if (strcmp(text, "-Infinity") == 0)
    *out = -(double)INFINITY;
  else
    return false;
  return true;
}

bool tc__json_int(const json_t *value, int64_t *out) {
  if (!json_is_integer(value))
    return false;
  *out = (int64_t)json_integer_value(value);
  return true;
}

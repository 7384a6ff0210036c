// Text, hashes and whole files.
#include "base.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

// ---- growing text
// -----------------------------------------------------------------------------------------------------------------------

static bool reserve(tc__str *s, size_t more) {
  if (s->oom)
    return false;
  if (more >= SIZE_MAX / 2 - s->size) {
    s->oom = true;
    return false;
  }
  size_t need = s->size + more + 1;
  if (need <= s->capacity)
    return true;
  size_t capacity = s->capacity ? s->capacity : 64;
  while (capacity < need)
    capacity *= 2;
  char *data = tc__realloc(s->data, capacity);
  if (!data) {
    s->oom = true;
    return false;
  }
  s->data = data;
  s->capacity = capacity;
  return true;
}

void tc__str_append_n(tc__str *s, const char *text, size_t n) {
  if (!reserve(s, n))
    return;
  if (n)
    memcpy(s->data + s->size, text, n);
  s->size += n;
  s->data[s->size] = 0;
}

void tc__str_append(tc__str *s, const char *text) { tc__str_append_n(s, text, strlen(text)); }

void tc__str_vprintf(tc__str *s, const char *fmt, va_list args) {
  va_list again;
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, fmt, args);
  if (n >= 0 && reserve(s, (size_t)n)) {
    vsnprintf(s->data + s->size, (size_t)n + 1, fmt, again);
    s->size += (size_t)n;
  }
  va_end(again);
}

void tc__str_printf(tc__str *s, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  tc__str_vprintf(s, fmt, args);
  va_end(args);
}

void tc__str_free(tc__str *s) {
  tc__free(s->data);
  *s = (tc__str){0};
}

char *tc__strndup(const char *text, size_t n) {
  char *copy = tc__alloc(n + 1);
  if (copy) {
    if (n)
      memcpy(copy, text, n);
    copy[n] = 0;
  }
  return copy;
}

char *tc__strdup(const char *text) { return tc__strndup(text, strlen(text)); }

// ---- did you mean: Ratcliff/Obershelp, as Python's difflib
// ------------------------------------------------------------------------------

static size_t matching(const char *a, size_t n, const char *b, size_t m) {
  size_t best = 0, at = 0, bt = 0;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < m; j++) {
      size_t k = 0;
      while (i + k < n && j + k < m && a[i + k] == b[j + k])
        k++;
      if (k > best) {
        best = k;
        at = i;
        bt = j;
      }
    }
  if (!best)
    return 0;
  return best + matching(a, at, b, bt) + matching(a + at + best, n - at - best, b + bt + best, m - bt - best);
}

const char *tc__did_you_mean(const char *name, const char *const *names, size_t count) {
  const char *best = NULL;
  double best_ratio = 0.6;
  name += strspn(name, "-"); // the dashes of two options are no likeness
  size_t n = strlen(name);
  if (n > 256) // no name of ours is that long, and the search is cubic
    return NULL;
  for (size_t i = 0; i < count; i++) {
    const char *candidate = names[i] + strspn(names[i], "-");
    size_t m = strlen(candidate);
    if (n + m == 0)
      continue;
    double ratio = 2.0 * (double)matching(name, n, candidate, m) / (double)(n + m);
    size_t shorter = n < m ? n : m;
    if (shorter >= 3 && strncmp(name, candidate, shorter) == 0) // "cosine" means "cos" rather than "copysign"
      ratio += 0.2;
    if (ratio > best_ratio || (!best && ratio >= best_ratio)) {
      best = names[i];
      best_ratio = ratio;
    }
  }
  return best;
}

uint64_t tc__fnv1a(const void *data, size_t size) {
  uint64_t h = 0xcbf29ce484222325u;
  for (size_t i = 0; i < size; i++)
    h = (h ^ ((const unsigned char *)data)[i]) * 0x100000001b3u;
  return h;
}

// ---- files
// --------------------------------------------------------------------------------------------------------------------------------

tc_status tc__read_file(const char *path, char **out_data, size_t *out_size) {
  *out_data = NULL;
  *out_size = 0;
  FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
  if (!f)
    return tc__error(TC_ERR_IO, path, "cannot open the file: %s", strerror(errno));
  tc__str s = {0};
  tc_status status = TC_OK;
  for (;;) {
    if (!reserve(&s, 65536)) {
      status = tc__oom();
      break;
    }
    size_t n = fread(s.data + s.size, 1, 65536, f);
    s.size += n;
    if (n == 0) {
      if (ferror(f))
        status = tc__error(TC_ERR_IO, path, "cannot read the file: %s", strerror(errno));
      break;
    }
  }
  if (f != stdin)
    fclose(f);
  if (status != TC_OK) {
    tc__str_free(&s);
    return status;
  }
  s.data[s.size] = 0;
  *out_data = s.data;
  *out_size = s.size;
  return TC_OK;
}

tc_status tc__write_file(const char *path, const void *data, size_t size) {
  if (strcmp(path, "-") == 0) {
    if (fwrite(data, 1, size, stdout) != size || fflush(stdout) != 0)
      return tc__error(TC_ERR_IO, "stdout", "cannot write: %s", strerror(errno));
    return TC_OK;
  }
  tc__str temporary = {0};
  tc__str_printf(&temporary, "%s.tmp%ld", path, (long)getpid());
  if (temporary.oom) {
    tc__str_free(&temporary);
    return tc__oom();
  }
  FILE *f = fopen(temporary.data, "wb");
  tc_status status = f ? TC_OK : tc__error(TC_ERR_IO, path, "cannot write the file: %s", strerror(errno));
  if (f) {
    bool ok = fwrite(data, 1, size, f) == size;
    ok &= fclose(f) == 0;
    if (!ok || rename(temporary.data, path) != 0) {
      status = tc__error(TC_ERR_IO, path, "cannot write the file: %s", strerror(errno));
      remove(temporary.data);
    }
  }
  tc__str_free(&temporary);
  return status;
}

// NumPy's .npy files: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#include "frontend/npy.h"
#include "frontend/model.h"

#include <ctype.h>

// Data types by NumPy's spelling. "<V2" is how NumPy itself stores ml_dtypes' bfloat16.
static const struct {
  const char *text;
  tc_dtype dtype;
} dtypes[] = {
    {"<f2", TC_F16}, {"<f4", TC_F32}, {"<f8", TC_F64}, {"|i1", TC_I8},      {"<i2", TC_I16},    {"<i4", TC_I32},
    {"<i8", TC_I64}, {"|u1", TC_U8},  {"|b1", TC_BOOL}, {"<V2", TC_BF16},   {"|V2", TC_BF16},   {"bfloat16", TC_BF16},
    {"<i1", TC_I8},  {"<u1", TC_U8},  {"=f4", TC_F32}, {"=f8", TC_F64},     {"=i8", TC_I64},
};

// The header is a Python dict literal. A cursor over it; nothing here allocates.
typedef struct cursor {
  const char *p, *end;
} cursor;

static void skip_space(cursor *c) {
  while (c->p < c->end && isspace((unsigned char)*c->p))
    ++c->p;
}

static bool take(cursor *c, char ch) {
  skip_space(c);
  if (c->p >= c->end || *c->p != ch)
    return false;
  ++c->p;
  return true;
}

static bool take_word(cursor *c, const char *word) {
  skip_space(c);
  size_t n = strlen(word);
  if ((size_t)(c->end - c->p) < n || memcmp(c->p, word, n) != 0)
    return false;
  c->p += n;
  return true;
}

static bool take_string(cursor *c, char *buf, size_t size) {
  skip_space(c);
  if (c->p >= c->end || (*c->p != '\'' && *c->p != '"'))
    return false;
  char quote = *c->p++;
  size_t n = 0;
  while (c->p < c->end && *c->p != quote) {
    if (n + 1 >= size)
      return false;
    buf[n++] = *c->p++;
  }
  buf[n] = 0;
  return take(c, quote);
}

static bool take_size(cursor *c, int64_t *out) {
  skip_space(c);
  int64_t value = 0;
  bool any = false;
  while (c->p < c->end && isdigit((unsigned char)*c->p)) {
    if (__builtin_mul_overflow(value, (int64_t)10, &value) || __builtin_add_overflow(value, (int64_t)(*c->p - '0'), &value))
      return false;
    any = true;
    ++c->p;
  }
  (void)(c->p < c->end && *c->p == 'L' && ++c->p); // Python 2 wrote 3L
  *out = value;
  return any;
}

static tc_status bad(const char *name, const char *what) { return tc__error(TC_ERR_PARSE, name, "not a usable .npy file: %s", what); }

static tc_status parse_header(const char *name, cursor c, tc__type *out, bool *out_fortran) {
  bool have_descr = false, have_order = false, have_shape = false;
  if (!take(&c, '{'))
    return bad(name, "its header is no dict");
  while (!take(&c, '}')) {
    char key[32], text[32];
    if (!take_string(&c, key, sizeof(key)) || !take(&c, ':'))
      return bad(name, "its header is no dict with string keys");
    if (strcmp(key, "descr") == 0) {
      if (!take_string(&c, text, sizeof(text)))
        return tc__error(TC_ERR_UNSUPPORTED, name, "a .npy file of records (its 'descr' is no plain type)");
      for (size_t i = 0; i < TC_COUNTOF(dtypes) && !have_descr; ++i) {
        if (strcmp(text, dtypes[i].text) == 0) {
          out->dtype = dtypes[i].dtype;
          have_descr = true;
        }
      }
      if (!have_descr)
        return tc__error(TC_ERR_UNSUPPORTED, name,
                         "element type '%s' (little-endian f2, f4, f8, i1, i2, i4, i8, u1, b1 and bfloat16 can be read)", text);
    } else if (strcmp(key, "fortran_order") == 0) {
      *out_fortran = take_word(&c, "True");
      if (!*out_fortran && !take_word(&c, "False"))
        return bad(name, "'fortran_order' is neither True nor False");
      have_order = true;
    } else if (strcmp(key, "shape") == 0) {
      if (!take(&c, '('))
        return bad(name, "'shape' is no tuple");
      out->rank = 0;
      while (!take(&c, ')')) {
        if (out->rank == TC_MAX_RANK)
          return tc__error(TC_ERR_UNSUPPORTED, name, "a tensor of more than %d dims", TC_MAX_RANK);
        if (!take_size(&c, &out->shape[out->rank++]))
          return bad(name, "'shape' holds something that is no size, or one past 64 bits");
        if (!take(&c, ',')) {
          if (!take(&c, ')'))
            return bad(name, "'shape' is not closed");
          break;
        }
      }
      have_shape = true;
    } else {
      return tc__error(TC_ERR_PARSE, name, "not a usable .npy file: unknown header key '%s'", key);
    }
    if (!take(&c, ',')) {
      if (!take(&c, '}'))
        return bad(name, "its header is cut short");
      break;
    }
  }
  if (!have_descr || !have_order || !have_shape)
    return bad(name, "its header lacks one of 'descr', 'fortran_order' and 'shape'");
  return TC_OK;
}

// Fortran order: the first index runs fastest.
static void copy_from_fortran(const tc__type *type, const char *in, char *out) {
  size_t item = tc_dtype_size(type->dtype);
  int64_t n = tc__type_elements(type), index[TC_MAX_RANK] = {0}, stride[TC_MAX_RANK], running = 1;
  for (int d = 0; d < type->rank; ++d) {
    stride[d] = running;
    running *= type->shape[d];
  }
  for (int64_t i = 0; i < n; ++i) {
    int64_t from = 0;
    for (int d = 0; d < type->rank; ++d)
      from += index[d] * stride[d];
    memcpy(out + (size_t)i * item, in + (size_t)from * item, item);
    for (int d = type->rank - 1; d >= 0 && ++index[d] == type->shape[d]; --d)
      index[d] = 0;
  }
}

tc_status tc__npy_parse(const char *name, const void *data, size_t size, tc__buffer *out) {
  memset(out, 0, sizeof(*out));
  const unsigned char *bytes = data;
  if (size < 10 || memcmp(bytes, "\x93NUMPY", 6) != 0)
    return bad(name, "it does not start with the NumPy signature");
  if (bytes[6] < 1 || bytes[6] > 3)
    return tc__error(TC_ERR_UNSUPPORTED, name, ".npy version %d.%d (1 to 3 can be read)", bytes[6], bytes[7]);
  size_t prefix = bytes[6] == 1 ? 10 : 12, length;
  if (size < prefix)
    return bad(name, "it is cut short in its header");
  length = (size_t)bytes[8] | (size_t)bytes[9] << 8;
  if (prefix == 12)
    length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
  if (length > size - prefix)
    return bad(name, "it is cut short in its header");
  bool fortran = false;
  const char *header = (const char *)bytes + prefix;
  TC_TRY(parse_header(name, (cursor){header, header + length}, &out->type, &fortran));
  int64_t want = tc__type_bytes(&out->type);
  size_t have = size - prefix - length;
  if (want < 0)
    return bad(name, "its shape is larger than 64 bits can count");
  if ((uint64_t)want > have)
    return tc__error(TC_ERR_PARSE, name, "not a usable .npy file: its shape needs %lld bytes, but only %zu follow the header", (long long)want,
                     have);
  out->data = tc__aligned_alloc(want ? (size_t)want : 1);
  if (!out->data)
    return tc__oom();
  const char *values = header + length;
  if (fortran && out->type.rank > 1)
    copy_from_fortran(&out->type, values, out->data);
  else
    memcpy(out->data, values, (size_t)want);
  if (out->type.dtype == TC_BOOL) // any byte but 0 is true for NumPy; we keep 0 or 1
    for (int64_t i = 0; i < want; ++i)
      ((unsigned char *)out->data)[i] = ((unsigned char *)out->data)[i] != 0;
  return TC_OK;
}

tc_status tc__npy_read(const char *path, tc__buffer *out) {
  memset(out, 0, sizeof(*out));
  char *data = NULL;
  size_t size = 0;
  TC_TRY(tc__read_file(path, &data, &size));
  tc_status status = tc__npy_parse(path, data, size, out);
  tc__free(data);
  return status;
}

tc_status tc__npy_write(const char *path, const tc__buffer *buffer) {
  int64_t bytes = tc__type_bytes(&buffer->type);
  const char *descr = NULL;
  for (size_t i = 0; i < TC_COUNTOF(dtypes) && !descr; ++i)
    if (dtypes[i].dtype == buffer->type.dtype)
      descr = dtypes[i].text;
  if (bytes < 0 || !descr)
    return tc__error(TC_ERR_INVALID_ARGUMENT, path, "a tensor of dynamic shape or unknown type cannot be written");
  tc__str text = {0};
  tc__str_append_n(&text, "\x93NUMPY\1\0\0\0", 10);
  tc__str_printf(&text, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
  for (int d = 0; d < buffer->type.rank; ++d)
    tc__str_printf(&text, d || buffer->type.rank == 1 ? "%lld," : "%lld, ", (long long)buffer->type.shape[d]);
  tc__str_append(&text, "), }");
  while (!text.oom && (text.size + 1) % 64)
    tc__str_append(&text, " ");
  tc__str_append(&text, "\n");
  if (!text.oom) {
    text.data[8] = (char)((text.size - 10) & 0xff);
    text.data[9] = (char)((text.size - 10) >> 8);
  }
  tc__str_append_n(&text, buffer->data, (size_t)bytes);
  tc_status status = text.oom ? tc__oom() : tc__write_file(path, text.data, text.size);
  tc__str_free(&text);
  return status;
}

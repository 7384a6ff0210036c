// JSON as jansson reads it, with PyTorch's extras: bare NaN and Infinity, and numbers spelled as strings.
#ifndef TC_LIB_FRONTEND_JSON_H
#define TC_LIB_FRONTEND_JSON_H

#include "base/base.h"

#include <jansson.h>

/// Parses text of any size. `name` is what errors call it: "model.json:12:4: ...". Free with json_decref.
tc_status tc__json_parse(const char *name, const char *text, size_t size, json_t **out);
/// Reads and parses a file.
tc_status tc__json_read(const char *path, json_t **out);
/// A number: an integer, a real, or one of the strings "NaN", "Infinity", "-Infinity". false for anything else.
bool tc__json_number(const json_t *value, double *out);
/// An integer that is exact in 64 bits.
bool tc__json_int(const json_t *value, int64_t *out);

#endif // TC_LIB_FRONTEND_JSON_H

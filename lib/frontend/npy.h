// The in-memory half of the .npy reader (tc__npy_read and tc__npy_write are in frontend/model.h).
#ifndef TC_LIB_FRONTEND_NPY_H
#define TC_LIB_FRONTEND_NPY_H

#include "base/base.h"

/// Reads a whole .npy image. `name` is what errors call it. *out owns its data: free with tc__aligned_free(out->data).
tc_status tc__npy_parse(const char *name, const void *data, size_t size, tc__buffer *out);

#endif // TC_LIB_FRONTEND_NPY_H

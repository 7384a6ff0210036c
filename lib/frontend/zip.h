// Reading a zip archive that is mapped into memory. The point of our own reader: an entry that is stored without compression is a pointer
// into the mapping, so gigabytes of weights are never read or copied. Hostile input is expected.
#ifndef TC_LIB_FRONTEND_ZIP_H
#define TC_LIB_FRONTEND_ZIP_H

#include "base/base.h"

typedef struct tc__zip_entry {
  char *name;
  uint64_t size, packed_size, header_offset;
  uint32_t crc;
  uint16_t method, flags;
} tc__zip_entry;

typedef struct tc__zip {
  const unsigned char *data; ///< borrowed
  size_t size;
  char *label; ///< what errors call the archive
  tc__zip_entry *entries;
  size_t n_entries;
} tc__zip;

/// Reads the directory of an archive held in memory, which must outlive *out. Free with tc__zip_close.
tc_status tc__zip_open(const char *label, const void *data, size_t size, tc__zip *out);
void tc__zip_close(tc__zip *zip);
/// NULL when there is none.
const tc__zip_entry *tc__zip_find(const tc__zip *zip, const char *name);
/// The bytes of an entry: into the archive when it is stored (*out_owned NULL), else inflated (free *out_owned with tc__aligned_free).
/// check: verify the CRC of a stored entry too (it reads all of it).
tc_status tc__zip_read(const tc__zip *zip, const tc__zip_entry *entry, bool check, const void **out_data, void **out_owned);

#endif // TC_LIB_FRONTEND_ZIP_H

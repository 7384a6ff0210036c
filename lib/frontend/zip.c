#include "frontend/zip.h"

#include <zlib.h>

// The format: APPNOTE.TXT of PKWARE, sections 4.3.7 (local header), 4.3.12 (directory), 4.3.14 to 4.3.16 (ends), 4.5.3 (zip64 field).
enum { END_SIZE = 22, END64_LOCATOR_SIZE = 20, END64_SIZE = 56, DIRECTORY_SIZE = 46, LOCAL_SIZE = 30 };

// An inflated entry may be at most this many times its packed size (deflate's own limit is 1032) and this large.
static const uint64_t max_ratio = 1040, max_inflated = (uint64_t)1 << 34;

static uint16_t u16(const unsigned char *p) { return (uint16_t)(p[0] | p[1] << 8); }
static uint32_t u32(const unsigned char *p) { return u16(p) | (uint32_t)u16(p + 2) << 16; }
static uint64_t u64(const unsigned char *p) { return u32(p) | (uint64_t)u32(p + 4) << 32; }

static tc_status bad(const tc__zip *zip, const char *what) { return tc__error(TC_ERR_PARSE, zip->label, "not a usable zip archive: %s", what); }

// Sizes and offset of 0xffffffff are in the zip64 extra field, in this order, those that are needed only.
static bool read_zip64_field(const unsigned char *extra, size_t size, tc__zip_entry *entry) {
  while (size >= 4) {
    size_t id = u16(extra), length = u16(extra + 2);
    extra += 4;
    size -= 4;
    if (length > size)
      return false;
    if (id == 1) {
      uint64_t *fields[] = {&entry->size, &entry->packed_size, &entry->header_offset};
      size_t at = 0;
      for (size_t i = 0; i < TC_COUNTOF(fields); ++i) {
        if (*fields[i] != 0xffffffffu)
          continue;
        if (length - at < 8)
          return false;
        *fields[i] = u64(extra + at);
        at += 8;
      }
      return true;
    }
    extra += length;
    size -= length;
  }
  return true;
}

static tc_status read_directory(tc__zip *zip) {
  const unsigned char *data = zip->data;
  size_t size = zip->size;
  if (size < END_SIZE)
    return bad(zip, "it is too short");
  // The end record is the last thing in the file but for a comment of up to 64 KiB.
  size_t end = size - END_SIZE, stop = end > 0xffff ? end - 0xffff : 0;
  while (!(data[end] == 'P' && memcmp(data + end, "PK\5\6", 4) == 0)) {
    if (end == stop)
      return bad(zip, "it has no end-of-directory record (was it cut short?)");
    --end;
  }
  uint64_t count = u16(data + end + 10), length = u32(data + end + 12), start = u32(data + end + 16);
  if (end >= END64_LOCATOR_SIZE && memcmp(data + end - END64_LOCATOR_SIZE, "PK\6\7", 4) == 0) {
    uint64_t at = u64(data + end - END64_LOCATOR_SIZE + 8);
    if (at > size || size - at < END64_SIZE || memcmp(data + at, "PK\6\6", 4) != 0)
      return bad(zip, "its zip64 end record is not where it should be");
    count = u64(data + at + 32);
    length = u64(data + at + 40);
    start = u64(data + at + 48);
  }
  if (start > size || length > size - start)
    return bad(zip, "its directory lies outside the file");
  if (count > length / DIRECTORY_SIZE)
    return bad(zip, "its directory is shorter than its number of entries needs");
  zip->entries = tc__calloc((size_t)count + 1, sizeof(*zip->entries));
  if (!zip->entries)
    return tc__oom();
  const unsigned char *p = data + start;
  size_t left = (size_t)length;
  for (uint64_t i = 0; i < count; ++i) {
    if (left < DIRECTORY_SIZE || memcmp(p, "PK\1\2", 4) != 0)
      return bad(zip, "its directory is broken");
    size_t name = u16(p + 28), extra = u16(p + 30), comment = u16(p + 32), total = DIRECTORY_SIZE + name + extra + comment;
    if (total > left)
      return bad(zip, "its directory is cut short");
    tc__zip_entry *entry = &zip->entries[i];
    entry->flags = u16(p + 8);
    entry->method = u16(p + 10);
    entry->crc = u32(p + 16);
    entry->packed_size = u32(p + 20);
    entry->size = u32(p + 24);
    entry->header_offset = u32(p + 42);
    if (!read_zip64_field(p + DIRECTORY_SIZE + name, extra, entry))
      return bad(zip, "an entry's zip64 field is broken");
    if (memchr(p + DIRECTORY_SIZE, 0, name))
      return bad(zip, "an entry's name holds a NUL");
    entry->name = tc__strndup((const char *)p + DIRECTORY_SIZE, name);
    if (!entry->name)
      return tc__oom();
    zip->n_entries = (size_t)i + 1;
    p += total;
    left -= total;
  }
  return TC_OK;
}

tc_status tc__zip_open(const char *label, const void *data, size_t size, tc__zip *out) {
  memset(out, 0, sizeof(*out));
  out->data = data;
  out->size = size;
  out->label = tc__strdup(label);
  tc_status status = out->label ? read_directory(out) : tc__oom();
  if (status != TC_OK)
    tc__zip_close(out);
  return status;
}

void tc__zip_close(tc__zip *zip) {
  for (size_t i = 0; i < zip->n_entries; ++i)
    tc__free(zip->entries[i].name);
  tc__free(zip->entries);
  tc__free(zip->label);
  memset(zip, 0, sizeof(*zip));
}

const tc__zip_entry *tc__zip_find(const tc__zip *zip, const char *name) {
  for (size_t i = 0; i < zip->n_entries; ++i)
    if (strcmp(zip->entries[i].name, name) == 0)
      return &zip->entries[i];
  return NULL;
}

static uint32_t crc_of(const unsigned char *data, uint64_t size) {
  uLong crc = crc32(0, NULL, 0);
  while (size) {
    uInt part = size > 1u << 30 ? 1u << 30 : (uInt)size;
    crc = crc32(crc, data, part);
    data += part;
    size -= part;
  }
  return (uint32_t)crc;
}

static tc_status inflate_entry(const tc__zip *zip, const tc__zip_entry *entry, const unsigned char *packed, void **out) {
  if (entry->size > max_inflated || entry->size / max_ratio > entry->packed_size)
    return tc__error(TC_ERR_PARSE, zip->label, "entry '%s': %llu bytes from %llu packed ones is beyond what deflate can do", entry->name,
                     (unsigned long long)entry->size, (unsigned long long)entry->packed_size);
  unsigned char *data = tc__aligned_alloc((size_t)entry->size + 1);
  if (!data)
    return tc__oom();
  if (!entry->size) {
    *out = data;
    return TC_OK;
  }
  z_stream stream = {0};
  int rc = inflateInit2(&stream, -MAX_WBITS);
  uint64_t in_left = entry->packed_size, out_left = entry->size;
  stream.next_in = (unsigned char *)packed;
  stream.next_out = data;
  while (rc == Z_OK) {
    if (!stream.avail_in) {
      stream.avail_in = in_left > 1u << 30 ? 1u << 30 : (uInt)in_left;
      in_left -= stream.avail_in;
    }
    if (!stream.avail_out) {
      stream.avail_out = out_left > 1u << 30 ? 1u << 30 : (uInt)out_left;
      out_left -= stream.avail_out;
    }
    rc = inflate(&stream, Z_NO_FLUSH);
    if (rc == Z_OK && !stream.avail_in && !in_left && stream.avail_out)
      rc = Z_DATA_ERROR;
  }
  bool whole = rc == Z_STREAM_END && !stream.avail_out && !out_left;
  inflateEnd(&stream);
  if (!whole || crc_of(data, entry->size) != entry->crc) {
    tc__aligned_free(data);
    return tc__error(TC_ERR_PARSE, zip->label, "entry '%s': its compressed data is corrupt", entry->name);
  }
  *out = data;
  return TC_OK;
}

tc_status tc__zip_read(const tc__zip *zip, const tc__zip_entry *entry, bool check, const void **out_data, void **out_owned) {
  *out_data = *out_owned = NULL;
  uint64_t at = entry->header_offset;
  if (at > zip->size || zip->size - at < LOCAL_SIZE || memcmp(zip->data + at, "PK\3\4", 4) != 0)
    return tc__error(TC_ERR_PARSE, zip->label, "entry '%s' is not where the directory says", entry->name);
  uint64_t skip = LOCAL_SIZE + (uint64_t)u16(zip->data + at + 26) + u16(zip->data + at + 28);
  if (skip > zip->size - at || entry->packed_size > zip->size - at - skip)
    return tc__error(TC_ERR_PARSE, zip->label, "entry '%s' runs past the end of the file", entry->name);
  const unsigned char *data = zip->data + at + skip;
  if (entry->flags & 1)
    return tc__error(TC_ERR_UNSUPPORTED, zip->label, "entry '%s' is encrypted", entry->name);
  if (entry->method == 8) {
    TC_TRY(inflate_entry(zip, entry, data, out_owned));
    *out_data = *out_owned;
    return TC_OK;
  }
  if (entry->method != 0)
    return tc__error(TC_ERR_UNSUPPORTED, zip->label, "entry '%s': compression method %d (stored and deflated entries can be read)",
                     entry->name, entry->method);
  if (entry->size != entry->packed_size)
    return tc__error(TC_ERR_PARSE, zip->label, "entry '%s' is stored, but its two sizes differ", entry->name);
  if (check && crc_of(data, entry->size) != entry->crc)
    return tc__error(TC_ERR_PARSE, zip->label, "entry '%s': its checksum does not match its data", entry->name);
  *out_data = data;
  return TC_OK;
}

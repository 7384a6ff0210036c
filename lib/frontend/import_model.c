// Reading models: .pt2 archives (weights stay in the mapped file), bare model.json files, folders that hold either, and .mlir files.
#include "import.h"
#include "npy.h"
#include "zip.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- what a model owns ------------------------------------------------------------------------------------------------------------------------------

typedef struct storage {
  void *map;
  size_t map_size;
  void **blocks; ///< from tc__aligned_alloc
  size_t n_blocks;
  void (*next)(void *storage); ///< an earlier owner's release (tracing)
} storage;

static void release(void *p) {
  storage *s = p;
  if (!s)
    return;
  if (s->map)
    munmap(s->map, s->map_size);
  for (size_t i = 0; i < s->n_blocks; i++)
    tc__aligned_free(s->blocks[i]);
  tc__free(s->blocks);
  tc__free(s);
}

static storage *storage_of(tc__model *m) {
  if (!m->storage) {
    m->storage = tc__calloc(1, sizeof(storage));
    m->destroy_storage = release;
  }
  return m->storage;
}

static tc_status keep(tc__model *m, void *block) {
  storage *s = storage_of(m);
  void **blocks = s ? tc__realloc(s->blocks, sizeof *blocks * (s->n_blocks + 1)) : NULL;
  if (!blocks) {
    tc__aligned_free(block);
    return tc__oom();
  }
  s->blocks = blocks;
  s->blocks[s->n_blocks++] = block;
  return TC_OK;
}

void tc__model_destroy(tc__model *m) {
  if (!m)
    return;
  if (!mlirModuleIsNull(m->module))
    mlirModuleDestroy(m->module);
  if (!mlirContextIsNull(m->ctx))
    mlirContextDestroy(m->ctx);
  for (size_t i = 0; i < m->n_params; i++)
    tc__free(m->params[i].name);
  for (size_t i = 0; i < m->n_params; i++)
    tc__free(m->params[i].rule_name);
  tc__free(m->params);
  tc__free(m->name);
  if (m->destroy_storage)
    m->destroy_storage(m->storage);
  tc__free(m);
}

// ---- archives ---------------------------------------------------------------------------------------------------------------------------------------

static bool ends_in(const char *text, const char *end) {
  size_t n = strlen(text), m = strlen(end);
  return n >= m && strcmp(text + n - m, end) == 0;
}

static tc_status read_json_entry(const tc__zip *zip, const char *name, bool required, json_t **out) {
  *out = NULL;
  const tc__zip_entry *entry = tc__zip_find(zip, name);
  if (!entry)
    return required ? tc__error(TC_ERR_PARSE, zip->label, "the archive has no '%s'", name) : TC_OK;
  const void *data;
  void *owned;
  TC_TRY(tc__zip_read(zip, entry, true, &data, &owned));
  char label[4096];
  snprintf(label, sizeof label, "%s:%s", zip->label, name);
  tc_status status = tc__json_parse(label, data, (size_t)entry->size, out);
  tc__aligned_free(owned);
  return status;
}

// Elements by strides into row-major order; every address was checked against the storage.
static void gather_strided(const char *data, char *out, size_t size, const tc__type *t, const int64_t *strides) {
  int64_t index[TC_MAX_RANK] = {0}, n = tc__type_elements(t);
  for (int64_t i = 0; i < n; i++) {
    int64_t at = 0;
    for (int d = 0; d < t->rank; d++)
      at += index[d] * strides[d];
    memcpy(out + (size_t)i * size, data + (size_t)at * size, size);
    for (int d = t->rank - 1; d >= 0 && ++index[d] == t->shape[d]; d--)
      index[d] = 0;
  }
}

static tc_status bind_weight(tc__model *m, const tc__zip *zip, const char *folder, const char *name, const json_t *entry, tc__model_param *param) {
  const char *path = json_string_value(json_object_get(entry, "path_name"));
  const json_t *meta = json_object_get(entry, "tensor_meta"), *strides_json = json_object_get(meta, "strides");
  if (!path || strchr(path, '/'))
    return tc__error(TC_ERR_PARSE, zip->label, "weight '%s' has no usable 'path_name'", name);
  if (json_is_true(json_object_get(entry, "use_pickle")))
    return tc__error(TC_ERR_UNSUPPORTED, zip->label, "weight '%s' is pickled: only plain tensors are read", name);
  char full[4096];
  snprintf(full, sizeof full, "%s%s", folder, path);
  const tc__zip_entry *file = tc__zip_find(zip, full);
  if (!file)
    return tc__error(TC_ERR_PARSE, zip->label, "the archive has no '%s' for weight '%s'", full, name);
  const tc__type *t = &param->value.type;
  size_t size = tc_dtype_size(t->dtype);
  int64_t strides[TC_MAX_RANK], offset = 0, reach = 0, dense = 1, n = tc__type_elements(t);
  bool contiguous = true;
  if (!json_is_array(strides_json) || (int)json_array_size(strides_json) != t->rank)
    return tc__error(TC_ERR_PARSE, zip->label, "weight '%s': 'strides' do not fit its rank %d", name, t->rank);
  tc__json_int(json_object_get(json_object_get(meta, "storage_offset"), "as_int"), &offset);
  for (int d = t->rank - 1; d >= 0; d--) {
    int64_t far;
    if (!tc__json_int(json_object_get(json_array_get(strides_json, (size_t)d), "as_int"), &strides[d]) || strides[d] < 0)
      return tc__error(TC_ERR_PARSE, zip->label, "weight '%s': stride %d is no size", name, d);
    contiguous &= t->shape[d] == 1 || strides[d] == dense;
    dense *= t->shape[d];
    if (n > 0 && (__builtin_mul_overflow(t->shape[d] - 1, strides[d], &far) || __builtin_add_overflow(reach, far, &reach)))
      return tc__error(TC_ERR_PARSE, zip->label, "weight '%s': its strides overflow", name);
  }
  int64_t end;
  if (offset < 0 || __builtin_add_overflow(reach, offset + 1, &end) || (n > 0 && (uint64_t)end > file->size / size))
    return tc__error(TC_ERR_PARSE, zip->label, "weight '%s' needs %lld elements of %zu bytes, but '%s' has %llu bytes", name, (long long)(reach + offset + 1),
                     size, full, (unsigned long long)file->size);
  const void *data;
  void *owned;
  TC_TRY(tc__zip_read(zip, file, false, &data, &owned));
  if (owned)
    TC_TRY(keep(m, owned));
  const char *first = (const char *)data + (size_t)offset * size;
  if (contiguous && (uintptr_t)first % size == 0) {
    param->value.data = (void *)(uintptr_t)first;
    return TC_OK;
  }
  char *copy = tc__aligned_alloc((size_t)tc__type_bytes(t) + 1);
  if (!copy)
    return tc__oom();
  if (n > 0)
    gather_strided(first, copy, size, t, strides);
  param->value.data = copy;
  return keep(m, copy);
}

static tc_status bind_weights(tc__model *m, const tc__zip *zip, const char *root) {
  static const char *const kinds[][2] = {{"data/weights/", "model_weights_config.json"}, {"data/constants/", "model_constants_config.json"}};
  for (size_t k = 0; k < 2; k++) {
    char folder[2048], config_name[2200];
    snprintf(folder, sizeof folder, "%s%s", root, kinds[k][0]);
    snprintf(config_name, sizeof config_name, "%s%s", folder, kinds[k][1]);
    json_t *config;
    TC_TRY(read_json_entry(zip, config_name, false, &config));
    json_t *weights = json_object_get(config, "config");
    tc_status status = TC_OK;
    for (size_t i = 0; i < m->n_params && status == TC_OK; i++) {
      const json_t *entry = json_object_get(weights, m->params[i].name);
      if (entry && !m->params[i].value.data)
        status = bind_weight(m, zip, folder, m->params[i].name, entry, &m->params[i]);
    }
    json_decref(config);
    TC_TRY(status);
  }
  return TC_OK;
}

static tc_status load_archive(const char *path, tc__model *m) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  struct stat st;
  if (fd < 0 || fstat(fd, &st) != 0) {
    tc_status status = tc__error(TC_ERR_IO, path, "cannot open the file: %s", strerror(errno));
    if (fd >= 0)
      close(fd);
    return status;
  }
  storage *s = storage_of(m);
  // Private: parameters that a run mutates are copied by the executable, and nothing is ever written back.
  void *map = s && st.st_size > 0 ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
  close(fd);
  if (!s || map == MAP_FAILED)
    return tc__error(TC_ERR_IO, path, st.st_size == 0 ? "the file is empty" : "cannot map the file");
  s->map = map;
  s->map_size = (size_t)st.st_size;
  tc__zip zip;
  TC_TRY(tc__zip_open(path, map, s->map_size, &zip));
  const char *model_name = NULL;
  for (size_t i = 0; i < zip.n_entries && !model_name; i++)
    if (ends_in(zip.entries[i].name, "models/model.json"))
      model_name = zip.entries[i].name;
  json_t *program = NULL;
  tc_status status = TC_OK;
  if (!model_name)
    status = tc__error(TC_ERR_UNSUPPORTED, path,
                       "the archive holds no models/model.json: it is no torch.export archive (a state dict or TorchScript file? export with torch.export.save)");
  char root[1024] = "", label[4096];
  if (status == TC_OK) {
    snprintf(root, sizeof root, "%.*s", (int)(strlen(model_name) - strlen("models/model.json")), model_name);
    status = read_json_entry(&zip, model_name, true, &program);
  }
  if (status == TC_OK) {
    snprintf(label, sizeof label, "%s:%s", path, model_name);
    status = tc__import_program(label, program, m);
  }
  if (status == TC_OK)
    status = bind_weights(m, &zip, root);
  json_decref(program);
  tc__zip_close(&zip);
  return status;
}

// ---- files and folders ------------------------------------------------------------------------------------------------------------------------------

static tc_status load_json(const char *path, tc__model *m) {
  json_t *program;
  TC_TRY(tc__json_read(path, &program));
  tc_status status = tc__import_program(path, program, m);
  json_decref(program);
  return status;
}

static tc_status load_mlir(const char *path, tc__model *m) {
  m->module = mlirModuleCreateParseFromFile(m->ctx, tc__sref(path));
  if (mlirModuleIsNull(m->module)) {
    char reason[1024];
    snprintf(reason, sizeof reason, "%s", tc_last_error());
    return *reason ? TC_ERR_PARSE : tc__error(TC_ERR_PARSE, path, "cannot read the file as MLIR");
  }
  TC_TRY(tc__verify(mlirModuleGetOperation(m->module)));
  MlirOperation func = tc__find_func(mlirModuleGetOperation(m->module), NULL);
  MlirAttribute dicts = mlirOperationIsNull(func) ? mlirAttributeGetNull() : mlirOperationGetAttributeByName(func, tc__sref("arg_attrs"));
  MlirBlock block = mlirOperationIsNull(func) ? (MlirBlock){NULL} : mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  intptr_t n = mlirAttributeIsNull(dicts) ? 0 : mlirArrayAttrGetNumElements(dicts);
  if (!(m->params = tc__calloc((size_t)n + 1, sizeof *m->params)))
    return tc__oom();
  for (intptr_t i = 0; i < n; i++) { // parameters by tc.kind and tc.name
    MlirAttribute d = mlirArrayAttrGetElement(dicts, i), kind = mlirDictionaryAttrGetElementByName(d, tc__sref("tc.kind")),
                  name = mlirDictionaryAttrGetElementByName(d, tc__sref("tc.name"));
    if (mlirAttributeIsNull(kind) || !mlirAttributeIsAString(kind) || mlirStringRefEqual(mlirStringAttrGetValue(kind), tc__sref("input")) ||
        mlirAttributeIsNull(name) || !mlirAttributeIsAString(name))
      continue;
    MlirStringRef text = mlirStringAttrGetValue(name);
    tc__model_param *p = &m->params[m->n_params];
    if (!tc__type_from_mlir(mlirValueGetType(mlirBlockGetArgument(block, i)), &p->value.type))
      return tc__error(TC_ERR_UNSUPPORTED, path, "argument %d is no tensor of a tc element type", (int)i);
    if (!(p->name = tc__strndup(text.data, text.length)))
      return tc__oom();
    m->n_params++;
  }
  return TC_OK;
}

static tc_status load(const char *path, tc__model *m) {
  struct stat st;
  if (stat(path, &st) != 0)
    return tc__error(TC_ERR_IO, path, "cannot open the file: %s", strerror(errno));
  char inside[4096];
  if (S_ISDIR(st.st_mode)) {
    static const char *const names[] = {"model.pt2", "model.json", "model.mlir"};
    for (size_t i = 0; i < TC_COUNTOF(names); i++) {
      snprintf(inside, sizeof inside, "%s/%s", path, names[i]);
      if (stat(inside, &st) == 0 && !S_ISDIR(st.st_mode))
        return load(inside, m);
    }
    return tc__error(TC_ERR_NOT_FOUND, path, "the folder holds no model.pt2, model.json or model.mlir");
  }
  if (!m->name && !(m->name = tc__strdup(path)))
    return tc__oom();
  m->ctx = tc__context_create();
  if (mlirContextIsNull(m->ctx))
    return TC_ERR_INTERNAL;
  if (ends_in(path, ".mlir"))
    return load_mlir(path, m);
  return ends_in(path, ".json") ? load_json(path, m) : load_archive(path, m);
}

tc_status tc__model_load(const char *path, tc__model **out_model) {
  *out_model = NULL;
  tc__model *m = tc__calloc(1, sizeof *m);
  if (!m)
    return tc__oom();
  tc_status status = load(path, m);
  if (status != TC_OK) {
    tc__model_destroy(m);
    return status;
  }
  *out_model = m;
  return TC_OK;
}

tc_status tc__model_load_with_shapes(const char *path, const tc__type *inputs, size_t n_inputs, tc__model **out) {
  (void)inputs;
  (void)n_inputs; // the executable checks them: symbolic dims have the sizes of the export
  return tc__model_load(path, out);
}

// ---- values by rule ---------------------------------------------------------------------------------------------------------------------------------

static tc_status read_constant(const char *dir, const json_t *constants, tc__model_param *p, bool *out_found) {
  const char *file = json_string_value(json_object_get(constants, p->name));
  *out_found = file != NULL;
  if (!file)
    return TC_OK;
  if (strstr(file, "..") || file[0] == '/')
    return tc__error(TC_ERR_PARSE, dir, "constant '%s': the path '%s' leaves the folder", p->name, file);
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", dir, file);
  tc__buffer value;
  TC_TRY(tc__npy_read(path, &value));
  if (!tc__type_equal(&value.type, &p->value.type)) {
    char want[160], got[160];
    tc_status status = tc__error(TC_ERR_SHAPE_MISMATCH, path, "constant '%s': expected %s, found %s", p->name,
                                 tc__type_format(&p->value.type, want, sizeof want), tc__type_format(&value.type, got, sizeof got));
    tc__aligned_free(value.data);
    return status;
  }
  p->value.data = value.data;
  return TC_OK;
}

tc_status tc__model_synthesize(tc__model *m, const char *fixture_dir) {
  bool missing = false;
  for (size_t i = 0; i < m->n_params; i++)
    missing |= !m->params[i].value.data;
  if (!missing)
    return TC_OK;
  char path[4096];
  struct stat st;
  json_t *reference = NULL;
  snprintf(path, sizeof path, "%s/reference.json", fixture_dir ? fixture_dir : ".");
  if (fixture_dir && stat(path, &st) == 0)
    TC_TRY(tc__json_read(path, &reference));
  const json_t *constants = json_object_get(reference, "constants");
  tc_status status = TC_OK;
  for (size_t i = 0; i < m->n_params && status == TC_OK; i++) {
    tc__model_param *p = &m->params[i];
    bool found = false;
    if (p->value.data)
      continue;
    status = constants ? read_constant(fixture_dir, constants, p, &found) : TC_OK;
    if (status == TC_OK && !found) {
      int64_t bytes = tc__type_bytes(&p->value.type);
      if (bytes < 0 || !(p->value.data = tc__aligned_alloc((size_t)bytes + 1)))
        status = tc__oom();
      else if (tc_dtype_is_float(p->value.type.dtype))
        tc__synth_weight(p->rule_name ? p->rule_name : p->name, &p->value);
      else
        memset(p->value.data, 0, (size_t)bytes);
    }
    if (status == TC_OK)
      status = keep(m, p->value.data);
  }
  json_decref(reference);
  return status;
}

// Tensors and scopes of the public API.
#include "trace.h"

#include <pthread.h>

// ---- tensors ----------------------------------------------------------------------------------------------------------------------------

static tc_status make_type(tc_dtype dtype, int rank, const int64_t *shape, tc__type *out) {
  if ((unsigned)dtype >= TC_DTYPE_COUNT)
    return tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "dtype %d is no tc_dtype", (int)dtype);
  if (rank < 0 || rank > TC_MAX_RANK)
    return tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "rank %d: expected 0 to %d", rank, TC_MAX_RANK);
  if (rank > 0 && !shape)
    return tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "shape is NULL for rank %d", rank);
  *out = (tc__type){.dtype = dtype, .rank = rank};
  for (int i = 0; i < rank; i++) {
    if (shape[i] < 0)
      return tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "shape[%d] is %lld: expected 0 or more", i, (long long)shape[i]);
    out->shape[i] = shape[i];
  }
  if (tc__type_bytes(out) < 0)
    return tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "the shape has more than 2^63 bytes");
  return TC_OK;
}

tc_tensor *tc__tensor_from_buffer(const tc__buffer *buffer, bool own) {
  tc_tensor *tensor = tc__calloc(1, sizeof *tensor);
  if (!tensor) {
    if (own)
      tc__aligned_free(buffer->data);
    tc__oom();
    return NULL;
  }
  tensor->references = 1;
  tensor->buffer = *buffer;
  tensor->owns_data = own;
  return tensor;
}

// Large blocks are kept for the next tensor of their size: fresh pages from the system cost more than most kernels (64 MB: 25 ms of page faults, where
// sin(cos(x)) over it takes 20).
enum { POOL_SLOTS = 16, POOL_LEAST = 1 << 20 };
static const size_t pool_limit = (size_t)1 << 30;
static struct {
  pthread_mutex_t lock;
  void *blocks[POOL_SLOTS];
  size_t sizes[POOL_SLOTS], total;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *pool_take(size_t size) {
  void *block = NULL;
  pthread_mutex_lock(&pool.lock);
  for (int i = 0; i < POOL_SLOTS && !block && size >= POOL_LEAST; i++)
    if (pool.blocks[i] && pool.sizes[i] == size) {
      block = pool.blocks[i];
      pool.blocks[i] = NULL;
      pool.total -= size;
    }
  pthread_mutex_unlock(&pool.lock);
  return block ? block : tc__aligned_alloc(size);
}

static void pool_give(void *block, size_t size) {
  pthread_mutex_lock(&pool.lock);
  for (int i = 0; i < POOL_SLOTS && block && size >= POOL_LEAST && size <= pool_limit - pool.total; i++)
    if (!pool.blocks[i]) {
      pool.blocks[i] = block;
      pool.sizes[i] = size;
      pool.total += size;
      block = NULL;
    }
  pthread_mutex_unlock(&pool.lock);
  tc__aligned_free(block);
}

static size_t data_size(const tc__type *type) { return (size_t)tc__type_bytes(type) + 1; }

tc_status tc_tensor_create(tc_dtype dtype, int rank, const int64_t *shape, tc_tensor **out_tensor) {
  *out_tensor = NULL;
  tc__buffer buffer;
  TC_TRY(make_type(dtype, rank, shape, &buffer.type));
  if (!(buffer.data = pool_take(data_size(&buffer.type))))
    return tc__oom();
  *out_tensor = tc__tensor_from_buffer(&buffer, true);
  return *out_tensor ? TC_OK : TC_ERR_OUT_OF_MEMORY;
}

tc_status tc_tensor_create_copy(const void *data, tc_dtype dtype, int rank, const int64_t *shape, tc_tensor **out_tensor) {
  TC_TRY(tc_tensor_create(dtype, rank, shape, out_tensor));
  size_t bytes = (size_t)tc_tensor_bytes(*out_tensor);
  if (bytes && !data) {
    tc_tensor_release(*out_tensor);
    *out_tensor = NULL;
    return tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "data is NULL");
  }
  if (bytes)
    memcpy((*out_tensor)->buffer.data, data, bytes);
  return TC_OK;
}

tc_status tc_tensor_wrap(void *data, tc_dtype dtype, int rank, const int64_t *shape, tc_tensor **out_tensor) {
  *out_tensor = NULL;
  tc__buffer buffer = {.data = data};
  TC_TRY(make_type(dtype, rank, shape, &buffer.type));
  if (!data && tc__type_bytes(&buffer.type) > 0)
    return tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "data is NULL");
  *out_tensor = tc__tensor_from_buffer(&buffer, false);
  return *out_tensor ? TC_OK : TC_ERR_OUT_OF_MEMORY;
}

tc_status tc_tensor_load_npy(const char *path, tc_tensor **out_tensor) {
  *out_tensor = NULL;
  tc__buffer buffer;
  TC_TRY(tc__npy_read(path, &buffer));
  *out_tensor = tc__tensor_from_buffer(&buffer, true);
  return *out_tensor ? TC_OK : TC_ERR_OUT_OF_MEMORY;
}

tc_status tc_tensor_save_npy(const tc_tensor *tensor, const char *path) {
  if (!tensor || tensor->trace)
    return tc__error(TC_ERR_INVALID_ARGUMENT, path, "the tensor has no data");
  return tc__npy_write(path, &tensor->buffer);
}

tc_tensor *tc_tensor_retain(tc_tensor *tensor) {
  if (tensor)
    __atomic_add_fetch(&tensor->references, 1, __ATOMIC_RELAXED);
  return tensor;
}

void tc_tensor_release(tc_tensor *tensor) {
  if (!tensor || __atomic_sub_fetch(&tensor->references, 1, __ATOMIC_ACQ_REL) > 0)
    return;
  if (tensor->owns_data)
    pool_give(tensor->buffer.data, data_size(&tensor->buffer.type));
  tc__free(tensor);
}

tc_dtype tc_tensor_dtype(const tc_tensor *tensor) { return tensor->buffer.type.dtype; }
int tc_tensor_rank(const tc_tensor *tensor) { return tensor->buffer.type.rank; }
const int64_t *tc_tensor_shape(const tc_tensor *tensor) { return tensor->buffer.type.shape; }
void *tc_tensor_data(const tc_tensor *tensor) { return tensor->buffer.data; }
int64_t tc_tensor_elements(const tc_tensor *tensor) { return tc__type_elements(&tensor->buffer.type); }
int64_t tc_tensor_bytes(const tc_tensor *tensor) { return tc__type_bytes(&tensor->buffer.type); }

static tc_tensor *scalar(tc_dtype dtype, const void *value) {
  tc_tensor *tensor;
  if (tc_tensor_create_copy(value, dtype, 0, NULL, &tensor) != TC_OK)
    return NULL;
  tensor->is_scalar = true;
  return tc__scope_add(tensor);
}

tc_tensor *tc_scalar(double value) {
  float f = (float)value;
  return scalar(TC_F32, &f);
}

tc_tensor *tc_scalar_i64(int64_t value) { return scalar(TC_I64, &value); }

// ---- scopes: a stack of owned tensors for each thread ------------------------------------------------------------------------------------

typedef struct scope_stack {
  tc_tensor **items;
  size_t count, capacity;
} scope_stack;

static pthread_key_t scope_key;
static pthread_once_t scope_once = PTHREAD_ONCE_INIT;

static void release_above(scope_stack *stack, size_t mark) {
  while (stack->count > mark)
    tc_tensor_release(stack->items[--stack->count]);
}

static void destroy_stack(void *p) {
  scope_stack *stack = p;
  release_above(stack, 0);
  tc__free(stack->items);
  tc__free(stack);
}

static void make_key(void) { pthread_key_create(&scope_key, destroy_stack); }

static scope_stack *get_stack(void) {
  pthread_once(&scope_once, make_key);
  return pthread_getspecific(scope_key);
}

tc_tensor *tc__scope_add(tc_tensor *tensor) {
  if (!tensor)
    return NULL;
  scope_stack *stack = get_stack();
  if (!stack) {
    stack = tc__calloc(1, sizeof *stack);
    if (stack && pthread_setspecific(scope_key, stack) != 0) {
      tc__free(stack);
      stack = NULL;
    }
  }
  if (stack && stack->count == stack->capacity) {
    size_t capacity = stack->capacity ? stack->capacity * 2 : 64;
    tc_tensor **items = tc__realloc(stack->items, capacity * sizeof *items);
    if (items) {
      stack->items = items;
      stack->capacity = capacity;
    }
  }
  if (!stack || stack->count == stack->capacity) {
    tc_tensor_release(tensor);
    tc__oom();
    return NULL;
  }
  stack->items[stack->count++] = tensor;
  return tensor;
}

tc_scope tc_scope_open(void) {
  scope_stack *stack = get_stack();
  return (tc_scope){stack ? stack->count : 0};
}

void tc_scope_close(tc_scope scope) {
  scope_stack *stack = get_stack();
  if (stack)
    release_above(stack, scope.mark);
}

void tc_scope_clear(void) { tc_scope_close((tc_scope){0}); }

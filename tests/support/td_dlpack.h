/* td_dlpack.h: the layout of DLPack's exchange structs, both versions, as far as the tests need it. */
#ifndef TD_DLPACK_H
#define TD_DLPACK_H

#include <stdint.h>

enum { DLPACK_CPU = 1, DLPACK_INT = 0, DLPACK_UINT = 1, DLPACK_FLOAT = 2, DLPACK_BOOL = 6 };
enum { DLPACK_READ_ONLY = 1 };

struct DLTensorLayout {
  void *data;
  int32_t device_type;
  int32_t device_index;
  int32_t dims;
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
  int64_t *sizes;
  int64_t *strides; /* in elements; NULL for row-major */
  uint64_t byte_offset;
};

struct DLManagedTensor {
  struct DLTensorLayout tensor;
  void *context;
  void (*deleter)(struct DLManagedTensor *self);
};

struct DLManagedTensorVersioned {
  uint32_t major;
  uint32_t minor;
  void *context;
  void (*deleter)(struct DLManagedTensorVersioned *self);
  uint64_t flags;
  struct DLTensorLayout tensor;
};

#endif

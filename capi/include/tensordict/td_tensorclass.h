/* tensordict/td_tensorclass.h: tensorclasses, dictionaries with declared fields (C: td_tensorclass_create, td_set_tensorclass, td_field; Python: tensorclass, TensorClass). */
#ifndef TENSORDICT_TD_TENSORCLASS_H
#define TENSORDICT_TD_TENSORCLASS_H

#include "tensordict/td_dict.h"

TD_BEGIN_C

/**
 * A tensorclass: a name and its declared fields. It is immutable.
 *
 * A dictionary of a tensorclass keeps its type through indexing, views, stacks, copies and every
 * other operation that makes a dictionary from it. What you set in it is checked: only declared
 * fields, of the declared kind, dtype and sizes.
 */
typedef struct td_tensorclass td_tensorclass;

/**
 * The kind of a field.
 */
typedef int32_t td_field_kind;
enum {
  TD_FIELD_TENSOR = 0,     /**< a tensor */
  TD_FIELD_DICT = 1,       /**< a dictionary with any content */
  TD_FIELD_NON_TENSOR = 2, /**< non-tensor data */
  TD_FIELD_TENSORCLASS = 3 /**< a dictionary of another tensorclass */
};

/**
 * Flags of a field.
 */
typedef uint32_t td_field_flags;
enum {
  TD_FIELD_OPTIONAL = 1,    /**< the field may be empty */
  TD_FIELD_HAS_FEATURE = 2, /**< `feature` and `feature_dims` give the sizes; otherwise any sizes */
  TD_FIELD_HAS_DEFAULT = 4  /**< the field has a default; set only by td_tensorclass_field() */
};

/**
 * One field of a tensorclass. If all fields but `name` are zero, it declares a tensor of any dtype
 * and any sizes that begin with the batch size. Its size stays 96 bytes in every release.
 */
typedef struct td_field {
  const char *name;                              /**< borrowed; NUL-terminated UTF-8 */
  td_field_kind kind;                            /**< what the field holds */
  td_dtype dtype;                                /**< dtype of a tensor; TD_DTYPE_OTHER: any */
  td_field_flags flags;                          /**< TD_FIELD_OPTIONAL, TD_FIELD_HAS_FEATURE */
  uint32_t feature_dims;                         /**< number of sizes behind the batch size */
  const int64_t *TD_NULLABLE feature;            /**< borrowed; these sizes; -1 for any size */
  const td_tensor *TD_NULLABLE default_tensor;   /**< borrowed; the value for one element of the batch */
  const char *TD_NULLABLE default_json;          /**< borrowed; default of non-tensor data */
  const td_tensorclass *TD_NULLABLE tensorclass; /**< borrowed; for TD_FIELD_TENSORCLASS */
  uint64_t reserved[5];                          /**< zero */
} td_field;

/**
 * Flags of a tensorclass.
 */
typedef uint32_t td_tensorclass_flags;
enum {
  TD_TENSORCLASS_AUTOCAST = 1, /**< converts tensors of another dtype; otherwise refuses them */
  TD_TENSORCLASS_FROZEN = 2    /**< locks its dictionaries */
};

/**
 * Options of td_tensorclass_create(). Set a field after `struct_size` to 0 for its default.
 */
typedef struct td_tensorclass_options {
  uint32_t struct_size;                   /**< sizeof(td_tensorclass_options) */
  td_tensorclass_flags flags;             /**< how dictionaries of the tensorclass behave */
  const td_tensorclass *TD_NULLABLE base; /**< borrowed; a tensorclass whose fields come first */
} td_tensorclass_options;
#define TD_TENSORCLASS_OPTIONS_INIT {sizeof(td_tensorclass_options), 0, NULL}

/**
 * Creates a tensorclass from a list of fields. Copies what you lend; default tensors are shared.
 *
 * @param name       borrowed; the name that is printed; NUL-terminated UTF-8. May begin with a
 *                   module, as in "my_module.MyData"; Python uses it to find the class of a saved
 *                   folder
 * @param fields     borrowed; NULL only when fields_len is 0
 * @param fields_len number of fields
 * @param options    borrowed; NULL for the defaults
 * @param result     new; free with td_tensorclass_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_INVALID (a name), TD_ERR_KEY_EXISTS (two fields of one name),
 *         TD_ERR_INVALID_ARGUMENT (a contradictory declaration, or a reserved field is not zero),
 *         TD_ERR_UNSUPPORTED (an unknown kind or flag, or more than 64 nested tensorclasses)
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_tensorclass_create(const char *name, const td_field *TD_NULLABLE fields,
                                size_t fields_len,
                                const td_tensorclass_options *TD_NULLABLE options,
                                td_tensorclass **result) TD_NOEXCEPT;

/**
 * Frees a tensorclass. Dictionaries and tensorclasses made with it keep what they need.
 *
 * @param type consumed; NULL and handles already freed are ignored
 * @threadsafety any thread
 */
TD_API(0, 2) void td_tensorclass_free(td_tensorclass *TD_NULLABLE type) TD_NOEXCEPT;

/**
 * Gets the name of a tensorclass.
 *
 * @param type     borrowed
 * @param text     written, with a closing NUL, when `text_cap` is larger than the length
 * @param text_cap room in `text`, in bytes; 0 asks for the length only
 * @param length   length of the text in bytes, without the NUL; also written on
 *                 TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_tensorclass_name(const td_tensorclass *type, char *TD_NULLABLE text, size_t text_cap,
                              size_t *length) TD_NOEXCEPT;

/**
 * Returns how many fields a tensorclass has.
 *
 * @param type borrowed
 * @return 0 for a handle that is not a tensorclass
 * @threadsafety any thread
 */
TD_API(0, 2) size_t td_tensorclass_len(const td_tensorclass *type) TD_NOEXCEPT;

/**
 * Gets the declaration of a field. The fields of the base come first, then the others as declared.
 *
 * @param type     borrowed
 * @param position from 0
 * @param result   written on success; its text and sizes are valid while `type` is; default_tensor
 *                 and tensorclass are NULL, TD_FIELD_HAS_DEFAULT says whether there is a default
 *
 * @return TD_OK, TD_ERR_INDEX (no such field)
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_tensorclass_field(const td_tensorclass *type, size_t position,
                               td_field *result) TD_NOEXCEPT;

/**
 * Creates a dictionary of a tensorclass. Fields get their default; otherwise tensors with declared
 * dtype and sizes are zeros, dictionaries are empty and non-tensor data is null. Optional fields
 * without default stay empty.
 *
 * @param type         borrowed
 * @param batch_size   borrowed; NULL only when batch_dims is 0
 * @param batch_dims   number of sizes
 * @param device_type  TD_DEVICE_NONE sets no device
 * @param device_index -1 for the current device, or for devices without an index
 * @param result       new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (a tensor without default, dtype or sizes), TD_ERR_SHAPE
 *         (a negative size), TD_ERR_DEVICE, TD_ERR_OUT_OF_MEMORY
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_tensorclass_instantiate(const td_tensorclass *type,
                                     const int64_t *TD_NULLABLE batch_size, size_t batch_dims,
                                     td_device_type device_type, int32_t device_index,
                                     td_tensordict **result) TD_NOEXCEPT;

/**
 * Gives a dictionary the type of a tensorclass, in place and without a copy, also nested
 * dictionaries under fields of nested tensorclasses. Missing fields get their default. With
 * TD_TENSORCLASS_AUTOCAST tensors are converted. Either everything changes or nothing.
 *
 * @param td   borrowed; changed
 * @param type borrowed; NULL makes it a plain dictionary again, and its nested ones too
 *
 * @return TD_OK, TD_ERR_KEY_INVALID (an entry is not declared), TD_ERR_KEY_NOT_FOUND (a field is
 *         missing), TD_ERR_WRONG_ENTRY, TD_ERR_DTYPE, TD_ERR_SHAPE, TD_ERR_LOCKED (a default or a
 *         conversion is needed)
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_set_tensorclass(td_tensordict *td, const td_tensorclass *TD_NULLABLE type) TD_NOEXCEPT;

/**
 * Checks whether a dictionary matches the declaration of a tensorclass. Changes nothing.
 *
 * @param type borrowed; NULL for the tensorclass of the dictionary itself
 * @param td   borrowed
 *
 * @return TD_OK, TD_ERR_KEY_INVALID (an entry is not declared), TD_ERR_KEY_NOT_FOUND (a field is
 *         missing), TD_ERR_WRONG_ENTRY, TD_ERR_DTYPE, TD_ERR_SHAPE, TD_ERR_INVALID_ARGUMENT (`type`
 *         is NULL and the dictionary has no tensorclass)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_tensorclass_check(const td_tensorclass *TD_NULLABLE type,
                               const td_tensordict *td) TD_NOEXCEPT;

/**
 * Gets the tensorclass of a dictionary.
 *
 * @param td     borrowed
 * @param result new; free with td_tensorclass_free(); NULL for a plain dictionary, and on failure
 *
 * @return TD_OK
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_tensorclass_of(const td_tensordict *td, td_tensorclass **result) TD_NOEXCEPT;

TD_END_C

#endif

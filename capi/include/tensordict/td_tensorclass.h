/* tensordict/td_tensorclass.h: dictionaries with declared fields (Python: tensorclass, TensorClass). */
#ifndef TENSORDICT_TD_TENSORCLASS_H
#define TENSORDICT_TD_TENSORCLASS_H

#include "tensordict/td_dict.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A tensorclass: a name, and what is declared of each field. It never changes.
 *
 * A dictionary that is a tensorclass keeps its type through indices, views, stacks, copies and all else that
 * makes dictionaries of it. What is set in it is checked: only declared fields, of the declared
 * kind, dtype and sizes.
 */
typedef struct td_tensorclass td_tensorclass;

/**
 * What a field holds.
 */
typedef int32_t td_field_kind;
enum {
  TD_FIELD_TENSOR = 0, /**< a tensor */
  TD_FIELD_DICT = 1,   /**< a dictionary of any content */
  TD_FIELD_NON_TENSOR = 2,  /**< a non-tensor value */
  TD_FIELD_TENSORCLASS = 3  /**< a tensorclass of another type */
};

/**
 * What else is said of a field.
 */
typedef uint32_t td_field_flags;
enum {
  TD_FIELD_OPTIONAL = 1,    /**< the field may be empty */
  TD_FIELD_HAS_FEATURE = 2, /**< feature and feature_dims say the sizes; else they may be any */
  TD_FIELD_HAS_DEFAULT = 4  /**< there is a default; only said by td_tensorclass_field() */
};

/**
 * One field of a tensorclass. Zero in all but the name declares a tensor of any dtype and any sizes that
 * begin with the batch size. 96 bytes, for ever.
 */
typedef struct td_field {
  const char *name;                            /**< borrowed; NUL-terminated UTF-8 */
  td_field_kind kind;                          /**< what it holds */
  td_dtype dtype;                              /**< of a tensor; TD_DTYPE_OTHER: any */
  td_field_flags flags;                        /**< optional, with sizes */
  uint32_t feature_dims;                       /**< number of sizes behind the batch size */
  const int64_t *TD_NULLABLE feature;          /**< borrowed; these sizes; -1 is any size */
  const td_tensor *TD_NULLABLE default_tensor; /**< borrowed; for one element of the batch */
  const char *TD_NULLABLE default_json;        /**< borrowed; of a non-tensor value */
  const td_tensorclass *TD_NULLABLE tensorclass;    /**< borrowed; for TD_FIELD_TENSORCLASS */
  uint64_t reserved[5];                        /**< zero */
} td_field;

/**
 * How the tensorclasses of a type behave.
 */
typedef uint32_t td_tensorclass_flags;
enum {
  TD_TENSORCLASS_AUTOCAST = 1, /**< tensors of another dtype are converted; else they are refused */
  TD_TENSORCLASS_FROZEN = 2    /**< tensorclasses are locked */
};

/**
 * How a tensorclass is made. Zero in every field but the first means the default.
 */
typedef struct td_tensorclass_options {
  uint32_t struct_size;                   /**< sizeof(td_tensorclass_options) */
  td_tensorclass_flags flags;                  /**< how its tensorclasses behave */
  const td_tensorclass *TD_NULLABLE base; /**< borrowed; a type whose fields come first */
} td_tensorclass_options;
#define TD_TENSORCLASS_OPTIONS_INIT {(uint32_t)sizeof(td_tensorclass_options), 0, NULL}

/**
 * Makes a tensorclass of a list of fields. All that is borrowed is copied; default tensors are shared.
 *
 * @param name       borrowed; under which its tensorclasses are printed; NUL-terminated UTF-8. A module may stand
 *                   before it, as in "my_module.MyData", by which Python finds the class of a folder
 * @param fields     borrowed; NULL only when fields_len is 0
 * @param fields_len number of fields
 * @param options    borrowed; NULL for the defaults
 * @param result     new; free with td_tensorclass_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_INVALID (a name), TD_ERR_KEY_EXISTS (two fields of one name),
 *         TD_ERR_INVALID_ARGUMENT (a declaration that contradicts itself, a reserved field that is not
 *         zero), TD_ERR_UNSUPPORTED (a kind or flag unknown to this version; tensorclasses nested more than 64
 *         levels deep)
 * @threadsafety any thread
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_tensorclass_create(const char *name, const td_field *TD_NULLABLE fields,
                                size_t fields_len,
                                const td_tensorclass_options *TD_NULLABLE options,
                                td_tensorclass **result) TD_NOEXCEPT;

/**
 * Gives a tensorclass back. Tensorclasses and types that were made with it keep what they need.
 *
 * @param type consumed; NULL and handles already freed are ignored
 * @threadsafety any thread
 * @since 0.2
 */
TD_API(0, 2) void td_tensorclass_free(td_tensorclass *TD_NULLABLE type) TD_NOEXCEPT;

/**
 * The name of a tensorclass.
 *
 * @param type     borrowed
 * @param text     written with a closing NUL when `text_cap` is larger than the length
 * @param text_cap bytes that `text` can take; 0 asks for the length only
 * @param length   bytes of the text without the NUL; also written with TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety any thread
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_tensorclass_name(const td_tensorclass *type, char *TD_NULLABLE text, size_t text_cap,
                              size_t *length) TD_NOEXCEPT;

/**
 * How many fields a tensorclass has.
 *
 * @param type borrowed
 * @return 0 for a handle that is not a tensorclass
 * @threadsafety any thread
 * @since 0.2
 */
TD_API(0, 2) size_t td_tensorclass_len(const td_tensorclass *type) TD_NOEXCEPT;

/**
 * What was declared of a field: those of the base first, then in the order of the declaration.
 *
 * @param type     borrowed
 * @param position from 0
 * @param result   written on success; its texts and sizes live as long as `type`; default_tensor and
 *                 tensorclass are NULL, TD_FIELD_HAS_DEFAULT says whether there is a default
 *
 * @return TD_OK, TD_ERR_INDEX
 * @threadsafety any thread
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_tensorclass_field(const td_tensorclass *type, size_t position,
                               td_field *result) TD_NOEXCEPT;

/**
 * Makes a tensorclass: defaults where there are any, zeros where dtype and sizes are declared in full, empty
 * dictionaries, null for values. Optional fields stay empty unless they have a default.
 *
 * @param type         borrowed
 * @param batch_size   borrowed; NULL only when batch_dims is 0
 * @param batch_dims   number of sizes
 * @param device_type  TD_DEVICE_NONE leaves the device open
 * @param device_index -1 for the current one, or for devices that have no number
 * @param result       new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (a tensor without default, dtype or sizes), TD_ERR_SHAPE
 *         (negative size), TD_ERR_DEVICE, TD_ERR_OUT_OF_MEMORY
 * @threadsafety any thread
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_tensorclass_instantiate(const td_tensorclass *type,
                                     const int64_t *TD_NULLABLE batch_size, size_t batch_dims,
                                     td_device_type device_type, int32_t device_index,
                                     td_tensordict **result) TD_NOEXCEPT;

/**
 * Makes a tensorclass of a dictionary, in place and without a copy, and tensorclasses of the dictionaries under fields
 * of nested types. Missing fields that have a default get it; with TD_TENSORCLASS_AUTOCAST tensors are
 * converted. Either everything changes or nothing.
 *
 * @param td   borrowed; changed
 * @param type borrowed; NULL makes a plain dictionary of it again, nested ones too
 *
 * @return TD_OK, TD_ERR_KEY_INVALID (an entry that is not declared), TD_ERR_KEY_NOT_FOUND (a field that is
 *         missing), TD_ERR_WRONG_ENTRY, TD_ERR_DTYPE, TD_ERR_SHAPE, TD_ERR_LOCKED (a default or a
 *         conversion is needed)
 * @threadsafety needs the dictionary for itself
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_set_tensorclass(td_tensordict *td, const td_tensorclass *TD_NULLABLE type) TD_NOEXCEPT;

/**
 * Looks whether a dictionary, a tensorclass or not, is what a type says. Nothing is filled in or converted.
 *
 * @param type borrowed; NULL for the type that the dictionary has
 * @param td   borrowed
 *
 * @return TD_OK, TD_ERR_KEY_INVALID (an entry that is not declared), TD_ERR_KEY_NOT_FOUND (a field that is
 *         missing), TD_ERR_WRONG_ENTRY, TD_ERR_DTYPE, TD_ERR_SHAPE, TD_ERR_INVALID_ARGUMENT (no type
 *         given, and it has none)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_tensorclass_check(const td_tensorclass *TD_NULLABLE type,
                               const td_tensordict *td) TD_NOEXCEPT;

/**
 * The tensorclass of a dictionary.
 *
 * @param td     borrowed
 * @param result new; free with td_tensorclass_free(); NULL for a plain dictionary, and on failure
 *
 * @return TD_OK
 * @threadsafety safe beside calls that only read `td`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_tensorclass_of(const td_tensordict *td, td_tensorclass **result) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif

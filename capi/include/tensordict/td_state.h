/* tensordict/td_state.h: state dicts and schemas (Python: state_dict, load_state_dict). */
#ifndef TENSORDICT_TD_STATE_H
#define TENSORDICT_TD_STATE_H

#include "tensordict/td_dict.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * What a state looks like. Zero in every field but the first means the default.
 */
typedef struct td_state_dict_options {
  uint32_t struct_size; /**< sizeof(td_state_dict_options) */
  int32_t nested;       /**< 1: dictionaries in each other instead of names joined with dots */
  int32_t keep_vars;    /**< 1: tensors with their history; 0: detached ones */
  int32_t reserved;     /**< zero */
} td_state_dict_options;
#define TD_STATE_DICT_OPTIONS_INIT {(uint32_t)sizeof(td_state_dict_options), 0, 0, 0}

/**
 * The tensors of a dictionary, each under one name: "n.b" for what stands under "n", "b".
 *
 * They share memory with those of `td`. A value "_metadata" holds, as JSON, the batch size and the device
 * of each dictionary. Other non-tensor values are left out. Of a lazy stack the tensors are those
 * that it reads as; where its elements differ each has its own: "0.b", "1.b".
 *
 * @param td      borrowed
 * @param options borrowed; NULL for the defaults
 * @param result  new; a dictionary without batch dimensions; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_EXISTS (two paths join to the same name, or one is "_metadata")
 * @threadsafety safe beside calls that only read `td`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_state_dict(const td_tensordict *td, const td_state_dict_options *TD_NULLABLE options,
                        td_tensordict **result) TD_NOEXCEPT;

/**
 * Of which form a state is.
 */
typedef int32_t td_state_form;
enum {
  TD_STATE_DETECT = 0, /**< nested if there is a dictionary in it */
  TD_STATE_FLAT = 1,   /**< names joined with dots */
  TD_STATE_NESTED = 2  /**< dictionaries in each other */
};

/**
 * How a state is loaded. Zero in every field but the first means the default.
 */
typedef struct td_load_state_dict_options {
  uint32_t struct_size; /**< sizeof(td_load_state_dict_options) */
  int32_t partial;      /**< 1: what only one of the two has is left alone; 0: it is a failure */
  int32_t assign;       /**< 1: the tensors of the state take the place of those in the dictionary */
  td_state_form form;   /**< one of TD_STATE_ */
} td_load_state_dict_options;
#define TD_LOAD_STATE_DICT_OPTIONS_INIT {(uint32_t)sizeof(td_load_state_dict_options), 0, 0, 0}

/**
 * Writes the values of a state into the tensors of a dictionary. Allowed when locked, but for `assign`.
 *
 * Batch sizes become those of the metadata, if the state has any.
 *
 * @param td      borrowed; changed; left as it was on failure
 * @param source  borrowed; what td_state_dict() gave, or a dictionary of tensors of the same names
 * @param options borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND (the keys differ; the text says which), TD_ERR_SHAPE, TD_ERR_DEVICE
 *         (taken from another device), TD_ERR_LOCKED, TD_ERR_FORMAT (metadata without meaning),
 *         TD_ERR_UNSUPPORTED (a sub-tensordict, or a nested tensor inside `td`)
 * @threadsafety needs the dictionary for itself; safe beside calls that only read `source`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_load_state_dict(td_tensordict *td, const td_tensordict *source,
                             const td_load_state_dict_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * The structure of a dictionary as JSON: keys, batch sizes, devices, names of dimensions, dtypes and
 * shapes of the tensors, and the non-tensor values.
 *
 * {"batch_size": [3], "entries": {"obs": {"dtype": "torch.float32", "shape": [3, 4], "device": "cpu"},
 * "n": {"batch_size": [3], "entries": {}}, "s": {"value": "text"}}}
 *
 * "device" and "names" of a dictionary stand there if it has any; the device of a tensor if its
 * dictionary has none; "values" instead of "value" where each element of the batch has its own.
 *
 * @param td       borrowed
 * @param text     written with a closing NUL when `text_cap` is larger than the length
 * @param text_cap bytes that `text` can take; 0 asks for the length only
 * @param length   bytes of the text without the NUL; also written with TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_BUFFER_TOO_SMALL, TD_ERR_DTYPE (one that has no name in files)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_schema(const td_tensordict *td, char *TD_NULLABLE text, size_t text_cap,
                    size_t *length) TD_NOEXCEPT;

/**
 * What stands in the tensors of a dictionary that is made by its structure.
 */
typedef int32_t td_schema_content;
enum {
  TD_SCHEMA_ZEROS = 0,         /**< zeros */
  TD_SCHEMA_UNINITIALIZED = 1, /**< whatever the memory holds */
  TD_SCHEMA_META = 2           /**< nothing: meta tensors, for td_memmap_like() or td_to() */
};

/**
 * How a dictionary is made by its structure. Zero in every field but the first means the default.
 */
typedef struct td_schema_options {
  uint32_t struct_size;       /**< sizeof(td_schema_options) */
  td_schema_content content;  /**< one of TD_SCHEMA_ */
  td_device_type device_type; /**< TD_DEVICE_NONE: the devices that the text names */
  int32_t device_index;       /**< which device of that kind; -1 for the current one */
} td_schema_options;
#define TD_SCHEMA_OPTIONS_INIT {(uint32_t)sizeof(td_schema_options), 0, 0, -1}

/**
 * Makes a dictionary of the structure that td_schema() describes, or that was written by hand.
 *
 * Of a dictionary only "entries" is needed: the batch size is then that of the one above it. Of a tensor
 * "dtype" and "shape", the latter with the batch size.
 *
 * @param text    borrowed; NUL-terminated UTF-8
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_FORMAT, TD_ERR_SHAPE, TD_ERR_DTYPE, TD_ERR_DEVICE, TD_ERR_KEY_INVALID,
 *         TD_ERR_OUT_OF_MEMORY
 * @threadsafety any thread
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_from_schema(const char *text, const td_schema_options *TD_NULLABLE options,
                         td_tensordict **result) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif

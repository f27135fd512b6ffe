/* tensordict/td_state.h: state dicts and schemas (C: td_state_dict, td_load_state_dict, td_schema; Python: state_dict, load_state_dict). */
#ifndef TENSORDICT_TD_STATE_H
#define TENSORDICT_TD_STATE_H

#include "tensordict/td_dict.h"

TD_BEGIN_C

/**
 * Options of td_state_dict(). Set a field after `struct_size` to 0 for its default.
 */
typedef struct td_state_dict_options {
  uint32_t struct_size; /**< sizeof(td_state_dict_options) */
  int32_t nested;       /**< 1: nested dictionaries; 0: names joined with dots */
  int32_t keep_vars;    /**< 1: tensors keep their autograd history; 0: detached tensors */
  int32_t reserved;     /**< zero */
} td_state_dict_options;
#define TD_STATE_DICT_OPTIONS_INIT {sizeof(td_state_dict_options), 0, 0, 0}

/**
 * Collects the tensors of a dictionary, each under one name: "n.b" for the entry "n", "b".
 *
 * They share memory with those of `td`. The entry "_metadata" holds, as JSON, the batch size and
 * device of each dictionary. Other non-tensor data is left out. A lazy stack gives its stacked
 * tensors; where its elements differ, each element has its own: "0.b", "1.b".
 *
 * @param td      borrowed
 * @param options borrowed; NULL for the defaults
 * @param result  new; a dictionary without batch dimensions; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_EXISTS (two tensors join to one name, or a path is "_metadata")
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_state_dict(const td_tensordict *td, const td_state_dict_options *TD_NULLABLE options,
                        td_tensordict **result) TD_NOEXCEPT;

/**
 * The form of a state dict.
 */
typedef int32_t td_state_form;
enum {
  TD_STATE_DETECT = 0, /**< nested if it contains a dictionary */
  TD_STATE_FLAT = 1,   /**< names joined with dots */
  TD_STATE_NESTED = 2  /**< nested dictionaries */
};

/**
 * Options of td_load_state_dict(). Set a field after `struct_size` to 0 for its default.
 */
typedef struct td_load_state_dict_options {
  uint32_t struct_size; /**< sizeof(td_load_state_dict_options) */
  int32_t partial;      /**< 1: ignores keys that only one side has; 0: fails. Python: strict=False */
  int32_t assign;       /**< 1: the tensors of the state dict replace those in the dictionary */
  td_state_form form;   /**< one of TD_STATE_ */
} td_load_state_dict_options;
#define TD_LOAD_STATE_DICT_OPTIONS_INIT {sizeof(td_load_state_dict_options), 0, 0, 0}

/**
 * Writes the values of a state dict into the tensors of a dictionary. Works on a locked dictionary,
 * except with `assign`.
 *
 * Takes over the batch sizes of the metadata, if the state dict has any.
 *
 * @param td      borrowed; changed; unchanged on failure
 * @param source  borrowed; a result of td_state_dict(), or a dictionary of tensors with the same
 *                names
 * @param options borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND (the keys differ; the message lists them), TD_ERR_SHAPE,
 *         TD_ERR_DEVICE (with `assign`, a tensor is on another device), TD_ERR_LOCKED,
 *         TD_ERR_FORMAT (invalid metadata), TD_ERR_UNSUPPORTED (a sub-tensordict, or a nested
 *         tensor inside `td`)
 * @threadsafety needs exclusive access to `td`; other threads may read `source`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_load_state_dict(td_tensordict *td, const td_tensordict *source,
                             const td_load_state_dict_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * Describes a dictionary as JSON: keys, batch sizes, devices, names of dimensions, dtypes and
 * shapes of the tensors, and non-tensor data.
 *
 * {"batch_size": [3], "entries": {"obs": {"dtype": "torch.float32", "shape": [3, 4], "device":
 * "cpu"}, "n": {"batch_size": [3], "entries": {}}, "s": {"value": "text"}}}
 *
 * A dictionary has "device" and "names" only if they are set. A tensor has "device" only if its
 * dictionary has no device. Non-tensor data with one value per element has "values" instead of
 * "value".
 *
 * @param td       borrowed
 * @param text     written, with a closing NUL, when `text_cap` is larger than the length
 * @param text_cap room in `text`, in bytes; 0 asks for the length only
 * @param length   length of the text in bytes, without the NUL; also written on
 *                 TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_BUFFER_TOO_SMALL, TD_ERR_DTYPE (a dtype without a name in files)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_schema(const td_tensordict *td, char *TD_NULLABLE text, size_t text_cap,
                    size_t *length) TD_NOEXCEPT;

/**
 * What the tensors of td_from_schema() contain.
 */
typedef int32_t td_schema_content;
enum {
  TD_SCHEMA_ZEROS = 0,         /**< zeros */
  TD_SCHEMA_UNINITIALIZED = 1, /**< uninitialised memory */
  TD_SCHEMA_META = 2           /**< no memory: meta tensors, for td_memmap_like() or td_to() */
};

/**
 * Options of td_from_schema(). Set a field after `struct_size` to 0 for its default.
 */
typedef struct td_schema_options {
  uint32_t struct_size;       /**< sizeof(td_schema_options) */
  td_schema_content content;  /**< one of TD_SCHEMA_ */
  td_device_type device_type; /**< TD_DEVICE_NONE: the devices in the schema */
  int32_t device_index;       /**< index among the devices of that type; -1 for the current one */
} td_schema_options;
#define TD_SCHEMA_OPTIONS_INIT {sizeof(td_schema_options), 0, 0, -1}

/**
 * Creates a dictionary from a schema that td_schema() or a person wrote.
 *
 * A dictionary needs only "entries"; its batch size then is that of its parent. A tensor needs
 * "dtype" and "shape", which includes the batch size. A size of -1, which td_schema() writes where
 * the elements of a lazy stack differ, becomes the size of the batch above, or 0.
 *
 * @param text    borrowed; NUL-terminated UTF-8
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_FORMAT (not a schema), TD_ERR_SHAPE, TD_ERR_DTYPE, TD_ERR_DEVICE,
 *         TD_ERR_KEY_INVALID, TD_ERR_OUT_OF_MEMORY
 * @threadsafety any thread
 */
TD_API(0, 1) TD_MUST_USE
td_status td_from_schema(const char *text, const td_schema_options *TD_NULLABLE options,
                         td_tensordict **result) TD_NOEXCEPT;

TD_END_C

#endif

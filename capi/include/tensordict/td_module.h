/* tensordict/td_module.h: networks, functions and sequences over dictionaries; parameters of a torch::nn::Module are in td_module.hpp (C: td_module_load, td_module_call, …; Python: tensordict.nn). */
#ifndef TENSORDICT_TD_MODULE_H
#define TENSORDICT_TD_MODULE_H

#include "tensordict/td_entries.h"

TD_BEGIN_C

/**
 * A module: it reads entries of a dictionary, its in_keys, computes, and writes others, its
 * out_keys. Python: TensorDictModule. Only its parameters can change, by td_module_set_params().
 */
typedef struct td_module td_module;

/**
 * Flags of td_module_load().
 */
typedef uint32_t td_module_load_flags;
enum {
  TD_MODULE_LOAD_FREEZE = 1,   /**< parameters become constants, no longer in td_module_params(): for
                                    policies that no longer change */
  TD_MODULE_LOAD_OPTIMIZE = 2, /**< frozen, and rewritten by libtorch for inference */
  TD_MODULE_LOAD_TRAIN = 4     /**< computes as after train() in Python: batch normalisation takes the
                                    statistics of each batch and updates the running ones among the
                                    parameters, and dropout draws; for an archive that was exported
                                    with train=True; takes only the example's number of batch
                                    dimensions */
};

/**
 * Options of td_module_load(). Set a field after `struct_size` to 0 for its default.
 */
typedef struct td_module_load_options {
  uint32_t struct_size;                /**< sizeof(td_module_load_options) */
  td_module_load_flags flags;          /**< how the module is prepared */
  td_device_type device_type;          /**< device of the parameters; TD_DEVICE_NONE: the CPU */
  int32_t device_index;                /**< index among the devices of that type; -1 for the current
                                            one */
  td_dtype dtype;                      /**< of floating-point parameters and buffers;
                                            TD_DTYPE_OTHER: as stored */
  uint32_t reserved;                   /**< zero */
  const td_key *TD_NULLABLE in_keys;   /**< borrowed; of the network; NULL: those that the archive
                                            names */
  size_t in_keys_len;                  /**< number of keys */
  const td_key *TD_NULLABLE out_keys;  /**< borrowed; of the network; NULL: those that the archive
                                            names; the key "_" drops an output */
  size_t out_keys_len;                 /**< number of keys */
  const char *TD_NULLABLE sha256;      /**< borrowed; 64 hexadecimal digits: another file is refused */
} td_module_load_options;
#define TD_MODULE_LOAD_OPTIONS_INIT \
  {sizeof(td_module_load_options), 0, 0, -1, 0, 0, NULL, 0, NULL, 0, NULL}

/**
 * Loads a module that Python wrote: a TorchScript archive, as tools/export_module.py and
 * torch.jit.save write it, or with libtorch 2.6 and newer a package of AOTInductor (".pt2"). Such a
 * file is code: load only those that you trust, and pin them with `sha256` if others can write the
 * file.
 *
 * The archive names its keys in the extra file "tensordict.json":
 * {"version": 1, "in_keys": [["agent", "obs"]], "out_keys": [["action"]]}. Inputs are passed by
 * position. The module returns a tensor, a tuple or list of tensors, or a dictionary of tensors by
 * the last names of the out_keys. Version 2 may also say which distributions follow the network;
 * then the result is a sequence, whose parameters are those of the network. The guide to modules has
 * the table.
 *
 * A package computes with the parameters that it was compiled with: td_module_params() is empty, and
 * a call cannot replace them. It takes inputs of the dtypes and sizes that it was compiled for, and
 * passes no gradients.
 *
 * @param file    borrowed; UTF-8 path; not a symbolic link
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_module_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_FORMAT (not a valid archive, or another checksum),
 *         TD_ERR_UNSUPPORTED (the archive is of a newer form, or names what this library does not
 *         know; a package, with a libtorch before 2.6; a package, with `dtype` or
 *         TD_MODULE_LOAD_TRAIN; with the latter, an archive without a training mode), TD_ERR_KEY_NOT_FOUND
 *         (neither the archive nor the options name the keys), TD_ERR_KEY_INVALID, TD_ERR_DTYPE,
 *         TD_ERR_DEVICE (not in this machine, or a package was compiled for another),
 *         TD_ERR_INVALID_ARGUMENT (the module takes another number of inputs; `sha256` is no
 *         checksum; it is to train and to be frozen)
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_module_load(const char *file, const td_module_load_options *TD_NULLABLE options,
                         td_module **result) TD_NOEXCEPT;

/**
 * Writes a module that td_module_load() read from an archive, with its keys, with what follows the
 * network, and with its parameters as they are now. An existing file is replaced once the new one is
 * complete.
 *
 * @param module borrowed
 * @param file   borrowed; UTF-8 path; its folder exists
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_UNSUPPORTED (another kind of module, or a package)
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_module_save(const td_module *module, const char *file) TD_NOEXCEPT;

/**
 * Your function as a module, called once per call of the module, on the thread of that call.
 *
 * It gets a dictionary of its own that holds the in_keys of the input, over the same tensors, and
 * may set entries in it. It may call any function of the library, also the module itself. It must
 * not unwind (no exception, panic or longjmp). If it returns anything but TD_OK, the call fails and
 * writes nothing.
 *
 * @param user   the value that you passed to td_module_from_function()
 * @param source borrowed; the handle is valid until the function returns
 * @param result consumed if you store a handle there: a dictionary that holds the out_keys; leave
 *               NULL if you set them in `source`
 */
typedef td_status (*td_module_fn)(void *TD_NULLABLE user, td_tensordict *source,
                                  td_tensordict **result);

/**
 * Flags of td_module_from_function().
 */
typedef uint32_t td_module_function_flags;
enum {
  TD_MODULE_FUNCTION_STRICT = 1 /**< a missing input is an error; otherwise `source` lacks it */
};

/**
 * Options of td_module_from_function(). Set a field after `struct_size` to 0 for its default.
 */
typedef struct td_module_function_options {
  uint32_t struct_size;               /**< sizeof(td_module_function_options) */
  td_module_function_flags flags;     /**< what is refused */
  const td_key *TD_NULLABLE in_keys;  /**< borrowed; what the function gets; NULL: the whole
                                           dictionary */
  size_t in_keys_len;                 /**< number of keys */
  const td_key *TD_NULLABLE out_keys; /**< borrowed; what is taken from the result; NULL: everything
                                           that is new in it */
  size_t out_keys_len;                /**< number of keys */
} td_module_function_options;
#define TD_MODULE_FUNCTION_OPTIONS_INIT \
  {sizeof(td_module_function_options), 0, NULL, 0, NULL, 0}

/**
 * Makes a module of your function. Python: TensorDictModule of a function; without keys WrapModule.
 *
 * @param options  borrowed; NULL for the defaults
 * @param callback called in each call of the module, on several threads at once if you call it so
 * @param user     passed to `callback` and to `release`
 * @param release  called once, when the last module that needs `user` is gone, or if this call
 *                 fails; NULL if there is nothing to release
 * @param result   new; free with td_module_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_INVALID, TD_ERR_INVALID_ARGUMENT
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_module_from_function(const td_module_function_options *TD_NULLABLE options,
                                  td_module_fn callback, void *TD_NULLABLE user,
                                  td_release_fn TD_NULLABLE release,
                                  td_module **result) TD_NOEXCEPT;

/**
 * Flags of td_module_sequence().
 */
typedef uint32_t td_module_sequence_flags;
enum {
  TD_MODULE_SEQUENCE_PARTIAL_TOLERANT = 1 /**< skips a module that lacks an input; in a lazy stack
                                               for each element alone */
};

/**
 * Options of td_module_sequence(). Set a field after `struct_size` to 0 for its default.
 */
typedef struct td_module_sequence_options {
  uint32_t struct_size;           /**< sizeof(td_module_sequence_options) */
  td_module_sequence_flags flags; /**< what is tolerated */
} td_module_sequence_options;
#define TD_MODULE_SEQUENCE_OPTIONS_INIT {sizeof(td_module_sequence_options), 0}

/**
 * Makes a module that runs others in order. Python: TensorDictSequential.
 *
 * Its in_keys are those that no earlier module writes; its out_keys all that the modules write. Its
 * parameters are those of the modules under "0", "1", ….
 *
 * @param modules     borrowed; the result keeps what it needs; NULL only when modules_len is 0
 * @param modules_len number of modules
 * @param options     borrowed; NULL for the defaults
 * @param result      new; free with td_module_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (an unknown flag), TD_ERR_UNSUPPORTED (more than 10,000
 *         modules, counted in sequences too, or sequences in one another more than 200 deep)
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_module_sequence(const td_module *const *TD_NULLABLE modules, size_t modules_len,
                             const td_module_sequence_options *TD_NULLABLE options,
                             td_module **result) TD_NOEXCEPT;

/**
 * Makes a sequence of those modules of a sequence that can run with these inputs and matter for
 * these outputs. Python: select_subsequence.
 *
 * @param module       borrowed; a sequence
 * @param in_keys      borrowed; NULL: the in_keys of the sequence
 * @param in_keys_len  number of keys
 * @param out_keys     borrowed; NULL: the out_keys of the sequence
 * @param out_keys_len number of keys
 * @param result       new; free with td_module_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (no module is left), TD_ERR_KEY_INVALID,
 *         TD_ERR_UNSUPPORTED (not a sequence)
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_module_select_subsequence(const td_module *module, const td_key *TD_NULLABLE in_keys,
                                       size_t in_keys_len, const td_key *TD_NULLABLE out_keys,
                                       size_t out_keys_len, td_module **result) TD_NOEXCEPT;

/**
 * Makes a module that runs like another and writes only some of its outputs. Python:
 * select_out_keys.
 *
 * @param module   borrowed; the result keeps what it needs
 * @param keys     borrowed; NULL only when keys_len is 0
 * @param keys_len number of keys
 * @param result   new; free with td_module_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND (the module does not write such a key), TD_ERR_KEY_INVALID
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_module_select_out_keys(const td_module *module, const td_key *TD_NULLABLE keys,
                                    size_t keys_len, td_module **result) TD_NOEXCEPT;

/**
 * Frees a module. Modules made with it, and calls that run, keep what they need.
 *
 * @param module consumed; NULL and handles already freed are ignored
 * @threadsafety any thread
 */
TD_API(0, 2) void td_module_free(td_module *TD_NULLABLE module) TD_NOEXCEPT;

/**
 * Gets the keys that a module reads.
 *
 * @param module borrowed
 * @param result new; free with td_keys_free(); NULL on failure
 *
 * @return TD_OK
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_module_in_keys(const td_module *module, td_keys **result) TD_NOEXCEPT;

/**
 * Gets the keys that a module writes. An output that is dropped has the key "_".
 *
 * @param module borrowed
 * @param result new; free with td_keys_free(); NULL on failure
 *
 * @return TD_OK
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_module_out_keys(const td_module *module, td_keys **result) TD_NOEXCEPT;

/**
 * Prints a module in one line.
 *
 * @param module   borrowed
 * @param text     written, with a closing NUL, when `text_cap` is larger than the length
 * @param text_cap room in `text`, in bytes; 0 asks for the length only
 * @param length   length of the text in bytes, without the NUL; also written on
 *                 TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_module_to_string(const td_module *module, char *TD_NULLABLE text, size_t text_cap,
                              size_t *length) TD_NOEXCEPT;

/**
 * Gets the parameters and buffers of a module, nested by its sub-modules: the tensors themselves,
 * so what you write to them the next call uses. Tensors that sub-modules share are one tensor.
 * Python: TensorDict.from_module.
 *
 * @param module borrowed
 * @param result new; free with td_free(); a dictionary without batch size, empty without parameters;
 *               NULL on failure
 *
 * @return TD_OK
 * @threadsafety any thread; exclusive access to the module's tensors is needed to write to them
 */
TD_API(0, 2) TD_MUST_USE
td_status td_module_params(const td_module *module, td_tensordict **result) TD_NOEXCEPT;

/**
 * Gives a module other tensors as its parameters and buffers: all, or those of a sub-module. A call
 * that runs on another thread uses those of before to its end, in all modules of a sequence. Python:
 * to_module.
 *
 * @param module borrowed; its parameters change, unless the call fails
 * @param part   borrowed; a sub-module, as td_module_params() names it; NULL: all parameters
 * @param params borrowed; the module keeps its tensors, not the dictionary
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND (a parameter is missing, or there is no such sub-module),
 *         TD_ERR_KEY_INVALID (one too many), TD_ERR_WRONG_ENTRY, TD_ERR_SHAPE (other sizes, or a
 *         batch size), TD_ERR_INVALID_ARGUMENT (a module or tensor that stands in two places would
 *         get two values), TD_ERR_UNSUPPORTED (a package of AOTInductor)
 * @threadsafety safe while other threads call `module` and read `params`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_module_set_params(td_module *module, const td_key *TD_NULLABLE part,
                               const td_tensordict *params) TD_NOEXCEPT;

/**
 * Which value of a distribution a module takes.
 */
typedef int32_t td_interaction_type;
enum {
  TD_INTERACTION_DEFAULT = 0,      /**< as the module was made */
  TD_INTERACTION_MODE = 1,         /**< its mode */
  TD_INTERACTION_MEDIAN = 2,       /**< its median */
  TD_INTERACTION_MEAN = 3,         /**< its mean */
  TD_INTERACTION_RANDOM = 4,       /**< a sample */
  TD_INTERACTION_DETERMINISTIC = 5 /**< the mean of continuous, the mode of discrete ones */
};

/**
 * Flags of td_module_call().
 */
typedef uint32_t td_module_call_flags;
enum {
  TD_MODULE_CALL_MAP_INPUT = 1,    /**< with a batch of parameters: the input has the dimension too,
                                        as its first one; otherwise each set gets the whole input */
  TD_MODULE_CALL_SKIP_EXISTING = 2 /**< does not run modules whose outputs are all there, unless one
                                        is an input, too. A network of several modules in one archive
                                        is TD_ERR_UNSUPPORTED where only some of its outputs are there */
};

/**
 * What td_module_call() writes to.
 */
typedef int32_t td_module_output_kind;
enum {
  TD_MODULE_OUTPUT_LIKE_INPUT = 0, /**< a new dictionary of the input's batch size and device */
  TD_MODULE_OUTPUT_PLAIN = 1       /**< a new dictionary without batch size and device */
};

/**
 * Options of td_module_call(). Set a field after `struct_size` to 0 for its default.
 */
typedef struct td_module_call_options {
  uint32_t struct_size;                    /**< sizeof(td_module_call_options) */
  td_module_call_flags flags;              /**< how the module runs */
  td_module_output_kind output;            /**< what receives the outputs */
  td_interaction_type interaction;         /**< which value of distributions; TD_INTERACTION_DEFAULT:
                                                as each module was made */
  const td_tensordict *TD_NULLABLE params; /**< borrowed; parameters for this call alone; with a batch
                                                dimension the module runs once for each set */
  td_tensordict *TD_NULLABLE out;          /**< borrowed; receives the outputs, instead of a new
                                                dictionary */
} td_module_call_options;
#define TD_MODULE_CALL_OPTIONS_INIT {sizeof(td_module_call_options), 0, 0, 0, NULL, NULL}

/**
 * Runs a module and gives its outputs in a dictionary.
 *
 * With `params` the module runs with these parameters instead of its own (Python: functional_call).
 * If they have a batch dimension of n, it runs as under vmap, for all n sets at once: outputs have n
 * as their first size. A module that changes its own state in a call (batch normalisation in
 * training) must not be called on two threads at once.
 *
 * @param td      borrowed
 * @param module  borrowed
 * @param options borrowed; NULL for the defaults; `out` is changed
 * @param result  new; free with td_free(); NULL on failure; with `out` a handle on it
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND (an input or a parameter is missing, or a function does not
 *         return an out_key), TD_ERR_KEY_INVALID (a parameter too many), TD_ERR_WRONG_ENTRY,
 *         TD_ERR_SHAPE (an output does not begin with the batch size; parameters of other sizes),
 *         TD_ERR_INVALID_ARGUMENT (the module returns another number of outputs), TD_ERR_LOCKED
 *         (`out`), TD_ERR_UNSUPPORTED (a function, with a batch of parameters; a package of
 *         AOTInductor, with parameters), TD_ERR_DTYPE (an input of a package), TD_ERR_TORCH (the
 *         module failed; its dtype, shape or device does not fit the input), or the code that a
 *         function returned; TD_ERR_CALLBACK if that code is unknown
 * @threadsafety safe while other threads call `module` and only read `td` and `params`; needs
 *               exclusive access to `out`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_module_call(const td_tensordict *td, const td_module *module,
                         const td_module_call_options *TD_NULLABLE options,
                         td_tensordict **result) TD_NOEXCEPT;

/**
 * Like td_module_call(), but sets the outputs in the input. Python: a module with inplace=True.
 *
 * @param td      borrowed; changed; as before on failure
 * @param module  borrowed
 * @param options borrowed; NULL for the defaults; without `out`
 *
 * @return TD_OK, TD_ERR_LOCKED, otherwise as td_module_call()
 * @threadsafety needs exclusive access to `td`; safe while other threads call `module`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_module_call_inplace(td_tensordict *td, const td_module *module,
                                 const td_module_call_options *TD_NULLABLE options) TD_NOEXCEPT;

TD_END_C

#endif

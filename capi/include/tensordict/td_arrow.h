/* tensordict/td_arrow.h: tables of Arrow in this process (C: td_from_arrow, td_from_arrow_stream, td_to_arrow, td_to_arrow_stream; Python: from_pandas, pyarrow.RecordBatch). */
#ifndef TENSORDICT_TD_ARROW_H
#define TENSORDICT_TD_ARROW_H

#include "tensordict/td_dict.h"

TD_BEGIN_C

/* Arrow's C data interface and C stream interface, as its specification gives them: no library of
 * Arrow is needed. The guards are the specification's, so that other headers may bring the structs. */
struct ArrowSchema;
struct ArrowArray;
struct ArrowArrayStream;

#ifndef SWIG
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char *format;
  const char *name;
  const char *metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema **children;
  struct ArrowSchema *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void **buffers;
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
  const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};

#endif
#endif

/**
 * What td_from_arrow() makes of numbers that are missing.
 */
typedef int32_t td_arrow_nulls_kind;
enum {
  TD_ARROW_NULLS_REFUSE = 0, /**< TD_ERR_UNSUPPORTED, with the name of the column and how many there are */
  TD_ARROW_NULLS_NAN = 1,    /**< NaN in columns of floating point; other columns are refused */
  TD_ARROW_NULLS_MASK = 2    /**< a bool tensor "NAME.valid" beside a column "NAME" that has nulls:
                                  false where a value is missing, over its first dimensions. The
                                  number there is what the producer left */
};

/**
 * Flags of td_from_arrow() and td_from_arrow_stream().
 */
typedef uint32_t td_from_arrow_flags;
enum {
  TD_FROM_ARROW_COPY = 1 /**< tensors of their own, which may be written */
};

/**
 * Options of td_from_arrow() and td_from_arrow_stream(). Set a field after `struct_size` to 0 for its
 * default.
 */
typedef struct td_from_arrow_options {
  uint32_t struct_size;              /**< sizeof(td_from_arrow_options) */
  td_from_arrow_flags flags;         /**< TD_FROM_ARROW_COPY, or 0 */
  td_arrow_nulls_kind nulls;         /**< one of TD_ARROW_NULLS_ */
  uint32_t max_depth;                /**< deepest accepted nesting; 0: 1,000 */
  uint32_t max_entries;              /**< most accepted columns and structs; 0: 1,000,000 */
  uint32_t reserved;                 /**< 0 */
  const char *TD_NULLABLE separator; /**< borrowed; splits names of columns into nested keys; NULL or
                                          "": does not split */
} td_from_arrow_options;
#define TD_FROM_ARROW_OPTIONS_INIT {sizeof(td_from_arrow_options), 0, 0, 0, 0, 0, NULL}

/**
 * Flags of td_to_arrow() and td_to_arrow_stream().
 */
typedef uint32_t td_to_arrow_flags;
enum {
  TD_TO_ARROW_COMPLEX_PAIRS = 1 /**< complex numbers become lists of two; otherwise they are refused */
};

/**
 * Options of td_to_arrow() and td_to_arrow_stream(). Set a field after `struct_size` to 0 for its default.
 */
typedef struct td_to_arrow_options {
  uint32_t struct_size;              /**< sizeof(td_to_arrow_options) */
  td_to_arrow_flags flags;           /**< TD_TO_ARROW_COMPLEX_PAIRS, or 0 */
  const char *TD_NULLABLE separator; /**< borrowed; joins the names of nested dictionaries into names of
                                          columns; NULL or "": nested dictionaries are structs */
} td_to_arrow_options;
#define TD_TO_ARROW_OPTIONS_INIT {sizeof(td_to_arrow_options), 0, NULL}

/**
 * Takes over a record batch of Arrow: a struct array becomes a dictionary of batch size [length].
 *
 * Numbers are tensors over the memory of the array, without a copy, where it is aligned; the array is
 * released, on any thread, when the last tensor over it is gone. Arrow takes its memory for immutable,
 * and it may be mapped read-only: do not write into these tensors, or give TD_FROM_ARROW_COPY.
 *
 * Fixed-size lists are further dimensions, fixed-size binary is uint8, bool is unpacked. Structs are
 * dictionaries. uint16 and uint32 become int32 and int64 where libtorch lacks them, and uint64 int64
 * if it fits. Dates, times, timestamps and durations become the int32 or int64 that they count in;
 * their unit is not kept. Texts and binary become non-tensor data, one value for each row, null where
 * one is missing; so does a column of Arrow's type null. What is encoded with a dictionary is decoded.
 * Lists of different lengths, maps, unions, decimals and run ends are refused.
 *
 * The structs are checked, also against one another, but not the pointers in them: that memory is
 * there, and as large as the lengths say, must be taken from the producer.
 *
 * @param schema  consumed on success, its `release` is NULL then; unchanged on failure
 * @param array   consumed on success, its `release` is NULL then; unchanged on failure
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_FORMAT (the structs do not fit together, or say more than the limits),
 *         TD_ERR_WRONG_ENTRY (no struct array), TD_ERR_UNSUPPORTED (a type that has no place in a
 *         dictionary; nulls), TD_ERR_DTYPE (a uint64 that does not fit), TD_ERR_KEY_EXISTS (two columns
 *         of one name), TD_ERR_KEY_INVALID (a name is not UTF-8), TD_ERR_INVALID_ARGUMENT,
 *         TD_ERR_OUT_OF_MEMORY
 * @threadsafety any thread; no other thread uses the structs
 */
TD_API(0, 2) TD_MUST_USE
td_status td_from_arrow(struct ArrowSchema *schema, struct ArrowArray *array,
                        const td_from_arrow_options *TD_NULLABLE options,
                        td_tensordict **result) TD_NOEXCEPT;

/**
 * Reads all record batches of an Arrow stream into one dictionary, as td_from_arrow() reads each. A
 * single batch is not copied, several are put one after the other.
 *
 * @param stream  consumed, whatever the call returns; its `release` is NULL then
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_IO (the stream failed; the message has its own), TD_ERR_FORMAT,
 *         TD_ERR_WRONG_ENTRY, TD_ERR_UNSUPPORTED, TD_ERR_DTYPE, TD_ERR_KEY_EXISTS, TD_ERR_KEY_INVALID,
 *         TD_ERR_INVALID_ARGUMENT, TD_ERR_OUT_OF_MEMORY, as td_from_arrow()
 * @threadsafety any thread; no other thread uses the stream
 */
TD_API(0, 2) TD_MUST_USE
td_status td_from_arrow_stream(struct ArrowArrayStream *stream,
                               const td_from_arrow_options *TD_NULLABLE options,
                               td_tensordict **result) TD_NOEXCEPT;

/**
 * Lends a dictionary as a record batch of Arrow: a struct array with a row for each element of the
 * first batch dimension.
 *
 * Tensors are columns over their own memory, without a copy, where they are row-major on the CPU;
 * bool is packed into bits, and so copied. Further dimensions are fixed-size lists, nested dictionaries
 * structs. Non-tensor data with a value for each row is a column of texts, or of JSON (Arrow's extension
 * "arrow.json") if not all are texts; null is a missing one. A value for all rows stands in the
 * metadata of its struct, as a member of an object of JSON under "tensordict.non_tensor", where
 * td_from_arrow() finds it. Batch sizes beyond the rows, and names of dimensions, are not stored.
 * Lazy stacks are lent as dense.
 *
 * The receiver calls `release` of both structs once, on any thread, and may move children out, as
 * Arrow says. The memory of the tensors stays alive as long; what is written to them shows in the
 * columns.
 *
 * @param td      borrowed; has a batch dimension
 * @param options borrowed; NULL for the defaults
 * @param schema  new; the struct is the caller's, its content is overwritten; `release` is NULL on failure
 * @param array   new; as `schema`
 *
 * @return TD_OK, TD_ERR_SHAPE (no batch dimension; a lazy stack that cannot be dense), TD_ERR_DTYPE
 *         (bfloat16 and complex numbers, which Arrow lacks), TD_ERR_UNSUPPORTED (tensors that are not
 *         dense, nested tensors; nested deeper than 1,000 levels), TD_ERR_DEVICE (a meta tensor),
 *         TD_ERR_KEY_EXISTS (two paths lead to one name), TD_ERR_WRONG_ENTRY (non-tensor data alone),
 *         TD_ERR_INVALID_ARGUMENT, TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_to_arrow(const td_tensordict *td, const td_to_arrow_options *TD_NULLABLE options,
                      struct ArrowSchema *schema, struct ArrowArray *array) TD_NOEXCEPT;

/**
 * Lends a dictionary as an Arrow stream: record batches of `rows` rows each, the last with what is left,
 * over the same memory and of the same types as td_to_arrow() would lend the whole. A dictionary of no
 * rows gives a schema and no batch.
 *
 * The receiver calls `release` of the stream once, and of each schema and batch that came. These outlive
 * the stream; the memory of the tensors stays alive until the last is released.
 *
 * @param td      borrowed; has a batch dimension
 * @param rows    of a record batch; 1 or more
 * @param options borrowed; NULL for the defaults
 * @param stream  new; the struct is the caller's, its content is overwritten; `release` is NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (`rows` is below 1), TD_ERR_SHAPE, TD_ERR_DTYPE,
 *         TD_ERR_UNSUPPORTED, TD_ERR_DEVICE, TD_ERR_KEY_EXISTS, TD_ERR_WRONG_ENTRY,
 *         TD_ERR_OUT_OF_MEMORY, as td_to_arrow()
 * @threadsafety safe while other threads only read `td`; the stream is for one thread at a time
 */
TD_API(0, 2) TD_MUST_USE
td_status td_to_arrow_stream(const td_tensordict *td, int64_t rows,
                             const td_to_arrow_options *TD_NULLABLE options,
                             struct ArrowArrayStream *stream) TD_NOEXCEPT;

TD_END_C

#endif

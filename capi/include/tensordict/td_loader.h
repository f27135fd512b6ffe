/* tensordict/td_loader.h: minibatches of a dictionary, made ahead by worker threads (C: td_loader_create, td_loader_next, …; Python: torch.utils.data.DataLoader). */
#ifndef TENSORDICT_TD_LOADER_H
#define TENSORDICT_TD_LOADER_H

#include "tensordict/td_dataset.h"
#include "tensordict/td_map.h"
#include "tensordict/td_module.h"

TD_BEGIN_C

/**
 * A loader: gives the rows of a dictionary as batches, epoch after epoch.
 *
 * The order follows from the seed alone. It is the same with any number of workers, on every
 * platform and in every language.
 */
typedef struct td_loader td_loader;

/**
 * Flags of td_loader_create().
 */
typedef uint32_t td_loader_flags;
enum {
  TD_LOADER_SHUFFLE = 1,      /**< each row once, in another order in each epoch */
  TD_LOADER_REPLACEMENT = 2,  /**< any row any number of times */
  TD_LOADER_DROP_LAST = 4,    /**< leaves out what is no full batch, and gives each rank as many
                                   batches */
  TD_LOADER_FLAT = 8,         /**< each element of all batch dimensions is a row; otherwise each one of
                                   the first */
  TD_LOADER_REFRESH = 16,     /**< each epoch reads the folder of a mapped dictionary again, or looks
                                   again at another one; without it, a batch size that changes is
                                   TD_ERR_SHAPE */
  TD_LOADER_CONCATENATE = 32, /**< slices lie one behind the other: [B * T]; otherwise [B, T] */
  TD_LOADER_SHORT = 64,       /**< an episode's remaining rows form a shorter slice; needs
                                   TD_LOADER_CONCATENATE */
  TD_LOADER_PIN_MEMORY = 128  /**< batches go through pinned memory */
};

/**
 * Options of td_loader_create(). Set a field after `struct_size` to 0 for its default; `rows` must
 * be set.
 */
typedef struct td_loader_options {
  uint32_t struct_size;                  /**< sizeof(td_loader_options) */
  td_loader_flags flags;                 /**< what is drawn, and how batches look */
  int64_t rows;                          /**< rows of a batch, at least 1; with `slice_len` slices; the
                                              last batch may have fewer */
  uint64_t seed;                         /**< for the order, and for `seed` of each batch */
  int64_t epochs;                        /**< number of epochs; 0: without end */
  int64_t draws;                         /**< length of an epoch with TD_LOADER_REPLACEMENT or
                                              `weights`; 0: as many as there are rows or slices */
  int32_t num_workers;                   /**< threads that make batches ahead; 0: td_loader_next()
                                              makes each */
  uint32_t ahead;                        /**< how many batches workers may be ahead; 0: twice the
                                              workers */
  int64_t rank;                          /**< which part of each epoch is this loader's, from 0 */
  int64_t world_size;                    /**< number of parts; 0: 1 */
  const td_key *TD_NULLABLE keys;        /**< borrowed; entries that batches have; NULL: all */
  size_t keys_len;                       /**< number of keys */
  const td_tensor *TD_NULLABLE weights;  /**< borrowed; one for each row, of any dtype: rows are drawn
                                              as often, with replacement */
  td_device_type device_type;            /**< where batches go; TD_DEVICE_NONE: where the dictionary
                                              is */
  int32_t device_index;                  /**< index among the devices of that type; -1 for the current
                                              one */
  int64_t slice_len;                     /**< T: batches are of slices of so many consecutive rows; 0:
                                              of rows */
  int64_t slice_step;                    /**< rows from one slice of an episode to the next; 0:
                                              slice_len */
  const td_key *TD_NULLABLE episode;     /**< borrowed; an entry that differs from episode to episode;
                                              no slice crosses such a border */
  const td_key *TD_NULLABLE ends;        /**< borrowed; entries of bool that are true in the last row of
                                              an episode */
  size_t ends_len;                       /**< number of keys */
  const td_module *TD_NULLABLE module;   /**< borrowed; writes its outputs into each batch */
  td_map_fn TD_NULLABLE transform;       /**< called for each batch, before `module` */
  void *TD_NULLABLE transform_user;      /**< passed to `transform`; must be valid until you free the
                                              loader */
} td_loader_options;
#define TD_LOADER_OPTIONS_INIT                                                                      \
  {sizeof(td_loader_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, 0, NULL, TD_DEVICE_NONE, 0, \
   0, 0, NULL, NULL, 0, NULL, NULL, NULL}

/**
 * Makes a loader, and starts its workers.
 *
 * The loader keeps the tensors, not the handle. Entries that you set or remove afterwards are not
 * seen before the next epoch, and only with TD_LOADER_REFRESH. A row is one element of the first
 * batch dimension. Elements of a lazy stack count as one behind the other; with TD_LOADER_FLAT those
 * of a sharded folder do so row by row.
 *
 * `transform` gets the batch and may change it or return another one; each must have the keys,
 * dtypes and sizes of the first, but for the number of rows. With several workers it runs on several
 * threads at once. In td_map_piece, `number` and `count` are those of the batch in the epoch, `first`
 * and `length` its rows or slices in the order of the epoch, and `seed` is another one for each batch,
 * whatever the number of workers.
 *
 * @param td      borrowed
 * @param options borrowed, with all it points to
 * @param result  new; free with td_loader_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (a number out of range; options that exclude each other; no
 *         entries; no full batch), TD_ERR_SHAPE (no batch dimension; no rows; not one weight for each
 *         row; entries that tell episodes apart have no value for each row), TD_ERR_KEY_NOT_FOUND,
 *         TD_ERR_WRONG_ENTRY, TD_ERR_DTYPE (`ends` are not bool), TD_ERR_DEVICE
 * @threadsafety safe while other threads only read `td`, from now until you free the loader
 */
TD_API(0, 2) TD_MUST_USE
td_status td_loader_create(const td_tensordict *td, const td_loader_options *options,
                           td_loader **result) TD_NOEXCEPT;

/**
 * Makes a loader over the steps of a data set, which are read when a batch is made: ahead, by the
 * workers, if there are any. A set whose rows take at most 256 MB is read with the first batch and
 * stays in memory; of a larger one two numbers for each step are.
 *
 * As td_loader_create() of td_dataset_flat(), with the same batches: rows are steps of all episodes,
 * slices stay in an episode. A batch reads its steps in the order of the set, each once. Pictures and
 * videos are decoded as the set was opened. `keys` are looked for in each batch.
 *
 * @param dataset borrowed; may be freed before the loader
 * @param options borrowed, with all it points to; without `episode`, `ends` and TD_LOADER_REFRESH
 * @param result  new; free with td_loader_free(); NULL on failure
 *
 * @return TD_OK, those of td_loader_create() and of td_dataset_lengths(); td_loader_next() then
 *         returns those of td_dataset_rows(), too
 * @threadsafety any thread
 */
TD_API(0, 3) TD_MUST_USE
td_status td_loader_create_from_dataset(const td_dataset *dataset, const td_loader_options *options,
                                        td_loader **result) TD_NOEXCEPT;

/**
 * Frees a loader. Waits for batches that workers are making; starts no others. If `transform` frees
 * it, the call does not wait. Batches stay.
 *
 * @param loader consumed; NULL and handles already freed are ignored
 * @threadsafety any thread, but not during another call with this loader
 */
TD_API(0, 2) void td_loader_free(td_loader *TD_NULLABLE loader) TD_NOEXCEPT;

/**
 * Gets the next batch. At the end of each epoch one call gets NULL; the next call begins another
 * epoch. After the last epoch every call gets NULL.
 *
 * Once you have freed a batch and all tensors of it, the loader reuses their memory: a loop that
 * frees each batch allocates no memory for tensors. A batch has no gradients and is not
 * mapped.
 *
 * If a batch fails, the loader stays where it is: the next call tries again.
 *
 * @param loader borrowed; changed
 * @param result new; free with td_free(); NULL on failure and at the end of an epoch, with TD_OK
 *
 * @return TD_OK, TD_ERR_SHAPE (the batch size of the dictionary has changed; `transform` or `module`
 *         made another structure than before), TD_ERR_INVALID_ARGUMENT (called by `transform`
 *         itself, or on two threads at once), TD_ERR_OUT_OF_MEMORY, or the code that `transform`
 *         returned; TD_ERR_CALLBACK if that code is unknown; with TD_LOADER_REFRESH also those of
 *         td_memmap_load()
 * @threadsafety needs exclusive access to `loader`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_loader_next(td_loader *loader, td_tensordict **result) TD_NOEXCEPT;

/**
 * Gets where a loader is.
 *
 * @param loader  borrowed
 * @param epoch   the number of the epoch, from 0; between two epochs that of the next one; NULL if
 *                you do not need it
 * @param batch   the number of the batch that td_loader_next() gives next, from 0; NULL if you do
 *                not need it
 * @param batches number of batches in the epoch; between two epochs 0; NULL if you do not need it
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (called by `transform`)
 * @threadsafety needs exclusive access to `loader`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_loader_where(const td_loader *loader, int64_t *TD_NULLABLE epoch,
                          int64_t *TD_NULLABLE batch, int64_t *TD_NULLABLE batches) TD_NOEXCEPT;

/**
 * Gets what another loader needs to go on at the same batch, for a checkpoint: a dictionary of a few
 * whole numbers, which td_memmap() saves. Batches that workers have made ahead are not in it; they
 * are made again.
 *
 * @param loader borrowed
 * @param result new; free with td_free(); without batch size; NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (called by `transform`)
 * @threadsafety needs exclusive access to `loader`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_loader_state(const td_loader *loader, td_tensordict **result) TD_NOEXCEPT;

/**
 * Moves the loader to a position that td_loader_state() gave. The seed becomes that of the state; a
 * folder that has grown since gives the rest of the epoch from the rows that it had.
 *
 * @param loader borrowed; unchanged on failure
 * @param state  borrowed; as td_loader_state() gives it, of a loader with the same options
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_WRONG_ENTRY, TD_ERR_DTYPE, TD_ERR_SHAPE (no such
 *         numbers; fewer rows than there were), TD_ERR_INVALID_ARGUMENT (a loader with other options;
 *         called by `transform`)
 * @threadsafety needs exclusive access to `loader`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_loader_load_state(td_loader *loader, const td_tensordict *state) TD_NOEXCEPT;

TD_END_C

#endif

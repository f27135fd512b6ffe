/* tensordict/td_replay.h: a ring of rows that learners draw from, in memory or in a folder (C: td_replay_create, td_replay_sample, …; Python: torchrl.data.ReplayBuffer). */
#ifndef TENSORDICT_TD_REPLAY_H
#define TENSORDICT_TD_REPLAY_H

#include "tensordict/td_dataset.h"
#include "tensordict/td_module.h"

TD_BEGIN_C

/**
 * A replay buffer: rows of a fixed number of places. When all hold a row, a new one takes the place
 * of the oldest.
 *
 * Draws follow from the seed, on every platform alike. Its folder is that of TorchRL:
 * `ReplayBuffer.loads` opens what td_replay_save() writes, and td_replay_load() opens what
 * `ReplayBuffer.dumps` wrote. Pickles are neither read nor written.
 */
typedef struct td_replay td_replay;

/**
 * Which rows td_replay_sample() draws.
 */
typedef int32_t td_replay_sampler;
enum {
  TD_REPLAY_SAMPLER_AS_STORED = 0,           /**< that of the folder, otherwise random. A folder that we
                                                  wrote says which, with its slices. One of TorchRL has
                                                  only the sampler's files, which are the same whether
                                                  rows or slices are drawn: then rows are. */
  TD_REPLAY_SAMPLER_RANDOM = 1,              /**< any row any number of times */
  TD_REPLAY_SAMPLER_WITHOUT_REPLACEMENT = 2, /**< each row once, then again in another order; the last
                                                  batch before that may have fewer. More rows than
                                                  before begin another order at once. */
  TD_REPLAY_SAMPLER_SLICES = 3,              /**< runs of `slice_len` rows: first an episode is drawn,
                                                  then a place in it. None crosses the border of an
                                                  episode, or the place of the next row in a full
                                                  ring. */
  TD_REPLAY_SAMPLER_PRIORITIZED = 4,         /**< a row counts (priority + eps)^alpha; one without a
                                                  priority has the largest that was given so far, or
                                                  1 */
  TD_REPLAY_SAMPLER_SLICES_WITHOUT_REPLACEMENT = 5, /**< a slice of each episode once, then again in
                                                  another order; the last batch before that may have
                                                  fewer. Another number of episodes than before
                                                  begins another order at once. Since 0.3 */
  TD_REPLAY_SAMPLER_PRIORITIZED_SLICES = 6   /**< slices whose first row is drawn by its priority. A
                                                  row too near to the end of its episode begins none;
                                                  all rows of a slice have the weight of the first.
                                                  Since 0.3 */
};

/**
 * Flags of td_replay_create(), td_replay_open() and td_replay_load().
 */
typedef uint32_t td_replay_flags;
enum {
  TD_REPLAY_DROP_LAST = 1,     /**< without replacement: leaves out what is no full batch */
  TD_REPLAY_IN_ORDER = 2,      /**< without replacement: in the order of the places */
  TD_REPLAY_SHORT = 4,         /**< slices: an episode that is shorter is taken as it is, and the
                                    batch has fewer rows */
  TD_REPLAY_BATCH_WEIGHTS = 8, /**< prioritized: the largest weight of each batch is 1; otherwise the
                                    row of the smallest priority in the buffer has weight 1 */
  TD_REPLAY_SPAN_BEGIN = 16,   /**< slices: one may begin before its episode (TorchRL: `span`). What
                                    is outside is left out, so the batch has fewer rows; the first
                                    rows of an episode are drawn as often as others. */
  TD_REPLAY_SPAN_END = 32,     /**< slices: one may end behind its episode; see above */
  TD_REPLAY_LARGEST_WITHIN = 64, /**< prioritized: new rows get the largest priority of the rows that are
                                    there, not the largest ever given. As in TorchRL, they get 1 after
                                    rows without a priority of their own took the place of the
                                    largest. Since 0.3 */
  TD_REPLAY_MARK_ENDS = 128,   /**< slices: sets ("next", "truncated") of bool, true in the last row of
                                    each slice alone; ("next", "done"), true there, too; ("next",
                                    "terminated") to false, unless rows have it; "is_init", if rows have
                                    it, true in the first row of each slice, too. Since 0.3 */
  TD_REPLAY_BY_SLICE = 256     /**< slices: the batch size is [slices, rows of a slice, …]. A shorter
                                    slice is filled up with its last row; ("collector", "mask") of bool
                                    is false there. Since 0.3 */
};

/**
 * Options of a replay buffer. Start from TD_REPLAY_OPTIONS_INIT: 0 for `alpha`, `beta` or `eps` is 0.
 */
typedef struct td_replay_options {
  uint32_t struct_size;                /**< sizeof(td_replay_options) */
  td_replay_flags flags;               /**< forms of draws */
  int64_t capacity;                    /**< number of places, at least 1; for an existing folder
                                            0, or what it has */
  int64_t rows;                        /**< rows of a batch, unless td_replay_sample() says; 0: those
                                            of the folder */
  uint64_t seed;                       /**< for all draws; a folder that we wrote goes on with its own */
  double alpha;                        /**< prioritized: ≥ 0; that of the folder comes first */
  double beta;                         /**< prioritized: ≥ 0, exponent of weights; that of the folder
                                            comes first */
  double eps;                          /**< prioritized: ≥ 0; that of the folder comes first */
  int64_t slice_len;                   /**< rows of a slice; 0: num_slices says it */
  const td_key *TD_NULLABLE episode;   /**< borrowed; an entry that differs from episode to episode */
  const td_key *TD_NULLABLE ends;      /**< borrowed; entries of bool that are true in the last row of
                                            an episode. Slices need `episode` or `ends`; without both,
                                            n_steps and td_replay_sample_hindsight() take ("next",
                                            "done") */
  size_t ends_len;                     /**< number of keys */
  const char *TD_NULLABLE folder;      /**< borrowed; td_replay_create() only: where the rows lie;
                                            NULL: in memory */
  td_replay_sampler sampler;           /**< what is drawn */
  int32_t reserved;                    /**< 0 */
  int64_t num_slices;                  /**< slices of a batch, instead of `slice_len`: a slice has
                                            `rows` / `num_slices` rows. Since 0.3 */
  int64_t span_begin;                  /**< slices: how many rows of one may lie before its episode, less
                                            than a slice has; 0: TD_REPLAY_SPAN_BEGIN says. Since 0.3 */
  int64_t span_end;                    /**< slices: how many may lie behind it; see above. Since 0.3 */
  const td_key *TD_NULLABLE priority_key; /**< borrowed; prioritized: an entry with one real number ≥ 0
                                            for each row: the priority of new rows. Since 0.3 */
  int64_t dims;                        /**< dimensions of the storage (TorchRL: `ndim`), of which the
                                            first is time; 0: 1, or what the folder has. `capacity`
                                            counts its elements, and single elements are drawn. A
                                            buffer with a folder has 1. Since 0.3 */
  int64_t n_steps;                     /**< each row that is drawn has the return of so many steps
                                            (TorchRL: MultiStepTransform; td_replay_sample() says how);
                                            0: rows are as they were written. Since 0.3 */
  double gamma;                        /**< n_steps: discount of each step, above 0 and at most 1. Since
                                            0.3 */
  const td_key *TD_NULLABLE rewards;   /**< borrowed; n_steps: entries that are summed; NULL: ("next",
                                            "reward"). Since 0.3 */
  size_t rewards_len;                  /**< number of keys. Since 0.3 */
  const td_key *TD_NULLABLE mask;      /**< borrowed; n_steps: an entry of bool that is false in rows
                                            which only fill up; NULL: "mask", if there is one. Since
                                            0.3 */
} td_replay_options;
#define TD_REPLAY_OPTIONS_INIT \
  {sizeof(td_replay_options), 0, 0, 0, 0, 0.6, 0.4, 1e-8, 0, NULL, NULL, 0, NULL, 0, 0, 0, 0, \
   0, NULL, 0, 0, 0.99, NULL, 0, NULL}

/**
 * Makes an empty replay buffer. The first row says which entries rows have, and their dtypes and
 * sizes.
 *
 * With `folder` the rows lie in files, which other processes open with td_replay_open().
 *
 * @param options borrowed, with all it points to
 * @param result  new; free with td_replay_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (a number out of range; options that exclude each other),
 *         TD_ERR_IO (the folder is not empty, or cannot be made), TD_ERR_UNSUPPORTED (files cannot be
 *         locked there; a folder for several dimensions), TD_ERR_KEY_INVALID, TD_ERR_OUT_OF_MEMORY
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_replay_create(const td_replay_options *options, td_replay **result) TD_NOEXCEPT;

/**
 * Opens a folder in which several processes may work at once: what one writes, all others can draw.
 *
 * A writer locks the folder while it writes rows, and a reader while it copies them: no row is drawn
 * of which a part is missing. A process that is killed loses its lock; what it was writing is marked
 * in the folder, and never drawn. A power failure may leave other rows half written, but not in a
 * copy that td_replay_save() made with TD_REPLAY_SAVE_DURABLE.
 *
 * Each process has a sampler of its own, and priorities of its own; those of the folder are where it
 * begins. After a fork() the child must open the folder anew. While it is open, other processes
 * cannot replace the folder.
 *
 * @param folder  borrowed; as td_replay_create(), td_replay_save() or TorchRL wrote it
 * @param options borrowed; NULL for defaults
 * @param result  new; free with td_replay_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_IO (no such folder, or it cannot be written), TD_ERR_FORMAT (its files
 *         contradict each other), TD_ERR_BUSY (a process is replacing it), TD_ERR_UNSUPPORTED (the
 *         storage is not a dictionary; files cannot be locked there), TD_ERR_INVALID_ARGUMENT,
 *         TD_ERR_KEY_NOT_FOUND, TD_ERR_WRONG_ENTRY, TD_ERR_DTYPE, TD_ERR_SHAPE, TD_ERR_KEY_INVALID,
 *         TD_ERR_OUT_OF_MEMORY
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_replay_open(const char *folder, const td_replay_options *TD_NULLABLE options,
                         td_replay **result) TD_NOEXCEPT;

/**
 * Opens a folder for this process alone: its files are mapped, and what is written afterwards stays
 * in memory.
 *
 * No process may write to the folder meanwhile; replacing it is allowed.
 *
 * @param folder  borrowed; as td_replay_create(), td_replay_save() or TorchRL wrote it
 * @param options borrowed; NULL for defaults
 * @param result  new; free with td_replay_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_FORMAT, TD_ERR_UNSUPPORTED, TD_ERR_INVALID_ARGUMENT,
 *         TD_ERR_KEY_NOT_FOUND, TD_ERR_WRONG_ENTRY, TD_ERR_DTYPE, TD_ERR_SHAPE, TD_ERR_KEY_INVALID,
 *         TD_ERR_OUT_OF_MEMORY, as td_replay_open()
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_replay_load(const char *folder, const td_replay_options *TD_NULLABLE options,
                         td_replay **result) TD_NOEXCEPT;

/**
 * Makes a replay buffer of the steps of a data set, which are read when they are drawn. Memory holds a
 * number for each step, and what the sampler knows of it.
 *
 * It draws as a full buffer does that holds td_dataset_flat(): rows are the steps of all episodes, slices stay
 * in an episode. A batch reads its steps in the order of the set, each once; pictures and videos are decoded
 * as the set was opened. Priorities are those of this buffer. td_replay_add(), td_replay_extend(),
 * td_replay_save() and td_replay_sample_hindsight() are TD_ERR_UNSUPPORTED; td_replay_dict() reads all rows.
 *
 * @param dataset borrowed; may be freed before the buffer
 * @param options borrowed, with all it points to; NULL for defaults; without `episode`, `ends`, `folder`,
 *                `priority_key` and `n_steps`; `capacity` is 0 or the number of steps
 * @param result  new; free with td_replay_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_SHAPE (a set without steps), TD_ERR_UNSUPPORTED (n_steps), those of td_replay_create()
 *         and of td_dataset_lengths(); td_replay_sample() and td_replay_dict() then return those of
 *         td_dataset_rows(), too
 * @threadsafety any thread
 */
TD_API(0, 3) TD_MUST_USE
td_status td_replay_create_from_dataset(const td_dataset *dataset,
                                        const td_replay_options *TD_NULLABLE options,
                                        td_replay **result) TD_NOEXCEPT;

/**
 * Frees a replay buffer. A folder stays, with all rows; td_replay_save() tells it what the sampler
 * knows.
 *
 * @param replay consumed; NULL and handles already freed are ignored
 * @threadsafety any thread, but not during another call with this buffer
 */
TD_API(0, 2) void td_replay_free(td_replay *TD_NULLABLE replay) TD_NOEXCEPT;

/**
 * Writes one row.
 *
 * @param replay borrowed; unchanged on failure
 * @param row    borrowed; with the sizes of one row, and the keys and dtypes of the first one. An
 *               entry "index" of int64 becomes the place of the row.
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_WRONG_ENTRY (an entry that the other rows do not have),
 *         TD_ERR_DTYPE, TD_ERR_SHAPE, TD_ERR_UNSUPPORTED (values that are no tensors),
 *         TD_ERR_INVALID_ARGUMENT (no entries; a priority below 0, or none), TD_ERR_IO, TD_ERR_FORMAT, TD_ERR_OUT_OF_MEMORY
 * @threadsafety any number of threads, and of processes that have the folder open
 */
TD_API(0, 2) TD_MUST_USE
td_status td_replay_add(td_replay *replay, const td_tensordict *row) TD_NOEXCEPT;

/**
 * Writes rows, in their order.
 *
 * @param replay borrowed; unchanged on failure
 * @param rows   borrowed; each element of the first batch dimension is a row, which may have further
 *               batch dimensions
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_WRONG_ENTRY, TD_ERR_DTYPE, TD_ERR_SHAPE (also when
 *         there is no batch dimension), TD_ERR_UNSUPPORTED, TD_ERR_INVALID_ARGUMENT, TD_ERR_IO,
 *         TD_ERR_FORMAT, TD_ERR_OUT_OF_MEMORY, as td_replay_add()
 * @threadsafety any number of threads, and of processes that have the folder open
 */
TD_API(0, 2) TD_MUST_USE
td_status td_replay_extend(td_replay *replay, const td_tensordict *rows) TD_NOEXCEPT;

/**
 * Draws rows.
 *
 * The batch has what rows have, "index" (int64, the places of the rows) and, from a prioritized
 * buffer, "priority_weight" (float32): (N * p)^-beta over the largest such weight, where p is the
 * probability of the row and N the number of rows. Its memory is reused once you have freed it.
 * TD_REPLAY_MARK_ENDS and TD_REPLAY_BY_SLICE add what they say.
 *
 * If rows have further batch dimensions, each element has the number and the weight of its row. Of a
 * storage of several dimensions (`dims`; TorchRL: `ndim`) single elements are drawn, slices along the
 * first dimension, and "index" has one number for each dimension of the storage.
 *
 * With `n_steps`, each row is followed through its episode: n_steps - 1 rows further, but not beyond the
 * last row of the episode or the newest one. `rewards` become the sum of gamma^k times the reward of the
 * k-th row, in the dtype of the reward; ("next", "original_reward") is the row's own, of the last of
 * several. All else in "next" is what the last of these rows has, but for `ends`, "done", "terminated" and
 * "truncated", which stay those of the row. "steps_to_next_obs" (int64) is how many rows were summed,
 * "gamma" (float32) gamma to that power, and "nonterminal" (bool) whether it were more than one. Each
 * element must have one flag of each end.
 *
 * @param replay borrowed; what was drawn counts as drawn unless the call fails
 * @param rows   how many; with slices those of all slices together; 0: as the options say
 * @param result new; free with td_free(); batch size [rows, …], or as TD_REPLAY_BY_SLICE says; NULL
 *               on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (no number of rows; one that slices do not fill),
 *         TD_ERR_SHAPE (no rows yet; no full batch; no episode as long as a slice; priorities that sum
 *         up to 0; more than one flag for an element, with n_steps), TD_ERR_KEY_NOT_FOUND,
 *         TD_ERR_WRONG_ENTRY, TD_ERR_DTYPE (the entries that tell episodes apart, or make returns),
 *         TD_ERR_UNSUPPORTED (a folder of TorchRL whose sampler draws by a rule that is not known here:
 *         name a sampler; rows that are batches, with n_steps), TD_ERR_IO, TD_ERR_FORMAT, TD_ERR_OUT_OF_MEMORY
 * @threadsafety any number of threads, and of processes that have the folder open
 */
TD_API(0, 2) TD_MUST_USE
td_status td_replay_sample(td_replay *replay, int64_t rows, td_tensordict **result) TD_NOEXCEPT;

/**
 * Whose achieved goal a row gets.
 */
typedef int32_t td_replay_hindsight;
enum {
  TD_REPLAY_HINDSIGHT_FUTURE = 0,  /**< that of a row of its episode, from itself on. Since 0.3 */
  TD_REPLAY_HINDSIGHT_FINAL = 1,   /**< that of the last row of its episode. Since 0.3 */
  TD_REPLAY_HINDSIGHT_EPISODE = 2, /**< that of any row of its episode. Since 0.3 */
  TD_REPLAY_HINDSIGHT_RANDOM = 3   /**< that of any row of the buffer. Since 0.3 */
};

/**
 * Options of td_replay_sample_hindsight(). Start from TD_REPLAY_HINDSIGHT_OPTIONS_INIT.
 */
typedef struct td_replay_hindsight_options {
  uint32_t struct_size;                    /**< sizeof(td_replay_hindsight_options) */
  td_replay_hindsight strategy;            /**< whose goal */
  double ratio;                            /**< of the rows get another goal; 0 to 1 */
  const td_key *TD_NULLABLE goal;          /**< borrowed; NULL: "desired_goal" */
  const td_key *TD_NULLABLE achieved_goal; /**< borrowed; NULL: "achieved_goal" */
  const td_key *TD_NULLABLE reward;        /**< borrowed; NULL: ("next", "reward") */
} td_replay_hindsight_options;
#define TD_REPLAY_HINDSIGHT_OPTIONS_INIT \
  {sizeof(td_replay_hindsight_options), 0, 0.8, NULL, NULL, NULL}

/**
 * Draws rows as td_replay_sample() does, and gives the first of them goals that were reached: hindsight
 * experience replay, as TorchRL's HERReplayBuffer.
 *
 * The first ratio * N rows of the N that were drawn, rounded down, get the achieved goal of another
 * row as their `goal`, and as that in "next" if they have one there. `ends` and `episode` of
 * td_replay_options say where episodes end; the place of the next row in a full ring separates them,
 * too. Then `reward` is called with these rows alone, a dictionary of its own with batch size [rows],
 * and what it writes to the reward's key becomes their rewards. It is called after the buffer has
 * been let go: it may use it.
 *
 * @param replay  borrowed; what was drawn counts as drawn, even if `reward` fails
 * @param rows    how many; 0: as the options say
 * @param options borrowed; NULL for the defaults
 * @param reward  borrowed; NULL: the rewards stay as they were written, for you to compute
 * @param result  new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (also a ratio out of range, and a module that does not write
 *         the reward), TD_ERR_UNSUPPORTED (also a buffer with n_steps or TD_REPLAY_BY_SLICE, an
 *         ensemble, and rows that are batches), TD_ERR_KEY_NOT_FOUND, TD_ERR_WRONG_ENTRY, TD_ERR_DTYPE
 *         and TD_ERR_SHAPE (also goals that differ from what was reached, and rewards that are not one
 *         for each row), TD_ERR_KEY_INVALID, TD_ERR_IO, TD_ERR_FORMAT, TD_ERR_OUT_OF_MEMORY, or what
 *         `reward` returned
 * @threadsafety any number of threads, and of processes that have the folder open
 */
TD_API(0, 3) TD_MUST_USE
td_status td_replay_sample_hindsight(td_replay *replay, int64_t rows,
                                     const td_replay_hindsight_options *TD_NULLABLE options,
                                     const td_module *TD_NULLABLE reward,
                                     td_tensordict **result) TD_NOEXCEPT;

/**
 * Gives rows of a prioritized buffer other priorities. A row that is named several times gets the
 * last one.
 *
 * If others have written to these places since they were drawn, the new rows get the priorities.
 *
 * @param replay   borrowed; unchanged on failure
 * @param index    borrowed; int64, as `index` of a batch: one number for each row, or as many as the
 *                 storage has dimensions; of one dimension also [rows, 1], as TorchRL's slices have it
 * @param priority borrowed; ≥ 0, of any real dtype: one for each, or one for all
 *
 * @return TD_OK, TD_ERR_INDEX (no such row), TD_ERR_SHAPE, TD_ERR_DTYPE, TD_ERR_INVALID_ARGUMENT (a
 *         priority below 0, or none), TD_ERR_UNSUPPORTED (the buffer draws without priorities),
 *         TD_ERR_IO, TD_ERR_FORMAT
 * @threadsafety any number of threads
 */
TD_API(0, 2) TD_MUST_USE
td_status td_replay_update_priority(td_replay *replay, const td_tensor *index,
                                    const td_tensor *priority) TD_NOEXCEPT;

/**
 * Sets the exponent of the weights of a prioritized buffer.
 *
 * @param replay borrowed; unchanged on failure
 * @param beta   ≥ 0
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT, TD_ERR_UNSUPPORTED (the buffer draws without priorities),
 *         TD_ERR_IO, TD_ERR_FORMAT
 * @threadsafety any number of threads
 */
TD_API(0, 2) TD_MUST_USE
td_status td_replay_set_beta(td_replay *replay, double beta) TD_NOEXCEPT;

/**
 * Gets where a replay buffer stands. If the storage has several dimensions, `len` and `capacity` count
 * its elements, `cursor` and `written` rows of the first dimension, as in TorchRL.
 *
 * @param replay   borrowed
 * @param len      stored rows; NULL if you do not need it
 * @param capacity places; NULL if you do not need it
 * @param cursor   the place of the next row; NULL if you do not need it
 * @param written  rows ever written; NULL if you do not need it
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_FORMAT
 * @threadsafety any number of threads
 */
TD_API(0, 2) TD_MUST_USE
td_status td_replay_where(const td_replay *replay, int64_t *TD_NULLABLE len,
                          int64_t *TD_NULLABLE capacity, int64_t *TD_NULLABLE cursor,
                          int64_t *TD_NULLABLE written) TD_NOEXCEPT;

/**
 * Gets the stored rows, in the order of their places.
 *
 * The tensors are the memory of the buffer: rows that come later change their values, and so do you
 * if you write to them. They stay when you free the buffer.
 *
 * @param replay borrowed
 * @param result new; free with td_free(); batch size [rows]; without entries before the first row;
 *               NULL on failure
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_FORMAT, TD_ERR_OUT_OF_MEMORY
 * @threadsafety any number of threads; writers are not locked out while you read the result
 */
TD_API(0, 2) TD_MUST_USE
td_status td_replay_dict(const td_replay *replay, td_tensordict **result) TD_NOEXCEPT;

/**
 * Flags of td_replay_save().
 */
typedef uint32_t td_replay_save_flags;
enum {
  TD_REPLAY_SAVE_DURABLE = 1 /**< returns when all of it is on the disk */
};

/**
 * Saves a replay buffer to a folder, with its sampler and the state of its draws. A buffer that is
 * loaded from it draws what this one would have drawn.
 *
 * The folder is written aside and then replaces the existing one: readers, and a program after a
 * crash, find the old one or the new one. Files that do not belong to a replay buffer stay, and so do
 * those of parts that only TorchRL has. Without a name, it writes the JSON files and the sampler's
 * files of the buffer's own folder, which already has the rows.
 *
 * @param replay borrowed
 * @param folder borrowed; NULL: the folder of td_replay_create() or td_replay_open()
 * @param flags  td_replay_save_flags
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_BUSY (another process works in the folder; a writer died while it
 *         wrote rows, which have not been overwritten since), TD_ERR_SHAPE (no rows yet),
 *         TD_ERR_INVALID_ARGUMENT (no folder of its own; unknown flags), TD_ERR_FORMAT,
 *         TD_ERR_OUT_OF_MEMORY
 * @threadsafety any number of threads
 */
TD_API(0, 2) TD_MUST_USE
td_status td_replay_save(td_replay *replay, const char *TD_NULLABLE folder,
                         td_replay_save_flags flags) TD_NOEXCEPT;

TD_END_C

#endif

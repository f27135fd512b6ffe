/* tensordict/td_dataset.h: data sets of reinforcement learning and robotics, read by episodes and by rows, and written (C: td_dataset_open, td_dataset_episode, td_dataset_writer_add, …; Python: minari.load_dataset, torchrl.data.datasets). */
#ifndef TENSORDICT_TD_DATASET_H
#define TENSORDICT_TD_DATASET_H

#include "tensordict/td_entries.h"

TD_BEGIN_C

/**
 * An open data set: recordings of episodes in a layout of Python's libraries.
 *
 * A step is a row, laid out as TorchRL does it: `observation`, `action` and `info` are those before
 * the step, `next` holds those behind it, and `reward`, `terminated`, `truncated` and `done`, of
 * shape [1] in each row. `episode` (int64) is the number of the episode. What a layout does not
 * have, is no entry: D4RL's older files have no `next` observation, and robomimic has `done`
 * alone.
 *
 * Opening looks at groups and metadata. Values are read when they are asked for, and only those.
 * Encoded pictures are non-tensor data, the bytes of a file in each row, unless they are decoded.
 *
 * Bags of ROS 2 have an entry for each field of a topic, and a row for each message of one topic, or
 * rows at a rate; each row takes of every topic the newest message that is not later. `timestamp`
 * (int64) is the time of the row in nanoseconds.
 */
typedef struct td_dataset td_dataset;

/**
 * Kinds of data sets.
 */
typedef int32_t td_dataset_kind;
enum {
  TD_DATASET_KIND_DETECT = 0,    /**< found by looking at folders, files and groups */
  TD_DATASET_KIND_MINARI = 1,    /**< Minari 0.4 to 0.5.4, in HDF5, Arrow or Parquet: the folder, its
                                      folder `data`, or the HDF5 file in it */
  TD_DATASET_KIND_ROBOMIMIC = 2, /**< robomimic, and raw demonstrations of robosuite */
  TD_DATASET_KIND_D4RL = 3,      /**< D4RL, also in chunks */
  TD_DATASET_KIND_LEROBOT = 4,   /**< LeRobot v2.0, v2.1 and v3.0: a folder with `meta/info.json` */
  TD_DATASET_KIND_TORCHRL = 5,   /**< a folder of TorchRL's replay buffers, or of this library's */
  TD_DATASET_KIND_ROS = 6        /**< bags of ROS 2: MCAP and SQLite (`.db3`), a file or a folder */
};

/**
 * Flags of td_dataset_options.
 */
typedef uint32_t td_dataset_flags;
enum {
  TD_DATASET_DECODE = 1, /**< encoded pictures (PNG, JPEG) become uint8 tensors [height, width,
                              channels], gray ones [height, width], int32 those of 16 bits;
                              otherwise they are bytes. Videos are read, too */
  TD_DATASET_VIDEOS = 2  /**< LeRobot: the frames of videos are entries, uint8 [height, width, 3] of
                              red, green and blue; otherwise videos are left out. Since 0.3.0 */
};

/**
 * Options of td_dataset_open(). Set a field after `struct_size` to 0 for its default.
 */
typedef struct td_dataset_options {
  uint32_t struct_size;      /**< sizeof(td_dataset_options) */
  td_dataset_kind kind;      /**< what it is; TD_DATASET_KIND_DETECT finds it */
  int64_t max_episode_steps; /**< D4RL without `timeouts`: an episode ends after so many steps, and
                                  is truncated there; 0: it ends where it is terminal only */
  uint64_t max_bytes;        /**< most memory for one dataset of a file that is read; 0: 1,100 times
                                  the size of the file and 64 MB */
  uint32_t max_entries;      /**< most accepted entries of a group; 0: 1,000,000 */
  td_dataset_flags flags;    /**< how values are read */
  double rate;               /**< ROS: rows each second; 0: a row for each message of `clock` */
  const char *TD_NULLABLE clock; /**< borrowed; ROS: the topic whose messages are rows; NULL: the one
                                      with the most messages */
} td_dataset_options;
#define TD_DATASET_OPTIONS_INIT {sizeof(td_dataset_options), 0, 0, 0, 0, 0, 0, NULL}

/**
 * Opens a data set.
 *
 * @param file    borrowed; UTF-8 path of a folder or a file
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_dataset_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_FORMAT (no data set; damaged; its parts contradict each other; larger
 *         than the limits), TD_ERR_UNSUPPORTED (a kind or version that is not read; this build has no
 *         HDF5, or no Arrow for tables; a library that the file needs is missing), TD_ERR_KEY_NOT_FOUND (a group is missing; a bag has no topic
 *         `clock`), TD_ERR_BUSY (the file was replaced meanwhile), TD_ERR_INVALID_ARGUMENT (also:
 *         both a rate and a clock), TD_ERR_OUT_OF_MEMORY
 * @threadsafety any thread
 */
TD_API(0, 3) TD_MUST_USE
td_status td_dataset_open(const char *file, const td_dataset_options *TD_NULLABLE options,
                          td_dataset **result) TD_NOEXCEPT;

/**
 * Closes a data set. Dictionaries that were read from it stay.
 *
 * @param dataset consumed; NULL does nothing
 *
 * @threadsafety no other thread uses the handle
 */
TD_API(0, 3) void td_dataset_free(td_dataset *TD_NULLABLE dataset) TD_NOEXCEPT;

/**
 * Tells what a data set is and how long. The first call may read the length of each episode.
 *
 * @param dataset  borrowed
 * @param kind     written; NULL: not asked for
 * @param episodes written: the number of episodes; NULL: not asked for
 * @param steps    written: the number of steps of all of them; NULL: not asked for
 *
 * @return TD_OK, TD_ERR_FORMAT (damaged, or lengths that contradict each other), TD_ERR_KEY_NOT_FOUND
 *         (a group is missing), TD_ERR_UNSUPPORTED, TD_ERR_BUSY, TD_ERR_OUT_OF_MEMORY
 * @threadsafety any thread
 */
TD_API(0, 3) TD_MUST_USE
td_status td_dataset_about(const td_dataset *dataset, td_dataset_kind *TD_NULLABLE kind,
                           int64_t *TD_NULLABLE episodes, int64_t *TD_NULLABLE steps) TD_NOEXCEPT;

/**
 * Gets the version of the library that wrote a data set, "0.5.4", as it says itself; empty if it
 * does not.
 *
 * @param dataset  borrowed
 * @param text     written, with a closing NUL, when `text_cap` is larger than the length
 * @param text_cap room in `text`, in bytes; 0 asks for the length only
 * @param length   length of the text in bytes, without the NUL; also written on
 *                 TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety any thread
 */
TD_API(0, 3) TD_MUST_USE
td_status td_dataset_version(const td_dataset *dataset, char *TD_NULLABLE text, size_t text_cap,
                             size_t *length) TD_NOEXCEPT;

/**
 * Gets the number of steps of each episode.
 *
 * @param dataset     borrowed
 * @param lengths     written when `lengths_cap` is large enough
 * @param lengths_cap room in `lengths`; 0 asks for the number only
 * @param count       number of episodes; also written on TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_BUFFER_TOO_SMALL, and those of td_dataset_about()
 * @threadsafety any thread
 */
TD_API(0, 3) TD_MUST_USE
td_status td_dataset_lengths(const td_dataset *dataset, int64_t *TD_NULLABLE lengths,
                             size_t lengths_cap, size_t *count) TD_NOEXCEPT;

/**
 * Makes a dictionary without rows (batch size [0]) that has the entries of an episode: their keys,
 * dtypes and sizes.
 *
 * @param dataset borrowed
 * @param result  new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_FORMAT, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_EXISTS (two datasets of the file would
 *         be one entry), TD_ERR_KEY_INVALID, TD_ERR_UNSUPPORTED (something has no place in a
 *         dictionary), TD_ERR_BUSY, TD_ERR_OUT_OF_MEMORY
 * @threadsafety any thread
 */
TD_API(0, 3) TD_MUST_USE
td_status td_dataset_structure(const td_dataset *dataset, td_tensordict **result) TD_NOEXCEPT;

/**
 * Gets what a data set says of itself: the members of Minari's metadata.json; those of LeRobot's
 * info.json, with `stats`, `tasks` and `videos`, the columns that are left out; the attributes of
 * robomimic's `data`, and its `mask`; all that D4RL's files have beside the rows. Attributes of the
 * file are in `attributes`. Texts of JSON inside (spaces, env_spec, env_args) stay texts. Of a bag: the
 * topics, and those that are left out with the reason (of several bags, see
 * td_dataset_episode_metadata()).
 *
 * @param dataset borrowed
 * @param result  new; free with td_free(); NULL on failure
 *
 * @return TD_OK, and those of td_dataset_structure()
 * @threadsafety any thread
 */
TD_API(0, 3) TD_MUST_USE
td_status td_dataset_metadata(const td_dataset *dataset, td_tensordict **result) TD_NOEXCEPT;

/**
 * Gets what a data set says of one episode: its attributes (`seed`, `options`, `model_file`), the
 * `name` of robomimic, `tasks` and `stats` of LeRobot, and datasets whose rows are not those of steps.
 *
 * @param dataset borrowed
 * @param episode from 0 on
 * @param result  new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX, and those of td_dataset_structure()
 * @threadsafety any thread
 */
TD_API(0, 3) TD_MUST_USE
td_status td_dataset_episode_metadata(const td_dataset *dataset, int64_t episode,
                                      td_tensordict **result) TD_NOEXCEPT;

/**
 * Reads one episode, of which each step is a row.
 *
 * @param dataset borrowed
 * @param episode from 0 on
 * @param result  new, batch size [steps]; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX, and those of td_dataset_structure()
 * @threadsafety any thread; readings of several threads take turns
 */
TD_API(0, 3) TD_MUST_USE
td_status td_dataset_episode(const td_dataset *dataset, int64_t episode,
                             td_tensordict **result) TD_NOEXCEPT;

/**
 * Reads episodes as the elements of a lazy stack.
 *
 * @param dataset borrowed
 * @param first   the first episode
 * @param count   number of episodes, at least 1
 * @param result  new, batch size [count, steps], with -1 for steps that differ; free with td_free();
 *                NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX, and those of td_dataset_structure()
 * @threadsafety any thread; readings of several threads take turns
 */
TD_API(0, 3) TD_MUST_USE
td_status td_dataset_episodes(const td_dataset *dataset, int64_t first, int64_t count,
                              td_tensordict **result) TD_NOEXCEPT;

/**
 * Reads rows: the steps of all episodes are numbered one after the other.
 *
 * @param dataset borrowed
 * @param first   the first row
 * @param count   number of rows; 0 gives what td_dataset_structure() gives
 * @param result  new, batch size [count]; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INDEX, TD_ERR_FORMAT (also: an episode has other entries, dtypes or sizes than
 *         those before), and those of td_dataset_structure()
 * @threadsafety any thread; readings of several threads take turns
 */
TD_API(0, 3) TD_MUST_USE
td_status td_dataset_rows(const td_dataset *dataset, int64_t first, int64_t count,
                          td_tensordict **result) TD_NOEXCEPT;

/**
 * Reads all rows, as td_dataset_rows() does.
 *
 * @param dataset borrowed
 * @param result  new, batch size [steps]; free with td_free(); NULL on failure
 *
 * @return TD_OK, and those of td_dataset_rows()
 * @threadsafety any thread; readings of several threads take turns
 */
TD_API(0, 3) TD_MUST_USE
td_status td_dataset_flat(const td_dataset *dataset, td_tensordict **result) TD_NOEXCEPT;

/**
 * Flags of td_dataset_save(), td_dataset_convert() and td_dataset_writer_open().
 */
typedef uint32_t td_dataset_save_flags;
enum {
  TD_DATASET_SAVE_LOSSY = 1,   /**< leaves out, or fills in, what the kind cannot hold; otherwise
                                    that is an error */
  TD_DATASET_SAVE_DURABLE = 2, /**< returns when the files are on the disk */
  TD_DATASET_SAVE_RESUME = 4,  /**< td_dataset_writer_open() only: goes on behind the episodes of a set
                                    that is there, which keeps its metadata */
  TD_DATASET_SAVE_LEROBOT_V21 = 8 /**< LeRobot in version 2.1, with a table, and a video, for each
                                    episode; a video that has more is TD_ERR_UNSUPPORTED. Since 0.3.0 */
};

/**
 * What becomes of pictures in a data set of LeRobot: uint8 tensors in `image` of `observation`, and files of pictures.
 * Since 0.3.0.
 */
typedef int32_t td_dataset_video;
enum {
  TD_DATASET_VIDEO_NONE = 0, /**< they stay pictures: PNG, without a loss */
  TD_DATASET_VIDEO_H264 = 1, /**< frames of videos, which are a little different; sizes must be even */
  TD_DATASET_VIDEO_AV1 = 2   /**< the same in less room and more time */
};

/**
 * Options of td_dataset_save(), td_dataset_convert() and td_dataset_writer_open(). Set a field after `struct_size` to 0 for
 * its default.
 */
typedef struct td_dataset_save_options {
  uint32_t struct_size;        /**< sizeof(td_dataset_save_options) */
  td_dataset_save_flags flags; /**< how it is written */
  int64_t deflate;             /**< level of compression, 1 to 9; 0: not compressed */
  td_dataset_video video;      /**< LeRobot: pictures become videos. Since 0.3.0 */
  int32_t video_quality;       /**< of H.264 1 to 51, of AV1 1 to 63, less is better and larger; 0: 23,
                                    AV1 30. Since 0.3.0 */
  double fps;                  /**< LeRobot: steps in a second; 0: `fps` of the metadata, else by the
                                    times of the first episode. Since 0.3.0 */
} td_dataset_save_options;
#define TD_DATASET_SAVE_OPTIONS_INIT {sizeof(td_dataset_save_options), 0, 0, 0, 0, 0}

/**
 * Writes a data set that the library of that kind opens. An existing one is replaced once the new one
 * is complete. Some 16 MB of a file are in memory at a time; LeRobot takes the rows of one table (up to
 * 100 MB), TorchRL all rows.
 *
 * Rows are those of td_dataset_flat(): episodes are runs of one number in `episode`, or end where
 * `done` is true in `next`. With two batch dimensions, as in a lazy stack of episodes, each element of
 * the first is an episode. Entries that the kind does not know keep their names, beside those that it
 * knows. Minari's spaces are those of `metadata` (observation_space, action_space), or are made from
 * the values.
 *
 * What a kind cannot hold is found before anything is written. For Minari: what follows the last step
 * for an observation or info without rows in `next`; missing rewards. For robomimic: texts in
 * observations. For D4RL: an episode that ends neither terminated nor
 * truncated, or before its last step; metadata of episodes. For LeRobot, which is written in version
 * 3.0 unless TD_DATASET_SAVE_LEROBOT_V21 is set: that nothing says `fps`; metadata of episodes; an episode without steps; values that are
 * no texts, pictures or numbers of NumPy; episodes with other entries than the first.
 *
 * @param td       borrowed
 * @param metadata borrowed; what td_dataset_metadata() gives; NULL: none
 * @param kind     what is written
 * @param file     borrowed; UTF-8 path of a file, or of the folder of Minari or LeRobot, which may be missing
 * @param options  borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_UNSUPPORTED (the kind cannot hold it; this build has no HDF5 or Arrow; no module
 *         for videos, or no encoder, is here), TD_ERR_IO (also: a folder that is no data set is in the way), TD_ERR_SHAPE (no batch dimension), TD_ERR_KEY_EXISTS (two
 *         entries would be one dataset), TD_ERR_KEY_INVALID (HDF5 has no such name), TD_ERR_DTYPE,
 *         TD_ERR_FORMAT (a space in the metadata is no JSON; a picture is damaged), TD_ERR_DEVICE, TD_ERR_BUSY,
 *         TD_ERR_INVALID_ARGUMENT (no kind), TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe while other threads only read `td` and `metadata`
 */
TD_API(0, 3) TD_MUST_USE
td_status td_dataset_save(const td_tensordict *td, const td_tensordict *TD_NULLABLE metadata,
                          td_dataset_kind kind, const char *file,
                          const td_dataset_save_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * Writes a data set as another kind, or as the same, with its metadata and those of its episodes.
 * Converted back, it has the same values.
 *
 * @param dataset borrowed
 * @param kind    what is written
 * @param file    borrowed; UTF-8 path of a file, or of the folder of Minari or LeRobot, which may be missing
 * @param options borrowed; NULL for the defaults
 *
 * @return TD_OK, those of td_dataset_save(), and those of td_dataset_episode()
 * @threadsafety any thread
 */
TD_API(0, 3) TD_MUST_USE
td_status td_dataset_convert(const td_dataset *dataset, td_dataset_kind kind, const char *file,
                             const td_dataset_save_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * Writes a data set episode by episode.
 *
 * When td_dataset_writer_add() returns, the episode is part of the set in the file system. Whatever
 * happens to the program then or in a later call, the set opens, here and in the library of its kind,
 * and has all episodes that were added. With TD_DATASET_SAVE_DURABLE that holds for a computer that
 * loses its power, too. While a set of one file grows, a second copy of the file is beside it, so a
 * disk needs room for two; a program that reads the file sees whole episodes only, if it opens the
 * file anew.
 */
typedef struct td_dataset_writer td_dataset_writer;

/**
 * Opens a writer of a data set. Nothing is written before the first episode, which replaces a set that is
 * there; with TD_DATASET_SAVE_RESUME that set goes on, if there is one. Minari grows in HDF5, D4RL if this library
 * wrote it, TorchRL with buffers that have not replaced rows, LeRobot in version 3.0 with its own names of files: each
 * episode has files of its own.
 *
 * @param file     borrowed; UTF-8 path of a file, or of the folder of Minari, LeRobot or TorchRL, which may
 *                 be missing; one writer at a time
 * @param kind     what is written
 * @param metadata borrowed; what td_dataset_metadata() gives; NULL: none; not used for a set that goes on
 * @param options  borrowed; NULL for the defaults
 * @param result   new; free with td_dataset_writer_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_UNSUPPORTED (the kind is not written so; the set cannot go on; this build has
 *         no HDF5 or Arrow), TD_ERR_IO (also: something that is no such data set is in the way), TD_ERR_FORMAT
 *         (the set that is there is damaged; a space in the metadata is no JSON),
 *         TD_ERR_INVALID_ARGUMENT, TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe while other threads only read `metadata`
 */
TD_API(0, 3) TD_MUST_USE
td_status td_dataset_writer_open(const char *file, td_dataset_kind kind,
                                 const td_tensordict *TD_NULLABLE metadata,
                                 const td_dataset_save_options *TD_NULLABLE options,
                                 td_dataset_writer **result) TD_NOEXCEPT;

/**
 * Adds an episode. Rows are steps, as td_dataset_episode() gives them; an entry `episode` is not needed.
 * What a kind cannot hold is an error; see td_dataset_save(). An episode of D4RL that just stops may only
 * be the last one.
 *
 * @param writer   borrowed; changed; on failure it and the set stay as they are
 * @param rows     borrowed; batch size [steps], or more dimensions
 * @param metadata borrowed; of the episode, what td_dataset_episode_metadata() gives; NULL: none
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (the writer is closed), TD_ERR_BUSY (another writer replaced the
 *         set), TD_ERR_IO, and those of td_dataset_save()
 * @threadsafety needs exclusive access to `writer`; safe while other threads only read the dictionaries
 */
TD_API(0, 3) TD_MUST_USE
td_status td_dataset_writer_add(td_dataset_writer *writer, const td_tensordict *rows,
                                const td_tensordict *TD_NULLABLE metadata) TD_NOEXCEPT;

/**
 * Gets the number of episodes in the set: those that were there, and those that were added.
 *
 * @param writer borrowed
 * @param result written on success
 *
 * @return TD_OK
 * @threadsafety safe while no other thread changes `writer`
 */
TD_API(0, 3) TD_MUST_USE
td_status td_dataset_writer_episodes(const td_dataset_writer *writer, int64_t *result) TD_NOEXCEPT;

/**
 * Ends the writing, and removes the second copy. A set without episodes is written now. Later episodes
 * are refused. You still have to call td_dataset_writer_free().
 *
 * @param writer borrowed; changed
 *
 * @return TD_OK, also if it is closed; TD_ERR_SHAPE (TorchRL has no set without episodes), and those of
 *         td_dataset_writer_add(); the writer is closed in any case
 * @threadsafety needs exclusive access to `writer`
 */
TD_API(0, 3) TD_MUST_USE
td_status td_dataset_writer_close(td_dataset_writer *writer) TD_NOEXCEPT;

/**
 * Frees a writer. The episodes that were added stay.
 *
 * @param writer consumed; NULL does nothing
 *
 * @threadsafety no other thread uses the handle
 */
TD_API(0, 3) void td_dataset_writer_free(td_dataset_writer *TD_NULLABLE writer) TD_NOEXCEPT;

TD_END_C

#endif

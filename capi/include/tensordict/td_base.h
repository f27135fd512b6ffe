/* tensordict/td_base.h: version, td_status, errors, log (C: TD_OK, TD_ERR_*, TD_API, TD_KEY; Python: exceptions, __version__). */
#ifndef TENSORDICT_TD_BASE_H
#define TENSORDICT_TD_BASE_H

#include <stddef.h>
#include <stdint.h>

/* Marks on declarations. To give one another meaning, define it before you include this header. */

/* The pointer may be NULL. A pointer without this mark must not be NULL. */
#ifndef TD_NULLABLE
#define TD_NULLABLE
#endif

/* The release in which a declaration appeared; also exports it. */
#ifndef TD_API
#if defined(SWIG)
#define TD_API(major, minor)
#elif defined(_WIN32) && defined(TD_BUILDING)
#define TD_API(major, minor) __declspec(dllexport)
#elif defined(_WIN32)
#define TD_API(major, minor) __declspec(dllimport)
#elif defined(__GNUC__)
#define TD_API(major, minor) __attribute__((visibility("default")))
#else
#define TD_API(major, minor)
#endif
#endif

#ifndef TD_MUST_USE
#if defined(__GNUC__) && !defined(SWIG)
#define TD_MUST_USE __attribute__((warn_unused_result))
#else
#define TD_MUST_USE
#endif
#endif

#ifndef TD_NOEXCEPT
#if defined(__cplusplus) && __cplusplus >= 201103L && !defined(SWIG)
#define TD_NOEXCEPT noexcept
#else
#define TD_NOEXCEPT
#endif
#endif

/* Around declarations: C linkage in C++. */
#ifdef __cplusplus
#define TD_BEGIN_C extern "C" {
#define TD_END_C }
#else
#define TD_BEGIN_C
#define TD_END_C
#endif

#define TD_VERSION_MAJOR 0
#define TD_VERSION_MINOR 3
#define TD_VERSION_PATCH 0
#define TD_ABI_VERSION 2

TD_BEGIN_C

/**
 * The result of a call: TD_OK, or a negative code for each kind of failure.
 *
 * Besides the codes that its comment lists, any call may return TD_ERR_NULL_ARGUMENT,
 * TD_ERR_BAD_HANDLE, TD_ERR_OUT_OF_MEMORY and TD_ERR_INTERNAL. After a failure,
 * td_last_error_message() says what you asked and what the library found.
 *
 * The library never uses codes of -10000 and below. Your callbacks may return them, and you get
 * them back unchanged.
 */
typedef int32_t td_status;
enum {
  TD_OK = 0,                         /**< the call succeeded */
  TD_ERR_NULL_ARGUMENT = -1,         /**< a pointer without TD_NULLABLE is NULL */
  TD_ERR_BAD_HANDLE = -2,            /**< the handle was never issued, is already freed, or is of
                                          another kind */
  TD_ERR_INVALID_ARGUMENT = -3,      /**< a value is out of range, or a reserved field is not zero */
  TD_ERR_BUFFER_TOO_SMALL = -4,      /**< your buffer is too small; only the size it needs was
                                          written */
  TD_ERR_KEY_NOT_FOUND = -10,        /**< the path leads to no entry */
  TD_ERR_KEY_INVALID = -11,          /**< the path is empty, or a name is NULL or not UTF-8 */
  TD_ERR_KEY_EXISTS = -12,           /**< an existing entry blocks the path */
  TD_ERR_WRONG_ENTRY = -13,          /**< the entry is of another kind, such as a dictionary instead
                                          of a tensor */
  TD_ERR_LOCKED = -14,               /**< the dictionary is locked */
  TD_ERR_CYCLE = -15,                /**< a dictionary would contain itself */
  TD_ERR_SHAPE = -20,                /**< sizes do not match */
  TD_ERR_INDEX = -21,                /**< an index is out of range, or its form is not allowed */
  TD_ERR_DTYPE = -22,                /**< a dtype does not match or is not supported */
  TD_ERR_DEVICE = -23,               /**< a device does not exist or does not match */
  TD_ERR_IO = -30,                   /**< the operating system reported an error; the message gives
                                          its reason */
  TD_ERR_FORMAT = -31,               /**< the bytes that were read are not a valid dictionary */
  TD_ERR_BUSY = -32,                 /**< another writer is using the same files */
  TD_ERR_OUT_OF_MEMORY = -40,        /**< host memory is exhausted */
  TD_ERR_DEVICE_OUT_OF_MEMORY = -41, /**< accelerator memory is exhausted */
  TD_ERR_CAPACITY = -42,             /**< a writer has no row left */
  TD_ERR_UNSUPPORTED = -50,          /**< this build or version does not offer it, or libtorch has
                                          no kernel for the dtype */
  TD_ERR_VERSION = -51,              /**< client, library and libtorch have versions that do not
                                          work together */
  TD_ERR_CALLBACK = -60,             /**< a callback returned a code that is not in this list */
  TD_ERR_TORCH = -70,                /**< libtorch failed, and no other code fits */
  TD_ERR_INTERNAL = -99              /**< a bug in this library; please report it */
};

/**
 * Releases memory that you lent for longer than one call. The library calls it once, from any
 * thread.
 *
 * @param user the value that you passed with the function
 */
typedef void (*td_release_fn)(void *TD_NULLABLE user);

/**
 * The severity of a log line.
 */
typedef int32_t td_log_level;
enum {
  TD_LOG_DEBUG = 1,  /**< for developers of the library, such as a libtorch backtrace */
  TD_LOG_INFO = 2,   /**< worth knowing */
  TD_LOG_WARNING = 3 /**< the library did something that you may not expect */
};

/**
 * Receives one line of diagnostic text.
 *
 * @param user    the value that you passed to td_set_log()
 * @param level   the severity
 * @param message borrowed; UTF-8; valid until the function returns
 */
typedef void (*td_log_fn)(void *TD_NULLABLE user, td_log_level level, const char *message);

/**
 * Returns the ABI number of the loaded library.
 *
 * @return the TD_ABI_VERSION that the library was built with
 * @threadsafety any thread, any time
 */
TD_API(0, 1) int32_t td_abi_version(void) TD_NOEXCEPT;

/**
 * Tells whether a client built for an ABI number can use this library. A plugin calls it first.
 *
 * @param abi the TD_ABI_VERSION that the client was compiled with
 * @return 1 or 0
 * @threadsafety any thread, any time
 */
TD_API(0, 1) int32_t td_supports_abi(int32_t abi) TD_NOEXCEPT;

/**
 * Returns the version of the loaded library, such as "0.3.0".
 *
 * @return borrowed; valid while the library is loaded
 * @threadsafety any thread, any time
 */
TD_API(0, 2) const char *td_version(void) TD_NOEXCEPT;

/**
 * Returns the version of the libtorch in this process, such as "1.13.1".
 *
 * @return borrowed; valid while the library is loaded
 * @threadsafety any thread, any time
 */
TD_API(0, 1) const char *td_torch_version(void) TD_NOEXCEPT;

/**
 * Returns the name of a status, such as "TD_ERR_LOCKED".
 *
 * @param status any number
 * @return borrowed; "TD_ERR_UNKNOWN" for a number that is not a status; never NULL
 * @threadsafety any thread, any time
 */
TD_API(0, 1) const char *td_status_name(td_status status) TD_NOEXCEPT;

/**
 * Returns the code of the last failing call on this thread.
 *
 * Only failing calls write it: successful calls, getters and every *_free leave it unchanged.
 *
 * @return TD_OK if no call on this thread has failed yet
 * @threadsafety reads the state of the calling thread only
 */
TD_API(0, 1) td_status td_last_error_code(void) TD_NOEXCEPT;

/**
 * Returns the name of the function that failed last on this thread, such as "td_index".
 *
 * @return borrowed; "" if none has failed; valid until the next failing call on this thread
 * @threadsafety reads the state of the calling thread only
 */
TD_API(0, 1) const char *td_last_error_function(void) TD_NOEXCEPT;

/**
 * Returns the message of the last failing call on this thread: one line that says what you asked
 * and what the library found.
 *
 * @return borrowed; UTF-8; "" if none has failed; valid until the next failing call on this thread
 * @threadsafety reads the state of the calling thread only
 */
TD_API(0, 1) const char *td_last_error_message(void) TD_NOEXCEPT;

/**
 * Sets the error message that the caller of the library will see. For callbacks only: a callback
 * that fails calls this and returns the same code.
 *
 * @param code    the code that the callback is about to return
 * @param message borrowed; UTF-8; copied, and cut at about 1000 bytes
 * @threadsafety changes the state of the calling thread only
 */
TD_API(0, 1) void td_set_error(td_status code, const char *TD_NULLABLE message) TD_NOEXCEPT;

/**
 * Sets the function that receives the library's log. Without one the library is silent.
 *
 * Set it once at start. The library may call the function from any thread, and from several at
 * once. The function must not call the library, except td_set_log() itself.
 *
 * @param callback NULL for silence
 * @param user     passed to every call
 * @param release  called once with `user`, after you set another function and the last call of this
 *                 one has returned; from whichever thread that was
 * @threadsafety any thread, any time
 */
TD_API(0, 1)
void td_set_log(td_log_fn TD_NULLABLE callback, void *TD_NULLABLE user,
                td_release_fn TD_NULLABLE release) TD_NOEXCEPT;

/**
 * A td_release_fn that stores 1 into the int32_t at `user`, with release order. For languages that
 * a foreign thread cannot call: they poll the flag later.
 *
 * @param user borrowed; an int32_t that lives until it becomes 1
 * @threadsafety any thread
 */
TD_API(0, 1) void td_release_set_flag(void *TD_NULLABLE user) TD_NOEXCEPT;

/**
 * Returns td_release_set_flag() as a value, for languages that can call a function but cannot take
 * its address.
 *
 * @return the function; never NULL
 * @threadsafety any thread
 */
TD_API(0, 2) td_release_fn td_release_flag_fn(void) TD_NOEXCEPT;

/**
 * Turns the recording of gradients on or off for calls on this thread. It is off until you turn it
 * on. Libtorch's own mode does not change. Python: torch.set_grad_enabled.
 *
 * @param enabled 1 or 0
 * @return the previous value
 * @threadsafety changes the state of the calling thread only
 */
TD_API(0, 1) int32_t td_set_grad_enabled(int32_t enabled) TD_NOEXCEPT;

/**
 * Returns how many handles are open in this process. For tests, and for engines that reload
 * plugins.
 *
 * @return the number of handles received and not yet freed
 * @threadsafety any thread; exact only while no other thread opens or frees one
 */
TD_API(0, 1) int64_t td_debug_live_handles(void) TD_NOEXCEPT;

TD_END_C

/* TD_FREE(td, td_free) frees a handle and sets the variable to NULL. */
#if !defined(SWIG)
#define TD_FREE(handle, free_function) \
  do {                                 \
    free_function(handle);             \
    (handle) = NULL;                   \
  } while (0)
#endif

/* TD_KEY("agent", "obs") expands to a path and its length, for every function that takes a key.
 * TD_SIZES(3, 4) expands to sizes and their number. In C they live until the end of the block, in C++
 * (11 or newer) until the end of the call. */
#if !defined(SWIG) && !defined(__cplusplus)
#define TD_KEY(...)                   \
  (const char *const[]){__VA_ARGS__}, \
      (sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))
#define TD_SIZES(...) \
  (const int64_t[]){__VA_ARGS__}, (sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
#elif !defined(SWIG) && __cplusplus >= 201103L
#include <initializer_list>
#define TD_KEY(...)                                         \
  std::initializer_list<const char *>{__VA_ARGS__}.begin(), \
      std::initializer_list<const char *>{__VA_ARGS__}.size()
#define TD_SIZES(...)                                  \
  std::initializer_list<int64_t>{__VA_ARGS__}.begin(), \
      std::initializer_list<int64_t>{__VA_ARGS__}.size()
#endif

#endif

/* tensordict/td_base.h: version, status codes and the marks used by every other header. */
#ifndef TENSORDICT_TD_BASE_H
#define TENSORDICT_TD_BASE_H

#include <stddef.h>
#include <stdint.h>

/* Marks. Define one before the include to give it another meaning. */

/* May be NULL; every pointer without this mark must not be. */
#ifndef TD_NULLABLE
#define TD_NULLABLE
#endif

/* The release in which a declaration appeared, and what makes it visible to a linker. */
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

#define TD_VERSION_MAJOR 0
#define TD_VERSION_MINOR 2
#define TD_VERSION_PATCH 0
#define TD_ABI_VERSION 2

#ifdef __cplusplus
extern "C" {
#endif

/**
 * What a call answers: 0 for success, a negative code for each kind of failure.
 *
 * Codes of -10000 and below are never used by the library; callbacks may return them and get them
 * back unchanged.
 */
typedef int32_t td_status;
enum {
  TD_OK = 0,                        /**< the call did what was asked */
  TD_ERR_NULL_ARGUMENT = -1,        /**< a pointer that must not be NULL is */
  TD_ERR_BAD_HANDLE = -2,           /**< never issued, already freed, or of another kind */
  TD_ERR_INVALID_ARGUMENT = -3,     /**< a value outside its range, or a reserved field not zero */
  TD_ERR_BUFFER_TOO_SMALL = -4,     /**< the size needed was written, the content was not */
  TD_ERR_KEY_NOT_FOUND = -10,       /**< no entry under this path */
  TD_ERR_KEY_INVALID = -11,         /**< empty path, NULL name, or a name that is not UTF-8 */
  TD_ERR_KEY_EXISTS = -12,          /**< the path runs through an entry that is in the way */
  TD_ERR_WRONG_ENTRY = -13,         /**< a dictionary where a tensor was asked for, or the like */
  TD_ERR_LOCKED = -14,              /**< the dictionary is locked */
  TD_ERR_CYCLE = -15,               /**< a dictionary would come to lie inside itself */
  TD_ERR_SHAPE = -20,               /**< sizes that do not fit */
  TD_ERR_INDEX = -21,               /**< an index out of range, or of a form that is not allowed */
  TD_ERR_DTYPE = -22,               /**< a dtype that does not fit or is not supported */
  TD_ERR_DEVICE = -23,              /**< a device that does not exist or does not fit */
  TD_ERR_IO = -30,                  /**< the operating system refused; its reason is in the text */
  TD_ERR_FORMAT = -31,              /**< files read, but not a dictionary that can be understood */
  TD_ERR_BUSY = -32,                /**< another writer is at work on the same files */
  TD_ERR_OUT_OF_MEMORY = -40,       /**< host memory */
  TD_ERR_DEVICE_OUT_OF_MEMORY = -41, /**< accelerator memory */
  TD_ERR_CAPACITY = -42,            /**< a writer has no row left */
  TD_ERR_UNSUPPORTED = -50,         /**< not offered by this build or this version */
  TD_ERR_VERSION = -51,             /**< client, library or libtorch of a version that does not fit */
  TD_ERR_CALLBACK = -60,            /**< a callback returned a code that is not of this list */
  TD_ERR_TORCH = -70,               /**< libtorch failed, with no nearer meaning */
  TD_ERR_INTERNAL = -99             /**< a defect of this library; please report it */
};

/**
 * Releases what a caller lent for longer than one call. Called once, from any thread.
 *
 * @param user what was given together with the function
 */
typedef void (*td_release_fn)(void *TD_NULLABLE user);

/**
 * How grave a line of the log is.
 */
typedef int32_t td_log_level;
enum {
  TD_LOG_DEBUG = 1,   /**< for developers of the library, such as a libtorch backtrace */
  TD_LOG_INFO = 2,    /**< worth knowing */
  TD_LOG_WARNING = 3  /**< something was done that the caller may not expect */
};

/**
 * Receives one line of diagnostic text.
 *
 * @param user    what td_set_log() was given
 * @param level   how grave it is
 * @param message borrowed; UTF-8; gone when the function has returned
 */
typedef void (*td_log_fn)(void *TD_NULLABLE user, td_log_level level, const char *message);

/**
 * The ABI number of the library that is loaded.
 *
 * @return TD_ABI_VERSION as it was when the library was built
 * @threadsafety any thread, any time
 * @since 0.1
 */
TD_API(0, 1) int32_t td_abi_version(void) TD_NOEXCEPT;

/**
 * Says whether a client built for an ABI number can use this library. The first call of a plugin.
 *
 * @param abi the TD_ABI_VERSION that the client was compiled with
 * @return 1 or 0
 * @threadsafety any thread, any time
 * @since 0.1
 */
TD_API(0, 1) int32_t td_supports_abi(int32_t abi) TD_NOEXCEPT;

/**
 * The version of the library that is loaded, such as "0.2.0".
 *
 * @return borrowed; lives as long as the library
 * @threadsafety any thread, any time
 * @since 0.2
 */
TD_API(0, 2) const char *td_version(void) TD_NOEXCEPT;

/**
 * The version of the libtorch that is loaded in this process, such as "1.13.1".
 *
 * @return borrowed; lives as long as the library
 * @threadsafety any thread, any time
 * @since 0.1
 */
TD_API(0, 1) const char *td_torch_version(void) TD_NOEXCEPT;

/**
 * The name of a status, such as "TD_ERR_LOCKED".
 *
 * @param status any number
 * @return borrowed; "TD_ERR_UNKNOWN" for a number that is not a status; never NULL
 * @threadsafety any thread, any time
 * @since 0.1
 */
TD_API(0, 1) const char *td_status_name(td_status status) TD_NOEXCEPT;

/**
 * The code of the last call of this thread that failed.
 *
 * Written by failing calls only: a call that succeeds, a getter and every *_free leave it alone.
 *
 * @return TD_OK when no call of this thread has failed yet
 * @threadsafety speaks of the calling thread only
 * @since 0.1
 */
TD_API(0, 1) td_status td_last_error_code(void) TD_NOEXCEPT;

/**
 * The name of the function that failed last on this thread, such as "td_index".
 *
 * @return borrowed; "" when none has failed; valid until the next failing call of this thread
 * @threadsafety speaks of the calling thread only
 * @since 0.1
 */
TD_API(0, 1) const char *td_last_error_function(void) TD_NOEXCEPT;

/**
 * What went wrong in the last failing call of this thread: one line that says what was asked and
 * what was found.
 *
 * @return borrowed; UTF-8; "" when none has failed; valid until the next failing call of this thread
 * @threadsafety speaks of the calling thread only
 * @since 0.1
 */
TD_API(0, 1) const char *td_last_error_message(void) TD_NOEXCEPT;

/**
 * Leaves an error text for the caller of the library. For callbacks only: a callback that fails
 * calls this and returns the same code.
 *
 * @param code    the code that the callback is about to return
 * @param message borrowed; UTF-8; copied, and cut at about 1000 bytes
 * @threadsafety speaks of the calling thread only
 * @since 0.1
 */
TD_API(0, 1) void td_set_error(td_status code, const char *TD_NULLABLE message) TD_NOEXCEPT;

/**
 * Sets the function that receives the log of the library. Without one the library is silent.
 *
 * Set it once at start. The function may be called from any thread, and from several at once. It must not
 * call the library, except for this function.
 *
 * @param callback NULL for silence
 * @param user     passed to every call
 * @param release  called with `user` once, when another function has taken its place and the last call of
 *                 this one has returned, from whichever thread that was
 * @threadsafety any thread, any time
 * @since 0.1
 */
TD_API(0, 1)
void td_set_log(td_log_fn TD_NULLABLE callback, void *TD_NULLABLE user,
                td_release_fn TD_NULLABLE release) TD_NOEXCEPT;

/**
 * A td_release_fn that stores 1 into the int32_t that `user` points to, with release order. For
 * languages that cannot be called from a foreign thread: they look at the flag later.
 *
 * @param user borrowed; an int32_t that lives until it has become 1
 * @threadsafety any thread
 * @since 0.1
 */
TD_API(0, 1) void td_release_set_flag(void *TD_NULLABLE user) TD_NOEXCEPT;

/**
 * td_release_set_flag() as a value, for languages that can call a function of the library but cannot take
 * its address.
 *
 * @return the function; never NULL
 * @threadsafety any thread
 * @since 0.2
 */
TD_API(0, 2) td_release_fn td_release_flag_fn(void) TD_NOEXCEPT;

/**
 * Whether calls of this thread record gradients. Off until the thread asks for it; the library
 * leaves libtorch's own mode as it finds it.
 *
 * @param enabled 1 or 0
 * @return the value before
 * @threadsafety speaks of the calling thread only
 * @since 0.1
 */
TD_API(0, 1) int32_t td_set_grad_enabled(int32_t enabled) TD_NOEXCEPT;

/**
 * How many handles are open in this process. For tests and for the reload of an engine's plugin.
 *
 * @return the number of handles received and not yet freed
 * @threadsafety any thread; exact only while no other thread opens or frees one
 * @since 0.1
 */
TD_API(0, 1) int64_t td_debug_live_handles(void) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

/* C99 sugar. TD_FREE(td, td_free) frees and forgets. */
#if !defined(SWIG)
#define TD_FREE(handle, free_function) \
  do {                                 \
    free_function(handle);             \
    (handle) = NULL;                   \
  } while (0)
#endif

/* TD_KEY("agent", "obs") is a path and its length, as every function that takes a key wants it; TD_SIZES(3, 4) are
 * sizes and their number. In C they live as long as the block, in C++ (11 and newer) until the end of the call. */
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

/* clang-format off */
/* The headers of version 0.1 without comments and marks, one declaration a line. Not to be changed. */
#include <stddef.h>
#include <stdint.h>
#define TD_VERSION_MAJOR 0
#define TD_VERSION_MINOR 1
#define TD_VERSION_PATCH 0
#define TD_ABI_VERSION 1
#define TD_FREE(handle, free_function) do { free_function(handle); (handle) = NULL; } while (0)
#define TD_KEY(...) (const char *const[]){__VA_ARGS__}, (sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))
typedef int32_t td_status;
enum { TD_OK = 0, TD_ERR_NULL_ARGUMENT = -1, TD_ERR_BAD_HANDLE = -2, TD_ERR_INVALID_ARGUMENT = -3, TD_ERR_BUFFER_TOO_SMALL = -4, TD_ERR_KEY_NOT_FOUND = -10, TD_ERR_KEY_INVALID = -11, TD_ERR_KEY_EXISTS = -12, TD_ERR_WRONG_ENTRY = -13, TD_ERR_LOCKED = -14, TD_ERR_CYCLE = -15, TD_ERR_SHAPE = -20, TD_ERR_INDEX = -21, TD_ERR_DTYPE = -22, TD_ERR_DEVICE = -23, TD_ERR_IO = -30, TD_ERR_FORMAT = -31, TD_ERR_OUT_OF_MEMORY = -40, TD_ERR_DEVICE_OUT_OF_MEMORY = -41, TD_ERR_CAPACITY = -42, TD_ERR_UNSUPPORTED = -50, TD_ERR_VERSION = -51, TD_ERR_CALLBACK = -60, TD_ERR_TORCH = -70, TD_ERR_INTERNAL = -99 };
typedef void (*td_release_fn)(void *user);
typedef int32_t td_log_level;
enum { TD_LOG_DEBUG = 1, TD_LOG_INFO = 2, TD_LOG_WARNING = 3 };
typedef void (*td_log_fn)(void *user, td_log_level level, const char *message);
int32_t td_abi_version(void);
int32_t td_supports_abi(int32_t abi);
const char *td_version_string(void);
const char *td_torch_version(void);
const char *td_status_name(td_status status);
td_status td_last_error_code(void);
const char *td_last_error_function(void);
const char *td_last_error_message(void);
void td_set_error(td_status code, const char *message);
void td_set_log(td_log_fn callback, void *user, td_release_fn release);
void td_release_set_flag(void *user);
int32_t td_set_grad_enabled(int32_t enabled);
int64_t td_debug_live_handles(void);

/* Both names of a call are defined here: that of 64-bit offsets, too. Some compilers check calls by inline forms of them,
 * which would be defined twice. */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "td_faults.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* What a program defines takes the place of the C library's. Each call goes to the system itself. */

static td_fault fault;
static long calls, is_counting;
static char inside[PATH_MAX];

void td_fault_begin(td_fault wanted) {
  fault = wanted;
  __atomic_store_n(&calls, 0, __ATOMIC_SEQ_CST);
  __atomic_store_n(&is_counting, 1, __ATOMIC_SEQ_CST);
}

long td_fault_end(void) {
  __atomic_store_n(&is_counting, 0, __ATOMIC_SEQ_CST);
  return __atomic_load_n(&calls, __ATOMIC_SEQ_CST);
}

void td_fault_stay_inside(const char *folder) {
  snprintf(inside, sizeof inside, "%s", folder == NULL ? "" : folder);
}

/* Whether this call is to fail; a short one only where that has a meaning. */
static int fails(unsigned call, int can_be_short) {
  if (!__atomic_load_n(&is_counting, __ATOMIC_SEQ_CST) || (fault.calls & call) == 0) return 0;
  if (fault.error == TD_FAULT_SHORT && !can_be_short) return 0;
  const long number = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
  if (fault.at == 0 || number < fault.at || (number > fault.at && !fault.stays)) return 0;
  if (fault.error == TD_FAULT_KILL) syscall(SYS_kill, getpid(), SIGKILL);
  if (fault.error > 0) errno = fault.error;
  return 1;
}

static size_t half(size_t bytes) { return bytes > 1 ? bytes / 2 : bytes; }

static void outside(const char *call, const char *path) {
  char text[PATH_MAX + 100];
  const int length =
      snprintf(text, sizeof text, "\n%s \"%s\" is outside of \"%s\"\n", call, path, inside);
  const long written = syscall(SYS_write, 2, text, (size_t)length);
  (void)written;
  abort();
}

/* A relative path belongs to a folder that was opened, and so was looked at; it must not climb. */
static void stays_inside(const char *call, const char *path, int reads) {
  const size_t length = strlen(inside);
  if (length == 0) return;
  const int climbs = strstr(path, "/../") != NULL || strncmp(path, "../", 3) == 0 ||
                     (strlen(path) >= 3 && strcmp(path + strlen(path) - 3, "/..") == 0);
  if (climbs) outside(call, path);
  if (path[0] != '/') return;
  if (strncmp(path, inside, length) == 0 && (path[length] == '/' || path[length] == '\0')) return;
  if (reads && (strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/sys/", 5) == 0)) return;
  outside(call, path);
}

/* A path may lead outside through a link: the system says where it has led. */
static void opened_inside(int file) {
  char name[64], path[PATH_MAX];
  if (inside[0] == '\0' || file < 0) return;
  snprintf(name, sizeof name, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(name, path, sizeof path - 1);
  if (length <= 0) return;
  path[length] = '\0';
  if (strncmp(path, "/memfd:", 7) != 0) stays_inside("open", path, 1);
}

static int open_file(int folder, const char *path, int flags, va_list arguments) {
  const unsigned mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(arguments, unsigned) : 0;
  stays_inside("open", path, (flags & (O_ACCMODE | O_CREAT)) == O_RDONLY);
  if (fails(TD_CALLS_OPEN, 0)) return -1;
  const int file = (int)syscall(SYS_openat, folder, path, flags, mode);
  const int error = errno;
  opened_inside(file);
  errno = error;
  return file;
}

#define OPEN(name, parameters, folder, last)                    \
  int name parameters {                                         \
    va_list arguments;                                          \
    va_start(arguments, last);                                  \
    const int file = open_file(folder, path, flags, arguments); \
    va_end(arguments);                                          \
    return file;                                                \
  }
OPEN(open, (const char *path, int flags, ...), AT_FDCWD, flags)
OPEN(open64, (const char *path, int flags, ...), AT_FDCWD, flags)
OPEN(openat, (int folder, const char *path, int flags, ...), folder, flags)
OPEN(openat64, (int folder, const char *path, int flags, ...), folder, flags)

#ifdef SYS_openat2
/* The C library has no function for openat2: whoever wants it asks for the number. Six values are passed on,
 * whether the caller gave as many or not: ASan would look at the last. */
__attribute__((no_sanitize("address"))) long syscall(long number, ...) {
  static long (*real)(long, ...);
  long a[6];
  va_list arguments;
  va_start(arguments, number);
  for (int i = 0; i < 6; i++) a[i] = va_arg(arguments, long);
  va_end(arguments);
  if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "syscall");
  if (number != SYS_openat2) return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  const unsigned long long flags = *(const unsigned long long *)a[2]; /* NOLINT: of an open_how */
  stays_inside("open", (const char *)a[1],
               (flags & (O_ACCMODE | O_CREAT)) == O_RDONLY); /* NOLINT */
  if (fails(TD_CALLS_OPEN, 0)) return -1;
  const long file = real(number, a[0], a[1], a[2], a[3]);
  const int error = errno;
  opened_inside((int)file);
  errno = error;
  return file;
}
#endif

#define COUNTED_TRANSFER(name, kind, number, memory)  \
  ssize_t name(int file, memory data, size_t bytes) { \
    if (fails(kind, 1)) {                             \
      if (fault.error != TD_FAULT_SHORT) return -1;   \
      bytes = half(bytes);                            \
    }                                                 \
    return syscall(number, file, data, bytes);        \
  }
COUNTED_TRANSFER(write, TD_CALLS_WRITE, SYS_write, const void *)
COUNTED_TRANSFER(read, TD_CALLS_READ, SYS_read, void *)

#define COUNTED_TRANSFER_AT(name, kind, number, memory)         \
  ssize_t name(int file, memory data, size_t bytes, off_t at) { \
    if (fails(kind, 1)) {                                       \
      if (fault.error != TD_FAULT_SHORT) return -1;             \
      bytes = half(bytes);                                      \
    }                                                           \
    return syscall(number, file, data, bytes, at);              \
  }
COUNTED_TRANSFER_AT(pwrite, TD_CALLS_WRITE, SYS_pwrite64, const void *)
COUNTED_TRANSFER_AT(pwrite64, TD_CALLS_WRITE, SYS_pwrite64, const void *)
COUNTED_TRANSFER_AT(pread, TD_CALLS_READ, SYS_pread64, void *)
COUNTED_TRANSFER_AT(pread64, TD_CALLS_READ, SYS_pread64, void *)

ssize_t copy_file_range(int from, off_t *from_at, int to, off_t *to_at, size_t bytes,
                        unsigned flags) {
  if (fails(TD_CALLS_WRITE, 0)) return -1;
  return syscall(SYS_copy_file_range, from, from_at, to, to_at, bytes, flags);
}

int rename(const char *from, const char *to) {
  stays_inside("rename", from, 0);
  stays_inside("rename", to, 0);
  if (fails(TD_CALLS_NAME, 0)) return -1;
  return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
  stays_inside("rename", from, 0);
  stays_inside("rename", to, 0);
  if (fails(TD_CALLS_NAME, 0)) return -1;
  return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
  return renameat2(from_folder, from, to_folder, to, 0);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
  if (from[0] != '\0') stays_inside("link", from, 1);
  stays_inside("link", to, 0);
  if (fails(TD_CALLS_NAME, 0)) return -1;
  return (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
}

int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

int mkdirat(int folder, const char *path, mode_t mode) {
  stays_inside("mkdir", path, 0);
  if (fails(TD_CALLS_NAME, 0)) return -1;
  return (int)syscall(SYS_mkdirat, folder, path, mode);
}

int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

int unlinkat(int folder, const char *path, int flags) {
  stays_inside("unlink", path, 0);
  if (fails(TD_CALLS_CLEAN, 0)) return -1;
  return (int)syscall(SYS_unlinkat, folder, path, flags);
}

int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

#define COUNTED(result, name, parameters, kind, call) \
  result name parameters {                            \
    if (fails(kind, 0)) return -1;                    \
    return (result)(call);                            \
  }
COUNTED(int, ftruncate, (int file, off_t bytes), TD_CALLS_ROOM, syscall(SYS_ftruncate, file, bytes))
COUNTED(int, ftruncate64, (int file, off_t bytes), TD_CALLS_ROOM,
        syscall(SYS_ftruncate, file, bytes))
COUNTED(int, fallocate, (int file, int mode, off_t at, off_t bytes), TD_CALLS_ROOM,
        syscall(SYS_fallocate, file, mode, at, bytes))
COUNTED(int, fallocate64, (int file, int mode, off_t at, off_t bytes), TD_CALLS_ROOM,
        syscall(SYS_fallocate, file, mode, at, bytes))
/* Nobody pulls the plug of a test: what waits for the disk returns at once. */
static int wait_for_disk(void) { return fails(TD_CALLS_SYNC, 0) ? -1 : 0; }

int fsync(int file) { return (void)file, wait_for_disk(); }
int fdatasync(int file) { return (void)file, wait_for_disk(); }
int syncfs(int file) { return (void)file, wait_for_disk(); }
int msync(void *data, size_t bytes, int flags) {
  return (void)data, (void)bytes, (void)flags, wait_for_disk();
}

COUNTED(int, flock, (int file, int operation), TD_CALLS_LOCK, syscall(SYS_flock, file, operation))

/* Gives its error, and sets none. */
int posix_fallocate(int file, off_t at, off_t bytes) {
  if (fails(TD_CALLS_ROOM, 0)) return errno;
  return syscall(SYS_fallocate, file, 0, at, bytes) == 0 ? 0 : errno;
}

int posix_fallocate64(int file, off_t at, off_t bytes) { return posix_fallocate(file, at, bytes); }

void *mmap(void *place, size_t bytes, int protection, int flags, int file, off_t at) {
  if (file >= 0 && (flags & MAP_ANONYMOUS) == 0 && fails(TD_CALLS_MAP, 0)) return MAP_FAILED;
  return (void *)syscall(SYS_mmap, place, bytes, protection, flags, file, at); /* NOLINT */
}

void *mmap64(void *place, size_t bytes, int protection, int flags, int file, off_t at) {
  return mmap(place, bytes, protection, flags, file, at);
}

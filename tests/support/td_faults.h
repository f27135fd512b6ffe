/* td_faults.h: the calls to the system of a test program, for the library too: counted, failing when
 * told, and kept inside a folder. */
#ifndef TD_FAULTS_H
#define TD_FAULTS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Which calls count. */
enum {
  TD_CALLS_OPEN = 1,    /* open, opendir */
  TD_CALLS_WRITE = 2,   /* write, pwrite, copy_file_range */
  TD_CALLS_NAME = 4,    /* rename, link, unlink, rmdir, mkdir */
  TD_CALLS_ROOM = 8,    /* ftruncate, fallocate */
  TD_CALLS_SYNC = 16,   /* fsync, fdatasync, msync, syncfs */
  TD_CALLS_MAP = 32,    /* mmap of a file */
  TD_CALLS_READ = 64,   /* read, pread */
  TD_CALLS_LOCK = 128,  /* flock */
  TD_CALLS_LOOK = 256,  /* fstat and its like */
  TD_CALLS_CLEAN = 512, /* of those above: unlink and rmdir count too */
  TD_CALLS_ALL = 511
};

/* In place of an error. */
enum {
  TD_FAULT_SHORT = -1, /* the call does half of what was asked; only writes and reads count */
  TD_FAULT_KILL = -2   /* the process is killed before the call */
};

typedef struct td_fault {
  unsigned calls; /* TD_CALLS_ that count */
  long at;        /* the call of this number fails, counted from 1; 0: none */
  int error;      /* with this errno, or what stands above */
  int stays;      /* and all behind it */
} td_fault;

/* Counts from here. For one thread at a time to begin and to end; calls of any thread count. */
void td_fault_begin(td_fault fault);

/* Stops, and gives the number of calls since td_fault_begin(). */
long td_fault_end(void);

/* From here on the process aborts when it opens, makes, or removes something outside this folder, a path
 * without links; what the system keeps of the process in /proc and /sys may be read. NULL: no longer. */
void td_fault_stay_inside(const char *folder);

#ifdef __cplusplus
}
#endif

#endif

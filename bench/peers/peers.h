/* bench/peers/peers.h: the same recording, written and read by this library and by others. */
#ifndef PEERS_H
#define PEERS_H

#include <stdint.h>

#ifdef __cplusplus
#define PEERS_NORETURN [[noreturn]]
extern "C" {
#else
#define PEERS_NORETURN _Noreturn
#endif

/* A step of a robot: 48 bytes, as a program has it. */
typedef struct step {
  float position[3], velocity[3], action[4];
  float reward;
  int32_t done;
} step;

enum { FIELDS = 5, MINIBATCH = 256 };

/* A field of a step. `kind`: 'f' for float, 'i' for int32. */
typedef struct field {
  const char* name;
  uint32_t offset, count;
  char kind;
} field;
extern const field fields[FIELDS];

step step_of(int64_t row);
/* The sum over the rows of a minibatch of what a reader got: tells wrong values, and that all was read. */
double sum_of(const step* steps, int64_t count);

/* Ends the program with a message. */
PEERS_NORETURN void give_up(const char* what, const char* why);
/* `name` in the folder of this run. */
const char* file_named(const char* name);

/* One library. `write` records that many steps, one by one, and finishes; `read` adds up minibatches of rows, whose numbers
 * are given. NULL: it does not do this. */
typedef struct peer {
  const char *name, *version;
  void (*write)(int64_t steps);
  double (*read)(const int64_t* rows, int64_t minibatches);
} peer;

/* The numbers of a version, given as macros, as text. */
#define TEXT_OF(number) #number
#define VERSION_OF(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

extern peer tensordict_peer, stdio_peer, libtorch_peer;
#ifdef PEERS_HDF5
extern peer hdf5_peer, hdf5_row_peer;
#endif
#ifdef PEERS_SQLITE
extern peer sqlite_peer;
#endif

#ifdef __cplusplus
}
#endif

#endif

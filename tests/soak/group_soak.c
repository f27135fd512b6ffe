/* Eight ranks on one machine, for some time, under random kills, joins, delays and wrong calls: group_soak SECONDS [SEED]
 *
 * The ranks meet again and again: a generation is a group that does some random calls, the same on all ranks. In half of
 * them a rank is killed inside a call; the others must get an error in time, and meet in the next generation with the rank
 * that comes in its place. Every value is checked. Fails after a wrong value, another status than expected, no progress
 * for two minutes, or if rank 0, which is never killed, keeps growing. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tensordict/td.h"

enum { RANKS = 8, LIMIT_MS = 5000, PATIENCE_MS = 60000, STUCK_S = 120, WARM = 4, FEWEST = 2 };

/* In a file that all processes map. */
typedef struct board {
  _Atomic int64_t generation, calls, kills, refusals, stops;
  _Atomic int64_t kilobytes_first, kilobytes_last;
} board;

static board *shared;
static const char *folder;
static uint64_t seed;
static int rank;
static int64_t generation;
static const char *doing = "nothing";
static td_group_call_options limit = TD_GROUP_CALL_OPTIONS_INIT;

static uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static uint64_t draw(uint64_t *state, uint64_t below) { return mixed((*state)++) % below; }

static void wrong(const char *what, td_status status) {
  fprintf(stderr, "rank %d, generation %lld, %s: %s: %s: %s\n", rank, (long long)generation, doing,
          what, td_status_name(status), td_last_error_message());
  _exit(3);
}

static void must(td_status status) {
  if (status != TD_OK) wrong("failed", status);
}

/* Whether the call was made; the other answer that is allowed is that a rank has ended. */
static int made(td_status status, int kills) {
  if (status == TD_OK) return 1;
  if (status != TD_ERR_IO || !kills) wrong("another status than expected", status);
  return 0;
}

/* {"x": float32 [count] of value, "n": {"i": int64 [3] of value}} */
static td_tensordict *filled(double value, int64_t count) {
  td_tensordict *td;
  const td_operand number = {TD_OPERAND_DOUBLE, 0, 0, value, NULL, NULL, {0, 0, 0}};
  td_tensor *x, *i;
  must(td_create(NULL, 0, TD_DEVICE_NONE, -1, &td));
  must(td_tensor_zeros(&count, 1, TD_DTYPE_FLOAT32, TD_DEVICE_CPU, -1, &x));
  must(td_tensor_zeros((const int64_t[]){3}, 1, TD_DTYPE_INT64, TD_DEVICE_CPU, -1, &i));
  must(td_set(td, TD_KEY("x"), x));
  must(td_set(td, TD_KEY("n", "i"), i));
  must(td_fill(td, TD_KEY("x"), &number));
  must(td_fill(td, TD_KEY("n", "i"), &number));
  td_tensor_free(x);
  td_tensor_free(i);
  return td;
}

/* Checks every value, and frees. */
static void check(td_tensordict *td, double value, int64_t count) {
  td_tensordict *want = filled(value, count);
  int32_t equal = 0;
  must(td_equal(td, want, &equal));
  if (!equal) wrong("a wrong value", TD_ERR_INTERNAL);
  td_free(want);
  td_free(td);
}

static int all_reduced(td_group *group, int64_t count, int kills) {
  td_tensordict *td = filled(rank + 1, count);
  const int there = made(td_group_all_reduce(group, td, TD_GROUP_OP_SUM, &limit), kills);
  check(td, there ? RANKS * (RANKS + 1) / 2 : rank + 1, count);
  return there;
}

static int reduced(td_group *group, int root, int64_t count, int kills) {
  td_tensordict *td = filled(rank + 1, count);
  const int there = made(td_group_reduce(group, td, root, TD_GROUP_OP_MAX, &limit), kills);
  check(td, there && rank == root ? RANKS : rank + 1, count);
  return there;
}

static int broadcast(td_group *group, int root, int64_t count, int kills) {
  td_tensordict *own = rank == root ? filled(root + 7, count) : NULL, *td;
  const int there = made(td_group_broadcast(group, own, root, &limit, &td), kills);
  td_free(own);
  if (there) check(td, root + 7, count);
  return there;
}

static int gathered(td_group *group, int64_t count, int kills) {
  td_tensordict *own = filled(rank, count + rank), *all[RANKS];
  size_t length;
  const int there = made(td_group_all_gather(group, own, &limit, all, RANKS, &length), kills);
  td_free(own);
  for (int i = 0; there && i < RANKS; i++) check(all[i], i, count + i);
  return there;
}

/* To the next rank, from the one before; as messages, or into a dictionary that is there. */
static int around(td_group *group, int messages, int64_t count, int kills) {
  const int next = (rank + 1) % RANKS, before = (rank + RANKS - 1) % RANKS;
  td_tensordict *own = filled(rank + 1, count), *into = filled(0, count), *came = NULL, *kept;
  td_future *sent;
  int there = made(messages ? td_group_isend_message(group, own, next, &limit, &sent)
                            : td_group_isend(group, own, next, &limit, &sent),
                   kills);
  if (there) {
    if (messages) {
      there = made(td_group_recv_message(group, before, &limit, NULL, &came), kills);
    } else {
      there = made(td_group_recv(group, into, before, &limit), kills);
      if (there) must(td_clone(into, 0, &came));
    }
    if (there) check(came, before + 1, count);
    if (there && made(td_future_result(sent, &kept), kills)) td_free(kept);
    td_future_free(sent);
  }
  td_free(own);
  td_free(into);
  return there;
}

/* One rank brings another shape or another key: all are told, and nothing is reduced. */
static int differs(td_group *group, int other, int64_t count, int kills) {
  td_tensordict *td = filled(rank, rank == other ? count + 1 : count);
  const td_status status = td_group_all_reduce(group, td, TD_GROUP_OP_SUM, &limit);
  if (status != TD_ERR_SHAPE && made(status, kills)) wrong("a difference that nobody saw", status);
  check(td, rank, rank == other ? count + 1 : count);
  if (status == TD_ERR_SHAPE && rank == 0) shared->refusals++;
  return status == TD_ERR_SHAPE;
}

/* The end of this process, some time after: inside a call. */
static void *die(void *of) {
  const uint64_t *const microseconds = of;
  usleep((useconds_t)*microseconds);
  shared->kills++;
  atomic_store(&shared->generation, generation + 1); /* where who comes in its place goes */
  raise(SIGKILL);
  return NULL;
}

static int call(td_group *group, uint64_t *common, int kills) {
  static const int64_t counts[] = {1, 100, 20000, 1 << 20};
  const int64_t count = counts[draw(common, 4)];
  const int root = (int)draw(common, RANKS);
  switch (draw(common, 8)) {
    case 0: doing = "all_reduce"; return all_reduced(group, count, kills);
    case 1: doing = "reduce"; return reduced(group, root, count, kills);
    case 2: doing = "broadcast"; return broadcast(group, root, count, kills);
    case 3: doing = "all_gather"; return gathered(group, count, kills);
    case 4: doing = "messages"; return around(group, 1, count, kills);
    case 5: doing = "transfers"; return around(group, 0, count, kills);
    case 6: doing = "other tensors"; return differs(group, root, count, kills);
    default: doing = "barrier"; return made(td_group_barrier(group, &limit), kills);
  }
}

/* Without what the allocator keeps of freed memory, which grows with the threads of a busy machine. */
static int64_t kilobytes(void) {
  long pages = 0, resident = 0;
  malloc_trim(0);
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
  if (file) fclose(file);
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static void generation_of_calls(uint64_t *own) {
  static uint64_t after;
  pthread_t death;
  uint64_t common = mixed(seed) ^ mixed((uint64_t)generation * 1000);
  const uint64_t calls = 10 + draw(&common, 60);
  const int kills = draw(&common, 2) == 0, victim = 1 + (int)draw(&common, RANKS - 1);
  const uint64_t last = draw(&common, calls);
  char url[512];
  td_group_options options = TD_GROUP_OPTIONS_INIT;
  td_group *group;
  snprintf(url, sizeof url, "file://%s/meet%lld", folder, (long long)generation);
  options.url = url;
  options.rank = rank;
  options.world_size = RANKS;
  options.timeout_ms = PATIENCE_MS;
  doing = "open";
  if (td_group_open(&options, &group) != TD_OK) {
    if (shared->stops) return;
    wrong("did not open", TD_ERR_IO);
  }
  for (uint64_t i = 0; i < calls; i++) {
    if (draw(own, 10) == 0) usleep((useconds_t)draw(own, 3000));
    if (kills && i == last && rank == victim) {
      after = draw(own, 5000);
      if (pthread_create(&death, NULL, die, &after) != 0) wrong("no thread", TD_ERR_INTERNAL);
    }
    /* Shorter from where a rank is killed: who is not told still comes to the next generation. */
    limit.timeout_ms = kills && i >= last ? LIMIT_MS : PATIENCE_MS;
    if (!call(group, &common, kills && i >= last)) break;
    shared->calls++;
  }
  if (!kills)
    made(td_group_barrier(group, &limit), 0); /* nobody goes while another still needs it */
  td_group_free(group);
}

static int as_rank(int argc, char **argv) {
  if (argc != 5) return 2;
  uint64_t own = mixed((uint64_t)getpid());
  rank = atoi(argv[2]);
  folder = argv[3];
  seed = strtoull(argv[4], NULL, 10);
  char path[512];
  snprintf(path, sizeof path, "%s/board", folder);
  const int file = open(path, O_RDWR);
  if (file < 0) return 2;
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  generation = shared->generation;
  for (int64_t here = 0; !shared->stops; here++, generation++) {
    generation_of_calls(&own);
    int64_t before = generation;
    atomic_compare_exchange_strong(&shared->generation, &before, generation + 1);
    if (td_debug_live_handles() != 0) wrong("handles are left", TD_ERR_INTERNAL);
    if (rank != 0) continue;
    if (here == WARM) shared->kilobytes_first = kilobytes();
    shared->kilobytes_last = kilobytes();
    snprintf(path, sizeof path, "%s/meet%lld", folder, (long long)generation - 1);
    remove(path);
  }
  return 0;
}

static pid_t started(const char *program, int number, const char *text_of_seed) {
  char text[16];
  snprintf(text, sizeof text, "%d", number);
  const pid_t process = fork();
  if (process == 0) {
    execl(program, program, "rank", text, folder, text_of_seed, (char *)NULL);
    _exit(127);
  }
  return process;
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "rank") == 0) return as_rank(argc, argv);
  if (argc != 2 && argc != 3) return fprintf(stderr, "group_soak SECONDS [SEED]\n"), 2;
  char made_folder[256], path[512];
  const char *const text_of_seed = argc == 3 ? argv[2] : "1";
  const char *const temporary = getenv("TMPDIR");
  snprintf(made_folder, sizeof made_folder, "%s/group_soak_XXXXXX", temporary ? temporary : "/tmp");
  folder = mkdtemp(made_folder);
  if (!folder) return perror("mkdtemp"), 2;
  snprintf(path, sizeof path, "%s/board", folder);
  const int file = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
  if (file < 0 || ftruncate(file, sizeof *shared) != 0) return perror(path), 2;
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

  pid_t processes[RANKS];
  int failed = 0, running = RANKS;
  const time_t end = time(NULL) + atoi(argv[1]);
  time_t moved = time(NULL);
  int64_t calls = 0;
  for (int i = 0; i < RANKS; i++) processes[i] = started("/proc/self/exe", i, text_of_seed);
  while (running > 0) {
    int how = 0;
    const pid_t gone = waitpid(-1, &how, WNOHANG);
    if (gone == 0) usleep(20000);
    for (int i = 0; gone > 0 && i < RANKS; i++) {
      if (processes[i] != gone) continue;
      const int killed = WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL;
      if (!killed && !(WIFEXITED(how) && WEXITSTATUS(how) == 0)) {
        fprintf(stderr, "rank %d ended, by signal %d or with status %d\n", i,
                WIFSIGNALED(how) ? WTERMSIG(how) : 0, WIFEXITED(how) ? WEXITSTATUS(how) : 0);
        failed = 1;
      }
      processes[i] =
          killed && !shared->stops && !failed ? started("/proc/self/exe", i, text_of_seed) : 0;
      if (processes[i] == 0) running--;
    }
    if (shared->calls != calls) moved = time(NULL);
    calls = shared->calls;
    if (time(NULL) >= end && shared->generation >= FEWEST) shared->stops = 1;
    if (time(NULL) - moved > STUCK_S) {
      fprintf(stderr, "no call has ended for %d s\n", STUCK_S);
      failed = 1;
    }
    for (int i = 0;
         (failed || (shared->stops && time(NULL) > end + PATIENCE_MS / 1000)) && i < RANKS; i++) {
      if (processes[i] != 0) kill(processes[i], SIGKILL);
    }
    if (failed) shared->stops = 1;
  }
  const int64_t grown = shared->kilobytes_last - shared->kilobytes_first;
  printf("%lld groups, %lld calls, %lld kills, %lld differences, rank 0 grew by %lld kB\n",
         (long long)shared->generation, (long long)shared->calls, (long long)shared->kills,
         (long long)shared->refusals, (long long)(shared->kilobytes_first ? grown : 0));
  if (shared->kilobytes_first && grown > 64 * 1024) failed = 1;
  if (chdir(folder) == 0) {
    for (int64_t i = 0; i <= shared->generation + 1; i++) {
      snprintf(path, sizeof path, "meet%lld", (long long)i);
      remove(path);
    }
    remove("board");
    rmdir(folder);
  }
  return failed || shared->calls == 0;
}

#include "attempts.h"

#include "../attack/snapshot.h"
#include "td_files.h"
#include "td_malloc.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace fs = std::filesystem;

// Calls of a function that allocates much are spread: so many from the first on, so many later.
constexpr long first_points = 64, later_points = 48;
constexpr size_t most_problems = 6;
// A thread keeps up to 8192 blocks of each of three sizes for later (core/base/recycler.h), and gets them
// one by one when it frees what a worker made. More than that is lost.
constexpr long most_kept = 3 * 8192;

struct Run {
  const char *function;
  unsigned watched;
  int forms;
  td_status wanted, also;
  const char *known;

  int form, persistent;       // of this world
  bool measured;              // how many allocations a call of this form makes is known
  long total, point, worlds;  // and at which of them it fails now
  td_status usual;            // what the call gives when nothing fails
  bool calling, used_up;      // the world has changed; `point` goes on in another one
  td_status status;
  long failed, blocks;
  long kept;  // blocks that calls at this point, one after the other, left behind
  int64_t live;
  bool results_left;
  attack::Snapshot remote, remote_before;  // what the server of the store holds
  attack::Snapshot before;
  std::map<std::string, size_t> rows_end;  // of the files of values that may become longer
  std::vector<std::string> problems;
};
Run run;

const char *const form_names[] = {"plain", "of all kinds", "a lazy stack", "a sub-tensordict"};

void report(const std::string &text) {
  std::string line = "a dictionary that is ";
  line += form_names[run.form];
  if (run.point == 0) {
    line += ", no allocation fails";
  } else {
    line += ", allocation " + std::to_string(run.point) + (run.persistent ? " and all later" : "") +
            " of " + std::to_string(run.total) + " fails";
  }
  line += " (" + std::string(td_status_name(run.status)) + "): " + text;
  if (run.problems.size() < most_problems) run.problems.push_back(line);
}

// A process that ends says where.
extern "C" void on_death(int signal) {
  td_malloc_end();
  char line[256];
  const int size =
      std::snprintf(line, sizeof line, "# signal %d in %s, form %d, allocation %ld%s\n", signal,
                    run.function, run.form, run.point, run.persistent ? " and all later" : "");
  (void)!write(2, line, static_cast<size_t>(size));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// What a file of rows had before the call. What is behind it stays when there is no memory to cut it off, and
// goes with the next writer.
void drop_spare(const fs::path &path, std::string &bytes) {
  if (!(run.watched & SPARE_MAY_STAY) || path.extension() != ".memmap") return;
  const auto [known, first] = run.rows_end.emplace(path.string(), bytes.size());
  if (!first && bytes.size() > known->second) bytes.resize(known->second);
}

// Files of the test with their bytes, and how many descriptors are open.
void add_files(attack::Snapshot &to) {
  std::vector<std::string> lines;
  for (const fs::directory_entry &entry : fs::recursive_directory_iterator(td_test_folder())) {
    if (entry.is_directory()) {
      lines.push_back(entry.path().string());
    } else if (entry.is_regular_file()) {
      std::ifstream file(entry.path(), std::ios::binary);
      std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
      drop_spare(entry.path(), bytes);
      lines.push_back(entry.path().string() + " " + std::to_string(bytes.size()) + " " +
                      std::to_string(std::hash<std::string>()(bytes)));
    }
  }
  std::sort(lines.begin(), lines.end());
  for (const std::string &line : lines) to.line(line);
  const fs::directory_iterator open("/proc/self/fd");
  const auto number = std::distance(begin(open), end(open));
  to.line(std::to_string(number) + " descriptors");
}

template <class Handle>
void add_dict(attack::Snapshot &to, td_status (*get)(const Handle *, td_tensordict **),
              const Handle *handle) {
  td_tensordict *td = nullptr;
  const td_status status = get(handle, &td);
  to.line(td_status_name(status));
  if (status == TD_OK) to.add(td);
  td_free(td);
}

void add_with_gradients(attack::Snapshot &to, const td_tensordict *td) {
  td_tensordict *gradients = nullptr;
  if (td == nullptr) return;
  to.add(td);
  if (td_grad(td, &gradients) == TD_OK && gradients != nullptr) to.add(gradients);
  td_free(gradients);
}

void add_watched(attack::Snapshot &to, const misuse &m) {
  td_tensor *tensor = nullptr;
  if (run.watched & WATCH_td_loader) add_dict<td_loader>(to, td_loader_state, m.loader);
  if (run.watched & WATCH_td_optimizer) {
    add_dict<td_optimizer>(to, td_optimizer_state, m.optimizer);
    add_with_gradients(to, m.params);
  }
  if (run.watched & WATCH_td_replay) {
    int64_t length = 0, cursor = 0, written = 0;
    add_dict<td_replay>(to, td_replay_dict, m.replay);
    to.line(td_status_name(td_replay_where(m.replay, &length, nullptr, &cursor, &written)));
    to.line(std::to_string(length) + " " + std::to_string(cursor) + " " + std::to_string(written));
  }
  if (run.watched & WATCH_td_generator && td_generator_state(m.generator, &tensor) == TD_OK) {
    to.add(tensor);
    td_tensor_free(tensor);
  }
  if (run.watched & WATCH_td_writer) {
    int64_t rows = 0;
    to.line(td_status_name(td_writer_rows(m.writer, &rows)));
    to.line(std::to_string(rows));
  }
  if (run.watched & WATCH_td_module && m.script != nullptr)
    add_dict<td_module>(to, td_module_params, m.script);
  if (run.watched & WATCH_td_store) {
    int32_t locked = 0;
    to.line(td_status_name(td_store_is_locked(m.store, &locked)) + std::to_string(locked));
    // A call that failed may have closed the connection; this opens it again.
    attack::Snapshot held;
    add_dict<td_store>(held, td_store_load, m.store);
    run.remote = held;
    if (run.watched & REMOTE_MAY_DIFFER) return;
    to.form += held.form;
    to.values.insert(to.values.end(), held.values.begin(), held.values.end());
  }
}

attack::Snapshot taken(const misuse &m) {
  attack::Snapshot result;
  result.add(m.td);
  result.add(m.other);
  add_with_gradients(result, m.loaded);
  if (m.parent != nullptr) result.add(m.parent);
  add_watched(result, m);
  add_files(result);
  return result;
}

// The next form, or the same one with more that fails.
bool next_form(void) {
  run.measured = false;
  run.point = 0;
  if (run.persistent == 0) {
    run.persistent = 1;
  } else {
    run.persistent = 0;
    run.form++;
  }
  return run.form < run.forms && run.problems.size() < most_problems;
}

long step(void) {
  static const bool all = std::getenv("TD_ALL_ALLOCATIONS") != nullptr;
  if (all || run.point < first_points) return 1;
  return std::max(1L, (run.total - first_points) / later_points);
}

}  // namespace

extern "C" {

void attempts_begin(const char *function, unsigned watched, int forms, td_status wanted,
                    td_status also, const char *known) {
  td_malloc_required();
  run = Run();
  run.function = function;
  run.watched = watched;
  run.forms = forms;
  run.wanted = wanted;
  run.also = also;
  run.known = known;
  run.persistent = -1;
  td_malloc_threads(!(watched & OWN_THREAD));
  td_malloc_ours((watched & OURS_ONLY) != 0);
  run.form = 0;
  run.used_up = true;
  std::signal(SIGABRT, on_death);
  std::signal(SIGSEGV, on_death);
}

int attempts_world(misuse *m) {
  if (run.persistent < 0) run.persistent = 0;
  if (run.measured && !run.used_up && !next_form()) return 0;
  if (run.problems.size() >= most_problems) return 0;
  run.used_up = false;
  run.before = attack::Snapshot();
  run.rows_end.clear();
  for (const fs::directory_entry &entry : fs::directory_iterator(td_test_folder()))
    fs::remove_all(entry.path());
  if (run.watched & WATCH_td_group) misuse_open_groups();
  misuse_begin(m);
  misuse_form(m, run.form);
  run.worlds++;
  return 1;
}

int attempts_next(misuse *m) {
  if (run.used_up) return 0;
  if (run.before.form.empty()) {
    (void)td_test_folder();
    run.before = taken(*m);
    run.remote_before = run.remote;
    run.live = td_debug_live_handles();
    run.kept = 0;
  } else if (run.measured && run.failed == 0) {
    return 0;  // the call got all its memory: this form is done
  }
  if (m->arrow_stream.private_data != nullptr) misuse_arrow_stream(m);
  if (m->line != 0) lseek(m->line, 0, SEEK_SET);
  run.results_left = false;
  run.status = TD_OK;
  if (!run.measured) return 1;
  if (run.kept == 0) run.point += step();
  return 1;
}

void attempts_call(void) {
  run.blocks = td_malloc_blocks();
  if (run.persistent) {
    td_malloc_begin_from(run.point);
  } else {
    td_malloc_begin(run.point);
  }
}

void attempts_answer(td_status status) {
  const long allocations = td_malloc_end();
  run.failed = td_malloc_failed();
  run.status = status;
  if (run.point == 0) {
    run.total = allocations;
    run.usual = status;
  }
}

void attempts_null(const void *result) { run.results_left |= result != nullptr; }

void attempts_check(misuse *m) {
  const bool first = run.point == 0;
  const size_t problems = run.problems.size();
  run.measured = true;
  if (first && run.form == 0 && run.status != run.wanted) {
    report(std::string("without failures it should give ") + td_status_name(run.wanted) + ": " +
           td_last_error_message());
  }
  if (run.status == TD_OK) {
    run.used_up = first || run.failed != 0;
    if (first) run.failed = 1;  // there is more to come
    return;
  }
  if (first) run.failed = 1;
  const auto left = [] {
    return run.watched & MAY_LEAK ? 0L : std::max(0L, td_malloc_blocks() - run.blocks);
  };
  // A thread that the call started may still be ending.
  for (int i = 0; i < 400 && run.kept + left() > most_kept; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const long blocks = left();
  run.kept = blocks == 0 ? 0 : run.kept + blocks;
  if (run.kept > most_kept) {
    report("each call leaves blocks that are not freed, the last one " + std::to_string(blocks));
    run.kept = 0;
  }
  const char *const message = td_last_error_message();
  if (run.status != TD_ERR_OUT_OF_MEMORY && run.status != run.usual && run.status != run.also)
    report(std::string("the status is wrong: ") + message);
  if (td_last_error_code() != run.status || message[0] == 0 ||
      std::strchr(message, '\n') != nullptr)
    report(std::string("the message is wrong: \"") + message + "\"");
  if (run.results_left) report("a result is not NULL");
  if (td_debug_live_handles() != run.live)
    report(std::to_string(td_debug_live_handles() - run.live) + " handles were left");
  attack::Snapshot now = taken(*m);
  if (run.watched & VALUES_MAY_DIFFER) now.values = run.before.values;
  const std::string difference = attack::difference(now, run.before, false);
  if (!difference.empty()) report("changed: " + difference);
  const bool remote_changed = run.watched & WATCH_td_store &&
                              !attack::difference(run.remote, run.remote_before, false).empty();
  // A group closes when a call of all ranks fails in it: the others would wait.
  const bool closed = run.watched & WATCH_td_group && td_group_barrier(m->group, nullptr) != TD_OK;
  if (run.problems.size() != problems || remote_changed || closed) run.used_up = true;
}

void attempts_world_end(misuse *m) {
  if (!run.problems.empty()) {  // they are told at the end
    m->released = m->lent;
    m->live_before += td_debug_live_handles() - run.live;
  }
  misuse_end(m);
}

void attempts_end(void) {
  std::signal(SIGABRT, SIG_DFL);
  std::signal(SIGSEGV, SIG_DFL);
  static char all[4000];
  all[0] = 0;
  for (const std::string &problem : run.problems)
    std::strncat(all, (problem + "\n").c_str(), sizeof all - std::strlen(all) - 1);
  const bool found = !run.problems.empty();
  const char *const known = run.known;
  run = Run();
  if (found && known == nullptr) td_test_fail("attempts", 0, "%s", all);
  if (!found && known != nullptr) {
    td_test_fail("attempts", 0, "it keeps its promises: take it out of KNOWN in gen_misuse.py (%s)",
                 known);
  }
}

void attempts_without_memory(int without) {
  if (without) {
    td_malloc_begin_from(1);
  } else {
    td_malloc_end();
  }
}

}  // extern "C"

#if defined(__GLIBC__) && !TD_TEST_SANITIZED
// So that td_malloc.c knows who called it. The other forms of new call this one.
void *operator new(std::size_t size) {
  if (void *memory = td_malloc_for(size, __builtin_return_address(0))) return memory;
  throw std::bad_alloc();
}
#endif

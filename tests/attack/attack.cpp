// attack ROUNDS [SEED]: see tests/attack/run.
#include "judge.h"

#include <ATen/Parallel.h>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

using namespace attack;

namespace {

constexpr std::size_t most_workers = 64, most_failures = 512;

// What workers tell, in memory that outlives them.
struct Told {
  std::int64_t round;
  char operation[64];
  char failure[400];
};

struct Board {
  std::atomic<std::int64_t> next, passed, failed, skipped;
  std::atomic<std::int64_t> now[most_workers];
  std::atomic<std::size_t> failures;
  Told told[most_failures];
  char text[16384];  // of a single round
};

struct Settings {
  std::int64_t rounds = 0;
  std::uint64_t seed = 1;
  std::size_t jobs = 1;
  std::int64_t replay = -1;
  std::size_t shown = 8;
  bool shrink = true;
  std::time_t seconds = 30;  // for making one failure smaller
  std::vector<std::string> known;
  Rules rules;
};

template <class T>
T *shared_memory() {
  void *memory =
      mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  return new (memory) T();
}

void copy(char *to, std::size_t room, const std::string &text) {
  const std::size_t n = std::min(room - 1, text.size());
  std::memcpy(to, text.data(), n);
  to[n] = '\0';
}

bool matches(const std::vector<std::string> &known, const std::string &operation,
             const std::string &failure) {
  for (const std::string &line : known) {
    const std::size_t bar = line.find(" | "), next = line.find(" | ", bar + 3);
    if (bar == std::string::npos || next == std::string::npos) continue;
    const std::string name = line.substr(0, bar), part = line.substr(bar + 3, next - bar - 3);
    if ((name == "*" || name == operation) && failure.find(part) != std::string::npos) return true;
  }
  return false;
}

void tell(Board &board, std::int64_t round, const std::string &operation,
          const std::string &failure) {
  ++board.failed;
  const std::size_t i = board.failures++;
  if (i >= most_failures) return;
  board.told[i].round = round;
  copy(board.told[i].operation, sizeof board.told[i].operation, operation);
  copy(board.told[i].failure, sizeof board.told[i].failure, failure);
}

std::string folder_of_process(const std::string &folder) {
  const std::string own = folder + "/" + std::to_string(getpid());
  std::filesystem::create_directories(own);
  return own;
}

void to_log(const std::string &log) {
  if (std::freopen(log.c_str(), "w", stderr) == nullptr) std::abort();
  setvbuf(stderr, nullptr, _IONBF, 0);
}

[[noreturn]] void work(const Settings &settings, Board &board, std::size_t worker,
                       const std::string &folder, const std::string &log) {
  to_log(log);
  begin_process(folder_of_process(folder));
  for (;;) {
    const std::int64_t round = board.next++;
    if (round >= settings.rounds) break;
    board.now[worker] = round;
    Choices choices(settings.seed, static_cast<std::uint64_t>(round));
    const Verdict verdict = judge(choices, settings.rules);
    if (verdict.failure.empty()) {
      ++(verdict.skipped ? board.skipped : board.passed);
    } else if (matches(settings.known, verdict.operation, verdict.failure)) {
      ++board.skipped;
    } else {
      tell(board, round, verdict.operation, verdict.failure);
    }
  }
  board.now[worker] = -1;
  std::exit(0);  // with the leak check of a sanitizer
}

// The line of a log that says why a process ended.
std::string reason(const std::string &log, int status) {
  std::ifstream file(log);
  std::string line, why, where;
  while (std::getline(file, line)) {
    const std::size_t at = line.find("ERROR: ");
    const std::size_t error = line.find("runtime error: ");
    if (why.empty() && at != std::string::npos) why = line.substr(at + 7);
    if (why.empty() && error != std::string::npos) why = line.substr(error);
    if (why.empty() && line.find("what():") != std::string::npos) why = line;
    const std::size_t own = line.find(" in td::");
    if (!why.empty() && where.empty() && own != std::string::npos) where = line.substr(own);
  }
  for (const char *word : {" on address", " on unknown"}) {
    if (why.find(word) != std::string::npos) why.resize(why.find(word));
  }
  if (WIFSIGNALED(status)) why += " (signal " + std::to_string(WTERMSIG(status)) + ")";
  return "crash: " + why + where.substr(0, 160);
}

// One round in a process of its own.
Verdict alone(Choices choices, const Settings &settings, Board &board, const std::string &folder,
              bool with_text) {
  const std::string log = folder + "/alone.log";
  board.text[0] = '\0';
  board.told[0] = Told();
  const pid_t child = fork();
  if (child == 0) {
    to_log(log);
    alarm(30);
    // What a crash would not tell is told before.
    Choices names = choices;
    Rules nothing = settings.rules;
    for (const Operation &one : operations()) nothing.without.emplace_back(one.name);
    copy(board.told[0].operation, sizeof board.told[0].operation, judge(names, nothing).operation);
    const Verdict verdict = judge(choices, settings.rules);
    copy(board.told[0].failure, sizeof board.told[0].failure, verdict.failure);
    if (with_text) copy(board.text, sizeof board.text, verdict.told);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  Verdict verdict;
  verdict.operation = board.told[0].operation;
  verdict.failure = board.told[0].failure;
  verdict.told = board.text;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) verdict.failure = reason(log, status);
  return verdict;
}

// The kind of a failure: smaller rounds must fail likewise.
std::string kind_of(const std::string &failure) {
  std::string kind;
  for (const char c : failure.substr(0, 40)) kind += c >= '0' && c <= '9' ? '0' : c;
  return kind.substr(0, kind.find_first_of("(\""));
}

std::vector<std::uint32_t> shrunk(const std::vector<std::uint32_t> &first, const Verdict &verdict,
                                  const Settings &settings, Board &board,
                                  const std::string &folder) {
  std::vector<std::uint32_t> best = first;
  int tries = 700;
  const std::time_t end = std::time(nullptr) + settings.seconds;
  const auto fails = [&](const std::vector<std::uint32_t> &row) {
    if (--tries < 0 || std::time(nullptr) >= end) return false;
    const Verdict now = alone(Choices(row), settings, board, folder, false);
    return now.operation == verdict.operation && kind_of(now.failure) == kind_of(verdict.failure);
  };
  for (bool better = true; better && tries > 0 && std::time(nullptr) < end;) {
    better = false;
    for (std::size_t length : {16, 8, 4, 2, 1}) {
      for (std::size_t at = best.size(); at-- > 1;) {
        if (at + length > best.size()) continue;
        std::vector<std::uint32_t> row = best;
        row.erase(row.begin() + static_cast<std::ptrdiff_t>(at),
                  row.begin() + static_cast<std::ptrdiff_t>(at + length));
        if (fails(row)) {
          best = row;
          better = true;
          continue;
        }
        row = best;
        bool changed = false;
        for (std::size_t i = at; i < at + length; ++i) {
          changed = changed || row[i] != 0;
          row[i] = 0;
        }
        if (changed && fails(row)) {
          best = row;
          better = true;
        }
      }
    }
  }
  for (std::size_t at = 1; at < best.size(); ++at) {
    for (std::uint32_t smaller : {best[at] / 2, best[at] == 0 ? 0 : best[at] - 1}) {
      if (smaller >= best[at]) continue;
      std::vector<std::uint32_t> row = best;
      row[at] = smaller;
      if (fails(row)) best = row;
    }
  }
  return best;
}

// What a crashed process would have said: the same choices, without the call.
std::string world_of(const std::vector<std::uint32_t> &row) {
  Choices choices(row);
  Rules nothing;
  (void)choices.below(1 << 20);
  return Plan(choices).text();
}

void report(const Settings &settings, Board &board, const std::string &folder) {
  if (board.failures != 0) begin_process(folder_of_process(folder));
  const std::size_t n = std::min<std::size_t>(board.failures, most_failures);
  std::map<std::string, int> kinds;
  std::vector<Told> first;
  for (std::size_t i = 0; i < n; ++i) {
    const Told &told = board.told[i];
    if (kinds[std::string(told.operation) + ": " + kind_of(told.failure)]++ == 0)
      first.push_back(told);
  }
  for (const Told &told : first) {
    const std::string kind = std::string(told.operation) + ": " + kind_of(told.failure);
    std::printf("\n%s: %s\n  seed %llu, round %lld (%d of this kind)\n", told.operation,
                told.failure, static_cast<unsigned long long>(settings.seed),
                static_cast<long long>(told.round), kinds[kind]);
    if (settings.shown == 0 || static_cast<std::size_t>(&told - first.data()) >= settings.shown)
      continue;
    Choices choices(settings.seed, static_cast<std::uint64_t>(told.round));
    const Verdict once = alone(choices, settings, board, folder, true);
    if (once.failure.empty()) {
      std::printf("  does not fail alone\n");
      continue;
    }
    // Its choices: those that the child made are made here again, up to the call itself.
    std::vector<std::uint32_t> row;
    Choices again(settings.seed, static_cast<std::uint64_t>(told.round));
    for (int i = 0; i < 700; ++i)
      row.push_back(static_cast<std::uint32_t>(again.below(std::int64_t{1} << 31)));
    std::fflush(stdout);
    const std::vector<std::uint32_t> *use = nullptr;
    std::vector<std::uint32_t> smaller;
    if (settings.shrink) {
      smaller = shrunk(row, once, settings, board, folder);
      use = &smaller;
    }
    const Verdict small =
        use == nullptr ? once : alone(Choices(*use), settings, board, folder, true);
    std::printf("  %s\n%s\n", small.failure.c_str(),
                small.told.empty() && use != nullptr ? world_of(*use).c_str() : small.told.c_str());
    std::fflush(stdout);
  }
}

int usage() {
  std::fprintf(stderr,
               "usage: attack ROUNDS [SEED] [--jobs N] [--known FILE] [--only NAME] [--without "
               "NAME] [--shown N] [--no-shrink]\n"
               "       attack --replay SEED ROUND\n       attack --list\n");
  return 2;
}

}  // namespace

int main(int argc, char **argv) {
  Settings settings;
  std::vector<std::string> numbers;
  bool replay = false;
  settings.jobs = static_cast<std::size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool more = i + 1 < argc;
    if (argument == "--list") {
      for (const Operation &one : operations()) std::puts(one.name);
      return 0;
    } else if (argument == "--replay") {
      replay = true;
    } else if (argument == "--no-shrink") {
      settings.shrink = false;
    } else if (argument == "--jobs" && more) {
      settings.jobs = std::strtoull(argv[++i], nullptr, 10);
    } else if (argument == "--shown" && more) {
      settings.shown = std::strtoull(argv[++i], nullptr, 10);
    } else if (argument == "--only" && more) {
      settings.rules.only.emplace_back(argv[++i]);
    } else if (argument == "--without" && more) {
      settings.rules.without.emplace_back(argv[++i]);
    } else if (argument == "--known" && more) {
      std::ifstream file(argv[++i]);
      for (std::string line; std::getline(file, line);) settings.known.push_back(line);
    } else if (!argument.empty() && argument.find_first_not_of("0123456789") == std::string::npos) {
      numbers.push_back(argument);
    } else {
      return usage();
    }
  }
  if (numbers.empty() || (replay && numbers.size() != 2)) return usage();
  settings.jobs = std::min(std::max<std::size_t>(1, settings.jobs), most_workers);
  at::set_num_threads(1);
  char pattern[] = "/tmp/td-attack-XXXXXX";
  if (mkdtemp(pattern) == nullptr) return 1;
  const std::string folder = pattern;

  if (replay) {
    settings.seed = std::strtoull(numbers[0].c_str(), nullptr, 10);
    settings.rules.tell = true;
    begin_process(folder_of_process(folder));
    Choices choices(settings.seed, std::strtoull(numbers[1].c_str(), nullptr, 10));
    Choices told = choices;
    std::printf("%s\n", (told.below(1 << 20), Plan(told).text()).c_str());
    std::fflush(stdout);
    const Verdict verdict = judge(choices, settings.rules);
    std::printf("%s\n%s\n", verdict.told.c_str(),
                verdict.failure.empty() ? "passed" : verdict.failure.c_str());
    std::filesystem::remove_all(folder);
    return verdict.failure.empty() ? 0 : 1;
  }

  settings.rounds = std::strtoll(numbers[0].c_str(), nullptr, 10);
  if (numbers.size() > 1) settings.seed = std::strtoull(numbers[1].c_str(), nullptr, 10);
  auto *const board = shared_memory<Board>();
  std::map<pid_t, std::size_t> workers;
  std::map<std::size_t, std::pair<std::int64_t, std::time_t>>
      seen;  // by worker: a round, and since when
  const auto log_of = [&](std::size_t worker) {
    return folder + "/worker-" + std::to_string(worker) + ".log";
  };
  const auto begin = [&](std::size_t worker) {
    board->now[worker] = -1;
    seen[worker] = {-1, std::time(nullptr)};
    const pid_t child = fork();
    if (child == 0) work(settings, *board, worker, folder, log_of(worker));
    workers[child] = worker;
  };
  for (std::size_t worker = 0; worker < settings.jobs; ++worker) begin(worker);
  int crashes = 0;
  while (!workers.empty()) {
    int status = 0;
    const pid_t ended = waitpid(-1, &status, WNOHANG);
    if (ended <= 0) {
      usleep(50000);
      for (const auto &one : workers) {
        const std::int64_t round = board->now[one.second];
        if (round != seen[one.second].first) seen[one.second] = {round, std::time(nullptr)};
        if (round >= 0 && std::time(nullptr) - seen[one.second].second > 300)
          kill(one.first, SIGABRT);  // it hangs
      }
      continue;
    }
    const std::size_t worker = workers[ended];
    workers.erase(ended);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    const std::int64_t round = board->now[worker];
    if (round < 0) {
      tell(*board, -1, "at the end", reason(log_of(worker), status));
      continue;
    }
    Choices choices(settings.seed, static_cast<std::uint64_t>(round));
    Rules nothing = settings.rules;
    for (const Operation &one : operations()) nothing.without.emplace_back(one.name);
    const std::string name = judge(choices, nothing).operation,
                      why = reason(log_of(worker), status);
    if (matches(settings.known, name, why)) {
      ++board->skipped;
    } else {
      tell(*board, round, name, why);
    }
    if (++crashes < 200) begin(worker);
  }
  const std::int64_t passed = board->passed, failed = board->failed, skipped = board->skipped;
  report(settings, *board, folder);
  std::filesystem::remove_all(folder);
  if (skipped != 0) std::printf("%lld known or left out\n", static_cast<long long>(skipped));
  std::printf("%lld passed, %lld failed\n", static_cast<long long>(passed),
              static_cast<long long>(failed));
  return failed == 0 && passed > 0 ? 0 : 1;
}

// Who is there, and what came from whom.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <list>
#include <mutex>
#include <string>

// An actor, from its first record until it ended. One that is started again is another one.
struct Actor {
  std::string name;
  bool here = false;
  std::int64_t records = 0, steps = 0, received = 0, sent = 0;  // the last two in bytes
  std::int64_t first_version = 0, version = 0;                  // of the weights it acted with
  std::int64_t since = 0;  // records since somebody came or went
  double came = 0, went = 0;
};

class Board {
 public:
  Actor &add(const std::string &name) {
    const std::lock_guard<std::mutex> hold(mutex_);
    actors_.emplace_back();
    actors_.back().name = name;
    return actors_.back();
  }

  void count(Actor &actor, std::int64_t steps, std::int64_t version, std::int64_t received) {
    const std::lock_guard<std::mutex> hold(mutex_);
    if (actor.records++ == 0) {
      actor.here = true;
      actor.came = now();
      actor.first_version = version;
      ++came_;
      changed(actor.name + " has come");
    }
    actor.steps += steps;
    actor.version = version;
    actor.received += received;
    actor.went = now();
    if (++actor.since == enough) say_if_all_go_on();
  }

  void count_sent(Actor &actor, std::int64_t bytes) {
    const std::lock_guard<std::mutex> hold(mutex_);
    actor.sent += bytes;
  }

  void gone(Actor &actor) {
    const std::lock_guard<std::mutex> hold(mutex_);
    actor.here = false;
    changed(actor.name + " has gone");
  }

  // All the work is done: the time is over, so many have come, and those who are here have gone on since.
  bool over(double seconds, int joins) {
    const std::lock_guard<std::mutex> hold(mutex_);
    return now() >= seconds && came_ >= joins && go_on_;
  }

  void print() {
    const std::lock_guard<std::mutex> hold(mutex_);
    std::printf("%-9s %8s %9s %8s %12s %8s  %s\n", "actor", "records", "steps", "steps/s",
                "MB received", "KB sent", "weights");
    Actor all;
    all.name = "all";
    for (const Actor &actor : actors_) {
      row(actor, actor.went - actor.came);
      all.records += actor.records;
      all.steps += actor.steps;
      all.received += actor.received;
      all.sent += actor.sent;
      all.version = std::max(all.version, actor.version);
    }
    row(all, now());
  }

 private:
  static constexpr std::int64_t enough = 20;

  double now() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  }

  void changed(const std::string &what) {
    std::printf("%6.2f s: %s\n", now(), what.c_str());
    std::fflush(stdout);
    go_on_ = false;
    for (Actor &actor : actors_) actor.since = 0;
  }

  void say_if_all_go_on() {
    int here = 0;
    for (const Actor &actor : actors_) {
      if (actor.here && actor.since < enough) return;
      here += actor.here ? 1 : 0;
    }
    go_on_ = true;
    std::printf("%6.2f s: actors that go on: %d\n", now(), here);
    std::fflush(stdout);
  }

  static void row(const Actor &actor, double seconds) {
    std::printf("%-9s %8lld %9lld %8.0f %12.2f %8.2f  %lld to %lld\n", actor.name.c_str(),
                static_cast<long long>(actor.records), static_cast<long long>(actor.steps),
                seconds > 0 ? static_cast<double>(actor.steps) / seconds : 0,
                static_cast<double>(actor.received) / 1e6, static_cast<double>(actor.sent) / 1e3,
                static_cast<long long>(actor.first_version), static_cast<long long>(actor.version));
  }

  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::list<Actor> actors_;
  int came_ = 0;
  bool go_on_ = false;
};

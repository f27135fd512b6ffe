// core/formats/summer.h: a checksum computed while the same bytes are written.
#pragma once

#include "core/formats/crc32.h"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <thread>

namespace td::zip_file {

// Computes checksums on a thread while the caller writes the same bytes. Starts the thread on first use;
// without one, the caller computes them.
class Summer {
 public:
  Summer() = default;
  Summer(const Summer&) = delete;
  Summer& operator=(const Summer&) = delete;
  ~Summer() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard<std::mutex> hold(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  void begin(const char* data, std::size_t bytes) {
    if (!thread_.joinable()) {
      try {
        thread_ = std::thread([this] { work(); });
      } catch (const std::system_error&) {
        crc_ = crc32(0, data, bytes);
        return;
      }
    }
    {
      const std::lock_guard<std::mutex> hold(mutex_);
      data_ = data;
      bytes_ = bytes;
    }
    changed_.notify_all();
  }

  std::uint32_t end() {
    std::unique_lock<std::mutex> hold(mutex_);
    changed_.wait(hold, [this] { return data_ == nullptr; });
    return crc_;
  }

 private:
  void work() {
    std::unique_lock<std::mutex> hold(mutex_);
    for (;;) {
      changed_.wait(hold, [this] { return stop_ || data_ != nullptr; });
      if (data_ == nullptr) return;
      hold.unlock();
      const std::uint32_t crc = crc32(0, data_, bytes_);
      hold.lock();
      crc_ = crc;
      data_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;
  const char* data_ = nullptr;  // nullptr: no work
  std::size_t bytes_ = 0;
  std::uint32_t crc_ = 0;
  bool stop_ = false;
};

}  // namespace td::zip_file

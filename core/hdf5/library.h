// core/hdf5/library.h: uses the HDF5 library safely: one thread at a time, silent, with owned
// identifiers.
#pragma once

// Keeps the functions' names stable in all releases since 1.8.
#ifndef H5_USE_18_API
#define H5_USE_18_API
#endif
#include <hdf5.h>

#include "core/hdf5/functions.h"
#include "core/hdf5/hdf5.h"

#include <mutex>
#include <string>
#include <utility>

namespace td::hdf5 {

// Protects every use of the library, which is not thread-safe; no callbacks of callers run inside. The first
// one loads the library: Code::unsupported if it is missing. Silences the library's output on stderr, and
// restores its setting.
class Session {
 public:
  Session();
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

 private:
  std::lock_guard<std::mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* print_data_ = nullptr;
};

// Throws with the library's message for its last failure: Code::out_of_memory if it says so, else `code`.
[[noreturn]] void fail_library(Code code, const std::string& where, const char* what);

// Owns an identifier: a file, a dataset, a type, a property list.
class Id {
 public:
  explicit Id(hid_t id = -1) noexcept : id_(id) {}
  ~Id() { reset(); }
  Id(Id&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  Id& operator=(Id&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  operator hid_t() const noexcept { return id_; }  // NOLINT: implicit by design
  bool is_open() const noexcept { return id_ >= 0; }
  hid_t release() noexcept { return std::exchange(id_, -1); }
  void reset() noexcept {
    if (id_ >= 0) H5Idec_ref(std::exchange(id_, -1));
  }

 private:
  hid_t id_;
};

// Wraps a returned identifier; throws if the call failed.
inline Id need(hid_t id, Code code, const std::string& where, const char* what) {
  if (id < 0) fail_library(code, where, what);
  return Id(id);
}
inline void need_done(herr_t status, Code code, const std::string& where, const char* what) {
  if (status < 0) fail_library(code, where, what);
}

// Access properties (`kind`: H5P_LINK_ACCESS or derived) that do not follow links into other files.
Id inside_file(hid_t kind, const std::string& where);

}  // namespace td::hdf5

// core/interop/hdf5_library.h: the HDF5 library as the other files here use it: one thread at a time, silent, every
// identifier owned.
#pragma once

// The names of functions mean the same in all releases since 1.8 then.
#ifndef H5_USE_18_API
#define H5_USE_18_API
#endif
#include <hdf5.h>

#include "core/interop/hdf5.h"
#include "core/interop/hdf5_functions.h"

#include <mutex>
#include <string>
#include <utility>

namespace td::hdf5 {

// Around every use of the library, which is not made for threads. Nothing of the caller runs inside.
// The first one loads the library: throws Code::unsupported where it is not there.
// What the library would print on stderr is kept from there, and its setting is put back.
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

// Throws with what the library says about the failure of its last call: Code::out_of_memory if it says so, else `code`.
[[noreturn]] void fail_library(Code code, const std::string& where, const char* what);

// Owns an identifier of any kind: a file, a dataset, a type, a list of properties.
class Id {
 public:
  explicit Id(hid_t id = -1) noexcept : id_(id) {}
  ~Id() { reset(); }
  Id(Id&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  Id& operator=(Id&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  operator hid_t() const noexcept { return id_; }  // NOLINT: stands for it
  bool is_open() const noexcept { return id_ >= 0; }
  hid_t release() noexcept { return std::exchange(id_, -1); }
  void reset() noexcept {
    if (id_ >= 0) H5Idec_ref(std::exchange(id_, -1));
  }

 private:
  hid_t id_;
};

// What a call returned, if it is an identifier.
inline Id need(hid_t id, Code code, const std::string& where, const char* what) {
  if (id < 0) fail_library(code, where, what);
  return Id(id);
}
inline void need_done(herr_t status, Code code, const std::string& where, const char* what) {
  if (status < 0) fail_library(code, where, what);
}

// Properties of a way to an object (`kind`: H5P_LINK_ACCESS and what is derived from it): links into other
// files are not followed.
Id inside_file(hid_t kind, const std::string& where);

}  // namespace td::hdf5

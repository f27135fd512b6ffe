// modules/gloo_names/gloo/names.h: the names of gloo that libtorch's ProcessGroupGloo.hpp uses.
//
// This folder stands in for gloo's own headers. pip's torch has a gloo inside and no headers of it, and those of the
// system may be of another version: classes that are larger there, with other virtual functions. So nothing here has
// members or is ever made, and of all functions only Context::setTimeout is called, by its symbol.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace gloo {

class Context {
 public:
  void setTimeout(std::chrono::milliseconds timeout);
};

namespace rendezvous {

// The base of a class that libtorch alone makes. The names are there to be overridden.
class Store {
 public:
  static constexpr std::chrono::milliseconds kDefaultTimeout = std::chrono::seconds(30);
  virtual ~Store();
  virtual void set(const std::string &key, const std::vector<char> &data) = 0;
  virtual std::vector<char> get(const std::string &key) = 0;
  virtual void wait(const std::vector<std::string> &keys) = 0;
  virtual void wait(const std::vector<std::string> &keys,
                    const std::chrono::milliseconds &timeout) = 0;
};

}  // namespace rendezvous

namespace transport {

class Device;

class UnboundBuffer {
 public:
  virtual ~UnboundBuffer();
};

}  // namespace transport

}  // namespace gloo

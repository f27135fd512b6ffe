// fuzz.h: what the fuzzers share. Each is one function on bytes; what must not be ends the process.
#pragma once

#include "tensordict/td.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// What a fuzzer is: called with one input after the other.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size);

namespace fuzz {

// Ends the process with a line that says what does not hold.
[[noreturn]] void fail(const char *file, int line, const std::string &what);
#define FUZZ_CHECK(condition)                                       \
  do {                                                              \
    if (!(condition)) ::fuzz::fail(__FILE__, __LINE__, #condition); \
  } while (0)

// Whether a call has succeeded. A failure must have a code that says something, and one line of text.
bool done(td_status status);
#define FUZZ_DO(call)                                                                      \
  do {                                                                                     \
    if (!::fuzz::done(call))                                                               \
      ::fuzz::fail(__FILE__, __LINE__, std::string(#call ": ") + td_last_error_message()); \
  } while (0)

// A dictionary that goes at the end of a block.
class Dict {
 public:
  Dict() = default;
  ~Dict() { td_free(dict_); }
  Dict(const Dict &) = delete;
  Dict &operator=(const Dict &) = delete;
  td_tensordict **out() {
    td_free(dict_);
    dict_ = nullptr;
    return &dict_;
  }
  td_tensordict *get() const { return dict_; }
  explicit operator bool() const { return dict_ != nullptr; }

 private:
  td_tensordict *dict_ = nullptr;
};

// A folder in memory, emptied for each input. What lies beside it must stay as it was; the library must
// not open what is outside of it.
class Scratch {
 public:
  Scratch();   // empties it
  ~Scratch();  // looks at what lies beside it
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;

  std::string path(std::string_view name) const;
  void write(std::string_view name, std::string_view bytes) const;
  void make_folder(std::string_view name) const;

  // Makes a folder of a text that holds its files: "\n@@ name\n" and then the bytes of one, or
  // "\n@@ name -> target\n" for a link.
  void unpack(std::string_view name, std::string_view text) const;
};

// Reads all that a dictionary holds: keys, values of tensors and others, its printed form.
void read_all(const td_tensordict *td);

// Whether two hold the same leaves: keys, dtypes, sizes, bytes, and non-tensor values.
void same_leaves(const td_tensordict *one, const td_tensordict *other);

// What was loaded can be saved to a folder, and loads equal from there. Only what no folder can hold may
// be refused.
void saves_again(const Scratch &scratch, const td_tensordict *td);

}  // namespace fuzz

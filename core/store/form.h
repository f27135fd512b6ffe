// core/store/form.h: what a dictionary in a server is as a whole, and under which keys it lies there.
#pragma once

#include "core/store/answers.h"
#include "core/store/request.h"

#include "core/formats/plain.h"
#include "core/tensor/sizes.h"

#include <optional>
#include <string>
#include <string_view>

namespace td::store {

// The server's keys for one dictionary. An entry's path is its names, joined by dots.
class ServerKeys {
 public:
  ServerKeys(const std::string& prefix, const std::string& id)
      : begin_(prefix + ":{" + id + "}:") {}

  std::string data(std::string_view path) const { return begin_ + "d:" + std::string(path); }
  std::string meta(std::string_view path) const { return begin_ + "m:" + std::string(path); }
  std::string paths() const { return begin_ + "__keys__"; }
  std::string batch() const { return begin_ + "__batch_size__"; }
  std::string device() const { return begin_ + "__device__"; }
  std::string tensorclass() const { return begin_ + "__tensorclass__"; }
  std::string maker() const { return begin_ + "__maker__"; }  // marks which client created it
  std::string guard() const { return begin_ + "__guard__"; }  // watched, never kept
  // A value on its way here, in parts.
  std::string part(const std::string& mark, std::size_t number) const {
    return begin_ + "__part__:" + mark + ':' + std::to_string(number);
  }

  // Of Python's LazyStackedTensorDictStore.
  std::string type() const { return begin_ + "__type__"; }
  std::string count() const { return begin_ + "__count__"; }
  std::string stack_dim() const { return begin_ + "__stack_dim__"; }
  std::string inner() const { return begin_ + "__inner_batch_size__"; }
  std::string offsets(std::string_view path) const { return data(path) + ":idx"; }

 private:
  std::string begin_;
};

// What a dictionary is as a whole: dense, or a lazy stack.
struct Form {
  Sizes batch;
  std::optional<std::int64_t> stack_dim;  // of a lazy stack of batch[*stack_dim] elements
  std::string text;                       // what the server has at key()

  std::string key(const ServerKeys& keys) const { return stack_dim ? keys.count() : keys.batch(); }
  std::int64_t count() const { return batch[static_cast<std::size_t>(*stack_dim)]; }
  Sizes inner() const;  // the batch size of an element
};
Form dense_form(SizesView batch);
Form stack_form(SizesView batch, std::int64_t stack_dim);

// Asks for the form, and parses the reply; nullopt: there is no dictionary.
void ask_form(Request& request, const ServerKeys& keys);
std::optional<Form> read_form(const Answer& answer, const std::string& where);

// Sizes from a JSON list; Code::format for anything else.
Sizes sizes_of(const Plain& tree, const std::string& where);
Sizes parse_sizes(std::string_view text, const std::string& where);

}  // namespace td::store

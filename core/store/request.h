// core/store/request.h: commands for a server that speaks Redis' protocol, as bytes to be sent.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace td::store {

// Commands that are sent together. Values of tensors are not copied: they must live until the request is sent.
class Request {
 public:
  void begin(std::size_t parts);  // a command, of so many parts
  void part(std::string_view text);
  void value(std::string_view bytes);  // a part that is borrowed
  void add(std::initializer_list<std::string_view> parts);

  std::size_t commands() const noexcept { return commands_; }

  // What is to be sent, piece after piece; valid until the request changes.
  std::vector<std::string_view> pieces() const;

 private:
  void head(char sign, std::size_t number);

  struct Borrowed {
    std::size_t at;  // in `text_`: the bytes come before what stands there
    std::string_view bytes;
  };
  std::string text_;
  std::vector<Borrowed> borrowed_;
  std::size_t commands_ = 0;
};

}  // namespace td::store

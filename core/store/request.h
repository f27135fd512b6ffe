// core/store/request.h: commands in Redis' protocol, as bytes to send.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace td::store {

// Commands that are sent together. Tensor bytes are not copied: they must live until the request is sent.
class Request {
 public:
  void begin(std::size_t parts);  // starts a command of `parts` parts
  void part(std::string_view text);
  void value(std::string_view bytes);  // a borrowed part
  void add(std::initializer_list<std::string_view> parts);

  std::size_t commands() const noexcept { return commands_; }

  // The bytes to send, in pieces; valid until the request changes.
  std::vector<std::string_view> pieces() const;

 private:
  void head(char sign, std::size_t number);

  struct Borrowed {
    std::size_t at;  // position in `text_` before which the bytes go
    std::string_view bytes;
  };
  std::string text_;
  std::vector<Borrowed> borrowed_;
  std::size_t commands_ = 0;
};

}  // namespace td::store

#include "core/store/request.h"

namespace td::store {

void Request::head(char sign, std::size_t number) {
  text_ += sign;
  text_ += std::to_string(number);
  text_ += "\r\n";
}

void Request::begin(std::size_t parts) {
  head('*', parts);
  ++commands_;
}

void Request::part(std::string_view text) {
  head('$', text.size());
  text_ += text;
  text_ += "\r\n";
}

void Request::value(std::string_view bytes) {
  // Copying a short part is faster than sending it separately.
  constexpr std::size_t short_one = 16 << 10;
  if (bytes.size() <= short_one) return part(bytes);
  head('$', bytes.size());
  borrowed_.push_back({text_.size(), bytes});
  text_ += "\r\n";
}

void Request::add(std::initializer_list<std::string_view> parts) {
  begin(parts.size());
  for (const std::string_view text : parts) part(text);
}

std::vector<std::string_view> Request::pieces() const {
  std::vector<std::string_view> result;
  const std::string_view text = text_;
  std::size_t from = 0;
  for (const Borrowed& value : borrowed_) {
    result.push_back(text.substr(from, value.at - from));
    result.push_back(value.bytes);
    from = value.at;
  }
  result.push_back(text.substr(from));
  return result;
}

}  // namespace td::store

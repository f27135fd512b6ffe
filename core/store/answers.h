// core/store/answers.h: typed access to the replies of a server.
#pragma once

#include "core/base/error.h"
#include "core/store/reply.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace td::store {

// One reply, or an element of one. Each function throws Code::format if the reply has another type (`what`
// names it in the message), and the matching code if it is an error. The reply must outlive this object.
class Answer {
 public:
  Answer(const Reply& reply, const std::string& where) : reply_(&reply), where_(&where) {}

  bool is_nil() const noexcept { return std::holds_alternative<Nil>(reply_->value); }
  std::string_view text(const char* what) const;
  std::optional<std::string_view> text_or_nil(const char* what) const;
  std::int64_t integer(const char* what) const;
  void ok(const char* what) const;  // any status
  std::vector<Answer> list(const char* what) const;
  std::vector<Answer> list(const char* what, std::size_t length) const;
  void require() const;  // throws if the reply is an error

 private:
  template <class Kind>
  const Kind& as(const char* what, const char* wanted) const;

  const Reply* reply_;
  const std::string* where_;
};

}  // namespace td::store

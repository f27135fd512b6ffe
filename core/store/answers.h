// core/store/answers.h: what a server answers, asked for what it should be.
#pragma once

#include "core/base/error.h"
#include "core/store/reply.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace td::store {

// One answer, or a part of one. The functions throw Code::format where it is of another kind; `what` names it in the
// message. An answer that is an error throws what it means. The reply must outlive it.
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
  void require() const;  // that it is no error

 private:
  template <class Kind>
  const Kind& as(const char* what, const char* wanted) const;

  const Reply* reply_;
  const std::string* where_;
};

}  // namespace td::store

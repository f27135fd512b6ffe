#include "core/store/answers.h"

namespace td::store {

namespace {

const char* kind_of(const Reply& reply) {
  static constexpr const char* names[] = {"nothing",  "a status", "an error",
                                          "a number", "a text",   "a list"};
  return names[reply.value.index()];
}

Code code_of(std::string_view error) {
  const std::string_view word = error.substr(0, error.find(' '));
  if (word == "OOM") return Code::out_of_memory;
  if (word == "WRONGTYPE") return Code::format;
  if (word == "LOADING" || word == "BUSY" || word == "TRYAGAIN" || word == "ASK") return Code::busy;
  if (word == "CROSSSLOT") return Code::unsupported;
  return Code::io;
}

}  // namespace

void Answer::require() const {
  const auto* refusal = std::get_if<Refusal>(&reply_->value);
  if (refusal == nullptr) return;
  // "MOVED 866 10.0.0.2:6379". All keys of one dictionary lie on one node, so that one serves.
  if (refusal->text.compare(0, 6, "MOVED ") == 0) {
    const std::string shown = shown_reply(refusal->text);
    fail(Code::unsupported, *where_,
         " is a node of a cluster, and another one keeps this dictionary: connect to ",
         shown.substr(shown.rfind(' ') + 1));
  }
  fail(code_of(refusal->text), *where_, " refuses: ", shown_reply(refusal->text));
}

template <class Kind>
const Kind& Answer::as(const char* what, const char* wanted) const {
  if (const auto* found = std::get_if<Kind>(&reply_->value)) return *found;
  require();
  fail(Code::format, *where_, ": ", what, " is ", kind_of(*reply_), ", not ", wanted);
}

std::string_view Answer::text(const char* what) const { return as<std::string>(what, "a text"); }

std::optional<std::string_view> Answer::text_or_nil(const char* what) const {
  if (is_nil()) return std::nullopt;
  return text(what);
}

std::int64_t Answer::integer(const char* what) const { return as<std::int64_t>(what, "a number"); }

void Answer::ok(const char* what) const { as<Status>(what, "a status"); }

std::vector<Answer> Answer::list(const char* what) const {
  const auto& elements = as<std::vector<Reply>>(what, "a list");
  std::vector<Answer> result;
  result.reserve(elements.size());
  for (const Reply& element : elements) result.emplace_back(element, *where_);
  return result;
}

std::vector<Answer> Answer::list(const char* what, std::size_t length) const {
  std::vector<Answer> result = list(what);
  if (result.size() == length) return result;
  fail(Code::format, *where_, ": ", what, " is a list of ", result.size(), ", not of ", length);
}

}  // namespace td::store

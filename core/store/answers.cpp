#include "core/store/answers.h"

#include <algorithm>
#include <new>

namespace td::store {

namespace {

// Elements of one answer, of all its lists together: half a GB of what hiredis makes of them.
constexpr std::uint64_t max_elements = 8'000'000;
// Lists in lists. Newer versions of hiredis have no limit of their own, and free an answer by recursion.
constexpr int max_depth = 7;

int depth_of(const redisReadTask* task) {
  int depth = 0;
  while (task != nullptr && depth <= max_depth) {
    task = task->parent;
    ++depth;
  }
  return depth;
}

const char* kind_of(const redisReply& reply) {
  switch (reply.type) {
    case REDIS_REPLY_STRING: return "a text";
    case REDIS_REPLY_STATUS: return "a status";
    case REDIS_REPLY_INTEGER: return "a number";
    case REDIS_REPLY_ARRAY: return "a list";
    case REDIS_REPLY_NIL: return "nothing";
    default: return "something else";
  }
}

// One line of what the server says, for a message.
std::string shown(std::string_view text) {
  constexpr std::size_t longest = 200;
  std::string line(text.substr(0, longest));
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return line;
}

Code code_of(std::string_view error) {
  const std::string_view word = error.substr(0, error.find(' '));
  if (word == "OOM") return Code::out_of_memory;
  if (word == "WRONGTYPE") return Code::format;
  if (word == "LOADING" || word == "BUSY" || word == "TRYAGAIN") return Code::busy;
  if (word == "MOVED" || word == "ASK" || word == "CROSSSLOT") return Code::unsupported;
  return Code::io;
}

}  // namespace

void Answer::require() const {
  if (reply_->type != REDIS_REPLY_ERROR) return;
  const std::string_view error(reply_->str, reply_->len);
  fail(code_of(error), *where_, " refuses: ", shown(error));
}

void Answer::fail_kind(const char* what, const char* wanted) const {
  require();
  fail(Code::format, *where_, ": ", what, " is ", kind_of(*reply_), ", not ", wanted);
}

std::string_view Answer::text(const char* what) const {
  if (reply_->type != REDIS_REPLY_STRING) fail_kind(what, "a text");
  return {reply_->str, reply_->len};
}

std::optional<std::string_view> Answer::text_or_nil(const char* what) const {
  if (is_nil()) return std::nullopt;
  return text(what);
}

std::int64_t Answer::integer(const char* what) const {
  if (reply_->type != REDIS_REPLY_INTEGER) fail_kind(what, "a number");
  return reply_->integer;
}

void Answer::ok(const char* what) const {
  if (reply_->type != REDIS_REPLY_STATUS) fail_kind(what, "a status");
}

std::vector<Answer> Answer::list(const char* what) const {
  if (reply_->type != REDIS_REPLY_ARRAY) fail_kind(what, "a list");
  std::vector<Answer> result;
  result.reserve(reply_->elements);
  for (std::size_t i = 0; i < reply_->elements; ++i) {
    result.emplace_back(reply_->element[i], *where_);
  }
  return result;
}

std::vector<Answer> Answer::list(const char* what, std::size_t length) const {
  std::vector<Answer> result = list(what);
  if (result.size() == length) return result;
  fail(Code::format, *where_, ": ", what, " is a list of ", result.size(), ", not of ", length);
}

// hiredis takes the memory of a list as soon as it has read how long it says it is.
template <class Count>
void* AnswerReader::counted_array(const redisReadTask* task, Count count) {
  Budget& budget = *static_cast<Budget*>(task->privdata);
  const auto wanted = static_cast<std::uint64_t>(count);
  budget.refused = wanted > budget.elements_left || depth_of(task) > max_depth;
  if (budget.refused) return nullptr;
  budget.elements_left -= wanted;
  return budget.array(task, count);
}

AnswerReader::AnswerReader(std::uint64_t max_bytes, const std::string& where)
    : where_(where), max_bytes_(max_bytes), reader_(redisReaderCreate()) {
  if (reader_ == nullptr) throw std::bad_alloc();
  functions_ = *reader_->fn;
  budget_ = {max_elements, false, functions_.createArray};
  functions_.createArray = &counted_array;
  reader_->fn = &functions_;
  reader_->privdata = &budget_;
  // So much is kept for the next answer.
  reader_->maxbuf = std::size_t{1} << 20;
}

AnswerReader::~AnswerReader() = default;

void AnswerReader::fail_large() const {
  fail(Code::format, where_, ": the answer needs more memory than the ", max_bytes_,
       " bytes that one call may take: max_bytes allows more");
}

void AnswerReader::feed(std::string_view bytes) {
  fed_ += bytes.size();
  if (fed_ > max_bytes_) fail_large();
  // So a server answers what is no TLS: a record of the kind "alert".
  if (fed_ == bytes.size()) tls_alert_ = bytes.substr(0, 2) == "\x15\x03";
  if (redisReaderFeed(reader_.get(), bytes.data(), bytes.size()) != REDIS_OK)
    throw std::bad_alloc();
}

ReplyPtr AnswerReader::next() {
  void* reply = nullptr;
  if (redisReaderGetReply(reader_.get(), &reply) != REDIS_OK) {
    if (budget_.refused) {
      fail(Code::format, where_, ": the answer has more than ", max_elements,
           " elements, or lists more than ", max_depth, " deep");
    }
    if (tls_alert_) {
      fail(Code::unsupported, where_, " wants TLS: set `tls`");
    }
    fail(reader_->err == REDIS_ERR_OOM ? Code::out_of_memory : Code::format, where_,
         ": the answer is not of Redis' protocol: ", shown(reader_->errstr));
  }
  if (reply != nullptr) budget_.elements_left = max_elements;
  return ReplyPtr(static_cast<redisReply*>(reply));
}

}  // namespace td::store

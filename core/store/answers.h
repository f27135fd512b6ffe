// core/store/answers.h: what a server answers, taken apart by hiredis. Nothing in it is trusted.
#pragma once

#include "core/base/error.h"

#include <hiredis/hiredis.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace td::store {

struct FreeReply {
  void operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }
};
using ReplyPtr = std::unique_ptr<redisReply, FreeReply>;

// One answer, or a part of one. The functions throw Code::format where it is of another kind; `what` names it in the
// message. An answer that is an error throws what it means.
class Answer {
 public:
  Answer(const redisReply* reply, const std::string& where) : reply_(reply), where_(&where) {}

  bool is_nil() const noexcept { return reply_->type == REDIS_REPLY_NIL; }
  std::string_view text(const char* what) const;
  std::optional<std::string_view> text_or_nil(const char* what) const;
  std::int64_t integer(const char* what) const;
  void ok(const char* what) const;  // any status
  std::vector<Answer> list(const char* what) const;
  std::vector<Answer> list(const char* what, std::size_t length) const;
  void require() const;  // that it is no error

 private:
  [[noreturn]] void fail_kind(const char* what, const char* wanted) const;

  const redisReply* reply_;
  const std::string* where_;
};

// Bytes of a server in, answers out. Refuses answers that need more memory than they should.
class AnswerReader {
 public:
  AnswerReader(std::uint64_t max_bytes, const std::string& where);
  ~AnswerReader();
  AnswerReader(const AnswerReader&) = delete;
  AnswerReader& operator=(const AnswerReader&) = delete;

  void begin_call() noexcept { fed_ = 0; }
  void feed(std::string_view bytes);
  ReplyPtr next();  // nullptr: more bytes are needed
  bool is_empty() const noexcept { return reader_->pos == reader_->len; }  // no byte is left over

 private:
  struct Budget {
    std::uint64_t elements_left;
    bool refused;
    decltype(redisReplyObjectFunctions::createArray) array;  // hiredis' own
  };
  template <class Count>
  static void* counted_array(const redisReadTask* task, Count count);
  [[noreturn]] void fail_large() const;

  struct FreeReader {
    void operator()(redisReader* reader) const noexcept { redisReaderFree(reader); }
  };

  const std::string& where_;
  std::uint64_t max_bytes_, fed_ = 0;
  bool tls_alert_ = false;
  Budget budget_;
  redisReplyObjectFunctions functions_;
  std::unique_ptr<redisReader, FreeReader> reader_;
};

}  // namespace td::store

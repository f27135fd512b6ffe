#include "core/formats/json_text.h"

#include "core/formats/json_reader.h"

#include <charconv>
#include <cmath>

namespace td {

using json::Copier;
using json::Scalar;

namespace {

// Keeps the first elements of a list.
class ListHead final : public Copier {
 public:
  ListHead(const std::string& where, std::size_t length)
      : Copier(where, max_json_depth + 1), left_(length) {}

 private:
  void on_key(std::string& key) override {
    if (inside_) Copier::on_key(key);
  }
  void on_scalar(const Scalar& value) override {
    if (depth() == 1) take_one();
    if (inside_) Copier::on_scalar(value);
  }
  void on_open(bool is_object) override {
    if (depth() == 1) is_list_ = !is_object;
    if (depth() == 2) take_one();
    if (inside_) Copier::on_open(is_object);
  }
  void on_close(bool is_object) override {
    if (inside_ || depth() == 0) Copier::on_close(is_object);
  }
  void take_one() {
    inside_ = !is_list_ || left_ > 0;
    if (is_list_ && left_ > 0) --left_;
  }

  std::size_t left_;
  bool is_list_ = false;
  bool inside_ = true;
};

}  // namespace

void append_real(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  char digits[40];
  const double size = std::abs(value);
  const bool plain = size == 0 || (size >= 1e-4 && size < 1e16);
  const auto form = plain ? std::chars_format::fixed : std::chars_format::scientific;
  const char* const end = std::to_chars(digits, digits + sizeof digits, value, form).ptr;
  const std::string_view text(digits, static_cast<std::size_t>(end - digits));
  out += text;
  if (plain && text.find('.') == std::string_view::npos) out += ".0";
}

std::string head_of_list(std::string_view json, std::size_t length) {
  const std::string where = "a list";
  ListHead head(where, length);
  head.run(json);
  return head.take();
}

std::string compact(std::string_view json, const std::string& where, std::size_t depth) {
  Copier copier(where, depth);
  copier.run(json);
  return copier.take();
}

}  // namespace td

#include "core/store/form.h"

#include "core/base/quote.h"
#include "core/formats/json_text.h"

#include <algorithm>
#include <charconv>

namespace td::store {

namespace {

std::int64_t parse_number(std::string_view text, const std::string& where) {
  std::int64_t number = 0;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && stopped == text.data() + text.size()) return number;
  fail(Code::format, where, ": ", quote(shown_reply(text)), " is no number");
}

}  // namespace

Sizes sizes_of(const Plain& tree, const std::string& where) {
  Sizes sizes;
  if (tree.is(Plain::list) && tree.items().size() <= max_dims) {
    for (const Plain& item : tree.items()) {
      if (!item.is(Plain::integer) || item.integral() < 0) break;
      sizes.push_back(item.integral());
    }
    if (sizes.size() == tree.items().size() && checked_bytes(sizes, 16)) return sizes;
  }
  fail(Code::format, where, ": sizes are a list of up to ", max_dims, " numbers, and not this");
}

Sizes parse_sizes(std::string_view text, const std::string& where) {
  constexpr std::size_t longest = 4096;
  if (text.size() > longest) fail(Code::format, where, ": sizes of ", text.size(), " characters");
  return sizes_of(read_json(text, where, 2), where);
}

Sizes Form::inner() const {
  Sizes sizes = batch;
  sizes.erase(sizes.begin() + *stack_dim);
  return sizes;
}

Form dense_form(SizesView batch) {
  return {Sizes(batch.begin(), batch.end()), std::nullopt, show_sizes(batch)};
}

Form stack_form(SizesView batch, std::int64_t stack_dim) {
  Form form{Sizes(batch.begin(), batch.end()), stack_dim, {}};
  form.text = std::to_string(form.count());
  return form;
}

void ask_form(Request& request, const ServerKeys& keys) {
  request.add({"MGET", keys.batch(), keys.type(), keys.count(), keys.stack_dim(), keys.inner()});
}

std::optional<Form> read_form(const Answer& answer, const std::string& where) {
  const std::vector<Answer> fields = answer.list("what the dictionary is", 5);
  if (const auto batch = fields[0].text_or_nil("the batch size")) {
    return Form{parse_sizes(*batch, where + ": the batch size"), std::nullopt, std::string(*batch)};
  }
  const auto type = fields[1].text_or_nil("the type");
  if (!type) return std::nullopt;
  if (*type != "lazy_stack") {
    fail(Code::unsupported, where, ": the dictionary is of a kind that is not known, ",
         quote(shown_reply(*type)));
  }
  const std::string_view count = fields[2].text("the number of elements");
  Form form{parse_sizes(fields[4].text("the batch size of the elements"), where), std::nullopt,
            std::string(count)};
  constexpr std::int64_t most = 1'000'000;
  const std::int64_t number = parse_number(count, where);
  if (number < 0 || number > most) {
    fail(Code::format, where, ": a stack of ", number, " elements; 0 to ", most, " are valid");
  }
  // As Python's list.insert() takes it.
  const auto dims = static_cast<std::int64_t>(form.batch.size());
  const std::int64_t dim = parse_number(fields[3].text("the stack dimension"), where);
  form.stack_dim = std::clamp<std::int64_t>(dim < 0 ? dim + dims : dim, 0, dims);
  form.batch.insert(form.batch.begin() + *form.stack_dim, number);
  if (form.batch.size() > max_dims) {
    fail(Code::format, where, ": more than ", max_dims, " batch dimensions");
  }
  return form;
}

}  // namespace td::store

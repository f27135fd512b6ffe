// td_tensorclass.hpp: structs whose fields are entries.
#include "tensordict/td_tensorclass.hpp"

#include "tensordict/td_module.hpp"  // both in one program

#include "td_test.h"

namespace {

struct Inner : td_torch::Tensorclass<Inner> {
  TD_TENSORCLASS(Inner, (x, at::Tensor))
};

struct Outer : td_torch::Tensorclass<Outer> {
  TD_TENSORCLASS(Outer, (image, td_torch::Of<at::kFloat, 3, -1>), (inner, Inner),
                 (label, std::optional<at::Tensor>), (extra, std::optional<td_torch::Dict>),
                 (note, std::optional<td_torch::Json>))

  double total() const { return image().sum().item<double>(); }
};

// Types live as long as the program: made before handles are counted.
const bool types_are_made = Outer::tensorclass_type() != nullptr;

Outer outer(std::int64_t n) {
  return Outer({n}, at::arange(6 * n, at::kFloat).view({n, 3, 2}), Inner({n}, at::arange(n)),
               at::arange(n), std::nullopt, td_torch::Json{"[1,\"two\"]"});
}

// What `call` says when it throws; "" when it does not.
template <class Call>
std::string refusal(Call &&call) {
  try {
    call();
  } catch (const std::exception &error) {
    return error.what();
  }
  return "";
}

}  // namespace

TD_TEST(fields_are_read_and_written) {
  const at::Tensor image = at::arange(12, at::kFloat).view({2, 3, 2});
  // g++ 12 warns about a std::nullopt that becomes an optional string of this class in the call.
  const std::optional<td_torch::Json> no_extra;
  const Outer data({2}, image, Inner({2}, at::arange(2)), std::nullopt, std::nullopt, no_extra);
  TD_CHECK(types_are_made);
  TD_CHECK(data.image().data_ptr() == image.data_ptr() && data.total() == 66);
  TD_CHECK(data.inner().x().sum().item<int>() == 1);
  TD_CHECK(!data.label() && !data.extra());
  data.set_label(at::ones({2}, at::kLong));
  TD_CHECK(data.label()->sum().item<int>() == 2);
  data.set_label(std::nullopt);
  data.set_label(std::nullopt);
  TD_CHECK(!data.label());
  data.inner().set_x(at::full({2}, 5));
  TD_CHECK(data.inner().x().sum().item<int>() == 10);
  TD_CHECK(!data.note());
  data.set_note(td_torch::Json{"[1,\"two\"]"});
  TD_CHECK(data[1].note()->text == "[1,\"two\"]");
  TD_CHECK_TEXT(refusal([&] { data.set_note(td_torch::Json{"["}); }).c_str(), "TD_ERR_FORMAT");
  data.set_extra(td_torch::Dict({2}));
  TD_CHECK(data.extra()->batch_size() == std::vector<std::int64_t>{2});
  TD_CHECK_TEXT(data.to_string().c_str(), "\n    inner: Inner{x: i64[]},\n");
}

TD_TEST(parts_and_shapes_keep_the_type) {
  const Outer data = outer(6);
  TD_CHECK(data[-1].total() == 30 + 31 + 32 + 33 + 34 + 35);
  TD_CHECK(data[data.label()->eq(2)].inner().x().item<int>() == 2);
  TD_CHECK(data[at::arange(2)].batch_size() == std::vector<std::int64_t>{2});
  const Outer grid = data.reshape({2, 3});
  const Outer part = grid.index_by({td_torch::Index::all(), td_torch::Index::slice(0, 3, 2)});
  TD_CHECK((part.batch_size() == std::vector<std::int64_t>{2, 2}));
  TD_CHECK((grid.index_by({td_torch::Index::ellipsis(), 1, td_torch::Index::new_axis()})
                .inner()
                .x()
                .sizes() == at::IntArrayRef{2, 1}));
  TD_CHECK(grid.view({6}).image().data_ptr() == data.image().data_ptr());
  TD_CHECK(data.derive(td_unsqueeze, 0).batch_size().size() == 2);
  const std::vector<Outer> rows = grid.unbind(0);
  TD_CHECK(rows.size() == 2 && rows[1].label()->sum().item<int>() == 12);
  TD_CHECK(Outer::stack(rows).batch_size() == grid.batch_size());
  TD_CHECK(Outer::cat(rows).label()->equal(*data.label()));
  grid.set_at({0}, rows[1]);
  TD_CHECK(data.label()->sum().item<int>() == 24);
  const Outer copy = data.clone();
  copy.image().zero_();
  TD_CHECK(copy.total() == 0 && data.total() != 0);
}

TD_TEST(what_does_not_fit_is_refused) {
  const Outer data = outer(2);
  TD_CHECK_TEXT(refusal([&] {
                  data.set_image(at::zeros({2, 3, 2}, at::kDouble));
                }).c_str(),
                "field \"image\" of tensorclass \"Outer\" is a tensor of torch.float32");
  TD_CHECK_TEXT(refusal([&] { data.set_image(at::zeros({2, 4, 2})); }).c_str(), "TD_ERR_SHAPE");
  TD_CHECK_TEXT(refusal([&] { data[5]; }).c_str(), "TD_ERR_INDEX");
  const td_torch::Dict plain = data.to_dict();
  TD_CHECK_TEXT(refusal([&] { Inner::from_dict(plain); }).c_str(), "has no field");
  TD_CHECK(Outer::from_dict(plain).total() == data.total());
  TD_CHECK_TEXT(refusal([] { Outer::from_dict(td_torch::Dict({2})); }).c_str(),
                "needs a field \"image\"");
}

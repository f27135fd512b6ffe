// Reads "tensordict.json" of an archive; docs/guide/modules.md describes it.
#include "core/nn/script_meta.h"

#include "core/formats/format.h"
#include "core/formats/json_text.h"
#include "core/nn/script_members.h"
#include "core/tensor/dtype.h"

namespace td {

namespace {

constexpr std::int64_t newest_version = 3;
constexpr std::size_t max_followers = 1000;

TensorForm tensor_form(const Plain& given, const std::string& where) {
  Members members(given, where);
  TensorForm form{};
  std::string name;
  members.wanted("dtype");
  members.read("dtype", name);
  form.dtype = parse_dtype(name, where);
  const Plain& shape = members.wanted("shape");
  if (!shape.is(Plain::list)) members.fail_kind("shape", "list");
  for (const Plain& size : shape.items()) {
    if (!size.is(Plain::integer) || size.integral() < -1)
      members.fail_kind("shape", "list of sizes, where -1 is any");
    form.shape.push_back(size.integral());
  }
  members.refuse_unknown();
  return form;
}

std::vector<std::int64_t> numbers(Members& members, std::string_view name) {
  std::vector<std::int64_t> result;
  const Plain* const found = members.find(name);
  if (found == nullptr) return result;
  if (!found->is(Plain::list)) members.fail_kind(name, "list of whole numbers");
  for (const Plain& one : found->items()) {
    if (!one.is(Plain::integer) || one.integral() < 0)
      members.fail_kind(name, "list of whole numbers");
    result.push_back(one.integral());
  }
  return result;
}

BatchSpec batch_spec(const Plain& given, const std::string& where) {
  Members members(given, where);
  BatchSpec spec;
  members.wanted("dims");
  members.read("dims", spec.dims);
  if (spec.dims < 0 || spec.dims > 64)
    fail(Code::format, where, ": \"dims\" is ", spec.dims, ", no number of dimensions");
  spec.direct = numbers(members, "direct");
  spec.flat = numbers(members, "flat");
  spec.front = numbers(members, "front");
  members.read("empty", spec.empty);
  members.read("modules", spec.modules);
  members.refuse_unknown();
  if (spec.modules < 1)
    fail(Code::format, where, ": \"modules\" is ", spec.modules, ", no number of modules");
  if (spec.dims == 0 && !spec.flat.empty())
    fail(Code::format, where, ": no batch is flattened to 0 dimensions");
  return spec;
}

// Each input has the batch dimensions in front.
void check_batch(const std::optional<std::vector<TensorForm>>& inputs, const BatchSpec& batch,
                 const std::string& where) {
  if (!inputs) fail(Code::format, where, ": \"batch\" needs \"inputs\"");
  for (const TensorForm& form : *inputs) {
    if (static_cast<std::int64_t>(form.shape.size()) >= batch.dims) continue;
    fail(Code::format, where, ": an input has the shape ", show_sizes(form.shape),
         ", which has less than ", batch.dims, " batch dimensions");
  }
}

void read_inputs(Members& members, std::optional<std::vector<TensorForm>>& inputs) {
  const Plain* const given = members.find("inputs");
  if (given == nullptr) return;
  if (!given->is(Plain::list)) members.fail_kind("inputs", "list");
  inputs.emplace();
  for (const Plain& one : given->items()) {
    inputs->push_back(
        tensor_form(one, members.where() + ": inputs[" + std::to_string(inputs->size()) + "]"));
  }
}

void check_version(std::int64_t version) {
  if (version >= 1 && version <= newest_version) return;
  fail(Code::unsupported, "the keys of the module are of version ", version,
       "; this library reads versions 1 to ", newest_version);
}

}  // namespace

void read_form(Members& members, std::optional<std::vector<TensorForm>>& inputs,
               std::optional<BatchSpec>& batch) {
  read_inputs(members, inputs);
  const Plain* const given = members.find("batch");
  if (given == nullptr) return;
  batch = batch_spec(*given, members.where() + ": batch");
  check_batch(inputs, *batch, members.where());
}

ScriptMeta read_script_meta(std::string_view json, const std::string& where) {
  const Plain tree = read_json(json, where);
  Members members(tree, where);
  ScriptMeta meta;
  std::int64_t version = 1;
  members.read("version", version);
  check_version(version);
  members.read("in_keys", meta.in_keys);
  members.read("out_keys", meta.out_keys);
  if (version == 1) {
    // Version 1 allows unknown members, but these would change the meaning.
    for (const char* name : {"then", "select_out_keys", "inputs", "batch"}) {
      if (members.find(name) == nullptr) continue;
      fail(Code::format, where, ": ", quote(name), " needs a higher \"version\" than 1");
    }
    return meta;
  }
  members.read("select_out_keys", meta.select_out_keys);
  if (version >= 3) {
    read_form(members, meta.inputs, meta.batch);
  } else {
    read_inputs(members, meta.inputs);
  }
  if (const Plain* then = members.find("then")) {
    if (!then->is(Plain::list)) members.fail_kind("then", "list");
    if (then->items().size() > max_followers)
      fail(Code::format, where, ": more than ", max_followers, " modules follow");
    for (const Plain& one : then->items()) {
      meta.then.push_back(
          read_follower(one, where + ": then[" + std::to_string(meta.then.size()) + "]"));
    }
  }
  members.refuse_unknown();
  return meta;
}

}  // namespace td

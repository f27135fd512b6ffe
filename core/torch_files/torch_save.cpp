// Writes what torch.save() writes of a dictionary of Python's tensordict: a pickle, and a storage for each tensor.
#include "core/torch_files/torch_file.h"

#include "core/consolidated/packing.h"
#include "core/formats/format.h"
#include "core/formats/json_text.h"
#include "core/formats/zip_file.h"
#include "core/pickle/pickle_write.h"
#include "core/pickle/pickled.h"
#include "core/tensor/dtype.h"
#include "core/tensor/foreign.h"
#include "core/tensorclass/found_type.h"
#include "core/tree/names.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/paths.h"

#include <map>
#include <tuple>

namespace td::pickled {

namespace {

class Pickler {
 public:
  Pickler() { to_.code("\x80\x02"); }  // protocol 2, as torch.save

  void tensor(const at::Tensor& tensor) {
    if (tensor.layout() != c10::kStrided || tensor.is_nested() || !tensor.has_storage()) {
      fail(Code::unsupported, shown(), " cannot be stored in this file: it is not a dense tensor");
    }
    if (tensor.is_meta()) {
      fail(Code::device, shown(), " cannot be stored: it is on meta and has no values");
    }
    const DTypeRow* const row = find_dtype(dtype_of(tensor.scalar_type()));
    if (row == nullptr) {
      fail(Code::dtype, shown(), " cannot be stored: torch.save has no ",
           dtype_name(tensor.scalar_type()));
    }
    const bool typed = !row->storage.empty();
    to_.global("torch._utils", typed ? "_rebuild_tensor_v2" : "_rebuild_tensor_v3");
    to_.code("((");
    to_.add_text("storage");
    typed ? to_.global("torch", row->storage) : to_.global("torch.storage", "UntypedStorage");
    to_.add_text(std::to_string(storage_of(tensor)));
    to_.add_text("cpu");
    to_.add_number(typed ? tensor.numel() : static_cast<std::int64_t>(bytes_of(tensor)));
    to_.code("tQ");  // a tuple, which names the storage
    to_.add_number(0);
    sizes(tensor.sizes());
    sizes(row_major(tensor.sizes()));
    to_.code(tensor.requires_grad() ? "\x88" : "\x89");
    to_.global("collections", "OrderedDict");
    to_.code(")R");
    if (!typed) to_.global("torch", row->torch.substr(row->torch.find('.') + 1));
    to_.code("tR");
  }

  void node(const NodePtr& node) {
    if (++depth_ > most_levels) {
      fail(Code::unsupported, shown(), " is nested deeper than ", most_levels, " levels");
    }
    if (is_nested_tensor(*node)) {
      fail(Code::unsupported, shown(), " cannot be stored in this file: it is a nested tensor");
    }
    if (const Plain* value = one_value(*node)) {
      object(made::value, [&] { non_tensor(*node, *value); });
    } else if (node->tensorclass()) {
      const std::string& name = node->tensorclass()->name();
      const bool has_module = name.find('.') != std::string::npos;
      object(has_module ? name : "__main__." + name, [&] { tensorclass(node); });
    } else {
      dictionary(node);
    }
    --depth_;
  }

  std::string finish() {
    to_.code(".");
    std::string text = to_.take();
    if (text.size() > packing::max_text_bytes) {
      fail(Code::unsupported, "the names and values beside the tensors take ", text.size(),
           " bytes");
    }
    return text;
  }

  const std::vector<at::Tensor>& storages() const noexcept { return storages_; }

 private:
  std::string shown() const {
    return path_.empty() ? "the dictionary" : show_path(path_view(path_));
  }

  static Sizes row_major(SizesView sizes) {
    Sizes strides(sizes.size());
    std::int64_t step = 1;
    for (std::size_t i = sizes.size(); i-- > 0;) {
      strides[i] = step;
      step *= std::max<std::int64_t>(sizes[i], 1);
    }
    return strides;
  }

  // Equal values in one place are stored once.
  std::size_t storage_of(const at::Tensor& tensor) {
    if (tensor.is_contiguous() && !tensor.is_conj() && !tensor.is_neg() && tensor.numel() != 0) {
      const auto [found, added] = places_.emplace(
          std::tuple(tensor.data_ptr(), tensor.numel(), tensor.scalar_type()), storages_.size());
      if (!added) return found->second;
    }
    storages_.push_back(tensor);
    return storages_.size() - 1;
  }

  void global(std::string_view name) {
    const std::size_t dot = name.rfind('.');
    to_.global(name.substr(0, dot), name.substr(dot + 1));
  }

  void sizes(SizesView list) {
    to_.code("(");
    for (const std::int64_t size : list) to_.add_number(size);
    to_.code("t");
  }

  void batch(SizesView list) {
    to_.name("_batch_size");
    to_.global("torch", "Size");
    sizes(list);
    to_.code("\x85R");  // a tuple of one, and the call
  }

  // An object without arguments, whose state `fill` writes.
  template <class Fill>
  void object(std::string_view name, Fill&& fill) {
    global(name);
    to_.code(")\x81");
    to_.open(true);
    fill();
    to_.close(true);
    to_.code("b");
  }

  // What copyreg calls for dictionaries.
  template <class Fill>
  void made_object(std::string_view name, Fill&& fill) {
    global(made::make);
    global(name);
    to_.open(true);
    fill();
    to_.close(true);
    to_.code("\x86R");
  }

  void dictionary(const NodePtr& node) {
    if (stack_dim_of(*node)) {
      const auto fill = [&] { stack(node); };
      is_dict(*node) ? made_object(made::lazy, fill) : object(made::values, fill);
    } else {
      made_object(made::dict, [&] { dense(node); });
    }
  }

  // A dictionary of Python without entries has all that is not its entries.
  void attributes(const Node& node) {
    to_.name("_device");
    if (node.device() && node.device()->is_cpu()) {
      to_.global("torch", "device");
      to_.add_text("cpu");
      to_.code("\x85R");
    } else {
      to_.code("N");
    }
    batch(node.batch());
    to_.name("_td_dim_names");
    send(plain_names(names_of(node)), to_);
    if (is_locked(node)) {
      to_.name("_is_locked");
      to_.code("\x88");
    }
  }

  void dense(const NodePtr& node) {
    to_.name("_tensordict");
    to_.open(true);
    for (const std::string& name : entry_names(*node)) {
      to_.name(name);
      const Value value = *entry_of(node, name);
      path_.push_back(name);
      value.is_node() ? this->node(value.node()) : tensor(value.tensor());
      path_.pop_back();
    }
    to_.close(true);
    attributes(*node);
  }

  void stack(const NodePtr& node) {
    to_.name("_is_locked");
    to_.code(is_dict(*node) && is_locked(*node) ? "\x88" : "N");
    to_.name("stack_dim");
    to_.add_number(*stack_dim_of(*node));
    batch(node->batch());
    to_.name("tensordicts");
    to_.open(false);
    for (const NodePtr& element : elements_or_self(node)) this->node(element);
    to_.close(false);
    // Names that versions before 0.15 know, and later ones too.
    for (const char* hook : {"hook_out", "hook_in"}) {
      to_.name(hook);
      to_.code("N");
    }
    const Names names = names_of(*node);
    const auto dim = static_cast<std::size_t>(*stack_dim_of(*node));
    if (dim >= names.size() || !names[dim]) return;
    to_.name("_td_dim_name");
    to_.add_text(*names[dim]);
  }

  void non_tensor(const Node& node, const Plain& value) {
    if (is_deeper(value, max_json_depth) || !can_be_told(value)) {
      fail(Code::unsupported, shown(),
           " cannot be stored in this file: it is nested too deep, or has a whole number "
           "beyond 64 bits");
    }
    to_.name("tensordict");
    made_object(made::dict, [&] {
      to_.name("_tensordict");
      to_.code("}");
      attributes(node);
    });
    to_.name("non_tensordict");
    to_.open(true);
    to_.name("data");
    send(value, to_);
    to_.name("_metadata");
    to_.code("N");
    to_.name("_is_non_tensor");
    to_.code("\x88");
    to_.close(true);
  }

  static bool can_be_told(const Plain& value) {
    if (value.is(Plain::real))
      return value.characters().find_first_not_of("-0123456789") != std::string_view::npos;
    return std::all_of(value.items().begin(), value.items().end(), can_be_told);
  }

  void tensorclass(const NodePtr& node) {
    const PickledPtr& pickled = node->tensorclass()->pickled();
    if (pickled && !pickled->unread.empty()) {
      fail(Code::unsupported, shown(),
           " cannot be stored in this file: it has fields that only Python reads");
    }
    to_.name("tensordict");
    dictionary(node);
    to_.name("non_tensordict");
    to_.open(true);
    for (const TensorclassField& field : node->tensorclass()->fields()) {
      if (kind_below(node, field.name) != EntryKind::none) continue;
      to_.name(field.name);
      to_.code("N");
    }
    to_.close(true);
  }

  PickleText to_;
  std::vector<at::Tensor> storages_;
  std::map<std::tuple<const void*, std::int64_t, c10::ScalarType>, std::size_t> places_;
  OwnedPath path_;  // for messages
  std::size_t depth_ = 0;
};

void write_archive(Pickler& pickler, const std::string& path, bool durable) {
  const std::string text = pickler.finish();
  zip_file::Writer writer(path);
  const auto add = [&](const char* name, std::string_view content) {
    writer.add(std::string("archive/") + name, zip_file::Form::aligned, content.data(),
               content.size());
  };
  add("data.pkl", text);
  add("byteorder", "little");
  for (std::size_t i = 0; i < pickler.storages().size(); ++i) {
    const at::Tensor& tensor = pickler.storages()[i];
    writer.begin("archive/data/" + std::to_string(i), zip_file::Form::aligned, bytes_of(tensor));
    write_values(tensor, [&](const char* data, std::size_t bytes) { writer.append(data, bytes); });
    writer.end();
  }
  add("version", "3\n");
  writer.finish(durable);
}

}  // namespace

void save(const TensorDict& td, const std::string& path, const FileOptions& options) {
  const std::string target = new_file_path(path);
  const NodePtr root = picked_form(td.node());
  Pickler pickler;
  pickler.node(root);
  write_archive(pickler, target, options.durable);
}

void save_tensor(const at::Tensor& tensor, const std::string& path, const FileOptions& options) {
  const std::string target = new_file_path(path);
  Pickler pickler;
  pickler.tensor(tensor);
  write_archive(pickler, target, options.durable);
}

}  // namespace td::pickled

// core/torch_files/made_nodes.h: what Python's tensordict pickled, as nodes: dictionaries, lazy stacks, tensorclasses,
// parameters and non-tensor data.
#pragma once

#include "core/torch_files/torch_archive.h"
#include "core/tree/node.h"

#include <vector>

namespace td::pickled {

class MadeNodes {
 public:
  // `entries` and `bytes_left`, for values, are counted for the whole file.
  MadeNodes(Archive& archive, const FileOptions& options, std::size_t& entries,
            std::size_t& bytes_left);

  // The node of an object of Kind::made. Throws Code::unsupported with its class if that is unknown.
  NodePtr read(Ref made);
  // Locks what was locked. Call it once all nodes are in their place.
  void lock_all();

 private:
  const Object& object(Ref ref) const noexcept { return archive_.pickle().objects[ref]; }
  const std::string& where() const noexcept { return archive_.where(); }
  [[noreturn]] void fail_form(const std::string& name) const;
  [[noreturn]] void fail_class(const Object& made) const;
  // A member of a state; nullptr if it is missing.
  const Object* member(const Object& state, std::string_view name, Ref* ref = nullptr) const;
  const Object& member(const Object& state, std::string_view name, Kind kind) const;

  NodePtr node(Ref made);
  NodePtr dense(const Object& state);
  NodePtr lazy(const Object& state);
  NodePtr consolidated(const Object& made);
  NodePtr tensorclass(const Object& state, const std::string& name);
  Value entry(Ref ref, Path path);
  Plain plain(Ref ref);
  const std::string& counted(const std::string& text);
  void name_dims(const NodePtr& node, const Object& state);

  Archive& archive_;
  const FileOptions& options_;
  std::size_t& entries_;
  std::size_t& bytes_left_;
  std::size_t depth_ = 0;
  std::vector<NodePtr> locked_;
};

}  // namespace td::pickled

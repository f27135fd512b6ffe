#include "core/hdf5/growing_file.h"

#include "core/hdf5/collected_writes.h"
#include "core/hdf5/tree_writer.h"

#include "core/base/quote.h"

namespace td::hdf5 {

namespace {

constexpr std::size_t most_collected = std::size_t{16} << 20;

class Growing final : public GrowingFile {
 public:
  Growing(const std::string& target, bool there, bool in_new, SaveOptions options)
      : path_(target),
        where_(quote(target)),
        options_(std::move(options)),
        twin_(target, there, in_new) {}

  ~Growing() override { close(); }

  bool is_empty() const override { return twin_.is_empty(); }

  void write(const TensorDict& td, const Plain& attributes) override {
    const FlatTree tree = flatten_for(td);
    act([&](TreeWriter& writer) {
      if (!attributes.is(Plain::null)) writer.attributes(attributes, /*of_new=*/true);
      writer.tree(tree, "/");
    });
  }

  void write_rows(const TensorDict& rows, std::int64_t first) override {
    const FlatTree tree = flatten_for(rows);
    act([&](TreeWriter& writer) { writer.rows(tree, first); });
  }

  void remove(const std::string& place) override {
    act([&](TreeWriter&) {
      need_done(H5Ldelete(file_, place.c_str(), H5P_DEFAULT), Code::io, where_,
                "cannot remove a group");
    });
  }

  void publish(bool durable, bool goes_on, const std::function<void()>& then) override {
    try {
      act([](TreeWriter&) {});
      store();
      twin_.publish(durable, goes_on, then);
      if (writes_ && goes_on) writes_->read_from(twin_.file());
    } catch (...) {
      close();
      throw;
    }
    if (!goes_on) close();
  }

 private:
  template <class Action>
  void act(const Action& action) {
    try {
      {
        const Session session;
        if (!writes_) {
          writes_ = std::make_unique<CollectedWrites>(twin_.file(), where_);
          file_ = writes_->open();
        }
        TreeWriter writer(file_, where_, options_);
        action(writer);
      }
      if (writes_->bytes() > most_collected) store();
    } catch (...) {
      const int error = writes_ ? writes_->error() : 0;
      close();
      if (error != 0) files::fail_io("cannot read", path_, error);
      throw;
    }
  }

  // The bytes that the library has, to the twin.
  void store() {
    {
      const Session session;
      need_done(H5Fflush(file_, H5F_SCOPE_GLOBAL), Code::io, where_, "cannot make the file");
    }
    if (writes_->error() != 0) files::fail_io("cannot read", path_, writes_->error());
    twin_.write(writes_->take());
    writes_->read_from(twin_.file());
  }

  void close() noexcept {
    if (writes_) {
      const Session session;
      // After some failures the library keeps a file, and asks for it when the process ends.
      if (H5Fclose(file_.release()) < 0) {
        writes_->read_from(-1);
        static_cast<void>(writes_.release());
      }
    }
    writes_.reset();
    twin_.drop();
  }

  std::string path_, where_;
  SaveOptions options_;
  files::TwinFile twin_;
  std::unique_ptr<CollectedWrites> writes_;
  Id file_;
};

}  // namespace

std::unique_ptr<GrowingFile> GrowingFile::open(const std::string& target, bool there, bool in_new,
                                               const SaveOptions& options) {
  if (options.deflate < 0 || options.deflate > 9)
    fail(Code::invalid_argument, "deflate has levels 1 to 9, not ", options.deflate);
  return std::make_unique<Growing>(target, there, in_new, options);
}

}  // namespace td::hdf5

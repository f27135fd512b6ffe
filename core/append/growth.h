// What a writer without capacity has beside its fields: memory for some rows, and the folder that they go
// to. The memory is a window on the rows: when it is full, it goes to the files and moves on.
#pragma once

#include "core/append/grow.h"
#include "core/append/grow_publish.h"

#include <cstdlib>

namespace td {

class Growth {
 public:
  // The folder is there and locked.
  Growth(const std::string& dir, files::FolderLock lock, const AppendOptions& options);
  Growth(const Growth&) = delete;
  Growth& operator=(const Growth&) = delete;

  const GrowFolder& folder() const noexcept { return folder_; }
  // Memory of a leaf for the row 0 of the window.
  char* memory(std::size_t leaf) const noexcept { return files_[leaf].memory; }

  // Rows since the writer was opened that are before the window.
  std::int64_t before() const noexcept { return base_ - opened_at_; }

  // Where to go on, and how far, in rows of the window.
  struct Window {
    std::int64_t row;
    std::int64_t end;
  };
  // The rows of the window below `row` are complete. They are published when `publish` says so or when
  // as many have come together as the options say. May be called again after a failure.
  Window advance(std::int64_t row, bool publish);

  // Nothing more comes: the files get their exact sizes, the folder is free. Rows that are not published
  // are lost.
  void release();

 private:
  struct File {
    files::Descriptor file;  // closed: nothing was written yet
    char* memory = nullptr;
  };
  struct Free {
    void operator()(char* memory) const noexcept { std::free(memory); }
  };

  void make_window(std::int64_t wanted_bytes);
  void write(std::int64_t row);
  void publish(std::int64_t row);

  files::FolderLock lock_;
  GrowFolder folder_;
  Publisher publisher_;
  std::vector<File> files_;  // one for each leaf
  std::unique_ptr<char, Free> memory_;
  std::size_t memory_bytes_ = 0;
  bool durable_;
  std::int64_t opened_at_;
  std::int64_t every_ = 0;    // rows that are published together; 0: no limit
  std::int64_t window_ = 0;   // rows that the memory has room for
  std::int64_t base_;         // the row of the folder that is row 0 of the window
  std::int64_t written_ = 0;  // rows of the window that are in the files
};

}  // namespace td

// The tables of the core, of formats and dtypes, for C.
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "core/formats/dtypes.h"
#include "core/formats/file_formats.h"
#include "core/io/file_io.h"
#include "core/io/mapped_file.h"
#include "plain.h"

namespace {

using td::FileFormat;

static_assert(FORM_UNKNOWN == static_cast<form>(FileFormat::detect));
static_assert(FORM_FOLDER == static_cast<form>(FileFormat::folder));
static_assert(FORM_ARCHIVE == static_cast<form>(FileFormat::archive));
static_assert(FORM_CONSOLIDATED == static_cast<form>(FileFormat::consolidated));
static_assert(FORM_MODULE == static_cast<form>(FileFormat::module));
static_assert(FORM_STORE == static_cast<form>(FileFormat::store));
static_assert(FORM_CSV == static_cast<form>(FileFormat::csv));
static_assert(KIND_COMPLEX == static_cast<dtype_kinds>(td::NumberKind::complex));
static_assert(FORM_JSON == static_cast<form>(FileFormat::json));

constexpr std::string_view torch_prefix = "torch.";

const td::FormatRow *row_of(form which) { return td::find_format(static_cast<FileFormat>(which)); }

bool can(form which, unsigned what) {
  const td::FormatRow *row = row_of(which);
  return row != nullptr && (row->can & what) != 0;
}

// Raw records have no layout here.
bool is_known(const td::FormatRow &row) { return row.format != FileFormat::raw; }

// ".h5, .hdf5"; `mark` stands around each.
std::string suffix_list(const td::FormatRow &row, const char *mark) {
  std::string result;
  td::each_suffix(row, [&](std::string_view suffix) {
    result.append(result.empty() ? "" : ", ").append(mark).append(suffix).append(mark);
  });
  return result;
}

}  // namespace

extern "C" const char *dtype_name(td_dtype dtype) {
  const td::DTypeRow *row = td::find_dtype(static_cast<td::DType>(dtype));
  return row == nullptr ? "?" : row->torch.data() + torch_prefix.size();
}

extern "C" dtype_kinds dtype_kind(td_dtype dtype) {
  const td::DTypeRow *row = td::find_dtype(static_cast<td::DType>(dtype));
  return row == nullptr ? KIND_NONE : static_cast<dtype_kinds>(row->kind);
}

extern "C" const char *form_name(form which) {
  return which == FORM_UNKNOWN ? "unknown" : row_of(which)->name.data();
}

extern "C" const char *form_title(form which) {
  if (which == FORM_UNKNOWN) return "file";
  const char *title = row_of(which)->title.data();
  if (std::strncmp(title, "a ", 2) == 0) return title + 2;
  return std::strncmp(title, "an ", 3) == 0 ? title + 3 : title;
}

extern "C" const char *form_words(void) {
  static const std::string words = [] {
    std::string result;
    for (const td::FormatRow &row : td::format_rows) {
      if ((row.can & td::can_save) == 0 || row.format == FileFormat::store || !is_known(row))
        continue;
      result.append(result.empty() ? "" : " ").append(row.name);
    }
    return result;
  }();
  return words.c_str();
}

extern "C" form form_called(const char *name) {
  const td::FormatRow *row = td::find_format(name);
  return row == nullptr ? FORM_UNKNOWN : static_cast<form>(row->format);
}

extern "C" bool form_saves(form which) { return can(which, td::can_save); }
extern "C" bool form_has_batch(form which) { return can(which, td::has_batch); }

extern "C" form form_of_name(const char *path) {
  const std::string name(path);
  for (const char *scheme : {"redis://", "rediss://", "redis+unix://"}) {
    if (name.rfind(scheme, 0) == 0) return FORM_STORE;
  }
  const std::size_t slash = name.rfind('/'), base = slash == std::string::npos ? 0 : slash + 1;
  const std::size_t dot = name.rfind('.');
  const bool suffix = dot != std::string::npos && dot > base;
  return suffix ? static_cast<form>(td::format_of_name(name)) : FORM_FOLDER;
}

extern "C" form form_of_file(const char *path) {
  struct stat about {};
  if (form_of_name(path) == FORM_STORE) return FORM_STORE;
  if (::stat(path, &about) != 0) die("%s: %s", path, std::strerror(errno));
  if (S_ISDIR(about.st_mode)) return FORM_FOLDER;
  FileFormat found = FileFormat::detect;
  try {
    const auto file = td::MappedFile::open(path, td::MappedFile::whole, td::MapMode::priv);
    found = td::format_of_content({file->data(), file->bytes()});
  } catch (const std::exception &) {  // the library says why it cannot be read
  }
  // A package of AOTInductor is any zip archive; the library finds out more.
  if (found == FileFormat::npz && td::files::ends_with(path, ".pt2")) return FORM_MODULE;
  return static_cast<form>(found != FileFormat::detect ? found : td::format_of_name(path));
}

extern "C" void print_forms(void) {
  for (const td::FormatRow &row : td::format_rows) {
    if (!is_known(row)) continue;
    const std::string suffixes = suffix_list(row, "");
    std::printf(".TP\n\\fB%s\\fR%s%s\n%s.", row.name.data(), suffixes.empty() ? "" : ", ",
                suffixes.c_str(), row.about.data());
    if ((row.can & td::can_save) == 0)
      std::printf(" Read only.\n");
    else
      std::printf(" Loses %s.\n", row.loses.data());
  }
}

extern "C" void print_guide(void) {
  std::printf(
      "| format | name | what it holds | written | what a dictionary loses |\n| --- | --- | --- | "
      "--- | --- |\n");
  for (const td::FormatRow &row : td::format_rows) {
    std::string written = (row.can & td::can_save) != 0 ? "yes" : "no";
    if ((row.can & td::compresses) != 0) written += ", can be compressed";
    if (!row.needs.empty()) written.append("; needs ").append(row.needs);
    std::printf("| %s | %s | %s | %s | %s |\n", row.name.data(), suffix_list(row, "`").c_str(),
                row.about.data(), written.c_str(), row.loses.empty() ? "" : row.loses.data());
  }
}

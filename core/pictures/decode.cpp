#include "core/pictures/decode.h"

#include "core/pictures/codec.h"
#include "core/tensor/dtype.h"
#include "core/tensor/sizes.h"

#include <ATen/ATen.h>

#include <memory>

namespace td {

namespace {

using pictures::Decoder;
using pictures::Form;

std::unique_ptr<Decoder> decoder_of(std::string_view bytes, const std::string& where) {
  if (pictures::is_png(bytes)) return std::make_unique<pictures::PngDecoder>(bytes, where);
  if (pictures::is_jpeg(bytes)) return std::make_unique<pictures::JpegDecoder>(bytes, where);
  fail(Code::format, where, ": ", bytes.size(), " bytes are no picture of PNG or JPEG");
}

Sizes sizes_of(const Form& form) {
  Sizes sizes{form.height, form.width};
  if (form.channels > 1) sizes.push_back(form.channels);
  return sizes;
}

std::string show(const Form& form) {
  return show_sizes(sizes_of(form)) + (form.bytes == 2 ? " of 16 bits" : "");
}

c10::ScalarType dtype_of(const Form& form) { return form.bytes == 2 ? at::kInt : at::kByte; }

// Samples of two bytes take four in the tensor.
void require_room(const Form& form, std::uint64_t rows, std::uint64_t bytes,
                  std::uint64_t max_bytes, const std::string& where) {
  const std::uint64_t most = max_bytes != 0 ? max_bytes : 1100 * bytes + (std::uint64_t{64} << 20);
  const std::uint64_t one = form.size() * (form.bytes == 2 ? 2 : 1);
  if (one == 0 || one > most / rows) {
    fail(Code::format, where, ": ", rows, rows == 1 ? " picture of " : " pictures of ", show(form),
         " would take more than the limit of ", most, " bytes");
  }
}

void decode_into(Decoder& decoder, const at::Tensor& to) {
  if (decoder.form.bytes == 1) return decoder.decode(to.data_ptr());
  const at::Tensor samples = at::empty(to.sizes(), at::kShort);
  decoder.decode(samples.data_ptr());
  to.copy_(samples);
  to.bitwise_and_(0xffff);
}

}  // namespace

bool is_picture(std::string_view bytes) noexcept {
  return pictures::is_png(bytes) || pictures::is_jpeg(bytes);
}

at::Tensor decode_picture(std::string_view bytes, const std::string& where,
                          std::uint64_t max_bytes) {
  const std::unique_ptr<Decoder> decoder = decoder_of(bytes, where);
  require_room(decoder->form, 1, bytes.size(), max_bytes, where);
  at::Tensor picture = at::empty(sizes_of(decoder->form), dtype_of(decoder->form));
  decode_into(*decoder, picture);
  return picture;
}

at::Tensor decode_pictures(std::size_t rows,
                           const std::function<std::string_view(std::size_t row)>& bytes,
                           const std::function<std::string(std::size_t row)>& where,
                           std::uint64_t max_bytes) {
  std::uint64_t all = 0;
  for (std::size_t row = 0; row < rows; ++row) all += bytes(row).size();
  Form first;
  at::Tensor pictures;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::string place = where(row);
    const std::unique_ptr<Decoder> decoder = decoder_of(bytes(row), place);
    if (row == 0) {
      first = decoder->form;
      require_room(first, rows, all, max_bytes, place);
      Sizes sizes = sizes_of(first);
      sizes.insert(sizes.begin(), static_cast<std::int64_t>(rows));
      pictures = at::empty(sizes, dtype_of(first));
    } else if (!(decoder->form == first)) {
      fail(Code::format, place, ": the picture is ", show(decoder->form), ", the one of ", where(0),
           " is ", show(first));
    }
    decode_into(*decoder, pictures.select(0, static_cast<std::int64_t>(row)));
  }
  return pictures;
}

std::string encode_png(const at::Tensor& picture) {
  if (picture.scalar_type() != at::kByte)
    fail(Code::dtype, "a PNG picture is made of uint8, not of ", dtype_name(picture.scalar_type()));
  const auto dims = picture.dim();
  const Form form{dims > 1 ? picture.size(0) : 0, dims > 1 ? picture.size(1) : 0,
                  dims > 2 ? picture.size(2) : 1, 1};
  if (dims < 2 || dims > 3 || form.channels < 1 || form.channels > 4 || form.size() == 0 ||
      form.height > INT32_MAX || form.width > INT32_MAX) {
    fail(Code::shape, "a PNG picture is [height, width] or [height, width, 1 to 4], not ",
         show_sizes(picture.sizes()));
  }
  return pictures::png_of(picture.cpu().contiguous().data_ptr(), form);
}

}  // namespace td

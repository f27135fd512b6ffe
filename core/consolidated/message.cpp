#include "core/consolidated/message.h"

#include "core/consolidated/packing.h"
#include "core/tensor/buffer.h"
#include "core/tensor/dtype.h"
#include "core/tensor/foreign.h"
#include "core/tensor/writes.h"
#include "core/tree/kinds.h"
#include "core/tree/zip.h"

#include <cstring>

namespace td {

namespace {

// The head of a message; text and tensors follow. Numbers are little-endian, as in files.
struct Header {
  char magic[8];
  std::uint64_t text;
  std::uint64_t data;
};
constexpr char magic[8] = {'T', 'D', 'M', 'S', 'G', '1', '\r', '\n'};

const std::string& where() {
  static const std::string* const text = new std::string("the message");  // never destroyed
  return *text;
}

}  // namespace

void send(const TensorDict& td, Transport& transport) {
  const packing::Plan plan(td.node(), packing::Twice::once);
  const std::string text = plan.text();
  Header header{{}, text.size(), plan.bytes()};
  std::memcpy(header.magic, magic, sizeof magic);
  std::string begin(reinterpret_cast<const char*>(&header), sizeof header);
  begin += text;
  transport.write(begin.data(), begin.size());
  const char zeros[32] = {};
  for (const packing::Place& place : plan.places()) {
    if (place.bytes != 0) {
      const at::Tensor values = plain_values(place.tensor);
      transport.write(static_cast<const char*>(values.data_ptr()), place.bytes);
    }
    const std::size_t gap = place.stop - place.start - place.bytes;
    if (gap != 0) transport.write(zeros, gap);
  }
}

TensorDict receive(Transport& transport, const ReceiveOptions& options) {
  Header header{};
  transport.read(reinterpret_cast<char*>(&header), sizeof header);
  if (std::memcmp(header.magic, magic, sizeof magic) != 0) {
    fail(Code::format, "the data is not a message: it begins differently");
  }
  const std::uint64_t most = options.max_bytes;
  if (header.text > most || header.data > most - header.text) {
    fail(Code::capacity, "the message has ", header.text, " and ", header.data, " bytes, at most ",
         most, " are allowed");
  }
  if (header.text > packing::max_text_bytes) {
    fail(Code::format, "the message has a description of ", header.text, " bytes");
  }
  // Grow with the bytes received, not with the announced length.
  std::string text;
  constexpr std::size_t piece = std::size_t{1} << 20;
  while (text.size() < header.text) {
    const std::size_t done = text.size();
    text.resize(done + std::min<std::size_t>(piece, static_cast<std::size_t>(header.text) - done));
    transport.read(text.data() + done, text.size() - done);
  }
  const auto bytes = static_cast<std::size_t>(header.data);
  const packing::Parsed parsed(text, where(), bytes, {options.max_depth, options.max_entries});
  if (bytes - parsed.bytes() > 64) {  // more than the padding after the last tensor
    fail(Code::format, "the message has ", bytes, " bytes of tensors that take ", parsed.bytes());
  }
  const c10::Storage buffer = Buffer::make(bytes, c10::Device(c10::DeviceType::CPU));
  if (bytes != 0) transport.read(static_cast<char*>(buffer.data_ptr().get()), bytes);
  return TensorDict(parsed.build(buffer, std::nullopt));
}

void receive_into(const TensorDict& td, Transport& transport, const ReceiveOptions& options) {
  const TensorDict message = receive(transport, options);
  Writes writes(Writes::Hold::owns);
  InPlace work(td.node());
  WalkRules policy;
  policy.what = "receiving into a dictionary";
  visit_zip(
      {work.node(), message.node()}, Take::elements,
      [&](const Here& here, Tensors tensors) {
        const at::Tensor& target = *tensors[0];
        const at::Tensor& source = *tensors[1];
        if (target.sizes() != source.sizes()) {
          fail(Code::shape, show_path(here.path()), " has shape ", show_sizes(target.sizes()),
               ", in the message ", show_sizes(source.sizes()));
        }
        if (target.scalar_type() != source.scalar_type()) {
          fail(Code::dtype, show_path(here.path()), " has dtype ", dtype_name(target.scalar_type()),
               ", in the message ", dtype_name(source.scalar_type()));
        }
        writes.set(here.path(), target, source);
      },
      policy);
  writes.run();
  work.commit();
}

}  // namespace td

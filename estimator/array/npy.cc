#include "estimator/array/npy.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"

namespace estimator {
namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr size_t kMagicBytes = 6;
constexpr size_t kAlignment = 64;  // the elements begin at a multiple of this offset

struct NumberKind {
  DType dtype;
  absl::string_view descr;  // without the byte order
};
constexpr NumberKind kNumbers[] = {
    {DType::kFloat32, "f4"}, {DType::kFloat64, "f8"}, {DType::kFloat16, "f2"},
    {DType::kInt8, "i1"},    {DType::kInt16, "i2"},   {DType::kInt32, "i4"},
    {DType::kInt64, "i8"},   {DType::kUint8, "u1"},   {DType::kBool, "b1"},
};

absl::Status Malformed(absl::string_view what) {
  return InvalidArgument("not a .npy file: ", what);
}

// The error for a whole header whose data has the wrong size.
absl::Status WrongSize(const std::string& type, size_t expected, size_t given) {
  return InvalidArgument(
      given < expected ? "the .npy file is cut short" : "the .npy file has bytes after its end",
      ": its header says ", type, ", ", expected, " bytes, and ", given, " follow; save it again");
}

// The text of the header's entry `key`, up to where the next one may begin.
std::optional<absl::string_view> Entry(absl::string_view header, absl::string_view key) {
  const size_t at = header.find(absl::StrCat("'", key, "':"));
  if (at == absl::string_view::npos) return std::nullopt;
  return absl::StripLeadingAsciiWhitespace(header.substr(at + key.size() + 3));
}

absl::StatusOr<Shape> ParseShape(absl::string_view header) {
  const std::optional<absl::string_view> entry = Entry(header, "shape");
  if (!entry.has_value() || !absl::StartsWith(*entry, "(")) return Malformed("no shape");
  const size_t end = entry->find(')');
  if (end == absl::string_view::npos) return Malformed("no shape");
  std::vector<int64_t> dims;
  int64_t elements = 1;
  for (const absl::string_view text :
       absl::StrSplit(entry->substr(1, end - 1), ',', absl::SkipWhitespace())) {
    int64_t size = 0;
    if (!absl::SimpleAtoi(text, &size) || size < 0)
      return Malformed(absl::StrCat("a size is '", text, "'"));
    if (size > 0 && elements > (int64_t{1} << 40) / size)
      return Malformed("its shape is too large");
    elements *= std::max<int64_t>(size, 1);
    dims.push_back(size);
  }
  return Shape(std::move(dims));
}

void AppendUtf8(uint32_t c, std::string& out) {
  const auto add = [&out](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (c < 0x80) {
    add(c);
  } else if (c < 0x800) {
    add(0xC0 | c >> 6), add(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    add(0xE0 | c >> 12), add(0x80 | (c >> 6 & 0x3F)), add(0x80 | (c & 0x3F));
  } else {
    add(0xF0 | (c >> 18 & 7)), add(0x80 | (c >> 12 & 0x3F)), add(0x80 | (c >> 6 & 0x3F)),
        add(0x80 | (c & 0x3F));
  }
}

// The bytes with those of each element in the other order. A rest that is no element stays.
std::string SwapBytes(absl::string_view data, size_t element_bytes) {
  std::string swapped(data);
  for (size_t i = 0; i + element_bytes <= swapped.size(); i += element_bytes) {
    char* const element = swapped.data() + i;
    std::reverse(element, element + element_bytes);
  }
  return swapped;
}

// The array whose elements are in Fortran order: the first index changes fastest.
//   T: has the size of the elements.
template <typename T>
Array ToRowMajor(const Array& columns) {
  const Shape& shape = columns.shape();
  Array rows(columns.dtype(), shape);
  const auto* const from = static_cast<const T*>(columns.raw());
  auto* const to = static_cast<T*>(rows.raw());
  std::vector<int64_t> index(static_cast<size_t>(shape.rank()), 0);
  for (int64_t i = 0; i < columns.num_elements(); ++i) {
    int64_t offset = 0;
    for (size_t axis = 0; axis < index.size(); ++axis) {
      offset = offset * shape.dims()[axis] + index[axis];
    }
    to[offset] = from[i];
    for (size_t axis = 0; axis < index.size() && ++index[axis] == shape.dims()[axis]; ++axis) {
      index[axis] = 0;
    }
  }
  return rows;
}

// Parses 'S12' and '<U12'. All elements have the same number of bytes; shorter strings end in
// zeros.
absl::StatusOr<Array> ParseStrings(absl::string_view descr, const Shape& shape,
                                   absl::string_view data) {
  const bool wide = descr[0] == 'U';
  int64_t length = 0;
  if (!absl::SimpleAtoi(descr.substr(1), &length) || length < 1 || length > (1 << 30))
    return Malformed(absl::StrCat("its dtype is '", descr, "'"));
  const size_t bytes = static_cast<size_t>(length) * (wide ? 4 : 1);
  const auto count = static_cast<size_t>(shape.num_elements());
  // Divides instead of multiplying: the product of bytes and count may overflow.
  if (data.size() % bytes != 0 || data.size() / bytes != count) {
    return InvalidArgument(
        "the .npy file is cut short, or has bytes after its end: its header says '", descr, "' ",
        shape.ToString(), ", and ", data.size(), " bytes follow; save it again");
  }
  Array array(DType::kString, shape);
  for (size_t i = 0; i < count; ++i) {
    const absl::string_view element = data.substr(i * bytes, bytes);
    std::string& out = array.data<std::string>()[i];
    if (!wide) {
      out = std::string(element.substr(0, element.find_last_not_of('\0') + 1));
      continue;
    }
    for (size_t c = 0; c < static_cast<size_t>(length); ++c) {
      uint32_t code = 0;
      std::memcpy(&code, element.data() + 4 * c, 4);
      if (code != 0) AppendUtf8(code, out);
    }
  }
  return array;
}

absl::StatusOr<Array> ParseNumbers(absl::string_view descr, const Shape& shape,
                                   absl::string_view data, bool big_endian) {
  for (const NumberKind& kind : kNumbers) {
    if (kind.descr != descr) continue;
    const size_t bytes = static_cast<size_t>(shape.num_elements()) * DTypeSize(kind.dtype);
    if (data.size() != bytes) {
      return WrongSize(absl::StrCat(DTypeShortName(kind.dtype), " ", shape.ToString()), bytes,
                       data.size());
    }
    Array array(kind.dtype, shape);
    const std::string swapped = big_endian ? SwapBytes(data, DTypeSize(kind.dtype)) : "";
    if (big_endian) data = swapped;
    if (!data.empty()) std::memcpy(array.raw(), data.data(), data.size());
    // A byte other than 0 and 1 is not a valid bool in C++.
    if (kind.dtype == DType::kBool) {
      auto* bytes = static_cast<uint8_t*>(array.raw());
      for (size_t i = 0; i < data.size(); ++i) bytes[i] = bytes[i] != 0;
    }
    return array;
  }
  return Unimplemented("its dtype '", descr, "' is not supported; convert it with x.astype(...)");
}

}  // namespace

absl::StatusOr<Array> ParseNpy(StringArg bytes) {
  if (bytes.empty()) return Malformed("it is empty");
  if (absl::StartsWith(bytes, "PK\x03\x04")) {
    return Malformed(
        "it is an archive of several arrays (.npz); save each in a file of its own: "
        "numpy.save(\"x.npy\", numpy.load(FILE)[\"x\"])");
  }
  if (bytes.size() < 10 || bytes.substr(0, kMagicBytes) != absl::string_view(kMagic, kMagicBytes))
    return Malformed("it does not begin with \\x93NUMPY");
  const auto byte = [&bytes](size_t i) {
    return static_cast<size_t>(static_cast<uint8_t>(bytes[i]));
  };
  const size_t major = byte(6), header_at = major == 1 ? 10 : 12;
  if (major < 1 || major > 3 || bytes.size() < header_at)
    return Malformed(absl::StrCat("its version is ", major));
  size_t header_bytes = byte(8) | byte(9) << 8;
  if (major > 1) header_bytes |= byte(10) << 16 | byte(11) << 24;
  if (header_bytes > bytes.size() - header_at) {
    return InvalidArgument("the .npy file is cut short: it ends in its header, which has ",
                           header_bytes, " bytes");
  }
  const absl::string_view header = bytes.substr(header_at, header_bytes);
  absl::string_view data = bytes.substr(header_at + header_bytes);

  std::optional<absl::string_view> descr = Entry(header, "descr");
  if (!descr.has_value()) return Malformed("no descr");
  if (!absl::ConsumePrefix(&*descr, "'"))
    return Unimplemented("it holds structures; save each field in a file of its own");
  descr = descr->substr(0, descr->find('\''));
  const std::optional<absl::string_view> order = Entry(header, "fortran_order");
  if (!order.has_value()) return Malformed("no fortran_order");
  const absl::StatusOr<Shape> shape = ParseShape(header);
  if (!shape.ok()) return shape.status();
  const bool column_major = absl::StartsWith(*order, "True") && shape->rank() > 1;
  if (absl::StrContains(*descr, 'O')) {
    return Unimplemented("it holds Python objects; for strings save numpy.array(x, dtype='S')");
  }
  const bool big_endian = absl::ConsumePrefix(&*descr, ">");
  if (!big_endian && !absl::ConsumePrefix(&*descr, "<") && !absl::ConsumePrefix(&*descr, "|"))
    return Malformed(absl::StrCat("its dtype is '", *descr, "'"));
  if (absl::StartsWith(*descr, "S") || absl::StartsWith(*descr, "U")) {
    std::string swapped;
    if (big_endian && absl::StartsWith(*descr, "U")) {  // its characters have 4 bytes each
      swapped = SwapBytes(data, 4);
      data = swapped;
    }
    EST_ASSIGN_OR_RETURN(const Array array, ParseStrings(*descr, *shape, data));
    return column_major ? ToRowMajor<std::string>(array) : array;
  }
  EST_ASSIGN_OR_RETURN(const Array array, ParseNumbers(*descr, *shape, data, big_endian));
  if (!column_major) return array;
  // Moving elements does not depend on what they mean, only on their size.
  switch (DTypeSize(array.dtype())) {
    case 1:
      return ToRowMajor<uint8_t>(array);
    case 2:
      return ToRowMajor<uint16_t>(array);
    case 4:
      return ToRowMajor<uint32_t>(array);
    default:
      return ToRowMajor<uint64_t>(array);
  }
}

absl::StatusOr<Array> LoadNpy(StringArg path) {
  EST_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  absl::StatusOr<Array> array = ParseNpy(bytes);
  if (!array.ok()) return Annotate(array.status(), path);
  return array;
}

absl::Status SaveNpy(StringArg path, const Array& array) {
  if (!array.valid()) {
    return InvalidArgument(path, ": the array has no dtype and no value; it was not set");
  }
  return WriteFileAtomically(path, NpyBytes(array));
}

std::string NpyBytes(const Array& array) {
  if (array.dtype() == DType::kBfloat16) return NpyBytes(array.Cast(DType::kFloat32));
  std::string descr, data;
  if (array.dtype() == DType::kString) {
    const auto strings = array.values<std::string>();
    size_t longest = 1;
    for (const std::string& s : strings) longest = std::max(longest, s.size());
    descr = absl::StrCat("|S", longest);
    for (const std::string& s : strings)
      absl::StrAppend(&data, s, std::string(longest - s.size(), '\0'));
  } else {
    for (const NumberKind& kind : kNumbers) {
      if (kind.dtype == array.dtype())
        descr = absl::StrCat(DTypeSize(kind.dtype) == 1 ? "|" : "<", kind.descr);
    }
    data.assign(static_cast<const char*>(array.raw()), array.num_bytes());
  }
  std::string shape;
  for (const int64_t size : array.shape().dims()) absl::StrAppend(&shape, size, ", ");
  if (array.shape().rank() > 1) shape.resize(shape.size() - 2);
  if (array.shape().rank() == 1) shape.pop_back();  // (3,)
  std::string header =
      absl::StrCat("{'descr': '", descr, "', 'fortran_order': False, 'shape': (", shape, "), }");
  // 10 bytes precede the header, and a newline ends it.
  header.append(kAlignment - (10 + header.size() + 1) % kAlignment, ' ');
  header.push_back('\n');
  std::string bytes(kMagic, kMagicBytes);
  bytes.push_back(1);
  bytes.push_back(0);
  bytes.push_back(static_cast<char>(header.size() & 0xFF));
  bytes.push_back(static_cast<char>(header.size() >> 8));
  return absl::StrCat(bytes, header, data);
}

}  // namespace estimator

#include "estimator/checkpoint/table/table_key.h"

#include <bit>
#include <cstddef>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/strings.h"

namespace estimator {
namespace {

void AppendBigEndian(uint64_t value, int num_bytes, std::string* out) {
  for (int i = num_bytes - 1; i >= 0; --i) out->push_back(static_cast<char>(value >> (8 * i)));
}

void AppendNum(uint64_t value, std::string* out) {
  const int num_bytes = (static_cast<int>(std::bit_width(value)) + 7) / 8;
  out->push_back(static_cast<char>(num_bytes));
  AppendBigEndian(value, num_bytes, out);
}

void AppendString(absl::string_view text, std::string* out) {
  // TensorFlow's OrderedCode: the bytes 00 01 end the text, so a zero byte in it is escaped.
  for (const char c : text) {
    out->push_back(c);
    if (c == '\x00') out->push_back('\xff');
    if (c == '\xff') out->push_back('\x00');
  }
  out->append("\x00\x01", 2);
}

// Writes the value as two's complement in the fewest bytes that hold it with 7 bits each, including
// the sign. The other bits come first: `length` ones before a number that is not negative, `length`
// zeros before a negative one.
void AppendSigned(int64_t value, std::string* out) {
  const uint64_t magnitude = static_cast<uint64_t>(value < 0 ? ~value : value);
  const int length = static_cast<int>(std::bit_width(magnitude)) / 7 + 1;  // 1 to 10
  std::string bytes(2, value < 0 ? '\xff' : '\x00');
  AppendBigEndian(static_cast<uint64_t>(value), 8, &bytes);
  bytes.erase(0, bytes.size() - static_cast<size_t>(length));
  for (int bit = 0; bit < length; ++bit) {
    bytes[static_cast<size_t>(bit / 8)] ^= static_cast<char>(0x80 >> (bit % 8));
  }
  *out += bytes;
}

}  // namespace

std::string SliceKey(absl::string_view name, const std::vector<SliceExtent>& extents) {
  std::string key;
  AppendNum(0, &key);
  AppendString(name, &key);
  AppendNum(extents.size(), &key);
  for (const SliceExtent& extent : extents) {
    AppendSigned(extent.start, &key);
    AppendSigned(extent.length, &key);
  }
  return key;
}

std::string VariableOfKey(absl::string_view key) {
  // A key of TensorBundle is the name itself. A slice key begins with a zero byte.
  if (key.empty() || key[0] != '\0') return std::string(key);
  std::string name;
  for (size_t i = 1; i < key.size(); ++i) {
    const char next = i + 1 < key.size() ? key[i + 1] : '\x01';
    if (key[i] == '\x00' && next != '\xff') break;
    name.push_back(key[i]);
    if (key[i] == '\x00' || (key[i] == '\xff' && next == '\x00')) ++i;
  }
  return name;
}

std::string ListNames(const std::vector<std::string>& names) {
  std::vector<std::string> printable;
  for (const std::string& name : names) printable.push_back(absl::CEscape(name));
  return absl::StrCat(names.size(), names.size() == 1 ? " variable, " : " variables, ",
                      JoinSome(printable, 6));
}

}  // namespace estimator

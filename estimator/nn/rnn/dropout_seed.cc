#include "estimator/nn/rnn/dropout_seed.h"

#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace estimator::rnn_cell {
namespace {

thread_local int64_t current_step = 0;

// One block of 64 bytes of RFC 1321, section 3.4.
void Md5Block(const unsigned char* block, std::array<uint32_t, 4>& state) {
  static constexpr int kShifts[4][4] = {
      {7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
  auto [a, b, c, d] = state;
  for (uint32_t i = 0; i < 64; ++i) {
    const uint32_t round = i / 16;
    uint32_t f = 0, k = 0;
    if (round == 0) {
      f = (b & c) | (~b & d), k = i;
    } else if (round == 1) {
      f = (d & b) | (~d & c), k = (5 * i + 1) % 16;
    } else if (round == 2) {
      f = b ^ c ^ d, k = (3 * i + 5) % 16;
    } else {
      f = c ^ (b | ~d), k = 7 * i % 16;
    }
    uint32_t word = 0;
    for (uint32_t byte = 0; byte < 4; ++byte) word |= uint32_t{block[4 * k + byte]} << (8 * byte);
    const auto sine =
        static_cast<uint32_t>(std::floor(std::fabs(std::sin(i + 1.0)) * 4294967296.0));
    const uint32_t sum = a + f + word + sine;
    a = std::exchange(
        d, std::exchange(c, std::exchange(b, b + std::rotl(sum, kShifts[round][i % 4]))));
  }
  state[0] += a, state[1] += b, state[2] += c, state[3] += d;
}

}  // namespace

TimeStepScope::TimeStepScope(int64_t step) : previous_(std::exchange(current_step, step)) {}
TimeStepScope::~TimeStepScope() { current_step = previous_; }
int64_t TimeStepScope::Current() { return current_step; }

std::string Md5Hex(absl::string_view text) {
  std::string padded = absl::StrCat(text, "\x80");
  while (padded.size() % 64 != 56) padded.push_back('\0');
  const uint64_t bits = uint64_t{text.size()} * 8;
  for (int i = 0; i < 8; ++i) padded.push_back(static_cast<char>(bits >> (8 * i)));
  std::array<uint32_t, 4> state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  for (size_t i = 0; i < padded.size(); i += 64)
    Md5Block(reinterpret_cast<const unsigned char*>(padded.data()) + i, state);
  std::string digest;
  for (const uint32_t word : state) {
    for (int i = 0; i < 4; ++i) digest.push_back(static_cast<char>(word >> (8 * i)));
  }
  return absl::BytesToHexString(digest);
}

int64_t DropoutSeed(int64_t seed, absl::string_view salt, int index, int64_t time_step) {
  std::string text = absl::StrCat(seed, salt, "_", index);
  if (time_step > 0) absl::StrAppend(&text, "_", time_step);
  return static_cast<int64_t>(std::stoul(Md5Hex(text).substr(0, 8), nullptr, 16) & 0x7FFFFFFF);
}

}  // namespace estimator::rnn_cell

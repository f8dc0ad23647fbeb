#include "tools/saved_model/npz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/escaping.h"
#include "estimator/array/compare.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;

// NumPy 1.26: numpy.savez(f, x=numpy.array([[1., 2.]])).
constexpr char kStored[] =
    "UEsDBC0AAAAAAAAAIQChG96A//////////8FABQAeC5ucHkBABAAkAAAAAAAAACQAAAAAAAAAJNOVU1QWQEAdgB7J2Rl"
    "c2NyJzogJzxmOCcsICdmb3J0cmFuX29yZGVyJzogRmFsc2UsICdzaGFwZSc6ICgxLCAyKSwgfSAgICAgICAgICAgICAg"
    "ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAKAAAAAAAA8D8AAAAAAAAAQFBLAQItAy0A"
    "AAAAAAAAIQChG96AkAAAAJAAAAAFAAAAAAAAAAAAAACAAQAAAAB4Lm5weVBLBQYAAAAAAQABADMAAADHAAAAAAA=";
// numpy.savez_compressed(f, x=numpy.arange(1, 7, dtype="f8").reshape(3, 2),
//                        k=numpy.array([7, 8], "i4")).
constexpr char kPacked[] =
    "UEsDBC0AAAAIAAAAIQBHr+ao//////////8FABQAeC5ucHkBABAAsAAAAAAAAABaAAAAAAAAAJvsF+obEMnIUMZQrZ6S"
    "WpxcpG6loG6TZqGuo6Cell9UUpSYF59flJIKEndLzClOBYoXZyQWpAL5GsY6CkaaOgq1CmQDLgYw+GAPoRkcIBQHlBaA"
    "0iJQWsIBAFBLAwQtAAAACAAAACEA6BB4hP//////////BQAUAGsubnB5AQAQAIgAAAAAAAAASwAAAAAAAACb7BfqGxDJ"
    "yFDGUK2eklqcXKRupaBuk2mirqOgnpZfVFKUmBefX5SSChJ3S8wpTgWKF2ckFqQC+RpGOpo6CrUKFAAudgYGBg4gBgBQ"
    "SwECLQMtAAAACAAAACEAR6/mqFoAAACwAAAABQAAAAAAAAAAAAAAgAEAAAAAeC5ucHlQSwECLQMtAAAACAAAACEA6BB4"
    "hEsAAACIAAAABQAAAAAAAAAAAAAAgAGRAAAAay5ucHlQSwUGAAAAAAIAAgBmAAAAEwEAAAAA";

std::string Bytes(absl::string_view base64) {
  std::string bytes;
  EXPECT_TRUE(absl::Base64Unescape(base64, &bytes));
  return bytes;
}

class Npz : public ::testing::Test {
 protected:
  absl::StatusOr<Array> Load(const std::string& bytes, absl::string_view name = "") {
    EST_EXPECT_OK(WriteFileAtomically(dir_.File("a.npz"), bytes));
    return LoadNpz(dir_.File("a.npz"), name);
  }
  const TempDir dir_;
};

TEST_F(Npz, HasTheArraysOfNumpy) {
  const auto only = Load(Bytes(kStored)), x = Load(Bytes(kPacked), "x"),
             k = Load(Bytes(kPacked), "k");
  EST_ASSERT_OK(only);
  EST_ASSERT_OK(x);
  EST_ASSERT_OK(k);
  EXPECT_EQ(only->TypeString(), "f64 [1,2]");
  EXPECT_THAT(only->values<double>(), ElementsAre(1, 2));
  EXPECT_EQ(x->TypeString(), "f64 [3,2]");
  EXPECT_THAT(x->values<double>(), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(k->values<int32_t>(), ElementsAre(7, 8));
}

TEST_F(Npz, SeveralArraysNeedAName) {
  EXPECT_THAT(Load(Bytes(kPacked)), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(Load(Bytes(kPacked)),
              ErrorHas("several arrays, x, k; choose one, as in FILE.npz[x]"));
  EXPECT_THAT(Load(Bytes(kPacked), "y"), ErrorHas("it has no array 'y'; it has x, k"));
}

TEST_F(Npz, DamageIsAnErrorAndNoOtherArray) {
  EXPECT_THAT(Load(""), ErrorHas("a.npz is not a whole zip archive"));
  EXPECT_THAT(Load("{}"), ErrorHas("a.npz is not a whole zip archive"));
  const std::string empty_archive = "PK\5\6" + std::string(18, '\0');
  EXPECT_THAT(Load(empty_archive), ErrorHas("it is no .npz file: it has no NAME.npy"));
  for (const char* const whole : {kStored, kPacked}) {
    const std::string bytes = Bytes(whole);
    for (size_t size = 0; size < bytes.size(); ++size)
      EXPECT_FALSE(Load(bytes.substr(0, size), "x").ok()) << size;
    for (size_t i = 0; i < bytes.size(); ++i) {
      std::string other = bytes;
      other[i] ^= 0x10;
      const auto damaged = Load(other, "x"), good = Load(bytes, "x");
      // Times, versions and unused fields may differ.
      if (damaged.ok()) {
        EXPECT_TRUE(SameBits(*damaged, *good)) << i;
      }
    }
  }
}

TEST_F(Npz, ABombIsRefusedByTheSizeThatItGives) {
  std::string bytes = Bytes(kPacked);
  const size_t entry = bytes.find("PK\1\2");
  bytes.replace(entry + 24, 4, "\0\0\0\x80", 4);
  EXPECT_THAT(Load(bytes, "x"), ErrorHas("90 bytes cannot become 2147483648 bytes"));
  // More bytes than it gives.
  bytes.replace(entry + 24, 4, "\x10\0\0\0", 4);
  EXPECT_THAT(Load(bytes, "x"), StatusIs(absl::StatusCode::kDataLoss));
}

}  // namespace
}  // namespace estimator

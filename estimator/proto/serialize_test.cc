#include "estimator/proto/serialize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/proto/attr_value.pb.h"
#include "estimator/proto/graph.pb.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(SerializeWithinLimit, MapsAreInOneOrderAndTheMessageIsRead) {
  proto::NodeDef one, other;
  for (const char* const name : {"a", "b", "c", "d"}) (*one.mutable_attr())[name].set_i(1);
  for (const char* const name : {"d", "c", "b", "a"}) (*other.mutable_attr())[name].set_i(1);
  const auto bytes = SerializeWithinLimit(one, "a node", "");
  EXPECT_EQ(*bytes, *SerializeWithinLimit(other, "a node", ""));
  proto::NodeDef read;
  ASSERT_TRUE(read.ParseFromString(*bytes));
  EXPECT_EQ(read.attr_size(), 4);
}

TEST(SerializeWithinLimit, AMessageThatIsTooLargeIsAnErrorWithFiguresAndTheCure) {
  proto::NodeDef node;
  node.set_name(std::string(5000, 'n'));
  EST_EXPECT_OK(SerializeWithinLimit(node, "a.pb", "shorter names", 5003));
  const auto status = SerializeWithinLimit(node, "a.pb", "shorter names", 5002).status();
  EXPECT_THAT(status,
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("a.pb would have 5003 bytes (4.9 KiB), but at most 5002"),
                             HasSubstr("shorter names"))));
}

}  // namespace
}  // namespace estimator

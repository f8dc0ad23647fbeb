#include "model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/replay/matcher.h"

// The folder is what TensorFlow computed: reference/record_reference.py.
TEST(ModelTest, ComputesWhatTensorFlowDid) {
  EXPECT_THAT(model::ModelFn, estimator::replay::MatchesReference("reference"));
}

#include "estimator/runtime/passes/merge_equal.h"

#include <gtest/gtest.h>

#include "estimator/runtime/passes/testing/pass_module.h"

namespace estimator::ir {
namespace {

TEST(MergeEqual, EqualNodesOfEqualNodesBecomeOne) {
  ModuleBuilder b;
  const Value x = b.Feed({2});
  const Value one = b.Scalar(1), also_one = b.Scalar(1);
  b.Fetch(b.Op("Exp", {b.Op("AddV2", {x, one}, {2})}, {2}));
  b.Fetch(b.Op("Exp", {b.Op("AddV2", {x, also_one}, {2})}, {2}));
  MergeEqual(b.module);
  EXPECT_EQ(Count(b.module, "Const"), 1);
  EXPECT_EQ(Count(b.module, "AddV2"), 1);
  EXPECT_EQ(Count(b.module, "Exp"), 1);
  EXPECT_EQ(b.module.fetches[0], b.module.fetches[1]);
}

TEST(MergeEqual, WhatDiffersStaysApart) {
  ModuleBuilder b;
  const Value x = b.Feed({2}), y = b.Feed({2});
  b.Fetch(b.Op("Exp", {x}, {2}));
  b.Fetch(b.Op("Exp", {y}, {2}));
  b.Fetch(b.Op("Sum", {x}, {}, {{"keep_dims", false}}));
  b.Fetch(b.Op("Sum", {x}, {}, {{"keep_dims", true}}));
  b.Fetch(b.Op("Reshape", {x}, {2, 1}));  // no attribute says the shape
  b.Fetch(b.Op("Reshape", {x}, {1, 2}));
  b.Fetch(b.Scalar(0.0f));
  b.Fetch(b.Scalar(-0.0f));
  MergeEqual(b.module);
  EXPECT_EQ(Count(b.module, "Exp"), 2);
  EXPECT_EQ(Count(b.module, "Sum"), 2);
  EXPECT_EQ(Count(b.module, "Reshape"), 2);
  EXPECT_EQ(Count(b.module, "Const"), 2);
}

TEST(MergeEqual, RandomNodesStayApart) {
  ModuleBuilder b;
  for (int i = 0; i < 2; ++i) {
    const Value random = b.Op("RandomUniform", {}, {2}, {{"seed", int64_t{1}}});
    b.node(random).stateful = true;
    b.Fetch(random);
  }
  MergeEqual(b.module);
  EXPECT_EQ(Count(b.module, "RandomUniform"), 2);
}

TEST(MergeEqual, SumsOverReplicasOfOneValueBecomeOne) {
  ModuleBuilder b;
  const Value x = b.Feed({2});
  for (int i = 0; i < 2; ++i) {
    const Value sum = b.Op("CrossReplicaSum", {x}, {2});
    b.node(sum).stateful = true;
    b.Fetch(sum);
  }
  MergeEqual(b.module);
  EXPECT_EQ(Count(b.module, "CrossReplicaSum"), 1);
}

}  // namespace
}  // namespace estimator::ir

// CONTRIBUTING.md adds the row of its op Cross to estimator/op_def/op_table.cc. What is compiled
// here adds it to the rows of users' ops, before cross.cc joins its shape rule and gradient to it.
#ifndef DOCS_CONTRIBUTING_ROW_H_
#define DOCS_CONTRIBUTING_ROW_H_

#include "estimator/op_def/op_def.h"

namespace estimator {

[[maybe_unused]] static const bool cross_has_a_row = [] {
  AddOpDef("Cross", {});
  return true;
}();

}  // namespace estimator

#endif  // DOCS_CONTRIBUTING_ROW_H_

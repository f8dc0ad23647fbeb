#include "tpu/compile_check/hlo_memory.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace estimator::tpu {
namespace {

struct Instruction {
  absl::string_view name;
  absl::string_view shape;
  absl::string_view opcode;
  std::vector<absl::string_view> operands;
  std::vector<absl::string_view>
      called;  // body and condition of a while, branches of a conditional
  absl::string_view op_name;
};

struct Computation {
  std::vector<Instruction> instructions;  // in the order of the schedule; the last one is the root
};

// The names after '%' in `text`.
std::vector<absl::string_view> Names(absl::string_view text) {
  std::vector<absl::string_view> names;
  for (size_t i = text.find('%'); i != absl::string_view::npos; i = text.find('%', i + 1)) {
    const size_t end = text.find_first_of(", ){}", i);
    names.push_back(text.substr(i + 1, end == absl::string_view::npos ? end : end - i - 1));
  }
  return names;
}

// The text up to the parenthesis or brace that closes the first one.
size_t Closing(absl::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '{' || text[i] == '[') ++depth;
    if ((text[i] == ')' || text[i] == '}' || text[i] == ']') && --depth == 0) return i;
  }
  return text.size();
}

absl::string_view Between(absl::string_view text, absl::string_view before, char after) {
  const size_t begin = text.find(before);
  if (begin == absl::string_view::npos) return "";
  const absl::string_view rest = text.substr(begin + before.size());
  return rest.substr(0, rest.find(after));
}

// "%name = SHAPE opcode(%a, %b), attributes"
bool ParseInstruction(absl::string_view line, Instruction& instruction) {
  line = absl::StripLeadingAsciiWhitespace(line);
  // The root is the last instruction of the schedule, so its mark is not needed.
  absl::ConsumePrefix(&line, "ROOT ");
  if (!absl::ConsumePrefix(&line, "%")) return false;
  const size_t equals = line.find(" = ");
  if (equals == absl::string_view::npos) return false;
  instruction.name = line.substr(0, equals);
  line.remove_prefix(equals + 3);
  size_t shape_end;
  // The shape of a tuple has spaces.
  if (absl::StartsWith(line, "(")) {
    shape_end = Closing(line, 0) + 1;
  } else {
    shape_end = line.find(' ');
  }
  if (shape_end >= line.size()) return false;
  instruction.shape = line.substr(0, shape_end);
  line = absl::StripLeadingAsciiWhitespace(line.substr(shape_end));
  const size_t open = line.find('(');
  if (open == absl::string_view::npos) return false;
  instruction.opcode = line.substr(0, open);
  const size_t close = Closing(line, open);
  instruction.operands = Names(line.substr(open, close - open + 1));
  const absl::string_view attributes = line.substr(std::min(close + 1, line.size()));
  for (const absl::string_view key : {"condition=%", "body=%", "calls=%", "to_apply=%",
                                      "true_computation=%", "false_computation=%"}) {
    const absl::string_view value = Between(attributes, key, ',');
    if (!value.empty()) instruction.called.push_back(value.substr(0, value.find(' ')));
  }
  for (const absl::string_view branch : Names(Between(attributes, "branch_computations={", '}'))) {
    instruction.called.push_back(branch);
  }
  instruction.op_name = Between(attributes, "op_name=\"", '"');
  return true;
}

using Computations = std::map<absl::string_view, Computation>;

Computations Parse(absl::string_view hlo, absl::string_view& entry) {
  Computations computations;
  Computation* current = nullptr;
  for (absl::string_view line : absl::StrSplit(hlo, '\n')) {
    if (absl::StartsWith(line, "}")) {
      current = nullptr;
    } else if (current == nullptr && absl::EndsWith(line, "{")) {
      const bool is_entry = absl::ConsumePrefix(&line, "ENTRY ");
      if (!absl::ConsumePrefix(&line, "%")) continue;
      const absl::string_view name = line.substr(0, line.find_first_of(" ("));
      current = &computations[name];
      if (is_entry) entry = name;
    } else if (current != nullptr) {
      Instruction instruction;
      if (ParseInstruction(line, instruction))
        current->instructions.push_back(std::move(instruction));
    }
  }
  return computations;
}

class Liveness {
 public:
  explicit Liveness(const Computations& computations) : computations_(computations) {}

  struct Peak {
    int64_t bytes = 0;
    std::vector<const Instruction*> live;
  };

  // The peak of the values that a computation makes, without parameters and results.
  const Peak& Of(absl::string_view name) {
    if (const auto known = peaks_.find(name); known != peaks_.end()) return known->second;
    // Inserted before the recursion: a computation that calls itself would not end.
    Peak& peak = peaks_[name];
    const auto it = computations_.find(name);
    if (it == computations_.end() || it->second.instructions.empty()) return peak;
    const std::vector<Instruction>& all = it->second.instructions;

    // The instructions whose memory each value is in. An alias has that of its operands.
    std::map<absl::string_view, std::set<size_t>> owners;
    std::vector<size_t> last(all.size());
    for (size_t i = 0; i < all.size(); ++i) {
      std::set<size_t>& mine = owners[all[i].name];
      last[i] = i;
      const bool alias = IsAlias(all[i]);
      for (const absl::string_view operand : all[i].operands) {
        // An alias keeps the memory of its operands alive as long as it is used itself.
        for (const size_t owner : owners[operand]) {
          last[owner] = i;
          if (alias) mine.insert(owner);
        }
      }
      if (!alias) mine.insert(i);
    }
    // The caller counts the results, which outlive the computation.
    const std::set<size_t>& results = owners[all.back().name];
    int64_t live = 0;
    std::vector<std::vector<size_t>> dying(all.size());
    std::set<size_t> living;
    for (size_t i = 0; i < all.size(); ++i) {
      const bool counts = !IsAlias(all[i]) && results.count(i) == 0;
      if (counts) {
        live += HloBytes(all[i].shape);
        living.insert(i);
        dying[last[i]].push_back(i);
      }
      int64_t inner = 0;
      std::vector<const Instruction*> inner_live;
      // One of the called computations runs at a time: the largest one counts.
      if (all[i].opcode == "while" || all[i].opcode == "call" || all[i].opcode == "conditional") {
        for (const absl::string_view called : all[i].called) {
          const Peak& of_called = Of(called);
          if (of_called.bytes <= inner) continue;
          inner = of_called.bytes;
          inner_live = of_called.live;
        }
      }
      // The values that die at this instruction are still its operands, so the peak is taken before
      // they are freed.
      if (live + inner > peak.bytes) {
        peak.bytes = live + inner;
        peak.live = inner_live;
        for (const size_t value : living) peak.live.push_back(&all[value]);
      }
      for (const size_t value : dying[i]) {
        live -= HloBytes(all[value].shape);
        living.erase(value);
      }
    }
    return peak;
  }

 private:
  // Whether the result is in the memory of the operands. Parameters and constants are in none here.
  bool IsAlias(const Instruction& instruction) const {
    static const auto* const kAliases = new std::set<absl::string_view>{
        "bitcast", "constant", "get-tuple-element",   "optimization-barrier", "parameter", "tuple",
        "while",   "call",     "dynamic-update-slice"};
    if (kAliases->count(instruction.opcode) > 0 || absl::EndsWith(instruction.opcode, "-start"))
      return true;
    if (instruction.opcode != "fusion" || instruction.called.empty()) return false;
    const auto called = computations_.find(instruction.called[0]);
    return called != computations_.end() && !called->second.instructions.empty() &&
           called->second.instructions.back().opcode == "dynamic-update-slice";
  }

  const Computations& computations_;
  std::map<absl::string_view, Peak> peaks_;
};

int64_t RoundUp(int64_t value, int64_t multiple) {
  return multiple <= 1 ? value : (value + multiple - 1) / multiple * multiple;
}

// The bytes of a type of HLO ("bf16", "pred") or of StableHLO ("ui8", "i1"); 0 if another one.
int64_t BytesOfType(absl::string_view type) {
  if (type == "pred" || type == "i1") return 1;
  int64_t bits = 0;
  const size_t digits = std::min(type.find_first_of("0123456789"), type.size());
  return absl::SimpleAtoi(type.substr(digits), &bits) ? bits / 8 : 0;
}

std::vector<int64_t> Numbers(absl::string_view text) {
  std::vector<int64_t> numbers;
  for (const absl::string_view part : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    int64_t number = 0;
    numbers.push_back(absl::SimpleAtoi(part, &number) ? number : 0);
  }
  return numbers;
}

// `layout` is the text between the braces: "1,0:T(8,128)(2,1)S(1)".
int64_t BytesOfArray(absl::string_view type, const std::vector<int64_t>& dims,
                     absl::string_view layout) {
  const size_t space = layout.find("S(");
  // Another space is on-chip memory, which does not count against the HBM.
  if (space != absl::string_view::npos && layout.substr(space, 4) != "S(0)") return 0;
  std::vector<int64_t> physical;  // the fastest axis first
  for (const int64_t axis : Numbers(layout.substr(0, layout.find(':')))) {
    if (axis >= 0 && static_cast<size_t>(axis) < dims.size())
      physical.push_back(dims[static_cast<size_t>(axis)]);
  }
  // Without a layout, the last axis is the fastest.
  if (physical.size() != dims.size()) physical.assign(dims.rbegin(), dims.rend());
  std::vector<int64_t> tile = Numbers(Between(layout, "T(", ')'));
  std::reverse(tile.begin(), tile.end());
  int64_t bytes = BytesOfType(type);
  for (size_t i = 0; i < std::max(physical.size(), tile.size()); ++i) {
    bytes *= RoundUp(i < physical.size() ? physical[i] : 1, i < tile.size() ? tile[i] : 1);
  }
  return bytes;
}

// "(u32[128,28,32]{2,1,0:T(8,128)}, /*index=1*/f32[32]{0})" -> "(u32[128,28,32], f32[32])"
std::string WithoutLayouts(absl::string_view shape) {
  std::string text;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == '{') {
      i = Closing(shape, i);
    } else if (absl::StartsWith(shape.substr(i), "/*")) {
      i = std::min(shape.find("*/", i), shape.size() - 2) + 1;
    } else {
      text.push_back(shape[i]);
    }
  }
  return text;
}

std::vector<LargeTensor> Largest(std::vector<LargeTensor> tensors, size_t count) {
  std::stable_sort(tensors.begin(), tensors.end(),
                   [](const LargeTensor& a, const LargeTensor& b) { return a.bytes > b.bytes; });
  if (tensors.size() > count) tensors.resize(count);
  return tensors;
}

}  // namespace

int64_t HloBytes(absl::string_view shape) {
  int64_t bytes = 0;
  for (size_t open = shape.find('['); open != absl::string_view::npos;
       open = shape.find('[', open + 1)) {
    size_t type = open;
    while (type > 0 && absl::ascii_isalnum(static_cast<unsigned char>(shape[type - 1]))) --type;
    const size_t close = shape.find(']', open);
    if (close == absl::string_view::npos) break;
    absl::string_view layout;
    if (close + 1 < shape.size() && shape[close + 1] == '{')
      layout = shape.substr(close + 2, Closing(shape, close + 1) - close - 2);
    bytes += BytesOfArray(shape.substr(type, open - type),
                          Numbers(shape.substr(open + 1, close - open - 1)), layout);
  }
  return bytes;
}

HloMemory MemoryOfHlo(StringArg hlo, size_t num_largest) {
  absl::string_view entry;
  const Computations computations = Parse(hlo, entry);
  HloMemory memory;
  const auto main = computations.find(entry);
  if (main == computations.end() || main->second.instructions.empty()) return memory;
  for (const Instruction& instruction : main->second.instructions) {
    if (instruction.opcode == "parameter") memory.arguments += HloBytes(instruction.shape);
  }
  memory.outputs = HloBytes(main->second.instructions.back().shape);
  Liveness liveness(computations);
  const Liveness::Peak& peak = liveness.Of(entry);
  memory.temporaries = peak.bytes;
  std::vector<LargeTensor> tensors;
  for (const Instruction* instruction : peak.live) {
    tensors.push_back({.op = std::string(instruction->op_name),
                       .shape = WithoutLayouts(instruction->shape),
                       .bytes = HloBytes(instruction->shape)});
  }
  memory.largest = Largest(std::move(tensors), num_largest);
  return memory;
}

namespace {

// "8x128xf32", the text in "tensor<8x128xf32>".
LargeTensor TensorOfType(absl::string_view type, absl::string_view op) {
  std::vector<absl::string_view> parts = absl::StrSplit(type, 'x');
  const absl::string_view element = parts.back();
  parts.pop_back();
  int64_t bytes = BytesOfType(element);
  for (const absl::string_view part : parts) {
    int64_t dim = 0;
    bytes = absl::SimpleAtoi(part, &dim) ? bytes * dim : 0;
  }
  return {.op = std::string(op),
          .shape = absl::StrCat(element, "[", absl::StrJoin(parts, ","), "]"),
          .bytes = bytes};
}

//   func.func public @main(%arg0: tensor<8xf32> {tf.aliasing_output = 0 : i32}, %arg1: ...
std::vector<LargeTensor> ArgumentsOf(absl::string_view line) {
  std::vector<LargeTensor> tensors;
  const size_t open = line.find('(');
  const absl::string_view list = line.substr(open, Closing(line, open) - open);
  for (const absl::string_view argument : absl::StrSplit(list, "%arg")) {
    const absl::string_view type = Between(argument, "tensor<", '>');
    if (type.empty()) continue;
    // An updated variable is donated.
    tensors.push_back(TensorOfType(type, absl::StrContains(argument, "tf.aliasing_output")
                                             ? "(a variable)"
                                             : "(an argument: the batches of a loop's steps)"));
  }
  return tensors;
}

}  // namespace

// %3 = stablehlo.add %1, %2 : tensor<8x128xf32> loc(#loc2)
// #loc2 = loc("dense/BiasAdd")
std::vector<LargeTensor> LargestInStableHlo(StringArg text, size_t num_largest) {
  std::map<absl::string_view, absl::string_view> names;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::StartsWith(line, "#loc")) continue;
    names[line.substr(0, line.find(' '))] = Between(line, "loc(\"", '"');
  }
  // The loop carries the same value through many ops: each op and shape is named once.
  std::set<std::pair<std::string, std::string>> seen;
  std::vector<LargeTensor> tensors;
  const auto add = [&](LargeTensor tensor) {
    if (seen.emplace(tensor.op, tensor.shape).second) tensors.push_back(std::move(tensor));
  };
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StrContains(line, "func.func public @main(")) {
      for (LargeTensor& argument : ArgumentsOf(line)) add(std::move(argument));
      continue;
    }
    const size_t begin = line.rfind("tensor<");
    if (begin == absl::string_view::npos || !absl::StrContains(line, " = ")) continue;
    const absl::string_view type = line.substr(begin + 7, line.find('>', begin) - begin - 7);
    absl::string_view op = Between(line, "loc(", ')');
    if (absl::StartsWith(op, "#")) op = names.count(op) > 0 ? names[op] : "";
    op = absl::StripPrefix(absl::StripSuffix(op, "\""), "\"");
    add(TensorOfType(type, op));
  }
  return Largest(std::move(tensors), num_largest);
}

}  // namespace estimator::tpu

// A filter chooses among the remarks by their codes, for the screen and for the file; it needs no --remarks.
// RUN: tinyc-opt --tiny-to-region --region-plan --remarks-filter=default --remarks-json=%t.json %s 2>&1 >/dev/null | filecheck %s --check-prefix=BOTH
// RUN: filecheck %s --check-prefix=JSON < %t.json
// A filter by kind lets only that kind through: "passed", "missed" or "analysis".
// RUN: tinyc-opt --tiny-to-region --region-plan --remarks-filter-passed=. %s 2>&1 >/dev/null | filecheck %s --check-prefix=BOTH
// RUN: tinyc-opt --tiny-to-region --region-plan --remarks-filter-missed=. --remarks-filter-analysis=. %s 2>&1 >/dev/null | filecheck %s --check-prefix=NOTHING --allow-empty
// RUN: tinyc-opt --tiny-to-region --region-plan --remarks-filter=^default %s 2>&1 >/dev/null | filecheck %s --check-prefix=NOTHING --allow-empty
// RUN: not tinyc-opt --remarks-filter="(" %s 2>&1 | filecheck %s --check-prefix=REGEX

// BOTH: remark: @elementwise_neg (region {{.*}}) gets the default plan: elementwise, {{.*}} [plan-default]
// JSON: "code": "plan-default", "kind": "passed"
// NOTHING-NOT: {{.}}
// REGEX: error: argument --remarks-filter: '(' is not a regular expression
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = "tiny.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

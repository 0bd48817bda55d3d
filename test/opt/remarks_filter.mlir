// A filter chooses among the remarks by their codes, for the screen and for the file; it needs no --remarks.
// RUN: tinyc-opt --tiny-to-index-book --tiny-to-region --remarks-filter=applicable --remarks-json=%t.json %s 2>&1 >/dev/null | filecheck %s --check-prefix=BOTH
// RUN: filecheck %s --check-prefix=JSON < %t.json
// A filter by kind lets only that kind through: "passed", "missed" or "analysis".
// RUN: tinyc-opt --tiny-to-region --remarks-filter-missed=. %s 2>&1 >/dev/null | filecheck %s --check-prefix=BOTH
// RUN: tinyc-opt --tiny-to-region --remarks-filter-passed=. --remarks-filter-analysis=. %s 2>&1 >/dev/null | filecheck %s --check-prefix=NOTHING --allow-empty
// RUN: tinyc-opt --tiny-to-region --remarks-filter=^applicable %s 2>&1 >/dev/null | filecheck %s --check-prefix=NOTHING --allow-empty
// RUN: not tinyc-opt --remarks-filter="(" %s 2>&1 | filecheck %s --check-prefix=REGEX

// BOTH: remark: 'tiny-to-region' finds no tiny op [pass-not-applicable]
// JSON: "code": "pass-not-applicable", "kind": "missed"
// NOTHING-NOT: {{.}}
// REGEX: error: argument --remarks-filter: '(' is not a regular expression
func.func @f() {
  return
}

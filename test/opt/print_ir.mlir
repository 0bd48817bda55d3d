// The IR is printed to stderr around the passes that are asked for, under mlir-opt's headings.
// RUN: %sample-opt --sample-rename --cse --mlir-print-ir-before=sample-rename %s 2>&1 >/dev/null | filecheck %s --check-prefix=BEFORE
// RUN: %sample-opt --sample-rename --cse --mlir-print-ir-after=sample-rename,cse %s 2>&1 >/dev/null | filecheck %s --check-prefix=AFTER
// RUN: %sample-opt --sample-rename --cse --mlir-print-ir-before-all %s 2>&1 >/dev/null | filecheck %s --check-prefix=BEFORE-ALL
// RUN: %sample-opt --sample-rename --cse --mlir-print-ir-after-all %s 2>&1 >/dev/null | filecheck %s --check-prefix=AFTER
// RUN: %sample-opt --sample-rename --cse --mlir-print-ir-after-change %s 2>&1 >/dev/null | filecheck %s --check-prefix=CHANGE

// BEFORE: // -----// IR Dump Before SampleRename (sample-rename) //----- //
// BEFORE: func.func @f()
// BEFORE-NOT: IR Dump

// A pass that did nothing says so.
// AFTER: // -----// IR Dump After SampleRename (sample-rename) //----- //
// AFTER-NEXT: module {
// AFTER-NEXT: func.func @new_f()
// AFTER: // -----// IR Dump After cse (cse) //----- //
// AFTER-NEXT: // (unchanged)
// AFTER-NEXT: module {

// BEFORE-ALL: IR Dump Before SampleRename
// BEFORE-ALL: IR Dump Before cse

// CHANGE: IR Dump After SampleRename (sample-rename)
// CHANGE-NOT: IR Dump
// CHANGE: // cse (cse): (unchanged)
func.func @f() {
  return
}

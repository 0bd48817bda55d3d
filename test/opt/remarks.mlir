// Remarks go to stderr and to a file of JSON lines when they are asked for, and nowhere otherwise.
// RUN: %sample-opt --sample-remark --remarks --remarks-json=%t.json %s 2>&1 >/dev/null | filecheck %s
// RUN: filecheck %s --check-prefix=JSON < %t.json
// RUN: %sample-opt --sample-remark %s 2>&1 >/dev/null | filecheck %s --check-prefix=NOTHING --allow-empty
// RUN: not tinyc-opt --remarks-json=%t.none/file %s 2>&1 >/dev/null | filecheck %s --check-prefix=NO-FOLDER

// CHECK: remarks.mlir:[[# @LINE + 4]]:1: remark: saw f [seen]
// NOTHING-NOT: {{.}}
// JSON: {"code": "seen", "kind": "analysis", "where": "{{.*}}remarks.mlir:[[# @LINE + 2]]:1", "message": "saw f", "evidence": {"results": 0}}
// NO-FOLDER: error: cannot write '{{.*}}': No such file or directory [TC308 UnreadableFile]
func.func @f() {
  return
}

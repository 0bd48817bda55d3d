// The version names tinyc's and that of the bindings.
// RUN: %alone tinyc-opt --version | filecheck %s

// CHECK: tinyc {{[0-9]+\.[0-9]+}}{{.*}}MLIR bindings: {{.+ [0-9.]+}}

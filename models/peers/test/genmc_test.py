#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of this project in folders as GenMC has them, for a test of `./kit verify --genmc`: writes them, and checks them."""
import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

FILES = {
    "tests/correct/litmus/handed_over/variants/handed_over.c": """\
/* One thread hands a value over, with or without an acquire. Two executions have no race: ready is seen, or is not. */
#include <genmc.h>
#include <stdatomic.h>

#include "order.h"

static int value;
static atomic_int ready;

static void* write_value(void* unused) {
  value = 1;
  __VERIFIER_optional(atomic_store_explicit(&ready, 1, memory_order_release););
  return unused;
}

int main(void) {
  __VERIFIER_spawn(&write_value, NULL);
  if (atomic_load_explicit(&ready, ORDER) == 1) __VERIFIER_assume(value == 1);
  return 0;
}
""",
    "tests/correct/litmus/handed_over/order.h": """\
#pragma once
#ifdef RELAXED
#define ORDER memory_order_relaxed
#else
#define ORDER memory_order_acquire
#endif
""",
    "tests/correct/litmus/handed_over/args.rc11.mo.in": """\
-unroll=3 | -I./tests/correct/litmus/handed_over
-disable-race-detection | -I./tests/correct/litmus/handed_over/ -DRELAXED
""",
    "tests/correct/litmus/handed_over/expected.rc11.mo.in": """\
2
2
""",
    "tests/correct/litmus/waits_for_ever/variants/waits_for_ever.c": """\
/* No execution comes to its end. */
#include <genmc.h>

int main(void) {
  __VERIFIER_assume(0);
  return 0;
}
""",
    "tests/correct/litmus/waits_for_ever/expected.rc11.mo.in": """\
0
""",
    "tests/wrong/memory/freed_twice/variants/freed_twice.c": """\
#include <stdlib.h>

int main(void) {
  int* const memory = (int*)malloc(sizeof *memory);
  free(memory);
  free(memory);
  return 0;
}
""",
    "genmc.toml": """\
source = "this folder"
groups = ["correct/litmus", "wrong/memory"]
options = []

[[reasons]]
name = "race"
text = "GenMC is told not to look for data races"
[reasons.tests]
"litmus/handed_over -DRELAXED" = "FAIL: data race"
""",
}


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tool", required=True)
    o = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            file = Path(folder) / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        genmc = Path(__file__).resolve().parent.parent / "genmc.py"
        return subprocess.run([sys.executable, "-B", genmc, "--tool", o.tool, "--table", Path(folder) / "genmc.toml", folder], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

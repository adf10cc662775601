/* SPDX-License-Identifier: MIT */
/* A library of a user's, which the test compiles without instrumentation. */
static int counter;
void bump(void) { ++counter; }
void never_called(void) { --counter; }

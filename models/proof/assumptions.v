(* SPDX-License-Identifier: MIT *)
(* What the theorems rest on besides the definitions. prove.py fails unless the answer is "Closed under the global context". *)
Require Import ring invariant theorems header.

Definition everything :=
  (invariant_of_every_run,
   values_of_a_claim,
   contents_are_visible,
   claimed_once,
   first_in_first_out,
   nothing_lost,
   no_overwriting,
   a_queue,
   owners_empty,
   thiefs_empty,
   the_ring_never_overflows,
   a_claim_that_can_succeed_read_the_elements,
   drain_reads_what_it_claimed,
   a_thief_publishes_all_but_the_newest,
   empty_leaves_no_known_element,
   a_claim_counts_elements_that_are_there).

Print Assumptions everything.

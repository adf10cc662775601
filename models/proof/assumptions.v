(* SPDX-License-Identifier: MIT *)
(* What the theorems rest on besides the definitions. prove.py fails unless the answer is "Closed under the global context". *)
Require litmus.
Require Import ring invariant theorems sizes wrap header counterexamples replay.

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
   a_claim_counts_elements_that_are_there,
   steal_half_takes_half, steal_half_into_takes_at_most_half, steal_takes_one, shed_takes_half_of_all, drain_takes_all,
   a_wrapped_count_has_the_same_slot, wrapped_counts_are_as_far_apart, equal_wrapped_counts_are_far_apart,
   push_publish_must_release, push_batch_publish_must_release, steal_publish_must_release,
   steal_tail_must_acquire, steal_tail_must_acquire_for_half, steal_tail_must_acquire_for_half_into,
   pop_claim_must_release, shed_claim_must_release,
   steal_claim_must_release, steal_claim_must_release_for_half, steal_claim_must_release_for_half_into,
   steal_head_must_acquire, steal_head_must_acquire_for_half, steal_head_must_acquire_for_half_into,
   steal_head_must_acquire_for_has_work,
   the_header_forbids_these_runs, the_header_forbids_these_answers,
   an_accepted_graph_is_a_run, accepted_graphs_are_runs,
   litmus.store_buffering, litmus.load_buffering, litmus.message_passing, litmus.message_passing_release_acquire,
   litmus.iriw_release_acquire, litmus.coherence, litmus.wrc, litmus.wrc_release_acquire, litmus.two_plus_two_w,
   litmus.stale_failed_cas, litmus.stale_depth, litmus.release_sequence_same_thread, litmus.release_sequence_rmw).

Print Assumptions everything.

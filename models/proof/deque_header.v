(* SPDX-License-Identifier: MIT *)
(* The orders of runq/chase_lev.hpp, and the lines of each of its functions. tie.py compares both with the header. *)
Require Import List String Bool Arith.
Require Import memory deque deque_invariant deque_theorems deque_answers deque_arrays.
Import ListNotations.
Open Scope string_scope.
Open Scope list_scope.

Definition header (x : site) : order :=
  match x with
  | push_publish | push_batch_publish | grow_publish => release
  | pop_reserve | pop_restore | pop_reset => release
  | push_top | steal_bottom | steal_array | has_work_top | has_work_bottom => acquire
  | pop_fence | steal_fence | pop_claim | steal_claim => seq_cst
  | _ => relaxed
  end.

(* A weaker order at one of the sites that the theorems need makes one of these three fail. *)
Lemma the_header_is_enough_for_elements : enough_for_elements header = true.
Proof. reflexivity. Qed.
Lemma the_header_is_enough_for_has_work : enough_for_has_work header = true.
Proof. reflexivity. Qed.
Lemma the_header_is_enough_for_arrays : enough_for_arrays header = true.
Proof. reflexivity. Qed.

(* The theorems of the header as it ships, with any capacity of the first array, made by the constructor or by the first push. *)
Section shipped.
Variable first_capacity : nat.
Hypothesis capacity_positive : 0 < first_capacity.
Variable first_array owner : nat.
Variable s : state.
Hypothesis a_run : reachable first_capacity first_array header owner s.

Notation shipped theorem :=
  (theorem first_capacity capacity_positive first_array header owner the_header_is_enough_for_elements s a_run) (only parsing).
Definition values_of_a_take := shipped a_take_returns_what_was_pushed.
Definition contents_are_visible := shipped the_taker_sees_what_the_pusher_saw.
Definition numbered := shipped pushes_are_numbered.
Definition none_lost := shipped no_element_is_lost.
Definition none_twice := shipped no_element_is_taken_twice.
Definition never_overflows := shipped the_deque_never_overflows.
Definition claims_read_the_element := shipped a_claim_that_can_succeed_read_the_element.
Definition pops_empty := shipped pop_finds_nothing_in_an_empty_deque.
Definition pops_the_newest := shipped a_pop_of_one_of_several_takes_the_newest.
Definition a_deque := shipped every_step_is_a_deque_step.
Definition askers_see_claims i t k j :=
  who_asks_sees_what_the_claimers_saw first_capacity capacity_positive first_array header owner
    the_header_is_enough_for_elements the_header_is_enough_for_has_work s i t k j a_run.
Definition thieves_see_an_array i t a :=
  a_thief_that_sees_an_element_sees_an_array first_capacity capacity_positive first_array header owner
    the_header_is_enough_for_elements the_header_is_enough_for_arrays s i t a a_run.
End shipped.

(* ---- The lines, as text ---- *)

Definition name_of (x : site) : string :=
  match x with
  | push_bottom => "push.bottom" | push_array => "push.array" | push_slot => "push.slot" | push_publish => "push.publish"
  | push_top => "push.top"
  | push_batch_bottom => "push_batch.bottom" | push_batch_array => "push_batch.array" | push_batch_slot => "push_batch.slot"
  | push_batch_publish => "push_batch.publish"
  | grow_old => "grow.old" | grow_new => "grow.new" | grow_publish => "grow.publish"
  | pop_bottom => "pop.bottom" | pop_array => "pop.array" | pop_reserve => "pop.reserve" | pop_fence => "pop.fence"
  | pop_top => "pop.top" | pop_restore => "pop.restore" | pop_slot => "pop.slot" | pop_claim => "pop.claim"
  | pop_reset => "pop.reset"
  | steal_top => "steal.top" | steal_fence => "steal.fence" | steal_bottom => "steal.bottom" | steal_array => "steal.array"
  | steal_slot => "steal.slot" | steal_claim => "steal.claim"
  | has_work_top => "has_work.top" | has_work_bottom => "has_work.bottom"
  end.
Definition text_of (o : order) : string :=
  match o with
  | relaxed => "relaxed" | acquire => "acquire" | release => "release" | acq_rel => "acq_rel" | seq_cst => "seq_cst"
  end.
Definition location_text (l : location) : string :=
  match l with Top => "top" | Bottom => "bottom" | Array => "array" | Slot _ _ => "slot" end.
Definition fence_text (x : site) : string := match x with pop_fence => "light_fence" | _ => "heavy_fence" end.

(* The sites that one path through the code passes, with what they do: arrays of 2 slots and more, a bottom of 4, and a top
   that the caller gives. *)
Fixpoint walk (top steps : nat) (p : point) : list string :=
  let answer l := match l with Top => top | Bottom => 4 | Array => 1 | Slot _ _ => 7 end in
  match steps with
  | 0 => []
  | S steps =>
      match code 2 0 p with
      | Stop => []
      | Local next => walk top steps next
      | Allocate made _ => walk top steps made
      | Fence x next => (name_of x ++ " " ++ fence_text x ++ " " ++ text_of (header x))%string :: walk top steps next
      | Load x l next => (name_of x ++ " load " ++ location_text l ++ " " ++ text_of (header x))%string :: walk top steps (next (answer l))
      | Store x l v next => (name_of x ++ " store " ++ location_text l ++ " " ++ text_of (header x))%string :: walk top steps next
      | Claim x l e d won lost =>
          (name_of x ++ " compare_exchange_strong " ++ location_text l ++ " " ++ text_of (header x) ++ " else relaxed")%string
            :: walk top steps won
      end
  end.
Fixpoint once (seen l : list string) : list string :=
  match l with
  | [] => []
  | a :: l => if existsb (String.eqb a) seen then once seen l else a :: once (a :: seen) l
  end.
(* The paths at these tops together reach all lines of each function. *)
Definition lines (p : point) (tops : list nat) : list string := once [] (flat_map (fun top => walk top 100 p) tops).

Definition table : list (string * list string) :=
  [ ("push", lines (PushBottom Push [7]) [1]);
    ("push_batch", lines (PushBottom PushBatch [7; 8]) [1]);
    ("pop", lines PopBottom [4; 3]);
    ("steal", lines StealTop [1]);
    ("has_work", lines AskTop [1]) ].

(* prove.py reads this. *)
Eval vm_compute in table.

(* SPDX-License-Identifier: MIT *)
(* The orders of runq/ring.hpp, and the lines of each of its functions. tie.py compares both with the header. *)
Require Import List String Bool Arith.
Require Import memory ring invariant theorems.
Import ListNotations.
Open Scope string_scope.
Open Scope list_scope.

Definition header (x : site) : order :=
  match x with
  | push_publish | push_batch_publish | steal_publish => release
  | pop_claim | drain_claim | shed_claim | steal_claim => release
  | room_head | steal_head | steal_tail => acquire
  | _ => relaxed
  end.

(* A weaker order at one of the sites that the theorems need makes one of these two fail. *)
Lemma the_header_is_enough_for_values : enough_for_values header = true.
Proof. reflexivity. Qed.
Lemma the_header_is_enough_for_empty : enough_for_empty header = true.
Proof. reflexivity. Qed.

(* The theorems of the header as it ships, with any capacity, and any owners. *)
Section shipped.
Variable capacity : nat.
Hypothesis capacity_positive : 0 < capacity.
Variable owner : nat -> nat.
Variable s : state.
Hypothesis a_run : reachable capacity header owner s.

Definition values_of_a_claim := a_claim_takes_what_was_pushed_there capacity capacity_positive header owner the_header_is_enough_for_values s.
Definition contents_are_visible := the_claimer_sees_what_the_pusher_saw capacity capacity_positive header owner the_header_is_enough_for_values s.
Definition claimed_once := no_position_is_claimed_twice capacity capacity_positive header owner the_header_is_enough_for_values s.
Definition first_in_first_out := claims_take_the_pushes_in_order capacity capacity_positive header owner the_header_is_enough_for_values s.
Definition nothing_lost := what_was_pushed_is_claimed_or_in_the_ring capacity capacity_positive header owner the_header_is_enough_for_values s.
Definition no_overwriting :=
  an_unclaimed_element_is_the_newest_in_its_slot capacity capacity_positive header owner the_header_is_enough_for_values s.
Definition a_queue := every_step_is_a_queue_step capacity capacity_positive header owner the_header_is_enough_for_values s.
Definition owners_empty := pop_says_empty_of_an_empty_ring capacity capacity_positive header owner the_header_is_enough_for_values s.
Definition thiefs_empty a :=
  empty_was_true_after_the_last_claim capacity capacity_positive header owner the_header_is_enough_for_values s a
    the_header_is_enough_for_empty.
End shipped.

(* ---- The lines, as text ---- *)

Definition name_of (x : site) : string :=
  match x with
  | push_tail => "push.tail" | push_slot => "push.slot" | push_publish => "push.publish"
  | push_batch_tail => "push_batch.tail" | push_batch_slot => "push_batch.slot"
  | push_batch_publish => "push_batch.publish"
  | pop_tail => "pop.tail" | pop_head => "pop.head" | pop_slot => "pop.slot" | pop_claim => "pop.claim"
  | drain_tail => "drain.tail" | drain_head => "drain.head" | drain_claim => "drain.claim" | drain_slot => "drain.slot"
  | shed_head => "shed.head" | shed_tail => "shed.tail" | shed_slot => "shed.slot" | shed_claim => "shed.claim"
  | room_head => "room.head"
  | steal_head => "steal.head" | steal_tail => "steal.tail" | steal_own_tail => "steal.own_tail"
  | steal_slot => "steal.slot" | steal_own_slot => "steal.own_slot"
  | steal_claim => "steal.claim" | steal_publish => "steal.publish"
  end.
Definition text_of (o : order) : string :=
  match o with relaxed => "relaxed" | acquire => "acquire" | release => "release" | acq_rel => "acq_rel" | seq_cst => "seq_cst" end.
Definition location_text (own : nat) (l : location) : string :=
  match l with
  | Head r => if Nat.eqb r own then "head" else "own head"
  | Tail r => if Nat.eqb r own then "tail" else "own tail"
  | Slot r _ => if Nat.eqb r own then "slot" else "own slot"
  end.

(* The sites that one path through the code passes, with what they do. The path reaches all lines of each function: rings of 4
   slots, heads of 1 and tails of 4, a remembered head of 0. *)
Definition answer (l : location) : nat := match l with Head _ => 1 | Tail _ => 4 | Slot _ _ => 7 end.
Fixpoint walk (steps : nat) (p : point) : list string :=
  match steps with
  | 0 => []
  | S steps =>
      match code 4 (fun _ => 0) p with
      | Stop => []
      | Local next => walk steps next
      | Load x l next => (name_of x ++ " load " ++ location_text 0 l ++ " " ++ text_of (header x))%string :: walk steps (next (answer l) 0)
      | Store x l v next => (name_of x ++ " store " ++ location_text 0 l ++ " " ++ text_of (header x))%string :: walk steps (next 0)
      | Claim x l e d weak won lost =>
          (name_of x ++ " compare_exchange_" ++ (if weak then "weak" else "strong") ++ " " ++ location_text 0 l ++ " " ++
           text_of (header x) ++ " else relaxed")%string :: walk steps won
      end
  end.
Fixpoint once (seen l : list string) : list string :=
  match l with
  | [] => []
  | a :: l => if existsb (String.eqb a) seen then once seen l else a :: once (a :: seen) l
  end.
Definition lines (p : point) : list string := once [] (walk 100 p).

Definition table : list (string * list string) :=
  [ ("push", lines (PushTail Push 0 [7]));
    ("push_batch", lines (PushTail PushBatch 0 [7; 8]));
    ("pop", lines (PopTail 0));
    ("shed", lines (TakeHead (Shed 2) 0));
    ("drain", lines (DrainTail 0));
    ("steal_half_into", lines (TakeHead (StealInto 1 3) 0));
    ("steal_half", lines (TakeHead (StealOut 3) 0));
    ("steal", lines (TakeHead StealOne 0));
    ("observe", lines (TakeHead Observe 0)) ].

(* prove.py reads this. *)
Eval vm_compute in table.

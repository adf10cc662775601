(* SPDX-License-Identifier: MIT *)
(* Runs of the deque that go wrong with one order weaker: the theorems need these orders. Each run is computed, line by line. *)
Require Import List Arith Bool.
Require Import memory deque deque_invariant deque_theorems deque_answers deque_arrays deque_header.
Import ListNotations.
Open Scope list_scope.

Definition site_eq : forall a b : site, {a = b} + {a <> b}.
Proof. decide equality. Defined.
Definition weakened (x : site) : site -> order := fun y => if site_eq y x then relaxed else header y.

(* Thread 0 is the owner. The first array has two slots; 1: the constructor makes it, 0: the first push. *)
Definition after_from (first : nat) {A} (orders : site -> order) (look : state -> A) (todo : list (nat * action)) : option A :=
  option_map look (run (step 2 orders 0) (initial first) todo).
Definition after {A} := @after_from 1 A.

Lemma a_run_shows first {A} orders (look : state -> A) todo a :
  after_from first orders look todo = Some a -> exists s, reachable 2 first orders 0 s /\ look s = a.
Proof.
  unfold after_from. destruct (run (step 2 orders 0) (initial first) todo) as [s |] eqn:E; [| discriminate].
  intro H. injection H as H. exists s. split; [eapply run_reaches; [apply reachable_initial | exact E] | exact H].
Qed.

(* Thread i goes on, at these timestamps. *)
Definition goes (i : nat) (at_ : list nat) : list (nat * action) := map (fun a => (i, Go a false)) at_.

(* The owner pushes v: it reads the bottom at timestamp n, and stores the next; the slot is fresh. *)
Definition pushes (k : push_kind) (v n : nat) : list (nat * action) := (0, Call (PushBottom k [v])) :: goes 0 [n; 0; 1; S n].
(* A thief steals: it reads top, fences, reads bottom, array and slot, and claims. *)
Definition steals (i : nat) (at_ : list nat) : list (nat * action) := (i, Call StealTop) :: goes i at_.

(* What was pushed, and what was got for it; and the numbers of the elements. *)
Definition pushed_and_got (s : state) := map (fun k => (what (taken_element k), got k)) (taken s).
Definition numbers (s : state) := map (fun k => number (taken_element k)) (taken s).

(* ---- Values: 7 was pushed, and a thief gets the 0 that was in the slot before. `values_of_a_take` rules it out. ---- *)

Definition wrong_value (x : site) : Prop :=
  exists s, reachable 2 1 (weakened x) 0 s /\ pushed_and_got s = [(7, 0)].

Definition stale_slot (k : push_kind) : list (nat * action) := pushes k 7 0 ++ steals 1 [0; 0; 1; 0; 0; 0].
Lemma push_publish_must_release : wrong_value push_publish.
Proof. apply a_run_shows with (todo := stale_slot Push). reflexivity. Qed.
Lemma push_batch_publish_must_release : wrong_value push_batch_publish.
Proof. apply a_run_shows with (todo := stale_slot PushBatch). reflexivity. Qed.
Lemma steal_bottom_must_acquire : wrong_value steal_bottom.
Proof. apply a_run_shows with (todo := stale_slot Push). reflexivity. Qed.

(* The thief reads the bottom that a pop of the second element has reserved. *)
Definition stale_reservation : list (nat * action) :=
  pushes Push 7 0 ++ pushes Push 8 1 ++ (0, Call PopBottom) :: goes 0 [2; 0; 3] ++ steals 1 [0; 0; 3; 0; 0; 0].
Lemma pop_reserve_must_release : wrong_value pop_reserve.
Proof. apply a_run_shows with (todo := stale_reservation). reflexivity. Qed.

(* The array grows, and a thief reads the new one before its contents: the array published relaxed. The lines of the push:
   bottom, array, top, the allocation, two copies of a load and a store, the end of the loop, the publishing. *)
Definition stale_array : list (nat * action) :=
  pushes Push 7 0 ++ pushes Push 8 1 ++
  (0, Call (PushBottom Push [9])) :: goes 0 [2; 0; 0; 0; 1; 1; 1; 1; 0; 1] ++ steals 1 [0; 0; 2; 1; 0; 0].
Lemma grow_publish_must_release : wrong_value grow_publish.
Proof. apply a_run_shows with (todo := stale_array). reflexivity. Qed.
Lemma steal_array_must_acquire : wrong_value steal_array.
Proof. apply a_run_shows with (todo := stale_array). reflexivity. Qed.

(* ---- Both take the last element: `none_twice` rules it out. ---- *)

Definition taken_twice (x : site) : Prop := exists s, reachable 2 1 (weakened x) 0 s /\ numbers s = [0; 1; 1].

(* Elements 0 and 1; a thief has taken 0. The owner reserves 1, fences, and reads the top as it was at first, so it takes 1 without a
   compare-exchange. The thief has read the new top, and reads the bottom as it was before the reservation: it takes 1, too. *)
Definition two_and_a_steal : list (nat * action) := pushes Push 7 0 ++ pushes Push 8 1 ++ steals 1 [0; 0; 2; 0; 1; 0].
Definition pops_with_an_old_top : list (nat * action) := (0, Call PopBottom) :: goes 0 [2; 0; 3; 0; 0; 1].

(* The thief has fenced before the owner. *)
Definition fenced_before : list (nat * action) :=
  two_and_a_steal ++ steals 1 [1; 0] ++ pops_with_an_old_top ++ goes 1 [2; 0; 1; 1].
(* The thief has fenced after the owner. *)
Definition fenced_after : list (nat * action) :=
  two_and_a_steal ++ pops_with_an_old_top ++ steals 1 [1; 0; 2; 0; 1; 1].
Lemma pop_fence_must_be_seq_cst : taken_twice pop_fence.
Proof. apply a_run_shows with (todo := fenced_before). reflexivity. Qed.
Lemma steal_fence_must_be_seq_cst : taken_twice steal_fence.
Proof. apply a_run_shows with (todo := fenced_after). reflexivity. Qed.

(* ---- Who asks and finds nothing does not see what the taker had seen: `askers_see_claims` rules it out. ---- *)

(* Thread 2 reads the top that the claim wrote, and has not seen the bottom that the claimer had seen. *)
Definition claims_and_asker (s : state) :=
  (map (fun k => (claimed_at k, taken_with k Bottom)) (taken s), points s 2, views s 2 Bottom).
Definition claim_unseen (x : site) (bottom_seen : nat) : Prop :=
  exists s, reachable 2 1 (weakened x) 0 s /\ claims_and_asker s = ([(Some 1, bottom_seen)], AskBottom 2, 0).

Definition asks : list (nat * action) := (2, Call AskTop) :: goes 2 [1].
Definition stolen_and_asked : list (nat * action) := pushes Push 7 0 ++ steals 1 [0; 0; 1; 0; 1; 0] ++ asks.
Definition popped_and_asked : list (nat * action) :=
  pushes Push 7 0 ++ (0, Call PopBottom) :: goes 0 [1; 0; 2; 0; 0; 1; 0] ++ asks.
Lemma steal_claim_must_release : claim_unseen steal_claim 1.
Proof. apply a_run_shows with (todo := stolen_and_asked). reflexivity. Qed.
Lemma pop_claim_must_release : claim_unseen pop_claim 2.
Proof. apply a_run_shows with (todo := popped_and_asked). reflexivity. Qed.
Lemma has_work_top_must_acquire : claim_unseen has_work_top 1.
Proof. apply a_run_shows with (todo := stolen_and_asked). reflexivity. Qed.
Lemma the_header_shows_the_claims :
  after header claims_and_asker stolen_and_asked = Some ([(Some 1, 1)], AskBottom 2, 1) /\
  after header claims_and_asker popped_and_asked = Some ([(Some 1, 2)], AskBottom 2, 2).
Proof. split; reflexivity. Qed.

(* ---- A thief that sees an element finds no array: `thieves_see_an_array` rules it out. ---- *)

(* A thief reads the first top and fences. Then the owner pushes its first element, which makes the array, and pops it; and pops again. The
   thief reads the bottom that the first pop has reset, or the second has restored, and the array as it was at first. *)
Definition looks : list (nat * action) := (1, Call StealTop) :: goes 1 [0; 0].
Definition pushes_and_pops : list (nat * action) :=
  (0, Call (PushBottom Push [7])) :: goes 0 [0; 0; 0; 0; 1; 1; 1] ++ (0, Call PopBottom) :: goes 0 [1; 1; 2; 0; 0; 1; 0; 3].
Definition after_a_reset : list (nat * action) := looks ++ pushes_and_pops ++ goes 1 [3; 0].
Definition after_a_restore : list (nat * action) :=
  looks ++ pushes_and_pops ++ (0, Call PopBottom) :: goes 0 [3; 1; 4; 0; 1; 5] ++ goes 1 [5; 0].
Definition no_array (x : site) : Prop := exists s, reachable 2 0 (weakened x) 0 s /\ points s 1 = StealSlot 1 0.
Lemma pop_reset_must_release : no_array pop_reset.
Proof. apply a_run_shows with (todo := after_a_reset). reflexivity. Qed.
Lemma pop_restore_must_release : no_array pop_restore.
Proof. apply a_run_shows with (todo := after_a_restore). reflexivity. Qed.
Lemma the_header_shows_an_array :
  after_from 0 header (fun s => points s 1) after_a_reset = None /\
  after_from 0 header (fun s => points s 1) after_a_restore = None.
Proof. split; reflexivity. Qed.

(* ---- Which orders the proof asks for ---- *)

(* With one of these relaxed, the lemma of that name on the header fails; with any other one relaxed, all three hold. *)
Definition asked_for_elements : list site :=
  [push_publish; push_batch_publish; grow_publish; pop_reserve; pop_fence; steal_fence; steal_bottom; steal_array].
Definition asked_for_has_work : list site := [pop_claim; steal_claim; has_work_top].
Definition asked_for_arrays : list site := [pop_restore; pop_reset].
Definition among (l : list site) (x : site) : bool := existsb (fun y => if site_eq x y then true else false) l.
Lemma the_proof_asks_for_no_other_order x :
  enough_for_elements (weakened x) = negb (among asked_for_elements x) /\
  enough_for_has_work (weakened x) = negb (among asked_for_has_work x) /\
  enough_for_arrays (weakened x) = negb (among asked_for_arrays x).
Proof. destruct x; repeat split; reflexivity. Qed.

(* With the orders of the header the machine has no such step. *)
Lemma the_header_forbids_these_runs :
  after header pushed_and_got (stale_slot Push) = None /\
  after header pushed_and_got (stale_slot PushBatch) = None /\
  after header pushed_and_got stale_reservation = None /\
  after header pushed_and_got stale_array = None /\
  after header numbers fenced_before = None /\
  after header numbers fenced_after = None.
Proof. repeat split; reflexivity. Qed.
(* But the same thief may read the slot as the push left it; and owner and thief may share out the two elements. *)
Lemma the_header_allows_the_right_runs :
  after header pushed_and_got (pushes Push 7 0 ++ steals 1 [0; 0; 1; 0; 1; 0]) = Some [(7, 7)] /\
  after header numbers (two_and_a_steal ++ pops_with_an_old_top) = Some [0; 1].
Proof. split; reflexivity. Qed.

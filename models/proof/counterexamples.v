(* SPDX-License-Identifier: MIT *)
(* Runs that go wrong with one order weaker: the theorems need these orders. Each run is computed, line by line. *)
Require Import List Arith Bool.
Require Import memory ring invariant theorems header.
Import ListNotations.
Open Scope list_scope.

Definition site_eq : forall a b : site, {a = b} + {a <> b}.
Proof. decide equality. Defined.
Definition weakened (x : site) : site -> order := fun y => if site_eq y x then relaxed else header y.

(* Ring r belongs to thread r; two slots. *)
Definition owner (r : nat) : nat := r.
Definition after {A} (orders : site -> order) (look : state -> A) (todo : list (nat * action)) : option A :=
  option_map look (run (step 4 orders owner) initial todo).

Lemma a_run_shows {A} orders (look : state -> A) todo a :
  after orders look todo = Some a -> exists s, reachable 4 orders owner s /\ look s = a.
Proof.
  unfold after. destruct (run (step 4 orders owner) initial todo) as [s |] eqn:E; [| discriminate].
  intro H. injection H as H. exists s. split; [eapply run_reaches; [apply reachable_initial | exact E] | exact H].
Qed.

(* Thread i goes on, at these timestamps. *)
Definition goes (i : nat) (at_ : list nat) : list (nat * action) := map (fun a => (i, Go a false)) at_.

(* The owner of ring r pushes one value: its tail is at timestamp n, and goes to n + 1. Slots are fresh. *)
Definition pushes (k : push_kind) (r v n : nat) : list (nat * action) :=
  (r, Call (PushTail k r [v])) :: goes r [n; 0; 1; 0; S n].

(* ---- Values ---- *)

(* The first push of 7, then a thief reads head, the new tail, and the slot as it was before the push: 0. *)
Definition what_and_taken (r : nat) (s : state) := (map what (pushed s r), map taken (claims s r)).

Definition stale_slot (push : push_kind) (k : take_kind) (steps : list nat) : list (nat * action) :=
  pushes push 0 7 0 ++ (1, Call (TakeHead k 0)) :: goes 1 steps.

(* The pushed 7, and the 0 that a claim returned, is what first_in_first_out rules out. *)
Definition wrong_value (x : site) (r : nat) : Prop :=
  exists s, reachable 4 (weakened x) owner s /\ what_and_taken r s = ([7], [[0]]).

Lemma push_publish_must_release : wrong_value push_publish 0.
Proof. apply a_run_shows with (todo := stale_slot Push StealOne [0; 1; 0; 0; 0]). reflexivity. Qed.
Lemma push_batch_publish_must_release : wrong_value push_batch_publish 0.
Proof. apply a_run_shows with (todo := stale_slot PushBatch StealOne [0; 1; 0; 0; 0]). reflexivity. Qed.
(* In every way to steal. The lines of the last: head, tail, own tail, room, (no slot but) the newest, claim. *)
Lemma steal_tail_must_acquire : wrong_value steal_tail 0.
Proof. apply a_run_shows with (todo := stale_slot Push StealOne [0; 1; 0; 0; 0]). reflexivity. Qed.
Lemma steal_tail_must_acquire_for_half : wrong_value steal_tail 0.
Proof. apply a_run_shows with (todo := stale_slot Push (StealOut 4) [0; 1; 0; 0; 0]). reflexivity. Qed.
Lemma steal_tail_must_acquire_for_half_into : wrong_value steal_tail 0.
Proof. apply a_run_shows with (todo := stale_slot Push (StealInto 1 4) [0; 1; 0; 0; 0; 0; 0]). reflexivity. Qed.

(* A thief of a thief: thread 1 takes 7 and 8 of 7, 8, 9, and publishes 7 in its own ring; thread 2 steals it from there. *)
Definition thief_of_a_thief : list (nat * action) :=
  (0, Call (PushTail PushBatch 0 [7; 8; 9])) :: goes 0 [0; 0; 1; 1; 1; 0; 1] ++
  (1, Call (TakeHead (StealInto 1 4) 0)) :: goes 1 [0; 1; 0; 0; 1; 1; 0; 1; 0; 1] ++
  (2, Call (TakeHead StealOne 1)) :: goes 2 [0; 1; 0; 0; 0].
Lemma steal_publish_must_release : wrong_value steal_publish 1.
Proof. apply a_run_shows with (todo := thief_of_a_thief). reflexivity. Qed.

(* With the orders of the header the machine has no such step. *)
Lemma the_header_forbids_these_runs :
  after header (what_and_taken 0) (stale_slot Push StealOne [0; 1; 0; 0; 0]) = None /\
  after header (what_and_taken 0) (stale_slot PushBatch StealOne [0; 1; 0; 0; 0]) = None /\
  after header (what_and_taken 0) (stale_slot Push (StealOut 4) [0; 1; 0; 0; 0]) = None /\
  after header (what_and_taken 0) (stale_slot Push (StealInto 1 4) [0; 1; 0; 0; 0; 0; 0]) = None /\
  after header (what_and_taken 1) thief_of_a_thief = None.
Proof. repeat split; reflexivity. Qed.
(* But the same thieves may read the slot as the push left it. *)
Lemma the_header_allows_the_right_value :
  after header (what_and_taken 0) (stale_slot Push StealOne [0; 1; 1; 0; 0]) = Some ([7], [[7]]).
Proof. reflexivity. Qed.

(* ---- Empty ---- *)

(* Thread 0 pushes 7 and 8, then somebody takes 7: from the first push on, the ring is never empty. Thread 3 reads the new head
   and the tail between the pushes, and says "empty". *)
Definition answers (s : state) :=
  (map (fun a => (of_ring a, head_then a)) (empties s), map (fun c => (first c, taken c, tail_read c)) (claims s 0), contents s 0).

Definition asked_too_late (taker : list (nat * action)) (asks : take_kind) : list (nat * action) :=
  pushes Push 0 7 0 ++ pushes Push 0 8 1 ++ taker ++ (3, Call (TakeHead asks 0)) :: goes 3 [1; 1].

(* The claimer knew of two elements and took one; "empty" with a head of 1 is what thiefs_empty rules out. *)
Definition wrong_empty (x : site) : Prop :=
  exists s, reachable 4 (weakened x) owner s /\ answers s = ([(0, 1)], [(0, [7], 2)], [8]).

Definition pops : list (nat * action) := (0, Call (PopTail 0)) :: goes 0 [2; 0; 1; 0; 0].
Definition sheds : list (nat * action) := (0, Call (TakeHead (Shed 2) 0)) :: goes 0 [0; 2; 1; 0; 0].
Definition steals (k : take_kind) : list (nat * action) := (1, Call (TakeHead k 0)) :: goes 1 [0; 2; 1; 0; 0].
Definition steals_into : list (nat * action) := (1, Call (TakeHead (StealInto 1 4) 0)) :: goes 1 [0; 2; 0; 0; 0; 1; 0].

Lemma pop_claim_must_release : wrong_empty pop_claim.
Proof. apply a_run_shows with (todo := asked_too_late pops Observe). reflexivity. Qed.
Lemma shed_claim_must_release : wrong_empty shed_claim.
Proof. apply a_run_shows with (todo := asked_too_late sheds Observe). reflexivity. Qed.
Lemma steal_claim_must_release : wrong_empty steal_claim.
Proof. apply a_run_shows with (todo := asked_too_late (steals StealOne) Observe). reflexivity. Qed.
Lemma steal_claim_must_release_for_half : wrong_empty steal_claim.
Proof. apply a_run_shows with (todo := asked_too_late (steals (StealOut 4)) Observe). reflexivity. Qed.
Lemma steal_claim_must_release_for_half_into : wrong_empty steal_claim.
Proof. apply a_run_shows with (todo := asked_too_late steals_into Observe). reflexivity. Qed.
Lemma steal_head_must_acquire : wrong_empty steal_head.
Proof. apply a_run_shows with (todo := asked_too_late pops StealOne). reflexivity. Qed.
Lemma steal_head_must_acquire_for_half : wrong_empty steal_head.
Proof. apply a_run_shows with (todo := asked_too_late pops (StealOut 4)). reflexivity. Qed.
Lemma steal_head_must_acquire_for_half_into : wrong_empty steal_head.
Proof. apply a_run_shows with (todo := asked_too_late pops (StealInto 3 4)). reflexivity. Qed.
Lemma steal_head_must_acquire_for_has_work : wrong_empty steal_head.
Proof. apply a_run_shows with (todo := asked_too_late pops Observe). reflexivity. Qed.

Lemma the_header_forbids_these_answers :
  after header answers (asked_too_late pops Observe) = None /\
  after header answers (asked_too_late sheds Observe) = None /\
  after header answers (asked_too_late (steals StealOne) Observe) = None /\
  after header answers (asked_too_late (steals (StealOut 4)) Observe) = None /\
  after header answers (asked_too_late steals_into Observe) = None.
Proof. repeat split; reflexivity. Qed.

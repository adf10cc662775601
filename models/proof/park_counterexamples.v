(* SPDX-License-Identifier: MIT *)
(* Runs of park after which a task is forgotten, each computed line by line. *)
Require Import List Arith Bool Lia.
Require Import memory park park_theorems park_count park_care park_header.
Import ListNotations.
Open Scope list_scope.

Definition site_eq : forall a b : site, {a = b} + {a <> b}.
Proof. decide equality. Defined.
Definition but (x : site) (o : order) (places : nat) (submits : bool) : protocol :=
  Protocol (fun y => if site_eq y x then o else header y) places submits.

(* Threads 0 and 4 hold no processor; the others are machines that hold one. *)
Definition first (i : nat) : home := match i with 1 | 2 | 3 => Busy | _ => Outside end.

(* What a place holds at a timestamp; how many processors are idle; who is counted; where the threads are. *)
Definition seen_at (p t : nat) (s : state) : option nat := option_map (@value location) (mem s (Place p) t).
Definition ends (p t : nat) (s : state) :=
  (seen_at p t s, seen_at p (S t) s, free s, counted s, map (points s) [0; 1; 2; 3; 4]).
Definition after (rules : protocol) (idle p t : nat) (todo : list (nat * action)) :=
  option_map (ends p t) (run (step rules) (initial first idle) todo).

Definition calls (i : nat) (c : call) : list (nat * action) := [(i, Do c relaxed 1)].
Definition goes (i : nat) (at_ : list nat) : list (nat * action) := map (fun t => (i, Go t 0)) at_.

Definition begins_to_spin (i : nat) := calls i MaySpin ++ goes i [0].
(* Thread i publishes a task in place p, makes its fence, sees no request, and reads the count at timestamp t. *)
Definition submits (i p t : nat) := calls i (Publish p) ++ goes i [0; 0; t].

(* ---- The handshake: a submitter reads the count before it was lowered, the last spinning machine looks too early ---- *)
Definition gives_up (c : call) := begins_to_spin 1 ++ calls 1 c ++ goes 1 [0; 1; 0; 0].  (* up to its fence *)
Definition submitter_first := gives_up GoIdle ++ submits 0 0 1 ++ goes 1 [0; 0; 0].
Definition sleeper_first := gives_up GoIdle ++ goes 1 [0] ++ submits 0 0 1 ++ goes 1 [0; 0].
Definition dozer := gives_up GoDoze ++ submits 0 0 1 ++ goes 1 [0; 0].

(* The task is in place 0, a processor is idle, nobody is counted, and the machine sleeps. *)
Definition forgotten (where_ : point) :=
  Some (Some 1, @None nat, 1, @nil nat, [At Outside; where_; At Busy; At Busy; At Outside]).

Lemma the_submitter_must_fence :
  after (but submit_fence acq_rel 1 true) 0 0 1 submitter_first = forgotten (At Asleep) /\
  after (but submit_fence acq_rel 1 true) 0 0 1 sleeper_first = forgotten (At Asleep).
Proof. split; reflexivity. Qed.
Lemma the_sleeper_must_fence :
  after (but machine_idle_fence acq_rel 1 true) 0 0 1 submitter_first = forgotten (At Asleep) /\
  after (but machine_idle_fence acq_rel 1 true) 0 0 1 sleeper_first = forgotten (At Asleep).
Proof. split; reflexivity. Qed.
Lemma who_dozes_must_fence : after (but doze_fence acq_rel 1 true) 0 0 1 dozer = forgotten (Dozing 0).
Proof. reflexivity. Qed.
Lemma the_fences_forbid_these_runs :
  after (shipped 1) 0 0 1 submitter_first = None /\ after (shipped 1) 0 0 1 sleeper_first = None /\
  after (shipped 1) 0 0 1 dozer = None.
Proof. repeat split; reflexivity. Qed.

(* ---- Without the last look ---- *)
Definition does_not_look := gives_up GoIdle ++ submits 0 0 1 ++ goes 1 [0; 0].
Lemma the_sleeper_must_look :
  after (shipped 0) 0 0 1 does_not_look = forgotten (At Asleep) /\
  after (shipped 1) 0 0 1 does_not_look = None.
Proof. split; reflexivity. Qed.

(* ---- found() wakes nobody: two tasks, one processor idle from the beginning; machine 1 finds the first ---- *)
Definition finds_one :=
  begins_to_spin 1 ++ submits 0 1 1 ++ submits 0 0 1 ++ calls 1 (Take 1) ++ calls 1 HasFound ++ goes 1 [0].
Lemma who_has_found_must_wake :
  after (Protocol header 2 false) 1 0 1 finds_one = forgotten (At Busy) /\
  after (shipped 2) 1 0 1 finds_one =
    Some (Some 1, None, 1, [], [At Outside; SubmitFence Busy; At Busy; At Busy; At Outside]).
Proof. split; reflexivity. Qed.

(* ---- Each of these runs ends where the theorem of park_care.v does not hold: a task waits beside an idle processor, and nobody cares ---- *)
Definition forgets_a_task (rules : protocol) : Prop :=
  exists processors s p t, reachable rules first processors s /\
    task s p t /\ p < places_looked_at rules /\ 0 < free s /\ forall i, ~ cares s p t i.
Definition end_of (rules : protocol) (idle : nat) (todo : list (nat * action)) : state :=
  match run (step rules) (initial first idle) todo with Some s => s | None => initial first idle end.
Lemma the_end_is_reachable rules idle todo : reachable rules first idle (end_of rules idle todo).
Proof.
  unfold end_of. destruct (run (step rules) (initial first idle) todo) eqn:E; [| apply reachable_initial].
  eapply run_reaches; [apply reachable_initial | exact E].
Qed.
Ltac it_forgets idle todo :=
  match goal with |- forgets_a_task ?rules => exists idle, (end_of rules idle todo), 0, 1 end;
  split; [apply the_end_is_reachable | split; [| split; [vm_compute; lia | split; [vm_compute; lia |]]]];
  [ split; [eexists; split; vm_compute; reflexivity |
            intros t' g L; destruct t' as [| [| t']]; [lia | lia |]; vm_compute; discriminate]
  | intros [| [| [| [| [| i]]]]]; vm_compute; intuition lia ].

Theorem the_theorem_needs_the_fences :
  forgets_a_task (but submit_fence acq_rel 1 true) /\ forgets_a_task (but machine_idle_fence acq_rel 1 true) /\
  forgets_a_task (but doze_fence acq_rel 1 true).
Proof. split; [| split]; [it_forgets 0 submitter_first | it_forgets 0 submitter_first | it_forgets 0 dozer]. Qed.
Theorem the_theorem_needs_what_found_asks : forgets_a_task (Protocol header 2 false).
Proof. it_forgets 1 finds_one. Qed.

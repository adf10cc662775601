(* SPDX-License-Identifier: MIT *)
(* Execution graphs of the exact engine as runs of park, as replay.v has them for the ring. park_replay.py writes each graph down as a
   trace. A trace is accepted if each event is the machine's next line of its thread, with the same site, order, location, value
   and message; if as many processors are idle at each release of the lock as the engine says; and if it ends as the engine says. *)
Require Import List Arith Bool.
Require Import memory park park_header park_counterexamples traces.
Import ListNotations.
Open Scope list_scope.

Inductive event :=
| Calls (c : call)
| Meets (other : nat)
| Publishes (o : order) (p v at_ : nat)
| Takes (o : order) (p v at_ : nat)
| Loads (x : site) (o : order) (l : location) (v at_ : nat)
| Stores (x : site) (o : order) (l : location) (v at_ : nat)
| Counts (x : site) (o : order) (v new at_ : nat)
| Answers (x : site) (o : order) (v new at_ : nat)     (* likewise, and goes on as one that has found nothing *)
| Wakes_up (m : nat) (o : order) (v new at_ : nat)   (* counts machine m, which it is going to wake *)
| Looks (p v at_ : nat)
| Sleeps                             (* the last look has found nothing *)
| Fences (x : site) (o : order)
| Locks
| Waits                              (* for the lock, and asks again *)
| Unlocks (idle : option nat).       (* so many processors are idle, if the engine says so *)
Definition trace := list (nat * event).

Definition action_of (e : event) : action :=
  match e with
  | Calls c => Do c relaxed 0
  | Meets other => Meet other
  | Publishes o p _ at_ => Do (Publish p) o at_
  | Takes o p _ at_ => Do (Take p) o at_
  | Loads _ _ _ _ at_ | Stores _ _ _ _ at_ | Looks _ _ at_ => Go at_ 0
  | Wakes_up m _ _ _ _ => Go 0 m
  | Waits | Answers _ _ _ _ _ => Go 0 1
  | Counts _ _ _ _ _ | Sleeps | Fences _ _ | Locks | Unlocks _ => Go 0 0
  end.

(* Which access each line makes; machine_dozes() is not replayed. *)
Inductive line := Nothing | Load (x : site) (l : location) | Store (x : site) (l : location) (v : nat) | Up (x : site) | Down (x : site)
| LookAt (p : nat) | Fence (x : site) | Lock | Release.
Definition line_at (p : point) : line :=
  match p with
  | SubmitFence _ => Fence submit_fence
  | SubmitSpinning _ => Load submit_spinning Spinning
  | SubmitNeed _ => Load submit_need Need
  | OneAgain _ => Load one_again Spinning
  | OneNeed _ => Store need_set Need 1
  | OneSpin _ => Up one_spin
  | IdleClear _ => Store need_clear Need 0
  | SpinAdd _ => Up spin
  | Found => Down found
  | BusyNeed => Load need_heed Need
  | IdleSpinning false => Down machine_idle_spinning
  | IdleFence false => Fence machine_idle_fence
  | Look q => LookAt q
  | LateNeed => Store need_set_late Need 1
  | OneLock _ | BusyLock | IdleLock _ | BackLock => Lock
  | OneWake _ _ | Unlock _ | IdleUnlock _ => Release
  | At _ | IdleSpinning true | IdleFence true | Dozing _ => Nothing
  end.

Section program.
Variables places processors threads : nat.
Variable first : nat -> home.
Notation one_step := (step (shipped places)).
Notation reachable := (reachable (shipped places) first processors).
Notation initial := (initial first processors).

(* Whether the engine says of this event what the machine says of the thread's next line. *)
Definition fits (s : state) (i : nat) (e : event) : bool :=
  let at_site x x' o := same site_eq x x' && same order_eq o (header x) in
  let reads l at_ v := match mem s l at_ with Some g => value g =? v | None => false end in
  match e, line_at (points s i) with
  | Publishes _ _ v _, Nothing => v =? 1
  | Takes _ p v at_, Nothing => reads (Place p) at_ v
  | Calls _, Nothing | Meets _, Nothing => true
  | Loads x o l v at_, Load x' l' => at_site x x' o && same location_eq l l' && reads l at_ v
  | Stores x o l v _, Store x' l' v' => at_site x x' o && same location_eq l l' && (v =? v')
  | Counts x o v new at_, Up x' | Answers x o v new at_, Up x' => at_site x x' o && (at_ =? top s) && reads Spinning at_ v && (new =? S v)
  | Counts x o v new at_, Down x' => at_site x x' o && (at_ =? top s) && reads Spinning at_ v && (S new =? v)
  | Wakes_up _ o v new at_, Up x' => at_site one_spin x' o && (at_ =? top s) && reads Spinning at_ v && (new =? S v)
  | Looks p v at_, LookAt q => (p =? q) && reads (Place p) at_ v
  | Sleeps, LookAt q => q =? places
  | Fences x o, Fence x' => at_site x x' o
  | Locks, Lock | Waits, Lock | Unlocks _, Release => true
  | _, _ => false
  end.
Definition is_idle (s : state) (n : option nat) : bool := match n with Some n => free s =? n | None => true end.
Definition fits_after (s : state) (e : event) : bool := match e with Unlocks n => is_idle s n | _ => true end.

Definition take_event (s : state) (i : nat) (e : event) : option state :=
  if fits s i e
  then match one_step s i (action_of e) with Some s' => if fits_after s' e then Some s' else None | None => None end
  else None.
Notation follow := (traces.follow take_event).

(* What the engine says of the end: how many machines are counted, how many processors are idle, if it does, and the newest message of
   each place, with its value. *)
Record results := Results { spinning : nat; idle : option nat; newest : list (nat * nat) }.
Definition rests (p : point) : bool := match p with At _ => true | _ => false end.
Definition holds_at_last (s : state) (p : nat) (n : nat * nat) : bool :=
  match mem s (Place p) (fst n), mem s (Place p) (S (fst n)) with Some g, None => value g =? snd n | _, _ => false end.
Definition ends_with (s : state) (r : results) : bool :=
  forallb (fun i => rests (points s i)) (seq 0 threads) && (length (counted s) =? spinning r) && is_idle s (idle r) &&
  forallb (fun pn => holds_at_last s (fst pn) (snd pn)) (combine (seq 0 places) (newest r)).

Definition accepted (g : trace * results) : bool :=
  match follow initial (fst g) with Some s => ends_with s (snd g) | None => false end.

(* The trace leads the machine to a state with these results; no thread is in the midst of a call. *)
Definition is_a_run (g : trace * results) : Prop :=
  exists s, follow initial (fst g) = Some s /\ reachable s /\
            (forall i, i < threads -> exists h, points s i = At h) /\
            length (counted s) = spinning (snd g) /\ (forall n, idle (snd g) = Some n -> free s = n).

Lemma events_reach s i e s' : reachable s -> take_event s i e = Some s' -> reachable s'.
Proof.
  unfold take_event. intros R H. destruct (fits s i e); [| discriminate].
  destruct (one_step s i (action_of e)) eqn:E; [| discriminate]. destruct (fits_after s0 e); [| discriminate].
  apply of_some in H as <-. eauto using reachable_step.
Qed.

Theorem an_accepted_graph_is_a_run g : accepted g = true -> is_a_run g.
Proof.
  unfold accepted, is_a_run. destruct (follow initial (fst g)) as [s |] eqn:E; [| discriminate].
  unfold ends_with. intro H. apply andb_prop in H as [H _]. apply andb_prop in H as [H F]. apply andb_prop in H as [H C].
  exists s. split; [reflexivity |]. split; [eapply (follow_keeps _ _ events_reach); [apply reachable_initial | exact E] |].
  split; [| split; [apply Nat.eqb_eq; assumption | intros n E'; rewrite E' in F; apply Nat.eqb_eq; exact F]].
  intros i Hi. rewrite forallb_forall in H. specialize (H i). rewrite in_seq in H.
  destruct (points s i) as [h | | | | | | | | | | | | | | | | | | | | | |]; try (discriminate H; auto with arith). exists h. reflexivity.
Qed.
Theorem accepted_graphs_are_runs gs : forallb accepted gs = true -> Forall is_a_run gs.
Proof. exact (all_are _ _ an_accepted_graph_is_a_run gs). Qed.

(* ---- Traces that must be refused ---- *)

Definition another_value (e : event) : option (list event) :=
  match e with
  | Publishes o p v at_ => Some [Publishes o p (S v) at_]
  | Takes o p v at_ => Some [Takes o p (S v) at_]
  | Loads x o l v at_ => Some [Loads x o l (S v) at_]
  | Stores x o l v at_ => Some [Stores x o l (S v) at_]
  | Counts x o v new at_ => Some [Counts x o v (S new) at_]
  | Answers x o v new at_ => Some [Answers x o v (S new) at_]
  | Wakes_up m o v new at_ => Some [Wakes_up m o v (S new) at_]
  | Looks p v at_ => Some [Looks p (S v) at_]
  | Unlocks (Some n) => Some [Unlocks (Some (S n))]
  | _ => None
  end.
Definition another_order (e : event) : option (list event) :=
  match e with
  | Loads x _ l v at_ => Some [Loads x acquire l v at_]
  | Stores x _ l v at_ => Some [Stores x release l v at_]
  | Counts x _ v new at_ => Some [Counts x seq_cst v new at_]
  | Answers x _ v new at_ => Some [Answers x seq_cst v new at_]
  | Wakes_up m _ v new at_ => Some [Wakes_up m seq_cst v new at_]
  | Fences x _ => Some [Fences x acq_rel]
  | _ => None
  end.
(* A machine may take a task, or not. *)
Definition left_out (e : event) : option (list event) := match e with Calls _ | Meets _ | Takes _ _ _ _ => None | _ => Some [] end.
(* A last look that finds a task does not. *)
Definition does_not_find (e : event) : option (list event) := match e with Looks p 1 _ => Some [Looks p 0 0] | _ => None end.

(* One more machine is counted. *)
Definition changed_results (gs : list (trace * results)) : list (trace * results) :=
  map (fun g => (fst g, Results (S (spinning (snd g))) (idle (snd g)) (newest (snd g)))) gs.
Definition all_changes (gs : list (trace * results)) : list (list (trace * results)) :=
  [changed_traces another_value gs; changed_traces another_order gs; changed_traces left_out gs;
   changed_traces does_not_find gs; changed_results gs].
Definition refused (g : trace * results) : bool := negb (accepted g).
(* park_replay.py reads this. *)
Definition refusals := traces.refusals take_event initial accepted.
End program.

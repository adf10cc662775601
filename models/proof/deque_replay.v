(* SPDX-License-Identifier: MIT *)
(* Execution graphs of the exact engine as runs of the deque, as replay.v has them for the ring. deque_replay.py writes each graph
   down as a trace. A trace is accepted if each access and each fence is the machine's next line of its thread, with the same site,
   order, location, value and message, and if the tasks that the threads took and ran are those that the machine's takes got. *)
Require Import List Arith Bool.
Require Import memory deque deque_header deque_counterexamples traces.
Import ListNotations.
Open Scope list_scope.

Inductive event :=
| Calls (p : point)
| Meets (other : nat)
| Loads (x : site) (o : order) (l : location) (v at_ : nat)
| Stores (x : site) (o : order) (l : location) (v at_ : nat)
| Wins (x : site) (o : order) (l : location) (v new at_ : nat)
| Fails (x : site) (o : order) (l : location) (v at_ : nat)
| Fences (x : site) (o : order)
| Allocates
| Refuses. (* a push that finds no room and no memory *)
Definition trace := list (nat * event).

Definition action_of (e : event) : action :=
  match e with
  | Calls p => Call p
  | Meets other => Meet other
  | Loads _ _ _ _ at_ | Stores _ _ _ _ at_ | Wins _ _ _ _ _ at_ => Go at_ false
  | Fails _ _ _ _ at_ => Go at_ true
  | Fences _ _ | Allocates => Go 0 false
  | Refuses => Go 0 true
  end.

Section program.
Variables first_capacity first_array threads : nat. (* thread 0 is the owner *)
Notation one_step := (step first_capacity header 0).
Notation reachable := (reachable first_capacity first_array header 0).
Notation initial := (initial first_array).

(* Whether the engine says of this access what the machine says of the thread's next line. *)
Definition fits (s : state) (i : nat) (e : event) : bool :=
  let at_line x x' o o' l l' := same site_eq x x' && same order_eq o o' && same location_eq l l' in
  let reads l at_ v := match mem s l at_ with Some g => value g =? v | None => false end in
  match e, code first_capacity (top_seen s) (points s i) with
  | Calls _, Stop | Meets _, Stop => true
  | Loads x o l v at_, Load x' l' _ => at_line x x' o (header x) l l' && reads l at_ v
  | Stores x o l v _, Store x' l' v' _ => at_line x x' o (header x) l l' && (v =? v')
  | Wins x o l v new at_, Claim x' l' expected desired _ _ =>
      at_line x x' o (header x) l l' && (v =? expected) && (new =? desired)
  | Fails x o l v at_, Claim x' l' _ _ _ _ => at_line x x' o relaxed l l' && reads l at_ v
  | Fences x o, Fence x' _ => same site_eq x x' && same order_eq o (header x)
  | Allocates, Allocate _ _ | Refuses, Allocate _ _ => true
  | _, _ => false
  end.

(* Lines without an access; there are at most two in a row. *)
Fixpoint settle (steps : nat) (s : state) (i : nat) : state :=
  match steps with
  | 0 => s
  | S steps =>
      match code first_capacity (top_seen s) (points s i) with
      | Local _ => match one_step s i (Go 0 false) with Some s' => settle steps s' i | None => s end
      | _ => s
      end
  end.

Definition take_event (s : state) (i : nat) (e : event) : option state :=
  if fits s i e then option_map (fun s' => settle 3 s' i) (one_step s i (action_of e)) else None.
Notation follow := (traces.follow take_event).

(* What each thread took and ran, in order. *)
Definition results := list (list nat).
Definition results_of (s : state) : results :=
  map (fun i => map got (filter (fun k => taker k =? i) (taken s))) (seq 0 threads).

Definition idle (p : point) : bool := match p with Idle => true | _ => false end.
Definition ended (s : state) : bool :=
  forallb (fun i => idle (points s i)) (seq 0 threads) && (top s =? bottom s).
Definition results_eq : forall a b : results, {a = b} + {a <> b} := list_eq_dec (list_eq_dec Nat.eq_dec).

Definition accepted (g : trace * results) : bool :=
  match follow initial (fst g) with
  | Some s => ended s && same results_eq (results_of s) (snd g)
  | None => false
  end.

(* The trace leads the machine to a state with these results; all threads are done, and the deque is empty. *)
Definition is_a_run (g : trace * results) : Prop :=
  exists s, follow initial (fst g) = Some s /\ reachable s /\ results_of s = snd g /\
            (forall i, i < threads -> points s i = Idle) /\ content s = [].

Lemma settle_reaches n s i : reachable s -> reachable (settle n s i).
Proof.
  revert s; induction n as [| n IH]; cbn [settle]; intros s R; [assumption |].
  destruct (code first_capacity (top_seen s) (points s i)); try assumption.
  destruct (one_step s i (Go 0 false)) eqn:E; [| assumption]. eauto using reachable_step.
Qed.
Lemma events_reach s i e s' : reachable s -> take_event s i e = Some s' -> reachable s'.
Proof.
  unfold take_event. intros R H. destruct (fits s i e); [| discriminate].
  destruct (one_step s i (action_of e)) eqn:E; [| discriminate]; cbn [option_map] in H.
  apply of_some in H as <-. apply settle_reaches. eauto using reachable_step.
Qed.

Theorem an_accepted_graph_is_a_run g : accepted g = true -> is_a_run g.
Proof.
  unfold accepted, is_a_run. destruct (follow initial (fst g)) as [s |] eqn:E; [| discriminate].
  intro H. apply andb_prop in H as [Hended Hsame]. unfold ended in Hended. apply andb_prop in Hended as [Hidle Hempty].
  exists s. split; [reflexivity |]. split; [| split; [| split]].
  - eapply (follow_keeps _ _ events_reach); [apply reachable_initial | exact E].
  - unfold same in Hsame. destruct (results_eq (results_of s) (snd g)); [assumption | discriminate].
  - intros i Hi. rewrite forallb_forall in Hidle. specialize (Hidle i). rewrite in_seq in Hidle.
    destruct (points s i); try reflexivity; discriminate Hidle; auto with arith.
  - apply Nat.eqb_eq in Hempty. unfold content. rewrite Hempty, Nat.sub_diag. reflexivity.
Qed.
Theorem accepted_graphs_are_runs gs : forallb accepted gs = true -> Forall is_a_run gs.
Proof. exact (all_are _ _ an_accepted_graph_is_a_run gs). Qed.

(* ---- Traces that must be refused ---- *)

Definition another_value (e : event) : option (list event) :=
  match e with
  | Loads x o l v at_ => Some [Loads x o l (S v) at_]
  | Stores x o l v at_ => Some [Stores x o l (S v) at_]
  | Wins x o l v new at_ => Some [Wins x o l v (S new) at_]
  | Fails x o l v at_ => Some [Fails x o l (S v) at_]
  | _ => None
  end.
Definition another_order (e : event) : option (list event) :=
  match e with
  | Loads x _ l v at_ => Some [Loads x acq_rel l v at_]
  | Stores x _ l v at_ => Some [Stores x acq_rel l v at_]
  | Wins x _ l v new at_ => Some [Wins x acq_rel l v new at_]
  | Fails x _ l v at_ => Some [Fails x acq_rel l v at_]
  | Fences x _ => Some [Fences x acq_rel]
  | _ => None
  end.
Definition left_out (e : event) : option (list event) :=
  match e with Calls _ | Meets _ => None | _ => Some [] end.
(* A slot as it was before the first push into it: the value is that of the older message, but nobody may read it any more. *)
Definition slot_before_the_push (e : event) : option (list event) :=
  match e with Loads x o (Slot a i) v 1 => Some [Loads x o (Slot a i) 0 0] | _ => None end.

(* One more task that was run. *)
Definition changed_results (gs : list (trace * results)) : list (trace * results) :=
  map (fun g => (fst g, match snd g with ran :: others => (ran ++ [1]) :: others | none => none end)) gs.
Definition all_changes (gs : list (trace * results)) : list (list (trace * results)) :=
  [changed_traces another_value gs; changed_traces another_order gs; changed_traces left_out gs;
   changed_traces slot_before_the_push gs; changed_results gs].
Definition refused (g : trace * results) : bool := negb (accepted g).
(* deque_replay.py reads this. *)
Definition refusals := traces.refusals take_event initial accepted.
End program.

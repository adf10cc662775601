(* SPDX-License-Identifier: MIT *)
(* Execution graphs of the exact engine as traces: events of threads, each of which the machine takes or refuses, with the results
   that the engine says the end has. Here is what the replays of all machines have in common. *)
Require Import List.
Require Import memory runs.
Import ListNotations.
Open Scope list_scope.

Definition order_eq : forall a b : order, {a = b} + {a <> b}.
Proof. decide equality. Defined.
Definition same {A} (eq : forall a b : A, {a = b} + {a <> b}) (a b : A) : bool := if eq a b then true else false.

(* `injection` would compute both sides. *)
Lemma of_some {A} (a b : A) : Some a = Some b -> a = b.
Proof. congruence. Qed.

Section replay.
Context {state event results : Type}.
Notation trace := (list (nat * event)).
Variable take_event : state -> nat -> event -> option state.

Fixpoint follow (s : state) (t : trace) : option state :=
  match t with
  | [] => Some s
  | (i, e) :: t => match take_event s i e with Some s' => follow s' t | None => None end
  end.
(* How many events of a trace fit: where to look when it is refused. *)
Fixpoint follows (s : state) (t : trace) : nat :=
  match t with
  | [] => 0
  | (i, e) :: t => match take_event s i e with Some s' => S (follows s' t) | None => 0 end
  end.

(* A trace leads to a reachable state if each event does. *)
Lemma follow_keeps (holds : state -> Prop) :
  (forall s i e s', holds s -> take_event s i e = Some s' -> holds s') ->
  forall t s s', holds s -> follow s t = Some s' -> holds s'.
Proof.
  intro K. induction t as [| [i e] t IH]; cbn [follow]; intros s s' H F; [inversion F; subst; assumption |].
  destruct (take_event s i e) eqn:E; [| discriminate]. eauto.
Qed.

Lemma all_are (accepted : trace * results -> bool) (is_a_run : trace * results -> Prop) :
  (forall g, accepted g = true -> is_a_run g) -> forall gs, forallb accepted gs = true -> Forall is_a_run gs.
Proof. intros one gs H. rewrite forallb_forall in H. apply Forall_forall. auto. Qed.

(* ---- Traces that must be refused ---- *)

(* Every trace that comes of another by a change of one event, where `change` says what the event becomes. *)
Fixpoint changes (change : event -> option (list event)) (t : trace) : list trace :=
  match t with
  | [] => []
  | (i, e) :: t =>
      match change e with Some es => [map (pair i) es ++ t] | None => [] end ++ map (cons (i, e)) (changes change t)
  end.
Definition changed_traces (change : event -> option (list event)) (gs : list (trace * results)) : list (trace * results) :=
  flat_map (fun g => map (fun t => (t, snd g)) (changes change (fst g))) gs.

(* The scripts read this: of each graph that is refused, its number, and how many events fit. *)
Fixpoint refusals (initial : state) (accepted : trace * results -> bool) (from : nat) (gs : list (trace * results))
    : list (nat * nat) :=
  match gs with
  | [] => []
  | g :: gs => (if accepted g then [] else [(from, follows initial (fst g))]) ++ refusals initial accepted (S from) gs
  end.
End replay.

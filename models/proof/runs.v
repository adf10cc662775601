(* SPDX-License-Identifier: MIT *)
(* The runs of a machine: what every transition system here has in common. Thread i does an action, or what it does is not allowed. *)
Require Import List.
Import ListNotations.

Section machine.
Context {state action : Type}.
Variable initial : state.
Variable step : state -> nat -> action -> option state.

Inductive reachable : state -> Prop :=
| reachable_initial : reachable initial
| reachable_step s i a s' : reachable s -> step s i a = Some s' -> reachable s'.

(* A run that is written down. *)
Fixpoint run (s : state) (todo : list (nat * action)) : option state :=
  match todo with
  | [] => Some s
  | (i, a) :: rest => match step s i a with Some s' => run s' rest | None => None end
  end.
Lemma run_reaches s todo s' : reachable s -> run s todo = Some s' -> reachable s'.
Proof.
  revert s; induction todo as [| [i a] rest IH]; simpl; intros s R H; [inversion H; subst; assumption |].
  destruct (step s i a) eqn:E; [| discriminate]. eauto using reachable_step.
Qed.
End machine.

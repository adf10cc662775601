(* SPDX-License-Identifier: MIT *)
(* What somebody who asks the deque has seen: the claims before the top that has_work() reads. *)
Require Import Arith Lia Bool List.
Require Import memory deque deque_invariant.
Import ListNotations.
Open Scope list_scope.

(* The orders that this needs besides: the only use of the order of a claim. *)
Definition enough_for_has_work (o : site -> order) : bool :=
  releases (o pop_claim) && releases (o steal_claim) && acquires (o has_work_top).

Section proof.
Variable first_capacity : nat.
Hypothesis capacity_positive : 0 < first_capacity.
Variable first_array : nat.
Variable orders : site -> order.
Variable owner : nat.
Hypothesis elements : enough_for_elements orders = true.
Hypothesis answers : enough_for_has_work orders = true.

Notation reachable := (reachable first_capacity first_array orders owner).
Notation step := (step first_capacity orders owner).

(* The view v has seen what the claimers of all tops below t had seen. *)
Definition has_seen_claims (s : state) (v : view location) (t : nat) : Prop :=
  forall k j, In k (taken s) -> claimed_at k = Some j -> j < t -> included (taken_with k) v.

Record claims_ok (s : state) : Prop := {
  claims_are_old : forall k j, In k (taken s) -> claimed_at k = Some j -> j < top s;
  tops_bring_claims : forall k g, mem s Top k = Some g -> has_seen_claims s (carried g) (value g);
  who_asks_has_seen : forall i t, points s i = AskBottom t -> t <= top s /\ has_seen_claims s (views s i) t
}.

(* Steps that claim nothing. *)
Lemma claims_stay s s' i w p :
  claims_ok s -> views s' = update (views s) i w -> points s' = update (points s) i p ->
  mem s' Top = mem s Top -> top s' = top s ->
  (forall k j, In k (taken s') -> claimed_at k = Some j -> In k (taken s)) ->
  (forall t, p = AskBottom t -> t <= top s /\ has_seen_claims s w t) -> claims_ok s'.
Proof.
  intros [A B C] V P M T K Q.
  assert (St : forall v t, has_seen_claims s v t -> has_seen_claims s' v t) by (intros v t H k j Ik E L; exact (H k j (K k j Ik E) E L)).
  constructor.
  - intros k j Ik E. rewrite T. exact (A k j (K k j Ik E) E).
  - intros k g G. rewrite M in G. exact (St _ _ (B k g G)).
  - intros j t E. rewrite P in E. rewrite V. destruct (Nat.eq_dec j i) as [-> | N].
    + rewrite update_same in E. rewrite update_same. destruct (Q t E). rewrite T. auto.
    + rewrite update_other in E by assumption. rewrite update_other by assumption. destruct (C j t E). rewrite T. auto.
Qed.

Lemma a_claim_is_brought s s' i w p k g g' x e :
  claims_ok s -> views s' = update (views s) i w -> points s' = update (points s) i p -> (forall t, p <> AskBottom t) ->
  mem s' = add location_eq (mem s) Top (S k) g' -> mem s Top k = Some g -> (forall k g, mem s Top k = Some g -> value g <= top s) ->
  value g = top s -> value g' = top s + 1 ->
  top s' = top s + 1 -> taken s' = taken s ++ [Take e x i (Some (top s)) w] ->
  included (carried g) (carried g') -> included w (carried g') -> claims_ok s'.
Proof.
  intros [A B C] V P Np M G U Vg Vg' T K Cg Cw.
  assert (Which : forall k j, In k (taken s') -> claimed_at k = Some j ->
            In k (taken s) \/ (j = top s /\ taken_with k = w)).
  { intros k' j H E. rewrite K in H. apply in_app_or in H as [H | [<- | []]]; [auto |]. simpl in E. right.
    injection E as <-. auto. }
  constructor.
  - intros k' j H E. rewrite T. destruct (Which k' j H E) as [H' | (-> & _)]; [specialize (A _ _ H' E) |]; lia.
  - intros k1 g1 G1 k' j H E L. rewrite M in G1. apply add_inv in G1 as [(_ & -> & ->) | G1].
    + destruct (Which k' j H E) as [H' | (-> & ->)]; [| assumption].
      eapply included_trans; [| exact Cg]. apply (B k g G k' j H' E). specialize (A _ _ H' E). lia.
    + destruct (Which k' j H E) as [H' | (-> & _)]; [eapply B; eassumption |]. specialize (U _ _ G1). lia.
  - intros i' t E. rewrite P in E. destruct (Nat.eq_dec i' i) as [-> | N].
    + rewrite update_same in E. exfalso. exact (Np _ E).
    + rewrite update_other in E by assumption. rewrite V, update_other by assumption.
      destruct (C i' t E) as (Old & C'). split; [lia |]. intros k' j H E' L.
      destruct (Which k' j H E') as [H' | (-> & _)]; [eapply C'; eassumption | lia].
Qed.

Lemma a_pop_claim_releases : releases (orders pop_claim) = true.
Proof. pose proof answers as O. unfold enough_for_has_work in O. rewrite !andb_true_iff in O. tauto. Qed.
Lemma a_steal_claim_releases : releases (orders steal_claim) = true.
Proof. pose proof answers as O. unfold enough_for_has_work in O. rewrite !andb_true_iff in O. tauto. Qed.
Lemma who_asks_acquires_the_top : acquires (orders has_work_top) = true.
Proof. pose proof answers as O. unfold enough_for_has_work in O. rewrite !andb_true_iff in O. tauto. Qed.

Ltac stays I := eapply (claims_stay _ _ _ _ _ I); try reflexivity; try (intros; assumption); try discriminate.
Ltac reads H :=
  match type of H with
  | context [load location_eq ?m ?v ?o ?l ?t] => destruct (load location_eq m v o l t) as [[found w] |] eqn:El; [| discriminate H]
  end.
Ltac stores H :=
  match type of H with
  | context [store location_eq ?m ?v ?o ?l ?x ?t] =>
      destruct (store location_eq m v o l x t) as [[m' w] |] eqn:El; [| discriminate H];
      apply store_says in El as (g & N & L & -> & V & In & Rk & Out)
  end.
Theorem every_line_keeps_the_claims s i a s' :
  invariant first_capacity owner s -> claims_ok s -> step s i a = Some s' -> claims_ok s'.
Proof.
  intros Inv I H. destruct a as [p | other | at_ lose].
  - simpl in H. destruct (points s i) eqn:P; try discriminate. destruct (may_call owner i p) eqn:C; [| discriminate].
    injection H as <-. stays I. intros t ->. discriminate C.
  - simpl in H. destruct (points s i) eqn:P; try discriminate. injection H as <-. stays I.
  - pose proof (the_deque _ _ _ Inv) as D.
    assert (Bounded : forall k g, mem s Top k = Some g -> value g <= top s).
    { intros k g M. destruct (top_says _ _ _ D k g M). lia. }
    unfold deque.step, note_load, note_store, note_won in H. destruct (points s i) eqn:P; simpl in H; try discriminate;
      try (reads H; injection H as <-; stays I; repeat (destruct (_ <? _) || destruct (_ =? _) || destruct (_ <=? _));
           try discriminate; intros t' E; try (destruct rest); discriminate E);
      try (stores H; injection H as <-; stays I; try (intros t' E; destruct rest; discriminate E));
      try (destruct (fence _ _ _); injection H as <-; stays I).
    + injection H as <-. stays I. intros t' E. unfold publish_written in E. destruct lose; [destruct (n =? 0) |]; discriminate E.
    + destruct (_ =? _); [injection H as <-; stays I |]. reads H. injection H as <-. stays I.
    + destruct rest as [| x rest].
      * injection H as <-. stays I. intros t' E. unfold publish_written in E. destruct (n =? 0); discriminate E.
      * stores H. injection H as <-. stays I. intros t' E. unfold push_next, publish_written in E. destruct rest; discriminate E.
    + reads H. destruct (t <? b); injection H as <-; stays I.
      intros k j Hk E. simpl in Hk. apply in_app_or in Hk as [Hk | [<- | []]]; [assumption | discriminate E].
    + destruct lose; [reads H; destruct (negb _); [| discriminate]; injection H as <-; stays I |].
      destruct (exchange _ _ _ _ _ _ _ _) as [[m w] |] eqn:El; [| discriminate]. injection H as <-.
      apply exchange_says in El as (g & g' & M & V & N & L & -> & V' & In & Rk & Cg & Out & _).
      destruct (a_claim_is_of_the_newest_top _ capacity_positive _ s at_ g D M N) as (E1 & E2).
      assert (T : top s = b) by lia.
      eapply (a_claim_is_brought _ _ _ _ _ at_ g g' _ _ I); try reflexivity; try eassumption; try discriminate; simpl; try lia.
      * rewrite T. reflexivity.
      * apply Out, a_pop_claim_releases.
    + destruct lose; [reads H; destruct (negb _); [| discriminate]; injection H as <-; stays I |].
      destruct (exchange _ _ _ _ _ _ _ _) as [[m w] |] eqn:El; [| discriminate]. injection H as <-.
      apply exchange_says in El as (g & g' & M & V & N & L & -> & V' & In & Rk & Cg & Out & _).
      destruct (a_claim_is_of_the_newest_top _ capacity_positive _ s at_ g D M N) as (E1 & E2).
      assert (T : top s = t) by lia.
      eapply (a_claim_is_brought _ _ _ _ _ at_ g g' _ _ I); try reflexivity; try eassumption; try discriminate; simpl; try lia.
      * rewrite T. reflexivity.
      * apply Out, a_steal_claim_releases.
    + reads H. injection H as <-. apply load_says in El as (g & M & V & L & In & Rk & Aq). subst found. stays I.
      intros t E. injection E as <-. split; [eauto |]. intros k j Hk E Lt.
      eapply included_trans; [apply (tops_bring_claims _ I at_ g M k j Hk E Lt) | apply Aq, who_asks_acquires_the_top].
Qed.

Theorem claims_of_every_run s : reachable s -> claims_ok s.
Proof.
  induction 1 as [| s i a s' R IH H].
  - constructor; simpl; [intros k j [] | intros k g _ k' j [] | discriminate].
  - eapply every_line_keeps_the_claims; [| exact IH | exact H].
    eapply invariant_of_every_run; eassumption.
Qed.

(* When has_work() has read a top, its caller sees what the takers of all elements below that top had seen, if they took them by a
   compare-exchange: thieves, and the owner at the last element. *)
Theorem who_asks_sees_what_the_claimers_saw s i t k j :
  reachable s -> points s i = AskBottom t -> In k (taken s) -> claimed_at k = Some j -> j < t ->
  included (taken_with k) (views s i).
Proof. intros R P. apply (who_asks_has_seen _ (claims_of_every_run s R) i t P). Qed.
End proof.

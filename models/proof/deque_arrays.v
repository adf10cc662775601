(* SPDX-License-Identifier: MIT *)
(* A thief that sees an element sees an array, too: never the null pointer from before the first push. *)
Require Import Arith Lia Bool List.
Require Import memory deque deque_invariant.
Import ListNotations.
Open Scope list_scope.

(* The orders that this needs besides: a pop that has found nothing, or the last element, stores the bottom again. *)
Definition enough_for_arrays (o : site -> order) : bool := releases (o pop_restore) && releases (o pop_reset).

Section proof.
Variable first_capacity : nat.
Hypothesis capacity_positive : 0 < first_capacity.
Variable first_array : nat.
Variable orders : site -> order.
Variable owner : nat.
Hypothesis elements : enough_for_elements orders = true.
Hypothesis arrays : enough_for_arrays orders = true.

Notation reachable := (reachable first_capacity first_array orders owner).
Notation step := (step first_capacity orders owner).
Notation invariant := (invariant first_capacity owner).

(* The view v cannot read the null pointer any more. *)
Definition sees_an_array (s : state) (v : view location) : Prop :=
  forall k g, v Array <= k -> mem s Array k = Some g -> value g <> 0.

Definition array_line (s : state) (v : view location) (p : point) : Prop :=
  match p with
  | StealFence t | StealBottom t => 1 <= t
  | StealArray t => sees_an_array s v
  | StealSlot _ a => a <> 0
  | PopReserve _ _ | PopFence _ _ | PopTop _ _ | PopRestore _ | PopSlot _ _ _ | PopClaim _ _ | PopReset _ => array s <> 0
  | _ => True
  end.

Record arrays_ok (s : state) : Prop := {
  bottoms_bring_arrays : forall k g, mem s Bottom k = Some g -> 1 < value g -> sees_an_array s (carried g);
  no_array_no_push : array s = 0 -> bottom s = 1;
  array_lines : forall i, array_line s (views s i) (points s i)
}.

Lemma sees_an_array_more s v w : sees_an_array s v -> included v w -> sees_an_array s w.
Proof. intros A I k g L. specialize (I Array). apply A. lia. Qed.

Lemma arrays_stay s s' i w p :
  arrays_ok s -> views s' = update (views s) i w -> points s' = update (points s) i p ->
  (forall k g, mem s' Array k = Some g -> mem s Array k = Some g \/ value g <> 0) ->
  (forall k g, mem s' Bottom k = Some g -> mem s Bottom k = Some g \/ (1 < value g -> sees_an_array s (carried g))) ->
  (array s <> 0 -> array s' <> 0) -> (array s' = 0 -> bottom s' = 1) -> array_line s' w p -> arrays_ok s'.
Proof.
  intros [B N L] V P MA MB A Nb Lp.
  assert (St : forall v, sees_an_array s v -> sees_an_array s' v).
  { intros v S k g Lk M. destruct (MA k g M) as [M' | Z]; [eapply S; eassumption | assumption]. }
  constructor; [| assumption |].
  - intros k g M Vg. apply St. destruct (MB k g M) as [M' | H]; [eapply B; eassumption | auto].
  - intro j. rewrite P, V. destruct (Nat.eq_dec j i) as [-> | Ne]; [rewrite !update_same; assumption |].
    rewrite !update_other by assumption. specialize (L j). destruct (points s j); simpl in *; auto.
Qed.

(* Most steps change no array and no bottom. *)
Lemma arrays_stay_quietly s s' i w p :
  arrays_ok s -> views s' = update (views s) i w -> points s' = update (points s) i p -> mem s' = mem s ->
  array s' = array s -> (array s = 0 -> bottom s' = 1) -> (array s' = array s -> array_line s w p) -> arrays_ok s'.
Proof.
  intros I V P M A B L. eapply arrays_stay; try eassumption; rewrite ?M, ?A; auto.
  specialize (L A). destruct p; simpl in *; rewrite ?A; auto. unfold sees_an_array. rewrite M. exact L.
Qed.

(* A store to a slot, or a claim. *)
Lemma arrays_stay_elsewhere s s' i w p l c g :
  arrays_ok s -> views s' = update (views s) i w -> points s' = update (points s) i p ->
  mem s' = add location_eq (mem s) l c g -> Array <> l -> Bottom <> l -> array s' = array s -> bottom s' = bottom s ->
  match p with StealArray _ => False | _ => array_line s w p end -> arrays_ok s'.
Proof.
  intros I V P M Na Nb A B L. eapply arrays_stay; try eassumption; rewrite ?A, ?B; auto.
  - intros k g' H. rewrite M, add_elsewhere in H by assumption. auto.
  - intros k g' H. rewrite M, add_elsewhere in H by assumption. auto.
  - apply (no_array_no_push _ I).
  - destruct p; simpl in *; rewrite ?A; auto. contradiction.
Qed.

Lemma the_owner_sees_its_array s : invariant s -> array s <> 0 -> sees_an_array s (views s owner).
Proof. intros I N k g L M. rewrite (array_known _ _ _ (the_deque _ _ _ I) k g L M). assumption. Qed.

Lemma nothing_pushed_without_an_array s : invariant s -> array s = 0 -> written_to owner s <= bottom s.
Proof.
  intros I Z. pose proof (the_deque _ _ _ I) as D. pose proof (room _ _ _ D) as R. rewrite Z in R. simpl in R.
  destruct (seen_is_old _ _ _ D). destruct (top_bottom _ _ _ D). lia.
Qed.

Lemma a_restore_releases : releases (orders pop_restore) = true.
Proof. pose proof arrays as O. unfold enough_for_arrays in O. rewrite !andb_true_iff in O. tauto. Qed.
Lemma a_reset_releases : releases (orders pop_reset) = true.
Proof. pose proof arrays as O. unfold enough_for_arrays in O. rewrite !andb_true_iff in O. tauto. Qed.

Lemma a_bottom_keeps_arrays s s' w p c g :
  arrays_ok s -> invariant s -> views s' = update (views s) owner w -> points s' = update (points s) owner p ->
  mem s' = add location_eq (mem s) Bottom c g -> array s' = array s -> (array s' = 0 -> bottom s' = 1) ->
  (1 < value g -> array s <> 0) -> included (views s owner) (carried g) -> array_line s' w p -> arrays_ok s'.
Proof.
  intros I Inv V P M A B N In L. eapply arrays_stay; try eassumption; try congruence.
  - intros k g0 H. rewrite M, add_elsewhere in H by discriminate. auto.
  - intros k g0 H. rewrite M in H. apply add_inv in H as [(_ & _ & ->) | H]; [| auto]. right. intro Vg.
    apply sees_an_array_more with (v := views s owner); [apply the_owner_sees_its_array; auto | assumption].
Qed.

Ltac reads H :=
  match type of H with
  | context [load location_eq ?m ?v ?o ?l ?t] =>
      let El := fresh in
      destruct (load location_eq m v o l t) as [[found w] |] eqn:El; [| discriminate H];
      apply load_says in El as (g & M & V & L & In & Rk & Aq); subst found
  end.
Ltac stores H :=
  match type of H with
  | context [store location_eq ?m ?v ?o ?l ?x ?t] =>
      let El := fresh in
      destruct (store location_eq m v o l x t) as [[m' w] |] eqn:El; [| discriminate H];
      apply store_says in El as (g & N & L & -> & V & In & Rk & Out)
  end.
Ltac quietly I :=
  eapply (arrays_stay_quietly _ _ _ _ _ I);
  [reflexivity | reflexivity | reflexivity | reflexivity | apply (no_array_no_push _ I) | intros _].
Ltac to_slot I :=
  eapply (arrays_stay_elsewhere _ _ _ _ _ _ _ _ I);
  [reflexivity | reflexivity | reflexivity | discriminate | discriminate | reflexivity | reflexivity | simpl].

Theorem every_line_keeps_the_arrays s i a s' : invariant s -> arrays_ok s -> step s i a = Some s' -> arrays_ok s'.
Proof.
  intros Inv I H. pose proof (array_lines _ I i) as Li. pose proof (no_array_no_push _ I) as Np. pose proof (the_deque _ _ _ Inv) as D.
  destruct a as [p | other | at_ lose].
  - simpl in H. destruct (points s i) eqn:P; try discriminate. destruct (may_call owner i p) eqn:C; [| discriminate].
    injection H as <-. quietly I. destruct p; simpl in *; auto; discriminate.
  - simpl in H. destruct (points s i) eqn:P; try discriminate. injection H as <-. quietly I. exact Logic.I.
  - unfold deque.step, note_load, note_store, note_won in H. destruct (points s i) eqn:P; simpl in H, Li; try discriminate.
    + reads H. injection H as <-. quietly I. unfold push_next. destruct rest; exact Logic.I.
    + reads H. injection H as <-. quietly I. destruct (_ <? _); [| destruct (_ =? _)]; exact Logic.I.
    + reads H. injection H as <-. quietly I. destruct (_ <? _); exact Logic.I.
    + injection H as <-. quietly I. unfold publish_written. destruct lose; [destruct (n =? 0) |]; exact Logic.I.
    + destruct (_ =? _); [injection H as <- | reads H; injection H as <-]; quietly I; exact Logic.I.
    + stores H. injection H as <-. to_slot I. exact Logic.I.
    + stores H. injection H as <-.
      eapply (arrays_stay _ _ _ _ _ I); [reflexivity | reflexivity | | | | discriminate | exact Logic.I].
      * intros k' g' M. apply add_inv in M as [(_ & _ & ->) | M]; [right; lia | auto].
      * intros k' g' M. simpl in M. rewrite add_elsewhere in M by discriminate. auto.
      * discriminate.
    + destruct rest as [| x rest].
      * injection H as <-. quietly I. unfold publish_written. destruct (n =? 0); exact Logic.I.
      * stores H. injection H as <-. to_slot I. unfold push_next, publish_written. destruct rest; exact Logic.I.
    + stores H. injection H as <-. destruct (the_owner_at _ _ s i _ Inv P eq_refl) as (-> & ->).
      assert (U : written_to owner s = bottom s + n) by (unfold written_to; rewrite P; reflexivity).
      assert (Z : array s = 0 -> n = 0) by (intro Z; pose proof (nothing_pushed_without_an_array s Inv Z); lia).
      eapply (a_bottom_keeps_arrays _ _ w Idle at_ g I Inv); try reflexivity; simpl; auto.
      * intro Z'. rewrite (Z Z'), (Np Z'). reflexivity.
      * intros V1 Z'. specialize (Z Z'). specialize (Np Z'). lia.
      * eapply included_trans; [exact In |]. apply Out. apply (a_push_releases _ elements).
    + reads H. injection H as <-. quietly I. exact Logic.I.
    + reads H. injection H as <-. quietly I. destruct (Nat.eqb_spec (value g) 0); [exact Logic.I |]. simpl.
      destruct (the_owner_at _ _ s i _ Inv P eq_refl) as (-> & _). pose proof (array_known _ _ _ D at_ g L M). congruence.
    + stores H. injection H as <-. destruct (the_owner_at _ _ s i _ Inv P eq_refl) as (-> & _).
      eapply (a_bottom_keeps_arrays _ _ w (PopFence b a) at_ g I Inv); try reflexivity; simpl; auto.
      eapply included_trans; [exact In |]. apply Out. apply (a_reservation_releases _ elements).
    + destruct (fence _ _ _). injection H as <-. quietly I. exact Li.
    + reads H. injection H as <-. quietly I. destruct (_ <? _); exact Li.
    + stores H. injection H as <-. destruct (the_owner_at _ _ s i _ Inv P eq_refl) as (-> & _).
      eapply (a_bottom_keeps_arrays _ _ w Idle at_ g I Inv); try reflexivity; simpl; auto.
      eapply included_trans; [exact In |]. apply Out. apply a_restore_releases.
    + reads H. destruct (the_owner_at _ _ s i _ Inv P eq_refl) as (-> & _).
      destruct (t <? b); injection H as <-; [| quietly I; exact Li].
      eapply (arrays_stay_quietly _ _ owner w Idle I);
        [reflexivity | reflexivity | reflexivity | reflexivity | intro Z; contradiction | intros _; exact Logic.I].
    + destruct lose.
      * reads H. destruct (negb _); [| discriminate]. injection H as <-. quietly I. exact Li.
      * destruct (exchange _ _ _ _ _ _ _ _) as [[m' w] |] eqn:El; [| discriminate]. injection H as <-.
        apply exchange_says in El as (g & g' & M & V & N & L & -> & V' & In & Rk & _). to_slot I. exact Li.
    + stores H. injection H as <-. destruct (the_owner_at _ _ s i _ Inv P eq_refl) as (-> & _).
      eapply (a_bottom_keeps_arrays _ _ w Idle at_ g I Inv); try reflexivity; simpl; auto.
      eapply included_trans; [exact In |]. apply Out. apply a_reset_releases.
    + reads H. injection H as <-. quietly I. simpl. destruct (top_says _ _ _ D at_ g M). lia.
    + destruct (fence _ _ _). injection H as <-. quietly I. exact Li.
    + reads H. injection H as <-. quietly I. destruct (Nat.leb_spec (value g) t); [exact Logic.I |]. simpl.
      eapply sees_an_array_more; [apply (bottoms_bring_arrays _ I at_ g M); lia |].
      apply Aq, (a_thief_acquires_the_bottom _ elements).
    + reads H. injection H as <-. quietly I. simpl. apply (Li at_ g L M).
    + reads H. injection H as <-. quietly I. exact Logic.I.
    + destruct lose.
      * reads H. destruct (negb _); [| discriminate]. injection H as <-. quietly I. exact Logic.I.
      * destruct (exchange _ _ _ _ _ _ _ _) as [[m' w] |] eqn:El; [| discriminate]. injection H as <-.
        apply exchange_says in El as (g & g' & M & V & N & L & -> & V' & In & Rk & _). to_slot I. exact Logic.I.
    + reads H. injection H as <-. quietly I. exact Logic.I.
    + reads H. injection H as <-. quietly I. exact Logic.I.
Qed.

Theorem arrays_of_every_run s : reachable s -> arrays_ok s.
Proof.
  induction 1 as [| s i a s' R IH H].
  - constructor; simpl; auto. intros k g M V. destruct (k =? 0); [| discriminate]. injection M as <-. simpl in V. lia.
  - eapply every_line_keeps_the_arrays; [| exact IH | exact H]. eapply invariant_of_every_run; eassumption.
Qed.

(* A thief that has found a bottom beyond its top reads a slot of an array: what its `check` asks. *)
Theorem a_thief_that_sees_an_element_sees_an_array s i t a : reachable s -> points s i = StealSlot t a -> a <> 0.
Proof. intros R P. pose proof (array_lines _ (arrays_of_every_run s R) i) as L. rewrite P in L. exact L. Qed.
End proof.

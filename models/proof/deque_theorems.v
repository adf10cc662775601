(* SPDX-License-Identifier: MIT *)
(* What the invariant says about the deque's operations. *)
Require Import Arith Lia Bool List Permutation.
Require Import memory deque deque_invariant.
Import ListNotations.
Open Scope list_scope.

Section theorems.
Variable first_capacity : nat.
Hypothesis capacity_positive : 0 < first_capacity.
Variable first_array : nat.
Variable orders : site -> order.
Variable owner : nat.
Hypothesis orders_enough : enough_for_elements orders = true.
Variable s : state.
Hypothesis a_run : reachable first_capacity first_array orders owner s.

Local Lemma I : invariant first_capacity owner s.
Proof. exact (invariant_of_every_run first_capacity capacity_positive first_array orders owner orders_enough s a_run). Qed.
Local Lemma D : deque_ok first_capacity owner s.
Proof. exact (the_deque _ _ _ I). Qed.

(* Whoever takes an element gets what was pushed, *)
Theorem a_take_returns_what_was_pushed k : In k (taken s) -> got k = what (taken_element k).
Proof. intro H. apply (takes_ok _ _ _ D k H). Qed.
(* and sees what its pusher had seen. *)
Theorem the_taker_sees_what_the_pusher_saw k : In k (taken s) -> included (pushed_with (taken_element k)) (taken_with k).
Proof. intro H. apply (takes_ok _ _ _ D k H). Qed.

(* Elements are numbered in the order of their pushes; each is in the deque, or was taken; *)
Theorem pushes_are_numbered : map number (pushed s) = seq 0 (length (pushed s)).
Proof. exact (numbers_pushed _ _ _ D). Qed.
Theorem no_element_is_lost : Permutation (pushed s) (map taken_element (taken s) ++ content s).
Proof. exact (nothing_lost _ _ _ D). Qed.
(* and none twice. *)
Theorem no_element_is_taken_twice : NoDup (map number (map taken_element (taken s) ++ content s)).
Proof.
  apply Permutation_NoDup with (l := map number (pushed s)); [apply Permutation_map, no_element_is_lost |].
  rewrite pushes_are_numbered. apply seq_NoDup.
Qed.

(* There are never more elements than the array in use has slots. *)
Theorem the_deque_never_overflows : length (content s) <= capacity first_capacity (array s).
Proof.
  unfold content. rewrite map_length, seq_length. pose proof (room _ _ _ D) as R. destruct (seen_is_old _ _ _ D).
  unfold written_to in R. lia.
Qed.

(* A thief whose claim can still succeed has read the element, and the element is there. *)
Theorem a_claim_that_can_succeed_read_the_element i t x :
  points s i = StealClaim t x -> top s = t -> t < bottom s /\ x = what (at_index s t).
Proof.
  intros P E. destruct (at_line _ _ s i _ I P) as (T & _). simpl in T. destruct T as (_ & T & _).
  destruct (T E) as (U & _ & X). auto.
Qed.

(* When pop finds nothing, the deque is empty at that moment: it reads a top beyond its index, loses its compare-exchange (or has
   just won it, for the last element), or finds no array. *)
Theorem pop_finds_nothing_in_an_empty_deque b :
  points s owner = PopRestore b \/ points s owner = PopReset b \/ array s = 0 -> content s = [].
Proof.
  assert (E : top s = bottom s -> content s = []) by (intro E; unfold content; rewrite E, Nat.sub_diag; reflexivity).
  intros [P | [P | Z]]; apply E.
  - destruct (the_owner_at _ _ s owner _ I P eq_refl) as (_ & A & B). congruence.
  - destruct (the_owner_at _ _ s owner _ I P eq_refl) as (_ & A & B). congruence.
  - pose proof (room _ _ _ D) as R. destruct (seen_is_old _ _ _ D). destruct (top_bottom _ _ _ D).
    rewrite Z in R. unfold written_to in R. simpl in R. lia.
Qed.

(* A pop that takes without a compare-exchange takes an element that is there, and no claim of a thief can get it. *)
Theorem a_pop_of_one_of_several_takes_the_newest b a t :
  points s owner = PopSlot b a t -> t < b -> top s <= b /\ bottom s = b + 1.
Proof.
  intros P L. destruct (the_owner_at _ _ s owner _ I P eq_refl) as (_ & (B & _) & _ & C & _).
  destruct (Nat.lt_ge_cases b (top s)) as [H | H]; [specialize (C H) |]; lia.
Qed.

(* What a step does to the deque as a whole. *)
Inductive deque_step (i : nat) (s' : state) : Prop :=
| leaves_it : content s' = content s -> pushed s' = pushed s -> taken s' = taken s -> deque_step i s'
| pushes more : i = owner -> content s' = content s ++ more -> pushed s' = pushed s ++ more -> taken s' = taken s ->
    deque_step i s'
| takes_the_oldest k : content s = taken_element k :: content s' -> got k = what (taken_element k) -> pushed s' = pushed s ->
    taken s' = taken s ++ [k] -> deque_step i s'
| takes_the_newest k : i = owner -> content s = content s' ++ [taken_element k] -> got k = what (taken_element k) ->
    pushed s' = pushed s -> taken s' = taken s ++ [k] -> deque_step i s'.

Lemma a_claim_takes_the_oldest i k x at_ w b : top s = k -> k < bottom s -> x = what (at_index s k) -> b = bottom s ->
  forall s', top s' = k + 1 -> bottom s' = b -> at_index s' = at_index s -> pushed s' = pushed s ->
  taken s' = taken s ++ [Take (at_index s k) x i at_ w] -> deque_step i s'.
Proof.
  intros T L X -> s' T' B' I' P' K'. eapply takes_the_oldest; [| | exact P' | exact K']; [| exact X].
  unfold content. rewrite T, T', B', I'. replace (bottom s - k) with (S (bottom s - (k + 1))) by lia. simpl. do 3 f_equal. lia.
Qed.

Ltac leaves H := injection H as <-; apply leaves_it; reflexivity.
Ltac reads H := destruct (load _ _ _ _ _ _) as [[found w] |] eqn:El in H; [| discriminate H].
Ltac stores H := destruct (store _ _ _ _ _ _ _) as [[m w] |] eqn:El in H; [| discriminate H].

(* Each step leaves the deque as it is, or is one of a double-ended queue. *)
Theorem every_step_is_a_deque_step i a s' : step first_capacity orders owner s i a = Some s' -> deque_step i s'.
Proof.
  intro H. destruct a as [p | other | at_ lose].
  - simpl in H. destruct (points s i); try discriminate. destruct (may_call owner i p); [| discriminate]. leaves H.
  - simpl in H. destruct (points s i); try discriminate. leaves H.
  - pose proof (top_bottom _ _ _ D) as (Tp & Tb).
    unfold step, note_load, note_store, note_won in H. destruct (points s i) eqn:P; simpl in H; try discriminate;
      try (reads H; leaves H); try (stores H; leaves H); try (destruct (fence _ _ _); leaves H); try (leaves H).
    + destruct (_ =? _); [leaves H | reads H; leaves H].
    + destruct rest as [| x rest]; [leaves H |]. stores H. injection H as <-.
      destruct (the_owner_at _ _ s i _ I P eq_refl) as (-> & -> & _).
      apply leaves_it; simpl; auto. apply (content_stays first_capacity capacity_positive); simpl; auto. intros j L. apply update_other. lia.
    + stores H. injection H as <-. destruct (the_owner_at _ _ s i _ I P eq_refl) as (-> & _).
      eapply pushes; simpl; auto. unfold content. simpl.
      replace (bottom s + n - top s) with ((bottom s - top s) + n) by lia. rewrite seq_app, map_app. do 3 f_equal. lia.
    + reads H. destruct (Nat.ltb_spec t b) as [L | L]; [| leaves H]. injection H as <-.
      destruct (the_owner_at _ _ s i _ I P eq_refl) as (-> & (B & _) & _).
      destruct (a_pop_of_one_of_several_takes_the_newest b a t P L) as (U & _).
      apply load_says in El as (g & M & V & Lk & _).
      destruct (pop_slot_reads_its_element _ capacity_positive _ s b a t at_ g I P M Lk U) as (E & _).
      eapply takes_the_newest; simpl; auto; simpl; [| congruence]. unfold content. simpl. rewrite B.
      replace (b + 1 - top s) with ((b - top s) + 1) by lia. rewrite seq_app, map_app. simpl. do 3 f_equal. lia.
    + destruct lose; [reads H; destruct (negb _); [leaves H | discriminate] |].
      destruct (exchange _ _ _ _ _ _ _ _) as [[m w] |] eqn:El; [| discriminate]. injection H as <-.
      apply exchange_says in El as (g & g' & M & V & N & _).
      destruct (a_claim_is_of_the_newest_top _ capacity_positive _ s at_ g D M N) as (E1 & E2). assert (T : top s = b) by lia.
      destruct (the_owner_at _ _ s i _ I P eq_refl) as (-> & B & _ & _ & X). destruct (X T) as (_ & X2).
      apply (a_claim_takes_the_oldest owner b x (Some b) w (bottom s)); try reflexivity; try assumption. lia.
    + destruct lose; [reads H; destruct (negb _); [leaves H | discriminate] |].
      destruct (exchange _ _ _ _ _ _ _ _) as [[m w] |] eqn:El; [| discriminate]. injection H as <-.
      apply exchange_says in El as (g & g' & M & V & N & _).
      destruct (a_claim_is_of_the_newest_top _ capacity_positive _ s at_ g D M N) as (E1 & E2). assert (T : top s = t) by lia.
      destruct (a_claim_that_can_succeed_read_the_element i t x P T) as (U & X).
      apply (a_claim_takes_the_oldest i t x (Some t) w (bottom s)); try reflexivity; assumption.
Qed.
End theorems.

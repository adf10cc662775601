(* SPDX-License-Identifier: MIT *)
(* What is proved of the ring, for every reachable state: any number of operations, threads and rings, any capacity. *)
Require Import Arith Lia Bool List.
Require Import memory ring invariant.
Import ListNotations.
Open Scope list_scope.

Section theorems.
Variable capacity : nat.
Hypothesis capacity_positive : 0 < capacity.
Variable orders : site -> order.
Variable owner : nat -> nat.
Hypothesis values_orders : enough_for_values orders = true.

Notation reachable := (reachable capacity orders owner).
Notation step := (step capacity orders owner).

Lemma always s : reachable s -> invariant capacity orders owner s.
Proof. intro. eapply invariant_of_every_run; eauto. Qed.
Lemma ring_always s r : reachable s -> ring_ok capacity orders s (views s (owner r)) r.
Proof. intro R. apply (rings_ok _ _ _ _ (always s R)). Qed.

(* What the queue holds: pushed and not yet claimed. *)
Definition contents (s : state) (r : nat) : list nat := skipn (total (claims s r)) (map what (pushed s r)).

(* ---- Values ---- *)

Theorem a_claim_takes_what_was_pushed_there s r k c j v :
  reachable s -> nth_error (claims s r) k = Some c -> nth_error (taken c) j = Some v ->
  exists e, nth_error (pushed s r) (first c + j) = Some e /\ what e = v.
Proof.
  intros R C N. destruct (claims_ok _ _ _ _ _ (ring_always s r R) _ _ C) as (_ & _ & _ & _ & _ & _ & H).
  destruct (H _ _ N) as (e & A & B & _). eauto.
Qed.

(* Whoever takes an element has seen all that its pusher had seen when it pushed: the contents of a task are visible. *)
Theorem the_claimer_sees_what_the_pusher_saw s r k c j v :
  reachable s -> nth_error (claims s r) k = Some c -> nth_error (taken c) j = Some v ->
  exists e, nth_error (pushed s r) (first c + j) = Some e /\ included (pushed_with e) (claimed_with c).
Proof.
  intros R C N. destruct (claims_ok _ _ _ _ _ (ring_always s r R) _ _ C) as (_ & _ & _ & _ & _ & _ & H).
  destruct (H _ _ N) as (e & A & _ & B). eauto.
Qed.

Lemma claims_end_within_pushed s r : reachable s -> total (claims s r) <= length (pushed s r).
Proof. intro R. apply (head_not_past_tail _ _ _ _ _ (ring_always s r R)). Qed.

Lemma claims_begin_where_the_last_ended s r k c :
  reachable s -> nth_error (claims s r) k = Some c -> first c = total (firstn k (claims s r)).
Proof. intros R C. apply (claims_ok _ _ _ _ _ (ring_always s r R) _ _ C). Qed.

Theorem no_position_is_claimed_twice s r j k c d :
  reachable s -> j < k -> nth_error (claims s r) j = Some c -> nth_error (claims s r) k = Some d ->
  first c + length (taken c) <= first d.
Proof.
  intros R L C D.
  rewrite (claims_begin_where_the_last_ended s r j c R C), (claims_begin_where_the_last_ended s r k d R D).
  pose proof (total_firstn_le (claims s r) (S j) k L) as T.
  enough (E : total (firstn (S j) (claims s r)) = total (firstn j (claims s r)) + length (taken c)) by lia.
  clear - C. revert j C. induction (claims s r) as [| a l IH]; intros [| j] C; simpl in *; try discriminate.
  - inversion C; subst; lia.
  - rewrite (IH j C). lia.
Qed.

Lemma firstn_more {A} (l : list A) (part : list A) n :
  (forall j v, nth_error part j = Some v -> nth_error l (n + j) = Some v) -> n + length part <= length l ->
  firstn (n + length part) l = firstn n l ++ part.
Proof.
  revert n. induction part as [| a part IH]; intros n H L; simpl in *.
  - rewrite Nat.add_0_r, app_nil_r. reflexivity.
  - replace (n + S (length part)) with (S n + length part) by lia. rewrite IH.
    + pose proof (H 0 a eq_refl) as N. rewrite Nat.add_0_r in N.
      replace (firstn (S n) l) with (firstn n l ++ [a]); [rewrite <- app_assoc; reflexivity |].
      clear - N. revert n N. induction l as [| b l IH]; intros [| n] N; simpl in *; try discriminate.
      * inversion N; reflexivity.
      * f_equal. apply IH. assumption.
    + intros j v N. specialize (H (S j) v N). rewrite <- H. f_equal. lia.
    + lia.
Qed.

(* First in, first out; with it: nothing is lost, nothing is doubled. *)
Theorem claims_take_the_pushes_in_order s r :
  reachable s -> concat (map taken (claims s r)) = firstn (total (claims s r)) (map what (pushed s r)).
Proof.
  intro R. pose proof (claims_end_within_pushed s r R) as T.
  assert (H : forall k c, nth_error (claims s r) k = Some c ->
            first c = total (firstn k (claims s r)) /\
            forall j v, nth_error (taken c) j = Some v -> nth_error (map what (pushed s r)) (first c + j) = Some v).
  { intros k c C. split; [apply claims_begin_where_the_last_ended; assumption |]. intros j v N.
    destruct (a_claim_takes_what_was_pushed_there s r k c j v R C N) as (e & A & B).
    rewrite nth_error_map, A. simpl. congruence. }
  revert H T. generalize (claims s r). intro cs. rewrite <- (map_length what (pushed s r)).
  generalize (map what (pushed s r)). intro vs.
  induction cs as [| c cs IH] using rev_ind; intros H T; [reflexivity |].
  rewrite total_app in *. simpl in *. rewrite Nat.add_0_r in *. rewrite map_app, concat_app. simpl. rewrite app_nil_r.
  destruct (H (length cs) c) as (F & N).
  { rewrite nth_error_app2, Nat.sub_diag by lia. reflexivity. }
  rewrite firstn_app, firstn_all, Nat.sub_diag in F. simpl in F. rewrite app_nil_r in F.
  rewrite firstn_more; [| rewrite <- F; exact N | lia].
  f_equal. apply IH; [| lia]. intros k d D. pose proof (nth_error_lt _ _ _ D) as L.
  destruct (H k d (nth_error_prefix _ _ _ _ D)) as (A & B). split; [| exact B].
  rewrite A, firstn_prefix by lia. reflexivity.
Qed.

Theorem what_was_pushed_is_claimed_or_in_the_ring s r :
  reachable s -> map what (pushed s r) = concat (map taken (claims s r)) ++ contents s r.
Proof. intro R. rewrite claims_take_the_pushes_in_order by assumption. symmetry. apply firstn_skipn. Qed.

Theorem the_ring_never_overflows s r : reachable s -> length (contents s r) <= capacity.
Proof.
  intro R. pose proof (ring_always s r R) as I. unfold contents. rewrite skipn_length, map_length.
  pose proof (room_ok _ _ _ _ _ I). pose proof (seen_is_old _ _ _ _ _ I) as O. unfold head_at in O.
  pose proof (total_firstn_all (claims s r) (views s (owner r) (Head r))). lia.
Qed.

(* ---- Slots ---- *)

(* No push, and no half-made steal into the ring, has written over an element that can still be claimed. *)
Theorem an_unclaimed_element_is_the_newest_in_its_slot s r x e :
  reachable s -> nth_error (pushed s r) x = Some e -> total (claims s r) <= x ->
  (exists g, mem s (slot capacity r x) (written_at e) = Some g /\ value g = what e) /\
  forall k g, mem s (slot capacity r x) k = Some g -> k <= written_at e.
Proof.
  intros R N T. pose proof (ring_always s r R) as I. split; [apply (element_there _ _ _ _ _ I); assumption |].
  intros k g. apply (element_newest _ _ _ _ _ I); assumption.
Qed.

(* A taker that is about to claim, and whose head is still the newest, has read the elements themselves, each from the
   message that its pusher wrote: neither older nor overwritten. *)
Theorem a_claim_that_can_succeed_read_the_elements s i k r h t got j v ts :
  reachable s -> points s i = TakeClaim k r h t got -> total (claims s r) = h -> nth_error got j = Some (v, ts) ->
  exists e, nth_error (pushed s r) (h + j) = Some e /\ ts = written_at e /\ v = what e.
Proof.
  intros R P T N. pose proof (threads_ok _ _ _ _ (always s R) i) as L. rewrite P in L.
  destruct L as (_ & Rd & _ & _). destruct (Rd _ _ _ N) as (e & g & A & B & D & F).
  destruct (an_unclaimed_element_is_the_newest_in_its_slot s r (h + j) e R A ltac:(lia)) as ((g' & B' & D') & M).
  specialize (M _ _ B). assert (ts = written_at e) by lia. subst ts. exists e. repeat split; auto. congruence.
Qed.

(* drain() claims first and reads then: still the elements. *)
Theorem drain_reads_what_it_claimed s i r h t got j v ts :
  reachable s -> points s i = DrainSlot r h t got -> nth_error got j = Some (v, ts) ->
  exists e, nth_error (pushed s r) (h + j) = Some e /\ v = what e.
Proof.
  intros R P N. pose proof (threads_ok _ _ _ _ (always s R) i) as L. rewrite P in L.
  destruct L as (_ & M & Rd). destruct (Rd _ _ _ N) as (e & g & A & B & D & F).
  pose proof (M (h + j) e ts g ltac:(lia) A B). assert (ts = written_at e) by lia. subst ts.
  destruct (element_there _ _ _ _ _ (ring_always s r R) _ _ A) as (g' & B' & D').
  unfold slot in *. exists e. split; [assumption | congruence].
Qed.

(* steal_half_into publishes all that it takes but the newest, which it returns. *)
Theorem a_thief_publishes_all_but_the_newest s i r m h t mt got written :
  reachable s -> points s i = IntoClaim r m h t mt got written ->
  exists newest, map fst got = map fst written ++ [newest].
Proof.
  intros R P. pose proof (threads_ok _ _ _ _ (always s R) i) as L. rewrite P in L. apply L.
Qed.

(* ---- Steps of a queue ---- *)

(* Each step leaves each queue as it is, or adds at its end, or takes from its front what the claim says. *)
Definition queue_step (before after : list nat) (made : list claim) : Prop :=
  (after = before /\ made = []) \/
  (exists added, after = before ++ added /\ made = []) \/
  (exists c, before = taken c ++ after /\ made = [c]).

Lemma a_step_adds_elements_or_a_claim s i a s' r :
  step s i a = Some s' ->
  (exists es, pushed s' r = pushed s r ++ es /\ claims s' r = claims s r) \/
  (exists c, pushed s' r = pushed s r /\ claims s' r = claims s r ++ [c]).
Proof.
  assert (Same : forall s1, pushed s1 r = pushed s r -> claims s1 r = claims s r ->
            (exists es, pushed s1 r = pushed s r ++ es /\ claims s1 r = claims s r) \/
            (exists c, pushed s1 r = pushed s r /\ claims s1 r = claims s r ++ [c])).
  { intros s1 A B. left. exists []. rewrite app_nil_r. auto. }
  intro H. destruct a as [p | other | at_ lose]; simpl in H.
  - destruct (points s i); try discriminate. destruct (may_call owner i p); [| discriminate]. inversion H; subst. apply Same; reflexivity.
  - destruct (points s i); try discriminate. inversion H; subst. apply Same; reflexivity.
  - destruct (code capacity (head_seen s) (points s i)) eqn:Ec; try discriminate.
    + inversion H; subst. apply Same; reflexivity.
    + destruct (load _ _ _ _ _ _) as [[v w] |]; [| discriminate]. inversion H; subst.
      apply Same; simpl; unfold note_load; destruct (points s i); try reflexivity;
        match goal with |- context [if ?b then _ else _] => destruct b end; reflexivity.
    + destruct (store _ _ _ _ _ _ _) as [[m w] |]; [| discriminate]. inversion H; subst.
      unfold note_store. destruct (points s i); try (apply Same; reflexivity).
      simpl. unfold update. destruct (Nat.eqb_spec r r0) as [-> |]; [left; eauto | apply Same; reflexivity].
    + destruct lose.
      * destruct (load _ _ _ _ _ _) as [[v w] |]; [| discriminate]. destruct (weak || _); [| discriminate].
        inversion H; subst. apply Same; reflexivity.
      * destruct (exchange _ _ _ _ _ _ _ _) as [[m w] |]; [| discriminate]. inversion H; subst.
        unfold note_won. destruct (points s i); try (apply Same; reflexivity);
          simpl; unfold update; (destruct (Nat.eqb_spec r r0) as [-> |]; [right; eauto | apply Same; reflexivity]).
Qed.

Theorem every_step_is_a_queue_step s i a s' r :
  reachable s -> step s i a = Some s' ->
  exists made, claims s' r = claims s r ++ made /\ queue_step (contents s r) (contents s' r) made.
Proof.
  intros R H. assert (R' : reachable s') by (eapply reachable_step; eassumption).
  pose proof (claims_end_within_pushed s r R) as T.
  destruct (a_step_adds_elements_or_a_claim s i a s' r H) as [(es & P & C) | (c & P & C)].
  - exists []. rewrite app_nil_r. split; [assumption |]. right. left. exists (map what es). split; [| reflexivity].
    unfold contents. rewrite P, C, map_app, skipn_app, map_length.
    replace (total (claims s r) - length (pushed s r)) with 0 by lia. reflexivity.
  - exists [c]. split; [assumption |]. right. right. exists c. split; [| reflexivity].
    pose proof (what_was_pushed_is_claimed_or_in_the_ring s r R) as A.
    pose proof (what_was_pushed_is_claimed_or_in_the_ring s' r R') as B.
    rewrite P, A, C, map_app, concat_app in B. simpl in B. rewrite app_nil_r, <- app_assoc in B.
    apply app_inv_head in B. exact B.
Qed.

(* ---- Empty ---- *)

(* The owner's "empty": nothing is in the ring at this moment. *)
Theorem pop_says_empty_of_an_empty_ring s i r t k g :
  reachable s -> points s i = PopHead r t \/ points s i = DrainHead r t ->
  mem s (Head r) k = Some g -> value g = t -> contents s r = [].
Proof.
  intros R P M V. pose proof (threads_ok _ _ _ _ (always s R) i) as L. pose proof (ring_always s r R) as I.
  assert (t = length (pushed s r)) by (destruct P as [P | P]; rewrite P in L; apply L).
  destruct (head_says _ _ _ _ _ I _ _ M) as (_ & Hv). unfold head_at in Hv.
  pose proof (total_firstn_all (claims s r) k). unfold contents. apply skipn_all2. rewrite map_length. lia.
Qed.

(* A thief's "empty": who made the last claim that the thief knows of took all there was, to its own knowledge; and if that
   was the owner, nothing was in the ring at the moment after the claim. *)
Theorem empty_was_true_after_the_last_claim s a :
  enough_for_empty orders = true -> reachable s -> In a (empties s) ->
  head_then a = 0 \/
  exists k c, nth_error (claims s (of_ring a)) k = Some c /\
    first c + length (taken c) = head_then a /\ tail_read c = head_then a /\
    (match kind_of c with Some kd => of_owner kd = true | None => True end ->
     pushed_then c = first c + length (taken c)).
Proof.
  intros E R H. pose proof (ring_always s (of_ring a) R) as I.
  destruct (empties_ok _ _ _ _ (always s R) a H) as (k & g & L & Hd & M & V & B).
  destruct k as [| k]; [left; rewrite <- Hd; reflexivity | right].
  destruct (nth_error (claims s (of_ring a)) k) as [c |] eqn:C.
  2: { apply nth_error_None in C. lia. }
  specialize (B E k c ltac:(lia) C).
  destruct (claims_ok _ _ _ _ _ I _ _ C) as (F & T1 & T2 & T3 & Ow & (k' & g' & M' & V' & L') & _).
  assert (tail_read c <= head_then a).
  { rewrite <- V, <- V'. eapply (tail_grows _ _ _ _ _ I); eauto. lia. }
  assert (head_then a = first c + length (taken c)).
  { rewrite <- Hd, F. unfold head_at. clear - C. revert k C.
    induction (claims s (of_ring a)) as [| d l IH]; intros [| k] C; simpl in *; try discriminate.
    - inversion C; subst; lia.
    - rewrite (IH k C). lia. }
  exists k, c. repeat split; auto; try lia. intro W. specialize (Ow W). lia.
Qed.

(* Nor is "empty" said of an element of whose push the thief knew: all of them have been claimed. *)
Theorem empty_leaves_no_known_element s i k r h at_ g g' ts :
  reachable s -> points s i = TakeTail k r h ->
  mem s (Tail r) at_ = Some g -> views s i (Tail r) <= at_ -> value g = h ->   (* it reads this tail, and says "empty" *)
  of_owner k = false ->
  mem s (Tail r) ts = Some g' -> ts <= views s i (Tail r) ->                   (* a tail that it knows *)
  value g' <= total (claims s r).
Proof.
  intros R P M L V O M' L'. pose proof (ring_always s r R) as I.
  pose proof (threads_ok _ _ _ _ (always s R) i) as T. rewrite P in T. destruct T as (_ & T). rewrite O in T.
  destruct T as (n & A & B & _). pose proof (tail_grows _ _ _ _ _ I _ _ _ _ M' M ltac:(lia)).
  pose proof (total_firstn_all (claims s r) n). unfold head_at in B. lia.
Qed.

(* ---- How many ---- *)

(* A claim takes from k elements that were all in the ring at the claim: those between the head, which is the newest, and
   the tail that the taker had read. *)
Theorem a_claim_counts_elements_that_are_there s r k c :
  reachable s -> nth_error (claims s r) k = Some c ->
  first c + length (taken c) <= tail_read c /\ tail_read c <= pushed_then c /\ pushed_then c <= length (pushed s r).
Proof. intros R C. destruct (claims_ok _ _ _ _ _ (ring_always s r R) _ _ C) as (_ & A & B & D & _). auto. Qed.

End theorems.

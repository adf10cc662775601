(* SPDX-License-Identifier: MIT *)
(* What holds at every moment of every run of the ring, and the proof that every line keeps it. *)
Require Import Arith Lia Bool List.
Require Import memory ring.
Import ListNotations.
Open Scope list_scope.

(* The orders that the values need, and those that "empty" needs. *)
Definition enough_for_values (o : site -> order) : bool :=
  releases (o push_publish) && releases (o push_batch_publish) && releases (o steal_publish) &&
  acquires (o steal_tail).
Definition enough_for_empty (o : site -> order) : bool :=
  releases (o pop_claim) && releases (o drain_claim) && releases (o shed_claim) && releases (o steal_claim) &&
  acquires (o steal_head).

Definition total (cs : list claim) : nat := fold_right (fun c n => length (taken c) + n) 0 cs.

Lemma total_app a b : total (a ++ b) = total a + total b.
Proof. induction a; simpl; lia. Qed.
Lemma total_firstn_le cs : forall j k, j <= k -> total (firstn j cs) <= total (firstn k cs).
Proof.
  induction cs as [| c cs IH]; intros [| j] [| k] H; simpl; try lia.
  specialize (IH j k); lia.
Qed.
Lemma total_firstn_all cs k : total (firstn k cs) <= total cs.
Proof. rewrite <- (firstn_skipn k cs) at 2. rewrite total_app. lia. Qed.

Lemma nth_error_prefix {A} (l more : list A) i x : nth_error l i = Some x -> nth_error (l ++ more) i = Some x.
Proof. intro H. rewrite nth_error_app1; [assumption |]. apply nth_error_Some; congruence. Qed.
Lemma nth_error_last {A} (l : list A) x i y :
  nth_error (l ++ [x]) i = Some y -> nth_error l i = Some y \/ (i = length l /\ y = x).
Proof.
  intro H. destruct (Nat.lt_ge_cases i (length l)).
  - left. rewrite nth_error_app1 in H; assumption.
  - right. rewrite nth_error_app2 in H by assumption.
    destruct (i - length l) as [| n] eqn:E; simpl in H; [inversion H; split; [lia | reflexivity] |].
    destruct n; discriminate.
Qed.
Lemma nth_error_lt {A} (l : list A) i x : nth_error l i = Some x -> i < length l.
Proof. intro H. apply nth_error_Some. congruence. Qed.
Lemma firstn_prefix {A} (l more : list A) k : k <= length l -> firstn k (l ++ more) = firstn k l.
Proof. intro. rewrite firstn_app. replace (k - length l) with 0 by lia. simpl. apply app_nil_r. Qed.

Lemma nth_error_skip {A} (l : list A) h j : nth_error (skipn h l) j = nth_error l (h + j).
Proof. revert l. induction h as [| h IH]; intros [| a l]; simpl; auto. destruct j; reflexivity. Qed.
Lemma nth_error_firstn_inv {A} (l : list A) n j x : nth_error (firstn n l) j = Some x -> nth_error l j = Some x.
Proof. intro H. rewrite <- (firstn_skipn n l). apply nth_error_prefix. assumption. Qed.

(* Two counts less than a capacity apart share no slot. *)
Lemma same_slot_far_apart c a b : 0 < c -> a < b -> b < a + c -> a mod c <> b mod c.
Proof.
  intros P L U E.
  pose proof (Nat.div_mod a c ltac:(lia)) as Da. pose proof (Nat.div_mod b c ltac:(lia)) as Db.
  rewrite E in Da.
  assert (a / c < b / c) by nia. nia.
Qed.

Section proof.
Variable capacity : nat.
Hypothesis capacity_positive : 0 < capacity.
Variable orders : site -> order.
Variable owner : nat -> nat.
Hypothesis values_orders : enough_for_values orders = true.

Notation slot := (slot capacity).
Notation included := (@included location).

Definition head_at (s : state) (r k : nat) : nat := total (firstn k (claims s r)).

(* Of a ring, with its owner's view. *)
Record ring_ok (s : state) (own : view location) (r : nat) : Prop := {
  (* The head's messages are numbered without a gap: one for each claim. *)
  head_says : forall k g, mem s (Head r) k = Some g -> k <= length (claims s r) /\ value g = head_at s r k;
  head_there : forall k, k <= length (claims s r) -> mem s (Head r) k <> None;
  (* The newest tail says how many were pushed; the owner knows it. *)
  tail_newest : exists k g, mem s (Tail r) k = Some g /\ value g = length (pushed s r) /\ k <= own (Tail r) /\
                            forall k' g', mem s (Tail r) k' = Some g' -> k' <= k;
  tail_grows : forall k g k' g', mem s (Tail r) k = Some g -> mem s (Tail r) k' = Some g' -> k <= k' -> value g <= value g';
  (* A tail brings the elements before it. *)
  tail_brings : forall k g x e, mem s (Tail r) k = Some g -> x < value g -> nth_error (pushed s r) x = Some e ->
                                written_at e <= carried g (slot r x) /\ included (pushed_with e) (carried g);
  head_not_past_tail : total (claims s r) <= length (pushed s r);
  (* An element is in its slot, and nothing newer is, while it can be claimed. *)
  element_there : forall x e, nth_error (pushed s r) x = Some e ->
                              exists g, mem s (slot r x) (written_at e) = Some g /\ value g = what e;
  element_newest : forall x e k g, nth_error (pushed s r) x = Some e -> total (claims s r) <= x ->
                                   mem s (slot r x) k = Some g -> k <= written_at e;
  (* The owner knows its slots, and what it has pushed. *)
  slots_known : forall j k g, mem s (Slot r j) k = Some g -> k <= own (Slot r j);
  elements_known : forall x e, nth_error (pushed s r) x = Some e -> included (pushed_with e) own;
  (* The remembered head errs on the side of "full". *)
  seen_is_old : head_seen s r <= head_at s r (own (Head r));
  room_ok : length (pushed s r) <= head_seen s r + capacity;
  claims_ok : forall k c, nth_error (claims s r) k = Some c ->
    first c = head_at s r k /\
    first c + length (taken c) <= tail_read c /\
    tail_read c <= pushed_then c /\ pushed_then c <= length (pushed s r) /\
    (match kind_of c with Some kd => of_owner kd = true | None => True end -> tail_read c = pushed_then c) /\
    (exists k' g, mem s (Tail r) k' = Some g /\ value g = tail_read c /\ k' <= claimed_with c (Tail r)) /\
    (forall j v, nth_error (taken c) j = Some v ->
       exists e, nth_error (pushed s r) (first c + j) = Some e /\ what e = v /\ included (pushed_with e) (claimed_with c));
  (* A head brings what its claimer, and all before it, knew. *)
  head_brings : enough_for_empty orders = true -> forall k g j c,
    mem s (Head r) k = Some g -> j < k -> nth_error (claims s r) j = Some c -> included (claimed_with c) (carried g)
}.

(* Of a thread with view v, at a program point. *)
Definition sees_elements (s : state) (v : view location) r h t : Prop :=
  t <= length (pushed s r) /\
  forall x e, h <= x -> x < t -> nth_error (pushed s r) x = Some e ->
              written_at e <= v (slot r x) /\ included (pushed_with e) v.
Definition read_ok (s : state) r h (got : list (nat * nat)) : Prop :=
  forall j v k, nth_error got j = Some (v, k) ->
    exists e g, nth_error (pushed s r) (h + j) = Some e /\ mem s (slot r (h + j)) k = Some g /\ value g = v /\
                written_at e <= k.
Definition tail_known (s : state) (v : view location) r t : Prop :=
  exists k g, mem s (Tail r) k = Some g /\ value g = t /\ k <= v (Tail r).
Definition head_known (s : state) (v : view location) r h : Prop :=
  exists k, k <= length (claims s r) /\ head_at s r k = h /\
    (enough_for_empty orders = true ->
     forall j c, j < k -> nth_error (claims s r) j = Some c -> included (claimed_with c) v).
Definition written_ok (s : state) r t (written : list (nat * nat)) : Prop :=
  forall j v k, nth_error written j = Some (v, k) ->
    (exists g, mem s (slot r (t + j)) k = Some g /\ value g = v) /\
    forall k' g, mem s (slot r (t + j)) k' = Some g -> k' <= k.

Definition at_tail (s : state) i r t : Prop := owner r = i /\ t = length (pushed s r).
Definition pushing (s : state) i r t written n : Prop :=
  at_tail s i r t /\ length written <= n /\ t + n <= head_seen s r + capacity /\ written_ok s r t written.
Definition taking (s : state) i v (own : bool) r h t got : Prop :=
  sees_elements s v r h t /\ read_ok s r h got /\ h + length got <= t /\ tail_known s v r t /\
  (own = true -> at_tail s i r t).
Definition draining (s : state) i r h t got : Prop :=
  at_tail s i r t /\ (forall x e k g, h <= x -> nth_error (pushed s r) x = Some e -> mem s (slot r x) k = Some g ->
                                      k <= written_at e) /\
  read_ok s r h got.

Definition kind_ok i k r : Prop :=
  match k with Pop | Shed _ => owner r = i | StealInto m _ => owner m = i /\ m <> r | _ => True end.

Definition local_ok (s : state) (i : nat) (v : view location) (p : point) : Prop :=
  match p with
  | Idle => True
  | PushTail _ r _ | PopTail r | DrainTail r => owner r = i
  | PushRoom _ r _ t | PushHead _ r _ t => at_tail s i r t
  | PushSlot _ r t rest written => pushing s i r t written (length written + length rest)
  | PushPublish _ r t written => pushing s i r t written (length written)
  | PopHead r t | DrainHead r t => at_tail s i r t /\ tail_known s v r t
  | TakeHead k r => kind_ok i k r
  | TakeTail k r h => kind_ok i k r /\ (if of_owner k then h <= length (pushed s r) else head_known s v r h)
  | TakeSlot k r h t n got => taking s i v (of_owner k) r h t got /\ length got <= n /\ h + n <= t
  | TakeClaim k r h t got => taking s i v (of_owner k) r h t got
  | IntoTail r m h t wanted => owner m = i /\ m <> r /\ taking s i v false r h t [] /\ 1 <= wanted /\ h + wanted <= t
  | IntoRoom r m h t wanted mt | IntoHead r m h t wanted mt =>
      at_tail s i m mt /\ m <> r /\ taking s i v false r h t [] /\ 1 <= wanted /\ h + wanted <= t
  | IntoSlot r m h t mt n got written =>
      pushing s i m mt written (n - 1) /\ m <> r /\ taking s i v false r h t got /\ 1 <= n /\ h + n <= t /\
      map fst got = map fst written
  | IntoStore r m h t mt n got written x =>
      pushing s i m mt written (n - 1) /\ m <> r /\ taking s i v false r h t got /\ h + n <= t /\
      map fst got = map fst written ++ [x] /\ length written < n - 1
  | IntoNewest r m h t mt got written =>
      pushing s i m mt written (length written) /\ m <> r /\ taking s i v false r h t got /\ h + length got < t /\
      map fst got = map fst written
  | IntoClaim r m h t mt got written =>
      pushing s i m mt written (length written) /\ m <> r /\ taking s i v false r h t got /\
      exists x, map fst got = map fst written ++ [x]
  | DrainClaim r h t => at_tail s i r t /\ tail_known s v r t
  | DrainSlot r h t got => draining s i r h t got
  end.

Definition empty_ok (s : state) (a : empty_answer) : Prop :=
  exists k g, k <= length (claims s (of_ring a)) /\ head_at s (of_ring a) k = head_then a /\
    mem s (Tail (of_ring a)) (tail_at a) = Some g /\ value g = head_then a /\
    (enough_for_empty orders = true -> forall j c, j < k -> nth_error (claims s (of_ring a)) j = Some c ->
       claimed_with c (Tail (of_ring a)) <= tail_at a).

Record invariant (s : state) : Prop := {
  rings_ok : forall r, ring_ok s (views s (owner r)) r;
  threads_ok : forall i, local_ok s i (views s i) (points s i);
  empties_ok : forall a, In a (empties s) -> empty_ok s a
}.

(* ---- What stays true while others go on ---- *)

Definition grows (s s' : state) : Prop :=
  (forall l k g, mem s l k = Some g -> mem s' l k = Some g) /\
  (forall r, exists more, pushed s' r = pushed s r ++ more) /\
  (forall r, exists more, claims s' r = claims s r ++ more).
(* What is thread i's alone has not changed. *)
Definition untouched (i : nat) (s s' : state) : Prop :=
  forall r, owner r = i -> pushed s' r = pushed s r /\ head_seen s' r = head_seen s r /\
                           forall j k, mem s' (Slot r j) k = mem s (Slot r j) k.

Lemma head_at_grows s s' r k : grows s s' -> k <= length (claims s r) -> head_at s' r k = head_at s r k.
Proof. intros (_ & _ & G) H. destruct (G r) as [m E]. unfold head_at. rewrite E, firstn_prefix; auto. Qed.
Lemma claims_nth_grows s s' r j c :
  grows s s' -> j < length (claims s r) -> nth_error (claims s' r) j = Some c -> nth_error (claims s r) j = Some c.
Proof. intros (_ & _ & G) H. destruct (G r) as [m E]. rewrite E, nth_error_app1; auto. Qed.
Lemma claims_length_grows s s' r : grows s s' -> length (claims s r) <= length (claims s' r).
Proof. intros (_ & _ & G). destruct (G r) as [m E]. rewrite E, app_length. lia. Qed.
Lemma pushed_length_grows s s' r : grows s s' -> length (pushed s r) <= length (pushed s' r).
Proof. intros (_ & G & _). destruct (G r) as [m E]. rewrite E, app_length. lia. Qed.
Lemma pushed_nth_grows s s' r x e : grows s s' -> nth_error (pushed s r) x = Some e -> nth_error (pushed s' r) x = Some e.
Proof. intros (_ & G & _) H. destruct (G r) as [m E]. rewrite E. apply nth_error_prefix; assumption. Qed.
Lemma pushed_nth_shrinks s s' r x e :
  grows s s' -> x < length (pushed s r) -> nth_error (pushed s' r) x = Some e -> nth_error (pushed s r) x = Some e.
Proof. intros (_ & G & _) H. destruct (G r) as [m E]. rewrite E, nth_error_app1; auto. Qed.

Lemma sees_elements_stays s s' v v' r h t :
  grows s s' -> included v v' -> sees_elements s v r h t -> sees_elements s' v' r h t.
Proof.
  intros G I (L & H). split; [pose proof (pushed_length_grows s s' r G); lia |].
  intros x e Hx Ht E. apply (pushed_nth_shrinks s s') in E; [| assumption | lia].
  destruct (H x e Hx Ht E) as [A B]. split; [specialize (I (slot r x)); lia | eauto using included_trans].
Qed.
Lemma read_ok_stays s s' r h got : grows s s' -> read_ok s r h got -> read_ok s' r h got.
Proof.
  intros G H j v k E. destruct (H j v k E) as (e & g & A & B & D & F). exists e, g.
  split; [eapply pushed_nth_grows; eassumption |]. destruct G as (G & _). auto.
Qed.
Lemma tail_known_stays s s' v v' r t : grows s s' -> included v v' -> tail_known s v r t -> tail_known s' v' r t.
Proof. intros (G & _) I (k & g & A & B & D). exists k, g. specialize (I (Tail r)). repeat split; auto. lia. Qed.
Lemma head_known_stays s s' v v' r h : grows s s' -> included v v' -> head_known s v r h -> head_known s' v' r h.
Proof.
  intros G I (k & A & B & D). exists k. split; [pose proof (claims_length_grows s s' r G); lia |].
  split; [rewrite (head_at_grows s s'); assumption |].
  intros E j c L N. apply (claims_nth_grows s s') in N; [| assumption | lia]. eauto using included_trans.
Qed.
Lemma at_tail_stays s s' i r t : untouched i s s' -> at_tail s i r t -> at_tail s' i r t.
Proof. intros U (O & E). destruct (U r O) as (P & _). split; congruence. Qed.
Lemma pushing_stays s s' i r t written n : untouched i s s' -> pushing s i r t written n -> pushing s' i r t written n.
Proof.
  intros U (A & L & R & W). pose proof A as (O & _). destruct (U r O) as (P & Q & M).
  split; [eapply at_tail_stays; eassumption |]. split; [assumption |]. split; [lia |].
  intros j v k E. unfold ring.slot. setoid_rewrite M. exact (W j v k E).
Qed.
Lemma taking_stays s s' i v v' own r h t got :
  grows s s' -> (own = true -> untouched i s s') -> included v v' -> taking s i v own r h t got ->
  taking s' i v' own r h t got.
Proof.
  intros G U I (A & B & D & E & F).
  split; [eapply sees_elements_stays; eassumption |]. split; [eapply read_ok_stays; eassumption |].
  split; [assumption |]. split; [eapply tail_known_stays; eassumption |].
  intro H. eapply at_tail_stays; [apply U; assumption | auto].
Qed.
Lemma draining_stays s s' i r h t got : grows s s' -> untouched i s s' -> draining s i r h t got -> draining s' i r h t got.
Proof.
  intros G U (A & B & D). split; [eapply at_tail_stays; eassumption |]. split; [| eapply read_ok_stays; eassumption].
  destruct A as (O & _). destruct (U r O) as (P & _ & M).
  intros x e k g Hx E F. rewrite P in E. unfold ring.slot in *. rewrite M in F. eauto.
Qed.

Lemma local_ok_stays s s' i v v' p :
  grows s s' -> untouched i s s' -> included v v' -> local_ok s i v p -> local_ok s' i v' p.
Proof.
  intros G U I. destruct p; simpl; auto; intros H;
    repeat match goal with H : _ /\ _ |- _ => destruct H end;
    repeat match goal with |- _ /\ _ => split end; auto;
    try (eapply at_tail_stays; eassumption); try (eapply pushing_stays; eassumption);
    try (eapply taking_stays; [eassumption | auto | eassumption | eassumption]); try (eapply tail_known_stays; eassumption);
    try (eapply draining_stays; eassumption).
  destruct (of_owner k); [pose proof (pushed_length_grows s s' r G); lia | eapply head_known_stays; eassumption].
Qed.

Lemma empty_ok_stays s s' a : grows s s' -> empty_ok s a -> empty_ok s' a.
Proof.
  intros G (k & g & A & B & D & E & F). exists k, g.
  split; [pose proof (claims_length_grows s s' (of_ring a) G); lia |].
  split; [rewrite (head_at_grows s s'); assumption |].
  split; [destruct G; auto |]. split; [assumption |].
  intros Q j c L N. apply (claims_nth_grows s s') in N; [| assumption | lia]. eauto.
Qed.

Lemma grows_refl s s' : mem s' = mem s -> pushed s' = pushed s -> claims s' = claims s -> grows s s'.
Proof.
  intros A B D. split; [rewrite A; auto |]. split; intro r; exists []; rewrite app_nil_r; congruence.
Qed.

(* ---- What a line does to a ring ---- *)

Lemma ring_ok_stays s s' own own' r :
  ring_ok s own r -> included own own' ->
  (forall k, mem s' (Head r) k = mem s (Head r) k) -> (forall k, mem s' (Tail r) k = mem s (Tail r) k) ->
  (forall j k, mem s' (Slot r j) k = mem s (Slot r j) k) ->
  pushed s' r = pushed s r -> claims s' r = claims s r -> head_seen s' r = head_seen s r -> ring_ok s' own' r.
Proof.
  intros [] I MH MT MS P Q R.
  assert (HA : forall k, head_at s' r k = head_at s r k) by (intro; unfold head_at; congruence).
  constructor; unfold ring.slot in *; rewrite ?P, ?Q, ?R; try setoid_rewrite MH; try setoid_rewrite MT;
    try setoid_rewrite MS; try setoid_rewrite HA; auto.
  - destruct tail_newest0 as (k & g & A & B & D & E). exists k, g. specialize (I (Tail r)). repeat split; auto. lia.
  - intros j k g H. specialize (slots_known0 j k g H). specialize (I (Slot r j)). lia.
  - intros x e H. eauto using included_trans.
  - specialize (I (Head r)). pose proof (total_firstn_le (claims s r) _ _ I). unfold head_at in *. lia.
Qed.

(* The owner writes the slot of a count that is not yet published, and within the room that it knows. *)
Lemma slot_store_keeps_ring s s' own own' r x at_ g :
  ring_ok s own r -> included own own' ->
  length (pushed s r) <= x -> x < head_seen s r + capacity ->
  own (slot r x) < at_ -> at_ <= own' (slot r x) ->
  mem s' = add location_eq (mem s) (slot r x) at_ g ->
  pushed s' r = pushed s r -> claims s' r = claims s r -> head_seen s' r = head_seen s r -> ring_ok s' own' r.
Proof.
  intros R I Lx Ux New Known M P Q S.
  assert (R' : ring_ok s own' r) by (eapply ring_ok_stays; eauto). clear I.
  pose proof (slots_known _ _ _ R) as K0. destruct R'.
  assert (HA : forall k, head_at s' r k = head_at s r k) by (intro; unfold head_at; congruence).
  assert (Old : forall j k g', mem s (Slot r j) k = Some g' -> mem s' (Slot r j) k = Some g').
  { intros j k g' H. rewrite M. destruct (location_eq (Slot r j) (slot r x)) as [E |].
    - rewrite add_otherwise; [assumption |]. right. intro; subst. unfold ring.slot in *. inversion E; subst.
      specialize (K0 _ _ _ H). lia.
    - rewrite add_elsewhere; assumption. }
  constructor; rewrite ?P, ?Q, ?S; try setoid_rewrite HA; auto.
  - intros k g' H. rewrite M, add_elsewhere in H by (unfold ring.slot; congruence). auto.
  - intros k H. rewrite M, add_elsewhere by (unfold ring.slot; congruence). auto.
  - destruct tail_newest0 as (k & g0 & A & B & D & E). exists k, g0.
    rewrite M, add_elsewhere by (unfold ring.slot; congruence). do 3 (split; [assumption |]).
    intros k' g' F. rewrite add_elsewhere in F by (unfold ring.slot; congruence). eauto.
  - intros k g0 k' g0'. rewrite M, !add_elsewhere by (unfold ring.slot; congruence). eauto.
  - intros k g0 y e. rewrite M, !add_elsewhere by (unfold ring.slot; congruence). eauto.
  - intros y e H. destruct (element_there0 y e H) as (g0 & A & B). exists g0. split; [apply Old; exact A | assumption].
  - intros y e k g0 H T G. rewrite M in G. apply add_inv in G as [(E & _ & _) | G]; [| eauto].
    exfalso. unfold ring.slot in E. inversion E as [E'].
    pose proof (nth_error_lt _ _ _ H). pose proof (total_firstn_all (claims s r) (own' (Head r))).
    unfold head_at in seen_is_old0.
    apply (same_slot_far_apart capacity y x capacity_positive); [lia | lia | exact E'].
  - intros j k g0 G. rewrite M in G. apply add_inv in G as [(E & -> & _) | G]; [rewrite E; assumption | eauto].
  - intros k c H. destruct (claims_ok0 k c H) as (A1 & A2 & A3 & A4 & A5 & A6 & A7). repeat split; auto.
    destruct A6 as (k' & g0 & B). exists k', g0. rewrite M, add_elsewhere by (unfold ring.slot; congruence). exact B.
  - intros E k g0 j c. rewrite M, add_elsewhere by (unfold ring.slot; congruence). eauto.
Qed.

(* The owner publishes what it has written. *)
Lemma publish_keeps_ring s s' own own' r written at_ g :
  ring_ok s own r -> included own own' -> included own' (carried g) ->
  written_ok s r (length (pushed s r)) written ->
  length (pushed s r) + length written <= head_seen s r + capacity ->
  own (Tail r) < at_ -> at_ <= own' (Tail r) ->
  value g = length (pushed s r) + length written ->
  mem s' = add location_eq (mem s) (Tail r) at_ g ->
  pushed s' r = pushed s r ++ map (fun w => Element (fst w) (snd w) own) written ->
  claims s' r = claims s r -> head_seen s' r = head_seen s r -> ring_ok s' own' r.
Proof.
  intros R I Out W Room New Known V M P Q S.
  pose proof R as R0. assert (R' : ring_ok s own' r) by (eapply ring_ok_stays; eauto).
  pose proof (slots_known _ _ _ R) as K0. destruct (tail_newest _ _ _ R) as (kt & gt & T1 & T2 & T3 & T4).
  pose proof (elements_known _ _ _ R) as EK.
  destruct R'.
  assert (HA : forall k, head_at s' r k = head_at s r k) by (intro; unfold head_at; congruence).
  assert (Len : length (pushed s' r) = length (pushed s r) + length written) by (rewrite P, app_length, map_length; auto).
  assert (Slots : forall j k, mem s' (Slot r j) k = mem s (Slot r j) k) by (intros; rewrite M, add_elsewhere; congruence).
  assert (Heads : forall k, mem s' (Head r) k = mem s (Head r) k) by (intros; rewrite M, add_elsewhere; congruence).
  (* Elements are old, or just written. *)
  assert (Which : forall x e, nth_error (pushed s' r) x = Some e ->
            nth_error (pushed s r) x = Some e \/
            (length (pushed s r) <= x /\ pushed_with e = own /\
             nth_error written (x - length (pushed s r)) = Some (what e, written_at e))).
  { intros x e H. rewrite P in H. destruct (Nat.lt_ge_cases x (length (pushed s r))).
    - left. rewrite nth_error_app1 in H; assumption.
    - right. rewrite nth_error_app2 in H by assumption. rewrite nth_error_map in H.
      destruct (nth_error written (x - length (pushed s r))) as [[a b] |]; [| discriminate].
      simpl in H. inversion H; subst. auto. }
  assert (Written : forall x e, nth_error (pushed s' r) x = Some e -> length (pushed s r) <= x ->
            nth_error written (x - length (pushed s r)) = Some (what e, written_at e) ->
            (exists g0, mem s (slot r x) (written_at e) = Some g0 /\ value g0 = what e) /\
            forall k g0, mem s (slot r x) k = Some g0 -> k <= written_at e).
  { intros x e _ L H. specialize (W _ _ _ H). replace (length (pushed s r) + (x - length (pushed s r))) with x in W by lia.
    destruct W as (A & B). split; [exact A | exact B]. }
  constructor; unfold ring.slot in *; rewrite ?Q, ?S; try setoid_rewrite HA; try setoid_rewrite Heads;
    try setoid_rewrite Slots; rewrite ?Len; auto.
  - exists at_, g. rewrite M, add_same. repeat split; auto.
    intros k' g' H. apply add_inv in H as [(_ & -> & _) | H]; [lia |]. specialize (T4 _ _ H). lia.
  - intros k g0 k' g0' A B L. rewrite M in A, B.
    apply add_inv in A as [(_ & -> & ->) | A]; apply add_inv in B as [(_ & -> & ->) | B]; eauto.
    + specialize (T4 _ _ B). lia.
    + specialize (tail_grows0 _ _ _ _ A T1 (T4 _ _ A)). lia.
  - intros k g0 x e A L N. rewrite M in A. apply add_inv in A as [(_ & -> & ->) | A].
    + destruct (Which x e N) as [N' | (L' & E & N')].
      * split; [| eapply included_trans; [apply (EK _ _ N') | eauto using included_trans]].
        destruct (element_there _ _ _ R0 _ _ N') as (g1 & B & _). unfold ring.slot in B.
        specialize (K0 _ _ _ B). specialize (I (Slot r (x mod capacity))). specialize (Out (Slot r (x mod capacity))). lia.
      * split; [| rewrite E; eauto using included_trans].
        destruct (Written x e N L' N') as ((g1 & B & _) & _).
        specialize (K0 _ _ _ B). specialize (I (Slot r (x mod capacity))). specialize (Out (Slot r (x mod capacity))). lia.
    + specialize (tail_grows0 _ _ _ _ A T1 (T4 _ _ A)).
      rewrite P, nth_error_app1 in N by lia. eauto.
  - lia.
  - intros x e H. destruct (Which x e H) as [N | (L & _ & N)]; [eauto | apply (Written x e H L N)].
  - intros x e k g0 H T G. destruct (Which x e H) as [N | (L & _ & N)]; [eauto | eapply (proj2 (Written x e H L N)); eauto].
  - intros x e H. destruct (Which x e H) as [N | (L & E & N)]; [eauto | rewrite E; assumption].
  - intros k c H. destruct (claims_ok0 k c H) as (A1 & A2 & A3 & A4 & A5 & A6 & A7). repeat split; auto; try lia.
    + destruct A6 as (k' & g0 & B1 & B2 & B3). exists k', g0. repeat split; auto. rewrite M.
      rewrite add_otherwise; [assumption |]. right. specialize (T4 _ _ B1). lia.
    + intros j v N. destruct (A7 j v N) as (e & B1 & B2). exists e. split; [rewrite P; apply nth_error_prefix; assumption | assumption].
Qed.

(* Somebody moves the head from where it is, by the elements of claim c. *)
Lemma claim_keeps_ring s s' own own' r k g g' c :
  ring_ok s own r -> included own own' ->
  mem s (Head r) k = Some g -> value g = first c -> mem s (Head r) (S k) = None ->
  mem s' = add location_eq (mem s) (Head r) (S k) g' -> value g' = first c + length (taken c) ->
  included (carried g) (carried g') ->
  (enough_for_empty orders = true -> included (claimed_with c) (carried g')) ->
  first c + length (taken c) <= tail_read c -> tail_read c <= length (pushed s r) -> pushed_then c = length (pushed s r) ->
  (match kind_of c with Some kd => of_owner kd = true | None => True end -> tail_read c = length (pushed s r)) ->
  (exists k' g, mem s (Tail r) k' = Some g /\ value g = tail_read c /\ k' <= claimed_with c (Tail r)) ->
  (first c = total (claims s r) -> forall j v, nth_error (taken c) j = Some v ->
       exists e, nth_error (pushed s r) (first c + j) = Some e /\ what e = v /\ included (pushed_with e) (claimed_with c)) ->
  pushed s' r = pushed s r -> claims s' r = claims s r ++ [c] -> head_seen s' r = head_seen s r ->
  ring_ok s' own' r.
Proof.
  intros R I Hk Hv Hn M Hv' Carry Out C1 C2 C3 C4 C5 C6 P Q S.
  assert (R' : ring_ok s own' r) by (eapply ring_ok_stays; eauto). destruct R'.
  destruct (head_says0 _ _ Hk) as (Lk & Vk).
  assert (k = length (claims s r)) as ->.
  { destruct (Nat.lt_ge_cases k (length (claims s r))); [| lia]. exfalso. eapply (head_there0 (Datatypes.S k)); [lia | assumption]. }
  assert (F : first c = total (claims s r)) by (unfold head_at in Vk; rewrite firstn_all in Vk; lia).
  assert (HA : forall k, k <= length (claims s r) -> head_at s' r k = head_at s r k).
  { intros. unfold head_at. rewrite Q, firstn_prefix; auto. }
  assert (Tot : total (claims s' r) = total (claims s r) + length (taken c)) by (rewrite Q, total_app; simpl; lia).
  assert (Last : head_at s' r (Datatypes.S (length (claims s r))) = total (claims s r) + length (taken c)).
  { unfold head_at. rewrite firstn_all2; [assumption |]. rewrite Q, app_length; simpl; lia. }
  assert (Slots : forall j k, mem s' (Slot r j) k = mem s (Slot r j) k) by (intros; rewrite M, add_elsewhere; congruence).
  assert (Tails : forall k, mem s' (Tail r) k = mem s (Tail r) k) by (intros; rewrite M, add_elsewhere; congruence).
  constructor; unfold ring.slot in *; rewrite ?P, ?S; try setoid_rewrite Tails; try setoid_rewrite Slots; auto.
  - intros k g0 H. rewrite M in H. rewrite Q, app_length; simpl.
    apply add_inv in H as [(_ & -> & ->) | H].
    + split; [lia |]. rewrite Last. lia.
    + destruct (head_says0 _ _ H). split; [lia |]. rewrite HA; assumption.
  - intros k L. rewrite Q, app_length in L; simpl in L. rewrite M. unfold add.
    destruct (location_eq (Head r) (Head r)); [| congruence].
    destruct (Nat.eqb_spec k (Datatypes.S (length (claims s r)))); [discriminate |]. apply head_there0. lia.
  - rewrite Tot. lia.
  - intros x e k g0 H T G. eapply element_newest0; eauto. lia.
  - destruct (Nat.le_gt_cases (own' (Head r)) (length (claims s r))); [rewrite HA; auto |].
    unfold head_at. rewrite firstn_all2; [| rewrite Q, app_length; simpl; lia]. rewrite Tot.
    unfold head_at in seen_is_old0. pose proof (total_firstn_all (claims s r) (own' (Head r))). lia.
  - intros k c' H. rewrite Q in H. apply nth_error_last in H as [H | (-> & ->)].
    + destruct (claims_ok0 k c' H) as (A1 & A2). split; [rewrite HA; [assumption |] | assumption].
      apply nth_error_lt in H. lia.
    + rewrite HA by lia. unfold head_at. rewrite firstn_all. rewrite C3. repeat split; auto.
  - intros E k g0 j c' H L N. rewrite M in H. rewrite Q in N.
    apply add_inv in H as [(_ & -> & ->) | H].
    + apply nth_error_last in N as [N | (-> & ->)]; [| auto].
      eapply included_trans; [| exact Carry]. eapply head_brings0; eauto. apply nth_error_lt in N. lia.
    + destruct (head_says0 _ _ H). apply nth_error_last in N as [N | (-> & ->)]; [eauto | lia].
Qed.

(* The owner looks at the head again. *)
Lemma look_keeps_ring s s' own own' r k g :
  ring_ok s own r -> included own own' ->
  mem s (Head r) k = Some g -> own (Head r) <= k -> k <= own' (Head r) ->
  mem s' = mem s -> pushed s' r = pushed s r -> claims s' r = claims s r -> head_seen s' r = value g ->
  ring_ok s' own' r.
Proof.
  intros R I Hk Lk Uk M P Q S.
  destruct (head_says _ _ _ R _ _ Hk) as (_ & V).
  pose proof (seen_is_old _ _ _ R) as Old. pose proof (room_ok _ _ _ R).
  pose proof (total_firstn_le (claims s r) _ _ Lk). pose proof (total_firstn_le (claims s r) _ _ Uk).
  assert (R' : ring_ok s own' r) by (eapply ring_ok_stays; eauto). destruct R'.
  assert (HA : forall k, head_at s' r k = head_at s r k) by (intro; unfold head_at; congruence).
  constructor; rewrite ?P, ?Q, ?S, ?M; try setoid_rewrite HA; auto; unfold head_at in *; lia.
Qed.

(* ---- What a line does to the whole ---- *)

Lemma update_same {A} (f : nat -> A) i x : update f i x i = x.
Proof. unfold update. rewrite Nat.eqb_refl. reflexivity. Qed.
Lemma update_other {A} (f : nat -> A) i x j : j <> i -> update f i x j = f j.
Proof. intro. unfold update. destruct (Nat.eqb_spec j i); [contradiction | reflexivity]. Qed.
Lemma update_grows (f : nat -> view location) i w j : included (f i) w -> included (f j) (update f i w j).
Proof. intro. unfold update. destruct (Nat.eqb_spec j i); [subst; assumption | apply included_refl]. Qed.

(* A step of thread i keeps the invariant when it keeps what is its own, and leaves alone what is others'. *)
Lemma step_keeps s s' i w p :
  invariant s -> views s' = update (views s) i w -> points s' = update (points s) i p ->
  grows s s' -> (forall j, j <> i -> untouched j s s') ->
  (forall r, ring_ok s' (update (views s) i w (owner r)) r) -> local_ok s' i w p ->
  (forall a, In a (empties s') -> In a (empties s) \/ empty_ok s' a) -> invariant s'.
Proof.
  intros [] V P G U R L E. constructor.
  - intro r. rewrite V. apply R.
  - intro j. rewrite V, P. destruct (Nat.eq_dec j i) as [-> |].
    + rewrite !update_same. exact L.
    + rewrite !update_other by assumption. eapply local_ok_stays; eauto using included_refl.
  - intros a H. destruct (E a H); [eauto using empty_ok_stays | assumption].
Qed.

Lemma quiet_step_keeps s i w p :
  invariant s -> included (views s i) w -> local_ok s i w p -> invariant (go_to s i (mem s) w p).
Proof.
  intros Inv I L. pose proof Inv as [].
  assert (G : grows s (go_to s i (mem s) w p)) by (apply grows_refl; reflexivity).
  eapply step_keeps with (i := i) (w := w) (p := p) (s := s); try reflexivity; auto.
  { intros j _ r _; repeat split; reflexivity. }
  intro r. eapply ring_ok_stays; eauto using update_grows.
Qed.

Lemma empty_noted_keeps s a :
  invariant s -> empty_ok s a ->
  invariant (State (mem s) (views s) (points s) (head_seen s) (pushed s) (claims s) (a :: empties s)).
Proof.
  intros [R L E] A. constructor.
  - intro r. eapply ring_ok_stays; eauto using included_refl.
  - intro i. eapply local_ok_stays with (s := s); eauto using included_refl.
    + apply grows_refl; reflexivity.
    + intros r _; repeat split; reflexivity.
  - intros b H. apply empty_ok_stays with (s := s); [apply grows_refl; reflexivity |].
    destruct H as [<- | H]; auto.
Qed.

Lemma look_step_keeps s i r k g w p :
  invariant s -> owner r = i -> mem s (Head r) k = Some g ->
  included (views s i) w -> views s i (Head r) <= k -> k <= w (Head r) ->
  let s1 := State (mem s) (views s) (points s) (update (head_seen s) r (value g)) (pushed s) (claims s) (empties s) in
  local_ok s1 i w p -> invariant (go_to s1 i (mem s) w p).
Proof.
  intros Inv O M I Lk Uk s1 L. pose proof Inv as [].
  assert (G : grows s (go_to s1 i (mem s) w p)) by (apply grows_refl; reflexivity).
  eapply step_keeps with (i := i) (w := w) (p := p) (s := s); try reflexivity; auto.
  - intros j N q Oq. simpl. repeat split; auto. rewrite update_other; [reflexivity | congruence].
  - intro q. destruct (Nat.eq_dec q r) as [-> |].
    + rewrite O, update_same. eapply look_keeps_ring with (s := s) (own := views s i); eauto; simpl;
        first [apply update_same | rewrite <- O; solve [auto]].
    + eapply ring_ok_stays with (s := s); eauto using update_grows. simpl. apply update_other; assumption.
Qed.

Lemma grows_add s s' l k g :
  mem s l k = None -> mem s' = add location_eq (mem s) l k g ->
  (forall r, exists more, pushed s' r = pushed s r ++ more) -> (forall r, exists more, claims s' r = claims s r ++ more) ->
  grows s s'.
Proof.
  intros N M P C. split; [| auto]. intros l' k' g' H. rewrite M, add_otherwise; [assumption |].
  destruct (location_eq l' l) as [-> |]; [right | auto]. congruence.
Qed.

Lemma slot_step_keeps s i r x k g w p :
  invariant s -> owner r = i -> length (pushed s r) <= x -> x < head_seen s r + capacity ->
  mem s (slot r x) k = None -> views s i (slot r x) < k -> included (views s i) w -> k <= w (slot r x) ->
  let s' := go_to s i (add location_eq (mem s) (slot r x) k g) w p in
  local_ok s' i w p -> invariant s'.
Proof.
  intros Inv O Lx Ux N Lk I Uk s' L. pose proof Inv as [].
  assert (G : grows s s').
  { eapply grows_add; [exact N | reflexivity | |]; intro; exists []; rewrite app_nil_r; reflexivity. }
  eapply step_keeps with (i := i) (w := w) (p := p) (s := s); try reflexivity; auto.
  - intros j J q Oq. repeat split. intros jj kk. simpl. apply add_elsewhere. unfold ring.slot. congruence.
  - intro q. destruct (Nat.eq_dec q r) as [-> |].
    + rewrite O, update_same. eapply slot_store_keeps_ring with (s := s) (own := views s i); eauto; simpl;
        rewrite <- O; auto.
    + eapply ring_ok_stays with (s := s); eauto using update_grows; intros; simpl; apply add_elsewhere;
        unfold ring.slot; congruence.
Qed.

Lemma publish_step_keeps s i r written k g w p :
  invariant s -> pushing s i r (length (pushed s r)) written (length written) ->
  mem s (Tail r) k = None -> views s i (Tail r) < k -> included (views s i) w -> k <= w (Tail r) ->
  included w (carried g) -> value g = length (pushed s r) + length written ->
  let s1 := State (mem s) (views s) (points s) (head_seen s)
              (update (pushed s) r (pushed s r ++ map (fun x => Element (fst x) (snd x) (views s i)) written))
              (claims s) (empties s) in
  let s' := go_to s1 i (add location_eq (mem s) (Tail r) k g) w p in
  local_ok s' i w p -> invariant s'.
Proof.
  intros Inv ((O & _) & _ & Room & W) N Lk I Uk Out V s1 s' L. pose proof Inv as [].
  assert (G : grows s s').
  { eapply grows_add; [exact N | reflexivity | |].
    - intro q. simpl. unfold update. destruct (Nat.eqb_spec q r) as [-> |]; [eauto | exists []; rewrite app_nil_r; reflexivity].
    - intro; exists []; rewrite app_nil_r; reflexivity. }
  eapply step_keeps with (i := i) (w := w) (p := p) (s := s); try reflexivity; auto.
  - intros j J q Oq. simpl. rewrite update_other by congruence. repeat split.
  - intro q. destruct (Nat.eq_dec q r) as [-> |].
    + rewrite O, update_same. eapply publish_keeps_ring with (s := s) (own := views s i) (written := written); eauto; simpl;
        first [apply update_same | rewrite <- O; solve [auto]].
    + eapply ring_ok_stays with (s := s); eauto using update_grows; intros; simpl;
        first [apply update_other; assumption | apply add_elsewhere; congruence].
Qed.

Lemma claim_step_keeps s i r k g g' c w p :
  invariant s -> mem s (Head r) k = Some g -> value g = first c -> mem s (Head r) (S k) = None ->
  value g' = first c + length (taken c) -> included (views s i) w -> included (carried g) (carried g') ->
  (enough_for_empty orders = true -> included (claimed_with c) (carried g')) ->
  first c + length (taken c) <= tail_read c -> tail_read c <= length (pushed s r) -> pushed_then c = length (pushed s r) ->
  (match kind_of c with Some kd => of_owner kd = true | None => True end -> tail_read c = length (pushed s r)) ->
  (exists k' g, mem s (Tail r) k' = Some g /\ value g = tail_read c /\ k' <= claimed_with c (Tail r)) ->
  (first c = total (claims s r) -> forall j v, nth_error (taken c) j = Some v ->
       exists e, nth_error (pushed s r) (first c + j) = Some e /\ what e = v /\ included (pushed_with e) (claimed_with c)) ->
  let s' := go_to (note_claim s r c) i (add location_eq (mem s) (Head r) (S k) g') w p in
  local_ok s' i w p -> invariant s'.
Proof.
  intros Inv M V N V' I C0 C1 C2 C3 C4 C5 C6 C7 s' L. pose proof Inv as [].
  assert (G : grows s s').
  { eapply grows_add; [exact N | reflexivity | |].
    - intro; exists []; rewrite app_nil_r; reflexivity.
    - intro q. simpl. unfold update. destruct (Nat.eqb_spec q r) as [-> |]; [eauto | exists []; rewrite app_nil_r; reflexivity]. }
  eapply step_keeps with (i := i) (w := w) (p := p) (s := s); try reflexivity; auto.
  - intros j J q Oq. simpl. repeat split.
  - intro q. destruct (Nat.eq_dec q r) as [-> |].
    + eapply claim_keeps_ring with (s := s) (own := views s (owner r)) (c := c); eauto using update_grows; simpl;
        first [reflexivity | apply update_same].
    + eapply ring_ok_stays with (s := s); eauto using update_grows; intros; simpl;
        first [apply update_other; assumption | apply add_elsewhere; congruence].
Qed.

(* ---- What a thread learns from a line ---- *)

Lemma owner_reads_newest_tail s i r k g :
  invariant s -> owner r = i -> mem s (Tail r) k = Some g -> views s i (Tail r) <= k -> value g = length (pushed s r).
Proof.
  intros [R _ _] O M L. destruct (tail_newest _ _ _ (R r)) as (k' & g' & A & B & D & E).
  rewrite O in D. specialize (E _ _ M). assert (k = k') as -> by lia. congruence.
Qed.
Lemma tail_within_pushed s r k g : invariant s -> mem s (Tail r) k = Some g -> value g <= length (pushed s r).
Proof.
  intros [R _ _] M. destruct (tail_newest _ _ _ (R r)) as (k' & g' & A & B & D & E).
  rewrite <- B. eapply (tail_grows _ _ _ (R r)); eauto.
Qed.
Lemma owner_sees_elements s i r h v :
  invariant s -> owner r = i -> included (views s i) v -> sees_elements s v r h (length (pushed s r)).
Proof.
  intros [R _ _] O I. split; [lia |]. intros x e _ _ E. destruct (element_there _ _ _ (R r) _ _ E) as (g & A & _).
  pose proof (slots_known _ _ _ (R r) _ _ _ A) as K. pose proof (elements_known _ _ _ (R r) _ _ E) as W. rewrite O in K, W.
  split; [| eauto using included_trans]. unfold ring.slot in *. specialize (I (Slot r (x mod capacity))). lia.
Qed.
Lemma tail_shows_elements s r k g h v :
  invariant s -> mem s (Tail r) k = Some g -> included (carried g) v -> sees_elements s v r h (value g).
Proof.
  intros Inv M I. split; [eapply tail_within_pushed; eassumption |]. destruct Inv as [R _ _].
  intros x e _ L E. destruct (tail_brings _ _ _ (R r) _ _ _ _ M L E) as (A & B).
  split; [specialize (I (slot r x)); lia | eauto using included_trans].
Qed.
Lemma head_within_pushed s r k g : invariant s -> mem s (Head r) k = Some g -> value g <= length (pushed s r).
Proof.
  intros [R _ _] M. destruct (head_says _ _ _ (R r) _ _ M) as (_ & ->). unfold head_at.
  pose proof (total_firstn_all (claims s r) k). pose proof (head_not_past_tail _ _ _ (R r)). lia.
Qed.
Lemma head_shows_claims s r k g v :
  invariant s -> mem s (Head r) k = Some g -> (enough_for_empty orders = true -> included (carried g) v) ->
  head_known s v r (value g).
Proof.
  intros [R _ _] M I. destruct (head_says _ _ _ (R r) _ _ M) as (A & B). exists k. repeat split; auto.
  intros E j c L N. eapply included_trans; [| apply I; assumption]. eapply (head_brings _ _ _ (R r)); eauto.
Qed.

Lemma one_more_read s v r h t got x k g :
  sees_elements s v r h t -> read_ok s r h got -> h + length got < t ->
  mem s (slot r (h + length got)) k = Some g -> value g = x -> v (slot r (h + length got)) <= k ->
  read_ok s r h (got ++ [(x, k)]).
Proof.
  intros (T & S) R L M V K j x' k' N. apply nth_error_last in N as [N | (-> & E)]; [auto |]. inversion E; subst; clear E.
  destruct (nth_error (pushed s r) (h + length got)) as [e |] eqn:E.
  - exists e, g. repeat split; auto. destruct (S (h + length got) e ltac:(lia) L E). lia.
  - apply nth_error_None in E. lia.
Qed.

Lemma room_is_room s r h t :
  invariant s -> t = length (pushed s r) -> head_seen s r = h -> t + room_at capacity t h <= h + capacity.
Proof. intros [R _ _] -> <-. pose proof (room_ok _ _ _ (R r)). unfold room_at. lia. Qed.
Lemma seen_within_pushed s r : invariant s -> head_seen s r <= length (pushed s r).
Proof.
  intros [R _ _]. pose proof (seen_is_old _ _ _ (R r)) as A. unfold head_at in A.
  pose proof (total_firstn_all (claims s r) (views s (owner r) (Head r))).
  pose proof (head_not_past_tail _ _ _ (R r)). lia.
Qed.

(* One more slot written: those before are other slots. *)
Lemma one_more_written s i r written n k g w p x :
  invariant s -> pushing s i r (length (pushed s r)) written n -> length written < n ->
  mem s (slot r (length (pushed s r) + length written)) k = None ->
  views s i (slot r (length (pushed s r) + length written)) < k -> value g = x ->
  let s' := go_to s i (add location_eq (mem s) (slot r (length (pushed s r) + length written)) k g) w p in
  pushing s' i r (length (pushed s r)) (written ++ [(x, k)]) n.
Proof.
  intros Inv ((O & _) & Len & Room & W) L N Lk V s'.
  pose proof (seen_within_pushed s r Inv).
  split; [split; [assumption | reflexivity] |]. split; [rewrite app_length; simpl; lia |]. split; [exact Room |].
  intros j x' k' E. simpl. apply nth_error_last in E as [E | (-> & E)].
  - pose proof (nth_error_lt _ _ _ E).
    assert (slot r (length (pushed s r) + j) <> slot r (length (pushed s r) + length written)).
    { unfold ring.slot. intro Q. inversion Q as [Q'].
      apply (same_slot_far_apart capacity (length (pushed s r) + j) (length (pushed s r) + length written) capacity_positive);
        [lia | lia | exact Q']. }
    rewrite add_elsewhere by assumption. setoid_rewrite add_elsewhere; [| assumption]. exact (W _ _ _ E).
  - inversion E; subst x' k'; clear E. rewrite add_same. split; [eauto |].
    intros k' g0 F. apply add_inv in F as [(_ & -> & _) | F]; [lia |].
    destruct Inv as [R _ _]. pose proof (slots_known _ _ _ (R r) _ _ _ F) as K. rewrite O in K. unfold ring.slot in *. lia.
Qed.

(* A claim from where the head is takes what was pushed there. *)
Lemma claimed_values s v r h t got :
  invariant s -> sees_elements s v r h t -> read_ok s r h got -> h + length got <= t -> h = total (claims s r) ->
  forall j x, nth_error (map fst got) j = Some x ->
  exists e, nth_error (pushed s r) (h + j) = Some e /\ what e = x /\ included (pushed_with e) v.
Proof.
  intros [R _ _] (T & S) Rd L H j x N. rewrite nth_error_map in N.
  destruct (nth_error got j) as [[x' k] |] eqn:E; [| discriminate]. simpl in N. inversion N; subst x'; clear N.
  pose proof (nth_error_lt _ _ _ E). destruct (Rd _ _ _ E) as (e & g & A & B & D & F).
  destruct (element_there _ _ _ (R r) _ _ A) as (g' & A' & B').
  pose proof (element_newest _ _ _ (R r) (h + j) e k g A ltac:(lia) B). assert (k = written_at e) by lia. subst k.
  exists e. destruct (S (h + j) e ltac:(lia) ltac:(lia) A). repeat split; auto. congruence.
Qed.

Lemma claim_site_releases k : enough_for_empty orders = true -> releases (orders (claim_site k)) = true.
Proof. unfold enough_for_empty. rewrite !andb_true_iff. destruct k; simpl; tauto. Qed.
Lemma drain_claim_releases : enough_for_empty orders = true -> releases (orders drain_claim) = true.
Proof. unfold enough_for_empty. rewrite !andb_true_iff. tauto. Qed.
Lemma head_site_acquires k :
  of_owner k = false -> enough_for_empty orders = true -> acquires (orders (head_site k)) = true.
Proof. unfold enough_for_empty. rewrite !andb_true_iff. destruct k; simpl; try discriminate; tauto. Qed.
Lemma publish_site_releases k : releases (orders (publish_site k)) = true.
Proof. pose proof values_orders as H. unfold enough_for_values in H. rewrite !andb_true_iff in H. destruct k; simpl; tauto. Qed.
Lemma tail_site_acquires k :
  match k with StealOne | StealOut _ | StealInto _ _ => acquires (orders (tail_site k)) = true | _ => True end.
Proof. pose proof values_orders as H. unfold enough_for_values in H. rewrite !andb_true_iff in H. destruct k; simpl; tauto. Qed.

(* ---- Every line ---- *)

Lemma initial_invariant : invariant initial.
Proof.
  constructor; simpl; [| auto | contradiction].
  intro r.
  assert (M : forall (l : location) k g, initial_memory l k = Some g -> k = 0 /\ value g = 0).
  { intros l k g. unfold initial_memory. destruct (Nat.eqb_spec k 0); [| discriminate]. intro H; inversion H; auto. }
  constructor; simpl; unfold head_at; simpl; try lia.
  - intros k g H. apply M in H as [-> H]. rewrite firstn_nil. auto.
  - intros k H. replace k with 0 by lia. discriminate.
  - exists 0, (Message 0 nothing_seen). repeat split; auto. intros k g H. apply M in H as [-> _]; lia.
  - intros k g k' g' H H'. apply M in H as [_ ->]. apply M in H' as [_ ->]. auto.
  - intros k g x e H. apply M in H as [_ ->]. lia.
  - intros x e H. destruct x; discriminate.
  - intros x e k g H. destruct x; discriminate.
  - intros j k g H. apply M in H as [-> _]. unfold nothing_seen. lia.
  - intros x e H. destruct x; discriminate.
  - intros k c H. destruct k; discriminate.
  - intros _ k g j c H L N. destruct j; discriminate.
Qed.

Lemma call_keeps s i p : invariant s -> may_call owner i p = true -> points s i = Idle -> local_ok s i (views s i) p.
Proof.
  intros Inv H _. destruct p; simpl in H; try discriminate.
  - destruct k; try discriminate; apply Nat.eqb_eq; assumption.
  - apply Nat.eqb_eq; assumption.
  - destruct k; simpl in *; try discriminate; auto; try (apply Nat.eqb_eq; assumption).
    rewrite andb_true_iff in H. destruct H as [A B]. apply Nat.eqb_eq in A. rewrite negb_true_iff in B.
    apply Nat.eqb_neq in B. auto.
  - apply Nat.eqb_eq; assumption.
Qed.

Lemma push_with_room_ok s i v k r values t room :
  at_tail s i r t -> t + room <= head_seen s r + capacity -> local_ok s i v (push_with_room k r values t room).
Proof.
  intros A B. unfold push_with_room. destruct (firstn room values) as [| x xs] eqn:E; [exact I |].
  simpl. split; [assumption |]. split; [simpl; lia |].
  split; [| intros j; destruct j; discriminate].
  assert (length (x :: xs) <= room) by (rewrite <- E; apply firstn_le_length). simpl in *. lia.
Qed.

Lemma half_at_most a : a - a / 2 <= a.
Proof. lia. Qed.
Lemma half_at_least a : 1 <= a -> 1 <= a - a / 2.
Proof. intro. pose proof (Nat.div_lt a 2 ltac:(lia) ltac:(lia)). lia. Qed.

Lemma taking_begins s i v own r h t :
  sees_elements s v r h t -> tail_known s v r t -> h <= t -> (own = true -> at_tail s i r t) ->
  taking s i v own r h t [].
Proof.
  intros A B D E. split; [assumption |]. split; [intros j; destruct j; discriminate |].
  split; [simpl; lia | split; assumption].
Qed.

Lemma take_between_ok s i v k r h t :
  kind_ok i k r -> tail_known s v r t ->
  match k with
  | Pop | Observe => True
  | Shed _ => at_tail s i r t /\ h <= t /\ sees_elements s v r h t
  | _ => sees_elements s v r h t
  end -> local_ok s i v (take_between capacity k r h t).
Proof.
  intros K T H. unfold take_between. destruct k; try exact I.
  - destruct H as (A & L & S). destruct (t - h <? at_least); [exact I |].
    pose proof (Nat.div_le_upper_bound (t - h) 2 (t - h) ltac:(lia) ltac:(lia)).
    cbn [local_ok of_owner length]. split; [apply taking_begins; auto | lia].
  - destruct (Nat.ltb_spec h t); simpl andb; [| exact I]. destruct (t <=? h + capacity); [| exact I].
    cbn [local_ok of_owner length]. split; [apply taking_begins; auto; [lia | discriminate] | lia].
  - destruct (Nat.ltb_spec h t); simpl andb; [| exact I]. destruct (t <=? h + capacity); [| exact I].
    pose proof (half_at_most (t - h)).
    cbn [local_ok of_owner length]. split; [apply taking_begins; auto; [lia | discriminate] | lia].
  - destruct (Nat.ltb_spec h t); simpl andb; [| exact I]. destruct (t <=? h + capacity); [| exact I].
    pose proof (half_at_most (t - h)). pose proof (half_at_least (t - h) ltac:(lia)).
    cbn [local_ok]. destruct K as (K1 & K2).
    split; [assumption |]. split; [assumption |]. split; [apply taking_begins; auto; [lia | discriminate] | lia].
Qed.

Lemma taking_reads s i v w own r h t got k g x :
  taking s i v own r h t got -> h + length got < t -> mem s (slot r (h + length got)) k = Some g -> value g = x ->
  v (slot r (h + length got)) <= k -> included v w -> taking s i w own r h t (got ++ [(x, k)]).
Proof.
  intros (A & B & D & E & F) L M V Lk In.
  assert (G : grows s s) by (apply grows_refl; reflexivity).
  split; [eapply sees_elements_stays; eassumption |].
  split; [eapply one_more_read; eauto |].
  split; [rewrite app_length; simpl; lia |]. split; [eapply tail_known_stays; eassumption | exact F].
Qed.

Lemma pushing_less s i r t written n : pushing s i r t written n -> pushing s i r t written (length written).
Proof. intros (A & B & D & E). split; [exact A |]. split; [lia |]. split; [lia | exact E]. Qed.

Lemma claim_line_keeps s i k kd own r h t got at_ m w p :
  invariant s -> taking s i (views s i) own r h t got ->
  exchange location_eq (mem s) (views s i) (orders (claim_site k)) (Head r) h (h + length got) at_ = Some (m, w) ->
  (match kd with Some kd => of_owner kd = true | None => True end -> own = true) ->
  local_ok s i w p ->
  invariant (go_to (note_claim s r (Made h (map fst got) i kd t (length (pushed s r)) w)) i m w p).
Proof.
  intros Inv (S & R & Len & T & O) X Kd L.
  apply exchange_says in X as (g & g' & M & V & N & Lk & -> & V' & In & Rk & Carry & Out & _).
  eapply claim_step_keeps with (g := g); simpl; rewrite ?map_length; eauto.
  - intro E. apply Out. apply claim_site_releases. assumption.
  - apply S.
  - intro H. apply (O (Kd H)).
  - destruct T as (k' & g0 & A & B & D). exists k', g0. specialize (In (Tail r)). repeat split; auto. lia.
  - intro F. eapply claimed_values; eauto. eapply sees_elements_stays; eauto. apply grows_refl; reflexivity.
  - eapply local_ok_stays; [| | apply included_refl | exact L].
    + eapply grows_add; [exact N | reflexivity | |].
      * intro; exists []; rewrite app_nil_r; reflexivity.
      * intro q. simpl. unfold update. destruct (Nat.eqb_spec q r) as [-> |]; [eauto | exists []; rewrite app_nil_r; reflexivity].
    + intros q _. repeat split.
Qed.

Theorem every_line_keeps_the_invariant s i a s' :
  invariant s -> step capacity orders owner s i a = Some s' -> invariant s'.
Proof.
  intros Inv H. pose proof (threads_ok s Inv i) as L. destruct a as [p | other | at_ lose]; simpl in H.
  - (* a call *)
    destruct (points s i) eqn:Ep; try discriminate. destruct (may_call owner i p) eqn:Em; [| discriminate].
    inversion H; subst. apply quiet_step_keeps; auto using included_refl, call_keeps.
  - (* two threads meet *)
    destruct (points s i) eqn:Ep; try discriminate. inversion H; subst.
    apply quiet_step_keeps; auto using join_left; try exact I.
  - destruct (points s i) eqn:Ep; simpl in H; try discriminate.
    + (* PushTail *)
      destruct (load _ _ _ _ _ _) as [[x w] |] eqn:El; [| discriminate]. inversion H; subst; clear H.
      apply load_says in El as (g & M & V & Lk & In & Rk & _). unfold note_load. rewrite Ep.
      apply quiet_step_keeps; auto. simpl in *. split; [assumption |].
      rewrite <- V. eapply owner_reads_newest_tail; eauto.
    + (* PushRoom *)
      inversion H; subst; clear H. apply quiet_step_keeps; auto using included_refl.
      destruct (length values <=? room_at capacity t (head_seen s r)); [| exact L].
      apply push_with_room_ok; [exact L |]. apply room_is_room with (s := s) (r := r); auto. apply L.
    + (* PushHead *)
      destruct (load _ _ _ _ _ _) as [[x w] |] eqn:El; [| discriminate]. inversion H; subst; clear H.
      apply load_says in El as (g & M & V & Lk & In & Rk & _). unfold note_load. rewrite Ep. simpl. subst x.
      destruct L as (O & T).
      eapply look_step_keeps; eauto. apply push_with_room_ok; [split; assumption |]. simpl. rewrite update_same.
      pose proof (head_within_pushed _ _ _ _ Inv M). pose proof Inv as [Rg _ _].
      pose proof (room_ok _ _ _ (Rg r)). pose proof (seen_is_old _ _ _ (Rg r)) as So. rewrite O in So.
      destruct (head_says _ _ _ (Rg r) _ _ M) as (_ & Hv).
      pose proof (total_firstn_le (claims s r) _ _ Lk). unfold head_at in *. unfold room_at. lia.
    + (* PushSlot *)
      destruct rest as [| x rest]; simpl in H.
      * inversion H; subst; clear H. apply quiet_step_keeps; auto using included_refl.
        simpl in *. rewrite Nat.add_0_r in L. exact L.
      * destruct (store _ _ _ _ _ _ _) as [[m w] |] eqn:El; [| discriminate]. inversion H; subst; clear H.
        apply store_says in El as (g & N & Lk & -> & V & In & Rk & _). unfold note_store. rewrite Ep.
        simpl in L. pose proof L as ((O & T) & Len & Room & W). simpl in Room.
        eapply slot_step_keeps with (r := r); eauto; try lia. simpl. subst t.
        rewrite app_length. simpl length.
        replace (length written + 1 + length rest) with (length written + S (length rest)) by lia.
        apply one_more_written; auto; lia.
    + (* PushPublish *)
      destruct (store _ _ _ _ _ _ _) as [[m w] |] eqn:El; [| discriminate]. inversion H; subst; clear H.
      apply store_says in El as (g & N & Lk & -> & V & In & Rk & Out). unfold note_store. rewrite Ep.
      pose proof L as ((O & T) & _). subst t.
      eapply publish_step_keeps; eauto using publish_site_releases; try exact I.
    + (* PopTail *)
      destruct (load _ _ _ _ _ _) as [[x w] |] eqn:El; [| discriminate]. inversion H; subst; clear H.
      apply load_says in El as (g & M & V & Lk & In & Rk & _). unfold note_load. rewrite Ep.
      apply quiet_step_keeps; auto. simpl in *. split; [split; [assumption |] |].
      * rewrite <- V. eapply owner_reads_newest_tail; eauto.
      * exists at_, g. auto.
    + (* PopHead *)
      destruct (load _ _ _ _ _ _) as [[x w] |] eqn:El; [| discriminate]. inversion H; subst; clear H.
      apply load_says in El as (g & M & V & Lk & In & Rk & _). unfold note_load. rewrite Ep.
      apply quiet_step_keeps; auto. destruct L as ((O & T) & K).
      destruct (Nat.eqb_spec x t); [exact I |]. simpl.
      pose proof (head_within_pushed _ _ _ _ Inv M).
      split; [apply taking_begins | simpl; lia].
      * subst t. eapply owner_sees_elements; eauto.
      * eapply tail_known_stays; eauto. apply grows_refl; reflexivity.
      * lia.
      * split; assumption.
    + (* TakeHead *)
      destruct (load _ _ _ _ _ _) as [[x w] |] eqn:El; [| discriminate]. inversion H; subst; clear H.
      apply load_says in El as (g & M & V & Lk & In & Rk & Aq). unfold note_load. rewrite Ep.
      apply quiet_step_keeps; auto. simpl in *. split; [assumption |]. subst x.
      destruct (of_owner k) eqn:Eo; [eapply head_within_pushed; eauto |].
      eapply head_shows_claims; eauto using head_site_acquires.
    + (* TakeTail *)
      destruct (load _ _ _ _ _ _) as [[x w] |] eqn:El; [| discriminate]. inversion H; subst; clear H.
      apply load_says in El as (g & M & V & Lk & In & Rk & Aq). simpl in L. destruct L as (K & Hd).
      assert (TB : local_ok s i w (take_between capacity k r h x)).
      { apply take_between_ok; [assumption | exists at_, g; auto |].
        pose proof (tail_site_acquires k) as Ta. destruct k; simpl in *; auto; subst x.
        - assert (value g = length (pushed s r)) as Q by (eapply owner_reads_newest_tail; eauto). rewrite Q.
          split; [split; auto |]. split; [lia |]. eapply owner_sees_elements; eauto.
        - eapply tail_shows_elements; eauto.
        - eapply tail_shows_elements; eauto.
        - eapply tail_shows_elements; eauto. }
      unfold note_load. rewrite Ep. destruct (of_owner k) eqn:Eo; simpl; [apply quiet_step_keeps; auto |].
      destruct (Nat.eqb_spec x h) as [E |]; [| apply quiet_step_keeps; auto].
      assert (Eok : empty_ok s (Empty r h at_ i)).
      { destruct Hd as (kh & A & B & D). exists kh, g. simpl. repeat split; auto; [congruence |].
        intros Q j c Lj N. eapply Nat.le_trans; [exact (D Q j c Lj N (Tail r)) | assumption]. }
      apply (empty_noted_keeps _ _ Inv) in Eok. subst x.
      eapply quiet_step_keeps in Eok; [exact Eok | exact In |].
      eapply local_ok_stays; [| | apply included_refl | exact TB].
      * apply grows_refl; reflexivity.
      * intros q _; repeat split; reflexivity.
    + (* TakeSlot *)
      simpl in L. destruct L as (T & Ln & Hn). destruct (Nat.ltb_spec (length got) n); simpl in H.
      * destruct (load _ _ _ _ _ _) as [[x w] |] eqn:El; [| discriminate]. inversion H; subst; clear H.
        apply load_says in El as (g & M & V & Lk & In & Rk & _). unfold note_load. rewrite Ep.
        apply quiet_step_keeps; auto. simpl. split; [eapply taking_reads; eauto; lia |].
        rewrite app_length; simpl; lia.
      * inversion H; subst; clear H. apply quiet_step_keeps; auto using included_refl.
    + (* TakeClaim *)
      simpl in L.
      assert (C : exists weak won lost, won = Idle /\ local_ok s i (views s i) lost /\
                code capacity (head_seen s) (TakeClaim k r h t got) =
                Claim (claim_site k) (Head r) h (h + length got) weak won lost).
      { destruct L as (_ & _ & _ & T & O). destruct k; simpl; repeat eexists; simpl; auto; apply O; reflexivity. }
      destruct C as (weak & won & lost & -> & Lost & C). simpl in C. rewrite C in H. clear C. destruct lose.
      * destruct (load _ _ _ _ _ _) as [[x w] |] eqn:El; [| discriminate].
        destruct (weak || negb (x =? h)); [| discriminate]. inversion H; subst; clear H.
        apply load_says in El as (g & M & V & Lk & In & Rk & _). apply quiet_step_keeps; auto.
        eapply local_ok_stays; [apply grows_refl; reflexivity | intros q _; repeat split | exact In | exact Lost].
      * destruct (exchange _ _ _ _ _ _ _ _) as [[m w] |] eqn:El; [| discriminate]. inversion H; subst; clear H.
        unfold note_won. rewrite Ep. eapply claim_line_keeps; eauto; try exact I.
    + (* IntoTail *)
      destruct (load _ _ _ _ _ _) as [[x w] |] eqn:El; [| discriminate]. inversion H; subst; clear H.
      apply load_says in El as (g & M & V & Lk & In & Rk & _). unfold note_load. rewrite Ep.
      apply quiet_step_keeps; auto. simpl in *. destruct L as (O & Nm & T & Wa & Wb).
      split; [split; [assumption |] |].
      * rewrite <- V. eapply owner_reads_newest_tail; eauto.
      * split; [assumption |]. split; [| lia].
        eapply taking_stays; [apply grows_refl; reflexivity | discriminate | exact In | exact T].
    + (* IntoRoom *)
      inversion H; subst; clear H. apply quiet_step_keeps; auto using included_refl.
      destruct (wanted - 1 <=? room_at capacity mt (head_seen s m)); [| exact L].
      simpl in *. destruct L as (A & Nm & T & Wa & Wb).
      pose proof (room_is_room s m _ mt Inv (proj2 A) eq_refl).
      split; [| split; [assumption | split; [exact T | repeat split; lia]]].
      split; [exact A |]. split; [simpl; lia |]. split; [lia |]. intros j; destruct j; discriminate.
    + (* IntoHead *)
      destruct (load _ _ _ _ _ _) as [[x w] |] eqn:El; [| discriminate]. inversion H; subst; clear H.
      apply load_says in El as (g & M & V & Lk & In & Rk & _). unfold note_load. rewrite Ep. simpl. subst x.
      destruct L as (A & Nm & T & Wa & Wb). pose proof A as (O & Tl).
      eapply look_step_keeps; eauto. simpl.
      assert (mt + room_at capacity mt (value g) <= value g + capacity).
      { pose proof (head_within_pushed _ _ _ _ Inv M). pose proof Inv as [Rg _ _].
        pose proof (room_ok _ _ _ (Rg m)). pose proof (seen_is_old _ _ _ (Rg m)) as So. rewrite O in So.
        destruct (head_says _ _ _ (Rg m) _ _ M) as (_ & Hv).
        pose proof (total_firstn_le (claims s m) _ _ Lk). unfold head_at in *. unfold room_at. lia. }
      split; [| split; [assumption | split; [| repeat split; lia]]].
      * split; [exact A |]. simpl. rewrite update_same. split; [lia |]. split; [lia |].
        intros j; destruct j; discriminate.
      * eapply taking_stays; [apply grows_refl; reflexivity | discriminate | exact In | exact T].
    + (* IntoSlot *)
      simpl in L. destruct L as (P & Nm & T & Wa & Wb & E).
      assert (El : length got = length written) by (rewrite <- (map_length fst got), E, map_length; reflexivity).
      pose proof P as (_ & Lw & _).
      destruct (Nat.ltb_spec (length got + 1) n); simpl in H.
      * destruct (load _ _ _ _ _ _) as [[x w] |] eqn:Eq; [| discriminate]. inversion H; subst; clear H.
        apply load_says in Eq as (g & M & V & Lk & In & Rk & _). unfold note_load. rewrite Ep.
        apply quiet_step_keeps; auto. simpl. split; [assumption |]. split; [assumption |].
        split; [eapply taking_reads; eauto; lia |]. split; [assumption |].
        split; [rewrite map_app, E; reflexivity | lia].
      * inversion H; subst; clear H. apply quiet_step_keeps; auto using included_refl.
        simpl. split; [eapply pushing_less; eassumption |]. split; [assumption |]. split; [exact T |]. split; [lia | exact E].
    + (* IntoStore *)
      destruct (store _ _ _ _ _ _ _) as [[mm w] |] eqn:El; [| discriminate]. inversion H; subst; clear H.
      apply store_says in El as (g & N & Lk & -> & V & In & Rk & _). unfold note_store. rewrite Ep.
      simpl in L. destruct L as (P & Nm & T & Wb & E & Lw). pose proof P as ((O & Tl) & Len & Room & W).
      eapply slot_step_keeps with (r := m); eauto; try lia. subst mt.
      simpl. split; [apply one_more_written; auto |]. split; [assumption |].
      split; [| repeat split; [lia | assumption | rewrite map_app; assumption]].
      eapply taking_stays; [| discriminate | exact In | exact T].
      eapply grows_add; [exact N | reflexivity | |]; intro; exists []; rewrite app_nil_r; reflexivity.
    + (* IntoNewest *)
      destruct (load _ _ _ _ _ _) as [[x w] |] eqn:El; [| discriminate]. inversion H; subst; clear H.
      apply load_says in El as (g & M & V & Lk & In & Rk & _). unfold note_load. rewrite Ep.
      apply quiet_step_keeps; auto. simpl in *. destruct L as (P & Nm & T & Wb & E).
      split; [assumption |]. split; [assumption |]. split; [eapply taking_reads; eauto |].
      exists x. rewrite map_app, E. reflexivity.
    + (* IntoClaim *)
      simpl in L. destruct L as (P & Nm & T & E). destruct lose.
      * destruct (load _ _ _ _ _ _) as [[x w] |] eqn:El; [| discriminate].
        destruct (negb (x =? h)); [| discriminate]. inversion H; subst; clear H.
        apply load_says in El as (g & M & V & Lk & In & Rk & _). apply quiet_step_keeps; auto; try exact I.
      * destruct (exchange _ _ _ _ _ _ _ _) as [[mm w] |] eqn:El; [| discriminate]. inversion H; subst; clear H.
        unfold note_won. rewrite Ep. eapply claim_line_keeps with (k := StealInto m 0); eauto; try discriminate.
        destruct written; [exact I | exact P].
    + (* DrainTail *)
      destruct (load _ _ _ _ _ _) as [[x w] |] eqn:El; [| discriminate]. inversion H; subst; clear H.
      apply load_says in El as (g & M & V & Lk & In & Rk & _). unfold note_load. rewrite Ep.
      apply quiet_step_keeps; auto. simpl in *. split; [split; [assumption |] |].
      * rewrite <- V. eapply owner_reads_newest_tail; eauto.
      * exists at_, g. auto.
    + (* DrainHead *)
      destruct (load _ _ _ _ _ _) as [[x w] |] eqn:El; [| discriminate]. inversion H; subst; clear H.
      apply load_says in El as (g & M & V & Lk & In & Rk & _). unfold note_load. rewrite Ep.
      apply quiet_step_keeps; auto. destruct L as (A & K).
      destruct (Nat.eqb_spec x t); [exact I |]. split; [assumption |].
      eapply tail_known_stays; eauto. apply grows_refl; reflexivity.
    + (* DrainClaim *)
      simpl in L. destruct L as (A & K). pose proof A as (O & T). destruct lose.
      * destruct (load _ _ _ _ _ _) as [[x w] |] eqn:El; [| discriminate]. simpl in H. inversion H; subst; clear H.
        apply load_says in El as (g & M & V & Lk & In & Rk & _). apply quiet_step_keeps; auto.
        split; [assumption |]. eapply tail_known_stays; eauto. apply grows_refl; reflexivity.
      * destruct (exchange _ _ _ _ _ _ _ _) as [[mm w] |] eqn:El; [| discriminate]. inversion H; subst s'; clear H.
        apply exchange_says in El as (g & g' & M & V & N & Lk & -> & V' & In & Rk & Carry & Out & _).
        unfold note_won. rewrite Ep. pose proof (head_within_pushed _ _ _ _ Inv M).
        assert (Len : length (map what (firstn (t - h) (skipn h (pushed s r)))) = t - h).
        { rewrite map_length, firstn_length, skipn_length. lia. }
        pose proof Inv as [Rg _ _].
        eapply claim_step_keeps with (g := g) (g' := g'); simpl; rewrite ?Len; eauto; try lia.
        -- intro E. apply Out. apply drain_claim_releases. assumption.
        -- destruct K as (k' & g0 & B1 & B2 & B3). exists k', g0. specialize (In (Tail r)). repeat split; auto. lia.
        -- intros _ j v Hj. rewrite nth_error_map in Hj.
           destruct (nth_error (firstn (t - h) (skipn h (pushed s r))) j) as [e |] eqn:E; [| discriminate].
           simpl in Hj. inversion Hj; subst v. exists e.
           assert (E' : nth_error (pushed s r) (h + j) = Some e).
           { rewrite <- nth_error_skip. eapply nth_error_firstn_inv; eassumption. }
           repeat split; auto. pose proof (elements_known _ _ _ (Rg r) _ _ E') as Kn. rewrite O in Kn.
           eauto using included_trans.
        -- split; [exact A |]. split; [| intros j; destruct j; discriminate].
           intros x e k g0 Hx Ex Mx. simpl in Mx. rewrite add_elsewhere in Mx by (unfold ring.slot; congruence).
           eapply (element_newest _ _ _ (Rg r)); eauto.
           destruct (head_says _ _ _ (Rg r) _ _ M) as (Lh & Hv).
           assert (at_ = length (claims s r)).
           { destruct (Nat.lt_ge_cases at_ (length (claims s r))); [| lia].
             exfalso. eapply (head_there _ _ _ (Rg r) (S at_)); [lia | assumption]. }
           subst at_. unfold head_at in Hv. rewrite firstn_all in Hv. lia.
    + (* DrainSlot *)
      simpl in L. destruct L as (A & B & D). pose proof A as (O & T).
      destruct (Nat.ltb_spec (length got) (t - h)); simpl in H.
      * destruct (load _ _ _ _ _ _) as [[x w] |] eqn:El; [| discriminate]. inversion H; subst s'; clear H.
        apply load_says in El as (g & M & V & Lk & In & Rk & _). unfold note_load. rewrite Ep.
        apply quiet_step_keeps; auto. split; [assumption |]. split; [assumption |].
        eapply one_more_read with (v := views s i) (t := t); eauto; try lia.
        subst t. apply owner_sees_elements with (i := i); auto using included_refl.
      * inversion H; subst; clear H. apply quiet_step_keeps; auto using included_refl; try exact I.
Qed.

Theorem invariant_of_every_run s : reachable capacity orders owner s -> invariant s.
Proof. induction 1; eauto using initial_invariant, every_line_keeps_the_invariant. Qed.
End proof.

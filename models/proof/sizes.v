(* SPDX-License-Identifier: MIT *)
(* How many elements each way of taking takes. *)
Require Import Arith Lia Bool List.
Require Import memory ring invariant theorems.
Import ListNotations.
Open Scope list_scope.

(* ⌈k/2⌉, as the header writes it. *)
Lemma half_rounded_up k : k - k / 2 = (k + 1) / 2.
Proof.
  pose proof (Nat.div_mod k 2 ltac:(lia)) as D. pose proof (Nat.mod_upper_bound k 2 ltac:(lia)).
  pose proof (Nat.div_mod (k + 1) 2 ltac:(lia)) as E. pose proof (Nat.mod_upper_bound (k + 1) 2 ltac:(lia)).
  lia.
Qed.

Section sizes.
Variable capacity : nat.
Hypothesis capacity_positive : 0 < capacity.
Variable orders : site -> order.
Variable owner : nat -> nat.
Hypothesis values_orders : enough_for_values orders = true.

Notation reachable := (reachable capacity orders owner).

(* Of k = t - h elements: half, rounded down for the owner who sheds, rounded up for thieves. *)
Definition size_of (k : take_kind) (h t : nat) : nat :=
  match k with
  | Shed _ => (t - h) / 2
  | StealOut limit => Nat.min ((t - h + 1) / 2) limit
  | _ => 1
  end.

Definition not_into (k : take_kind) : Prop := match k with StealInto _ _ => False | _ => True end.
Definition point_sized (p : point) : Prop :=
  match p with
  | TakeSlot k r h t n got => not_into k /\ n = size_of k h t /\ length got <= n
  | TakeClaim k r h t got => not_into k /\ length got = size_of k h t
  | IntoTail r m h t wanted | IntoRoom r m h t wanted _ | IntoHead r m h t wanted _ => 1 <= wanted <= (t - h + 1) / 2
  | IntoSlot r m h t mt n got written => n <= (t - h + 1) / 2 /\ length got + 1 <= n
  | IntoStore r m h t mt n got written x => n <= (t - h + 1) / 2 /\ length got + 1 <= n
  | IntoNewest r m h t mt got written => length got + 1 <= (t - h + 1) / 2
  | IntoClaim r m h t mt got written => 1 <= length got <= (t - h + 1) / 2
  | _ => True
  end.
Definition claim_sized (c : claim) : Prop :=
  match kind_of c with
  | Some (StealInto _ _) => 1 <= length (taken c) <= (tail_read c - first c + 1) / 2
  | Some k => length (taken c) = size_of k (first c) (tail_read c)
  | None => first c + length (taken c) = tail_read c
  end.

Lemma push_with_room_sized k r values t room : point_sized (push_with_room k r values t room).
Proof. unfold push_with_room. destruct (firstn room values); exact I. Qed.
Lemma take_between_sized k r h t : point_sized (take_between capacity k r h t).
Proof.
  unfold take_between. destruct k; try exact I.
  - destruct (t - h <? at_least); [exact I |]. cbn [point_sized size_of not_into length]. auto with arith.
  - destruct ((h <? t) && (t <=? h + capacity)); [| exact I]. cbn [point_sized size_of not_into length]. auto.
  - destruct ((h <? t) && (t <=? h + capacity)); [| exact I]. cbn [point_sized size_of not_into length].
    rewrite half_rounded_up. auto with arith.
  - destruct (Nat.ltb_spec h t); simpl andb; [| exact I]. destruct (t <=? h + capacity); [| exact I].
    cbn [point_sized]. rewrite half_rounded_up.
    pose proof (Nat.div_le_mono 2 (t - h + 1) 2 ltac:(lia) ltac:(lia)) as D. change (2 / 2) with 1 in D. lia.
Qed.

Lemma sizes_of_every_run s :
  reachable s ->
  (forall i, point_sized (points s i)) /\ (forall r c, In c (claims s r) -> claim_sized c).
Proof.
  induction 1 as [| s i a s' R [P C] H]; [split; simpl; [auto | contradiction] |].
  assert (Quiet : forall s1 m w p, points s1 = points s -> claims s1 = claims s -> point_sized p ->
            (forall j, point_sized (points (go_to s1 i m w p) j)) /\
            (forall r c, In c (claims (go_to s1 i m w p) r) -> claim_sized c)).
  { intros s1 m w p E F Z. simpl. rewrite E, F. split; [| assumption].
    intro j. unfold update. destruct (j =? i); auto. }
  assert (Notes : forall x ts, points (note_load s i x ts) = points s /\ claims (note_load s i x ts) = claims s).
  { intros. unfold note_load. destruct (points s i); auto.
    match goal with |- context [if ?b then _ else _] => destruct b end; auto. }
  assert (Stores : forall v, points (note_store s i v) = points s /\ claims (note_store s i v) = claims s).
  { intros. unfold note_store. destruct (points s i); auto. }
  assert (Claimed : forall r c m w p, claim_sized c -> point_sized p ->
            (forall j, point_sized (points (go_to (note_claim s r c) i m w p) j)) /\
            (forall q d, In d (claims (go_to (note_claim s r c) i m w p) q) -> claim_sized d)).
  { intros r c m w p Z Zp. simpl. split.
    - intro j. unfold update. destruct (j =? i); auto.
    - intros q d D. unfold update in D. destruct (Nat.eqb_spec q r) as [-> |]; [| eauto].
      apply in_app_or in D as [D | [<- | []]]; eauto. }
  pose proof (P i) as L. destruct a as [p | other | at_ lose]; simpl in H.
  - destruct (points s i); try discriminate. destruct (may_call owner i p) eqn:M; [| discriminate]. inversion H; subst.
    apply Quiet; auto. destruct p; simpl in *; auto; discriminate.
  - destruct (points s i); try discriminate. inversion H; subst. apply Quiet; auto; exact I.
  - destruct (points s i) eqn:Ep; simpl in H; try discriminate;
      repeat match type of H with
        | context [match ?l with [] => _ | _ :: _ => _ end] => is_var l; destruct l; simpl in H
        | context [if ?x <? ?y then _ else _] => destruct (Nat.ltb_spec x y); simpl in H
        end.
    all: try (destruct (load _ _ _ _ _ _) as [[x w] |]; [| discriminate]; inversion H; subst; clear H;
              destruct (Notes x at_); apply Quiet; auto).
    all: try (destruct (store _ _ _ _ _ _ _) as [[x w] |]; [| discriminate]; inversion H; subst; clear H;
              destruct (Stores (views s i)); apply Quiet; auto).
    all: try (inversion H; subst; clear H; apply Quiet; auto; fail).
    all: auto using push_with_room_sized, take_between_sized; try exact I.
    all: cbn [point_sized size_of not_into] in *; rewrite ?app_length; cbn [length]; try lia.
    all: try (inversion H; subst; clear H; apply Quiet; auto; cbn [point_sized]; try exact I; try (split; [apply L |]); lia).
    + inversion H; subst; clear H. apply Quiet; auto.
      destruct (_ <=? _); auto using push_with_room_sized; exact I.
    + destruct (x =? t); cbn [point_sized size_of not_into length]; auto.
    + split; [apply L | lia].
    + (* TakeClaim *)
      assert (Z : claim_sized (Made h (map fst got) i (Some k) t (length (pushed s r)) nothing_seen)).
      { unfold claim_sized. cbn [kind_of taken first tail_read]. rewrite map_length. destruct L as (N & L).
        destruct k; try contradiction; exact L. }
      assert (C' : exists weak lost, code capacity (head_seen s) (TakeClaim k r h t got) =
                Claim (claim_site k) (Head r) h (h + length got) weak Idle lost /\ point_sized lost).
      { destruct k; simpl; repeat eexists; exact I. }
      destruct C' as (weak & lost & C' & Zl). simpl in C'. rewrite C' in H. clear C'. destruct lose.
      * destruct (load _ _ _ _ _ _) as [[x w] |]; [| discriminate]. destruct (weak || _); [| discriminate].
        inversion H; subst. apply Quiet; auto.
      * destruct (exchange _ _ _ _ _ _ _ _) as [[m w] |]; [| discriminate]. inversion H; subst.
        unfold note_won. rewrite Ep. apply Claimed; [exact Z | exact I].
    + (* IntoRoom *)
      inversion H; subst; clear H. apply Quiet; auto. destruct (_ <=? _); cbn [point_sized length]; lia.
    + (* IntoClaim, of one *)
      destruct lose.
      * destruct (load _ _ _ _ _ _) as [[x w] |]; [| discriminate]. destruct (negb _); [| discriminate].
        inversion H; subst. apply Quiet; auto; exact I.
      * destruct (exchange _ _ _ _ _ _ _ _) as [[mm w] |]; [| discriminate]. inversion H; subst.
        unfold note_won. rewrite Ep. apply Claimed; [| exact I].
        unfold claim_sized. cbn [kind_of taken first tail_read]. rewrite map_length. exact L.
    + (* IntoClaim, of more *)
      destruct lose.
      * destruct (load _ _ _ _ _ _) as [[x w] |]; [| discriminate]. destruct (negb _); [| discriminate].
        inversion H; subst. apply Quiet; auto; exact I.
      * destruct (exchange _ _ _ _ _ _ _ _) as [[mm w] |]; [| discriminate]. inversion H; subst.
        unfold note_won. rewrite Ep. apply Claimed; [| exact I].
        unfold claim_sized. cbn [kind_of taken first tail_read]. rewrite map_length. exact L.
    + (* DrainHead *)
      destruct (x =? t); exact I.
    + (* DrainClaim *)
      destruct lose.
      * destruct (load _ _ _ _ _ _) as [[x w] |]; [| discriminate]. inversion H; subst. apply Quiet; auto; exact I.
      * destruct (exchange _ _ _ _ _ _ _ _) as [[mm w] |] eqn:El; [| discriminate]. inversion H; subst.
        unfold note_won. rewrite Ep. apply Claimed; [| exact I].
        unfold claim_sized. cbn [kind_of taken first tail_read].
        rewrite map_length, firstn_length, skipn_length.
        pose proof (invariant_of_every_run _ capacity_positive _ _ values_orders s R) as Inv.
        pose proof (threads_ok _ _ _ _ Inv i) as Lo. rewrite Ep in Lo. destruct Lo as ((_ & T) & _).
        apply exchange_says in El as (g & _ & M & V & _).
        pose proof (head_within_pushed _ capacity_positive _ _ _ _ _ _ Inv M). lia.
Qed.

(* A thief takes ⌈k/2⌉ of the k elements that it saw, or as many as `out` holds. *)
Theorem steal_half_takes_half s r c limit :
  reachable s -> In c (claims s r) -> kind_of c = Some (StealOut limit) ->
  length (taken c) = Nat.min ((tail_read c - first c + 1) / 2) limit.
Proof. intros R I K. destruct (sizes_of_every_run s R) as (_ & Z). specialize (Z r c I). unfold claim_sized in Z. rewrite K in Z. exact Z. Qed.

(* Into a ring it takes at most that; less only by the limit, and the room there. *)
Theorem steal_half_into_takes_at_most_half s r c m limit :
  reachable s -> In c (claims s r) -> kind_of c = Some (StealInto m limit) ->
  1 <= length (taken c) <= (tail_read c - first c + 1) / 2.
Proof. intros R I K. destruct (sizes_of_every_run s R) as (_ & Z). specialize (Z r c I). unfold claim_sized in Z. rewrite K in Z. exact Z. Qed.

Theorem steal_takes_one s r c :
  reachable s -> In c (claims s r) -> kind_of c = Some StealOne -> length (taken c) = 1.
Proof. intros R I K. destruct (sizes_of_every_run s R) as (_ & Z). specialize (Z r c I). unfold claim_sized in Z. rewrite K in Z. exact Z. Qed.

(* The owner sheds ⌊n/2⌋ of all n elements, and drains all. *)
Theorem shed_takes_half_of_all s r c at_least :
  reachable s -> In c (claims s r) -> kind_of c = Some (Shed at_least) -> length (taken c) = (pushed_then c - first c) / 2.
Proof.
  intros R I K. destruct (sizes_of_every_run s R) as (_ & Z). specialize (Z r c I). unfold claim_sized in Z. rewrite K in Z.
  apply In_nth_error in I as (n & I).
  pose proof (invariant_of_every_run _ capacity_positive _ _ values_orders s R) as Inv.
  destruct (claims_ok _ _ _ _ _ (rings_ok _ _ _ _ Inv r) _ _ I) as (_ & _ & _ & _ & Ow & _). rewrite K in Ow.
  rewrite <- (Ow eq_refl). exact Z.
Qed.
Theorem drain_takes_all s r c :
  reachable s -> In c (claims s r) -> kind_of c = None -> first c + length (taken c) = pushed_then c.
Proof.
  intros R I K. destruct (sizes_of_every_run s R) as (_ & Z). specialize (Z r c I). unfold claim_sized in Z. rewrite K in Z.
  apply In_nth_error in I as (n & I).
  pose proof (invariant_of_every_run _ capacity_positive _ _ values_orders s R) as Inv.
  destruct (claims_ok _ _ _ _ _ (rings_ok _ _ _ _ Inv r) _ _ I) as (_ & _ & _ & _ & Ow & _). rewrite K in Ow.
  rewrite <- (Ow Logic.I). exact Z.
Qed.
End sizes.

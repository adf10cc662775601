(* SPDX-License-Identifier: MIT *)
(* Park's count: `spinning_` is the number of machines that spin, and of those that a waker has called. *)
Require Import Arith Lia Bool List.
Require Import memory park park_theorems park_request.
Import ListNotations.
Open Scope list_scope.

(* Whether the thread is counted by itself; a machine that was called is counted by its waker. *)
Definition spins (h : home) : nat := match h with Spins => 1 | _ => 0 end.
Definition own (p : point) : nat :=
  match p with
  | At h | SubmitFence h | SubmitSpinning h | SubmitNeed h | OneLock h | OneAgain h | OneNeed h | OneSpin h | OneWake h _ | Unlock h => spins h
  | Found | IdleLock _ | IdleClear _ | IdleUnlock _ | IdleSpinning _ => 1
  | _ => 0
  end.
Definition called (x : place_in_list) : nat := match x with Called | Woken _ => 1 | _ => 0 end.
(* The machine sleeps or is about to, and is in the idle list or called. *)
Definition rests (p : point) : bool :=
  match p with
  | IdleUnlock _ | IdleSpinning _ | IdleFence _ | Dozing _ | Look _ | BackLock => true
  | _ => false
  end.
(* The thread is not in the list: it holds a processor, or has none and does not sleep. *)
Definition is_up (h : home) : bool := match h with Asleep => false | _ => true end.
Definition up (p : point) : bool :=
  match p with
  | At h | SubmitFence h | SubmitSpinning h | SubmitNeed h | OneLock h | OneAgain h | OneNeed h | OneSpin h | OneWake h _ | Unlock h => is_up h
  | SpinAdd _ | Found | BusyLock | BusyNeed | IdleLock _ | IdleClear _ => true
  | _ => false
  end.
Definition wakes (p : point) (m : nat) : Prop := match p with OneWake _ n => n = m | _ => False end.

Definition waking_ok s := forall i m, wakes (points s i) m -> listed s m = Called.
Definition resting_ok s := forall i, rests (points s i) = true -> listed s i <> Out.
Definition up_ok s := forall i, up (points s i) = true -> listed s i = Out.
Definition count_ok s := forall i, count_occ Nat.eq_dec (counted s) i = own (points s i) + called (listed s i).
Lemma count_without i j l : count_occ Nat.eq_dec (without j l) i = count_occ Nat.eq_dec l i - (if i =? j then 1 else 0).
Proof.
  induction l as [| k l IH]; simpl; [lia |]. destruct (Nat.eqb_spec k j) as [-> | N].
  - destruct (Nat.eq_dec j i) as [-> | M]; [rewrite Nat.eqb_refl; lia |].
    destruct (Nat.eqb_spec i j); [congruence | lia].
  - simpl. destruct (Nat.eq_dec k i) as [-> | M]; [| exact IH]. rewrite IH. destruct (Nat.eqb_spec i j); [congruence | lia].
Qed.
Ltac decide_all :=
  repeat match goal with
    | |- context [?a =? ?b] => destruct (Nat.eqb_spec a b); try subst
    | |- context [Nat.eq_dec ?a ?b] => destruct (Nat.eq_dec a b); try subst
    end.

Section proof.
Variable rules : protocol.
Notation step := (step rules).

Lemma waking_stays s i a s' : lock_ok s -> waking_ok s -> step s i a = Some s' -> waking_ok s'.
Proof.
  intros L I H.
  assert (B : forall j q, wakes (points s j) q -> holder s = Some j)
    by (intros j q W; apply L; destruct (points s j); simpl in *; try contradiction; reflexivity).
  cases H; intros j q W; pose proof (L i) as Li; pose proof (I i q) as Ii; pose proof (I j q) as Ij; pose proof (B j q) as Bj;
    repeat match goal with E : points s i = _ |- _ => rewrite E in Li, Ii; revert E end; intros; simpl in *;
    unfold update in *; simpl in *; decide_all; simpl in *;
    try (destruct (Nat.eqb_spec j i)); try subst; simpl in *; try contradiction; auto;
    try (rewrite Nat.eqb_refl in *; simpl in * );
    try (match goal with E : points s _ = _ |- _ => rewrite E in *; simpl in *; try contradiction end);
    try (specialize (Bj W); specialize (Ij W)); intuition (try congruence).
Qed.

Ltac split_at j i Q :=
  simpl in Q; unfold update in Q; simpl in Q; simpl; unfold update; simpl;
  destruct (Nat.eqb_spec j i); [subst j |]; simpl in *; decide_all; simpl in *; try rewrite Nat.eqb_refl in *.
Lemma resting_stays s i a s' : resting_ok s -> step s i a = Some s' -> resting_ok s'.
Proof.
  intros I H. cases H; intros j Q; pose proof (I i) as Ii; pose proof (I j) as Ij;
    repeat match goal with E : points s i = _ |- _ => rewrite E in Ii; revert E end; intros; split_at j i Q;
    try discriminate; auto; try congruence;
    try (match goal with E : points s _ = _ |- _ => rewrite E in Q; simpl in Q; discriminate end).
Qed.

Lemma up_stays s i a s' : waking_ok s -> up_ok s -> step s i a = Some s' -> up_ok s'.
Proof.
  intros W I H. cases H; intros j Q; pose proof (I i) as Ii; pose proof (I j) as Ij; pose proof (W i) as Wi;
    repeat match goal with E : points s i = _ |- _ => rewrite E in Ii, Wi; revert E end; intros; split_at j i Q;
    try discriminate; auto; try congruence;
    try (unfold may_be_called in *; destruct (listed s choice) eqn:?; simpl in *; try discriminate;
         try (specialize (Ij Q); congruence); try (specialize (I choice); congruence);
         destruct (points s choice) as [[] | | | | | | | | | | | | | | | | | | | | | |]; simpl in *; try discriminate; congruence);
    try (specialize (Wi _ eq_refl); congruence);
    try (match goal with X : is_up _ = true |- _ => specialize (Ii X) end; specialize (Wi _ eq_refl); congruence);
    try (specialize (Ij Q); specialize (Wi _ eq_refl); congruence);
    try (specialize (Ii Q); unfold may_be_called in *;
         match goal with E : points s _ = OneSpin _ |- _ => rewrite E, Ii in *; discriminate end).
Qed.

Lemma count_stays s i a s' : waking_ok s -> resting_ok s -> up_ok s -> count_ok s -> step s i a = Some s' -> count_ok s'.
Proof.
  intros W R U I H. cases H; intros j; pose proof (I i) as Ii; pose proof (I j) as Ij; pose proof (R i) as Ri; pose proof (W i) as Wi;
    pose proof (U i) as Ui;
    repeat match goal with E : points s i = _ |- _ => rewrite E in Ii, Ri, Wi, Ui; revert E end; intros;
    simpl in *; unfold update in *; simpl in *; try rewrite count_without;
    decide_all; simpl in *;
    try (rewrite (Ui eq_refl) in *; simpl in * );
    repeat match goal with E : listed s _ = _ |- _ => rewrite E in *; revert E end; intros; simpl in *;
    try lia; try congruence;
    try (match goal with E : points s _ = _ |- _ => rewrite E in *; simpl in *; try lia end);
    try (unfold may_be_called in *; destruct (listed s choice) eqn:?; simpl in *; try discriminate; lia);
    try (rewrite (Wi _ eq_refl) in *; simpl in *; lia);
    try (unfold may_be_called in *; destruct (listed s i) eqn:?; simpl in *; try discriminate; lia).
Qed.

(* The newest message of Spinning is this number, so that an access that counts finds it there. *)
Definition number_ok s :=
  (exists g, mem s Spinning (top s) = Some g /\ value g = length (counted s)) /\
  forall k g, mem s Spinning k = Some g -> k <= top s.
Lemma number_stays s i a s' : number_ok s -> step s i a = Some s' -> number_ok s'.
Proof.
  intros ((g0 & M0 & V0) & N) H.
  cases H; facts; simpl; (split;
    [ simpl; try (exists g0; split; [first [exact M0 | rewrite add_elsewhere by discriminate; exact M0] | exact V0]);
      try (eexists; split; [apply add_same | assumption])
    | intros k g M; simpl in M |- *; try (apply add_inv in M as [(E & ? & ?) | M]; [first [discriminate E | subst; lia] |]); specialize (N k g M); lia]).
Qed.
Theorem the_count_is_this_number first processors s : reachable rules first processors s ->
  exists g, mem s Spinning (top s) = Some g /\ value g = length (counted s) /\ mem s Spinning (S (top s)) = None.
Proof.
  intro R. assert (I : number_ok s).
  { induction R as [| s i a s' R IH H]; [| exact (number_stays _ _ _ _ IH H)].
    split; [eexists; split; reflexivity |]. intros k g M. simpl in *. unfold initial_memory in M.
    destruct (Nat.eqb_spec k 0); [lia | discriminate]. }
  destruct I as ((g & M & V) & N). exists g. repeat split; auto.
  destruct (mem s Spinning (S (top s))) as [f |] eqn:E; [apply N in E; lia | reflexivity].
Qed.

Definition count_invariant s := lock_ok s /\ waking_ok s /\ resting_ok s /\ up_ok s /\ count_ok s.
Lemma count_invariant_of_every_run first processors s : (forall i, first i <> Spins) ->
  reachable rules first processors s -> count_invariant s.
Proof.
  intros Q R. induction R as [| s i a s' R (A & B & C & D & E) H].
  - split; [| split; [| split; [| split]]].
    + intro i. simpl. split; discriminate.
    + intros i m W. simpl in W. contradiction.
    + intros i W. simpl in W. discriminate.
    + intros i W. reflexivity.
    + intro i. simpl. specialize (Q i). destruct (first i); try reflexivity. contradiction.
  - unfold count_invariant; eauto 10 using lock_stays, waking_stays, resting_stays, up_stays, count_stays.
Qed.

(* Each thread is counted once if it spins, and once if a waker has called it. *)
Theorem the_count_is_of_those_who_spin first processors s i : (forall i, first i <> Spins) ->
  reachable rules first processors s -> count_occ Nat.eq_dec (counted s) i = own (points s i) + called (listed s i).
Proof. intros Q R. apply (count_invariant_of_every_run _ _ _ Q R). Qed.
(* No machine looks for the last time without being in the idle list or called. *)
Theorem who_looks_again_can_be_woken first processors s i : (forall i, first i <> Spins) ->
  reachable rules first processors s -> rests (points s i) = true -> listed s i <> Out.
Proof. intros Q R. apply (count_invariant_of_every_run _ _ _ Q R). Qed.
End proof.

(* SPDX-License-Identifier: MIT *)
(* Park's lock and its request: while a request stands, no processor is idle. *)
Require Import Arith Lia Bool List.
Require Import memory park park_theorems.
Import ListNotations.
Open Scope list_scope.

Definition holds (p : point) : bool :=
  match p with
  | OneAgain _ | OneNeed _ | OneSpin _ | OneWake _ _ | Unlock _ | SpinAdd true | BusyNeed
  | IdleClear _ | IdleUnlock _ | LateNeed => true
  | _ => false
  end.
(* The thread is about to leave a request. *)
Definition requests (p : point) : bool := match p with OneNeed _ | LateNeed => true | _ => false end.

(* What the lock's holder knows of Need, or its last holder. *)
Definition known (s : state) : nat := match holder s with Some i => views s i Need | None => lock_view s Need end.
(* A request stands: the newest message of Need is one. *)
Definition requested (s : state) : Prop := exists k g, mem s Need k = Some g /\ value g <> 0 /\ cleared s < k.

Definition lock_ok s := forall i, holds (points s i) = true <-> holder s = Some i.
Definition clear_ok s := forall k g, mem s Need k = Some g -> value g = 0 -> k <= cleared s.
Definition known_ok s := forall k g, mem s Need k = Some g -> value g <> 0 -> k <= known s.
Definition full_ok s := forall i, requests (points s i) = true -> free s = 0.
Definition request_ok s := requested s -> free s = 0.

Ltac facts :=
  repeat match goal with
    | E : load _ _ _ _ _ _ = Some _ |- _ => apply load_says in E as (? & ? & ? & ? & ? & ? & _)
    | E : store _ _ _ _ _ _ _ = Some _ |- _ => apply store_says in E as (? & ? & ? & -> & ? & ? & ? & _)
    | E : exchange _ _ _ _ _ _ _ _ = Some _ |- _ => apply exchange_says in E as (? & ? & ? & ? & ? & ? & -> & ? & ? & _)
    end.
(* A message is the new one, or was there before. *)
Ltac old M := simpl in M; try (apply add_inv in M as [(? & ? & ?) | M]; [try discriminate; subst; simpl in *; try lia; try congruence |]).
Ltac at_need := repeat match goal with I : included _ _ |- _ => specialize (I Need) end.

Section proof.
Variable rules : protocol.
Notation step := (step rules).

Lemma lock_stays s i a s' : lock_ok s -> step s i a = Some s' -> lock_ok s'.
Proof.
  intros I H. cases H; intro j; pose proof (I i) as Ii; pose proof (I j) as Ij;
    repeat match goal with E : points s i = _ |- _ => rewrite E in Ii; revert E end; intros; simpl in *;
    unfold update; simpl; destruct (Nat.eqb_spec j i); try subst j; simpl in *; intuition (try congruence).
Qed.

Lemma clear_stays s i a s' : clear_ok s -> step s i a = Some s' -> clear_ok s'.
Proof.
  intros I H. cases H; facts; intros k g M V; old M; specialize (I k g M V); simpl; lia.
Qed.

Lemma known_stays s i a s' : lock_ok s -> known_ok s -> step s i a = Some s' -> known_ok s'.
Proof.
  intros L I H. cases H; facts; intros k g M V; pose proof (L i) as Li;
    repeat match goal with E : points s i = _ |- _ => rewrite E in Li; revert E end; intros; simpl in Li;
    try (pose proof (proj1 Li eq_refl) as Hi); at_need;
    (old M; [.. | specialize (I k g M V)] || specialize (I k g M V));
    unfold known in *; simpl in *; try rewrite Hi in *; simpl in *; unfold update in *; simpl in *; try rewrite Nat.eqb_refl in *;
    try lia; try (destruct (holder s) as [j |] eqn:?; simpl in *; try discriminate; try lia;
                  destruct (Nat.eqb_spec j i); try subst j; unfold join in *; simpl in *; lia);
    try (unfold join in *; simpl in *; rewrite ?Nat.eqb_refl; try lia;
         match goal with E : holder s = None |- _ => rewrite E in *; simpl in *; lia end).
Qed.

Lemma full_stays s i a s' : lock_ok s -> full_ok s -> step s i a = Some s' -> full_ok s'.
Proof.
  intros L I H. cases H; intros j Q; pose proof (L i) as Li; pose proof (L j) as Lj; pose proof (I j) as Ij;
    assert (C : requests (points s j) = true -> holder s = Some j)
      by (intro; apply Lj; destruct (points s j); try discriminate; reflexivity);
    repeat match goal with E : points s i = _ |- _ => rewrite E in Li; revert E end; intros; simpl in *;
    unfold update in Q; simpl in Q; destruct (Nat.eqb_spec j i); try subst j; simpl in *; try discriminate; auto;
    try (apply Nat.eqb_eq; assumption); try (specialize (C Q); intuition congruence);
    try (destruct (free s); [reflexivity | discriminate]).
Qed.

Lemma request_stays s i a s' :
  lock_ok s -> clear_ok s -> known_ok s -> full_ok s -> request_ok s -> step s i a = Some s' -> request_ok s'.
Proof.
  intros L Z N F I H. cases H; facts; intros (k & g & M & V & C); pose proof (L i) as Li; pose proof (F i) as Fi;
    repeat match goal with E : points s i = _ |- _ => rewrite E in Li, Fi; revert E end; intros; simpl in *;
    try (pose proof (proj1 Li eq_refl) as Hi); try exact (Fi eq_refl);
    old M; pose proof (N k g M V) as K; unfold known in K; try rewrite Hi in K;
    try (assert (R : free s = 0) by (apply I; exists k, g; repeat split; [exact M | exact V | lia]); lia);
    try (exfalso; match goal with E : mem s Need ?t = Some ?f, X : value ?f = 0 |- _ => specialize (Z t f E X) end; lia);
    try (exfalso; lia).
Qed.

Definition request_invariant s := lock_ok s /\ clear_ok s /\ known_ok s /\ full_ok s /\ request_ok s.
Lemma request_invariant_of_every_run first processors s : (forall i, first i <> Spins) ->
  reachable rules first processors s -> request_invariant s.
Proof.
  intros Q R. induction R as [| s i a s' R (A & B & C & D & E) H].
  - assert (M : forall k g, mem (initial first processors) Need k = Some g -> k = 0 /\ value g = 0).
    { intros k g M. simpl in M. unfold initial_memory in M. destruct (Nat.eqb_spec k 0); [injection M as <-; auto | discriminate]. }
    split; [| split; [| split; [| split]]].
    + intro i. simpl. split; discriminate.
    + intros k g K _. apply M in K as (-> & _). simpl. lia.
    + intros k g K V. apply M in K as (_ & K). contradiction.
    + intros i V. discriminate.
    + intros (k & g & K & V & _). apply M in K as (_ & K). contradiction.
  - unfold request_invariant; eauto 10 using lock_stays, clear_stays, known_stays, full_stays, request_stays.
Qed.

(* While a request stands, no processor is idle: so all are held by machines, which heed the request when they give them up. *)
Theorem while_a_request_stands_no_processor_is_idle first processors s : (forall i, first i <> Spins) ->
  reachable rules first processors s -> requested s -> free s = 0.
Proof. intros Q R. apply (request_invariant_of_every_run _ _ _ Q R). Qed.
(* Only one thread is between taking the lock and releasing it. *)
Theorem one_thread_holds_the_lock first processors s i j : (forall i, first i <> Spins) ->
  reachable rules first processors s -> holds (points s i) = true -> holds (points s j) = true -> i = j.
Proof.
  intros Q R A B. destruct (request_invariant_of_every_run _ _ _ Q R) as (L & _).
  apply L in A. apply L in B. congruence.
Qed.
End proof.

(* ---- With acquire and release where found() lowers the count, a machine that has found work knows of every request that one which
   found work before it knew to be withdrawn; so it does not rely on such a one. ---- *)
Section found.
Variable rules : protocol.
Variable first : nat -> home.
Variable processors : nat.
Hypothesis found_acquires : acquires (orders rules found) = true.
Hypothesis found_releases : releases (orders rules found) = true.
Notation step := (step rules).
Notation reachable := (reachable rules first processors).

(* The newest count carries what they knew. *)
Definition told_ok s := forall g, mem s Spinning (top s) = Some g -> told s <= carried g Need.

Ltac carries :=
  repeat match goal with
    | E : load _ _ _ _ _ _ = Some _ |- _ => clear E
    | E : store _ _ _ _ _ _ _ = Some _ |- _ => apply store_says in E as (? & _ & _ & -> & _)
    | E : exchange _ _ _ _ _ _ _ _ = Some _ |- _ => apply exchange_says in E as (? & ? & ? & _ & ? & _ & -> & _ & _ & _ & ? & ? & ?)
    end.

Lemma a_machine_that_found_work_knows s i x y s' : told_ok s -> points s i = Found -> step s i (Go x y) = Some s' ->
  told s <= views s' i Need /\ told s' = views s' i Need.
Proof.
  intros I P H. unfold step, go, counts, option_map in H. rewrite P in H.
  destruct (exchange _ _ _ _ _ _ _ _) as [[m v] |] eqn:E in H; [| discriminate]. injection H as <-.
  apply exchange_says in E as (g & g' & M & _ & _ & _ & _ & _ & _ & _ & _ & _ & A).
  specialize (A found_acquires Need). specialize (I g M). simpl. unfold update. rewrite Nat.eqb_refl. split; [lia | reflexivity].
Qed.

Lemma told_stays s i a s' : told_ok s -> step s i a = Some s' -> told_ok s'.
Proof.
  intros I H. cases H; carries; intros g M; simpl in *;
    try (rewrite add_same in M; injection M as <-);
    try (rewrite add_elsewhere in M by discriminate);
    repeat match goal with
      | R : releases (orders rules found) = true -> _ |- _ => specialize (R found_releases)
      | K : mem s Spinning (top s) = Some _ |- _ => apply I in K
      | K : included _ _ |- _ => specialize (K Need)
      end; unfold update; rewrite ?Nat.eqb_refl; simpl; try lia.
Qed.

Theorem who_has_found_knows_what_was_withdrawn s i x y s' :
  reachable s -> points s i = Found -> step s i (Go x y) = Some s' ->
  told s <= views s' i Need /\ told s' = views s' i Need.
Proof.
  intro R. apply a_machine_that_found_work_knows.
  induction R as [| s0 j a s1 R IH H]; [intros g M; simpl; lia | eauto using told_stays].
Qed.
End found.

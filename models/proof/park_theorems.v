(* SPDX-License-Identifier: MIT *)
(* Park's handshake: of a submitter and a machine that goes to sleep, one sees what the other did before its fence. For any number
   of threads, processors, tasks and calls. *)
Require Import Arith Lia Bool List.
Require Import memory park.
Import ListNotations.
Open Scope list_scope.

(* One goal for each thing that a step may be. *)
Ltac cases H :=
  unfold step, do, go, reads, clears, counts, locks, option_map, writes, light_fence, heavy_fence, unlocks in H;
  repeat (match type of H with
    | context [match ?x with _ => _ end] =>
        lazymatch x with context [match _ with _ => _ end] => fail | _ => destruct x eqn:?; try discriminate H end
    end);
  injection H as <-.
Ltac views_grow :=
  repeat match goal with
    | E : load _ _ _ _ _ _ = Some _ |- _ => apply load_says in E as (? & _ & _ & _ & ? & _)
    | E : store _ _ _ _ _ _ _ = Some _ |- _ => apply store_says in E as (? & _ & _ & _ & _ & ? & _)
    | E : exchange _ _ _ _ _ _ _ _ = Some _ |- _ => apply exchange_says in E as (? & ? & _ & _ & _ & _ & _ & _ & ? & _)
    end.
Ltac pointwise :=
  let l := fresh in
  intro l; simpl; unfold join;
  repeat match goal with I : included _ _ |- _ => specialize (I l) end; unfold join in *; simpl in *; lia.

Section theorems.
Variable rules : protocol.
Variable first : nat -> home.
Variable processors : nat.
Hypothesis submit : orders rules submit_fence = seq_cst.
Hypothesis idle : orders rules machine_idle_fence = seq_cst.
Hypothesis doze : orders rules doze_fence = seq_cst.

Notation step := (step rules).
Notation reachable := (reachable rules first processors).

Inductive goes_on (s : state) : state -> Prop :=
| stays : goes_on s s
| further i a s' s'' : goes_on s s' -> step s' i a = Some s'' -> goes_on s s''.

Definition fences_ok s := included (heavy s) (all s).
Lemma a_step_forgets_nothing s i a s' : fences_ok s -> step s i a = Some s' ->
  fences_ok s' /\ included (all s) (all s') /\ included (heavy s) (heavy s') /\ forall j, included (views s j) (views s' j).
Proof.
  unfold fences_ok. intros I H.
  cases H; views_grow; simpl; (repeat split; [pointwise | pointwise | pointwise |]);
    intro j; unfold update; simpl; destruct (Nat.eqb_spec j i); try subst j; pointwise.
Qed.
Lemma fences_of_every_run s : reachable s -> fences_ok s.
Proof.
  intro R. induction R as [| s i a s' R IH H]; [intro l; simpl; lia |]. apply (a_step_forgets_nothing _ _ _ _ IH H).
Qed.
Lemma a_run_forgets_nothing s s' : fences_ok s -> goes_on s s' ->
  fences_ok s' /\ included (all s) (all s') /\ included (heavy s) (heavy s') /\ forall j, included (views s j) (views s' j).
Proof.
  intros I G. induction G as [| i a s' s'' G (A & B & C & D) H]; [repeat split; auto using included_refl |].
  destruct (a_step_forgets_nothing _ _ _ _ A H) as (A' & B' & C' & D').
  repeat split; eauto using included_trans.
Qed.

Lemma a_light_fence s i h x y s' : points s i = SubmitFence h -> step s i (Go x y) = Some s' ->
  included (views s i) (all s') /\ included (heavy s) (views s' i).
Proof.
  intros P H. unfold step, go, light_fence in H. rewrite P, submit in H. injection H as <-.
  simpl. unfold update. rewrite Nat.eqb_refl. split; pointwise.
Qed.
Lemma a_heavy_fence s m d x y s' : points s m = IdleFence d -> step s m (Go x y) = Some s' ->
  included (views s m) (heavy s') /\ included (all s) (views s' m).
Proof.
  intros P H. unfold step, go, heavy_fence in H. rewrite P in H. destruct d; [rewrite doze in H | rewrite idle in H];
    injection H as <-; simpl; unfold update; rewrite Nat.eqb_refl; split; pointwise.
Qed.

(* The submitter's fence comes first: from the sleeper's fence on, the sleeper sees what the submitter had seen before its
   own, and so the task that it published. *)
Theorem the_sleeper_sees_the_task s0 s1 s2 s3 s i h m d x0 y0 x2 y2 :
  reachable s0 ->
  points s0 i = SubmitFence h -> step s0 i (Go x0 y0) = Some s1 -> goes_on s1 s2 ->
  points s2 m = IdleFence d -> step s2 m (Go x2 y2) = Some s3 -> goes_on s3 s ->
  included (views s0 i) (views s m).
Proof.
  intros R P H G Q K L. pose proof (fences_of_every_run _ R) as F0.
  destruct (a_step_forgets_nothing _ _ _ _ F0 H) as (F1 & _). destruct (a_run_forgets_nothing _ _ F1 G) as (F2 & A & _).
  destruct (a_step_forgets_nothing _ _ _ _ F2 K) as (F3 & _). destruct (a_run_forgets_nothing _ _ F3 L) as (_ & _ & _ & V).
  destruct (a_light_fence _ _ _ _ _ _ P H) as (B & _). destruct (a_heavy_fence _ _ _ _ _ _ Q K) as (_ & C).
  eauto using included_trans.
Qed.

(* The sleeper's fence comes first: from the submitter's fence on, the submitter sees what the sleeper had seen, and so that
   the count was lowered. *)
Theorem the_submitter_sees_the_sleeper s0 s1 s2 s3 s i h m d x0 y0 x2 y2 :
  reachable s0 ->
  points s0 m = IdleFence d -> step s0 m (Go x0 y0) = Some s1 -> goes_on s1 s2 ->
  points s2 i = SubmitFence h -> step s2 i (Go x2 y2) = Some s3 -> goes_on s3 s ->
  included (views s0 m) (views s i).
Proof.
  intros R P H G Q K L. pose proof (fences_of_every_run _ R) as F0.
  destruct (a_step_forgets_nothing _ _ _ _ F0 H) as (F1 & _). destruct (a_run_forgets_nothing _ _ F1 G) as (F2 & _ & A & _).
  destruct (a_step_forgets_nothing _ _ _ _ F2 K) as (F3 & _). destruct (a_run_forgets_nothing _ _ F3 L) as (_ & _ & _ & V).
  destruct (a_heavy_fence _ _ _ _ _ _ P H) as (B & _). destruct (a_light_fence _ _ _ _ _ _ Q K) as (_ & C).
  eauto using included_trans.
Qed.

(* A task is in a place whose newest message says so. *)
Definition task (s : state) (p t : nat) : Prop :=
  (exists g, mem s (Place p) t = Some g /\ value g = 1) /\ forall t' g, t < t' -> mem s (Place p) t' <> Some g.

(* The last look passes one place after the other, and none that holds a task that the machine sees. *)
Theorem a_look_finds_the_task s m p t x y s' :
  points s m = Look p -> p < places_looked_at rules -> task s p t -> t <= views s m (Place p) ->
  step s m (Go x y) = Some s' -> points s' m = BackLock.
Proof.
  intros P L ((g & M & V) & N) T H. unfold step, go in H. rewrite P in H. destruct (Nat.ltb_spec p (places_looked_at rules)); [| lia].
  destruct (load _ _ _ _ _ _) as [[n v] |] eqn:E in H; [| discriminate]. injection H as <-.
  apply load_says in E as (g' & M' & V' & K & _). simpl. unfold update. rewrite Nat.eqb_refl.
  destruct (Nat.eq_dec x t) as [-> | D].
  - rewrite M in M'. injection M' as <-. rewrite V in V'. subst n. reflexivity.
  - exfalso. apply (N x g'); [lia | exact M'].
Qed.
Theorem a_look_passes_one_place_at_a_time s m p x y s' :
  points s m = Look p -> step s m (Go x y) = Some s' ->
  points s' m = BackLock \/ (p < places_looked_at rules /\ points s' m = Look (S p)) \/
  (places_looked_at rules <= p /\ points s' m = At Asleep).
Proof.
  intros P H. unfold step, go in H. rewrite P in H. destruct (Nat.ltb_spec p (places_looked_at rules)).
  - destruct (load _ _ _ _ _ _) as [[n v] |] eqn:E in H; [| discriminate]. injection H as <-.
    simpl. unfold update. rewrite Nat.eqb_refl. destruct (n =? 0); auto.
  - injection H as <-. simpl. unfold update. rewrite Nat.eqb_refl. auto.
Qed.

(* A submitter wakes nobody only because of a count that it has not seen replaced. *)
Theorem a_submitter_reads_no_older_count s i h x y s' :
  points s i = SubmitSpinning h -> step s i (Go x y) = Some s' ->
  views s i Spinning <= x /\ exists g, mem s Spinning x = Some g /\ points s' i = (if value g =? 0 then OneLock h else At h).
Proof.
  intros P H. unfold step, go, reads in H. rewrite P in H.
  destruct (load _ _ _ _ _ _) as [[n v] |] eqn:E in H; [| discriminate]. injection H as <-.
  apply load_says in E as (g & M & V & K & _). split; [exact K |]. exists g. split; [exact M |].
  simpl. unfold update. rewrite Nat.eqb_refl. subst n. reflexivity.
Qed.
End theorems.

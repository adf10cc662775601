(* SPDX-License-Identifier: MIT *)
(* Park's property: never is a task in a queue while a processor is idle and no thread is about to look for the task, or asks
   whether one does. *)
Require Import Arith Lia Bool List.
Require Import memory park park_theorems park_request park_count.
Import ListNotations.
Open Scope list_scope.

(* Whoever has this view reads the newest count, and no request that was withdrawn. *)
Definition knows (s : state) (v : view location) : Prop := top s <= v Spinning /\ cleared s <= v Need.

(* The thread is about to look at all places, to spin, or to wake a machine; unless one is counted, or a request stands. *)
Definition ready (s : state) (i : nat) : Prop :=
  match points s i with
  | SpinAdd _ | IdleFence _ => True
  | SubmitFence _ => knows s (join (views s i) (heavy s))
  | SubmitSpinning _ | SubmitNeed _ | OneLock _ | OneAgain _ | OneNeed _ | OneSpin _ | BackLock | LateNeed => knows s (views s i)
  | _ => False
  end.
(* Every task is cared for, whichever it is. *)
Definition watched (s : state) : Prop := counted s <> [] \/ requested s \/ exists i, ready s i.

(* The thread has not asked yet whether a machine spins, and has seen the task. *)
Definition asks (s : state) (p t : nat) (i : nat) : Prop :=
  match points s i with SubmitFence _ => t <= views s i (Place p) | _ => False end.
(* The machine will find the task by its last look, or while it dozes. *)
Definition finds (s : state) (p t : nat) (i : nat) : Prop :=
  match points s i with Look q => q <= p | Dozing _ => True | _ => False end /\
  t <= views s i (Place p) /\ knows s (views s i).

(* ---- The invariant, in five parts ---- *)
(* Whoever fences from now on knows the newest count and what was withdrawn, or every task is cared for. *)
Definition fences_tell s := watched s \/ knows s (heavy s).
(* Of a task, those who fenced know, or a thread that is about to fence. *)
Definition published_ok s :=
  forall p t g, mem s (Place p) t = Some g -> value g <> 0 -> t <= all s (Place p) \/ exists i, asks s p t i.
Definition cared_ok (places : nat) s :=
  forall p t, task s p t -> p < places -> watched s \/ (exists i, asks s p t i) \/ exists i, finds s p t i.

(* A withdrawal is known to all heavy fences; or to who lowers the count next by found(); or to a machine that is counted still, or has
   not made its fence yet. *)
Definition keeps (p : point) : bool := match p with IdleFence _ | OneWake _ _ => true | _ => 0 <? own p end.
Definition about_to_tell (s : state) (l : location) (c : nat) : Prop :=
  c <= all s l \/ exists i h, points s i = SubmitFence h /\ c <= views s i l.
Definition withdrawal_known (s : state) (c : nat) : Prop :=
  c <= heavy s Need \/
  (exists g, mem s Spinning (top s) = Some g /\ c <= carried g Need /\ about_to_tell s Need c) \/
  (exists i, keeps (points s i) = true /\ c <= views s i Need) \/
  (exists m v, listed s m = Woken v /\ c <= v Need).
Definition withdrawn_ok s := withdrawal_known s (cleared s).

(* What happened last before no machine was counted, at c of l: the next heavy fence knows it; or a thread that is about to make a light
   one, and that one knows what happened at c' of l', too. *)
Definition fencing (s : state) (l : location) (c : nat) : Prop := exists i d, points s i = IdleFence d /\ c <= views s i l.
Definition told_by_fences (s : state) (l : location) (c : nat) (l' : location) (c' : nat) : Prop :=
  c <= all s l \/ fencing s l c \/
  exists i h, points s i = SubmitFence h /\ c <= join (views s i) (heavy s) l /\
              (c' <= join (views s i) (heavy s) l' \/ fencing s l' c').
Definition last_ok s := counted s = [] ->
  told_by_fences s Spinning (top s) Need (cleared s) /\ told_by_fences s Need (cleared s) Spinning (top s).

Section proof.
Variable rules : protocol.
Variable first : nat -> home.
Variable processors : nat.
Hypothesis submit : orders rules submit_fence = seq_cst.
Hypothesis idle : orders rules machine_idle_fence = seq_cst.
Hypothesis doze : orders rules doze_fence = seq_cst.
Hypothesis found_acquires : acquires (orders rules found) = true.
Hypothesis found_releases : releases (orders rules found) = true.
Hypothesis who_has_found_submits : found_submits rules = true.
Notation step := (step rules).

(* ---- What one step does ---- *)
Lemma others_stay s i a s' j : step s i a = Some s' -> j <> i -> points s' j = points s j /\ views s' j = views s j.
Proof.
  intros H N. cases H; simpl; unfold update; simpl; destruct (Nat.eqb_spec j i); try congruence; auto.
Qed.
Lemma memory_stays s i a s' l t g : step s i a = Some s' -> mem s l t = Some g -> mem s' l t = Some g.
Proof.
  intros H M. cases H; facts; simpl; try assumption; rewrite add_otherwise; try assumption;
    match goal with |- ?a <> ?b \/ ?c <> ?d =>
      destruct (location_eq a b) as [E |]; [right | left; assumption]; intro; subst; congruence end.
Qed.
Lemma the_count_carries s i a s' g : number_ok s -> step s i a = Some s' -> mem s Spinning (top s) = Some g ->
  exists g', mem s' Spinning (top s') = Some g' /\ included (carried g) (carried g').
Proof.
  intros N H M. destruct (top s' =? top s) eqn:E.
  - apply Nat.eqb_eq in E. rewrite E. eauto using memory_stays, included_refl.
  - apply Nat.eqb_neq in E. revert E. cases H; simpl; intro; try congruence;
      match goal with X : exchange _ _ _ _ _ _ _ _ = Some _ |- _ =>
        apply exchange_says in X as (? & g' & M' & _ & _ & _ & -> & _ & _ & _ & ? & _) end;
      rewrite M in M'; injection M' as <-; exists g'; rewrite add_same; auto.
Qed.
Lemma a_counted_one s i : count_ok s -> 0 < own (points s i) + called (listed s i) -> counted s <> [].
Proof. intros C P E. specialize (C i). rewrite E in C. simpl in C. lia. Qed.

(* No machine was counted, and nothing has changed. *)
Definition quiet s s' := counted s = [] /\ counted s' = [] /\ top s' = top s /\ cleared s' = cleared s.
Lemma kinds_of_steps s i a s' : count_invariant s -> step s i a = Some s' ->
  counted s' <> [] \/ quiet s s' \/
  (counted s' = [] /\ cleared s' = cleared s /\ (points s i = Found \/ exists d, points s i = IdleSpinning d)).
Proof.
  intros (_ & W & _ & _ & C) H.
  assert (O := a_counted_one s i C). assert (Q : forall m, wakes (points s i) m -> counted s <> [])
    by (intros m K; apply W in K; apply (a_counted_one s m C); rewrite K; simpl; lia).
  unfold quiet. cases H; simpl in *;
    try (left; discriminate);
    try (left; apply O; simpl; lia);
    try (left; eapply Q; reflexivity);
    try (destruct (counted s) eqn:K; [right; left; auto | left; discriminate]);
    destruct (without i (counted s)) eqn:K; try (left; discriminate); right; right; eauto 10.
Qed.

(* ---- What is published, withdrawn and last ---- *)
Lemma a_fence_tells s i h a s' : points s i = SubmitFence h -> step s i a = Some s' ->
  points s' i = SubmitNeed h /\ included (join (views s i) (heavy s)) (views s' i) /\ included (views s' i) (all s').
Proof.
  intros P H. unfold step in H. rewrite P in H. destruct a as [c o t | other | x y]; try discriminate H.
  unfold go, light_fence in H. rewrite P, submit in H. injection H as <-. simpl. unfold update. rewrite Nat.eqb_refl.
  repeat split; pointwise.
Qed.
Lemma a_heavy_fence_tells s i d a s' : points s i = IdleFence d -> step s i a = Some s' ->
  points s' i = (if d then Dozing 0 else Look 0) /\ included (views s i) (views s' i) /\ included (all s) (views s' i) /\
  heavy s' = views s' i /\ all s' = views s' i /\ mem s' = mem s.
Proof.
  intros P H. unfold step in H. rewrite P in H. destruct a as [c o t | other | x y]; try discriminate H.
  unfold go, heavy_fence in H. rewrite P in H. destruct d; [rewrite doze in H | rewrite idle in H]; injection H as <-;
    simpl; unfold update; rewrite Nat.eqb_refl; repeat split; pointwise.
Qed.
Ltac grow s i a s' F H :=
  let F' := fresh "F'" in let A := fresh "A" in let B := fresh "B" in let V := fresh "V" in
  destruct (a_step_forgets_nothing rules submit idle doze s i a s' F H) as (F' & A & B & V).

Lemma telling_stays s i a s' l c : fences_ok s -> step s i a = Some s' -> about_to_tell s l c -> about_to_tell s' l c.
Proof.
  intros F H [T | (j & h & P & T)]; grow s i a s' F H; [left; specialize (A l); lia |].
  destruct (Nat.eq_dec j i) as [-> | N].
  - left. destruct (a_fence_tells _ _ _ _ _ P H) as (_ & X & Y). specialize (X l). specialize (Y l). unfold join in X. lia.
  - right. exists j, h. destruct (others_stay _ _ _ _ _ H N) as (-> & ->). auto.
Qed.
Lemma published_stays s i a s' : fences_ok s -> published_ok s -> step s i a = Some s' -> published_ok s'.
Proof.
  intros F I H p t g M V.
  assert (O : mem s (Place p) t = Some g \/ (exists h, points s' i = SubmitFence h) /\ t <= views s' i (Place p)).
  { revert M. cases H; facts; simpl; intro M; auto; try (apply add_inv in M as [(E & -> & ->) | M]; [| auto]); try discriminate E;
      try (exfalso; congruence). injection E as ->.
    right. unfold update. rewrite Nat.eqb_refl. split; [eauto | assumption]. }
  destruct O as [O | ((h & P) & T)].
  - destruct (I p t g O V) as [T | (j & T)].
    + assert (X : about_to_tell s' (Place p) t) by (apply (telling_stays _ _ _ _ _ _ F H); left; exact T).
      destruct X as [X | (k & h & P & X)]; [auto |]. right. exists k. unfold asks. rewrite P. exact X.
    + assert (X : about_to_tell s' (Place p) t).
      { apply (telling_stays _ _ _ _ _ _ F H). right. unfold asks in T. destruct (points s j) eqn:P; try contradiction. eauto. }
      destruct X as [X | (k & h & P & X)]; [auto |]. right. exists k. unfold asks. rewrite P. exact X.
  - right. exists i. unfold asks. rewrite P. exact T.
Qed.

(* A woken machine stays woken until it wakes up, with what its waker had seen. *)
Lemma woken_stays s i a s' m v : waking_ok s -> up_ok s -> step s i a = Some s' -> listed s m = Woken v ->
  listed s' m = Woken v \/ (m = i /\ points s' m = At Spins /\ included v (views s' m)).
Proof.
  intros W U H L. pose proof (U i) as Ui. pose proof (W i) as Wi.
  cases H; repeat match goal with E : points s i = _ |- _ => rewrite E in Ui, Wi; revert E end; intros; simpl in *; auto;
    unfold update; simpl; destruct (Nat.eqb_spec m i); try subst; rewrite ?Nat.eqb_refl; simpl; auto;
    repeat match goal with |- context [?x =? ?y] => destruct (Nat.eqb_spec x y); try subst end; simpl; auto;
    try (specialize (Ui eq_refl); congruence);
    try (specialize (Wi _ eq_refl); congruence); try congruence;
    try (match goal with X : may_be_called _ _ = true |- _ => unfold may_be_called in X; rewrite L in X; discriminate end);
    try (right; repeat split; auto; match goal with E : listed s i = Woken _ |- _ => rewrite E in L; injection L as <- end; pointwise).
Qed.

(* A machine that keeps a withdrawal to itself: it goes on to do so, or tells it. *)
Lemma who_keeps_no_more s i a s' : step s i a = Some s' -> keeps (points s i) = true -> keeps (points s' i) = false ->
  points s i = Found \/ (exists h m, points s i = OneWake h m) \/ exists d, points s i = IdleFence d.
Proof.
  intros H K K'. cases H; repeat match goal with E : points s i = _ |- _ => rewrite E in K; revert E end; intros;
    simpl in *; unfold update in K'; simpl in K'; rewrite ?Nat.eqb_refl in K'; simpl in *; try congruence; try discriminate; eauto.
Qed.
Lemma found_tells s i a s' : number_ok s -> points s i = Found -> step s i a = Some s' ->
  points s' i = SubmitFence Busy /\ S (top s) <= views s' i Spinning /\ top s' = S (top s) /\ cleared s' = cleared s /\
  (exists g, mem s Spinning (top s) = Some g /\ included (carried g) (views s' i)) /\
  (exists g, mem s' Spinning (top s') = Some g /\ included (views s' i) (carried g)).
Proof.
  intros N P H. unfold step in H. rewrite P in H. destruct a as [c o t | other | x y]; try discriminate H.
  unfold go, counts, option_map in H. rewrite P, who_has_found_submits in H.
  destruct (exchange _ _ _ _ _ _ _ _) as [[m v] |] eqn:E in H; [| discriminate]. injection H as <-.
  apply exchange_says in E as (g & g' & M & _ & _ & _ & -> & _ & _ & T & _ & R & A).
  simpl. unfold update. rewrite Nat.eqb_refl. repeat split; auto.
  - exists g. auto.
  - exists g'. rewrite add_same. auto.
Qed.
Lemma wake_tells s i h m a s' : points s i = OneWake h m -> step s i a = Some s' -> listed s' m = Woken (views s i).
Proof.
  intros P H. unfold step in H. rewrite P in H. destruct a as [c o t | other | x y]; try discriminate H.
  unfold go in H. rewrite P in H. injection H as <-. simpl. unfold update. rewrite Nat.eqb_refl. reflexivity.
Qed.
Lemma withdrawal_stays s i a s' c : fences_ok s -> number_ok s -> waking_ok s -> up_ok s -> step s i a = Some s' ->
  withdrawal_known s c -> withdrawal_known s' c.
Proof.
  intros F N W U H K. grow s i a s' F H. destruct K as [K | [(g & M & K & T) | [(j & K & T) | (m & v & L & T)]]].
  - left. specialize (B Need). lia.
  - right. left. destruct (the_count_carries _ _ _ _ _ N H M) as (g' & M' & C). exists g'. specialize (C Need).
    repeat split; [assumption | lia | eauto using telling_stays].
  - destruct (Nat.eq_dec j i) as [-> | E].
    2: { right. right. left. exists j. destruct (others_stay _ _ _ _ _ H E) as (-> & ->). auto. }
    pose proof (V i Need) as Vi. destruct (keeps (points s' i)) eqn:K'.
    { right. right. left. exists i. split; [assumption | lia]. }
    destruct (who_keeps_no_more _ _ _ _ H K K') as [P | [(h & m & P) | (d & P)]].
    + right. left. destruct (found_tells _ _ _ _ N P H) as (P' & _ & _ & _ & _ & (g & M & C)). exists g. specialize (C Need).
      repeat split; [assumption | lia | right; exists i, Busy; split; [assumption | lia]].
    + right. right. right. exists m, (views s i). split; [eauto using wake_tells | assumption].
    + left. destruct (a_heavy_fence_tells _ _ _ _ _ P H) as (_ & _ & _ & -> & _). lia.
  - destruct (woken_stays _ _ _ _ _ _ W U H L) as [L' | (-> & P & C)]; right; right; [right; eauto | left].
    exists i. rewrite P. specialize (C Need). split; [reflexivity | lia].
Qed.
(* A new withdrawal is kept by who made it. *)
Lemma who_withdraws_keeps s i a s' : step s i a = Some s' ->
  cleared s' = cleared s \/ (keeps (points s' i) = true /\ (cleared s' <= cleared s \/ cleared s' <= views s' i Need)).
Proof.
  intros H. cases H; facts; simpl in *; auto; right; unfold update; rewrite ?Nat.eqb_refl; simpl; (split; [reflexivity | lia]).
Qed.
Lemma withdrawn_stays s i a s' : fences_ok s -> number_ok s -> waking_ok s -> up_ok s -> withdrawn_ok s ->
  step s i a = Some s' -> withdrawn_ok s'.
Proof.
  intros F N W U I H. unfold withdrawn_ok in *.
  assert (K : withdrawal_known s' (cleared s)) by eauto using withdrawal_stays.
  destruct (who_withdraws_keeps _ _ _ _ H) as [-> | (P & [T | T])]; [assumption | | right; right; left; eauto].
  replace (cleared s') with (cleared s); [assumption |].
  assert (cleared s <= cleared s'); [| lia]. clear - H. cases H; simpl; lia.
Qed.

Lemma fencing_stays s i a s' l c : fences_ok s -> step s i a = Some s' -> fencing s l c ->
  fencing s' l c \/ (c <= heavy s' l /\ c <= all s' l).
Proof.
  intros F H (j & d & P & T). destruct (Nat.eq_dec j i) as [-> | E].
  - right. destruct (a_heavy_fence_tells _ _ _ _ _ P H) as (_ & X & _ & -> & -> & _). specialize (X l). lia.
  - left. exists j, d. destruct (others_stay _ _ _ _ _ H E) as (-> & ->). auto.
Qed.
Lemma told_by_fences_stays s i a s' l c l' c' : fences_ok s -> step s i a = Some s' ->
  told_by_fences s l c l' c' -> told_by_fences s' l c l' c'.
Proof.
  intros F H [T | [T | (j & h & P & T & T')]]; grow s i a s' F H.
  - left. specialize (A l). lia.
  - destruct (fencing_stays _ _ _ _ _ _ F H T) as [X | (_ & X)]; [right; left | left]; assumption.
  - destruct (Nat.eq_dec j i) as [-> | E].
    + left. destruct (a_fence_tells _ _ _ _ _ P H) as (_ & X & Y). specialize (X l). specialize (Y l). lia.
    + right. right. exists j, h. destruct (others_stay _ _ _ _ _ H E) as (-> & ->). unfold join in *.
      pose proof (B l) as Bl. pose proof (B l') as Bl'. repeat split; [assumption | lia |].
      destruct T' as [T' | T']; [left; lia |].
      destruct (fencing_stays _ _ _ _ _ _ F H T') as [X | (X & _)]; [auto | left; lia].
Qed.

Lemma not_counted s : count_ok s -> counted s = [] -> forall j, own (points s j) = 0 /\ called (listed s j) = 0.
Proof. intros C E j. specialize (C j). rewrite E in C. simpl in C. lia. Qed.
Lemma idle_spinning_tells s i d a s' : points s i = IdleSpinning d -> step s i a = Some s' ->
  points s' i = IdleFence d /\ S (top s) <= views s' i Spinning /\ top s' = S (top s) /\ cleared s' = cleared s.
Proof.
  intros P H. unfold step in H. rewrite P in H. destruct a as [c o t | other | x y]; try discriminate H.
  unfold go, counts, option_map in H. rewrite P in H.
  destruct (exchange _ _ _ _ _ _ _ _) as [[m v] |] eqn:E in H; [| discriminate]. injection H as <-.
  apply exchange_says in E as (g & g' & _ & _ & _ & _ & -> & _ & _ & T & _).
  simpl. unfold update. rewrite Nat.eqb_refl. auto.
Qed.

(* Who keeps a withdrawal when no machine is counted any more is about to make its fence. *)
Lemma keepers_fence s j : count_ok s -> waking_ok s -> counted s = [] -> keeps (points s j) = true -> exists d, points s j = IdleFence d.
Proof.
  intros C W E K. destruct (not_counted _ C E j) as (O & _).
  destruct (points s j) eqn:P; simpl in K, O; try (rewrite O in K; discriminate K); try discriminate; eauto.
  exfalso. assert (Q : listed s m = Called) by (apply (W j); rewrite P; reflexivity).
  destruct (not_counted _ C E m) as (_ & X). rewrite Q in X. discriminate.
Qed.

(* When found() lowers the count to 0, its machine knows of all withdrawals, or another is about to make a heavy fence. *)
Lemma who_has_found_last_knows s i a s' : fences_ok s -> number_ok s -> count_invariant s -> count_invariant s' -> withdrawn_ok s ->
  step s i a = Some s' -> points s i = Found -> counted s' = [] ->
  cleared s' <= join (views s' i) (heavy s') Need \/ fencing s' Need (cleared s').
Proof.
  intros F N CI (_ & W' & _ & _ & C') I H P E.
  destruct (found_tells _ _ _ _ N P H) as (P' & _ & _ & -> & (g & M & A') & _). grow s i a s' F H.
  unfold join. pose proof (V i Need) as Vi. specialize (A' Need). specialize (B Need).
  destruct I as [K | [(g0 & M0 & K & _) | [(j & K & T) | (m & v & L & T)]]].
  - left. lia.
  - left. rewrite M0 in M. injection M as <-. lia.
  - destruct (Nat.eq_dec j i) as [-> | D]; [left; lia | right].
    destruct (others_stay _ _ _ _ _ H D) as (X & Y). rewrite <- X in K.
    destruct (keepers_fence _ _ C' W' E K) as (d & Q). exists j, d. rewrite Y. auto.
  - exfalso. destruct CI as (_ & W & _ & U & _). destruct (woken_stays _ _ _ _ _ _ W U H L) as [L' | (-> & Q & _)].
    + destruct (not_counted _ C' E m) as (_ & X). rewrite L' in X. discriminate.
    + rewrite P' in Q. discriminate.
Qed.

Lemma last_stays s i a s' : fences_ok s -> number_ok s -> count_invariant s -> count_invariant s' -> withdrawn_ok s -> last_ok s ->
  step s i a = Some s' -> last_ok s'.
Proof.
  intros F N CI CI' I L H E. pose proof (fun l c l' c' => told_by_fences_stays s i a s' l c l' c' F H) as T.
  destruct (kinds_of_steps _ _ _ _ CI H) as [X | [(E0 & _ & Et & Ec) | (_ & Ec & [P | (d & P)])]]; [contradiction | | |].
  - rewrite Et, Ec. destruct (L E0). auto.
  - pose proof (who_has_found_last_knows _ _ _ _ F N CI CI' I H P E) as K.
    destruct (found_tells _ _ _ _ N P H) as (P' & X & Y & _). split.
    + right. right. exists i, Busy. rewrite Y. unfold join at 1. repeat split; [assumption | lia | assumption].
    + destruct K as [K | K]; [| right; left; exact K]. right. right. exists i, Busy. rewrite Y. repeat split; auto.
      left. unfold join. lia.
  - destruct (idle_spinning_tells _ _ _ _ _ P H) as (P' & X & Y & _). rewrite Y.
    assert (Fi : fencing s' Spinning (S (top s))) by (exists i, d; auto). split; [right; left; exact Fi |].
    rewrite Ec. grow s i a s' F H. destruct CI' as (_ & W' & _ & _ & C').
    destruct I as [K | [(g & _ & _ & K) | [(j & K & Q) | (m & v & Lm & Q)]]].
    + left. specialize (F Need). specialize (A Need). lia.
    + destruct (telling_stays _ _ _ _ _ _ F H K) as [Z | (j & h & Pj & Z)]; [left; exact Z |].
      right. right. exists j, h. repeat split; [assumption | unfold join; lia | auto].
    + pose proof (V i Need) as Vi. destruct (Nat.eq_dec j i) as [-> | D]; right; left; [exists i, d; split; [assumption | lia] |].
      destruct (others_stay _ _ _ _ _ H D) as (Z & Z'). rewrite <- Z in K.
      destruct (keepers_fence _ _ C' W' E K) as (d' & Pj). exists j, d'. rewrite Z'. auto.
    + exfalso. destruct CI as (_ & W & _ & U & _). destruct (woken_stays _ _ _ _ _ _ W U H Lm) as [L' | (-> & Z & _)].
      * destruct (not_counted _ C' E m) as (_ & Z). rewrite L' in Z. discriminate.
      * rewrite P' in Z. discriminate.
Qed.

(* ---- Every task is cared for ---- *)
Lemma knowing_stays s s' v v' : top s' = top s -> cleared s' = cleared s -> included v v' -> knows s v -> knows s' v'.
Proof. intros T C I (A & B). pose proof (I Spinning). pose proof (I Need). split; lia. Qed.
Lemma requested_stays s i a s' : step s i a = Some s' -> cleared s' = cleared s -> requested s -> requested s'.
Proof. intros H C (k & g & M & V & K). exists k, g. rewrite C. eauto using memory_stays. Qed.
Lemma ready_stays s i a s' j : fences_ok s -> step s i a = Some s' -> top s' = top s -> cleared s' = cleared s -> j <> i ->
  ready s j -> ready s' j.
Proof.
  intros F H T C N R. destruct (others_stay _ _ _ _ _ H N) as (P & V). unfold ready in *. rewrite P, V. grow s i a s' F H.
  destruct (points s j); try assumption; try (eapply knowing_stays; [exact T | exact C | apply included_refl | exact R]).
  eapply knowing_stays; [exact T | exact C | | exact R]. intro l. specialize (B l). unfold join. lia.
Qed.

(* A thread that knows the newest count reads it; if it is 0, no machine is counted. *)
Lemma the_newest_count s v t g : number_ok s -> knows s v -> v Spinning <= t -> mem s Spinning t = Some g ->
  value g = length (counted s).
Proof.
  intros ((g0 & M0 & V0) & N) (K & _) T M. pose proof (N _ _ M). assert (t = top s) as -> by lia. congruence.
Qed.
Ltac here := unfold ready; simpl; unfold update; rewrite ?Nat.eqb_refl; simpl.

(* The newest withdrawal is one. *)
Definition cleared_ok s := exists g, mem s Need (cleared s) = Some g /\ value g = 0.
Lemma cleared_stays s i a s' : cleared_ok s -> step s i a = Some s' -> cleared_ok s'.
Proof.
  intros (g0 & M0 & V0) H. destruct (Nat.eq_dec (cleared s') (cleared s)) as [E | D].
  - exists g0. rewrite E. eauto using memory_stays.
  - revert D. cases H; simpl; intro; try congruence;
      match goal with X : store _ _ _ _ _ _ ?at_ = Some _ |- _ => apply store_says in X as (g & _ & _ & -> & W & _);
        destruct (Nat.max_spec (cleared s) at_) as [(_ & E) | (_ & E)]; [| congruence]; exists g; simpl; rewrite E, add_same; auto end.
Qed.

Ltac this_step P H :=
  unfold step in H; rewrite P in H;
  lazymatch type of H with match ?a with _ => _ end = _ => destruct a; try discriminate H end;
  unfold go, reads, writes, counts, locks, option_map in H; rewrite P in H.
Lemma who_is_ready_goes_on s i a s' : fences_ok s -> number_ok s -> cleared_ok s -> count_invariant s -> step s i a = Some s' -> quiet s s' ->
  ready s i -> watched s' \/ exists d, points s i = IdleFence d.
Proof.
  intros F N Z (_ & _ & R & _ & C) H (E & E' & T & Cl) K. unfold ready in K. grow s i a s' F H.
  destruct (points s i) eqn:P; try contradiction; eauto; left; pose proof (V i) as Vi; right;
    try (assert (K' : knows s' (views s' i)) by (eapply knowing_stays; [exact T | exact Cl | exact Vi | exact K])).
  - (* SubmitFence *)
    right. exists i. destruct (a_fence_tells _ _ _ _ _ P H) as (P' & X & _). unfold ready. rewrite P'.
    eapply knowing_stays; [exact T | exact Cl | exact X | exact K].
  - (* SubmitSpinning *)
    right. exists i. revert K'. this_step P H.
    destruct (load _ _ _ _ _ _) as [[n v] |] eqn:L in H; [| discriminate]. injection H as <-.
    apply load_says in L as (g & M & V0 & L & _). rewrite (the_newest_count _ _ _ _ N K L M), E in V0. simpl in V0. subst n. here. auto.
  - (* SubmitNeed *)
    revert K'. this_step P H.
    destruct (load _ _ _ _ _ _) as [[n v] |] eqn:L in H; [| discriminate]. injection H as <-.
    apply load_says in L as (g & M & V0 & L & _). destruct (Nat.eqb_spec n 0); intro K'.
    + right. exists i. revert K'. here. auto.
    + left. exists at_, g. simpl. subst n. repeat split; auto. destruct K as (_ & K), Z as (g0 & M0 & V0).
      destruct (Nat.eq_dec (cleared s) at_) as [<- |]; [congruence | lia].
  - (* OneLock *)
    right. exists i. revert K'. this_step P H. destruct choice.
    + destruct (holder s); [discriminate |]. injection H as <-. here. auto.
    + injection H as <-. here. auto.
  - (* OneAgain *)
    right. exists i. revert K'. this_step P H.
    destruct (load _ _ _ _ _ _) as [[n v] |] eqn:L in H; [| discriminate]. injection H as <-.
    apply load_says in L as (g & M & V0 & L & _). rewrite (the_newest_count _ _ _ _ N K L M), E in V0. simpl in V0. subst n. here.
    destruct (free s =? 0); auto.
  - (* OneNeed *)
    left. this_step P H.
    destruct (store _ _ _ _ _ _ _) as [[m v] |] eqn:L in H; [| discriminate]. injection H as <-.
    apply store_says in L as (g & M & L & -> & V0 & _). destruct K as (_ & K). exists at_, g. simpl. rewrite add_same.
    repeat split; [congruence | lia].
  - (* OneSpin *)
    exfalso. this_step P H. destruct (may_be_called s choice); [| discriminate].
    destruct (exchange _ _ _ _ _ _ _ _) as [[m v] |] in H; [| discriminate]. injection H as <-. discriminate E'.
  - (* SpinAdd *)
    exfalso. this_step P H. destruct (exchange _ _ _ _ _ _ _ _) as [[m v] |] in H; [| discriminate]. injection H as <-. discriminate E'.
  - (* BackLock *)
    right. exists i. revert K'. specialize (R i). rewrite P in R. specialize (R eq_refl).
    destruct (not_counted _ C E i) as (_ & O). this_step P H.
    destruct (listed s i); try discriminate O; [contradiction |].
    destruct (holder s); [destruct (free s); discriminate |].
    destruct (free s); injection H as <-; here; auto.
  - (* LateNeed *)
    left. this_step P H.
    destruct (store _ _ _ _ _ _ _) as [[m v] |] eqn:L in H; [| discriminate]. injection H as <-.
    apply store_says in L as (g & M & L & -> & V0 & _). destruct K as (_ & K). exists at_, g. simpl. rewrite add_same.
    repeat split; [congruence | lia].
Qed.

(* The only machine that was about to make its heavy fence has made it. *)
Lemma who_fences_knows s i d a s' : fences_ok s -> last_ok s -> step s i a = Some s' -> quiet s s' -> points s i = IdleFence d ->
  watched s' \/ knows s' (views s' i).
Proof.
  intros F L H (E & E' & T & C) P. destruct (a_heavy_fence_tells _ _ _ _ _ P H) as (P' & V & A & Bh & Ba & _).
  assert (Q : forall l c, fencing s l c -> (exists j d', j <> i /\ points s j = IdleFence d') \/ c <= views s' i l).
  { intros l c (j & d' & Pj & X). destruct (Nat.eq_dec j i) as [-> | D]; [right; specialize (V l); lia | left; eauto]. }
  assert (W : (exists j d', j <> i /\ points s j = IdleFence d') -> watched s').
  { intros (j & d' & D & Pj). right. right. exists j. unfold ready. destruct (others_stay _ _ _ _ _ H D) as (-> & _).
    rewrite Pj. exact Logic.I. }
  assert (K : forall l c l' c', told_by_fences s l c l' c' ->
    (forall j, c <= join (views s' j) (heavy s') l -> c' <= join (views s' j) (heavy s') l' -> knows s' (join (views s' j) (heavy s'))) ->
    watched s' \/ c <= views s' i l).
  { intros l c l' c' [X | [X | (j & h & Pj & X & X')]] J.
    - right. specialize (A l). lia.
    - destruct (Q _ _ X); auto.
    - assert (D : j <> i) by (intros ->; congruence). destruct (others_stay _ _ _ _ _ H D) as (Pj' & Vj).
      grow s i a s' F H. pose proof (B l) as Bl. pose proof (B l') as Bl'. left.
      assert (Y : watched s' \/ c' <= join (views s' j) (heavy s') l').
      { destruct X' as [X' | X']; [right; unfold join in *; rewrite Vj; lia |].
        destruct (Q _ _ X') as [Y | Y]; [auto | right; unfold join; rewrite Bh; lia]. }
      destruct Y as [Y | Y]; [exact Y |]. right. right. exists j. unfold ready. rewrite Pj', Pj. apply J; [| exact Y].
      unfold join in *. rewrite Vj. lia. }
  destruct (L E) as (L1 & L2).
  apply K in L1; [| intros; split; rewrite ?T, ?C; assumption]. apply K in L2; [| intros; split; rewrite ?T, ?C; assumption].
  destruct L1 as [L1 | L1]; [auto |]. destruct L2 as [L2 | L2]; [auto |]. right. split; lia.
Qed.

Lemma who_lowers_last_watches s i a s' : fences_ok s -> number_ok s -> count_invariant s -> count_invariant s' -> withdrawn_ok s ->
  step s i a = Some s' -> counted s' = [] -> points s i = Found \/ (exists d, points s i = IdleSpinning d) -> watched s'.
Proof.
  intros F N CI CI' I H E [P | (d & P)]; right; right.
  - destruct (who_has_found_last_knows _ _ _ _ F N CI CI' I H P E) as [K | (j & d & Pj & _)].
    + destruct (found_tells _ _ _ _ N P H) as (P' & X & Y & _). exists i. unfold ready. rewrite P'. split; [| exact K].
      unfold join. lia.
    + exists j. unfold ready. rewrite Pj. exact Logic.I.
  - exists i. destruct (idle_spinning_tells _ _ _ _ _ P H) as (P' & _). unfold ready. rewrite P'. exact Logic.I.
Qed.

(* Unless the thread that moves is the only one that is about to make a heavy fence. *)
Lemma watched_stays s i a s' : fences_ok s -> number_ok s -> cleared_ok s -> count_invariant s -> count_invariant s' -> withdrawn_ok s ->
  step s i a = Some s' -> watched s -> watched s' \/ (quiet s s' /\ exists d, points s i = IdleFence d).
Proof.
  intros F N Z CI CI' I H [W | [W | (j & W)]];
    (destruct (kinds_of_steps _ _ _ _ CI H) as [X | [Q | (X & _ & X')]];
     [left; left; exact X | | left; eapply who_lowers_last_watches; eauto]);
    pose proof Q as (E & E' & T & C).
  - contradiction.
  - left. right. left. eauto using requested_stays.
  - destruct (Nat.eq_dec j i) as [-> | D].
    + destruct (who_is_ready_goes_on _ _ _ _ F N Z CI H Q W) as [Y | Y]; auto.
    + left. right. right. exists j. eapply ready_stays; eauto.
Qed.
Lemma fences_tell_stays s i a s' : fences_ok s -> number_ok s -> cleared_ok s -> count_invariant s -> count_invariant s' -> withdrawn_ok s ->
  last_ok s -> fences_tell s -> step s i a = Some s' -> fences_tell s'.
Proof.
  intros F N Z CI CI' I L [W | K] H.
  - destruct (watched_stays _ _ _ _ F N Z CI CI' I H W) as [Y | (Q & d & P)]; [left; exact Y |].
    destruct (who_fences_knows _ _ _ _ _ F L H Q P) as [Y | Y]; [left; exact Y | right].
    destruct (a_heavy_fence_tells _ _ _ _ _ P H) as (_ & _ & _ & -> & _). exact Y.
  - destruct (kinds_of_steps _ _ _ _ CI H) as [X | [(_ & _ & T & C) | (X & _ & X')]];
      [left; left; exact X | right | left; eapply who_lowers_last_watches; eauto].
    grow s i a s' F H. eapply knowing_stays; eauto.
Qed.
(* A light fence is behind all heavy ones. *)
Lemma who_asks_watches s i h a s' : fences_ok s -> number_ok s -> cleared_ok s -> count_invariant s -> count_invariant s' -> withdrawn_ok s ->
  fences_tell s -> step s i a = Some s' -> points s i = SubmitFence h -> watched s'.
Proof.
  intros F N Z CI CI' I [W | K] H P.
  - destruct (watched_stays _ _ _ _ F N Z CI CI' I H W) as [Y | (_ & d & P')]; [exact Y | congruence].
  - destruct (kinds_of_steps _ _ _ _ CI H) as [X | [(_ & _ & T & C) | (_ & _ & [X | (d & X)])]]; [left; exact X | | congruence | congruence].
    right. right. exists i. destruct (a_fence_tells _ _ _ _ _ P H) as (P' & X & _). unfold ready. rewrite P'.
    eapply knowing_stays; [exact T | exact C | | exact K]. intro l. specialize (X l). unfold join in X. lia.
Qed.

(* The machine that will find the task is one step nearer. *)
Lemma who_finds_goes_on s i a s' p t : fences_ok s -> count_invariant s -> count_invariant s' -> step s i a = Some s' -> quiet s s' ->
  task s p t -> p < places_looked_at rules -> finds s p t i -> watched s' \/ finds s' p t i.
Proof.
  intros F _ (_ & _ & _ & _ & C') H (E & E' & T & Cl) ((g & M & V) & Nw) Pl (P & S & K). grow s i a s' F H.
  assert (S' : t <= views s' i (Place p)) by (specialize (V0 i (Place p)); lia).
  assert (K' : knows s' (views s' i)) by (eapply knowing_stays; [exact T | exact Cl | exact (V0 i) | exact K]).
  destruct (points s i) eqn:Pi; try contradiction.
  - (* Dozing *)
    revert S' K'. pose proof (a_counted_one s' i C') as O. rewrite E' in O. this_step Pi H. destruct choice as [| [|]].
    + destruct (load _ _ _ _ _ _) as [[n v] |] eqn:L in H; [| discriminate]. injection H as <-. destruct (n =? 0); intros.
      * right. unfold finds. here. revert S' K'. here. auto.
      * left. right. right. exists i. here. exact Logic.I.
    + injection H as <-. intros. left. right. right. exists i. here. exact Logic.I.
    + destruct (listed s i); try discriminate. injection H as <-. exfalso. revert O. here. intro O. apply O; [lia | reflexivity].
  - (* Look *)
    revert S' K'. this_step Pi H. destruct (Nat.ltb_spec p0 (places_looked_at rules)); [| lia].
    destruct (load _ _ _ _ _ _) as [[n v] |] eqn:L in H; [| discriminate]. injection H as <-.
    apply load_says in L as (g0 & M0 & V1 & L & _). destruct (Nat.eqb_spec n 0); intros.
    + right. unfold finds. here. revert S' K'. here. intros. repeat split; try assumption; try apply K'.
      destruct (Nat.eq_dec p0 p) as [-> |]; [| lia]. exfalso.
      destruct (Nat.eq_dec at_ t) as [-> |]; [congruence |]. apply (Nw at_ g0); [lia | assumption].
    + left. right. right. exists i. revert K'. here. auto.
Qed.
Lemma an_old_task s i a s' p t : step s i a = Some s' -> task s' p t -> task s p t \/ asks s' p t i.
Proof.
  intros H ((g & M & V) & N).
  assert (O : mem s (Place p) t = Some g \/ asks s' p t i).
  { revert M. unfold asks. clear N. cases H; facts; simpl; intro M; auto; try (apply add_inv in M as [(E & -> & ->) | M]; [| auto]); try discriminate E;
      try (exfalso; congruence). injection E as ->.
    right. unfold update. rewrite Nat.eqb_refl. assumption. }
  destruct O as [O | O]; [left | auto]. split; [eauto |]. intros t' g' T M'. apply (N t' g' T). eauto using memory_stays.
Qed.
Lemma asks_or_stays s i a s' p t j : step s i a = Some s' -> asks s p t j -> asks s' p t j \/ (j = i /\ exists h, points s i = SubmitFence h).
Proof.
  intros H A. destruct (Nat.eq_dec j i) as [-> | D]; [right | left].
  - unfold asks in A. destruct (points s i); try contradiction. eauto.
  - unfold asks in *. destruct (others_stay _ _ _ _ _ H D) as (-> & ->). exact A.
Qed.

Lemma cared_stays s i a s' : fences_ok s -> number_ok s -> cleared_ok s -> count_invariant s -> count_invariant s' -> withdrawn_ok s ->
  last_ok s -> fences_tell s -> published_ok s -> cared_ok (places_looked_at rules) s -> step s i a = Some s' ->
  cared_ok (places_looked_at rules) s'.
Proof.
  intros F N Z CI CI' I L FT PO CO H p t Tk Pl.
  destruct (an_old_task _ _ _ _ _ _ H Tk) as [O | O]; [| eauto].
  destruct (kinds_of_steps _ _ _ _ CI H) as [X | [Q | (X & _ & X')]];
    [left; left; exact X | | left; eapply who_lowers_last_watches; eauto].
  assert (A : forall j, asks s p t j -> watched s' \/ exists j, asks s' p t j).
  { intros j A. destruct (asks_or_stays _ _ _ _ _ _ _ H A) as [B | (_ & h & P)]; [eauto |].
    left. eapply who_asks_watches; eauto. }
  assert (B : (exists d, points s i = IdleFence d) -> watched s' \/ (exists j, asks s' p t j) \/ exists j, finds s' p t j).
  { intros (d & P). destruct O as ((g & M & V) & _). destruct (PO p t g M) as [S | (j & S)]; [congruence | | destruct (A _ S); auto].
    destruct (who_fences_knows _ _ _ _ _ F L H Q P) as [Y | Y]; [auto |]. right. right. exists i.
    destruct (a_heavy_fence_tells _ _ _ _ _ P H) as (P' & _ & Y' & _). specialize (Y' (Place p)). split; [| split; [lia | exact Y]].
    rewrite P'. destruct d; [exact Logic.I | lia]. }
  destruct (CO p t O Pl) as [W | [(j & W) | (j & W)]].
  - destruct (watched_stays _ _ _ _ F N Z CI CI' I H W) as [Y | (_ & Y)]; auto.
  - destruct (A _ W); auto.
  - destruct (Nat.eq_dec j i) as [-> | D].
    + destruct (who_finds_goes_on _ _ _ _ _ _ F CI CI' H Q O Pl W) as [Y | Y]; eauto.
    + right. right. exists j. destruct (others_stay _ _ _ _ _ H D) as (Y & Y'). unfold finds in *. rewrite Y, Y'.
      destruct W as (W & W' & W''), Q as (_ & _ & T & C). split; [exact W | split; [exact W' |]].
      eapply knowing_stays; [exact T | exact C | apply included_refl | exact W''].
Qed.

Definition care_invariant s :=
  fences_ok s /\ number_ok s /\ cleared_ok s /\ withdrawn_ok s /\ last_ok s /\ fences_tell s /\ published_ok s /\
  cared_ok (places_looked_at rules) s.
Theorem care_invariant_of_every_run s : (forall i, first i <> Spins) -> reachable rules first processors s -> care_invariant s.
Proof.
  intros Q R. induction R as [| s i a s' R (F & N & Z & I & L & FT & PO & CO) H].
  - assert (V : forall l t g, mem (initial first processors) l t = Some g -> t = 0 /\ value g = 0).
    { intros l t g M. simpl in M. unfold initial_memory in M. destruct (Nat.eqb_spec t 0); [injection M as <-; auto | discriminate]. }
    repeat split.
    + intro l. simpl. lia.
    + eexists. split; reflexivity.
    + intros k g M. apply V in M as (-> & _). simpl. lia.
    + eexists. split; reflexivity.
    + left. simpl. lia.
    + left. simpl. lia.
    + left. simpl. lia.
    + right. split; simpl; lia.
    + intros p t g M W. apply V in M as (_ & M). contradiction.
    + intros p t ((g & M & W) & _). apply V in M as (_ & M). congruence.
  - pose proof (count_invariant_of_every_run _ _ _ _ Q R) as CI.
    assert (R' : reachable rules first processors s') by eauto using reachable_step.
    pose proof (count_invariant_of_every_run _ _ _ _ Q R') as CI'. pose proof CI as (_ & W & _ & U & _).
    grow s i a s' F H. unfold care_invariant.
    split; [assumption |]. split; [eauto using number_stays |]. split; [eauto using cleared_stays |].
    split; [eauto using withdrawn_stays |]. split; [eauto using last_stays |]. split; [eauto using fences_tell_stays |].
    split; [eauto using published_stays | eauto using cared_stays].
Qed.

(* ---- What it says ---- *)
(* Thread i spins, or was called to; or is about to look at the task's place; or is in submitted(), and knows the newest count. *)
Definition cares (s : state) (p t : nat) (i : nat) : Prop :=
  0 < own (points s i) \/ 0 < called (listed s i) \/ asks s p t i \/ ready s i \/ finds s p t i.

(* A task is cared for by a thread, or a request stands. *)
Theorem a_task_is_cared_for s p t : (forall i, first i <> Spins) -> reachable rules first processors s ->
  task s p t -> p < places_looked_at rules -> (exists i, cares s p t i) \/ requested s.
Proof.
  intros Q R T P. destruct (care_invariant_of_every_run _ Q R) as (_ & _ & _ & _ & _ & _ & _ & C). unfold cares.
  destruct (C p t T P) as [[W | [W | (i & W)]] | [(i & W) | (i & W)]]; eauto 10.
  left. destruct (counted s) as [| i l] eqn:E; [contradiction |]. exists i.
  pose proof (the_count_is_of_those_who_spin _ _ _ _ i Q R) as K. rewrite E in K. simpl in K.
  destruct (Nat.eq_dec i i); [| congruence]. lia.
Qed.
(* So none waits beside an idle processor without one who cares. *)
Theorem no_task_waits_beside_an_idle_processor s p t : (forall i, first i <> Spins) -> reachable rules first processors s ->
  task s p t -> p < places_looked_at rules -> 0 < free s -> exists i, cares s p t i.
Proof.
  intros Q R T P F. destruct (a_task_is_cared_for _ _ _ Q R T P) as [W | W]; [exact W |].
  pose proof (while_a_request_stands_no_processor_is_idle _ _ _ _ Q R W). lia.
Qed.
(* When all threads rest, and none was called, a request stands for the task, and no processor is idle. *)
Theorem when_all_rest_no_task_waits_beside_an_idle_processor s p t : (forall i, first i <> Spins) -> reachable rules first processors s ->
  (forall i, exists h, points s i = At h /\ h <> Spins) -> (forall i, called (listed s i) = 0) ->
  task s p t -> p < places_looked_at rules -> requested s /\ free s = 0.
Proof.
  intros Q R A L T P. assert (W : requested s).
  { destruct (a_task_is_cared_for _ _ _ Q R T P) as [(i & W) | W]; [exfalso | exact W].
    destruct (A i) as (h & E & D). specialize (L i). unfold cares, asks, ready, finds in W. rewrite E, L in W. simpl in W.
    destruct h; simpl in W; try contradiction; intuition lia. }
  split; [exact W | eapply while_a_request_stands_no_processor_is_idle; eauto].
Qed.
(* A machine that does not spin and gives its processor up while a request stands heeds it, and spins. *)
Theorem who_gives_a_processor_up_heeds_a_request s i x y s' : (forall i, first i <> Spins) -> reachable rules first processors s ->
  requested s -> points s i = BusyNeed -> step s i (Go x y) = Some s' -> points s' i = SpinAdd true.
Proof.
  intros Q R (k & g & M & V & K) P H. destruct (request_invariant_of_every_run _ _ _ _ Q R) as (L & Z & N & _).
  specialize (N k g M V). unfold known in N. rewrite (proj1 (L i)) in N by (rewrite P; reflexivity).
  unfold step, go in H. rewrite P in H. destruct (load _ _ _ _ _ _) as [[n v] |] eqn:E in H; [| discriminate].
  apply load_says in E as (g' & M' & V' & T & _). destruct n.
  - specialize (Z x g' M' V'). lia.
  - injection H as <-. simpl. unfold update. rewrite Nat.eqb_refl. reflexivity.
Qed.
End proof.

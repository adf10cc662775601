(* SPDX-License-Identifier: MIT *)
(* The litmus shapes of models/cases/litmus that have no seq_cst, in the memory of this proof: it allows and forbids what the
   exact engine shows and does not show. Allowed: by a run that is computed. Forbidden: by an invariant. *)
Require Import Arith Lia Bool List.
Require Import memory.
Require Export runs.
Import ListNotations.
Open Scope list_scope.

Inductive instruction :=
| Read (o : order) (l r : nat)                 (* register r := location l *)
| Write (o : order) (l v : nat)
| Add (o : order) (l : nat)                    (* fetch_add(1) *)
| FailedCas (o : order) (l expected r : nat).  (* a compare-exchange that finds another value *)

Record state := State { mem : memory nat; views : nat -> view nat; line : nat -> nat; registers : nat -> nat }.
Definition program := nat -> list instruction.  (* of each thread *)
Definition initial := State initial_memory (fun _ => nothing_seen) (fun _ => 0) (fun _ => 0).

Definition set {A} (f : nat -> A) (i : nat) (x : A) : nat -> A := fun j => if j =? i then x else f j.
Definition goes_on (s : state) i m v (regs : nat -> nat) : state :=
  State m (set (views s) i v) (set (line s) i (S (line s i))) regs.

(* Thread i makes its next instruction, at a timestamp. *)
Definition step (p : program) (s : state) (i at_ : nat) : option state :=
  match nth_error (p i) (line s i) with
  | None => None
  | Some (Read o l r) =>
      match load Nat.eq_dec (mem s) (views s i) o l at_ with
      | Some (x, v) => Some (goes_on s i (mem s) v (set (registers s) r x))
      | None => None
      end
  | Some (Write o l x) =>
      match store Nat.eq_dec (mem s) (views s i) o l x at_ with
      | Some (m, v) => Some (goes_on s i m v (registers s))
      | None => None
      end
  | Some (Add o l) =>
      match mem s l at_ with
      | Some g =>
          match exchange Nat.eq_dec (mem s) (views s i) o l (value g) (value g + 1) at_ with
          | Some (m, v) => Some (goes_on s i m v (registers s))
          | None => None
          end
      | None => None
      end
  | Some (FailedCas o l e r) =>
      match load Nat.eq_dec (mem s) (views s i) o l at_ with
      | Some (x, v) => if x =? e then None else Some (goes_on s i (mem s) v (set (registers s) r x))
      | None => None
      end
  end.

Notation reachable p := (runs.reachable initial (step p)).

Definition finished (p : program) (threads : nat) (s : state) : Prop :=
  forall i, i < threads -> line s i = length (p i).
Definition outcome (n : nat) (s : state) : list nat := map (registers s) (seq 0 n).

Definition allowed (p : program) (threads n : nat) (o : list nat) : Prop :=
  exists s, reachable p s /\ finished p threads s /\ outcome n s = o.
Definition forbidden (p : program) (threads n : nat) (o : list nat) : Prop :=
  forall s, reachable p s -> finished p threads s -> outcome n s <> o.

Definition all_finished (p : program) threads s := forallb (fun i => line s i =? length (p i)) (seq 0 threads).
Lemma a_run_allows p threads n o todo :
  option_map (fun s => (all_finished p threads s, outcome n s)) (run (step p) initial todo) = Some (true, o) ->
  allowed p threads n o.
Proof.
  destruct (run (step p) initial todo) as [s |] eqn:E; [| discriminate]. simpl. intro H. injection H as F O.
  exists s. split; [eapply run_reaches; [apply reachable_initial | exact E] |]. split; [| exact O].
  intros i L. unfold all_finished in F. rewrite forallb_forall in F. apply Nat.eqb_eq. apply F. apply in_seq. lia.
Qed.

Definition x := 0.
Definition y := 1.
Definition threads (l : list (list instruction)) : program := fun i => nth i l [].

(* ---- Allowed ---- *)

Theorem store_buffering :
  allowed (threads [[Write relaxed x 1; Read relaxed y 0]; [Write relaxed y 1; Read relaxed x 1]]) 2 2 [0; 0].
Proof. apply a_run_allows with (todo := [(0, 1); (0, 0); (1, 1); (1, 0)]). reflexivity. Qed.

Theorem message_passing :
  allowed (threads [[Write relaxed x 1; Write relaxed y 1]; [Read relaxed y 0; Read relaxed x 1]]) 2 2 [1; 0].
Proof. apply a_run_allows with (todo := [(0, 1); (0, 1); (1, 1); (1, 0)]). reflexivity. Qed.

Theorem iriw_release_acquire :
  allowed (threads [[Write release x 1]; [Write release y 1]; [Read acquire x 0; Read acquire y 1];
                    [Read acquire y 2; Read acquire x 3]]) 4 4 [1; 0; 1; 0].
Proof. apply a_run_allows with (todo := [(0, 1); (1, 1); (2, 1); (2, 0); (3, 1); (3, 0)]). reflexivity. Qed.

Theorem wrc :
  allowed (threads [[Write relaxed x 1]; [Read relaxed x 0; Write relaxed y 1]; [Read relaxed y 1; Read relaxed x 2]])
    3 3 [1; 1; 0].
Proof. apply a_run_allows with (todo := [(0, 1); (1, 1); (1, 1); (2, 1); (2, 0)]). reflexivity. Qed.

(* Thread 2 reads what is newest in the end: timestamp 2 of both. *)
Theorem two_plus_two_w :
  allowed (threads [[Write relaxed x 1; Write relaxed y 2]; [Write relaxed y 1; Write relaxed x 2];
                    [Read relaxed x 0; Read relaxed y 1]]) 3 2 [1; 1].
Proof. apply a_run_allows with (todo := [(0, 2); (0, 1); (1, 2); (1, 1); (2, 2); (2, 2)]). reflexivity. Qed.

Theorem stale_failed_cas :
  allowed (threads [[Write relaxed x 1; Write relaxed y 1]; [Read relaxed y 0; FailedCas relaxed x 5 1]]) 2 2 [1; 0].
Proof. apply a_run_allows with (todo := [(0, 1); (0, 1); (1, 1); (1, 0)]). reflexivity. Qed.

Theorem stale_depth :
  allowed (threads [[Write relaxed x 1; Write relaxed x 2; Write relaxed x 3; Write relaxed x 4; Write relaxed y 1];
                    [Read relaxed y 0; Read relaxed x 1]]) 2 2 [1; 0].
Proof. apply a_run_allows with (todo := [(0, 1); (0, 2); (0, 3); (0, 4); (0, 1); (1, 1); (1, 0)]). reflexivity. Qed.

(* The data race of the shape is here a read of the data as they were before: location y stands for d. *)
Theorem release_sequence_same_thread :
  allowed (threads [[Write relaxed y 1; Write release x 1; Write relaxed x 2]; [Read acquire x 0; Read relaxed y 1]])
    2 2 [2; 0].
Proof. apply a_run_allows with (todo := [(0, 1); (0, 1); (0, 2); (1, 2); (1, 0)]). reflexivity. Qed.

(* ---- Forbidden ---- *)

(* A view that can read nothing but v from location l. *)
Definition knows (m : memory nat) (l v : nat) (w : view nat) : Prop :=
  forall k g, m l k = Some g -> w l <= k -> value g = v.

Lemma knows_more m l v w w' : knows m l v w -> included w w' -> knows m l v w'.
Proof. intros K I k g M L. specialize (I l). apply (K k g M). lia. Qed.
Lemma knows_stays m l v w l' k g : knows m l v w -> (l' = l -> value g = v) -> knows (add Nat.eq_dec m l' k g) l v w.
Proof. intros K V k' g' M L. apply add_inv in M as [(-> & _ & ->) | M]; [auto | eauto]. Qed.

Lemma set_same {A} (f : nat -> A) i a : set f i a i = a.
Proof. unfold set. rewrite Nat.eqb_refl. reflexivity. Qed.
Lemma set_other {A} (f : nat -> A) i a j : j <> i -> set f i a j = f j.
Proof. intro. unfold set. destruct (Nat.eqb_spec j i); [contradiction | reflexivity]. Qed.

Definition has (m : memory nat) (l v : nat) : Prop := exists k g, m l k = Some g /\ value g = v.
Lemma initial_has l v : has initial_memory l v -> v = 0.
Proof. intros (k & g & M & V). unfold initial_memory in M. destruct (k =? 0); [inversion M; subst; reflexivity | discriminate]. Qed.

(* LB: in no run does each thread read what the other writes later. C++20 allows it, RC11 does not. *)
Definition lb := threads [[Read relaxed x 0; Write relaxed y 1]; [Read relaxed y 1; Write relaxed x 1]].
Theorem load_buffering : forbidden lb 2 2 [1; 1].
Proof.
  assert (I : forall s, reachable lb s ->
            (has (mem s) y 1 -> line s 0 = 2) /\ (has (mem s) x 1 -> line s 1 = 2) /\
            (registers s 0 = 1 -> has (mem s) x 1 /\ 1 <= line s 0) /\ (registers s 1 = 1 -> has (mem s) y 1 /\ 1 <= line s 1) /\
            (registers s 0 = 1 -> registers s 1 = 1 -> False)).
  { induction 1 as [| s i at_ s' R (A & B & C & D & E) H].
    - simpl. assert (N : forall l, ~ has initial_memory l 1) by (intros l Q; apply initial_has in Q; discriminate).
      pose proof (N x). pose proof (N y). intuition discriminate.
    - unfold step, lb, threads in H. destruct i as [| [| i]]; simpl in H.
      + destruct (line s 0) as [| [| n]] eqn:L; simpl in H; [| | destruct n; discriminate].
        * destruct (load _ _ _ _ _ _) as [[a w] |] eqn:El; [| discriminate]. inversion H; subst; clear H.
          apply load_says in El as (g & M & V & _). unfold goes_on, set. simpl. rewrite L.
          assert (Q : a = 1 -> has (mem s) x 1) by (intros ->; exists at_, g; auto).
          intuition (congruence || lia).
        * destruct (store _ _ _ _ _ _ _) as [[m w] |] eqn:El; [| discriminate]. inversion H; subst; clear H.
          apply store_says in El as (g & M & _ & -> & V & _). unfold goes_on, set. simpl. rewrite L.
          assert (X : has (add Nat.eq_dec (mem s) y at_ g) x 1 <-> has (mem s) x 1).
          { split; intros (k & g' & Q & W); exists k, g'; rewrite add_elsewhere in * by discriminate; auto. }
          assert (Y : has (add Nat.eq_dec (mem s) y at_ g) y 1) by (exists at_, g; rewrite add_same; auto).
          intuition (congruence || lia).
      + destruct (line s 1) as [| [| n]] eqn:L; simpl in H; [| | destruct n; discriminate].
        * destruct (load _ _ _ _ _ _) as [[a w] |] eqn:El; [| discriminate]. inversion H; subst; clear H.
          apply load_says in El as (g & M & V & _). unfold goes_on, set. simpl. rewrite L.
          assert (Q : a = 1 -> has (mem s) y 1) by (intros ->; exists at_, g; auto).
          intuition (congruence || lia).
        * destruct (store _ _ _ _ _ _ _) as [[m w] |] eqn:El; [| discriminate]. inversion H; subst; clear H.
          apply store_says in El as (g & M & _ & -> & V & _). unfold goes_on, set. simpl. rewrite L.
          assert (Y : has (add Nat.eq_dec (mem s) x at_ g) y 1 <-> has (mem s) y 1).
          { split; intros (k & g' & Q & W); exists k, g'; rewrite add_elsewhere in * by discriminate; auto. }
          assert (X : has (add Nat.eq_dec (mem s) x at_ g) x 1) by (exists at_, g; rewrite add_same; auto).
          intuition (congruence || lia).
      + destruct (line s (S (S i))); destruct i; discriminate. }
  intros s R _ O. destruct (I s R) as (_ & _ & _ & _ & E). injection O as O1 O2. exact (E O1 O2).
Qed.

(* MP: who acquires the released flag knows the data. *)
Definition mp := threads [[Write relaxed x 1; Write release y 1]; [Read acquire y 0; Read relaxed x 1]].
Theorem message_passing_release_acquire : forbidden mp 2 2 [1; 0].
Proof.
  assert (I : forall s, reachable mp s ->
            (line s 0 = 0 -> forall k g, mem s x k = Some g -> k = 0) /\
            (1 <= line s 0 -> knows (mem s) x 1 (views s 0)) /\
            (forall k g, mem s y k = Some g -> value g = 1 -> knows (mem s) x 1 (carried g)) /\
            (line s 1 = 0 -> registers s 0 = 0) /\ (registers s 0 = 1 -> knows (mem s) x 1 (views s 1)) /\
            (line s 1 = 2 -> registers s 0 = 1 -> registers s 1 = 1)).
  { induction 1 as [| s i at_ s' R (A & B & C & Z & D & F) H].
    - simpl. unfold initial_memory. repeat split; intros; try discriminate; try lia.
      + destruct (Nat.eqb_spec k 0); [assumption | discriminate].
      + destruct (k =? 0); inversion H; subst; discriminate.
    - unfold step, mp, threads in H. destruct i as [| [| i]]; simpl in H.
      + destruct (line s 0) as [| [| n]] eqn:L; simpl in H; [| | destruct n; discriminate].
        * destruct (store _ _ _ _ _ _ _) as [[m w] |] eqn:El; [| discriminate]. inversion H; subst; clear H.
          apply store_says in El as (g & M & Lk & -> & V & In & Rk & _). unfold goes_on, set. simpl. rewrite L.
          split; [discriminate |]. split.
          { intros _ k g' M' L'. apply add_inv in M' as [(_ & _ & ->) | M']; [assumption |].
            specialize (A eq_refl _ _ M'). lia. }
          split; [intros k g' M' V'; rewrite add_elsewhere in M' by discriminate; apply knows_stays; eauto |].
          split; [assumption |]. split; [intro; apply knows_stays; auto |]. auto.
        * destruct (store _ _ _ _ _ _ _) as [[m w] |] eqn:El; [| discriminate]. inversion H; subst; clear H.
          apply store_says in El as (g & M & Lk & -> & V & In & Rk & Out). unfold goes_on, set. simpl. rewrite L.
          split; [discriminate |]. split; [intros _; apply knows_stays; [eapply knows_more; [apply B; lia | exact In] | discriminate] |].
          split.
          { intros k g' M' V'. apply knows_stays; [| discriminate]. apply add_inv in M' as [(_ & _ & ->) | M']; [| eauto].
            eapply knows_more; [apply B; lia | eapply included_trans; [exact In | apply Out; reflexivity]]. }
          split; [assumption |]. split; [intro; apply knows_stays; [auto | discriminate] |]. auto.
      + destruct (line s 1) as [| [| n]] eqn:L; simpl in H; [| | destruct n; discriminate].
        * destruct (load _ _ _ _ _ _) as [[a w] |] eqn:El; [| discriminate]. inversion H; subst; clear H.
          apply load_says in El as (g & M & V & Lk & In & Rk & Aq). unfold goes_on, set. simpl. rewrite L.
          split; [assumption |]. split; [assumption |]. split; [assumption |]. split; [discriminate |].
          split; [intro Q; eapply knows_more; [eapply C; eauto; congruence | apply Aq; reflexivity] |].
          discriminate.
        * destruct (load _ _ _ _ _ _) as [[a w] |] eqn:El; [| discriminate]. inversion H; subst; clear H.
          apply load_says in El as (g & M & V & Lk & In & Rk & Aq). unfold goes_on, set. simpl. rewrite L.
          split; [assumption |]. split; [assumption |]. split; [assumption |]. split; [discriminate |].
          split; [intro Q; eapply knows_more; eauto |].
          intros _ Q. rewrite <- V. eapply D; eauto.
      + destruct (line s (S (S i))); destruct i; discriminate. }
  intros s R Fin O. destruct (I s R) as (_ & _ & _ & _ & _ & F). injection O as O1 O2.
  specialize (F (Fin 1 ltac:(lia)) O1). congruence.
Qed.

Ltac one_store El := destruct (store _ _ _ _ _ _ _) as [[? ?] |] eqn:El; [| discriminate].
Ltac one_load El := destruct (load _ _ _ _ _ _) as [[? ?] |] eqn:El; [| discriminate].

(* CoRR: two reads of one location do not go backwards. *)
Definition corr := threads [[Write relaxed x 1; Write relaxed x 2]; [Read relaxed x 0; Read relaxed x 1]].
Theorem coherence : forbidden corr 2 2 [2; 1].
Proof.
  set (ok := fun s : state =>
    (forall k g k' g', mem s x k = Some g -> mem s x k' = Some g' -> k <= k' -> value g <= value g') /\
    (forall k g, mem s x k = Some g -> k <= views s 0 x /\ value g <= line s 0) /\
    (1 <= line s 1 -> exists k g, mem s x k = Some g /\ value g = registers s 0 /\ k <= views s 1 x) /\
    (line s 1 = 2 -> registers s 0 <= registers s 1)).
  assert (W : forall s at_ s', ok s ->
            match store Nat.eq_dec (mem s) (views s 0) relaxed x (S (line s 0)) at_ with
            | Some (m, w) => Some (goes_on s 0 m w (registers s)) | None => None end = Some s' -> ok s').
  { intros s at_ s' (A & B & C & D) H. one_store El. inversion H; subst s'; clear H.
    apply store_says in El as (g & M & Lk & -> & V & In & Rk & _). unfold ok, goes_on, set. simpl.
    split; [| split; [| split]]; auto.
    - intros k1 g1 k2 g2 M1 M2 L.
      apply add_inv in M1 as [(_ & -> & ->) | M1]; apply add_inv in M2 as [(_ & -> & ->) | M2]; eauto.
      + destruct (B _ _ M2). lia.
      + destruct (B _ _ M1). lia.
    - intros k1 g1 M1. apply add_inv in M1 as [(_ & -> & ->) | M1]; [lia |]. destruct (B _ _ M1). specialize (In x). lia.
    - intro L. destruct (C L) as (k & g0 & M0 & V0 & L0). exists k, g0. split; [| auto].
      rewrite add_otherwise; [assumption |]. right. congruence. }
  assert (I : forall s, reachable corr s -> ok s).
  { induction 1 as [| s i at_ s' R Ok H].
    - unfold ok. simpl. unfold initial_memory, nothing_seen.
      split; [| split; [| split]]; intros; try lia;
        repeat match goal with
        | H : (if ?k =? 0 then _ else _) = Some _ |- _ => destruct (Nat.eqb_spec k 0); inversion H; clear H; subst
        end; simpl; lia.
    - unfold step, corr, threads in H. destruct i as [| [| i]]; simpl in H.
      + destruct (line s 0) as [| [| n]] eqn:L; simpl in H; [| | destruct n; discriminate];
          apply (W s at_ s' Ok); rewrite L; exact H.
      + destruct Ok as (A & B & C & D). destruct (line s 1) as [| [| n]] eqn:L; simpl in H; [| | destruct n; discriminate].
        * one_load El. inversion H; subst; clear H. apply load_says in El as (g & M & V & Lk & In & Rk & _).
          unfold ok, goes_on, set. simpl. rewrite L. split; [assumption |]. split; [assumption |].
          split; [intros _; exists at_, g; auto | discriminate].
        * one_load El. inversion H; subst; clear H. apply load_says in El as (g & M & V & Lk & In & Rk & _).
          destruct (C ltac:(lia)) as (k & g0 & M0 & V0 & L0).
          unfold ok, goes_on, set. simpl. rewrite L. split; [assumption |]. split; [assumption |].
          split; [intros _; exists k, g0; specialize (In x); repeat split; auto; lia |].
          intros _. rewrite <- V0, <- V. apply (A k g0 at_ g); auto. lia.
      + destruct (line s (S (S i))); destruct i; discriminate. }
  intros s R Fin O. destruct (I s R) as (_ & _ & _ & D). injection O as O1 O2.
  specialize (D (Fin 1 ltac:(lia))). lia.
Qed.

(* A read-modify-write continues a release sequence: who acquires what it wrote knows the data (location y) from before
   the release. *)
Definition sequence := threads [[Write relaxed y 1; Write release x 1]; [Add relaxed x]; [Read acquire x 0; Read relaxed y 1]].
Theorem release_sequence_rmw : forbidden sequence 3 2 [2; 0].
Proof.
  assert (I : forall s, reachable sequence s ->
            (line s 0 = 0 -> forall k g, mem s y k = Some g -> k = 0) /\
            (1 <= line s 0 -> knows (mem s) y 1 (views s 0)) /\
            (line s 1 = 0 -> forall k g, mem s x k = Some g -> value g <= 1 /\ (value g = 1 -> knows (mem s) y 1 (carried g))) /\
            (forall k g, mem s x k = Some g -> value g = 2 -> knows (mem s) y 1 (carried g)) /\
            (line s 2 = 0 -> registers s 0 = 0) /\
            (registers s 0 = 2 -> knows (mem s) y 1 (views s 2)) /\
            (line s 2 = 2 -> registers s 0 = 2 -> registers s 1 = 1)).
  { induction 1 as [| s i at_ s' R (A & B & C & D & Z & F & G) H].
    - simpl. unfold initial_memory.
      repeat split; intros; try discriminate; try lia;
        repeat match goal with
        | H : (if ?k =? 0 then _ else _) = Some _ |- _ => destruct (Nat.eqb_spec k 0); inversion H; clear H; subst
        end; simpl in *; try lia; try discriminate.
    - unfold step, sequence, threads in H. destruct i as [| [| [| i]]]; simpl in H.
      + destruct (line s 0) as [| [| n]] eqn:L; simpl in H; [| | destruct n; discriminate].
        * one_store El. inversion H; subst; clear H.
          apply store_says in El as (g & M & Lk & -> & V & In & Rk & _). unfold goes_on, set. simpl.
          split; [discriminate |]. split.
          { intros _ k g' M' L'. apply add_inv in M' as [(_ & _ & ->) | M']; [assumption |].
            specialize (A eq_refl _ _ M'). lia. }
          split; [intros L1 k g' M'; rewrite add_elsewhere in M' by discriminate; destruct (C L1 _ _ M'); split;
                  [assumption | intro; apply knows_stays; auto] |].
          split; [intros k g' M' V'; rewrite add_elsewhere in M' by discriminate; apply knows_stays; eauto |].
          split; [assumption |]. split; [intro; apply knows_stays; auto | assumption].
        * one_store El. inversion H; subst; clear H.
          apply store_says in El as (g & M & Lk & -> & V & In & Rk & Out). unfold goes_on, set. simpl.
          assert (K : knows (mem s) y 1 (carried g)).
          { eapply knows_more; [apply B; lia | eapply included_trans; [exact In | apply Out; reflexivity]]. }
          split; [discriminate |]. split; [intros _; apply knows_stays; [eapply knows_more; [apply B; lia | exact In] | discriminate] |].
          split.
          { intros L1 k g' M'. apply add_inv in M' as [(_ & _ & ->) | M'].
            - split; [lia | intros _; apply knows_stays; [assumption | discriminate]].
            - destruct (C L1 _ _ M'). split; [assumption | intro; apply knows_stays; [auto | discriminate]]. }
          split.
          { intros k g' M' V'. apply knows_stays; [| discriminate]. apply add_inv in M' as [(_ & _ & ->) | M']; [assumption | eauto]. }
          split; [assumption |]. split; [intro; apply knows_stays; [auto | discriminate] | assumption].
      + destruct (line s 1) as [| n] eqn:L; simpl in H; [| destruct n; discriminate].
        destruct (mem s x at_) as [g0 |] eqn:E0; [| discriminate].
        destruct (exchange _ _ _ _ _ _ _ _) as [[m w] |] eqn:El; [| discriminate]. inversion H; subst; clear H.
        apply exchange_says in El as (g & g' & M & V & N & Lk & -> & V' & In & Rk & Carry & _).
        unfold goes_on, set. simpl. rewrite E0 in M. injection M as <-.
        split; [intros L0 k g1 M1; rewrite add_elsewhere in M1 by discriminate; eauto |].
        split; [intro L0; apply knows_stays; [apply B; assumption | discriminate] |].
        split; [rewrite L; discriminate |]. split.
        { intros k g1 M1 V1. apply knows_stays; [| discriminate]. apply add_inv in M1 as [(_ & _ & ->) | M1]; [| eauto].
          destruct (C eq_refl _ _ E0) as (_ & K). eapply knows_more; [apply K; lia | exact Carry]. }
        split; [assumption |]. split; [intro; apply knows_stays; [auto | discriminate] | assumption].
      + destruct (line s 2) as [| [| n]] eqn:L; simpl in H; [| | destruct n; discriminate].
        * one_load El. inversion H; subst; clear H. apply load_says in El as (g & M & V & Lk & In & Rk & Aq).
          unfold goes_on, set. simpl. rewrite L. do 4 (split; [assumption |]). split; [discriminate |].
          split; [intro Q; eapply knows_more; [eapply D; eauto; congruence | apply Aq; reflexivity] | discriminate].
        * one_load El. inversion H; subst; clear H. apply load_says in El as (g & M & V & Lk & In & Rk & Aq).
          unfold goes_on, set. simpl. rewrite L. do 4 (split; [assumption |]). split; [discriminate |].
          split; [intro Q; eapply knows_more; eauto |]. intros _ Q. rewrite <- V. eapply F; eauto.
      + destruct (line s (S (S (S i)))); destruct i; discriminate. }
  intros s R Fin O. destruct (I s R) as (_ & _ & _ & _ & _ & _ & G). injection O as O1 O2.
  specialize (G (Fin 2 ltac:(lia)) O1). congruence.
Qed.

(* WRC: what is handed on by release and acquire is known to the third thread. *)
Definition wrc_ra :=
  threads [[Write release x 1]; [Read acquire x 0; Write release y 1]; [Read acquire y 1; Read acquire x 2]].
Theorem wrc_release_acquire : forbidden wrc_ra 3 3 [1; 1; 0].
Proof.
  assert (I : forall s, reachable wrc_ra s ->
            (line s 0 = 0 -> forall k g, mem s x k = Some g -> k = 0 /\ value g = 0) /\
            (forall k g, mem s x k = Some g -> value g = 1 -> knows (mem s) x 1 (carried g)) /\
            (registers s 0 = 1 -> 1 <= line s 0 /\ knows (mem s) x 1 (views s 1)) /\
            (line s 1 = 0 -> registers s 0 = 0) /\
            (line s 1 <= 1 -> registers s 1 <> 1 /\ forall k g, mem s y k = Some g -> value g = 0) /\
            (registers s 0 = 1 -> forall k g, mem s y k = Some g -> value g = 1 -> knows (mem s) x 1 (carried g)) /\
            (registers s 0 = 1 -> registers s 1 = 1 -> knows (mem s) x 1 (views s 2)) /\
            (line s 2 = 0 -> registers s 1 = 0) /\
            (line s 2 = 2 -> registers s 0 = 1 -> registers s 1 = 1 -> registers s 2 = 1)).
  { induction 1 as [| s i at_ s' R (A & B & C & Z0 & Y & D & E & Z1 & F) H].
    - simpl. unfold initial_memory.
      repeat split; intros; try discriminate; try lia;
        repeat match goal with
        | H : (if ?k =? 0 then _ else _) = Some _ |- _ => destruct (Nat.eqb_spec k 0); inversion H; clear H; subst
        end; simpl in *; try lia; try discriminate.
    - unfold step, wrc_ra, threads in H. destruct i as [| [| [| i]]]; simpl in H.
      + destruct (line s 0) as [| n] eqn:L; simpl in H; [| destruct n; discriminate].
        one_store El. inversion H; subst; clear H.
        apply store_says in El as (g & M & Lk & -> & V & In & Rk & Out). unfold goes_on, set. simpl.
        split; [discriminate |]. split.
        { intros k g' M' V'. apply add_inv in M' as [(_ & _ & ->) | M'].
          - intros k1 g1 M1 L1. apply add_inv in M1 as [(_ & _ & ->) | M1]; [assumption |].
            destruct (A eq_refl _ _ M1) as (-> & _). specialize (Out eq_refl x). lia.
          - destruct (A eq_refl _ _ M'). lia. }
        split; [intro Q; destruct (C Q); lia |]. split; [assumption |].
        split; [intro L1; destruct (Y L1) as (Y1 & Y2); split; [assumption |]; intros k g' M';
                rewrite add_elsewhere in M' by discriminate; eauto |].
        split; [intros Q; destruct (C Q); lia |]. split; [intros Q; destruct (C Q); lia |]. split; assumption.
      + destruct (line s 1) as [| [| n]] eqn:L; simpl in H; [| | destruct n; discriminate].
        * one_load El. inversion H; subst; clear H. apply load_says in El as (g & M & V & Lk & In & Rk & Aq).
          destruct (Y ltac:(lia)) as (Y1 & Y2).
          unfold goes_on, set. simpl. rewrite L. split; [assumption |]. split; [assumption |].
          split.
          { intro Q. split; [| eapply knows_more; [eapply B; eauto; congruence | apply Aq; reflexivity]].
            destruct (line s 0) eqn:L0; [destruct (A eq_refl _ _ M); congruence | lia]. }
          split; [discriminate |]. split; [auto |].
          split; [intros _ k g' M' V'; rewrite (Y2 _ _ M') in V'; discriminate |].
          split; [intros _ Q; contradiction |]. split; [assumption | intros _ _ Q; contradiction].
        * one_store El. inversion H; subst; clear H.
          apply store_says in El as (g & M & Lk & -> & V & In & Rk & Out). unfold goes_on, set. simpl. rewrite L.
          split; [intros L0 k g' M'; rewrite add_elsewhere in M' by discriminate; eauto |].
          split; [intros k g' M' V'; rewrite add_elsewhere in M' by discriminate; apply knows_stays; [eauto | discriminate] |].
          split; [intro Q; destruct (C Q) as (C1 & C2); split; [assumption |]; apply knows_stays;
                  [eapply knows_more; eauto | discriminate] |].
          split; [discriminate |]. split; [lia |]. split.
          { intros Q k g' M' V'. apply knows_stays; [| discriminate]. destruct (C Q) as (C1 & C2).
            apply add_inv in M' as [(_ & _ & ->) | M']; [| eauto].
            eapply knows_more; [exact C2 | eapply included_trans; [exact In | apply Out; reflexivity]]. }
          split; [intros Q Q1; apply knows_stays; [auto | discriminate] |]. split; assumption.
      + destruct (line s 2) as [| [| n]] eqn:L; simpl in H; [| | destruct n; discriminate].
        * one_load El. inversion H; subst; clear H. apply load_says in El as (g & M & V & Lk & In & Rk & Aq).
          unfold goes_on, set. simpl. rewrite L. do 4 (split; [assumption |]).
          split; [intro L1; destruct (Y L1) as (Y1 & Y2); split; [rewrite <- V, (Y2 _ _ M); discriminate | assumption] |].
          split; [assumption |].
          split; [intros Q Q1; eapply knows_more; [eapply D; eauto; congruence | apply Aq; reflexivity] |].
          split; discriminate.
        * one_load El. inversion H; subst; clear H. apply load_says in El as (g & M & V & Lk & In & Rk & Aq).
          unfold goes_on, set. simpl. rewrite L. do 6 (split; [assumption |]).
          split; [intros Q Q1; eapply knows_more; eauto |]. split; [discriminate |].
          intros _ Q Q1. rewrite <- V. eapply E; eauto.
      + destruct (line s (S (S (S i)))); destruct i; discriminate. }
  intros s R Fin O. destruct (I s R) as (_ & _ & _ & _ & _ & _ & _ & _ & F). injection O as O1 O2 O3.
  specialize (F (Fin 2 ltac:(lia)) O1 O2). congruence.
Qed.

(* SPDX-License-Identifier: MIT *)
(* Two litmus shapes with fences, in the memory of the deque: one that it forbids as C++ does, and one that it allows although C++
   does not. *)
Require Import Arith Lia Bool List.
Require Import memory.
Require Export runs.
Import ListNotations.
Open Scope list_scope.

Inductive instruction :=
| Read (o : order) (l r : nat)                 (* register r := location l *)
| Write (o : order) (l v : nat)
| Fence.                                       (* seq_cst *)

Record state := State {
  mem : memory nat; views : nat -> view nat; shared : view nat; line : nat -> nat; registers : nat -> nat
}.
Definition program := nat -> list instruction.  (* of each thread *)
Definition initial := State initial_memory (fun _ => nothing_seen) nothing_seen (fun _ => 0) (fun _ => 0).

Definition set {A} (f : nat -> A) (i : nat) (x : A) : nat -> A := fun j => if j =? i then x else f j.
Definition goes_on (s : state) i m v sh (regs : nat -> nat) : state :=
  State m (set (views s) i v) sh (set (line s) i (S (line s i))) regs.

(* Thread i makes its next instruction, at a timestamp. *)
Definition step (p : program) (s : state) (i at_ : nat) : option state :=
  match nth_error (p i) (line s i) with
  | None => None
  | Some (Read o l r) =>
      match load Nat.eq_dec (mem s) (views s i) o l at_ with
      | Some (x, v) => Some (goes_on s i (mem s) v (shared s) (set (registers s) r x))
      | None => None
      end
  | Some (Write o l x) =>
      match store Nat.eq_dec (mem s) (views s i) o l x at_ with
      | Some (m, v) => Some (goes_on s i m v (shared s) (registers s))
      | None => None
      end
  | Some Fence =>
      let (v, sh) := fence (views s i) (shared s) seq_cst in Some (goes_on s i (mem s) v sh (registers s))
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

(* A view that can read nothing but v from location l. *)
Definition knows (m : memory nat) (l v : nat) (w : view nat) : Prop :=
  forall k g, m l k = Some g -> w l <= k -> value g = v.
Lemma knows_more m l v w w' : knows m l v w -> included w w' -> knows m l v w'.
Proof. intros K I k g M L. specialize (I l). apply (K k g M). lia. Qed.
Lemma knows_stays m l v w l' k g : knows m l v w -> (l' = l -> value g = v) -> knows (add Nat.eq_dec m l' k g) l v w.
Proof. intros K V k' g' M L. apply add_inv in M as [(-> & _ & ->) | M]; [auto | eauto]. Qed.

(* ---- Weaker than C++: a fence does not make the relaxed store behind it a release ---- *)

Theorem message_passing_by_a_fence :
  allowed (threads [[Write relaxed x 1; Fence; Write relaxed y 1]; [Read acquire y 0; Read relaxed x 1]]) 2 2 [1; 0].
Proof. apply a_run_allows with (todo := [(0, 1); (0, 0); (0, 1); (1, 1); (1, 0)]). reflexivity. Qed.

(* ---- As in C++: both fences of store buffering ---- *)

Definition buffering :=
  threads [[Write relaxed x 1; Fence; Read relaxed y 0]; [Write relaxed y 1; Fence; Read relaxed x 1]].

(* A location to which 1 is written once, by thread i in its first line, and what is known of it. *)
Record written_once (s : state) (l i : nat) : Prop := {
  not_yet : line s i = 0 -> forall k g, mem s l k = Some g -> k = 0;
  known_to_the_writer : 1 <= line s i -> knows (mem s) l 1 (views s i);
  known_to_fences : 2 <= line s i -> knows (mem s) l 1 (shared s)
}.

(* Steps that do not write to the location, and the one that does. *)
Lemma written_once_stays s s' l i :
  written_once s l i -> (forall k, mem s' l k = mem s l k) -> included (views s i) (views s' i) -> included (shared s) (shared s') ->
  (line s i = 0 <-> line s' i = 0) -> (2 <= line s' i -> 2 <= line s i \/ 1 <= line s i /\ included (views s i) (shared s')) ->
  written_once s' l i.
Proof.
  intros [C D E] M V S L0 L2.
  assert (K : forall w, knows (mem s) l 1 w -> knows (mem s') l 1 w) by (intros w K k g G; rewrite M in G; eauto).
  constructor.
  - intros L k g G. rewrite M in G. apply (C (proj2 L0 L) k g G).
  - intro L. apply K. eapply knows_more; [apply D | exact V]. lia.
  - intro L. apply K. destruct (L2 L) as [L' | (L' & I)]; [eapply knows_more; [apply E | exact S]; assumption |].
    eapply knows_more; [apply D | exact I]. assumption.
Qed.
Lemma written_once_written s s' l i k g :
  written_once s l i -> line s i = 0 -> line s' i = 1 -> mem s' = add Nat.eq_dec (mem s) l k g ->
  value g = 1 -> 0 < k -> k <= views s' i l -> written_once s' l i.
Proof.
  intros [C D E] L L' M V N U. constructor; [lia | | lia].
  intros _ k' g' H Lk. rewrite M in H. apply add_inv in H as [(_ & _ & ->) | H]; [assumption |]. specialize (C L _ _ H). lia.
Qed.

Record buffered (s : state) : Prop := {
  of_x : written_once s x 0;
  of_y : written_once s y 1;
  one_sees_the_other : 2 <= line s 0 -> 2 <= line s 1 -> knows (mem s) y 1 (views s 0) \/ knows (mem s) x 1 (views s 1);
  then_1_sees : line s 0 = 3 -> registers s 0 = 0 -> 2 <= line s 1 -> knows (mem s) x 1 (views s 1);
  then_0_sees : line s 1 = 3 -> registers s 1 = 0 -> 2 <= line s 0 -> knows (mem s) y 1 (views s 0);
  not_both : line s 0 = 3 -> line s 1 = 3 -> registers s 0 = 0 -> registers s 1 = 0 -> False
}.

Ltac one_load E :=
  match goal with H : context [load ?e ?m ?v ?o ?l ?t] |- _ => destruct (load e m v o l t) as [[? ?] |] eqn:E; [| discriminate] end.
Ltac one_store E :=
  match goal with H : context [store ?e ?m ?v ?o ?l ?z ?t] |- _ => destruct (store e m v o l z t) as [[? ?] |] eqn:E; [| discriminate] end.
Ltac stays W :=
  eapply written_once_stays; [exact W | | | | |]; simpl; unfold set; simpl; auto using included_refl;
  try (intro; apply add_elsewhere; discriminate); try lia.

Lemma buffering_of_every_run s : reachable buffering s -> buffered s.
Proof.
  induction 1 as [| s i at_ s' R [X Y Z A0 A1 N] H].
  - assert (W : forall l i, written_once initial l i).
    { intros l i. constructor; simpl; try lia.
      intros _ k g M. unfold initial_memory in M. destruct (Nat.eqb_spec k 0); [assumption | discriminate]. }
    constructor; auto; simpl; lia.
  - unfold step, buffering, threads in H. destruct i as [| [| i]]; [| | replace (nth (S (S i)) _ _) with (@nil instruction) in H by (destruct i; reflexivity);
       destruct (line s (S (S i))); discriminate].
    + destruct (line s 0) as [| [| [| n]]] eqn:L; simpl in H; [| | | destruct n; discriminate].
      * one_store El. inversion H; subst s'; clear H. apply store_says in El as (g & M & Lt & -> & V & In & Rk & _).
        constructor; simpl; unfold set; simpl; try (intros; lia).
        -- eapply written_once_written; [exact X | exact L | simpl; unfold set; simpl; lia | reflexivity | exact V | lia | exact Rk].
        -- stays Y.
      * inversion H; subst s'; clear H.
        assert (JL := join_left (views s 0) (shared s)). assert (JR := join_right (views s 0) (shared s)).
        assert (K : 2 <= line s 1 -> knows (mem s) y 1 (join (views s 0) (shared s)))
          by (intro L1; eapply knows_more; [apply (known_to_fences _ _ _ Y L1) | exact JR]).
        constructor; simpl; unfold set; simpl; try (intros; lia); auto.
        -- stays X. intros _. right. split; [lia | exact JL].
        -- stays Y.
        -- intros L1 _ _. apply K. lia.
      * one_load El. inversion H; subst s'; clear H. apply load_says in El as (g & M & V & Lk & In & Rk & _). subst n.
        assert (Y1 : knows (mem s) y 1 (views s 0) -> value g = 1) by (intro K; apply (K at_ g M Lk)).
        constructor; simpl; unfold set; simpl.
        -- stays X.
        -- stays Y.
        -- intros _ L1. destruct (Z ltac:(lia) L1) as [K | K]; [left; eapply knows_more; eassumption | auto].
        -- intros _ V0 L1. destruct (Z ltac:(lia) L1) as [K | K]; [specialize (Y1 K); congruence | assumption].
        -- intros L1 V1 _. eapply knows_more; [apply A1; auto; lia | exact In].
        -- intros _ L1 V0 V1. specialize (Y1 (A1 L1 V1 ltac:(lia))). congruence.
    + destruct (line s 1) as [| [| [| n]]] eqn:L; simpl in H; [| | | destruct n; discriminate].
      * one_store El. inversion H; subst s'; clear H. apply store_says in El as (g & M & Lt & -> & V & In & Rk & _).
        constructor; simpl; unfold set; simpl; try (intros; lia).
        -- stays X.
        -- eapply written_once_written; [exact Y | exact L | simpl; unfold set; simpl; lia | reflexivity | exact V | lia | exact Rk].
      * inversion H; subst s'; clear H.
        assert (JL := join_left (views s 1) (shared s)). assert (JR := join_right (views s 1) (shared s)).
        assert (K : 2 <= line s 0 -> knows (mem s) x 1 (join (views s 1) (shared s)))
          by (intro L1; eapply knows_more; [apply (known_to_fences _ _ _ X L1) | exact JR]).
        constructor; simpl; unfold set; simpl; try (intros; lia); auto.
        -- stays X.
        -- stays Y. intros _. right. split; [lia | exact JL].
        -- intros L1 _ _. apply K. lia.
      * one_load El. inversion H; subst s'; clear H. apply load_says in El as (g & M & V & Lk & In & Rk & _). subst n.
        assert (X1 : knows (mem s) x 1 (views s 1) -> value g = 1) by (intro K; apply (K at_ g M Lk)).
        constructor; simpl; unfold set; simpl.
        -- stays X.
        -- stays Y.
        -- intros L0 _. destruct (Z L0 ltac:(lia)) as [K | K]; [auto | right; eapply knows_more; eassumption].
        -- intros L0 V0 _. eapply knows_more; [apply A0; auto; lia | exact In].
        -- intros _ V1 L0. destruct (Z L0 ltac:(lia)) as [K | K]; [assumption | specialize (X1 K); congruence].
        -- intros L0 _ V0 V1. specialize (X1 (A0 L0 V0 ltac:(lia))). congruence.
Qed.

Theorem store_buffering_fences : forbidden buffering 2 2 [0; 0].
Proof.
  intros s R F O. injection O as O0 O1.
  apply (not_both s (buffering_of_every_run s R)); auto; [apply (F 0) | apply (F 1)]; lia.
Qed.

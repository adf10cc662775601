(* SPDX-License-Identifier: MIT *)
(* The memory: a view machine for relaxed, acquire and release accesses and read-modify-writes, without promises.

   Every location has messages at natural timestamps, its modification order. A thread has a view: for each location, the
   oldest message that it may still read. A message carries a view, which an acquire load takes over.

   It is the promise-free part of the machine of Kang, Hur, Lahav, Vafeiadis and Dreyer, "A Promising Semantics for
   Relaxed-Memory Concurrency" (POPL 2017), without fences and non-atomic accesses; for release and acquire alone that of
   Kaiser, Dang, Dreyer, Lahav and Vafeiadis, "Strong Logic for Weak Memory" (ECOOP 2017). README.md says how it
   relates to RC11. Everything is a function that decides: runs can be computed. *)
Require Import Arith Lia Bool.

(* Of an access, seq_cst is as strong as acq_rel here, and no stronger: C++ promises more. Of a fence, see below. *)
Inductive order := relaxed | acquire | release | acq_rel | seq_cst.

Definition acquires (o : order) : bool := match o with acquire | acq_rel | seq_cst => true | _ => false end.
Definition releases (o : order) : bool := match o with release | acq_rel | seq_cst => true | _ => false end.

Section machine.
Context {loc : Type} (loc_eq : forall a b : loc, {a = b} + {a <> b}).

Definition view := loc -> nat.
Definition nothing_seen : view := fun _ => 0.
Definition included (a b : view) : Prop := forall l, a l <= b l.
Definition join (a b : view) : view := fun l => Nat.max (a l) (b l).
Definition raise (a : view) (l : loc) (at_ : nat) : view := fun l' => if loc_eq l' l then Nat.max (a l') at_ else a l'.

Record message := Message { value : nat; carried : view }.
Definition memory := loc -> nat -> option message.

(* Every location begins with the value 0 at timestamp 0. *)
Definition initial_memory : memory := fun _ at_ => if at_ =? 0 then Some (Message 0 nothing_seen) else None.
Definition add (m : memory) (l : loc) (at_ : nat) (g : message) : memory :=
  fun l' at' => if loc_eq l' l then if at' =? at_ then Some g else m l' at' else m l' at'.

(* A load may read any message that is not older than what the thread has seen of the location. *)
Definition load (m : memory) (v : view) (o : order) (l : loc) (at_ : nat) : option (nat * view) :=
  match m l at_ with
  | Some g =>
      if v l <=? at_
      then Some (value g, if acquires o then join (raise v l at_) (carried g) else raise v l at_)
      else None
  | None => None
  end.

(* A store takes any free timestamp that is newer than what the thread has seen of the location. Only a release store
   carries the thread's view. A relaxed store of the same thread does not go on with a release sequence (C++20). *)
Definition store (m : memory) (v : view) (o : order) (l : loc) (new at_ : nat) : option (memory * view) :=
  match m l at_ with
  | Some _ => None
  | None =>
      if v l <? at_
      then let v' := raise v l at_ in
           Some (add m l at_ (Message new (if releases o then v' else raise nothing_seen l at_)), v')
      else None
  end.

(* A read-modify-write takes the timestamp right after the message that it reads, so nothing can come between; its message
   carries what the message read carried: release sequences go on. *)
Definition exchange (m : memory) (v : view) (o : order) (l : loc) (expected new at_ : nat) : option (memory * view) :=
  match m l at_, m l (S at_) with
  | Some g, None =>
      if (v l <=? at_) && (value g =? expected)
      then let v1 := raise v l (S at_) in
           let v' := if acquires o then join v1 (carried g) else v1 in
           let out := join (carried g) (if releases o then v' else raise nothing_seen l (S at_)) in
           Some (add m l (S at_) (Message new out), v')
      else None
  | _, _ => None
  end.

(* seq_cst fences exchange views through one view that all of them share: whoever makes a fence sees what all threads had
   seen that have made one before. A fence does nothing else: unlike a fence of C++ it does not turn the relaxed accesses
   around it into acquires and releases. A weaker fence does nothing at all. Returns the thread's view and the shared one. *)
Definition fence (v shared : view) (o : order) : view * view :=
  match o with seq_cst => (join v shared, join v shared) | _ => (v, shared) end.

Lemma included_refl a : included a a.
Proof. intro l; lia. Qed.
Lemma included_trans a b c : included a b -> included b c -> included a c.
Proof. intros H K l; specialize (H l); specialize (K l); lia. Qed.
Lemma join_left a b : included a (join a b).
Proof. intro l; unfold join; lia. Qed.
Lemma join_right a b : included b (join a b).
Proof. intro l; unfold join; lia. Qed.
Lemma raise_grows a l t : included a (raise a l t).
Proof. intro l'; unfold raise; destruct (loc_eq l' l); lia. Qed.
Lemma raise_reaches a l t : t <= raise a l t l.
Proof. unfold raise; destruct (loc_eq l l); [lia | congruence]. Qed.
Lemma raise_elsewhere a l t l' : l' <> l -> raise a l t l' = a l'.
Proof. intro; unfold raise; destruct (loc_eq l' l); congruence. Qed.

Lemma add_same m l t g : add m l t g l t = Some g.
Proof. unfold add; destruct (loc_eq l l); [rewrite Nat.eqb_refl; reflexivity | congruence]. Qed.
Lemma add_elsewhere m l t g l' t' : l' <> l -> add m l t g l' t' = m l' t'.
Proof. intro; unfold add; destruct (loc_eq l' l); [congruence | reflexivity]. Qed.
Lemma add_otherwise m l t g l' t' : l' <> l \/ t' <> t -> add m l t g l' t' = m l' t'.
Proof.
  intros; unfold add; destruct (loc_eq l' l); [| reflexivity].
  destruct (Nat.eqb_spec t' t); [destruct H; congruence | reflexivity].
Qed.
Lemma add_inv m l t g l' t' g' :
  add m l t g l' t' = Some g' -> (l' = l /\ t' = t /\ g' = g) \/ m l' t' = Some g'.
Proof.
  unfold add; destruct (loc_eq l' l); [destruct (Nat.eqb_spec t' t) |]; intro H; [left | right | right]; try assumption.
  inversion H; auto.
Qed.

(* What a successful access says. *)
Lemma load_says m v o l t x v' :
  load m v o l t = Some (x, v') ->
  exists g, m l t = Some g /\ value g = x /\ v l <= t /\ included v v' /\ t <= v' l /\
            (acquires o = true -> included (carried g) v').
Proof.
  unfold load; destruct (m l t) as [g |]; [| discriminate].
  destruct (Nat.leb_spec (v l) t); [| discriminate]; intro H0; inversion H0; subst; clear H0.
  exists g; repeat split; auto.
  - destruct (acquires o); [eapply included_trans; [apply raise_grows | apply join_left] | apply raise_grows].
  - destruct (acquires o); [eapply Nat.le_trans; [apply raise_reaches | apply join_left] | apply raise_reaches].
  - intro Ha; rewrite Ha; apply join_right.
Qed.

Lemma store_says m v o l x t m' v' :
  store m v o l x t = Some (m', v') ->
  exists g, m l t = None /\ v l < t /\ m' = add m l t g /\ value g = x /\ included v v' /\ t <= v' l /\
            (releases o = true -> included v' (carried g)).
Proof.
  unfold store; destruct (m l t) eqn:E; [discriminate |].
  destruct (Nat.ltb_spec (v l) t); [| discriminate]; intro H0; inversion H0; subst; clear H0.
  eexists; repeat split; auto using raise_grows, raise_reaches.
  intro Hr; simpl; rewrite Hr; apply included_refl.
Qed.

Lemma exchange_says m v o l e x t m' v' :
  exchange m v o l e x t = Some (m', v') ->
  exists g g', m l t = Some g /\ value g = e /\ m l (S t) = None /\ v l <= t /\ m' = add m l (S t) g' /\ value g' = x /\
               included v v' /\ S t <= v' l /\ included (carried g) (carried g') /\
               (releases o = true -> included v' (carried g')) /\ (acquires o = true -> included (carried g) v').
Proof.
  unfold exchange; destruct (m l t) as [g |] eqn:E; [| discriminate]; destruct (m l (S t)) eqn:E1; [discriminate |].
  destruct (Nat.leb_spec (v l) t); [| discriminate]; destruct (Nat.eqb_spec (value g) e); [| discriminate].
  simpl; intro H0; inversion H0; subst; clear H0.
  exists g; eexists; repeat split; auto; simpl.
  - destruct (acquires o); [eapply included_trans; [apply raise_grows | apply join_left] | apply raise_grows].
  - destruct (acquires o); [eapply Nat.le_trans; [apply raise_reaches | apply join_left] | apply raise_reaches].
  - apply join_left.
  - intro Hr; rewrite Hr; apply join_right.
  - intro Ha; rewrite Ha; apply join_right.
Qed.
End machine.

Arguments view : clear implicits.
Arguments message : clear implicits.
Arguments memory : clear implicits.

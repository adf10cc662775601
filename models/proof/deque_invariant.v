(* SPDX-License-Identifier: MIT *)
(* What holds at every moment of every run of the deque, and the proof that every line keeps it. *)
Require Import Arith Lia Bool List Permutation.
Require Import memory deque.
Import ListNotations.
Open Scope list_scope.

(* The orders that the theorems about elements need. *)
Definition is_seq_cst (o : order) : bool := match o with seq_cst => true | _ => false end.
Definition enough_for_elements (o : site -> order) : bool :=
  releases (o push_publish) && releases (o push_batch_publish) && releases (o pop_reserve) && releases (o grow_publish) &&
  acquires (o steal_bottom) && acquires (o steal_array) && is_seq_cst (o pop_fence) && is_seq_cst (o steal_fence).

(* Two indices less than a capacity apart share no slot. *)
Lemma same_slot_far_apart c a b : 0 < c -> a < b -> b < a + c -> a mod c <> b mod c.
Proof.
  intros P L U E.
  pose proof (Nat.div_mod a c ltac:(lia)) as Da. pose proof (Nat.div_mod b c ltac:(lia)) as Db.
  rewrite E in Da.
  assert (a / c < b / c) by nia. nia.
Qed.

(* Whoever has the view v can read nothing but x from location l. *)
Definition knows (m : memory location) (l : location) (x : nat) (v : view location) : Prop :=
  forall k g, v l <= k -> m l k = Some g -> value g = x.

Lemma knows_more m l x v w : knows m l x v -> included v w -> knows m l x w.
Proof. intros K I k g L. specialize (I l). apply K. lia. Qed.
Lemma knows_elsewhere m l x v l' k g : l <> l' -> knows m l x v -> knows (add location_eq m l' k g) l x v.
Proof. intros N K k' g' L M. rewrite add_elsewhere in M by assumption. eauto. Qed.
(* Who has seen all messages of a location knows what it stores there. *)
Lemma knows_own_store m l x v k g w :
  (forall k' g', m l k' = Some g' -> k' <= v l) -> v l < k -> k <= w l -> value g = x -> knows (add location_eq m l k g) l x w.
Proof.
  intros All L U V k' g' L' M. apply add_inv in M as [(_ & _ & ->) | M]; [assumption |].
  specialize (All _ _ M). lia.
Qed.

Lemma update_same {A} (f : nat -> A) i x : update f i x i = x.
Proof. unfold update. rewrite Nat.eqb_refl. reflexivity. Qed.
Lemma update_other {A} (f : nat -> A) i x j : j <> i -> update f i x j = f j.
Proof. unfold update. intro N. destruct (Nat.eqb_spec j i); congruence. Qed.

Arguments load : simpl never.
Arguments store : simpl never.
Arguments exchange : simpl never.
Arguments fence : simpl never.

Section proof.
Variable first_capacity : nat.
Hypothesis capacity_positive : 0 < first_capacity.
Variable first_array : nat.
Variable orders : site -> order.
Variable owner : nat.

Notation capacity := (capacity first_capacity).
Notation slot := (slot first_capacity).
Notation included := (@included location).
Notation join := (@join location).

Lemma a_larger_array a : capacity a < capacity (S a).
Proof.
  assert (P : 0 < first_capacity * 2 ^ a) by (pose proof (Nat.pow_nonzero 2 a); nia).
  destruct a as [| a]; simpl in *; [lia | nia].
Qed.
Lemma slots_apart a i j : i < j -> j < i + capacity a -> slot a i <> slot a j.
Proof.
  intros L U E. unfold deque.slot in E. injection E as E. revert E. apply same_slot_far_apart; lia.
Qed.
Lemma arrays_apart a i b j : a <> b -> slot a i <> slot b j.
Proof. unfold deque.slot. congruence. Qed.

(* ---- What the owner is doing ---- *)

(* How many elements a push has written but not published. *)
Definition unpublished (p : point) : nat :=
  match p with
  | PushArray _ _ n _ | PushTop _ _ n _ _ | Grow _ _ n _ _ _ | GrowOld _ _ n _ _ _ _ | GrowNew _ _ n _ _ _ _ _
  | GrowPublish _ _ n _ _ | PushSlot _ _ n _ _ | PushPublish _ _ n => n
  | _ => 0
  end.
(* What the newest bottom says. *)
Definition shown (p : point) (unreserved : nat) : nat :=
  match p with
  | PopFence b _ | PopTop b _ | PopRestore b | PopSlot b _ _ | PopClaim b _ | PopReset b => b
  | _ => unreserved
  end.
(* Between its fence and its decision a pop has reserved index b, and cannot read, or has not read, a top below u. *)
Definition reserving (p : point) (v : view location) : option (nat * nat) :=
  match p with PopTop b _ => Some (b, S (v Top)) | PopSlot b _ t => Some (b, t) | _ => None end.
Definition owners (p : point) : bool :=
  match p with
  | Idle | StealTop | StealFence _ | StealBottom _ | StealArray _ | StealSlot _ _ | StealClaim _ _ | AskTop | AskBottom _ => false
  | _ => true
  end.

Definition written_to (s : state) : nat := bottom s + unpublished (points s owner).
Definition reserved (s : state) : option (nat * nat) := reserving (points s owner) (views s owner).

(* ---- The deque ---- *)

(* The view v brings the element at index j: with it, whichever array a thief may read, it reads the element there. *)
Definition brings (s : state) (v : view location) (j : nat) : Prop :=
  included (pushed_with (at_index s j)) v /\
  forall k g, v Array <= k -> mem s Array k = Some g ->
    knows (mem s) (slot (value g) j) (what (at_index s j)) (join v (carried g)).
(* Whichever bottom beyond j a thread with view v may read, there is an element at j, and the bottom brings it. *)
Definition trusts (s : state) (v : view location) (j : nat) : Prop :=
  forall k g, v Bottom <= k -> mem s Bottom k = Some g -> j < value g -> j < bottom s /\ brings s (carried g) j.

Record deque_ok (s : state) : Prop := {
  (* Top's messages are numbered without a gap: one for each claim. *)
  top_says : forall k g, mem s Top k = Some g -> value g = S k /\ S k <= top s;
  top_there : forall k, S k <= top s -> mem s Top k <> None;
  top_bottom : 1 <= top s /\ top s <= bottom s;
  (* Each claim but the newest may be unknown to the fences; the newest was made by a thread that is known to them, or by
     the owner. *)
  top_fenced : top s <= S (S (Nat.max (shared s Top) (views s owner Top)));
  owner_writes : forall l k g, l <> Top -> mem s l k = Some g -> k <= views s owner l;
  bottom_known : knows (mem s) Bottom (shown (points s owner) (bottom s)) (views s owner);
  array_known : knows (mem s) Array (array s) (views s owner);
  array_numbers : forall k g, mem s Array k = Some g -> value g <= array s;
  elements_known : forall j, top s <= j -> j < written_to s ->
    included (pushed_with (at_index s j)) (views s owner) /\
    knows (mem s) (slot (array s) j) (what (at_index s j)) (views s owner);
  seen_is_old : top_seen s <= top s /\ top_seen s <= S (views s owner Top);
  room : written_to s <= top_seen s + capacity (array s);
  (* What is in the deque can be trusted by all who have passed a fence. *)
  fences_trust : forall j, top s <= j -> trusts s (shared s) j;
  numbers_unpublished : forall j, bottom s <= j -> j < written_to s ->
    number (at_index s j) = length (pushed s) + (j - bottom s);
  numbers_pushed : map number (pushed s) = seq 0 (length (pushed s));
  takes_ok : forall k, In k (taken s) ->
    got k = what (taken_element k) /\ included (pushed_with (taken_element k)) (taken_with k);
  nothing_lost : Permutation (pushed s) (map taken_element (taken s) ++ content s)
}.

(* ---- Threads at each line ---- *)

Definition asked (s : state) (t : nat) : Prop := t <= S (shared s Top) /\ t <= top s.
(* A pop that is under way has seen this thief, or the thief has seen its reservation: then `excludes` holds of its index. *)
Definition meets_pop (s : state) (t : nat) (excludes : nat -> Prop) : Prop :=
  forall b u, reserved s = Some (b, u) -> t <= u \/ excludes b.

Definition thief_ok (s : state) (v : view location) (p : point) : Prop :=
  match p with
  | StealFence t => t <= S (v Top) /\ t <= top s
  | StealBottom t =>
      asked s t /\ (top s = t -> trusts s v t) /\
      meets_pop s t (fun b => forall k g, v Bottom <= k -> mem s Bottom k = Some g -> value g <= b)
  | StealArray t => asked s t /\ (top s = t -> t < bottom s /\ brings s v t) /\ meets_pop s t (fun b => t < b)
  | StealSlot t a =>
      asked s t /\
      (top s = t -> t < bottom s /\ included (pushed_with (at_index s t)) v /\
                    knows (mem s) (slot a t) (what (at_index s t)) v) /\
      meets_pop s t (fun b => t < b) /\ a <= array s
  | StealClaim t x =>
      asked s t /\
      (top s = t -> t < bottom s /\ included (pushed_with (at_index s t)) v /\ x = what (at_index s t)) /\
      meets_pop s t (fun b => t < b)
  | _ => True
  end.

(* The larger array holds the elements up to index i. *)
Definition copied (s : state) (v : view location) (a i : nat) : Prop :=
  forall j, top s <= j -> j < i -> knows (mem s) (slot (S a) j) (what (at_index s j)) v.
Definition growing (s : state) (b n a t : nat) : Prop :=
  b = bottom s /\ a = array s /\ t <= top s /\ t <= b + n /\ b + n <= t + capacity a.
Definition popping (s : state) (b a : nat) : Prop := bottom s = b + 1 /\ a = array s.
(* No fence lets anybody read a bottom beyond b any more. *)
Definition settled (s : state) (b : nat) : Prop :=
  forall k g, shared s Bottom <= k -> mem s Bottom k = Some g -> value g <= b.

Definition owner_ok (s : state) (v : view location) (p : point) : Prop :=
  match p with
  | PushArray _ b _ _ | PushPublish _ b _ => b = bottom s
  | PushTop _ b _ a _ => b = bottom s /\ a = array s
  | Grow _ b n a t _ => growing s b n a t
  | GrowOld _ b n a t i _ => growing s b n a t /\ t <= i /\ i <= b + n /\ copied s v a i
  | GrowNew _ b n a t i x _ =>
      growing s b n a t /\ t <= i /\ i < b + n /\ copied s v a i /\ (top s <= i -> x = what (at_index s i))
  | GrowPublish _ b n a _ => b = bottom s /\ a = array s /\ copied s v a (b + n)
  | PushSlot _ b n a rest => b = bottom s /\ a = array s /\ (rest <> [] -> b + n < top_seen s + capacity a)
  | PopArray b => bottom s = b + 1
  | PopReserve b a | PopFence b a => popping s b a
  | PopTop b a => popping s b a /\ settled s b /\ (b < top s -> b <= S (v Top))
  | PopSlot b a t => popping s b a /\ settled s b /\ (b < top s -> b <= t) /\ t <= b /\ t <= S (v Top) /\ t <= top s
  | PopClaim b x =>
      bottom s = b + 1 /\ b <= S (v Top) /\ b <= top s /\
      (top s = b -> included (pushed_with (at_index s b)) v /\ x = what (at_index s b))
  | PopRestore b | PopReset b => bottom s = b + 1 /\ top s = b + 1
  | _ => True
  end.

Definition local_ok (s : state) (i : nat) (v : view location) (p : point) : Prop :=
  thief_ok s v p /\ (owners p = true -> i = owner) /\ (i = owner -> owner_ok s v p).

Record invariant (s : state) : Prop := {
  the_deque : deque_ok s;
  the_threads : forall i, local_ok s i (views s i) (points s i)
}.

(* ---- Views that know more ---- *)

Lemma brings_more s v w j : brings s v j -> included v w -> brings s w j.
Proof.
  intros (A & B) I. split; [eauto using included_trans |]. intros k g L M. specialize (I Array) as IA.
  apply knows_more with (v := join v (carried g)); [apply (B k g); [lia | exact M] |]. intro l. unfold memory.join. specialize (I l). lia.
Qed.
Lemma trusts_more s v w j : trusts s v j -> included v w -> trusts s w j.
Proof. intros T I k g L. specialize (I Bottom). apply T. lia. Qed.

(* The owner brings every element to whoever acquires from it. *)
Lemma the_owner_brings s j : deque_ok s -> top s <= j -> j < written_to s -> brings s (views s owner) j.
Proof.
  intros D L U. destruct (elements_known s D j L U) as (A & B). split; [exact A |].
  intros k g Lk M. rewrite (array_known s D k g Lk M). eapply knows_more; [exact B | apply join_left].
Qed.

(* ---- What a step of one thread leaves true for a thief ---- *)

Record calm (s s' : state) : Prop := {
  calm_top : top s <= top s';
  calm_shared : included (shared s) (shared s');
  calm_array : array s <= array s';
  (* The oldest element stays, unless the owner pops it and has seen no thief. *)
  calm_bottom : top s' = top s -> top s < bottom s ->
    top s < bottom s' \/ exists u, reserved s = Some (top s, u) /\ u < top s;
  calm_element : top s' = top s -> top s < bottom s -> at_index s' (top s) = at_index s (top s);
  calm_slots : top s' = top s -> top s < bottom s -> forall a x v, a <= array s ->
    knows (mem s) (slot a (top s)) x v -> knows (mem s') (slot a (top s)) x v;
  calm_arrays : top s' = top s -> top s < bottom s -> forall v, brings s v (top s) -> brings s' v (top s);
  calm_messages : top s' = top s -> forall k g, mem s' Bottom k = Some g ->
    mem s Bottom k = Some g \/ (top s < value g -> top s < bottom s' /\ brings s' (carried g) (top s));
  calm_reserved : forall b u', reserved s' = Some (b, u') ->
    S (shared s Top) <= u' \/ (mem s' Bottom = mem s Bottom /\ exists u, reserved s = Some (b, u) /\ u <= u')
}.

Lemma asked_stays s s' t : calm s s' -> asked s t -> asked s' t.
Proof. intros C (A & B). pose proof (calm_shared _ _ C Top). pose proof (calm_top _ _ C). split; lia. Qed.

Lemma meets_pop_stays s s' t (q q' : nat -> Prop) :
  calm s s' -> asked s t -> (mem s' Bottom = mem s Bottom -> forall b, q b -> q' b) -> meets_pop s t q -> meets_pop s' t q'.
Proof.
  intros C (A & _) Q M b u' R. destruct (calm_reserved _ _ C b u' R) as [L | (E & u & R' & L)]; [left; lia |].
  destruct (M b u R') as [H | H]; [left; lia | right; auto].
Qed.

(* The element at the top is still there for a thief that it has been there for. *)
Lemma the_top_stays s s' t :
  calm s s' -> t = top s -> top s' = t -> t < bottom s -> meets_pop s t (fun b => t < b) -> t < bottom s'.
Proof.
  intros C E E' L M. subst t. destruct (calm_bottom _ _ C E' L) as [H | (u & R & U)]; [exact H |].
  destruct (M _ _ R); lia.
Qed.

Lemma thief_stays s s' v p : calm s s' -> thief_ok s v p -> thief_ok s' v p.
Proof.
  intro C. pose proof (calm_top _ _ C) as Le. destruct p; simpl; auto.
  - intros (A & B). split; [assumption | lia].
  - intros (A & T & M). split; [eapply asked_stays; eassumption |]. split.
    + intro E. assert (E1 : top s = t) by (destruct A; lia). specialize (T E1).
      intros k g L Mk V. assert (E2 : top s' = top s) by lia.
      destruct (calm_messages _ _ C E2 k g Mk) as [Old | New]; [| rewrite E1 in New; auto].
      destruct (T k g L Old V) as (B & Br).
      assert (B' : t < bottom s').
      { rewrite <- E1 in B. destruct (calm_bottom _ _ C E2 B) as [H | (u & R & U)]; [lia |].
        destruct (M _ _ R) as [H | H]; [lia |]. specialize (H k g L Old). lia. }
      split; [assumption |]. rewrite <- E1 in *. apply (calm_arrays _ _ C); auto.
    + eapply meets_pop_stays; [eassumption | assumption | | exact M]. simpl. intros -> b H. exact H.
  - intros (A & T & M). split; [eapply asked_stays; eassumption |]. split.
    + intro E. assert (E1 : t = top s) by (destruct A; lia). destruct (T (eq_sym E1)) as (B & Br).
      split; [eapply the_top_stays; eauto |]. rewrite E1 in *. apply (calm_arrays _ _ C); auto.
    + eapply meets_pop_stays; [eassumption | assumption | | exact M]. auto.
  - intros (A & T & M & La). split; [eapply asked_stays; eassumption |]. split; [| split].
    + intro E. assert (E1 : t = top s) by (destruct A; lia). destruct (T (eq_sym E1)) as (B & Br & K).
      split; [eapply the_top_stays; eauto |]. rewrite E1 in *.
      rewrite (calm_element _ _ C) by auto. split; [assumption |]. apply (calm_slots _ _ C); auto.
    + eapply meets_pop_stays; [eassumption | assumption | | exact M]. auto.
    + pose proof (calm_array _ _ C). lia.
  - intros (A & T & M). split; [eapply asked_stays; eassumption |]. split.
    + intro E. assert (E1 : t = top s) by (destruct A; lia). destruct (T (eq_sym E1)) as (B & Br & K).
      split; [eapply the_top_stays; eauto |]. rewrite E1 in *. rewrite (calm_element _ _ C) by auto. auto.
    + eapply meets_pop_stays; [eassumption | assumption | | exact M]. auto.
Qed.

(* ---- What a step of a thief leaves true for the owner ---- *)

Record undisturbed (s s' : state) : Prop := {
  un_mem : forall l, l <> Top -> mem s' l = mem s l;
  un_shared : included (shared s) (shared s');
  un_seen : top_seen s' = top_seen s;
  un_bottom : bottom s' = bottom s;
  un_array : array s' = array s;
  un_index : at_index s' = at_index s;
  un_top : top s' = top s \/
    (top s' = top s + 1 /\ top s < bottom s /\ forall b u, reserved s = Some (b, u) -> top s <= u \/ top s < b)
}.

Lemma owner_stays s s' :
  undisturbed s s' -> owner_ok s (views s owner) (points s owner) -> owner_ok s' (views s owner) (points s owner).
Proof.
  intros [M Sh Se B A I T].
  assert (Le : top s <= top s') by lia.
  assert (Kn : forall a j, knows (mem s) (slot a j) (what (at_index s j)) (views s owner) ->
                           knows (mem s') (slot a j) (what (at_index s' j)) (views s owner)).
  { intros a j K. rewrite I. intros k g L. rewrite M by (unfold deque.slot; discriminate). apply K. assumption. }
  assert (Co : forall a i, copied s (views s owner) a i -> copied s' (views s owner) a i).
  { intros a i C j L U. apply Kn, C; lia. }
  assert (St : forall b, settled s b -> settled s' b).
  { intros b C k g L. rewrite M by discriminate. apply C. specialize (Sh Bottom). lia. }
  unfold reserved in T.
  destruct (points s owner) eqn:P; simpl in *; unfold growing, popping; rewrite ?B, ?A, ?Se; auto.
  - intros (X & Y & Z). repeat split; auto; lia.
  - intros ((X & Y & Z & W1 & W2) & ?). repeat split; auto; try tauto; try lia. apply Co. tauto.
  - intros ((X & Y & Z & W1 & W2) & ? & ? & C & V). repeat split; auto; try lia. rewrite I. intro; apply V. lia.
  - intros (X & Y & Z). auto.
  - intros (X & Y & Z). split; [assumption |]. split; [auto |]. intro L.
    destruct T as [T | (T & U & R)]; [apply Z; lia |]. specialize (R _ _ eq_refl).
    destruct (Nat.lt_ge_cases b (top s)); [auto | lia].
  - intros (X & Y). split; [assumption | lia].
  - intros (X & Y & Z & V1 & V2 & V3). split; [assumption |]. split; [auto |]. split; [| lia]. intro L.
    destruct T as [T | (T & U & R)]; [apply Z; lia |]. specialize (R _ _ eq_refl).
    destruct (Nat.lt_ge_cases b (top s)); [auto | lia].
  - intros (X & Y & Z & V). rewrite I. repeat split; auto; try lia; apply V; lia.
  - intros (X & Y). split; [assumption | lia].
Qed.

(* ---- How a step keeps the invariant ---- *)

Lemma a_step_keeps s s' i w p :
  invariant s -> calm s s' -> views s' = update (views s) i w -> points s' = update (points s) i p ->
  (i <> owner -> undisturbed s s') -> deque_ok s' -> local_ok s' i w p -> invariant s'.
Proof.
  intros [D L] C V P U D' L'. split; [assumption |]. intro j. rewrite V, P.
  destruct (Nat.eq_dec j i) as [-> | N]; [rewrite !update_same; assumption |]. rewrite !update_other by assumption.
  destruct (L j) as (A & B & E). split; [eapply thief_stays; eassumption |]. split; [assumption |].
  intros ->. apply owner_stays; auto.
Qed.
(* ---- What a line does to the deque ---- *)

Lemma brings_stays s s' v j :
  deque_ok s -> mem s' Array = mem s Array -> at_index s' j = at_index s j ->
  (forall a x w, a <= array s -> knows (mem s) (slot a j) x w -> knows (mem s') (slot a j) x w) ->
  brings s v j -> brings s' v j.
Proof.
  intros D MA I K (A & B). split; [rewrite I; assumption |].
  intros k g L M. rewrite MA in M. rewrite I. apply K; [apply (array_numbers s D k g M) | eauto].
Qed.
Lemma trusts_stays s s' v j :
  mem s' Bottom = mem s Bottom -> (j < bottom s -> j < bottom s') ->
  (forall w, j < bottom s -> brings s w j -> brings s' w j) -> trusts s v j -> trusts s' v j.
Proof.
  intros M B Br T k g L Mk V. rewrite M in Mk. destruct (T k g L Mk V) as (U & R). auto.
Qed.
Lemma content_stays s s' :
  top s' = top s -> bottom s' = bottom s -> (forall j, j < bottom s -> at_index s' j = at_index s j) ->
  content s' = content s.
Proof.
  intros T B I. unfold content. rewrite T, B. apply map_ext_in. intros j H. apply in_seq in H. apply I. lia.
Qed.

(* Loads, fences, and lines without an access: only views grow, and the owner goes on. *)
Record quiet (s s' : state) : Prop := {
  q_mem : mem s' = mem s;
  q_top : top s' = top s;
  q_bottom : bottom s' = bottom s;
  q_array : array s' = array s;
  q_index : at_index s' = at_index s;
  q_pushed : pushed s' = pushed s;
  q_taken : taken s' = taken s;
  q_shared : included (shared s) (shared s');
  q_view : included (views s owner) (views s' owner);
  q_written : unpublished (points s' owner) = unpublished (points s owner);
  q_shown : shown (points s' owner) (bottom s) = shown (points s owner) (bottom s);
  q_seen : top_seen s <= top_seen s' /\ top_seen s' <= top s /\ top_seen s' <= S (views s' owner Top)
}.

Lemma quiet_brings s s' v j : quiet s s' -> brings s v j -> brings s' v j.
Proof. intros Q (A & B). split; rewrite (q_index _ _ Q); [assumption |]. rewrite (q_mem _ _ Q). exact B. Qed.

Lemma quiet_deque s s' : quiet s s' -> deque_ok s -> deque_ok s'.
Proof.
  intros Q D. pose proof (fun v j => quiet_brings s s' v j Q) as Br.
  destruct Q as [M T B A I P K Sh V W S Se]. destruct D.
  assert (Wr : written_to s' = written_to s) by (unfold written_to; congruence).
  assert (Co : content s' = content s) by (apply content_stays; auto; intros; congruence).
  constructor; rewrite ?M, ?T, ?B, ?A, ?I, ?P, ?K, ?Co, ?Wr; auto.
  - specialize (Sh Top). specialize (V Top). lia.
  - intros l k g N G. specialize (owner_writes0 l k g N G). specialize (V l). lia.
  - rewrite S. eauto using knows_more.
  - eauto using knows_more.
  - intros j L U. destruct (elements_known0 j L U). split; [eauto using included_trans | eauto using knows_more].
  - lia.
  - lia.
  - intros j L. apply (trusts_stays s s'); [congruence | lia | auto |].
    eapply trusts_more; [apply fences_trust0; assumption | assumption].
Qed.

Lemma quiet_calm s s' :
  quiet s s' ->
  (forall b u', reserved s' = Some (b, u') ->
     S (shared s Top) <= u' \/ exists u, reserved s = Some (b, u) /\ u <= u') -> calm s s'.
Proof.
  intros Q R. pose proof (fun v j => quiet_brings s s' v j Q) as Br. destruct Q as [M T B A I P K Sh V W S Se].
  constructor; rewrite ?M, ?T, ?B, ?A, ?I; auto.
  intros b u' H. destruct (R b u' H); auto.
Qed.

(* The owner writes a slot that holds no element of the deque: of index j0, in the array in use or in the next. *)
Record slot_written (s s' : state) (a0 j0 k : nat) (g : message location) : Prop := {
  sw_mem : mem s' = add location_eq (mem s) (slot a0 j0) k g;
  sw_top : top s' = top s;
  sw_bottom : bottom s' = bottom s;
  sw_array : array s' = array s;
  sw_pushed : pushed s' = pushed s;
  sw_taken : taken s' = taken s;
  sw_shared : shared s' = shared s;
  sw_seen : top_seen s' = top_seen s;
  sw_view : included (views s owner) (views s' owner);
  sw_knows : k <= views s' owner (slot a0 j0);
  sw_free : forall a j, a <= array s -> top s <= j -> j < written_to s -> slot a j <> slot a0 j0;
  sw_index : forall j, j < written_to s -> at_index s' j = at_index s j;
  sw_new : forall j, written_to s <= j -> j < written_to s' ->
    number (at_index s' j) = length (pushed s) + (j - bottom s) /\
    included (pushed_with (at_index s' j)) (views s' owner) /\
    knows (mem s') (slot (array s) j) (what (at_index s' j)) (views s' owner);
  sw_room : written_to s' <= top_seen s + capacity (array s);
  sw_shown : shown (points s' owner) (bottom s) = shown (points s owner) (bottom s);
  sw_reserved : reserved s' = None
}.

Lemma bottom_written s : bottom s <= written_to s.
Proof. unfold written_to. lia. Qed.

Lemma slot_written_knows s s' a0 j0 k g a j x v :
  slot_written s s' a0 j0 k g -> a <= array s -> top s <= j -> j < written_to s ->
  knows (mem s) (slot a j) x v -> knows (mem s') (slot a j) x v.
Proof.
  intros W A L U K. rewrite (sw_mem _ _ _ _ _ _ W). apply knows_elsewhere; [apply (sw_free _ _ _ _ _ _ W); assumption | assumption].
Qed.
Lemma slot_written_elsewhere s s' a0 j0 k g l :
  slot_written s s' a0 j0 k g -> (forall i, l <> Slot a0 i) -> mem s' l = mem s l.
Proof.
  intros W N. rewrite (sw_mem _ _ _ _ _ _ W). unfold add. destruct (location_eq l (slot a0 j0)) as [E |]; [| reflexivity].
  exfalso. exact (N _ E).
Qed.
Lemma slot_written_brings s s' a0 j0 k g v j :
  deque_ok s -> slot_written s s' a0 j0 k g -> top s <= j -> j < written_to s -> brings s v j -> brings s' v j.
Proof.
  intros D W L U. apply (brings_stays s s' v j D).
  - eapply slot_written_elsewhere; [exact W | discriminate].
  - apply (sw_index _ _ _ _ _ _ W). assumption.
  - intros a x w A K. eapply slot_written_knows; eassumption.
Qed.

Lemma slot_written_deque s s' a0 j0 k g : slot_written s s' a0 j0 k g -> deque_ok s -> deque_ok s'.
Proof.
  intros W D. pose proof (fun v j => slot_written_brings s s' a0 j0 k g v j D W) as Br.
  pose proof (fun a j x v => slot_written_knows s s' a0 j0 k g a j x v W) as Kn.
  pose proof (slot_written_elsewhere s s' a0 j0 k g Top W ltac:(discriminate)) as MT.
  pose proof (slot_written_elsewhere s s' a0 j0 k g Bottom W ltac:(discriminate)) as MB.
  pose proof (slot_written_elsewhere s s' a0 j0 k g Array W ltac:(discriminate)) as MA.
  pose proof (bottom_written s) as Bw.
  destruct W as [M T B A P K Sh Se V U F I N R S _]. destruct D.
  assert (Co : content s' = content s) by (apply content_stays; auto; intros; apply I; lia).
  constructor; rewrite ?MT, ?MA, ?T, ?B, ?A, ?P, ?K, ?Se, ?Co; auto.
  - rewrite Sh. specialize (V Top). lia.
  - intros l k' g' Nl G. rewrite M in G. apply add_inv in G as [(-> & -> & _) | G]; [assumption |].
    specialize (owner_writes0 l k' g' Nl G). specialize (V l). lia.
  - intros k' g' L G. rewrite S. rewrite MB in G. specialize (V Bottom). eapply bottom_known0; [| exact G]. lia.
  - intros k' g' L G. rewrite MA in G. specialize (V Array). eapply array_known0; [| exact G]. lia.
  - intros j L H. destruct (Nat.lt_ge_cases j (written_to s)) as [O | O].
    + rewrite I by assumption. destruct (elements_known0 j L O) as (E1 & E2). split; [eauto using included_trans |].
      eapply knows_more; [apply Kn; eauto | assumption].
    + destruct (N j O H) as (_ & E1 & E2). auto.
  - specialize (V Top). lia.
  - intros j L. rewrite Sh. apply (trusts_stays s s'); [assumption | lia | | auto].
    intros w H. apply Br; lia.
  - intros j L H. destruct (Nat.lt_ge_cases j (written_to s)) as [O | O]; [rewrite I by assumption; auto | apply N; assumption].
Qed.

Lemma slot_written_calm s s' a0 j0 k g : slot_written s s' a0 j0 k g -> deque_ok s -> calm s s'.
Proof.
  intros W D. pose proof (bottom_written s) as Bw.
  constructor; intros.
  - rewrite (sw_top _ _ _ _ _ _ W). auto.
  - rewrite (sw_shared _ _ _ _ _ _ W). apply included_refl.
  - rewrite (sw_array _ _ _ _ _ _ W). auto.
  - rewrite (sw_bottom _ _ _ _ _ _ W). auto.
  - apply (sw_index _ _ _ _ _ _ W). lia.
  - eapply slot_written_knows; eauto. lia.
  - eapply slot_written_brings; eauto. lia.
  - left. rewrite <- (slot_written_elsewhere s s' a0 j0 k g Bottom W) by discriminate. assumption.
  - rewrite (sw_reserved _ _ _ _ _ _ W) in H. discriminate.
Qed.

(* The owner stores a new bottom, and publishes n elements with it, or none. *)
Record bottom_stored (s s' : state) (n k : nat) (g : message location) : Prop := {
  bs_mem : mem s' = add location_eq (mem s) Bottom k g;
  bs_top : top s' = top s;
  bs_bottom : bottom s' = bottom s + n;
  bs_array : array s' = array s;
  bs_index : at_index s' = at_index s;
  bs_pushed : pushed s' = pushed s ++ map (at_index s) (seq (bottom s) n);
  bs_taken : taken s' = taken s;
  bs_shared : shared s' = shared s;
  bs_seen : top_seen s' = top_seen s;
  bs_view : included (views s owner) (views s' owner);
  bs_new : views s owner Bottom < k;
  bs_knows : k <= views s' owner Bottom;
  bs_shown : value g = shown (points s' owner) (bottom s');
  bs_written : written_to s' = written_to s;
  bs_brings : forall j, top s <= j -> j < value g -> j < bottom s' /\ brings s (carried g) j;
  bs_reserved : reserved s' = None
}.

Lemma bottom_stored_brings s s' n k g v j : bottom_stored s s' n k g -> brings s v j -> brings s' v j.
Proof.
  intros W (A & B). split; rewrite (bs_index _ _ _ _ _ W); [assumption |]. rewrite (bs_mem _ _ _ _ _ W).
  intros k' g' L M. rewrite add_elsewhere in M by discriminate. apply knows_elsewhere; [unfold deque.slot; discriminate | eauto].
Qed.

Lemma bottom_stored_deque s s' n k g : bottom_stored s s' n k g -> deque_ok s -> deque_ok s'.
Proof.
  intros W D. pose proof (fun v j => bottom_stored_brings s s' n k g v j W) as Br. pose proof (bottom_written s') as Bw.
  destruct W as [M T B A I P K Sh Se V N U S Wr Bn _]. destruct D.
  assert (El : forall l k', l <> Bottom -> mem s' l k' = mem s l k') by (intros; rewrite M; apply add_elsewhere; assumption).
  assert (Num : forall m j0 x, (forall j, j0 <= j -> j < j0 + m -> number (at_index s j) = x + (j - j0)) ->
                map number (map (at_index s) (seq j0 m)) = seq x m).
  { clear. induction m as [| m IH]; intros j0 x H; [reflexivity |]. simpl. rewrite H by lia. f_equal; [lia |].
    apply IH. intros j L U. rewrite H by lia. lia. }
  constructor; rewrite ?T, ?A, ?I, ?K, ?Se, ?Wr; auto.
  - intros k' g'. rewrite El by discriminate. auto.
  - intros k'. rewrite El by discriminate. auto.
  - lia.
  - rewrite Sh. specialize (V Top). lia.
  - intros l k' g' Nl G. rewrite M in G. apply add_inv in G as [(-> & -> & _) | G]; [assumption |].
    specialize (owner_writes0 l k' g' Nl G). specialize (V l). lia.
  - rewrite M. eapply knows_own_store; [| exact N | exact U | exact S]. intros k' g'. apply owner_writes0. discriminate.
  - intros k' g' L. rewrite El by discriminate. specialize (V Array). apply array_known0. lia.
  - intros k' g'. rewrite El by discriminate. eauto.
  - intros j L H. destruct (elements_known0 j L H) as (E1 & E2). split; [eauto using included_trans |].
    intros k' g' Lk. rewrite El by (unfold deque.slot; discriminate). eapply knows_more in E2; [| exact V]. eauto.
  - specialize (V Top). lia.
  - intros j L k' g' Lk G Vj. rewrite Sh in Lk. rewrite M in G. apply add_inv in G as [(_ & -> & ->) | G].
    + destruct (Bn j L Vj). auto.
    + destruct (fences_trust0 j L k' g' Lk G Vj). split; [lia | auto].
  - intros j L H. rewrite P, app_length, map_length, seq_length, B. rewrite numbers_unpublished0 by lia. lia.
  - rewrite P, map_app, numbers_pushed0, app_length, map_length, seq_length, seq_app. f_equal. apply Num.
    intros j L H. apply numbers_unpublished0; [lia |]. rewrite <- Wr. lia.
  - assert (C : content s' = content s ++ map (at_index s) (seq (bottom s) n)).
    { unfold content. rewrite T, B, I. replace (bottom s + n - top s) with ((bottom s - top s) + n) by lia.
      rewrite seq_app, map_app. do 3 f_equal. lia. }
    rewrite P, C, app_assoc. apply Permutation_app_tail. assumption.
Qed.

Lemma bottom_stored_calm s s' n k g : bottom_stored s s' n k g -> calm s s'.
Proof.
  intros W. pose proof (fun v j => bottom_stored_brings s s' n k g v j W) as Br.
  destruct W as [M T B A I P K Sh Se V N U S Wr Bn R].
  constructor; rewrite ?T, ?Sh, ?A, ?I, ?B; intros; auto using included_refl.
  - left. lia.
  - rewrite M. apply knows_elsewhere; [unfold deque.slot; discriminate | assumption].
  - rewrite M in H0. apply add_inv in H0 as [(_ & -> & ->) | G]; [| auto]. right. intro L.
    destruct (Bn (top s)) as (E1 & E2); [auto | lia |]. rewrite B in E1. auto.
  - rewrite R in H. discriminate.
Qed.

(* The owner publishes the next array. *)
Record array_stored (s s' : state) (k : nat) (g : message location) : Prop := {
  as_mem : mem s' = add location_eq (mem s) Array k g;
  as_top : top s' = top s;
  as_bottom : bottom s' = bottom s;
  as_array : array s' = S (array s);
  as_index : at_index s' = at_index s;
  as_pushed : pushed s' = pushed s;
  as_taken : taken s' = taken s;
  as_shared : shared s' = shared s;
  as_seen : top_seen s' = top_seen s;
  as_view : included (views s owner) (views s' owner);
  as_new : views s owner Array < k;
  as_knows : k <= views s' owner Array;
  as_value : value g = S (array s);
  as_carries : included (views s owner) (carried g);
  as_copied : copied s (views s owner) (array s) (written_to s);
  as_written : written_to s' = written_to s;
  as_shown : shown (points s' owner) (bottom s) = shown (points s owner) (bottom s);
  as_reserved : reserved s' = None
}.

Lemma array_stored_brings s s' k g v j :
  array_stored s s' k g -> top s <= j -> j < written_to s -> brings s v j -> brings s' v j.
Proof.
  intros W L U (A & B). split; rewrite (as_index _ _ _ _ W); [assumption |]. rewrite (as_mem _ _ _ _ W).
  intros k' g' Lk M. apply knows_elsewhere; [unfold deque.slot; discriminate |].
  apply add_inv in M as [(_ & -> & ->) | M]; [| eauto].
  rewrite (as_value _ _ _ _ W). eapply knows_more; [apply (as_copied _ _ _ _ W); assumption |].
  eapply included_trans; [exact (as_carries _ _ _ _ W) | apply join_right].
Qed.

Lemma array_stored_deque s s' k g : array_stored s s' k g -> deque_ok s -> deque_ok s'.
Proof.
  intros W D. pose proof (fun v j => array_stored_brings s s' k g v j W) as Br. pose proof (bottom_written s) as Bw.
  destruct W as [M T B A I P K Sh Se V N U S Ca Co Wr Sw _]. destruct D.
  assert (El : forall l k', l <> Array -> mem s' l k' = mem s l k') by (intros; rewrite M; apply add_elsewhere; assumption).
  assert (Cn : content s' = content s) by (apply content_stays; auto; intros; congruence).
  constructor; rewrite ?T, ?B, ?A, ?I, ?P, ?K, ?Se, ?Wr, ?Cn; auto.
  - intros k' g'. rewrite El by discriminate. auto.
  - intros k'. rewrite El by discriminate. auto.
  - rewrite Sh. specialize (V Top). lia.
  - intros l k' g' Nl G. rewrite M in G. apply add_inv in G as [(-> & -> & _) | G]; [assumption |].
    specialize (owner_writes0 l k' g' Nl G). specialize (V l). lia.
  - rewrite Sw. intros k' g' L. rewrite El by discriminate. specialize (V Bottom). apply bottom_known0. lia.
  - rewrite M. eapply knows_own_store; [| exact N | exact U | exact S]. intros k' g'. apply owner_writes0. discriminate.
  - intros k' g' G. rewrite M in G. apply add_inv in G as [(_ & _ & ->) | G]; [lia |]. specialize (array_numbers0 _ _ G). lia.
  - intros j L H. destruct (elements_known0 j L H) as (E1 & E2). split; [eauto using included_trans |].
    intros k' g' Lk. rewrite El by (unfold deque.slot; discriminate). specialize (Co j L H).
    eapply knows_more in Co; [| exact V]. eauto.
  - specialize (V Top). lia.
  - pose proof (a_larger_array (array s)). lia.
  - intros j L. rewrite Sh. apply (trusts_stays s s'); [| lia | | auto].
    + rewrite M. unfold add. destruct (location_eq Bottom Array); [discriminate | reflexivity].
    + intros w H. apply Br; lia.
Qed.

Lemma array_stored_calm s s' k g : array_stored s s' k g -> calm s s'.
Proof.
  intros W. pose proof (fun v j => array_stored_brings s s' k g v j W) as Br. pose proof (bottom_written s) as Bw.
  destruct W as [M T B A I P K Sh Se V N U S Ca Co Wr Sw R].
  constructor; rewrite ?T, ?Sh, ?A, ?I, ?B; intros; auto using included_refl.
  - rewrite M. apply knows_elsewhere; [unfold deque.slot; discriminate | assumption].
  - apply Br; auto. lia.
  - left. rewrite M, add_elsewhere in H0 by discriminate. assumption.
  - rewrite R in H. discriminate.
Qed.

(* Somebody claims the oldest element. *)
Record claimed (s s' : state) (k : nat) (g : message location) (t : take) : Prop := {
  c_mem : mem s' = add location_eq (mem s) Top (S k) g;
  c_last : top s = S k;
  c_value : value g = S (S k);
  c_top : top s' = top s + 1;
  c_there : top s < bottom s;
  c_bottom : bottom s' = bottom s;
  c_array : array s' = array s;
  c_index : at_index s' = at_index s;
  c_pushed : pushed s' = pushed s;
  c_taken : taken s' = taken s ++ [t];
  c_element : taken_element t = at_index s (top s);
  c_got : got t = what (taken_element t) /\ included (pushed_with (taken_element t)) (taken_with t);
  c_shared : shared s' = shared s;
  c_seen : top_seen s' = top_seen s;
  c_view : included (views s owner) (views s' owner);
  c_fenced : top s <= S (Nat.max (shared s Top) (views s' owner Top));
  c_written : written_to s' = written_to s;
  c_shown : shown (points s' owner) (bottom s) = shown (points s owner) (bottom s);
  c_reserved : forall b u, reserved s' = Some (b, u) -> reserved s = Some (b, u)
}.

Lemma claimed_deque s s' k g t : claimed s s' k g t -> deque_ok s -> deque_ok s'.
Proof.
  intros [M La Va T Th B A I P K E G Sh Se V F Wr Sw _] D. destruct D.
  assert (El : forall l k', l <> Top -> mem s' l k' = mem s l k') by (intros; rewrite M; apply add_elsewhere; assumption).
  constructor; rewrite ?T, ?B, ?A, ?I, ?P, ?Se, ?Wr; auto.
  - intros k' g' H. rewrite M in H. apply add_inv in H as [(_ & -> & ->) | H]; [lia |].
    destruct (top_says0 _ _ H). lia.
  - intros k' L. rewrite M. destruct (Nat.eq_dec k' (S k)) as [-> | N]; [rewrite add_same; discriminate |].
    rewrite add_otherwise by auto. apply top_there0. lia.
  - lia.
  - rewrite Sh. lia.
  - intros l k' g' Nl H. rewrite El in H by assumption. specialize (owner_writes0 l k' g' Nl H). specialize (V l). lia.
  - rewrite Sw. intros k' g' L. rewrite El by discriminate. specialize (V Bottom). apply bottom_known0. lia.
  - intros k' g' L. rewrite El by discriminate. specialize (V Array). apply array_known0. lia.
  - intros k' g'. rewrite El by discriminate. eauto.
  - intros j L U. destruct (elements_known0 j) as (E1 & E2); [lia | assumption |]. split; [eauto using included_trans |].
    intros k' g' Lk. rewrite El by (unfold deque.slot; discriminate). eapply knows_more in E2; [| exact V]. eauto.
  - specialize (V Top). lia.
  - intros j L k' g' Lk. rewrite Sh in Lk. rewrite El by discriminate. intros H Vj.
    destruct (fences_trust0 j ltac:(lia) k' g' Lk H Vj) as (E1 & E2 & E3). rewrite B. split; [assumption |].
    split; rewrite I; [assumption |]. intros k1 g1 L1. rewrite El by discriminate. intro H1.
    intros k2 g2 L2. rewrite El by (unfold deque.slot; discriminate). eapply E3; eassumption.
  - rewrite K. intros k' H. apply in_app_or in H as [H | [<- | []]]; auto.
  - assert (C : content s = at_index s (top s) :: content s').
    { unfold content. rewrite T, B, I. replace (bottom s - top s) with (S (bottom s - (top s + 1))) by lia.
      simpl. do 3 f_equal. lia. }
    rewrite C in nothing_lost0. rewrite K, map_app, <- app_assoc. simpl. rewrite E. assumption.
Qed.

Lemma claimed_calm s s' k g t : claimed s s' k g t -> calm s s'.
Proof.
  intros [M La Va T Th B A I P K E G Sh Se V F Wr Sw R].
  assert (N : top s' <> top s) by lia.
  constructor; intros; try contradiction; rewrite ?T, ?Sh, ?A; auto using included_refl.
  - lia.
  - right. split; [rewrite M; unfold add; destruct (location_eq Bottom Top); [discriminate | reflexivity] |].
    exists u'. split; [auto | lia].
Qed.

(* The owner takes the newest element, of which it has seen that no thief can take it. *)
Record popped (s s' : state) (b : nat) (t : take) : Prop := {
  p_mem : mem s' = mem s;
  p_top : top s' = top s;
  p_before : bottom s = b + 1;
  p_bottom : bottom s' = b;
  p_there : top s <= b;
  p_settled : settled s b;
  p_array : array s' = array s;
  p_index : at_index s' = at_index s;
  p_pushed : pushed s' = pushed s;
  p_taken : taken s' = taken s ++ [t];
  p_element : taken_element t = at_index s b;
  p_got : got t = what (taken_element t) /\ included (pushed_with (taken_element t)) (taken_with t);
  p_shared : shared s' = shared s;
  p_seen : top_seen s' = top_seen s;
  p_view : included (views s owner) (views s' owner);
  p_reserved : exists u, reserved s = Some (b, u) /\ u < b;
  p_written : written_to s' = b;
  p_written_before : written_to s = b + 1;
  p_shown : shown (points s owner) (bottom s) = b;
  p_shown_now : shown (points s' owner) b = b;
  p_done : reserved s' = None
}.

Lemma popped_brings s s' b t v j : popped s s' b t -> brings s v j -> brings s' v j.
Proof. intros Q (A & B). split; rewrite (p_index _ _ _ _ Q); [assumption |]. rewrite (p_mem _ _ _ _ Q). exact B. Qed.

Lemma popped_deque s s' b t : popped s s' b t -> deque_ok s -> deque_ok s'.
Proof.
  intros Q D. pose proof (fun v j => popped_brings s s' b t v j Q) as Br.
  destruct Q as [M T B0 B Th St A I P K E G Sh Se V R Wr Wr0 S S' _]. destruct D.
  constructor; rewrite ?M, ?T, ?B, ?A, ?I, ?P, ?Se, ?Wr; auto.
  - lia.
  - rewrite Sh. specialize (V Top). lia.
  - intros l k g N H. specialize (owner_writes0 l k g N H). specialize (V l). lia.
  - rewrite S'. rewrite S in bottom_known0. eauto using knows_more.
  - eauto using knows_more.
  - intros j L U. destruct (elements_known0 j) as (E1 & E2); [lia | lia |].
    split; [eauto using included_trans | eauto using knows_more].
  - specialize (V Top). lia.
  - lia.
  - intros j L k g Lk H Vj. rewrite Sh in Lk. rewrite M in H. specialize (St k g Lk H).
    destruct (fences_trust0 j L k g Lk H Vj). split; [lia | auto].
  - lia.
  - rewrite K. intros k' H. apply in_app_or in H as [H | [<- | []]]; auto.
  - assert (C : content s = content s' ++ [at_index s b]).
    { unfold content. rewrite T, B, B0, I. replace (b + 1 - top s) with ((b - top s) + 1) by lia.
      rewrite seq_app, map_app. simpl. do 3 f_equal. lia. }
    rewrite C in nothing_lost0. rewrite K, map_app, <- app_assoc. simpl. rewrite E.
    eapply Permutation_trans; [exact nothing_lost0 |]. apply Permutation_app_head, Permutation_sym, Permutation_cons_append.
Qed.

Lemma popped_calm s s' b t : popped s s' b t -> calm s s'.
Proof.
  intros Q. pose proof (fun v j => popped_brings s s' b t v j Q) as Br.
  destruct Q as [M T B0 B Th St A I P K E G Sh Se V (u & R & U) Wr Wr0 S S' N].
  constructor; rewrite ?M, ?T, ?B, ?A, ?I, ?Sh; intros; auto using included_refl.
  - destruct (Nat.eq_dec (top s) b) as [-> | Ne]; [right; eauto | left; lia].
  - rewrite N in H. discriminate.
Qed.

Hypothesis orders_enough : enough_for_elements orders = true.

(* ---- The orders, by name ---- *)

Lemma a_push_releases k : releases (orders (publish_site k)) = true.
Proof.
  pose proof orders_enough as O. unfold enough_for_elements in O. rewrite !andb_true_iff in O. destruct k; simpl; tauto.
Qed.
Lemma a_reservation_releases : releases (orders pop_reserve) = true.
Proof. pose proof orders_enough as O. unfold enough_for_elements in O. rewrite !andb_true_iff in O. tauto. Qed.
Lemma an_array_is_released : releases (orders grow_publish) = true.
Proof. pose proof orders_enough as O. unfold enough_for_elements in O. rewrite !andb_true_iff in O. tauto. Qed.
Lemma a_thief_acquires_the_bottom : acquires (orders steal_bottom) = true.
Proof. pose proof orders_enough as O. unfold enough_for_elements in O. rewrite !andb_true_iff in O. tauto. Qed.
Lemma a_thief_acquires_the_array : acquires (orders steal_array) = true.
Proof. pose proof orders_enough as O. unfold enough_for_elements in O. rewrite !andb_true_iff in O. tauto. Qed.
Lemma the_owner_fences : orders pop_fence = seq_cst.
Proof.
  pose proof orders_enough as O. unfold enough_for_elements in O. rewrite !andb_true_iff in O.
  destruct O as ((_ & O) & _). destruct (orders pop_fence); simpl in O; congruence.
Qed.
Lemma a_thief_fences : orders steal_fence = seq_cst.
Proof.
  pose proof orders_enough as O. unfold enough_for_elements in O. rewrite !andb_true_iff in O.
  destruct O as (_ & O). destruct (orders steal_fence); simpl in O; congruence.
Qed.

(* ---- Lines that only make views grow ---- *)

Definition goes_on (s : state) (i : nat) (w sh : view location) (p : point) (seen : nat) : state :=
  State (mem s) (update (views s) i w) sh (update (points s) i p) seen (top s) (bottom s) (array s) (at_index s)
    (pushed s) (taken s).

(* The owner goes on to p without having published or reserved, and sees of thieves at least what it has. *)
Definition goes_quietly (s : state) (w : view location) (p : point) : Prop :=
  unpublished p = unpublished (points s owner) /\
  shown p (bottom s) = shown (points s owner) (bottom s) /\
  (forall b u', reserving p w = Some (b, u') -> S (shared s Top) <= u' \/ exists u, reserved s = Some (b, u) /\ u <= u').

Lemma quiet_step s i w sh p seen :
  included (views s i) w -> included (shared s) sh ->
  (i = owner -> goes_quietly s w p) -> (i <> owner -> seen = top_seen s) -> deque_ok s ->
  (i = owner -> top_seen s <= seen /\ seen <= top s /\ seen <= S (w Top)) ->
  quiet s (goes_on s i w sh p seen).
Proof.
  intros V Sh G N D Se. destruct (Nat.eq_dec i owner) as [-> | Ne].
  - destruct (G eq_refl) as (W & Sw & _). destruct (Se eq_refl) as (Se1 & Se2 & Se3).
    constructor; simpl; rewrite ?update_same; auto.
  - rewrite (N Ne). destruct (seen_is_old _ D). constructor; simpl; rewrite ?update_other by auto; auto using included_refl.
Qed.

Lemma quiet_keeps s i w sh p seen :
  invariant s -> included (views s i) w -> included (shared s) sh ->
  (i = owner -> goes_quietly s w p) -> (i <> owner -> seen = top_seen s) ->
  (i = owner -> top_seen s <= seen /\ seen <= top s /\ seen <= S (w Top)) ->
  local_ok (goes_on s i w sh p seen) i w p -> invariant (goes_on s i w sh p seen).
Proof.
  intros [D L] V Sh G N Se Lo. pose proof (quiet_step s i w sh p seen V Sh G N D Se) as Q.
  eapply a_step_keeps with (i := i) (w := w) (p := p); [constructor; eassumption | | reflexivity | reflexivity | | | assumption].
  - apply quiet_calm with (1 := Q). unfold reserved. simpl. destruct (Nat.eq_dec i owner) as [-> | Ne].
    + rewrite !update_same. apply G. reflexivity.
    + rewrite !update_other by auto. intros b u' R. right. eauto.
  - intro Ne. constructor; simpl; auto.
  - eapply quiet_deque; eassumption.
Qed.

(* The same where the owner's top_seen_ stays. *)
Lemma view_keeps s i w sh p :
  invariant s -> included (views s i) w -> included (shared s) sh -> (i = owner -> goes_quietly s w p) ->
  local_ok (goes_on s i w sh p (top_seen s)) i w p -> invariant (goes_on s i w sh p (top_seen s)).
Proof.
  intros I V Sh G Lo. apply quiet_keeps; auto. intros ->. destruct (seen_is_old _ (the_deque _ I)).
  specialize (V Top). lia.
Qed.

(* A thread that is at no line of the owner's owes nothing to the owner's invariant. *)
Lemma thiefs_line s i w p : owners p = false -> thief_ok s w p -> local_ok s i w p.
Proof. intros O T. split; [assumption |]. split; [congruence |]. intros _. destruct p; simpl; auto; discriminate. Qed.
Lemma owners_line s i w p : i = owner -> owners p = true -> owner_ok s w p -> local_ok s i w p.
Proof. intros E O T. split; [destruct p; simpl; auto; discriminate |]. split; auto. Qed.

Lemma thief_goes_quietly s w p : owners p = false -> owners (points s owner) = false -> goes_quietly s w p.
Proof.
  intros A B. unfold goes_quietly. destruct p; try discriminate A; destruct (points s owner); try discriminate B;
    simpl; repeat split; auto; intros; discriminate.
Qed.

(* ---- The invariant of one thread, at hand ---- *)

Lemma at_line s i p : invariant s -> points s i = p -> local_ok s i (views s i) p.
Proof. intros I <-. apply the_threads; assumption. Qed.
Lemma a_thief_at s i p : invariant s -> points s i = p -> thief_ok s (views s i) p.
Proof. intros I P. apply (at_line s i p I P). Qed.
Lemma the_owner_at s i p : invariant s -> points s i = p -> owners p = true -> i = owner /\ owner_ok s (views s owner) p.
Proof.
  intros I P O. destruct (at_line s i p I P) as (_ & A & B). specialize (A O). subst i. split; [reflexivity | apply B; reflexivity].
Qed.

Lemma a_reservation_is_settled s b u : invariant s -> reserved s = Some (b, u) -> settled s b.
Proof.
  intros I R. unfold reserved in R. pose proof (at_line s owner _ I eq_refl) as (_ & _ & O).
  specialize (O eq_refl). destruct (points s owner); simpl in *; try discriminate; injection R as <- <-; apply O.
Qed.
Lemma meets_pop_goes_on s i w sh p seen t q :
  owners p = false -> (i <> owner -> meets_pop s t q) ->
  meets_pop (goes_on s i w sh p seen) t q.
Proof.
  intros O M b u R. unfold reserved in R. simpl in R. destruct (Nat.eq_dec i owner) as [-> | Ne].
  - rewrite !update_same in R. destruct p; simpl in *; discriminate.
  - rewrite !update_other in R by auto. apply (M Ne). exact R.
Qed.
Lemma join_least (a b c : view location) : included a c -> included b c -> included (join a b) c.
Proof. intros A B l. specialize (A l). specialize (B l). unfold memory.join. lia. Qed.

(* ---- The lines of a thief ---- *)

Lemma steal_top_keeps s i k w x g :
  invariant s -> points s i = StealTop -> mem s Top k = Some g -> value g = x -> included (views s i) w -> k <= w Top ->
  invariant (goes_on s i w (shared s) (StealFence x) (top_seen s)).
Proof.
  intros I P M V In K. destruct (top_says _ (the_deque _ I) k g M) as (E & L).
  apply view_keeps; auto using included_refl.
  - intros ->. apply thief_goes_quietly; [reflexivity | rewrite P; reflexivity].
  - apply thiefs_line; [reflexivity |]. simpl. lia.
Qed.

Lemma steal_fence_keeps s i t :
  invariant s -> points s i = StealFence t ->
  invariant (goes_on s i (join (views s i) (shared s)) (join (views s i) (shared s)) (StealBottom t) (top_seen s)).
Proof.
  intros I P. pose proof (a_thief_at s i _ I P) as (A & B). pose proof (join_left (views s i) (shared s)) as JL.
  pose proof (join_right (views s i) (shared s)) as JR.
  apply view_keeps; auto.
  - intros ->. apply thief_goes_quietly; [reflexivity | rewrite P; reflexivity].
  - apply thiefs_line; [reflexivity |]. simpl. split; [| split].
    + split; simpl; [| assumption]. specialize (JL Top). lia.
    + intro E. apply trusts_more with (v := shared s); [| assumption]. apply (fences_trust _ (the_deque _ I) t). lia.
    + apply meets_pop_goes_on; [reflexivity |]. intros Ne b u R. right. intros k g L.
      apply (a_reservation_is_settled s b u I R). specialize (JR Bottom). lia.
Qed.

Lemma steal_bottom_keeps s i t k w g :
  invariant s -> points s i = StealBottom t -> mem s Bottom k = Some g -> views s i Bottom <= k -> included (views s i) w ->
  included (carried g) w ->
  invariant (goes_on s i w (shared s) (if value g <=? t then Idle else StealArray t) (top_seen s)).
Proof.
  intros I P M L In Aq. pose proof (a_thief_at s i _ I P) as (A & B & C).
  apply view_keeps; auto using included_refl.
  - intros ->. apply thief_goes_quietly; [destruct (_ <=? _); reflexivity | rewrite P; reflexivity].
  - destruct (Nat.leb_spec (value g) t) as [Le | Gt]; (apply thiefs_line; [reflexivity |]); simpl; [trivial |].
    split; [assumption |]. split.
    + intro E. destruct (B E k g L M Gt) as (U & Br). split; [assumption |]. eapply brings_more; eassumption.
    + apply meets_pop_goes_on; [reflexivity |]. intros Ne b u R. destruct (C b u R) as [H | H]; [auto |].
      right. specialize (H k g L M). lia.
Qed.

Lemma steal_array_keeps s i t k w g :
  invariant s -> points s i = StealArray t -> mem s Array k = Some g -> views s i Array <= k -> included (views s i) w ->
  included (carried g) w ->
  invariant (goes_on s i w (shared s) (StealSlot t (value g)) (top_seen s)).
Proof.
  intros I P M L In Aq. pose proof (a_thief_at s i _ I P) as (A & B & C).
  apply view_keeps; auto using included_refl.
  - intros ->. apply thief_goes_quietly; [reflexivity | rewrite P; reflexivity].
  - apply thiefs_line; [reflexivity |]. simpl. split; [assumption |]. split; [| split].
    + intro E. destruct (B E) as (U & Br1 & Br2). split; [assumption |]. split; [eauto using included_trans |].
      apply knows_more with (v := join (views s i) (carried g)); [apply (Br2 k g); assumption | apply join_least; assumption].
    + apply meets_pop_goes_on; [reflexivity |]. auto.
    + apply (array_numbers _ (the_deque _ I) k g M).
Qed.

Lemma steal_slot_keeps s i t a k w g :
  invariant s -> points s i = StealSlot t a -> mem s (slot a t) k = Some g -> views s i (slot a t) <= k ->
  included (views s i) w -> invariant (goes_on s i w (shared s) (StealClaim t (value g)) (top_seen s)).
Proof.
  intros I P M L In. pose proof (a_thief_at s i _ I P) as (A & B & C & _).
  apply view_keeps; auto using included_refl.
  - intros ->. apply thief_goes_quietly; [reflexivity | rewrite P; reflexivity].
  - apply thiefs_line; [reflexivity |]. simpl. split; [assumption |]. split.
    + intro E. destruct (B E) as (U & Br & K). split; [assumption |]. split; [eauto using included_trans | eauto].
    + apply meets_pop_goes_on; [reflexivity |]. auto.
Qed.

Lemma stopping_keeps s i w :
  invariant s -> owners (points s i) = false -> included (views s i) w ->
  invariant (goes_on s i w (shared s) Idle (top_seen s)).
Proof.
  intros I O In. apply view_keeps; auto using included_refl.
  - intros ->. apply thief_goes_quietly; auto.
  - apply thiefs_line; simpl; auto.
Qed.

(* ---- Claims ---- *)

Lemma elsewhere_the_same (m : memory location) l k g l' : l' <> l -> add location_eq m l k g l' = m l'.
Proof. intro N. unfold add. destruct (location_eq l' l); [contradiction | reflexivity]. Qed.

(* A compare-exchange that succeeds has read the newest top. *)
Lemma a_claim_is_of_the_newest_top s k g :
  deque_ok s -> mem s Top k = Some g -> mem s Top (S k) = None -> value g = S k /\ top s = S k.
Proof.
  intros D M N. destruct (top_says _ D k g M) as (V & L). split; [assumption |].
  destruct (Nat.lt_ge_cases (S k) (top s)) as [H | H]; [| lia]. exfalso. apply (top_there _ D (S k)); [lia | assumption].
Qed.

Definition claims_top (s : state) (i k : nat) (g : message location) (w : view location) (p : point) (x : nat) : state :=
  State (add location_eq (mem s) Top (S k) g) (update (views s) i w) (shared s) (update (points s) i p) (top_seen s)
    (top s + 1) (bottom s) (array s) (at_index s) (pushed s) (taken s ++ [Take (at_index s (top s)) x i (Some (top s)) w]).

Lemma steal_claim_keeps s i t x k g g' w :
  invariant s -> points s i = StealClaim t x -> mem s Top k = Some g -> value g = t -> mem s Top (S k) = None ->
  value g' = t + 1 -> included (views s i) w -> invariant (claims_top s i k g' w Idle x).
Proof.
  intros I P M V N V' In. pose proof (a_thief_at s i _ I P) as ((A1 & A2) & B & C). pose proof (the_deque _ I) as D.
  destruct (a_claim_is_of_the_newest_top s k g D M N) as (E1 & E2).
  assert (E : top s = t) by lia. destruct (B E) as (U & Br & X).
  assert (Cl : claimed s (claims_top s i k g' w Idle x) k g' (Take (at_index s (top s)) x i (Some (top s)) w)).
  { constructor; simpl; auto; try congruence; try lia.
    - rewrite E. split; [assumption | eauto using included_trans].
    - destruct (Nat.eq_dec i owner) as [-> | Ne]; [rewrite update_same | rewrite update_other by auto]; auto using included_refl.
    - unfold written_to. simpl. destruct (Nat.eq_dec i owner) as [-> | Ne];
        [rewrite update_same, P | rewrite update_other by auto]; reflexivity.
    - destruct (Nat.eq_dec i owner) as [-> | Ne]; [rewrite update_same, P | rewrite update_other by auto]; reflexivity.
    - unfold reserved. simpl. destruct (Nat.eq_dec i owner) as [-> | Ne]; [rewrite !update_same; discriminate |].
      rewrite !update_other by auto. auto. }
  eapply a_step_keeps with (i := i) (w := w) (p := Idle); try reflexivity; try assumption.
  - eapply claimed_calm; eassumption.
  - intro Ne. constructor; simpl; auto using included_refl.
    + intros l H. apply elsewhere_the_same. assumption.
    + right. split; [reflexivity |]. split; [lia |]. intros b u R. destruct (C b u R); lia.
  - eapply claimed_deque; eassumption.
  - apply thiefs_line; simpl; auto.
Qed.

(* ---- The lines of the owner ---- *)

Lemma owner_keeps s w p :
  invariant s -> included (views s owner) w -> goes_quietly s w p -> owner_ok s w p -> owners p = true ->
  invariant (goes_on s owner w (shared s) p (top_seen s)).
Proof.
  intros I In G O Op. apply view_keeps; auto using included_refl.
  apply owners_line; [reflexivity | assumption |]. destruct p; exact O.
Qed.
Lemma owner_stops s w :
  invariant s -> included (views s owner) w -> goes_quietly s w Idle ->
  invariant (goes_on s owner w (shared s) Idle (top_seen s)).
Proof. intros I In G. apply view_keeps; auto using included_refl. apply thiefs_line; simpl; auto. Qed.

Ltac quietly P := unfold goes_quietly; rewrite P; simpl; repeat split; auto; intros; try discriminate.

Lemma publish_written_keeps s k b n :
  invariant s -> unpublished (points s owner) = n -> shown (points s owner) (bottom s) = bottom s -> b = bottom s ->
  invariant (goes_on s owner (views s owner) (shared s) (publish_written k b n) (top_seen s)).
Proof.
  intros I U S E. unfold publish_written. destruct (Nat.eqb_spec n 0) as [-> | N].
  - apply owner_stops; auto using included_refl. unfold goes_quietly. rewrite U, S. repeat split; auto. discriminate.
  - apply owner_keeps; auto using included_refl; simpl; auto. unfold goes_quietly. rewrite U, S. repeat split; auto. discriminate.
Qed.

Lemma push_bottom_keeps s i k rest a w g :
  invariant s -> points s i = PushBottom k rest -> mem s Bottom a = Some g -> views s i Bottom <= a -> included (views s i) w ->
  invariant (goes_on s i w (shared s) (push_next k (value g) 0 rest) (top_seen s)).
Proof.
  intros I P M L In. destruct (the_owner_at s i _ I P eq_refl) as (-> & O).
  pose proof (bottom_known _ (the_deque _ I) a g L M) as V. rewrite P in V. simpl in V. rewrite V. unfold push_next.
  destruct rest; [apply owner_stops | apply owner_keeps]; auto; try (quietly P). simpl. reflexivity.
Qed.

Lemma push_array_keeps s i k b n rest a w g :
  invariant s -> points s i = PushArray k b n rest -> mem s Array a = Some g -> views s i Array <= a -> included (views s i) w ->
  invariant (goes_on s i w (shared s)
    (if b + n - top_seen s <? capacity (value g) then PushSlot k b n (value g) rest
     else if value g =? 0 then Grow k b n (value g) (b + n) rest else PushTop k b n (value g) rest) (top_seen s)).
Proof.
  intros I P M L In. destruct (the_owner_at s i _ I P eq_refl) as (-> & O). simpl in O. subst b.
  pose proof (the_deque _ I) as D. pose proof (array_known _ D a g L M) as V. rewrite V. pose proof (room _ D) as R.
  destruct (seen_is_old _ D) as (S1 & _). destruct (top_bottom _ D). unfold written_to in R. rewrite P in R. simpl in R.
  destruct (Nat.ltb_spec (bottom s + n - top_seen s) (capacity (array s))).
  - apply owner_keeps; auto; [quietly P |]. simpl. repeat split; auto. intros _. lia.
  - destruct (Nat.eqb_spec (array s) 0) as [Z | Z].
    + apply owner_keeps; auto; [quietly P |]. rewrite Z in *. simpl in *. unfold growing. simpl. repeat split; auto; lia.
    + apply owner_keeps; auto; [quietly P |]. simpl. auto.
Qed.

Lemma push_top_keeps s i k b n a rest c w g :
  invariant s -> points s i = PushTop k b n a rest -> mem s Top c = Some g -> views s i Top <= c -> included (views s i) w ->
  c <= w Top ->
  invariant (goes_on s i w (shared s)
    (if b + n - value g <? capacity a then PushSlot k b n a rest else Grow k b n a (value g) rest) (value g)).
Proof.
  intros I P M L In Rk. destruct (the_owner_at s i _ I P eq_refl) as (-> & O). simpl in O. destruct O as (-> & ->).
  pose proof (the_deque _ I) as D. pose proof (room _ D) as R. destruct (seen_is_old _ D) as (S1 & S2).
  destruct (top_bottom _ D). destruct (top_says _ D c g M) as (V & Vt).
  unfold written_to in R. rewrite P in R. simpl in R.
  apply quiet_keeps; auto using included_refl; try congruence.
  - intros _. destruct (_ <? _); quietly P.
  - intros _. lia.
  - destruct (Nat.ltb_spec (bottom s + n - value g) (capacity (array s)));
      (apply owners_line; [reflexivity | reflexivity |]); simpl; unfold growing; simpl; repeat split; auto; lia.
Qed.

Lemma grow_keeps s i k b n a t rest (lose : bool) :
  invariant s -> points s i = Grow k b n a t rest ->
  invariant (goes_on s i (views s i) (shared s)
    (if lose then publish_written k b n else GrowOld k b n a t t rest) (top_seen s)).
Proof.
  intros I P. destruct (the_owner_at s i _ I P eq_refl) as (-> & O). simpl in O. pose proof O as (B & A & T & U & W).
  destruct lose.
  - apply publish_written_keeps; auto; rewrite P; reflexivity.
  - apply owner_keeps; auto using included_refl; [quietly P |]. simpl. repeat split; auto.
    intros j L H. lia.
Qed.

Lemma grow_old_keeps s i k b n a t j rest c w g :
  invariant s -> points s i = GrowOld k b n a t j rest -> j <> b + n -> mem s (slot a j) c = Some g ->
  views s i (slot a j) <= c -> included (views s i) w ->
  invariant (goes_on s i w (shared s) (GrowNew k b n a t j (value g) rest) (top_seen s)).
Proof.
  intros I P N M L In. destruct (the_owner_at s i _ I P eq_refl) as (-> & O). simpl in O.
  destruct O as (G & L1 & L2 & C). pose proof G as (-> & -> & T & U & W).
  apply owner_keeps; auto; [quietly P |]. simpl. split; [assumption |]. split; [assumption |]. split; [lia |]. split.
  - intros j' A B. eapply knows_more; [apply C; assumption | assumption].
  - intro A. destruct (elements_known _ (the_deque _ I) j A) as (_ & K); [unfold written_to; rewrite P; simpl; lia |].
    apply (K c g L M).
Qed.

Lemma grow_ends_keeps s i k b n a t rest :
  invariant s -> points s i = GrowOld k b n a t (b + n) rest ->
  invariant (goes_on s i (views s i) (shared s) (GrowPublish k b n a rest) (top_seen s)).
Proof.
  intros I P. destruct (the_owner_at s i _ I P eq_refl) as (-> & O). simpl in O.
  destruct O as ((-> & -> & _) & _ & _ & C). apply owner_keeps; auto using included_refl; [quietly P |]. simpl. auto.
Qed.

(* What the owner does to a slot, as a state. *)
Definition writes (s : state) (i : nat) (l : location) (k : nat) (g : message location) (w : view location) (p : point)
  (index : nat -> element) : state :=
  State (add location_eq (mem s) l k g) (update (views s) i w) (shared s) (update (points s) i p) (top_seen s) (top s)
    (bottom s) (array s) index (pushed s) (taken s).

Lemma all_slots_known s a j k g : deque_ok s -> mem s (slot a j) k = Some g -> k <= views s owner (slot a j).
Proof. intros D M. apply (owner_writes _ D _ _ _) with (2 := M). discriminate. Qed.

Lemma grow_new_keeps s i k b n a t j x rest c w g :
  invariant s -> points s i = GrowNew k b n a t j x rest -> views s i (slot (S a) j) < c -> value g = x ->
  included (views s i) w -> c <= w (slot (S a) j) ->
  invariant (writes s i (slot (S a) j) c g w (GrowOld k b n a t (S j) rest) (at_index s)).
Proof.
  intros I P L V In U. destruct (the_owner_at s i _ I P eq_refl) as (-> & O). simpl in O.
  destruct O as (G & L1 & L2 & C & X). pose proof G as (-> & -> & T & Tb & W). pose proof (the_deque _ I) as D.
  pose proof (a_larger_array (array s)) as La.
  set (s' := writes s owner (slot (S (array s)) j) c g w (GrowOld k (bottom s) n (array s) t (S j) rest) (at_index s)).
  assert (Wt : written_to s' = written_to s) by (unfold written_to; simpl; rewrite update_same, P; reflexivity).
  assert (Sw : slot_written s s' (S (array s)) j c g).
  { constructor; try reflexivity; simpl; rewrite ?update_same; auto.
    - intros a' j' A B F. apply arrays_apart. lia.
    - intros j' A B. exfalso. revert B. rewrite Wt. lia.
    - rewrite Wt. apply (room _ D).
    - rewrite P. reflexivity.
    - unfold reserved. simpl. rewrite update_same. reflexivity. }
  eapply a_step_keeps with (i := owner) (w := w) (p := GrowOld k (bottom s) n (array s) t (S j) rest);
    try reflexivity; try assumption; try congruence.
  - eapply slot_written_calm; eassumption.
  - eapply slot_written_deque; eassumption.
  - apply owners_line; [reflexivity | reflexivity |]. simpl. split; [unfold growing; simpl; auto |]. split; [lia |].
    split; [lia |]. intros j' A B. change (top s <= j') in A. destruct (Nat.eq_dec j' j) as [-> | Ne].
    + apply knows_own_store with (v := views s owner); [| assumption | assumption | rewrite V; apply X; assumption].
      intros k' g'. apply all_slots_known. assumption.
    + apply knows_elsewhere; [apply slots_apart; lia |]. eapply knows_more; [apply C; lia | assumption].
Qed.

Lemma grow_publish_keeps s i k b n a rest c w g :
  invariant s -> points s i = GrowPublish k b n a rest -> views s i Array < c -> value g = S a ->
  included (views s i) w -> c <= w Array -> (releases (orders grow_publish) = true -> included w (carried g)) ->
  invariant (State (add location_eq (mem s) Array c g) (update (views s) i w) (shared s)
    (update (points s) i (PushSlot k b n (S a) rest)) (top_seen s) (top s) (bottom s) (S a) (at_index s) (pushed s) (taken s)).
Proof.
  intros I P L V In U Ca. destruct (the_owner_at s i _ I P eq_refl) as (-> & O). simpl in O.
  destruct O as (-> & -> & C). pose proof (the_deque _ I) as D. specialize (Ca an_array_is_released).
  pose proof (room _ D) as R. unfold written_to in R. rewrite P in R. simpl in R. pose proof (a_larger_array (array s)) as La.
  match goal with |- invariant ?x => set (s' := x) end.
  assert (As : array_stored s s' c g).
  { constructor; try reflexivity; simpl; rewrite ?update_same; auto.
    - eauto using included_trans.
    - unfold written_to. rewrite P. simpl. exact C.
    - unfold written_to. simpl. rewrite update_same, P. reflexivity.
    - rewrite P. reflexivity.
    - unfold reserved. simpl. rewrite update_same. reflexivity. }
  eapply a_step_keeps with (i := owner) (w := w) (p := PushSlot k (bottom s) n (S (array s)) rest);
    try reflexivity; try assumption; try congruence.
  - eapply array_stored_calm; eassumption.
  - eapply array_stored_deque; eassumption.
  - apply owners_line; [reflexivity | reflexivity |]. simpl. split; [reflexivity |]. split; [reflexivity |].
    intros _. simpl in La. lia.
Qed.

Lemma push_slot_keeps s i k b n a x rest c w g :
  invariant s -> points s i = PushSlot k b n a (x :: rest) -> views s i (slot a (b + n)) < c -> value g = x ->
  included (views s i) w -> c <= w (slot a (b + n)) ->
  invariant (writes s i (slot a (b + n)) c g w (push_next k b (S n) rest)
    (update (at_index s) (b + n) (Element (length (pushed s) + n) x (views s i)))).
Proof.
  intros I P L V In U. destruct (the_owner_at s i _ I P eq_refl) as (-> & O). simpl in O.
  destruct O as (-> & -> & R). specialize (R ltac:(discriminate)). pose proof (the_deque _ I) as D.
  destruct (top_bottom _ D) as (T1 & T2). destruct (seen_is_old _ D) as (S1 & _).
  match goal with |- invariant ?x => set (s' := x) end.
  assert (Wt : written_to s = bottom s + n) by (unfold written_to; rewrite P; reflexivity).
  assert (Wt' : written_to s' = bottom s + S n).
  { unfold written_to. simpl. rewrite update_same. unfold push_next. destruct rest; reflexivity. }
  assert (Sw : slot_written s s' (array s) (bottom s + n) c g).
  { constructor; try reflexivity; simpl; rewrite ?update_same; auto.
    - intros a' j A B F. destruct (Nat.eq_dec a' (array s)) as [-> | Ne]; [apply slots_apart; lia | apply arrays_apart; assumption].
    - intros j H. apply update_other. lia.
    - intros j A B. assert (j = bottom s + n) as -> by lia. rewrite update_same. simpl. split; [lia |]. split; [assumption |].
      apply knows_own_store with (v := views s owner); auto. intros k' g'. apply all_slots_known. assumption.
    - lia.
    - rewrite P. unfold push_next. destruct rest; reflexivity.
    - unfold reserved. simpl. rewrite !update_same. unfold push_next. destruct rest; reflexivity. }
  eapply a_step_keeps with (i := owner) (w := w) (p := push_next k (bottom s) (S n) rest);
    try reflexivity; try assumption; try congruence.
  - eapply slot_written_calm; eassumption.
  - eapply slot_written_deque; eassumption.
  - unfold push_next. destruct rest; (apply owners_line; [reflexivity | reflexivity |]); simpl; auto.
Qed.

(* The owner's stores of the bottom, as a state. *)
Definition stores_bottom (s : state) (n k : nat) (g : message location) (w : view location) (p : point) : state :=
  State (add location_eq (mem s) Bottom k g) (update (views s) owner w) (shared s) (update (points s) owner p) (top_seen s)
    (top s) (bottom s + n) (array s) (at_index s) (pushed s ++ map (at_index s) (seq (bottom s) n)) (taken s).

Lemma bottom_keeps s n k g w p :
  invariant s -> views s owner Bottom < k -> included (views s owner) w -> k <= w Bottom ->
  value g = shown p (bottom s + n) -> unpublished (points s owner) = n + unpublished p ->
  (forall j, top s <= j -> j < value g -> j < bottom s + n /\ included w (carried g)) ->
  value g <= written_to s -> reserving p w = None -> local_ok (stores_bottom s n k g w p) owner w p ->
  invariant (stores_bottom s n k g w p).
Proof.
  intros I L In U V Un Br Vw R Lo. pose proof (the_deque _ I) as D.
  assert (Bs : bottom_stored s (stores_bottom s n k g w p) n k g).
  { constructor; try reflexivity; simpl; rewrite ?update_same; auto.
    - unfold written_to. simpl. rewrite update_same. lia.
    - intros j A B. destruct (Br j A B) as (B1 & B2). split; [assumption |].
      apply brings_more with (v := views s owner); [| eauto using included_trans]. apply the_owner_brings; auto. lia.
    - unfold reserved. simpl. rewrite !update_same. assumption. }
  eapply a_step_keeps with (i := owner) (w := w) (p := p); try reflexivity; try assumption; try congruence.
  - eapply bottom_stored_calm; eassumption.
  - eapply bottom_stored_deque; eassumption.
Qed.

(* A store that publishes no element leaves the deque as it is. *)
Lemma stores_nothing_new s k g w p :
  invariant (stores_bottom s 0 k g w p) -> invariant (writes s owner Bottom k g w p (at_index s)).
Proof. unfold stores_bottom, writes. simpl. rewrite app_nil_r, Nat.add_0_r. auto. Qed.

Lemma push_publish_keeps s i k b n c w g :
  invariant s -> points s i = PushPublish k b n -> views s i Bottom < c -> value g = b + n -> included (views s i) w ->
  c <= w Bottom -> (releases (orders (publish_site k)) = true -> included w (carried g)) ->
  invariant (stores_bottom s n c g w Idle) /\ i = owner.
Proof.
  intros I P L V In U Ca. destruct (the_owner_at s i _ I P eq_refl) as (-> & O). simpl in O. subst b.
  specialize (Ca (a_push_releases k)). split; [| reflexivity].
  apply bottom_keeps; auto; simpl.
  - rewrite P. simpl. lia.
  - intros j A B. split; [lia | assumption].
  - unfold written_to. rewrite P. simpl. lia.
  - apply thiefs_line; simpl; auto.
Qed.

Lemma pop_reserve_keeps s i b a c w g :
  invariant s -> points s i = PopReserve b a -> views s i Bottom < c -> value g = b -> included (views s i) w ->
  c <= w Bottom -> (releases (orders pop_reserve) = true -> included w (carried g)) ->
  invariant (writes s i Bottom c g w (PopFence b a) (at_index s)).
Proof.
  intros I P L V In U Ca. destruct (the_owner_at s i _ I P eq_refl) as (-> & (B & A)).
  specialize (Ca a_reservation_releases). apply stores_nothing_new, bottom_keeps; auto; simpl; rewrite ?P; auto.
  - intros j H1 H2. split; [lia | assumption].
  - unfold written_to. rewrite P. simpl. lia.
  - apply owners_line; [reflexivity | reflexivity |]. simpl. split; simpl; [lia | assumption].
Qed.

Lemma pop_restores_keeps s i p b c w g :
  invariant s -> points s i = p -> p = PopRestore b \/ p = PopReset b -> views s i Bottom < c -> value g = b + 1 ->
  included (views s i) w -> c <= w Bottom -> invariant (writes s i Bottom c g w Idle (at_index s)).
Proof.
  intros I P E L V In U.
  assert (O : i = owner /\ bottom s = b + 1 /\ top s = b + 1 /\ unpublished p = 0).
  { destruct E as [-> | ->]; destruct (the_owner_at s i _ I P eq_refl) as (-> & (B & A)); auto. }
  destruct O as (-> & B & T & Un). apply stores_nothing_new, bottom_keeps; auto; simpl; rewrite ?P, ?Un; auto; try lia.
  - unfold written_to. rewrite P, Un. lia.
  - apply thiefs_line; simpl; auto.
Qed.

Lemma pop_bottom_keeps s i c w g :
  invariant s -> points s i = PopBottom -> mem s Bottom c = Some g -> views s i Bottom <= c -> included (views s i) w ->
  invariant (goes_on s i w (shared s) (PopArray (value g - 1)) (top_seen s)).
Proof.
  intros I P M L In. destruct (the_owner_at s i _ I P eq_refl) as (-> & _). pose proof (the_deque _ I) as D.
  pose proof (bottom_known _ D c g L M) as V. rewrite P in V. simpl in V. destruct (top_bottom _ D).
  apply owner_keeps; auto; [quietly P |]. simpl. lia.
Qed.

Lemma pop_array_keeps s i b c w g :
  invariant s -> points s i = PopArray b -> mem s Array c = Some g -> views s i Array <= c -> included (views s i) w ->
  invariant (goes_on s i w (shared s) (if value g =? 0 then Idle else PopReserve b (value g)) (top_seen s)).
Proof.
  intros I P M L In. destruct (the_owner_at s i _ I P eq_refl) as (-> & O). simpl in O.
  pose proof (array_known _ (the_deque _ I) c g L M) as V. rewrite V.
  destruct (_ =? _); [apply owner_stops | apply owner_keeps]; auto; try quietly P. split; assumption || reflexivity.
Qed.

Lemma pop_fence_keeps s i b a :
  invariant s -> points s i = PopFence b a ->
  invariant (goes_on s i (join (views s i) (shared s)) (join (views s i) (shared s)) (PopTop b a) (top_seen s)).
Proof.
  intros I P. destruct (the_owner_at s i _ I P eq_refl) as (-> & (B & A)). pose proof (the_deque _ I) as D.
  pose proof (join_left (views s owner) (shared s)) as JL. pose proof (join_right (views s owner) (shared s)) as JR.
  apply view_keeps; auto.
  - intros _. quietly P. left. injection H as <- <-. specialize (JR Top). lia.
  - apply owners_line; [reflexivity | reflexivity |]. simpl. split; [split; assumption |]. split.
    + intros k g L M. simpl in *. pose proof (bottom_known _ D k g) as K. rewrite P in K. simpl in K.
      rewrite K; auto. specialize (JL Bottom). lia.
    + intro L. pose proof (top_fenced _ D) as T. destruct (top_bottom _ D). unfold memory.join. lia.
Qed.

Lemma pop_top_keeps s i b a c w g :
  invariant s -> points s i = PopTop b a -> mem s Top c = Some g -> views s i Top <= c -> included (views s i) w ->
  c <= w Top ->
  invariant (goes_on s i w (shared s) (if b <? value g then PopRestore b else PopSlot b a (value g)) (top_seen s)).
Proof.
  intros I P M L In Rk. destruct (the_owner_at s i _ I P eq_refl) as (-> & (B & A) & St & C). pose proof (the_deque _ I) as D.
  destruct (top_says _ D c g M) as (V & Vt). destruct (top_bottom _ D).
  destruct (Nat.ltb_spec b (value g)).
  - apply owner_keeps; auto; [quietly P |]. simpl. lia.
  - apply owner_keeps; auto.
    + quietly P. right. injection H2 as <- <-. unfold reserved. rewrite P. simpl. eexists. split; [reflexivity | lia].
    + simpl. repeat split; auto; try lia.
Qed.

(* The value that pop reads is that of the element at its index, if no thief has taken it. *)
Lemma pop_slot_reads_its_element s b a t c g :
  invariant s -> points s owner = PopSlot b a t -> mem s (slot a b) c = Some g -> views s owner (slot a b) <= c -> top s <= b ->
  value g = what (at_index s b) /\ included (pushed_with (at_index s b)) (views s owner).
Proof.
  intros I P M L T. destruct (the_owner_at s owner _ I P eq_refl) as (_ & (B & A) & _). subst a.
  destruct (elements_known _ (the_deque _ I) b T) as (E1 & E2); [unfold written_to; rewrite P; simpl; lia |].
  split; [apply (E2 c g L M) | assumption].
Qed.

Lemma pop_slot_keeps s i b a t c w g :
  invariant s -> points s i = PopSlot b a t -> mem s (slot a b) c = Some g -> views s i (slot a b) <= c ->
  included (views s i) w -> b <= t ->
  invariant (goes_on s i w (shared s) (PopClaim b (value g)) (top_seen s)).
Proof.
  intros I P M L In T. destruct (the_owner_at s i _ I P eq_refl) as (-> & (B & A) & St & C & T1 & T2 & T3).
  apply owner_keeps; auto; [quietly P |]. simpl. split; [assumption |]. specialize (In Top) as InT.
  split; [lia |]. split; [lia |]. intro E.
  destruct (pop_slot_reads_its_element s b a t c g I P M L) as (E1 & E2); [lia |]. split; [eauto using included_trans | assumption].
Qed.

Lemma pop_takes_keeps s i b a t c w g :
  invariant s -> points s i = PopSlot b a t -> mem s (slot a b) c = Some g -> views s i (slot a b) <= c ->
  included (views s i) w -> t < b ->
  invariant (State (mem s) (update (views s) i w) (shared s) (update (points s) i Idle) (top_seen s) (top s) b (array s)
    (at_index s) (pushed s) (taken s ++ [Take (at_index s b) (value g) i None w])).
Proof.
  intros I P M L In T. destruct (the_owner_at s i _ I P eq_refl) as (-> & (B & A) & St & C & T1 & T2 & T3).
  pose proof (the_deque _ I) as D. assert (Th : top s <= b) by (destruct (Nat.lt_ge_cases b (top s)); [specialize (C H) |]; lia).
  destruct (pop_slot_reads_its_element s b a t c g I P M L Th) as (E1 & E2).
  match goal with |- invariant ?x => set (s' := x) end.
  assert (Po : popped s s' b (Take (at_index s b) (value g) owner None w)).
  { constructor; try reflexivity; simpl; rewrite ?update_same; auto.
    - split; [assumption | eauto using included_trans].
    - exists t. split; [unfold reserved; rewrite P; reflexivity | assumption].
    - unfold written_to. simpl. rewrite update_same. simpl. lia.
    - unfold written_to. rewrite P. simpl. lia.
    - rewrite P. reflexivity.
    - unfold reserved. simpl. rewrite update_same. reflexivity. }
  eapply a_step_keeps with (i := owner) (w := w) (p := Idle); try reflexivity; try assumption; try congruence.
  - eapply popped_calm; eassumption.
  - eapply popped_deque; eassumption.
  - apply thiefs_line; simpl; auto.
Qed.

Lemma pop_claim_keeps s i b x k g g' w :
  invariant s -> points s i = PopClaim b x -> mem s Top k = Some g -> value g = b -> mem s Top (S k) = None ->
  value g' = b + 1 -> included (views s i) w -> S k <= w Top -> invariant (claims_top s i k g' w (PopReset b) x).
Proof.
  intros I P M V N V' In Rk. destruct (the_owner_at s i _ I P eq_refl) as (-> & B & T1 & T2 & X). pose proof (the_deque _ I) as D.
  destruct (a_claim_is_of_the_newest_top s k g D M N) as (E1 & E2). assert (E : top s = b) by lia.
  destruct (X E) as (X1 & X2).
  assert (Cl : claimed s (claims_top s owner k g' w (PopReset b) x) k g' (Take (at_index s (top s)) x owner (Some (top s)) w)).
  { constructor; simpl; rewrite ?update_same; auto; try congruence; try lia.
    - rewrite E. split; [assumption | eauto using included_trans].
    - unfold written_to. simpl. rewrite update_same, P. reflexivity.
    - rewrite P. reflexivity.
    - unfold reserved. simpl. rewrite update_same. discriminate. }
  eapply a_step_keeps with (i := owner) (w := w) (p := PopReset b); try reflexivity; try assumption; try congruence.
  - eapply claimed_calm; eassumption.
  - eapply claimed_deque; eassumption.
  - apply owners_line; [reflexivity | reflexivity |]. simpl. lia.
Qed.

Lemma pop_claim_lost_keeps s i b x k g w :
  invariant s -> points s i = PopClaim b x -> mem s Top k = Some g -> value g <> b -> views s i Top <= k ->
  included (views s i) w -> invariant (goes_on s i w (shared s) (PopReset b) (top_seen s)).
Proof.
  intros I P M V L In. destruct (the_owner_at s i _ I P eq_refl) as (-> & B & T1 & T2 & X). pose proof (the_deque _ I) as D.
  destruct (top_says _ D k g M) as (E1 & E2). destruct (top_bottom _ D).
  apply owner_keeps; auto; [quietly P |]. simpl. lia.
Qed.

(* ---- Every line ---- *)

Lemma the_invariant_at_first : invariant (initial first_array).
Proof.
  assert (F : forall l k (g : message location), (if k =? 0 then Some (Message (first_value first_array l) nothing_seen) else None) = Some g ->
              k = 0 /\ value g = first_value first_array l).
  { intros l k g H. destruct (Nat.eqb_spec k 0); [| discriminate]. inversion H. auto. }
  constructor.
  - constructor; simpl; auto; try lia.
    + intros k g H. apply (F Top) in H as (-> & H). simpl in H. lia.
    + intros k L. replace k with 0 by lia. discriminate.
    + intros l k g _ H. apply (F l) in H as (-> & _). unfold nothing_seen. lia.
    + intros k g _ H. apply (F Bottom) in H as (_ & H). exact H.
    + intros k g _ H. apply (F Array) in H as (_ & H). exact H.
    + intros k g H. apply (F Array) in H as (_ & H). simpl in H. lia.
    + unfold written_to. simpl. lia.
    + unfold written_to. simpl. lia.
    + intros j L k g _ H V. simpl in H. apply (F Bottom) in H as (_ & H). simpl in H. lia.
    + unfold written_to. simpl. lia.
  - intro i. apply thiefs_line; simpl; auto.
Qed.

Lemma calling_keeps s i p :
  invariant s -> points s i = Idle -> may_call owner i p = true -> invariant (goes_on s i (views s i) (shared s) p (top_seen s)).
Proof.
  intros I P M. apply view_keeps; auto using included_refl.
  - intros ->. unfold goes_quietly. rewrite P. destruct p; try discriminate M; simpl; repeat split; auto; intros; discriminate.
  - destruct p; simpl in M; try discriminate M; try (apply thiefs_line; simpl; auto; fail);
      (apply owners_line; simpl; auto); try (apply Nat.eqb_eq; assumption).
    destruct k; [destruct rest as [| ? [|]]; try discriminate |]; apply Nat.eqb_eq; assumption.
Qed.

Ltac reads H :=
  match type of H with
  | context [load location_eq ?m ?v ?o ?l ?t] =>
      let El := fresh in
      destruct (load location_eq m v o l t) as [[found w] |] eqn:El; [| discriminate H];
      apply load_says in El as (g & M & V & L & In & Rk & Aq); subst found
  end.
Ltac stores H :=
  match type of H with
  | context [store location_eq ?m ?v ?o ?l ?x ?t] =>
      let El := fresh in
      destruct (store location_eq m v o l x t) as [[m' w] |] eqn:El; [| discriminate H];
      apply store_says in El as (g & N & L & -> & V & In & Rk & Out)
  end.

Theorem every_line_keeps_the_invariant s i a s' :
  invariant s -> step first_capacity orders owner s i a = Some s' -> invariant s'.
Proof.
  intros I H. destruct a as [p | other | at_ lose].
  - simpl in H. destruct (points s i) eqn:P; try discriminate. destruct (may_call owner i p) eqn:C; [| discriminate].
    injection H as <-. apply calling_keeps; assumption.
  - simpl in H. destruct (points s i) eqn:P; try discriminate. injection H as <-.
    apply stopping_keeps; [assumption | rewrite P; reflexivity | apply join_left].
  - unfold step, note_load, note_store, note_won in H. destruct (points s i) eqn:P; simpl in H; try discriminate.
    + reads H. injection H as <-. eapply push_bottom_keeps; eassumption.
    + reads H. injection H as <-. eapply push_array_keeps; eassumption.
    + reads H. injection H as <-. exact (push_top_keeps s i k b n a rest at_ w g I P M L In Rk).
    + injection H as <-. apply (grow_keeps s i k b n a t rest lose I P).
    + destruct (Nat.eqb_spec i0 (b + n)) as [-> | Ne].
      * injection H as <-. apply (grow_ends_keeps s i k b n a t rest I P).
      * reads H. injection H as <-. eapply grow_old_keeps; eassumption.
    + stores H. injection H as <-. eapply grow_new_keeps; eassumption.
    + stores H. injection H as <-. exact (grow_publish_keeps s i k b n a rest at_ w g I P L V In Rk Out).
    + destruct rest as [| x rest].
      * injection H as <-. destruct (the_owner_at s i _ I P eq_refl) as (-> & O & _).
        apply publish_written_keeps; auto; rewrite P; reflexivity.
      * stores H. injection H as <-. exact (push_slot_keeps s i k b n a x rest at_ w g I P L V In Rk).
    + stores H. injection H as <-.
      destruct (push_publish_keeps s i k b n at_ w g I P L V In Rk Out) as (K & ->). exact K.
    + reads H. injection H as <-. eapply pop_bottom_keeps; eassumption.
    + reads H. injection H as <-. eapply pop_array_keeps; eassumption.
    + stores H. injection H as <-. eapply pop_reserve_keeps; eassumption.
    + rewrite the_owner_fences in H. injection H as <-. apply pop_fence_keeps; assumption.
    + reads H. injection H as <-. eapply pop_top_keeps; eassumption.
    + stores H. injection H as <-. eapply pop_restores_keeps; try eassumption. auto.
    + reads H. destruct (Nat.ltb_spec t b).
      * injection H as <-. exact (pop_takes_keeps s i b a t at_ w g I P M L In H0).
      * injection H as <-. eapply pop_slot_keeps; eassumption.
    + destruct lose.
      * reads H. destruct (Nat.eqb_spec (value g) b); [discriminate |]. injection H as <-.
        eapply pop_claim_lost_keeps; eassumption.
      * destruct (exchange _ _ _ _ _ _ _ _) as [[m' w] |] eqn:El; [| discriminate]. injection H as <-.
        apply exchange_says in El as (g & g' & M & V & N & L & -> & V' & In & Rk & _).
        pose proof (pop_claim_keeps s i b x at_ g g' w I P M V N V' In Rk) as K.
        unfold claims_top in K. destruct (a_claim_is_of_the_newest_top s at_ g (the_deque _ I) M N) as (E1 & E2).
        replace (top s) with b in K by lia. exact K.
    + stores H. injection H as <-. eapply pop_restores_keeps; try eassumption. auto.
    + reads H. injection H as <-. eapply steal_top_keeps; eauto.
    + rewrite a_thief_fences in H. injection H as <-. apply steal_fence_keeps; assumption.
    + reads H. injection H as <-. eapply steal_bottom_keeps; try eassumption. apply Aq, a_thief_acquires_the_bottom.
    + reads H. injection H as <-. eapply steal_array_keeps; try eassumption. apply Aq, a_thief_acquires_the_array.
    + reads H. injection H as <-. eapply steal_slot_keeps; eassumption.
    + destruct lose.
      * reads H. destruct (negb _); [| discriminate]. injection H as <-.
        apply stopping_keeps; [assumption | rewrite P; reflexivity | assumption].
      * destruct (exchange _ _ _ _ _ _ _ _) as [[m' w] |] eqn:El; [| discriminate]. injection H as <-.
        apply exchange_says in El as (g & g' & M & V & N & L & -> & V' & In & Rk & _).
        pose proof (steal_claim_keeps s i t x at_ g g' w I P M V N V' In) as K.
        unfold claims_top in K. destruct (a_claim_is_of_the_newest_top s at_ g (the_deque _ I) M N) as (E1 & E2).
        replace (top s) with t in K by lia. exact K.
    + reads H. injection H as <-. apply view_keeps; auto using included_refl.
      * intros ->. apply thief_goes_quietly; [reflexivity | rewrite P; reflexivity].
      * apply thiefs_line; simpl; auto.
    + reads H. injection H as <-. apply stopping_keeps; [assumption | rewrite P; reflexivity | assumption].
Qed.

Theorem invariant_of_every_run s : reachable first_capacity first_array orders owner s -> invariant s.
Proof. induction 1; [apply the_invariant_at_first | eauto using every_line_keeps_the_invariant]. Qed.
End proof.

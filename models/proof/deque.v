(* SPDX-License-Identifier: MIT *)
(* runq/chase_lev.hpp as a transition system: one program point per line that touches memory. *)
Require Import Arith Lia Bool List.
Require Import memory.
Require Export runs.
Import ListNotations.
Open Scope list_scope.

(* One deque. `Array` is the pointer to the array in use; arrays are numbered in the order in which they are published, and
   0 is the null pointer. Slots belong to an array. *)
Inductive location := Top | Bottom | Array | Slot (array i : nat).
Definition location_eq : forall a b : location, {a = b} + {a <> b}.
Proof. decide equality; apply Nat.eq_dec. Defined.

(* The names of the comments `// [chase_lev.NAME] order: ...`. *)
Inductive site :=
| push_bottom | push_array | push_slot | push_publish | push_top
| push_batch_bottom | push_batch_array | push_batch_slot | push_batch_publish
| grow_old | grow_new | grow_publish
| pop_bottom | pop_array | pop_reserve | pop_fence | pop_top | pop_restore | pop_slot | pop_claim | pop_reset
| steal_top | steal_fence | steal_bottom | steal_array | steal_slot | steal_claim
| has_work_top | has_work_bottom.

Inductive push_kind := Push | PushBatch.
Definition bottom_site k := match k with Push => push_bottom | PushBatch => push_batch_bottom end.
Definition array_site k := match k with Push => push_array | PushBatch => push_batch_array end.
Definition slot_site k := match k with Push => push_slot | PushBatch => push_batch_slot end.
Definition publish_site k := match k with Push => push_publish | PushBatch => push_batch_publish end.

(* Program points, with the local variables that are alive there: b an index at the bottom, t one at the top, a an array; n is
   how many slots a push has written, from index b on, and `rest` what it has still to write; x was read from a slot. *)
Inductive point :=
| Idle
| PushBottom (k : push_kind) (rest : list nat)
| PushArray (k : push_kind) (b n : nat) (rest : list nat)
| PushTop (k : push_kind) (b n a : nat) (rest : list nat)
| Grow (k : push_kind) (b n a t : nat) (rest : list nat)          (* allocates the larger array *)
| GrowOld (k : push_kind) (b n a t i : nat) (rest : list nat)     (* copies index i *)
| GrowNew (k : push_kind) (b n a t i x : nat) (rest : list nat)
| GrowPublish (k : push_kind) (b n a : nat) (rest : list nat)
| PushSlot (k : push_kind) (b n a : nat) (rest : list nat)
| PushPublish (k : push_kind) (b n : nat)
| PopBottom
| PopArray (b : nat)
| PopReserve (b a : nat)
| PopFence (b a : nat)
| PopTop (b a : nat)
| PopRestore (b : nat)
| PopSlot (b a t : nat)
| PopClaim (b x : nat)
| PopReset (b : nat)
| StealTop
| StealFence (t : nat)
| StealBottom (t : nat)
| StealArray (t : nat)
| StealSlot (t a : nat)
| StealClaim (t x : nat)
| AskTop
| AskBottom (t : nat).

(* What the line at a program point does, and where the thread goes with the answer. *)
Inductive line :=
| Stop
| Local (next : point)
| Load (x : site) (l : location) (next : nat -> point)
| Store (x : site) (l : location) (v : nat) (next : point)
| Claim (x : site) (l : location) (expected desired : nat) (won lost : point)
| Fence (x : site) (next : point)
| Allocate (made failed : point).

Section code.
Variable first_capacity : nat.
Variable seen : nat. (* full_at_, less the capacity of the array *)

(* Each array is twice as large as the one before. *)
Definition capacity (a : nat) : nat := match a with 0 => 0 | S a => first_capacity * 2 ^ a end.
Definition slot (a j : nat) : location := Slot a (j mod capacity a).

(* A push that writes no more publishes what it has written. *)
Definition publish_written k b n : point := if n =? 0 then Idle else PushPublish k b n.
Definition push_next k b n (rest : list nat) : point :=
  match rest with [] => publish_written k b n | _ => PushArray k b n rest end.

Definition code (p : point) : line :=
  match p with
  | Idle => Stop
  | PushBottom k rest => Load (bottom_site k) Bottom (fun b => push_next k b 0 rest)
  | PushArray k b n rest =>
      Load (array_site k) Array
        (fun a => if b + n - seen <? capacity a then PushSlot k b n a rest
                  else if a =? 0 then Grow k b n a (b + n) rest else PushTop k b n a rest)
  | PushTop k b n a rest =>
      Load push_top Top
        (fun t => if b + n - t <? capacity a then PushSlot k b n a rest else Grow k b n a t rest)
  | Grow k b n a t rest => Allocate (GrowOld k b n a t t rest) (publish_written k b n)
  | GrowOld k b n a t i rest =>
      if i =? b + n then Local (GrowPublish k b n a rest)
      else Load grow_old (slot a i) (fun x => GrowNew k b n a t i x rest)
  | GrowNew k b n a t i x rest => Store grow_new (slot (S a) i) x (GrowOld k b n a t (S i) rest)
  | GrowPublish k b n a rest => Store grow_publish Array (S a) (PushSlot k b n (S a) rest)
  | PushSlot k b n a [] => Local (publish_written k b n)
  | PushSlot k b n a (v :: rest) => Store (slot_site k) (slot a (b + n)) v (push_next k b (S n) rest)
  | PushPublish k b n => Store (publish_site k) Bottom (b + n) Idle
  | PopBottom => Load pop_bottom Bottom (fun b => PopArray (b - 1))
  | PopArray b => Load pop_array Array (fun a => if a =? 0 then Idle else PopReserve b a)
  | PopReserve b a => Store pop_reserve Bottom b (PopFence b a)
  | PopFence b a => Fence pop_fence (PopTop b a)
  | PopTop b a => Load pop_top Top (fun t => if b <? t then PopRestore b else PopSlot b a t)
  | PopRestore b => Store pop_restore Bottom (b + 1) Idle
  | PopSlot b a t => Load pop_slot (slot a b) (fun x => if t <? b then Idle else PopClaim b x)
  | PopClaim b x => Claim pop_claim Top b (b + 1) (PopReset b) (PopReset b)
  | PopReset b => Store pop_reset Bottom (b + 1) Idle
  | StealTop => Load steal_top Top StealFence
  | StealFence t => Fence steal_fence (StealBottom t)
  | StealBottom t => Load steal_bottom Bottom (fun b => if b <=? t then Idle else StealArray t)
  | StealArray t => Load steal_array Array (StealSlot t)
  | StealSlot t a => Load steal_slot (slot a t) (StealClaim t)
  | StealClaim t x => Claim steal_claim Top t (t + 1) Idle Idle
  | AskTop => Load has_work_top Top AskBottom
  | AskBottom t => Load has_work_bottom Bottom (fun _ => Idle)
  end.
End code.

(* What the proof notes down, and no line reads: an element, by its number in the order of the pushes, and with what its pusher
   had seen; and who took which element, what it got for it, and at which top, if by a compare-exchange. *)
Record element := Element { number : nat; what : nat; pushed_with : view location }.
Record take := Take {
  taken_element : element; got : nat; taker : nat; claimed_at : option nat; taken_with : view location
}.

Record state := State {
  mem : memory location;
  views : nat -> view location;
  shared : view location;            (* of all fences *)
  points : nat -> point;
  top_seen : nat;
  (* Noted down: *)
  top : nat;
  bottom : nat;                      (* as operations have taken effect: a pop that only reserves has not *)
  array : nat;                       (* the one in use *)
  at_index : nat -> element;         (* which element was last written at an index *)
  pushed : list element;             (* in the order in which they were published *)
  taken : list take                  (* in the order in which they were taken *)
}.
(* The elements in the deque, from the top to the bottom. *)
Definition content (s : state) : list element := map (at_index s) (seq (top s) (bottom s - top s)).

Definition update {A} (f : nat -> A) (i : nat) (x : A) : nat -> A := fun j => if j =? i then x else f j.

Inductive action :=
| Call (p : point)                 (* an operation begins *)
| Meet (other : nat)               (* the thread synchronises with another one, by whatever the program has *)
| Go (at_ : nat) (lose : bool).    (* the next line; `lose`: a compare-exchange, or an allocation, fails *)

Section machine.
Variable first_capacity : nat.
Variable first_array : nat. (* 0, or 1 if the constructor makes an array *)
Variable orders : site -> order.
Variable owner : nat.

(* Indices count from 1, because a pop from an empty deque goes one below the first index; in the header they count from 0. *)
Definition first_value (l : location) : nat :=
  match l with Top | Bottom => 1 | Array => first_array | Slot _ _ => 0 end.
Definition initial : state :=
  State (fun l at_ => if at_ =? 0 then Some (Message (first_value l) nothing_seen) else None)
    (fun _ => nothing_seen) nothing_seen (fun _ => Idle) 1 1 1 first_array (fun _ => Element 0 0 nothing_seen) [] [].

Definition may_call (i : nat) (p : point) : bool :=
  match p with
  | PushBottom Push [_] | PushBottom PushBatch _ | PopBottom => i =? owner
  | StealTop | AskTop => true
  | _ => false
  end.

Definition go_to (s : state) (i : nat) (m : memory location) (v sh : view location) (p : point) : state :=
  State m (update (views s) i v) sh (update (points s) i p) (top_seen s) (top s) (bottom s) (array s) (at_index s)
    (pushed s) (taken s).
Definition note_top_seen (s : state) (t : nat) : state :=
  State (mem s) (views s) (shared s) (points s) t (top s) (bottom s) (array s) (at_index s) (pushed s) (taken s).
Definition note_take (s : state) (t b j x i : nat) (at_ : option nat) (v : view location) : state :=
  State (mem s) (views s) (shared s) (points s) (top_seen s) t b (array s) (at_index s) (pushed s)
    (taken s ++ [Take (at_index s j) x i at_ v]).
Definition note_written (s : state) (j : nat) (e : element) : state :=
  State (mem s) (views s) (shared s) (points s) (top_seen s) (top s) (bottom s) (array s) (update (at_index s) j e)
    (pushed s) (taken s).
Definition note_pushed (s : state) (n : nat) : state :=
  State (mem s) (views s) (shared s) (points s) (top_seen s) (top s) (bottom s + n) (array s) (at_index s)
    (pushed s ++ map (at_index s) (seq (bottom s) n)) (taken s).
Definition note_array (s : state) (a : nat) : state :=
  State (mem s) (views s) (shared s) (points s) (top_seen s) (top s) (bottom s) a (at_index s) (pushed s) (taken s).

Definition note_load (s : state) (i x : nat) (v : view location) : state :=
  match points s i with
  | PushTop _ _ _ _ _ => note_top_seen s x
  | PopSlot b _ t => if t <? b then note_take s (top s) b b x i None v else s
  | _ => s
  end.
Definition note_store (s : state) (i : nat) : state :=
  match points s i with
  | PushSlot _ b n _ (x :: _) => note_written s (b + n) (Element (List.length (pushed s) + n) x (views s i))
  | PushPublish _ _ n => note_pushed s n
  | GrowPublish _ _ _ a _ => note_array s (S a)
  | _ => s
  end.
Definition note_won (s : state) (i : nat) (v : view location) : state :=
  match points s i with
  | PopClaim b x => note_take s (b + 1) (bottom s) b x i (Some b) v
  | StealClaim t x => note_take s (t + 1) (bottom s) t x i (Some t) v
  | _ => s
  end.

Definition step (s : state) (i : nat) (a : action) : option state :=
  match a with
  | Call p =>
      match points s i with
      | Idle => if may_call i p then Some (go_to s i (mem s) (views s i) (shared s) p) else None
      | _ => None
      end
  | Meet other =>
      match points s i with
      | Idle => Some (go_to s i (mem s) (join (views s i) (views s other)) (shared s) Idle)
      | _ => None
      end
  | Go at_ lose =>
      match code first_capacity (top_seen s) (points s i) with
      | Stop => None
      | Local next => Some (go_to s i (mem s) (views s i) (shared s) next)
      | Load x l next =>
          match load location_eq (mem s) (views s i) (orders x) l at_ with
          | Some (v, w) => Some (go_to (note_load s i v w) i (mem s) w (shared s) (next v))
          | None => None
          end
      | Store x l v next =>
          match store location_eq (mem s) (views s i) (orders x) l v at_ with
          | Some (m, w) => Some (go_to (note_store s i) i m w (shared s) next)
          | None => None
          end
      | Claim x l expected desired won lost =>
          if lose then
            match load location_eq (mem s) (views s i) relaxed l at_ with
            | Some (v, w) => if negb (v =? expected) then Some (go_to s i (mem s) w (shared s) lost) else None
            | None => None
            end
          else
            match exchange location_eq (mem s) (views s i) (orders x) l expected desired at_ with
            | Some (m, w) => Some (go_to (note_won s i w) i m w (shared s) won)
            | None => None
            end
      | Fence x next =>
          let (w, sh) := fence (views s i) (shared s) (orders x) in Some (go_to s i (mem s) w sh next)
      | Allocate made failed => Some (go_to s i (mem s) (views s i) (shared s) (if lose then failed else made))
      end
  end.
End machine.

Notation reachable first_capacity first_array orders owner :=
  (runs.reachable (initial first_array) (step first_capacity orders owner)).

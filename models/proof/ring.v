(* SPDX-License-Identifier: MIT *)
(* runq/ring.hpp as a transition system: one program point per line that touches memory. *)
Require Import Arith Lia Bool List String.
Require Import memory.
Require Export runs.
Import ListNotations.
Open Scope list_scope.

(* Rings, threads and elements are numbers. Of each ring: its head, its tail, its slots. *)
Inductive location := Head (r : nat) | Tail (r : nat) | Slot (r i : nat).
Definition location_eq : forall a b : location, {a = b} + {a <> b}.
Proof. decide equality; apply Nat.eq_dec. Defined.

(* The names of the comments `// [ring.NAME] order: ...`. *)
Inductive site :=
| push_tail | push_slot | push_publish
| push_batch_tail | push_batch_slot | push_batch_publish
| pop_tail | pop_head | pop_slot | pop_claim
| drain_tail | drain_head | drain_claim | drain_slot
| shed_head | shed_tail | shed_slot | shed_claim
| room_head
| steal_head | steal_tail | steal_own_tail | steal_slot | steal_own_slot | steal_claim | steal_publish.

Inductive push_kind := Push | PushBatch | Publish (* the end of steal_half_into *).
Inductive take_kind :=
| Pop
| Shed (at_least : nat)          (* 2: shed_half; the capacity: shed_half_of_full *)
| StealOne
| StealOut (limit : nat)         (* steal_half: the size of `out` *)
| StealInto (mine limit : nat)   (* steal_half_into: the ring of the caller, and the limit *)
| Observe.

(* Whether only the owner takes in this way. *)
Definition of_owner (k : take_kind) : bool := match k with Pop | Shed _ => true | _ => false end.

Definition tail_site_of_push k :=
  match k with Push => push_tail | PushBatch => push_batch_tail | Publish => steal_own_tail end.
Definition slot_site_of_push k :=
  match k with Push => push_slot | PushBatch => push_batch_slot | Publish => steal_own_slot end.
Definition publish_site k :=
  match k with Push => push_publish | PushBatch => push_batch_publish | Publish => steal_publish end.
Definition head_site k :=
  match k with
  | Pop => pop_head | Shed _ => shed_head
  | StealOne | StealOut _ | StealInto _ _ | Observe => steal_head
  end.
Definition tail_site k :=
  match k with
  | Pop => pop_tail | Shed _ => shed_tail
  | StealOne | StealOut _ | StealInto _ _ | Observe => steal_tail
  end.
Definition slot_site k :=
  match k with
  | Pop => pop_slot | Shed _ => shed_slot
  | StealOne | StealOut _ | StealInto _ _ | Observe => steal_slot
  end.
Definition claim_site k :=
  match k with
  | Pop => pop_claim | Shed _ => shed_claim
  | StealOne | StealOut _ | StealInto _ _ | Observe => steal_claim
  end.

(* Program points, with the local variables that are alive there: r the ring, h the head and t the tail that were read, n how
   many to take, m the ring of a thief and mt its tail. `got` and `written` list what was read from slots and written to
   slots, each with the timestamp of its message. Timestamps are for the proof; the program does not look at them. *)
Inductive point :=
| Idle
| PushTail (k : push_kind) (r : nat) (values : list nat)
| PushRoom (k : push_kind) (r : nat) (values : list nat) (t : nat)
| PushHead (k : push_kind) (r : nat) (values : list nat) (t : nat)
| PushSlot (k : push_kind) (r t : nat) (rest : list nat) (written : list (nat * nat))
| PushPublish (k : push_kind) (r t : nat) (written : list (nat * nat))
| PopTail (r : nat)
| PopHead (r t : nat)
| TakeHead (k : take_kind) (r : nat)
| TakeTail (k : take_kind) (r h : nat)
| TakeSlot (k : take_kind) (r h t n : nat) (got : list (nat * nat))
| TakeClaim (k : take_kind) (r h t : nat) (got : list (nat * nat))
| IntoTail (r m h t wanted : nat)
| IntoRoom (r m h t wanted mt : nat)
| IntoHead (r m h t wanted mt : nat)
| IntoSlot (r m h t mt n : nat) (got written : list (nat * nat))
| IntoStore (r m h t mt n : nat) (got written : list (nat * nat)) (v : nat)
| IntoNewest (r m h t mt : nat) (got written : list (nat * nat))
| IntoClaim (r m h t mt : nat) (got written : list (nat * nat))
| DrainTail (r : nat)
| DrainHead (r t : nat)
| DrainClaim (r h t : nat)
| DrainSlot (r h t : nat) (got : list (nat * nat)).

(* What the line at a program point does, and where the thread goes with the answer. *)
Inductive line :=
| Stop
| Local (next : point)
| Load (x : site) (l : location) (next : nat -> nat -> point)  (* of the value, and its timestamp *)
| Store (x : site) (l : location) (v : nat) (next : nat -> point)
| Claim (x : site) (l : location) (expected desired : nat) (weak : bool) (won lost : point).

Section code.
Variable capacity : nat.
Variable seen : nat -> nat. (* head_seen_ of each ring *)

Definition room_at (t h : nat) : nat := capacity - (t - h).

Definition push_with_room k r values t room : point :=
  match firstn room values with [] => Idle | some => PushSlot k r t some [] end.

(* What a taker does once it has read head and tail. A tail behind the head is a distance beyond any capacity. *)
Definition take_between k r h t : point :=
  match k with
  | Shed at_least => if t - h <? at_least then Idle else TakeSlot k r h t ((t - h) / 2) []
  | Pop | Observe => Idle
  | StealOne => if (h <? t) && (t <=? h + capacity) then TakeSlot k r h t 1 [] else Idle
  | StealOut limit =>
      if (h <? t) && (t <=? h + capacity)
      then TakeSlot k r h t (Nat.min ((t - h) - (t - h) / 2) limit) [] else Idle
  | StealInto m limit =>
      if (h <? t) && (t <=? h + capacity)
      then IntoTail r m h t (Nat.min ((t - h) - (t - h) / 2) (Nat.max limit 1)) else Idle
  end.

Definition slot r at_ : location := Slot r (at_ mod capacity).

Definition code (p : point) : line :=
  match p with
  | Idle => Stop
  | PushTail k r values => Load (tail_site_of_push k) (Tail r) (fun t _ => PushRoom k r values t)
  | PushRoom k r values t =>
      Local (if List.length values <=? room_at t (seen r) then push_with_room k r values t (room_at t (seen r))
             else PushHead k r values t)
  | PushHead k r values t => Load room_head (Head r) (fun h _ => push_with_room k r values t (room_at t h))
  | PushSlot k r t [] written => Local (PushPublish k r t written)
  | PushSlot k r t (v :: rest) written =>
      Store (slot_site_of_push k) (slot r (t + List.length written)) v
        (fun at_ => PushSlot k r t rest (written ++ [(v, at_)]))
  | PushPublish k r t written => Store (publish_site k) (Tail r) (t + List.length written) (fun _ => Idle)
  | PopTail r => Load pop_tail (Tail r) (fun t _ => PopHead r t)
  | PopHead r t => Load pop_head (Head r) (fun h _ => if h =? t then Idle else TakeSlot Pop r h t 1 [])
  | TakeHead k r => Load (head_site k) (Head r) (fun h _ => TakeTail k r h)
  | TakeTail k r h => Load (tail_site k) (Tail r) (fun t _ => take_between k r h t)
  | TakeSlot k r h t n got =>
      if List.length got <? n
      then Load (slot_site k) (slot r (h + List.length got)) (fun v at_ => TakeSlot k r h t n (got ++ [(v, at_)]))
      else Local (TakeClaim k r h t got)
  | TakeClaim k r h t got =>
      match k with
      | Pop => Claim pop_claim (Head r) h (h + List.length got) true Idle (PopHead r t)
      | _ => Claim (claim_site k) (Head r) h (h + List.length got) false Idle Idle
      end
  | IntoTail r m h t wanted => Load steal_own_tail (Tail m) (fun mt _ => IntoRoom r m h t wanted mt)
  | IntoRoom r m h t wanted mt =>
      Local (if wanted - 1 <=? room_at mt (seen m)
             then IntoSlot r m h t mt (Nat.min wanted (room_at mt (seen m) + 1)) [] []
             else IntoHead r m h t wanted mt)
  | IntoHead r m h t wanted mt =>
      Load room_head (Head m) (fun mh _ => IntoSlot r m h t mt (Nat.min wanted (room_at mt mh + 1)) [] [])
  | IntoSlot r m h t mt n got written =>
      if List.length got + 1 <? n
      then Load steal_slot (slot r (h + List.length got))
             (fun v at_ => IntoStore r m h t mt n (got ++ [(v, at_)]) written v)
      else Local (IntoNewest r m h t mt got written)
  | IntoStore r m h t mt n got written v =>
      Store steal_own_slot (slot m (mt + List.length written)) v
        (fun at_ => IntoSlot r m h t mt n got (written ++ [(v, at_)]))
  | IntoNewest r m h t mt got written =>
      Load steal_slot (slot r (h + List.length got)) (fun v at_ => IntoClaim r m h t mt (got ++ [(v, at_)]) written)
  | IntoClaim r m h t mt got written =>
      Claim steal_claim (Head r) h (h + List.length got) false
        (match written with [] => Idle | _ => PushPublish Publish m mt written end) Idle
  | DrainTail r => Load drain_tail (Tail r) (fun t _ => DrainHead r t)
  | DrainHead r t => Load drain_head (Head r) (fun h _ => if h =? t then Idle else DrainClaim r h t)
  | DrainClaim r h t => Claim drain_claim (Head r) h t true (DrainSlot r h t []) (DrainHead r t)
  | DrainSlot r h t got =>
      if List.length got <? t - h
      then Load drain_slot (slot r (h + List.length got)) (fun v at_ => DrainSlot r h t (got ++ [(v, at_)]))
      else Local Idle
  end.
End code.

(* What the proof notes down, and no line reads: *)
Record element := Element { what : nat; written_at : nat; pushed_with : view location }.
Record claim := Made {
  first : nat; taken : list nat; by_thread : nat;
  kind_of : option take_kind;        (* none: drain *)
  tail_read : nat;                   (* the tail that the claimer had read *)
  pushed_then : nat;                 (* how many had been pushed at the moment of the claim *)
  claimed_with : view location       (* the claimer's view after the claim *)
}.
Record empty_answer := Empty { of_ring : nat; head_then : nat; tail_at : nat; asked_by : nat }.

Record state := State {
  mem : memory location;
  views : nat -> view location;
  points : nat -> point;
  head_seen : nat -> nat;
  pushed : nat -> list element;      (* of each ring, everything ever published, in order *)
  claims : nat -> list claim;        (* of each ring, in the order of its head *)
  empties : list empty_answer
}.

Definition update {A} (f : nat -> A) (i : nat) (x : A) : nat -> A := fun j => if j =? i then x else f j.

Definition initial : state :=
  State initial_memory (fun _ => nothing_seen) (fun _ => Idle) (fun _ => 0) (fun _ => []) (fun _ => []) [].

(* Which message a thread reads, or where it puts its own, and whether a compare-exchange fails, is up to the machine. *)
Inductive action :=
| Call (p : point)                 (* an operation begins *)
| Meet (other : nat)               (* the thread synchronises with another one, by whatever the program has *)
| Go (at_ : nat) (lose : bool).    (* the next line *)

Section machine.
Variable capacity : nat.
Variable orders : site -> order.
Variable owner : nat -> nat. (* the thread that holds the owner handle of a ring *)

Definition may_call (i : nat) (p : point) : bool :=
  match p with
  | PushTail Publish _ _ => false
  | PushTail _ r _ | PopTail r | DrainTail r | TakeHead (Shed _) r => owner r =? i
  | TakeHead (StealInto m _) r => (owner m =? i) && negb (m =? r)
  | TakeHead Pop _ => false
  | TakeHead _ _ => true
  | _ => false
  end.

Definition note_load (s : state) (i : nat) (x at_ : nat) : state :=
  match points s i with
  | PushHead _ r _ _ | IntoHead _ r _ _ _ _ =>
      State (mem s) (views s) (points s) (update (head_seen s) r x) (pushed s) (claims s) (empties s)
  | TakeTail k r h =>
      if negb (of_owner k) && (x =? h)
      then State (mem s) (views s) (points s) (head_seen s) (pushed s) (claims s) (Empty r h at_ i :: empties s)
      else s
  | _ => s
  end.
Definition note_store (s : state) (i : nat) (v : view location) : state :=
  match points s i with
  | PushPublish _ r _ written =>
      State (mem s) (views s) (points s) (head_seen s)
        (update (pushed s) r (pushed s r ++ map (fun w => Element (fst w) (snd w) v) written)) (claims s) (empties s)
  | _ => s
  end.
Definition note_claim (s : state) (r : nat) (c : claim) : state :=
  State (mem s) (views s) (points s) (head_seen s) (pushed s) (update (claims s) r (claims s r ++ [c])) (empties s).
Definition note_won (s : state) (i : nat) (v : view location) : state :=
  match points s i with
  | TakeClaim k r h t got => note_claim s r (Made h (map fst got) i (Some k) t (List.length (pushed s r)) v)
  | IntoClaim r m h t _ got _ =>
      note_claim s r (Made h (map fst got) i (Some (StealInto m 0)) t (List.length (pushed s r)) v)
  | DrainClaim r h t => (* the slots are read later: DrainSlot *)
      note_claim s r (Made h (map what (firstn (t - h) (skipn h (pushed s r)))) i None t (List.length (pushed s r)) v)
  | _ => s
  end.

Definition go_to (s : state) (i : nat) (m : memory location) (v : view location) (p : point) : state :=
  State m (update (views s) i v) (update (points s) i p) (head_seen s) (pushed s) (claims s) (empties s).

Definition step (s : state) (i : nat) (a : action) : option state :=
  match a with
  | Call p =>
      match points s i with
      | Idle => if may_call i p then Some (go_to s i (mem s) (views s i) p) else None
      | _ => None
      end
  | Meet other =>
      match points s i with
      | Idle => Some (go_to s i (mem s) (join (views s i) (views s other)) Idle)
      | _ => None
      end
  | Go at_ lose =>
      match code capacity (head_seen s) (points s i) with
      | Stop => None
      | Local next => Some (go_to s i (mem s) (views s i) next)
      | Load x l next =>
          match load location_eq (mem s) (views s i) (orders x) l at_ with
          | Some (v, w) => Some (go_to (note_load s i v at_) i (mem s) w (next v at_))
          | None => None
          end
      | Store x l v next =>
          match store location_eq (mem s) (views s i) (orders x) l v at_ with
          | Some (m, w) => Some (go_to (note_store s i (views s i)) i m w (next at_))
          | None => None
          end
      | Claim x l expected desired weak won lost =>
          if lose then
            match load location_eq (mem s) (views s i) relaxed l at_ with
            | Some (v, w) => if weak || negb (v =? expected) then Some (go_to s i (mem s) w lost) else None
            | None => None
            end
          else
            match exchange location_eq (mem s) (views s i) (orders x) l expected desired at_ with
            | Some (m, w) => Some (go_to (note_won s i w) i m w won)
            | None => None
            end
      end
  end.
End machine.

Notation reachable capacity orders owner := (runs.reachable initial (step capacity orders owner)).

(* SPDX-License-Identifier: MIT *)
(* runq/protocol/park.hpp as a transition system: one program point per line that touches an atomic, and one per lock. *)
Require Import Arith Lia Bool List.
Require Import memory.
Require Export runs.
Import ListNotations.
Open Scope list_scope.

(* A place says whether a queue holds a task: 1 or 0. Any queue has any number of places. *)
Inductive location := Spinning | Need | Place (p : nat).
Definition location_eq : forall a b : location, {a = b} + {a <> b}.
Proof. decide equality; apply Nat.eq_dec. Defined.

(* The names of the comments `// [park.NAME] order: ...`. *)
Inductive site :=
| submit_fence | submit_spinning | submit_need | one_again | need_set | one_spin | need_clear
| spin | found | need_heed | machine_idle_spinning | machine_idle_fence | doze_spinning | doze_fence | need_set_late.

(* What a thread is between two calls: without a processor, or a machine that holds one and runs a task, or holds one and
   spins, or sleeps (or was not started, or has left). *)
Inductive home := Outside | Busy | Spins | Asleep.

(* `h` is where the thread goes on after submitted(); m is the machine that it wakes. *)
Inductive point :=
| At (h : home)
| SubmitFence (h : home)
| SubmitSpinning (h : home)
| SubmitNeed (h : home)
| OneLock (h : home)
| OneAgain (h : home)
| OneNeed (h : home)
| OneSpin (h : home)
| OneWake (h : home) (m : nat)            (* releases the lock and wakes m *)
| Unlock (h : home)
| SpinAdd (locked : bool)                 (* become_spinning(); with the lock held, it may go on as one that has found nothing *)
| Found
| BusyLock                                (* machine_idle() of a machine that does not spin *)
| BusyNeed
| IdleLock (doze : bool)                  (* machine_idle() or machine_dozes() of one that does *)
| IdleClear (doze : bool)
| IdleUnlock (doze : bool)
| IdleSpinning (doze : bool)
| IdleFence (doze : bool)
| Dozing (p : nat)
| Look (p : nat)                          (* looks at place p *)
| BackLock
| LateNeed.

(* Where a machine is that sleeps or is about to: in the idle list; taken out of it by a waker; woken, with what its waker
   had seen. *)
Inductive place_in_list := Out | Listed | Called | Woken (seen : view location).

Record state := State {
  mem : memory location;
  views : nat -> view location;
  points : nat -> point;
  heavy : view location;             (* what all heavy fences have seen *)
  all : view location;               (* what all fences have seen *)
  holder : option nat;               (* of the lock *)
  lock_view : view location;         (* what its last holder had seen *)
  listed : nat -> place_in_list;
  free : nat;                        (* idle processors *)
  (* Noted down, and no line reads it: *)
  counted : list nat;                (* the machines of which `spinning_` is the number, each as often as it is counted *)
  top : nat;                         (* the timestamp of the newest message of Spinning *)
  cleared : nat;                     (* the newest message of Need that withdraws a request *)
  told : nat                         (* the newest of these that a machine knew that had found work *)
}.

Definition update {A} (f : nat -> A) (i : nat) (x : A) : nat -> A := fun j => if j =? i then x else f j.

(* One occurrence less. *)
Fixpoint without (i : nat) (l : list nat) : list nat :=
  match l with [] => [] | j :: l => if j =? i then l else j :: without i l end.

Inductive call := Publish (p : nat) | Ask | Take (p : nat) | MaySpin | HasFound | GoIdle | GoDoze | Wake | Leave | ComeBack | GoAsleep.
Inductive action :=
| Do (c : call) (o : order) (at_ : nat)   (* a thread between two calls does this; `o`: of its access to a place *)
| Meet (other : nat)                      (* the thread synchronises with another one, by whatever the program has *)
| Go (at_ choice : nat).                  (* the next line *)

(* What the counter-examples change besides orders. *)
Record protocol := Protocol {
  orders : site -> order;
  places_looked_at : nat;                 (* by the last look *)
  found_submits : bool                    (* whether found() does what submitted() does *)
}.

Section machine.
Variable rules : protocol.
Variable first : nat -> home.
Variable processors : nat.

Definition initial : state :=
  State initial_memory (fun _ => nothing_seen) (fun i => At (first i)) nothing_seen nothing_seen None nothing_seen
    (fun _ => Out) processors [] 0 0 0.

(* Thread i has now this view, and is at this point. *)
Definition to (s : state) (i : nat) (v : view location) (p : point) : state :=
  State (mem s) (update (views s) i v) (update (points s) i p) (heavy s) (all s) (holder s) (lock_view s) (listed s) (free s)
    (counted s) (top s) (cleared s) (told s).
Definition with_memory (s : state) (m : memory location) : state :=
  State m (views s) (points s) (heavy s) (all s) (holder s) (lock_view s) (listed s) (free s) (counted s) (top s) (cleared s) (told s).
Definition with_fences (s : state) (h a : view location) : state :=
  State (mem s) (views s) (points s) h a (holder s) (lock_view s) (listed s) (free s) (counted s) (top s) (cleared s) (told s).
Definition with_lock (s : state) (h : option nat) (v : view location) : state :=
  State (mem s) (views s) (points s) (heavy s) (all s) h v (listed s) (free s) (counted s) (top s) (cleared s) (told s).
Definition with_list (s : state) (m : nat) (x : place_in_list) (n : nat) : state :=
  State (mem s) (views s) (points s) (heavy s) (all s) (holder s) (lock_view s) (update (listed s) m x) n (counted s) (top s)
    (cleared s) (told s).
Definition with_count (s : state) (l : list nat) (t : nat) : state :=
  State (mem s) (views s) (points s) (heavy s) (all s) (holder s) (lock_view s) (listed s) (free s) l t (cleared s) (told s).
Definition with_cleared (s : state) (n : nat) : state :=
  State (mem s) (views s) (points s) (heavy s) (all s) (holder s) (lock_view s) (listed s) (free s) (counted s) (top s) n (told s).
Definition with_told (s : state) (n : nat) : state :=
  State (mem s) (views s) (points s) (heavy s) (all s) (holder s) (lock_view s) (listed s) (free s) (counted s) (top s) (cleared s) n.

Definition reads (s : state) (i : nat) (x : site) (l : location) (at_ : nat) (next : nat -> point) : option state :=
  match load location_eq (mem s) (views s i) (orders rules x) l at_ with
  | Some (n, v) => Some (to s i v (next n))
  | None => None
  end.
Definition writes (s : state) (i : nat) (o : order) (l : location) (n at_ : nat) (next : point) : option state :=
  match store location_eq (mem s) (views s i) o l n at_ with
  | Some (m, v) => Some (to (with_memory s m) i v next)
  | None => None
  end.
Definition clears (s : state) (i at_ : nat) (next : point) : option state :=
  option_map (fun s' => with_cleared s' (Nat.max (cleared s) at_)) (writes s i (orders rules need_clear) Need 0 at_ next).
(* The count is read and written in one access; `l` is the list afterwards. *)
Definition counts (s : state) (i : nat) (x : site) (l : list nat) (next : point) : option state :=
  match exchange location_eq (mem s) (views s i) (orders rules x) Spinning (length (counted s)) (length l) (top s) with
  | Some (m, v) => Some (to (with_count (with_memory s m) l (S (top s))) i v next)
  | None => None
  end.
(* A light fence sees what the heavy ones had seen, and is seen by them; a heavy one sees all. Weaker ones do nothing. *)
Definition light_fence (s : state) (i : nat) (x : site) (next : point) : state :=
  match orders rules x with
  | seq_cst => let v := join (views s i) (heavy s) in to (with_fences s (heavy s) (join (all s) v)) i v next
  | _ => to s i (views s i) next
  end.
Definition heavy_fence (s : state) (i : nat) (x : site) (next : point) : state :=
  match orders rules x with
  | seq_cst => let v := join (views s i) (all s) in to (with_fences s v v) i v next
  | _ => to s i (views s i) next
  end.
Definition locks (s : state) (i : nat) (next : point) : option state :=
  match holder s with
  | None => Some (to (with_lock s (Some i) (lock_view s)) i (join (views s i) (lock_view s)) next)
  | Some _ => None
  end.
Definition unlocks (s : state) (i : nat) (next : point) : state :=
  to (with_lock s None (views s i)) i (views s i) next.

Definition may_be_called (s : state) (m : nat) : bool :=
  match listed s m, points s m with
  | Listed, _ | Out, At Asleep => true     (* one that sleeps; or one that is started *)
  | _, _ => false
  end.

Definition do (s : state) (i : nat) (h : home) (c : call) (o : order) (at_ : nat) : option state :=
  match c, h with
  | Publish p, _ => writes s i o (Place p) 1 at_ (SubmitFence h)
  | Ask, _ => Some (to s i (views s i) (SubmitFence h))   (* submitted() once more *)
  | Take p, _ =>                                          (* finds a task, or comes too late *)
      match mem s (Place p) at_ with
      | Some g =>
          match exchange location_eq (mem s) (views s i) o (Place p) (value g) 0 at_ with
          | Some (m, v) => Some (to (with_memory s m) i v (At h))
          | None => None
          end
      | None => None
      end
  | MaySpin, Busy => Some (to s i (views s i) (SpinAdd false))
  | HasFound, Spins => Some (to s i (views s i) Found)
  | GoIdle, Busy => Some (to s i (views s i) BusyLock)
  | GoIdle, Spins => Some (to s i (views s i) (IdleLock false))
  | GoDoze, Spins => Some (to s i (views s i) (IdleLock true))
  | Wake, Asleep =>
      match listed s i with Woken v => Some (to (with_list s i Out (free s)) i (join (views s i) v) (At Spins)) | _ => None end
  | Leave, Asleep =>
      match listed s i, holder s with Listed, None => Some (with_list s i Out (free s)) | _, _ => None end
  | ComeBack, Outside =>
      match free s, holder s with S n, None => Some (with_list (to s i (views s i) (At Busy)) i (listed s i) n) | _, _ => None end
  | GoAsleep, Outside =>
      match listed s i, holder s with Out, None => Some (with_list (to s i (views s i) (At Asleep)) i Listed (free s)) | _, _ => None end
  | _, _ => None
  end.

Definition go (s : state) (i : nat) (at_ choice : nat) : option state :=
  match points s i with
  | At h => None
  | SubmitFence h => Some (light_fence s i submit_fence (SubmitNeed h))
  | SubmitNeed h => reads s i submit_need Need at_ (fun n => if n =? 0 then SubmitSpinning h else At h)
  | SubmitSpinning h => reads s i submit_spinning Spinning at_ (fun n => if n =? 0 then OneLock h else At h)
  | OneLock h => match choice with 0 => locks s i (OneAgain h) | _ => Some (to s i (views s i) (SubmitNeed h)) end
  | OneAgain h =>
      reads s i one_again Spinning at_ (fun n => if n =? 0 then if free s =? 0 then OneNeed h else OneSpin h else Unlock h)
  | OneNeed h => writes s i (orders rules need_set) Need 1 at_ (Unlock h)
  | OneSpin h =>
      if may_be_called s choice
      then option_map (fun s' => with_list s' choice Called (free s - 1))
             (counts s i one_spin (choice :: counted s) (OneWake h choice))
      else None
  | OneWake h m => Some (with_list (unlocks s i (At h)) m (Woken (views s i)) (free s))
  | Unlock h => Some (unlocks s i (At h))
  | SpinAdd locked =>
      counts s i spin (i :: counted s)
        (if locked then match choice with 0 => Unlock Spins | _ => IdleClear false end else At Spins)
  | Found =>
      option_map (fun s' => with_told s' (views s' i Need))
        (counts s i found (without i (counted s)) (if found_submits rules then SubmitFence Busy else At Busy))
  | BusyLock => locks s i BusyNeed
  | BusyNeed =>
      match load location_eq (mem s) (views s i) (orders rules need_heed) Need at_ with
      | Some (0, v) => Some (with_list (to s i v (Unlock Asleep)) i Listed (S (free s)))
      | Some (_, v) => Some (to s i v (SpinAdd true))
      | None => None
      end
  | IdleLock d => locks s i (IdleClear d)
  | IdleClear d => option_map (fun s' => with_list s' i Listed (S (free s))) (clears s i at_ (IdleUnlock d))
  | IdleUnlock d => Some (unlocks s i (IdleSpinning d))
  | IdleSpinning d =>
      counts s i (if d then doze_spinning else machine_idle_spinning) (without i (counted s)) (IdleFence d)
  | IdleFence true => Some (heavy_fence s i doze_fence (Dozing 0))
  | IdleFence false => Some (heavy_fence s i machine_idle_fence (Look 0))
  | Dozing p =>
      match choice with
      | 0 => (* one look *)
          match load location_eq (mem s) (views s i) relaxed (Place p) at_ with
          | Some (n, v) => Some (to s i v (if n =? 0 then Dozing (if S p <? places_looked_at rules then S p else 0) else IdleFence false))
          | None => None
          end
      | 1 => Some (to s i (views s i) (IdleFence false))
      | _ => match listed s i with
             | Woken v => Some (to (with_list s i Out (free s)) i (join (views s i) v) (At Spins))
             | _ => None
             end
      end
  | Look p =>
      if p <? places_looked_at rules
      then match load location_eq (mem s) (views s i) relaxed (Place p) at_ with
           | Some (n, v) => Some (to s i v (if n =? 0 then Look (S p) else BackLock))
           | None => None
           end
      else Some (to s i (views s i) (At Asleep))
  | BackLock =>
      match listed s i with
      | Listed => 
          match free s with
          | 0 => locks s i LateNeed
          | S n => option_map (fun s' => with_list s' i Out n) (locks s i (SpinAdd true))
          end
      | _ => locks s i (Unlock Asleep)
      end
  | LateNeed => writes s i (orders rules need_set_late) Need 1 at_ (Unlock Asleep)
  end.

Definition step (s : state) (i : nat) (a : action) : option state :=
  match a with
  | Do c o at_ => match points s i with At h => do s i h c o at_ | _ => None end
  | Meet other =>
      match points s i with At h => Some (to s i (join (views s i) (views s other)) (At h)) | _ => None end
  | Go at_ choice => go s i at_ choice
  end.
End machine.

Notation reachable rules first processors := (runs.reachable (initial first processors) (step rules)).

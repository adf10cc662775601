(* SPDX-License-Identifier: MIT *)
(* The memory orders of runq/protocol/park.hpp, and the lines of the machine, which park_tie.py compares with the header. *)
Require Import List Arith String.
Require Import memory park park_theorems park_request park_count park_care.
Import ListNotations.
Open Scope list_scope.
Open Scope string_scope.

Definition header (x : site) : order :=
  match x with
  | submit_fence | machine_idle_fence | doze_fence => seq_cst
  | found => acq_rel
  | machine_idle_spinning | doze_spinning => release
  | _ => relaxed
  end.
Definition shipped (places : nat) : protocol := Protocol header places true.

(* Weakening a fence in `header`, or the order of found(), makes one of these fail, and what rests on it. *)
Lemma the_submitter_fences places : orders (shipped places) submit_fence = seq_cst.
Proof. reflexivity. Qed.
Lemma the_sleeper_fences places : orders (shipped places) machine_idle_fence = seq_cst.
Proof. reflexivity. Qed.
Lemma who_dozes_fences places : orders (shipped places) doze_fence = seq_cst.
Proof. reflexivity. Qed.
Lemma who_has_found_acquires places : acquires (orders (shipped places) found) = true.
Proof. reflexivity. Qed.
Lemma who_has_found_releases places : releases (orders (shipped places) found) = true.
Proof. reflexivity. Qed.
Lemma who_has_found_asks places : found_submits (shipped places) = true.
Proof. reflexivity. Qed.

Definition sleeper_sees places first processors :=
  the_sleeper_sees_the_task _ first processors
    (the_submitter_fences places) (the_sleeper_fences places) (who_dozes_fences places).
Definition submitter_sees places first processors :=
  the_submitter_sees_the_sleeper _ first processors
    (the_submitter_fences places) (the_sleeper_fences places) (who_dozes_fences places).
Definition who_has_found_knows places first processors :=
  who_has_found_knows_what_was_withdrawn _ first processors (who_has_found_acquires places) (who_has_found_releases places).
Definition each_task_is_cared_for places first processors :=
  a_task_is_cared_for _ first processors
    (the_submitter_fences places) (the_sleeper_fences places) (who_dozes_fences places)
    (who_has_found_acquires places) (who_has_found_releases places) (who_has_found_asks places).
Definition no_task_waits places first processors :=
  no_task_waits_beside_an_idle_processor _ first processors
    (the_submitter_fences places) (the_sleeper_fences places) (who_dozes_fences places)
    (who_has_found_acquires places) (who_has_found_releases places) (who_has_found_asks places).
Definition no_task_waits_when_all_rest places first processors :=
  when_all_rest_no_task_waits_beside_an_idle_processor _ first processors
    (the_submitter_fences places) (the_sleeper_fences places) (who_dozes_fences places)
    (who_has_found_acquires places) (who_has_found_releases places) (who_has_found_asks places).

Definition order_name (o : order) : string :=
  match o with
  | relaxed => "relaxed" | acquire => "acquire" | release => "release" | acq_rel => "acq_rel" | seq_cst => "seq_cst"
  end.
Definition line_of (x : site) : string :=
  match x with
  | submit_fence => "submit.fence light_fence "
  | submit_spinning => "submit.spinning load spinning "
  | submit_need => "submit.need load need_spinning "
  | one_again => "one.again load spinning "
  | need_set => "need.set store need_spinning "
  | one_spin => "one.spin fetch_add spinning "
  | need_clear => "need.clear store need_spinning "
  | spin => "spin fetch_add spinning "
  | found => "found fetch_sub spinning "
  | need_heed => "need.heed load need_spinning "
  | machine_idle_spinning => "machine_idle.spinning fetch_sub spinning "
  | machine_idle_fence => "machine_idle.fence heavy_fence "
  | doze_spinning => "doze.spinning fetch_sub spinning "
  | doze_fence => "doze.fence heavy_fence "
  | need_set_late => "need.set_late store need_spinning "
  end.
Definition sites (f : string) (l : list site) : list string := f :: map (fun x => line_of x ++ order_name (header x)) l.

(* prove.py reads this. *)
Compute
  (sites "submitted" [submit_fence; submit_need; submit_spinning; one_again; need_set; one_spin] ++
   sites "found" [found] ++
   sites "spin" [spin] ++
   sites "machine_idle" [need_heed; need_clear; machine_idle_spinning; machine_idle_fence; need_set_late] ++
   sites "machine_dozes" [need_clear; doze_spinning; doze_fence])%list.

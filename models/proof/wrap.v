(* SPDX-License-Identifier: MIT *)
(* The proof counts without a bound; the header counts in b bits (64 by default), round and round. What that changes: *)
Require Import Arith Lia.

Definition wrapped (b x : nat) : nat := x mod 2 ^ b.

Lemma two_to_the_positive b : 2 ^ b <> 0.
Proof. apply Nat.pow_nonzero. lia. Qed.

(* Not the slot, because the capacity is a power of two. *)
Theorem a_wrapped_count_has_the_same_slot b p x : p <= b -> wrapped b x mod 2 ^ p = x mod 2 ^ p.
Proof.
  intro L. unfold wrapped. replace b with (p + (b - p)) by lia. rewrite Nat.pow_add_r.
  rewrite Nat.mod_mul_r by apply two_to_the_positive.
  rewrite (Nat.mul_comm (2 ^ p)), Nat.mod_add by apply two_to_the_positive. apply Nat.mod_mod, two_to_the_positive.
Qed.

(* Not the distance between two counts, while it is less than 2^b. *)
Theorem wrapped_counts_are_as_far_apart b h t :
  h <= t -> t - h < 2 ^ b -> (wrapped b t + (2 ^ b - wrapped b h)) mod 2 ^ b = t - h.
Proof.
  intros L D. unfold wrapped. pose proof (two_to_the_positive b) as P. remember (2 ^ b) as n eqn:E. clear E.
  pose proof (Nat.mod_upper_bound h n P) as U.
  rewrite Nat.add_mod_idemp_l by assumption.
  pose proof (Nat.div_mod h n P) as Dm.
  replace (t + (n - h mod n)) with ((t - h) + (1 + h / n) * n) by nia.
  rewrite Nat.mod_add by assumption. apply Nat.mod_small. assumption.
Qed.

(* Only a compare-exchange can be fooled: by a head that looks the same, after 2^b elements or a multiple of it. *)
Theorem equal_wrapped_counts_are_far_apart b h h' :
  wrapped b h = wrapped b h' -> h < h' -> h + 2 ^ b <= h'.
Proof.
  unfold wrapped. intros E L. pose proof (two_to_the_positive b) as P. remember (2 ^ b) as n eqn:En. clear En.
  pose proof (Nat.div_mod h n P). pose proof (Nat.div_mod h' n P). rewrite E in *.
  assert (h / n < h' / n) by nia. nia.
Qed.

// SPDX-License-Identifier: MIT
// A peer in the queue benchmark: Go's own run queue. The build adds this file to package runtime by an overlay, so that
// it can call runqput, runqget and runqsteal as the installed Go has them. A processor that no scheduler knows, with
// goroutines that never run: only their numbers are looked at.

package runtime

// RunqQueue is a processor's queue and the goroutines that go through it.
type RunqQueue struct {
	p    *p
	gs   [512]*g // their addresses are hidden from the collector in the queue, so they are kept here
	next int
}

// RunqTally is how many goroutines passed, and the sum of their numbers.
type RunqTally struct{ Count, Sum uint64 }

func RunqNew() *RunqQueue {
	q := &RunqQueue{p: new(p)}
	for i := range q.gs {
		q.gs[i] = new(g)
		q.gs[i].goid = int64(i + 1)
	}
	return q
}

// Turn pushes `pushes` goroutines and pops up to `pops`. There must be room: a full queue would hand half of its goroutines to the
// scheduler that runs this program.
func (q *RunqQueue) Turn(pushes, pops int, in, out *RunqTally) {
	pp := q.p
	next := q.next
	pushed := *in
	for i := 0; i < pushes; i++ {
		gp := q.gs[next%len(q.gs)]
		next++
		runqput(pp, gp, false)
		pushed.Count++
		pushed.Sum += uint64(gp.goid)
	}
	*in = pushed
	q.next = next
	popped := *out
	for i := 0; i < pops; i++ {
		gp, _ := runqget(pp)
		if gp == nil {
			break
		}
		popped.Count++
		popped.Sum += uint64(gp.goid)
	}
	*out = popped
}

// Steal takes half of the victim's goroutines and pops them; returns how many there were.
func (q *RunqQueue) Steal(victim *RunqQueue, loot *RunqTally) int {
	gp := runqsteal(q.p, victim.p, false)
	if gp == nil {
		return 0
	}
	got := *loot
	for n := 1; ; n++ {
		got.Count++
		got.Sum += uint64(gp.goid)
		if gp, _ = runqget(q.p); gp == nil {
			*loot = got
			return n
		}
	}
}

// SPDX-License-Identifier: MIT
// A peer in the queue benchmark: Go's own run queue, see runtime.go. The same rows and checks as in queue_rows.hpp.
//
//	go_runq_bench ROW SECONDS
//
// prints one JSON object, or nothing but the names of the rows when called without arguments.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

type cpuMask [16]uint64

// The processors that the process may use, asked for before any thread is pinned.
var allowed = func() (mask cpuMask) {
	syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, unsafe.Sizeof(mask), uintptr(unsafe.Pointer(&mask)))
	return
}()

// pin keeps the calling goroutine's thread on the n-th of these processors.
func pin(nth int) bool {
	runtime.LockOSThread()
	for cpu := 0; cpu < len(allowed)*64; cpu++ {
		if allowed[cpu/64]&(1<<(cpu%64)) == 0 {
			continue
		}
		if nth == 0 {
			var one cpuMask
			one[cpu/64] = 1 << (cpu % 64)
			_, _, failed := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, unsafe.Sizeof(one), uintptr(unsafe.Pointer(&one)))
			return failed == 0
		}
		nth--
	}
	return false
}

type result map[string]interface{}

func require(right bool) {
	if !right {
		fmt.Fprintln(os.Stderr, "an element was lost or doubled")
		os.Exit(1)
	}
}

func label(pinned bool) string {
	if pinned {
		return "pinned"
	}
	return "not pinned"
}

// pairs looks at the clock only once in 1+2000/batch turns.
func pairs(batch int, limit time.Duration) result {
	pinned := pin(0)
	q := runtime.RunqNew()
	var in, out runtime.RunqTally
	begin := time.Now()
	for time.Since(begin) < limit {
		for i := 0; i < 1+2000/batch; i++ {
			q.Turn(batch, batch, &in, &out)
		}
	}
	took := time.Since(begin)
	require(in == out && in.Count != 0)
	return result{"ns": float64(took.Nanoseconds()) / float64(in.Count), "label": label(pinned)}
}

func withThief(pause time.Duration, limit time.Duration) result {
	const batch = 64
	q := runtime.RunqNew()
	var stop, ready int32
	var stolen runtime.RunqTally
	var tries int
	var thiefPinned bool
	over := make(chan bool)
	go func() {
		thiefPinned = pin(1)
		mine := runtime.RunqNew()
		atomic.StoreInt32(&ready, 1)
		due := time.Now()
		for atomic.LoadInt32(&stop) == 0 {
			if pause != 0 {
				if time.Now().Before(due) {
					continue
				}
				due = due.Add(pause)
			}
			mine.Steal(q, &stolen)
			tries++
		}
		over <- true
	}()
	pinned := pin(0)
	for atomic.LoadInt32(&ready) == 0 {
		runtime.Gosched()
	}
	var in, out runtime.RunqTally
	begin := time.Now()
	for time.Since(begin) < limit {
		for i := 0; i < 32; i++ {
			q.Turn(batch, batch, &in, &out)
		}
	}
	took := time.Since(begin)
	atomic.StoreInt32(&stop, 1)
	<-over
	q.Turn(0, 1<<30, &in, &out)
	out.Count += stolen.Count
	out.Sum += stolen.Sum
	require(in == out && in.Count != 0)
	return result{
		"ns":        float64(took.Nanoseconds()) / float64(in.Count),
		"stolen/s":  float64(stolen.Count) / took.Seconds(),
		"stolen%":   100 * float64(stolen.Count) / float64(in.Count),
		"items/try": float64(stolen.Count) / float64(tries),
		"label":     label(pinned && thiefPinned),
	}
}

func drain(limit time.Duration) result {
	const elements = 256
	const (
		owners = iota
		thiefs
		over
	)
	q := runtime.RunqNew()
	var now int32 = owners
	var stolen runtime.RunqTally
	var took time.Duration
	var thiefPinned bool
	ended := make(chan bool)
	go func() {
		thiefPinned = pin(1)
		mine := runtime.RunqNew()
		for {
			for atomic.LoadInt32(&now) == owners {
			}
			if atomic.LoadInt32(&now) == over {
				ended <- true
				return
			}
			began := time.Now()
			for inVain := 0; inVain != 3; inVain++ {
				if mine.Steal(q, &stolen) != 0 {
					inVain = -1
				}
			}
			took += time.Since(began)
			atomic.StoreInt32(&now, owners)
		}
	}()
	pinned := pin(0)
	var in, left runtime.RunqTally
	for begin := time.Now(); time.Since(begin) < limit || in.Count == 0; {
		q.Turn(elements, 0, &in, &left)
		atomic.StoreInt32(&now, thiefs)
		for atomic.LoadInt32(&now) != owners {
		}
		q.Turn(0, 1<<30, &in, &left)
	}
	atomic.StoreInt32(&now, over)
	<-ended
	left.Count += stolen.Count
	left.Sum += stolen.Sum
	require(in == left)
	return result{
		"ns":       float64(took.Nanoseconds()) / float64(stolen.Count),
		"drained%": 100 * float64(stolen.Count) / float64(in.Count),
		"label":    label(pinned && thiefPinned),
	}
}

func main() {
	rows := []string{"pairs/go_runq/1", "pairs/go_runq/64", "pairs/go_runq/200", "thief/go_runq", "rare/go_runq", "drain/go_runq"}
	if len(os.Args) != 3 {
		for _, row := range rows {
			fmt.Println(row)
		}
		return
	}
	seconds, err := strconv.ParseFloat(os.Args[2], 64)
	if err != nil {
		os.Exit(2)
	}
	limit := time.Duration(seconds * 1e9)
	// The collector must not stop a goroutine that spins on a processor of its own; nothing here makes garbage.
	debug.SetGCPercent(-1)
	runtime.GOMAXPROCS(4)
	var r result
	switch os.Args[1] {
	case rows[0]:
		r = pairs(1, limit)
	case rows[1]:
		r = pairs(64, limit)
	case rows[2]:
		r = pairs(200, limit)
	case rows[3]:
		r = withThief(0, limit)
	case rows[4]:
		r = withThief(10*time.Microsecond, limit)
	case rows[5]:
		r = drain(limit)
	default:
		os.Exit(3)
	}
	line, _ := json.Marshal(r)
	fmt.Println(string(line))
}

// SPDX-License-Identifier: MIT
// The scheduler benchmark: Go. See ../rows.hpp for what a candidate is.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	fibN         = 27
	fibValue     = 196418
	fibForks     = 317810
	skynetLeaves = 1000000
	skynetValue  = 499999500000
	spawns       = 1000000
	pingRounds   = 500000
	yieldTasks   = 1000
	yieldsEach   = 500
	queensN      = 11
	queensValue  = 2680
	blocked      = 200000
)

func require(ok bool, what string) {
	if !ok {
		fmt.Fprintln(os.Stderr, "wrong result:", what)
		os.Exit(1)
	}
}

func fib(n int) int {
	if n < 2 {
		return n
	}
	var a int
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		a = fib(n - 1)
		wg.Done()
	}()
	b := fib(n - 2)
	wg.Wait()
	return a + b
}

func skynet(first, leaves int) int {
	if leaves == 1 {
		return first
	}
	var sums [10]int
	var wg sync.WaitGroup
	wg.Add(10)
	for i := 0; i < 10; i++ {
		i := i
		go func() {
			sums[i] = skynet(first+i*(leaves/10), leaves/10)
			wg.Done()
		}()
	}
	wg.Wait()
	total := 0
	for _, s := range sums {
		total += s
	}
	return total
}

type board [16]int8

func (b *board) safe(row, col int) bool {
	for r := 0; r < row; r++ {
		d := int(b[r]) - col
		if d == 0 || d == row-r || d == r-row {
			return false
		}
	}
	return true
}

func queens(b board, row int) int {
	if row == queensN {
		return 1
	}
	var found [16]int
	var wg sync.WaitGroup
	for col := 0; col < queensN; col++ {
		if !b.safe(row, col) {
			continue
		}
		next := b
		next[row] = int8(col)
		col := col
		wg.Add(1)
		go func() {
			found[col] = queens(next, row+1)
			wg.Done()
		}()
	}
	wg.Wait()
	total := 0
	for _, n := range found {
		total += n
	}
	return total
}

func since(begin time.Time) float64 { return float64(time.Since(begin).Nanoseconds()) }

var rows = map[string]func() float64{
	"fib": func() float64 {
		begin := time.Now()
		require(fib(fibN) == fibValue, "fib")
		return since(begin) / fibForks
	},
	"skynet": func() float64 {
		begin := time.Now()
		require(skynet(0, skynetLeaves) == skynetValue, "skynet")
		return since(begin) / 1e6
	},
	"queens": func() float64 {
		begin := time.Now()
		require(queens(board{}, 0) == queensValue, "queens")
		return since(begin) / 1e6
	},
	"spawn": func() float64 {
		var wg sync.WaitGroup
		var done int64
		wg.Add(spawns)
		begin := time.Now()
		for i := 0; i < spawns; i++ {
			go func() {
				atomic.AddInt64(&done, 1)
				wg.Done()
			}()
		}
		wg.Wait()
		require(done == spawns, "spawn")
		return since(begin) / spawns
	},
	"pingpong": func() float64 {
		there := make(chan int)
		back := make(chan int)
		go func() {
			for n := range there {
				back <- n + 1
			}
			close(back)
		}()
		begin := time.Now()
		for i := 0; i < pingRounds; i++ {
			there <- i
			require(<-back == i+1, "pingpong")
		}
		ns := since(begin) / pingRounds
		close(there)
		<-back
		return ns
	},
	"yield": func() float64 {
		var wg sync.WaitGroup
		wg.Add(yieldTasks)
		begin := time.Now()
		for i := 0; i < yieldTasks; i++ {
			go func() {
				for k := 0; k < yieldsEach; k++ {
					runtime.Gosched()
				}
				wg.Done()
			}()
		}
		wg.Wait()
		return since(begin) / yieldTasks / yieldsEach
	},
	"memory": func() float64 {
		never := make(chan int)
		var begun sync.WaitGroup
		before := resident()
		begun.Add(blocked)
		for i := 0; i < blocked; i++ {
			go func() {
				begun.Done()
				<-never
			}()
		}
		begun.Wait()
		bytes := (resident() - before) / blocked
		close(never)
		return bytes
	},
	"idle": func() float64 {
		go func() {}()
		time.Sleep(time.Second)
		before := cpu()
		time.Sleep(2 * time.Second)
		return (cpu() - before) / 2
	},
}

func resident() float64 {
	var size, pages float64
	data, err := os.ReadFile("/proc/self/statm")
	require(err == nil, "statm")
	fmt.Sscan(string(data), &size, &pages)
	return pages * 4096
}

func cpu() float64 {
	var u syscall.Rusage
	require(syscall.Getrusage(syscall.RUSAGE_SELF, &u) == nil, "getrusage")
	return float64(u.Utime.Nano() + u.Stime.Nano())
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: go_rows ROW WORKERS")
		os.Exit(2)
	}
	row, ok := rows[os.Args[1]]
	if !ok {
		os.Exit(3)
	}
	workers, err := strconv.Atoi(os.Args[2])
	require(err == nil, "workers")
	runtime.GOMAXPROCS(workers)
	if os.Args[1] != "memory" && os.Args[1] != "idle" {
		row()
	}
	fmt.Printf("%.2f\n", row())
}

// SPDX-License-Identifier: MIT
// The scheduler benchmark: Go. See ../rows.hpp for what a candidate is.
package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"sort"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

func require(ok bool, what string) {
	if !ok {
		fmt.Fprintln(os.Stderr, "wrong result:", what)
		os.Exit(1)
	}
}

func fibValue(n int) int {
	a, b := 0, 1
	for ; n > 0; n-- {
		a, b = b, a+b
	}
	return a
}

func fibForks(n int) float64 { return float64(fibValue(n+1) - 1) }

var queensValue = [...]int{1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712}

const yieldTasks = 1000

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

func queens(b board, n, row int) int {
	if row == n {
		return 1
	}
	var found [16]int
	var wg sync.WaitGroup
	for col := 0; col < n; col++ {
		if !b.safe(row, col) {
			continue
		}
		next := b
		next[row] = int8(col)
		col := col
		wg.Add(1)
		go func() {
			found[col] = queens(next, n, row+1)
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

func leftPart(below, id int) int {
	small := below / 16
	if uint64(id)*0x9e3779b97f4a7c15>>63 != 0 {
		return small
	}
	return below - small
}

func tree(nodes, id int) int {
	if nodes < 2 {
		return nodes
	}
	left := leftPart(nodes-1, id)
	var a int
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		a = tree(left, id+1)
		wg.Done()
	}()
	b := tree(nodes-1-left, id+1+left)
	wg.Wait()
	return a + b + 1
}

//go:noinline
func work(steps int) uint64 {
	x := uint64(1)
	for i := 0; i < steps; i++ {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

func since(begin time.Time) float64 { return float64(time.Since(begin).Nanoseconds()) }

func spawn(n int) float64 {
	var wg sync.WaitGroup
	var done int64
	wg.Add(n)
	begin := time.Now()
	for i := 0; i < n; i++ {
		go func() {
			atomic.AddInt64(&done, 1)
			wg.Done()
		}()
	}
	wg.Wait()
	require(done == int64(n), "spawn")
	return since(begin) / float64(n)
}

func grain(ns int) float64 {
	const many = 1000000
	best := 1e18
	for i := 0; i < 5; i++ {
		begin := time.Now()
		work(many)
		if t := since(begin); t < best {
			best = t
		}
	}
	steps := int(float64(ns*many) / best)
	if steps < 1 {
		steps = 1
	}
	tasks := 20000000 / ns
	if tasks < 200 {
		tasks = 200
	}
	if tasks > 200000 {
		tasks = 200000
	}
	serial := best / many * float64(steps) * float64(tasks)
	var wg sync.WaitGroup
	wg.Add(tasks)
	begin := time.Now()
	for i := 0; i < tasks; i++ {
		go func() {
			if work(steps) != 0 {
				wg.Done()
			}
		}()
	}
	wg.Wait()
	return 100 * serial / since(begin) / float64(runtime.GOMAXPROCS(0))
}

func ok(err error, what string) { require(err == nil, what) }

const messageBytes, roomBytes = 16, 1024

// Sends back what it reads, until the end of the stream.
func echoBack(from io.Reader, to io.WriteCloser) {
	buffer := make([]byte, roomBytes)
	for {
		n, _ := from.Read(buffer)
		if n == 0 {
			break
		}
		to.Write(buffer[:n])
	}
	to.Close()
}

// Sends a message and waits for the answer, `times` times.
func ask(from io.Reader, to io.WriteCloser, times int) {
	sent := make([]byte, messageBytes)
	buffer := make([]byte, roomBytes)
	for i := 0; i < times; i++ {
		binary.LittleEndian.PutUint64(sent, uint64(i))
		binary.LittleEndian.PutUint64(sent[8:], ^uint64(i))
		to.Write(sent)
		for have := 0; have < messageBytes; {
			n, _ := from.Read(buffer[have:])
			require(n != 0, "the end of a stream")
			have += n
		}
		require(string(buffer[:messageBytes]) == string(sent), "echo")
	}
	to.Close()
}

func pipes(rounds int) float64 {
	thereIn, thereOut, err := os.Pipe()
	ok(err, "pipe")
	backIn, backOut, err := os.Pipe()
	ok(err, "pipe")
	var wg sync.WaitGroup
	wg.Add(1)
	begin := time.Now()
	go func() {
		echoBack(thereIn, backOut)
		wg.Done()
	}()
	ask(backIn, thereOut, rounds)
	wg.Wait()
	ns := since(begin) / float64(rounds)
	thereIn.Close()
	backIn.Close()
	return ns
}

const echoConnections = 64

func echo(each int) float64 {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	ok(err, "listen")
	var clients, servers []net.Conn
	for i := 0; i < echoConnections; i++ {
		client, err := net.Dial("tcp", listener.Addr().String())
		ok(err, "dial")
		clients = append(clients, client)
		server, err := listener.Accept()
		ok(err, "accept")
		servers = append(servers, server)
	}
	var wg sync.WaitGroup
	wg.Add(2 * echoConnections)
	begin := time.Now()
	for _, s := range servers {
		s := s
		go func() {
			echoBack(s, s)
			wg.Done()
		}()
	}
	for _, c := range clients {
		c := c
		go func() {
			ask(c, c, each)
			wg.Done()
		}()
	}
	wg.Wait()
	ns := since(begin) / float64(echoConnections*each)
	listener.Close()
	return ns
}

func sleeps(times int) float64 {
	var late []float64
	for i := 0; i < times; i++ {
		begin := time.Now()
		time.Sleep(time.Millisecond)
		late = append(late, (since(begin)-1e6)/1e3)
	}
	sort.Float64s(late)
	return late[len(late)/2]
}

func blocking(each int) float64 {
	var wg sync.WaitGroup
	wg.Add(8)
	begin := time.Now()
	for i := 0; i < 8; i++ {
		go func() {
			for k := 0; k < each; k++ {
				syscall.Nanosleep(&syscall.Timespec{Nsec: 1000000}, nil)
			}
			wg.Done()
		}()
	}
	wg.Wait()
	return since(begin) / 1e6
}

// Go 1.19 raises the limit of descriptors by itself.
func parked(n int) float64 {
	var wg sync.WaitGroup
	var all []net.Conn
	wg.Add(n / 2 * 2)
	for i := 0; i < n/2; i++ {
		ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
		ok(err, "socketpair")
		for _, fd := range ends {
			file := os.NewFile(uintptr(fd), "socket")
			c, err := net.FileConn(file)
			ok(err, "socket")
			file.Close()
			all = append(all, c)
			go func() {
				got, _ := c.Read(make([]byte, 1))
				require(got == 0, "parked")
				wg.Done()
			}()
		}
	}
	cpu := idle(n / 4)
	for _, c := range all {
		c.(*net.UnixConn).CloseWrite()
	}
	wg.Wait()
	for _, c := range all {
		c.Close()
	}
	return cpu
}

// CPU ms per second while the main goroutine sleeps, measured over `ms` milliseconds.
func idle(ms int) float64 {
	settle := ms
	if settle > 300 {
		settle = 300
	}
	time.Sleep(time.Duration(settle) * time.Millisecond)
	before := cpuMs()
	time.Sleep(time.Duration(ms) * time.Millisecond)
	return (cpuMs() - before) * 1e3 / float64(ms)
}

// Not a row but a server on which run.py puts load: prints its address, and serves until it is killed.
func serveHttp(port int) float64 {
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	ok(err, "listen")
	fmt.Printf("http://%s/\n", listener.Addr())
	http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		io.WriteString(w, "hello, world\n")
	}))
	return 0
}

// The rows of ../rows.hpp.
var rows = map[string]func(n int) float64{
	"fib": func(n int) float64 {
		begin := time.Now()
		require(fib(n) == fibValue(n), "fib")
		return since(begin) / fibForks(n)
	},
	"skynet": func(n int) float64 {
		begin := time.Now()
		require(skynet(0, n) == n*(n-1)/2, "skynet")
		return since(begin) / float64(n)
	},
	"queens": func(n int) float64 {
		begin := time.Now()
		require(queens(board{}, n, 0) == queensValue[n], "queens")
		return since(begin) / 1e6
	},
	"tree": func(n int) float64 {
		begin := time.Now()
		require(tree(n, 1) == n, "tree")
		return since(begin) / float64(n)
	},
	"spawn": spawn,
	"pingpong": func(rounds int) float64 {
		there := make(chan int)
		back := make(chan int)
		go func() {
			for n := range there {
				back <- n + 1
			}
			close(back)
		}()
		begin := time.Now()
		for i := 0; i < rounds; i++ {
			there <- i
			require(<-back == i+1, "pingpong")
		}
		ns := since(begin) / float64(rounds)
		close(there)
		<-back
		return ns
	},
	"yield": func(each int) float64 {
		var wg sync.WaitGroup
		wg.Add(yieldTasks)
		begin := time.Now()
		for i := 0; i < yieldTasks; i++ {
			go func() {
				for k := 0; k < each; k++ {
					runtime.Gosched()
				}
				wg.Done()
			}()
		}
		wg.Wait()
		return since(begin) / yieldTasks / float64(each)
	},
	"grain": grain,
	"memory": func(n int) float64 {
		never := make(chan int)
		var begun sync.WaitGroup
		before := resident()
		begun.Add(n)
		for i := 0; i < n; i++ {
			go func() {
				begun.Done()
				<-never
			}()
		}
		begun.Wait()
		bytes := (resident() - before) / float64(n)
		close(never)
		return bytes
	},
	"idle": func(ms int) float64 {
		var wg sync.WaitGroup
		wg.Add(4)
		for i := 0; i < 4; i++ {
			go wg.Done()
		}
		wg.Wait()
		return idle(ms)
	},
	"pipes":    pipes,
	"echo":     echo,
	"sleep":    sleeps,
	"blocking": blocking,
	"parked":   parked,
	"http":     serveHttp,
}

func resident() float64 {
	var size, pages float64
	data, err := os.ReadFile("/proc/self/statm")
	require(err == nil, "statm")
	fmt.Sscan(string(data), &size, &pages)
	return pages * float64(os.Getpagesize())
}

func cpuMs() float64 {
	var u syscall.Rusage
	require(syscall.Getrusage(syscall.RUSAGE_SELF, &u) == nil, "getrusage")
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e6
}

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: candidate_go ROW WORKERS N SECONDS")
		os.Exit(2)
	}
	row, known := rows[os.Args[1]]
	if !known {
		os.Exit(3)
	}
	workers, err1 := strconv.Atoi(os.Args[2])
	n, err2 := strconv.Atoi(os.Args[3])
	limit, err3 := strconv.ParseFloat(os.Args[4], 64)
	require(err1 == nil && err2 == nil && err3 == nil, "arguments")
	runtime.GOMAXPROCS(workers)
	once := map[string]bool{"memory": true, "idle": true, "parked": true, "http": true}[os.Args[1]]
	byTime := limit > 0 && !once
	if byTime {
		row(n)
	}
	sum := 0.0
	times := 0.0
	for begin := time.Now(); times == 0 || byTime && time.Since(begin).Seconds() < limit; times++ {
		sum += row(n)
	}
	fmt.Printf("%.4f\n", sum/times)
}

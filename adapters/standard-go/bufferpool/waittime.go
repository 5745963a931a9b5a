package bufferpool

import (
	"math/big"
	"sync"

	"wheelproof/adapters/standard-go/park"
)

// Nanos is a time in milliseconds and nanoseconds beyond: a wait of 2^62 ms
// is no int64 of nanoseconds.
type Nanos struct{ Ms, Ns int64 }

func between(beginMs, beginNs, endMs, endNs int64) Nanos {
	d := Nanos{endMs - beginMs, endNs - beginNs}
	if d.Ns < 0 {
		d.Ms, d.Ns = d.Ms-1, d.Ns+1e6
	}
	if d.Ms < 0 {
		return Nanos{} // the clock went back (6.1.2)
	}
	return d
}

// Big is the whole number of nanoseconds.
func (n Nanos) Big() *big.Int {
	b := new(big.Int).Mul(big.NewInt(n.Ms), big.NewInt(1e6))
	return b.Add(b, big.NewInt(n.Ns))
}

func (n Nanos) add(m Nanos) Nanos {
	s := Nanos{n.Ms + m.Ms, n.Ns + m.Ns}
	return Nanos{s.Ms + s.Ns/1e6, s.Ns % 1e6}
}

const (
	windowMs = 30_000
	countsMs = 60_000
)

type window struct {
	beginMs, lastMs int64
	waited          Nanos
}

// WaitTime is the total of all waits, and their share of the last windows
// (standard 3.11). The zero value is ready.
type WaitTime struct {
	mu      sync.Mutex
	total   big.Int
	windows []window
}

func (w *WaitTime) drop(nowMs int64) {
	kept := w.windows[:0]
	for _, x := range w.windows {
		if nowMs-x.lastMs < countsMs {
			kept = append(kept, x)
		}
	}
	w.windows = kept
}

// Record is told of a wait that ended at endMs. A window begins when its first
// wait is told of, that is at the end of that wait.
func (w *WaitTime) Record(_ *park.Thread, endMs int64, waited Nanos) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.total.Add(&w.total, waited.Big())
	w.drop(endMs)
	if n := len(w.windows); n == 0 || endMs >= w.windows[n-1].beginMs+windowMs {
		w.windows = append(w.windows, window{beginMs: endMs})
	}
	x := &w.windows[len(w.windows)-1]
	x.lastMs = endMs
	x.waited = x.waited.add(waited)
	return nil
}

// TotalNs is all that was waited.
func (w *WaitTime) TotalNs() *big.Int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return new(big.Int).Set(&w.total)
}

// Ratio is what was waited by the time since the first window that counts began.
func (w *WaitTime) Ratio(nowMs int64) float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop(nowMs)
	if len(w.windows) == 0 {
		return 0
	}
	var waited float64
	for _, x := range w.windows {
		waited += float64(x.waited.Ms) + float64(x.waited.Ns)/1e6
	}
	passed := nowMs - w.windows[0].beginMs
	if passed < windowMs {
		passed += windowMs // one window has to be over (3.11.2)
	}
	return waited / float64(passed)
}

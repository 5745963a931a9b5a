//go:build unix

package bufferpool

import (
	"fmt"
	"syscall"

	"wheelproof/adapters/standard-go/park"
)

// Mapped is memory of the system's own, that is gone at once when it is
// dropped, whatever the garbage collector does. Its grain is a page.
type Mapped struct{}

func (Mapped) Make(_ *park.Thread, n int64) ([]byte, error) {
	if n == 0 {
		return []byte{}, nil
	}
	if int64(int(n)) != n {
		return nil, fmt.Errorf("%w: %d bytes", ErrDomain, n)
	}
	return syscall.Mmap(-1, 0, int(n), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
}

func (Mapped) Drop(b []byte) {
	if len(b) > 0 {
		_ = syscall.Munmap(b)
	}
}

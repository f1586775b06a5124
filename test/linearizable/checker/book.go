package main

import (
	"fmt"
	"maps"

	"github.com/anishathalye/porcupine"
)

// Operation is one request to the ledger as its caller saw it, on one book. Times are nanoseconds of one clock.
type Operation struct {
	Client int    `json:"client"`
	Kind   string `json:"kind"` // hold, settle, release, sweep, topup, refund, balance
	// ID is the request of a hold, settle, release or sweep, or the reference of a topup or refund.
	ID     string `json:"id"`
	Amount int64  `json:"amount"` // micro-dollars: of a settle its cost
	Call   int64  `json:"call"`
	Return int64  `json:"return"`
	// Answer is empty where the caller died before it had one: the operation happened once, or never.
	Answer    string `json:"answer"`
	Charged   int64  `json:"charged"`   // of a settle
	Available int64  `json:"available"` // of a balance
	Held      int64  `json:"held"`      // of a balance
}

// book is what the ledger promises of a book (core/ledger/README.md L1, L3, L4, L7, L10), said once more, apart from its SQL
// and from the model that its own tests use. A book is never changed: each step makes the next one.
type book struct {
	available int64
	held      map[string]int64
	settled   map[string]bool
	moved     map[string]bool // topups and refunds that happened, by kind and reference
}

func (b book) sumHeld() int64 {
	var sum int64
	for _, amount := range b.held {
		sum += amount
	}
	return sum
}

func (b book) copied() book {
	return book{b.available, maps.Clone(b.held), maps.Clone(b.settled), maps.Clone(b.moved)}
}

// released gives back what is held for id.
func (b book) released(id string) book {
	amount, stands := b.held[id]
	if !stands {
		return b
	}
	next := b.copied()
	delete(next.held, id)
	next.available += amount
	return next
}

// outcome is the answer that op must have in b, and the book after it.
func (b book) outcome(op Operation) (Operation, book) {
	switch op.Kind {
	case "hold":
		if _, stands := b.held[op.ID]; stands {
			op.Answer = "ok"
			return op, b
		}
		if op.Amount > b.available {
			op.Answer = "insufficient_credits"
			return op, b
		}
		next := b.copied()
		next.available -= op.Amount
		next.held[op.ID] = op.Amount
		op.Answer = "ok"
		return op, next
	case "settle":
		op.Charged = 0
		if b.settled[op.ID] {
			op.Answer = "duplicate"
			return op, b
		}
		op.Answer = "late"
		if _, stands := b.held[op.ID]; stands {
			op.Answer = "settled"
		}
		next := b.released(op.ID).copied()
		op.Charged = min(op.Amount, next.available)
		next.available -= op.Charged
		next.settled[op.ID] = true
		return op, next
	case "release", "sweep":
		op.Answer = "done"
		return op, b.released(op.ID)
	case "topup", "refund":
		reference := op.Kind + " " + op.ID
		if b.moved[reference] {
			op.Answer = "replay"
			return op, b
		}
		sign := int64(1)
		if op.Kind == "refund" {
			sign = -1
		}
		if b.available+sign*op.Amount < 0 {
			op.Answer = "refused"
			return op, b
		}
		next := b.copied()
		next.available += sign * op.Amount
		next.moved[reference] = true
		op.Answer = "moved"
		return op, next
	case "balance":
		op.Available, op.Held, op.Answer = b.available, b.sumHeld(), "read"
		return op, b
	}
	panic("no such operation: " + op.Kind)
}

// steps are the books that b may be after op, none where op cannot have been answered so.
func steps(state, input, _ any) []any {
	b, op := state.(book), input.(Operation)
	expected, next := b.outcome(op)
	if op.Answer == "" {
		return []any{b, next}
	}
	if expected != op {
		return nil
	}
	return []any{next}
}

func equal(one, other any) bool {
	a, b := one.(book), other.(book)
	return a.available == b.available && maps.Equal(a.held, b.held) && maps.Equal(a.settled, b.settled) &&
		maps.Equal(a.moved, b.moved)
}

func describe(input, _ any) string {
	op := input.(Operation)
	switch op.Kind {
	case "balance":
		return fmt.Sprintf("balance: %d, held %d", op.Available, op.Held)
	case "settle":
		return fmt.Sprintf("settle %s %d: %s %d", op.ID, op.Amount, op.Answer, op.Charged)
	}
	return fmt.Sprintf("%s %s %d: %s", op.Kind, op.ID, op.Amount, op.Answer)
}

var model = porcupine.NondeterministicModel{
	Init: func() []any {
		return []any{book{held: map[string]int64{}, settled: map[string]bool{}, moved: map[string]bool{}}}
	},
	Step:              steps,
	Equal:             equal,
	DescribeOperation: describe,
	DescribeState: func(state any) string {
		b := state.(book)
		return fmt.Sprintf("%d, held %d", b.available, b.sumHeld())
	},
}

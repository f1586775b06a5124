// Judges histories of the ledger with porcupine, a checker of linearizability that others wrote: is there an order of all
// operations on a book, each between its call and its return, in which every answer is the one that the book had to give?
//
//	linearizable [-limit 60s] [-picture FOLDER] HISTORY
//
// HISTORY is JSON, {"<book>": [operation, …], …}. One line of JSON for each book comes out; the exit is 0 where all are
// linearizable, 1 where one is not, 3 where the limit was too short to know.
package main

import (
	"crypto/sha256"
	"embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

//go:embed main.go book.go go.mod go.sum
var sources embed.FS

// fingerprint tells which sources this program was built of.
func fingerprint() string {
	hash := sha256.New()
	for _, name := range []string{"main.go", "book.go", "go.mod", "go.sum"} {
		content, err := sources.ReadFile(name)
		exitOn(err)
		hash.Write(content)
	}
	return fmt.Sprintf("%x", hash.Sum(nil))[:16]
}

var version = "0"

type verdict struct {
	Book       string `json:"book"`
	Verdict    string `json:"verdict"`
	Operations int    `json:"operations"`
	// Longest is how many operations fit in the longest order that was found.
	Longest int     `json:"longest"`
	Seconds float64 `json:"seconds"`
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func judge(name string, operations []Operation, limit time.Duration, picture string) verdict {
	history := make([]porcupine.Operation, len(operations))
	for i, op := range operations {
		history[i] = porcupine.Operation{ClientId: op.Client, Input: op, Call: op.Call, Return: op.Return}
	}
	began := time.Now()
	book := model.ToModel()
	result, info := porcupine.CheckOperationsVerbose(book, history, limit)
	longest := 0
	for _, partition := range info.PartialLinearizations() {
		for _, order := range partition {
			longest = max(longest, len(order))
		}
	}
	if picture != "" && result != porcupine.Ok {
		exitOn(porcupine.VisualizePath(book, info, filepath.Join(picture, "book-"+name+".html")))
	}
	return verdict{name, string(result), len(operations), longest, time.Since(began).Seconds()}
}

func main() {
	limit := flag.Duration("limit", time.Minute, "for each book")
	picture := flag.String("picture", "", "folder for a page of each book that is not linearizable")
	asked := flag.Bool("version", false, "print version and sources")
	flag.Parse()
	if *asked {
		fmt.Printf("linearizable %s of %s\n", version, fingerprint())
		return
	}
	content, err := os.ReadFile(flag.Arg(0))
	exitOn(err)
	var books map[string][]Operation
	exitOn(json.Unmarshal(content, &books))
	names := make([]string, 0, len(books))
	for name := range books {
		names = append(names, name)
	}
	slices.Sort(names)
	code := 0
	for _, name := range names {
		found := judge(name, books[name], *limit, *picture)
		line, err := json.Marshal(found)
		exitOn(err)
		fmt.Println(string(line))
		switch found.Verdict {
		case string(porcupine.Illegal):
			code = 1
		case string(porcupine.Unknown):
			if code == 0 {
				code = 3
			}
		}
	}
	os.Exit(code)
}

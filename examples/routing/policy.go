// A routing policy of one's own: fills the last worker first, so that those in front can sleep.
//
//	cd examples && go run ./routing tcp://127.0.0.1:7450
//	stator up examples/mock.yaml --router-policy-endpoint tcp://127.0.0.1:7450
//
// Needs libzmq.  What the keys mean is in docs/messages.md, under score_candidates, candidate and frame_header.
package main

import (
	"log"
	"os"

	"github.com/pebbe/zmq4"
	"github.com/vmihailenco/msgpack/v5"
)

const (
	reply = 2 // a kind of frame
	full  = 8 // requests that a worker gets before the next one gets any
)

type header struct {
	Version uint8  `msgpack:"v"`
	Kind    uint8  `msgpack:"t"`
	ID      uint64 `msgpack:"id"`
}

type candidate struct {
	Worker string `msgpack:"w"`
	Active int    `msgpack:"a"`
}

type question struct {
	Candidates []candidate `msgpack:"c"`
}

type scored struct {
	Score float64 `msgpack:"s"`
}

type answer struct {
	Scores []scored `msgpack:"s"`
}

// Higher is better.
func score(position int, it candidate) float64 {
	if it.Active < full {
		return float64(position)
	}
	return float64(-it.Active)
}

func decide(asked question) answer {
	var result answer
	for position, it := range asked.Candidates {
		result.Scores = append(result.Scores, scored{score(position, it)})
	}
	return result
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func main() {
	socket := must(zmq4.NewSocket(zmq4.REP))
	check(socket.Bind(os.Args[1]))
	for {
		frames := must(socket.RecvMessageBytes(0))
		var head header
		var asked question
		if len(frames) != 2 {
			log.Fatal("that was no question")
		}
		check(msgpack.Unmarshal(frames[0], &head))
		check(msgpack.Unmarshal(frames[1], &asked))
		must(socket.SendMessage(must(msgpack.Marshal(header{1, reply, head.ID})), must(msgpack.Marshal(decide(asked)))))
	}
}

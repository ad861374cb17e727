// Prints what happens on the bus: cd examples && go run ./follow tcp://127.0.0.1:7401 [TOPIC ...].  Needs libzmq.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"

	"github.com/pebbe/zmq4"
	"github.com/vmihailenco/msgpack/v5"
)

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
	socket := must(zmq4.NewSocket(zmq4.SUB))
	check(socket.Connect(os.Args[1]))
	topics := os.Args[2:]
	if len(topics) == 0 {
		topics = []string{""}
	}
	for _, topic := range topics {
		check(socket.SetSubscribe(topic))
	}
	for {
		frames := must(socket.RecvMessageBytes(0))
		var batch []any
		check(msgpack.Unmarshal(frames[2], &batch))
		for i := 0; i+1 < len(batch); i += 2 {
			fmt.Printf("%s %v %s\n", frames[0], batch[i], must(json.Marshal(batch[i+1])))
		}
	}
}

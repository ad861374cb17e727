// Prints what happens on the bus: cd examples && go run ./follow tcp://127.0.0.1:7401 [TOPIC ...].  Needs libzmq.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"github.com/pebbe/zmq4"
	"github.com/vmihailenco/msgpack/v5"
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func main() {
	socket := must(zmq4.NewSocket(zmq4.SUB))
	must(socket, socket.Connect(os.Args[1]))
	topics := append(os.Args[2:], "")[:max(1, len(os.Args)-2)] // all of them where none is named
	for _, topic := range topics {
		must(topic, socket.SetSubscribe(topic))
	}
	for {
		frames := must(socket.RecvMessageBytes(0))
		batch := must(msgpack.NewDecoder(bytes.NewReader(frames[2])).DecodeSlice())
		for i := 0; i+1 < len(batch); i += 2 {
			fmt.Printf("%s %v %s\n", frames[0], batch[i], must(json.Marshal(batch[i+1])))
		}
	}
}

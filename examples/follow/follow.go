// Prints what happens on the bus: cd examples && go run ./follow tcp://127.0.0.1:7401 [TOPIC ...]
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"github.com/go-zeromq/zmq4"
	"github.com/vmihailenco/msgpack/v5"
)

func main() {
	socket := zmq4.NewSub(context.Background())
	if err := socket.Dial(os.Args[1]); err != nil {
		log.Fatal(err)
	}
	topics := os.Args[2:]
	if len(topics) == 0 {
		topics = []string{""}
	}
	for _, topic := range topics {
		socket.SetOption(zmq4.OptionSubscribe, topic)
	}
	for {
		message, err := socket.Recv()
		if err != nil {
			log.Fatal(err)
		}
		var batch []any
		if err := msgpack.Unmarshal(message.Frames[2], &batch); err != nil {
			log.Fatal(err)
		}
		for i := 0; i+1 < len(batch); i += 2 {
			event, _ := json.Marshal(batch[i+1])
			fmt.Printf("%s %v %s\n", message.Frames[0], batch[i], event)
		}
	}
}

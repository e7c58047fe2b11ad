// Fares asks six carriers for the fare of a journey, through a pool of goroutines.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"sync"
	"time"

	"example.com/field/capture"
	"github.com/panjf2000/ants/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

const method = "/fares.Carrier/Fare"

// carrier answers two milliseconds after it was asked.
func carrier() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	fare := func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		var journey wrapperspb.StringValue
		if err := decode(&journey); err != nil {
			return nil, err
		}
		time.Sleep(2 * time.Millisecond)
		return wrapperspb.Int64(int64(len(journey.Value)) * 100), nil
	}
	server := grpc.NewServer()
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "fares.Carrier",
		HandlerType: (*any)(nil),
		Methods:     []grpc.MethodDesc{{MethodName: "Fare", Handler: fare}},
	}, nil)
	go server.Serve(listener)
	return listener.Addr().String(), nil
}

type broker struct {
	carriers []*grpc.ClientConn
	pool     *ants.Pool
}

// cheapest asks all carriers and returns the lowest fare.
func (b *broker) cheapest(journey string) (int64, error) {
	fares, errs := make([]wrapperspb.Int64Value, len(b.carriers)), make([]error, len(b.carriers))
	var asked sync.WaitGroup
	for i, conn := range b.carriers {
		asked.Add(1)
		err := b.pool.Submit(func() {
			defer asked.Done()
			errs[i] = conn.Invoke(context.Background(), method, wrapperspb.String(journey), &fares[i])
		})
		if err != nil {
			return 0, err
		}
	}
	asked.Wait()
	least := fares[0].Value
	for i, err := range errs {
		if err != nil {
			return 0, err
		}
		least = min(least, fares[i].Value)
	}
	return least, nil
}

var size = flag.Int("pool", 64, "goroutines that ask carriers")

func main() {
	capture.Main(func() (capture.Load, error) {
		pool, err := ants.NewPool(*size)
		if err != nil {
			return capture.Load{}, err
		}
		b := &broker{pool: pool}
		for i := 0; i < 6; i++ {
			address, err := carrier()
			if err != nil {
				return capture.Load{}, err
			}
			conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
			if err != nil {
				return capture.Load{}, err
			}
			b.carriers = append(b.carriers, conn)
		}
		turn := make([]int, 3)
		return capture.Load{Workers: len(turn), Step: func(worker int) error {
			turn[worker]++
			fare, err := b.cheapest(fmt.Sprintf("journey %d from A%d to B%d", turn[worker], worker, turn[worker]%40))
			if err == nil && fare < 1000 {
				err = fmt.Errorf("a fare of %d", fare)
			}
			return err
		}}, nil
	})
}

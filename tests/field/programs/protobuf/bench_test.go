package program

import (
	"fmt"
	"testing"

	"github.com/golang/protobuf/proto"
	structpb "github.com/golang/protobuf/ptypes/struct"
)

func number(x float64) *structpb.Value {
	return &structpb.Value{Kind: &structpb.Value_NumberValue{NumberValue: x}}
}

func text(s string) *structpb.Value {
	return &structpb.Value{Kind: &structpb.Value_StringValue{StringValue: s}}
}

// BenchmarkMessage packs and unpacks a message of 100 records.
func BenchmarkMessage(b *testing.B) {
	list := &structpb.ListValue{}
	for i := 0; i < 100; i++ {
		record := &structpb.Struct{Fields: map[string]*structpb.Value{
			"id": number(float64(i)), "name": text(fmt.Sprint("device-", i)), "load": number(float64(i) / 7),
			"ok": {Kind: &structpb.Value_BoolValue{BoolValue: i%3 == 0}},
		}}
		list.Values = append(list.Values, &structpb.Value{Kind: &structpb.Value_StructValue{StructValue: record}})
	}
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		packed, err := proto.Marshal(list)
		if err != nil {
			b.Fatal(err)
		}
		back := &structpb.ListValue{}
		if err := proto.Unmarshal(packed, back); err != nil {
			b.Fatal(err)
		}
	}
}

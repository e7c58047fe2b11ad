package program

import (
	"bytes"
	"math"
	"testing"

	"example.com/acme/flac"
	"example.com/acme/flac/frame"
	"example.com/acme/flac/meta"
)

const block = 4096

// BenchmarkEncode writes 20 blocks of stereo sound, each as well predicted as it can be.
func BenchmarkEncode(b *testing.B) {
	var sounds []*frame.Frame
	for n := 0; n < 20; n++ {
		sound := &frame.Frame{Header: frame.Header{
			HasFixedBlockSize: true, BlockSize: block, SampleRate: 44100, Channels: frame.ChannelsLR, BitsPerSample: 16, Num: uint64(n),
		}}
		for channel := 0; channel < 2; channel++ {
			part := &frame.Subframe{NSamples: block}
			for i := 0; i < block; i++ {
				at := float64(n*block+i) / 44100
				part.Samples = append(part.Samples, int32(9000*math.Sin(2765*at+float64(channel))+3000*math.Sin(13000*at)+float64(i*7919%29)))
			}
			sound.Subframes = append(sound.Subframes, part)
		}
		sounds = append(sounds, sound)
	}
	info := &meta.StreamInfo{BlockSizeMin: block, BlockSizeMax: block, SampleRate: 44100, NChannels: 2, BitsPerSample: 16}
	var file bytes.Buffer
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		file.Reset()
		encoder, err := flac.NewEncoder(&file, info)
		if err != nil {
			b.Fatal(err)
		}
		encoder.EnablePredictionAnalysis(true)
		for _, sound := range sounds {
			for _, part := range sound.Subframes {
				part.SubHeader = frame.SubHeader{Pred: frame.PredVerbatim}
			}
			if err := encoder.WriteFrame(sound); err != nil {
				b.Fatal(err)
			}
		}
		if err := encoder.Close(); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(file.Len()))
	}
}

// Package lineproto reads points in a text form, one line a point:
//
//	measurement,tag=value,... field=number,... timestamp
package lineproto

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// Tag is one label of a series.
type Tag struct{ Name, Value string }

// Field is one number of a point.
type Field struct {
	Name  string
	Value float64
}

// Point is one line.
type Point struct {
	Measurement string
	Tags        []Tag
	Fields      []Field
	Time        int64
}

// Key names the series a field of the point belongs to.
func (p *Point) Key(field string) string {
	var b strings.Builder
	b.Grow(96)
	b.WriteString(p.Measurement)
	for _, t := range p.Tags {
		b.WriteByte(',')
		b.WriteString(t.Name)
		b.WriteByte('=')
		b.WriteString(t.Value)
	}
	b.WriteByte('#')
	b.WriteString(field)
	return b.String()
}

// Parse reads every line of body. The points do not share its memory.
func Parse(body []byte) ([]*Point, error) {
	var points []*Point
	for i, line := range strings.Split(string(body), "\n") {
		if line == "" {
			continue
		}
		p, err := parseLine(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		points = append(points, p)
	}
	return points, nil
}

func parseLine(line string) (*Point, error) {
	parts := strings.Split(line, " ")
	if len(parts) != 3 {
		return nil, fmt.Errorf("%d parts instead of 3", len(parts))
	}
	p := new(Point)
	var err error
	if p.Measurement, p.Tags, err = parseTags(parts[0]); err != nil {
		return nil, err
	}
	if p.Fields, err = parseFields(parts[1]); err != nil {
		return nil, err
	}
	p.Time, err = strconv.ParseInt(parts[2], 10, 64)
	return p, err
}

func parseTags(text string) (measurement string, tags []Tag, err error) {
	parts := strings.Split(text, ",")
	for _, part := range parts[1:] {
		name, value, ok := strings.Cut(part, "=")
		if !ok {
			return "", nil, fmt.Errorf("tag %q has no value", part)
		}
		tags = append(tags, Tag{name, value})
	}
	sort.Slice(tags, func(i, j int) bool { return tags[i].Name < tags[j].Name })
	return parts[0], tags, nil
}

func parseFields(text string) ([]Field, error) {
	var fields []Field
	for _, part := range strings.Split(text, ",") {
		name, number, ok := strings.Cut(part, "=")
		if !ok {
			return nil, fmt.Errorf("field %q has no value", part)
		}
		value, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return nil, err
		}
		fields = append(fields, Field{name, value})
	}
	return fields, nil
}

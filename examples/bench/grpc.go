package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// rpc speaks as much gRPC as etcd's leases take, so that its client needs no library: HTTP/2 without TLS, each
// message behind five bytes, the status in the trailer.
type rpc struct {
	client *http.Client
	url    string
}

// dial makes a client with a connection of its own.
func dial(url string) *rpc {
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	return &rpc{client: &http.Client{Transport: &http.Transport{Protocols: p}}, url: url + "/etcdserverpb.Lease/"}
}

func (r *rpc) close() { r.client.CloseIdleConnections() }

// send begins a call; what it sends is read from body.
func (r *rpc) send(ctx context.Context, method string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+method, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/grpc")
	req.Header.Set("TE", "trailers")
	return r.client.Do(req)
}

// unary asks once and answers the message that came back.
func (r *rpc) unary(ctx context.Context, method string, message []byte) ([]byte, error) {
	resp, err := r.send(ctx, method, bytes.NewReader(framed(nil, message)))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := readFrame(resp.Body, nil)
	if err == nil || errors.Is(err, io.EOF) {
		_, _ = io.Copy(io.Discard, resp.Body)
		err = errors.Join(err, statusOf(method, resp))
	}
	return answer, err
}

// statusOf is the error that a call ended with, once its body has been read.
func statusOf(method string, resp *http.Response) error {
	for _, h := range []http.Header{resp.Trailer, resp.Header} {
		if status := h.Get("Grpc-Status"); status != "" && status != "0" {
			return fmt.Errorf("%s: status %s: %s", method, status, h.Get("Grpc-Message"))
		}
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", method, resp.Status)
	}
	return nil
}

// framed adds a message with the five bytes before it.
func framed(buf, message []byte) []byte {
	buf = append(buf, 0) // not compressed
	buf = binary.BigEndian.AppendUint32(buf, uint32(len(message)))
	return append(buf, message...)
}

// readFrame reads one message, into buf where that is large enough.
func readFrame(r io.Reader, buf []byte) ([]byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := int(binary.BigEndian.Uint32(head[1:]))
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	_, err := io.ReadFull(r, buf[:n])
	return buf[:n], err
}

// number adds a field of a protobuf message that is a number.
func number(buf []byte, field int, n int64) []byte {
	return binary.AppendUvarint(append(buf, byte(field<<3)), uint64(n))
}

// fields are the numbers of a protobuf message by field, and how often each field occurs. Etcd's leases know
// numbers and nested messages only.
func fields(message []byte) (numbers map[int]int64, counts map[int]int, err error) {
	numbers, counts = map[int]int64{}, map[int]int{}
	for len(message) > 0 {
		key, n := binary.Uvarint(message)
		value, m := binary.Uvarint(message[max(n, 0):])
		if n <= 0 || m <= 0 || key&7 != 0 && key&7 != 2 {
			return nil, nil, errors.New("no such protobuf message")
		}
		message = message[n+m:]
		counts[int(key>>3)]++
		if key&7 == 0 {
			numbers[int(key>>3)] = int64(value)
			continue
		}
		if value > uint64(len(message)) {
			return nil, nil, errors.New("a protobuf message that was cut short")
		}
		message = message[value:]
	}
	return numbers, counts, nil
}

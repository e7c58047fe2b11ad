//go:build !sequence

package main

import "github.com/miekg/dns"

// addresses asks for both kinds of addresses of a name.
func (r *resolver) addresses(name string) error {
	asked := make(chan error, 1)
	go func() { asked <- r.ask(name, dns.TypeA) }()
	if err := r.ask(name, dns.TypeAAAA); err != nil {
		return err
	}
	return <-asked
}

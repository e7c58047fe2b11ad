//go:build sequence

package main

import "github.com/miekg/dns"

// addresses asks for both kinds of addresses of a name.
func (r *resolver) addresses(name string) error {
	if err := r.ask(name, dns.TypeA); err != nil {
		return err
	}
	return r.ask(name, dns.TypeAAAA)
}

package Report;
use strict;
sub new { my $c = shift; my @r = map { { name => "row " . ($_ * 7919 % 500), n => $_ * 104729 % 1000 } } 1..500; bless { rows => \@r }, $c }
sub ranked { my $s = shift; return sort { $b->{n} <=> $a->{n} || $a->{name} cmp $b->{name} } @{$s->{rows}} }
sub top { my ($s, $k) = @_; my @all = $ENV{NEW} ? $s->ranked : @{ $s->{kept} ||= [ $s->ranked ] }; return @all[0..$k-1] }
sub render { my $s = shift; my $t = ''; for my $r (@_) { for (1..20) { $t = join('|', $r->{name}, $r->{n}, length $t) } } $t }
package main;
my $r = Report->new; my $n = 0; my $end = time + 6;
while (time < $end) { $r->render($r->top(10)) for 1..20; $n += 20 }
print "$n\n";

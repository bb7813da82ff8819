#!/usr/bin/perl
# A client: it names its lease, says a word, and notes what it hears until the connection is closed.
use strict;
use warnings;
use IO::Socket::INET;

my ($port, $log) = @ARGV;
open my $heard, '>', $log or die $!;
$heard->autoflush(1);
my $service = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port") or die "connecting: $@";
print $service "$ENV{DAOLEASE_LEASE}\nhello\n";
print $heard $_ while <$service>;
print $heard "closed\n";

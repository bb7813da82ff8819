#!/usr/bin/perl
# A small TCP service: it listens on a free port, which it writes into a file, and runs a handler for each connection.
use strict;
use warnings;
use IO::Socket::INET;
use POSIX ':sys_wait_h';

my ($port, @handler) = @ARGV;
my $door = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 16) or die "listening: $@";
open my $file, '>', "$port.new" or die $!;
print $file $door->sockport;
close $file or die $!;
rename "$port.new", $port or die $!;
$SIG{CHLD} = sub { 1 while waitpid(-1, WNOHANG) > 0 };
while (1) {
	my $peer = $door->accept or next;    # a signal came
	next if fork;
	close $door;
	open STDIN, '<&', $peer or die $!;
	open STDOUT, '>&', $peer or die $!;
	close $peer;
	exec @handler or die $!;
}

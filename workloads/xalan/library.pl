#!/usr/bin/perl
# Prints a library of so many books as XML, the same every time: library.pl COUNT
use strict;
use warnings;

my ($count) = @ARGV;
my @subjects = qw(caches lists spans classes queues pages markers ports);
my @authors = qw(Ada Blaise Charles Donald Edsger Frances Grace);
my $state = 1;

sub pick {
    $state = ($state * 1103515245 + 12345) % 2147483648;
    return $state % $_[0];
}

print "<?xml version=\"1.0\"?>\n<library>\n";
for my $number (1 .. $count) {
    my ($author, $subject) = ($authors[pick(scalar @authors)], $subjects[pick(scalar @subjects)]);
    my ($year, $words) = (1950 + pick(70), 3 + pick(9));
    my $text = join ' ', map { $subjects[pick(scalar @subjects)] } 1 .. $words;
    print "  <book id=\"b$number\" year=\"$year\"><author>$author</author>",
        "<title>On $subject</title><about>$text</about></book>\n";
}
print "</library>\n";

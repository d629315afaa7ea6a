#!/usr/bin/perl
# Works a text over with hashes, strings and regular expressions, again and
# again until so many lines have been worked on: text.pl FILE LINES
use strict;
use warnings;

die "usage: text.pl FILE LINES\n" unless @ARGV == 2 && $ARGV[1] =~ /^[1-9][0-9]*$/;
my ($file, $wanted) = @ARGV;
open my $in, '<', $file or die "$file: $!\n";
my @text = <$in>;
close $in;
chomp @text;
my @lines;

# Hashes: words, pairs of words, and an index of the lines that hold them.
sub hashes {
    my ($round) = @_;
    my (%count, %pairs, %lines_of);
    my $before = '';
    for my $number (0 .. $#lines) {
        for my $word (split /[^A-Za-z_]+/, lc $lines[$number]) {
            next if $word eq '';
            $count{$word}++;
            $pairs{"$before $word"}++;
            push @{ $lines_of{$word} }, $number + $round;
            $before = $word;
        }
    }
    my @ranked = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
    my $sum = 0;
    $sum += $_ * @{ $lines_of{ $ranked[$_] } } for 0 .. $#ranked;
    return (scalar @ranked, scalar keys %pairs, $sum, @ranked[0 .. 2]);
}

# Strings: reversed, padded, cut and joined again.
sub strings {
    my ($round) = @_;
    my @made;
    for my $line (@lines) {
        my @words = split ' ', $line;
        push @made, join '-', map { ucfirst reverse $_ } @words;
        push @made, sprintf '%-24.20s|%6d|%04x', $line, length $line, $round;
        push @made, substr($line, length($line) / 2) . $line x 2;
    }
    my $text = join "\n", @made;
    $text =~ tr/a-z/b-za/;
    return (length $text, unpack '%32C*', $text);
}

# Regular expressions: captures, alternatives, global matches and substitutions.
sub regexes {
    my $text = join "\n", @lines;
    my $codes = () = $text =~ /`[^`\n]+`/g;
    my %numbers;
    $numbers{$1}++ while $text =~ /\b(0x[0-9a-f]+|[0-9]+(?:\.[0-9]+)?)\b/g;
    (my $plain = $text) =~ s/\b(the|a|an|of|in|to)\b/<$1>/gi;
    $plain =~ s/([A-Z])([A-Z_]{2,})/lc($2) . $1/ge;
    my $rows = grep { /^\|(?:[^|]*\|){2,}\s*$/ } split /\n/, $plain;
    return ($codes, scalar keys %numbers, length $plain, $rows);
}

my @last;
for (my ($round, $left) = (1, $wanted); $left > 0; $round++, $left -= @lines) {
    @lines = $left < @text ? @text[0 .. $left - 1] : @text;
    @last = (hashes($round), strings($round), regexes());
}
print join(' ', @last), "\n";

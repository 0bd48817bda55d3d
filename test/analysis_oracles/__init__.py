"""What the tests of the analyses believe: accesses, books and relations by numpy, by enumeration or by isl alone."""

// Command hello is the smallest program, for comparison.
package main

import "fmt"

func main() { fmt.Println("hello") }

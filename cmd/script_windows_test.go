package cmd_test

func plainUmask() {}

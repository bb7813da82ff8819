package lease

import "fmt"

// maxName is the most bytes a name may have (SPEC 8).
const maxName = 64

// ValidName refuses what cannot name a holder or grantor of a composition: a name is a letter or digit,
// followed by at most 63 letters, digits or any of . _ @ - (SPEC 8).
func ValidName(name string) error {
	if name == "" {
		return fmt.Errorf("a name cannot be empty")
	}
	if len(name) > maxName {
		return fmt.Errorf("name %s has more than %d characters", clip(name), maxName)
	}
	for i := range len(name) {
		if !nameByte(name[i], i == 0) {
			return fmt.Errorf("name %q: only letters, digits and . _ @ - can be in a name, and it begins with a letter or digit", name)
		}
	}
	return nil
}

func nameByte(c byte, first bool) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	case c == '.', c == '_', c == '@', c == '-':
		return !first
	}
	return false
}

//go:build tools

package tools

import _ "github.com/letsencrypt/pebble/v2/cmd/pebble"

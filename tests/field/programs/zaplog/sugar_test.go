//go:build sugar

package program

import "go.uber.org/zap"

func write(logger *zap.Logger, c *call) {
	logger.Sugar().Infow("served", "route", c.route, "user", c.user, "size", c.size, "row", c.row, "ms", c.millis)
}

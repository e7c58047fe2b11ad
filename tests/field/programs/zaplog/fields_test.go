//go:build !sugar

package program

import "go.uber.org/zap"

func write(logger *zap.Logger, c *call) {
	logger.Info("served", zap.String("route", c.route), zap.Int("user", c.user),
		zap.Int("size", c.size), zap.Int("row", c.row), zap.Float64("ms", c.millis))
}

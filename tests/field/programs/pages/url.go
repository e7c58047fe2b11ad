//go:build url

package main

import "github.com/labstack/echo/v4"

// path returns what requests are counted by.
func path(c echo.Context) string { return c.Request().URL.Path }
